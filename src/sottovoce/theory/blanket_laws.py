"""Laws of pairs that many channels share: reports of two levels, and one bit about something drawn in public.

With two levels, a value favours some reports, which are more likely than the rest, and g is the lower level wherever
some value does not favour the report. Where every value favours equally many, what two values have in common says all:
the fewer reports both favour, the higher their law is in convex order. For let h > l be the levels over g and w =
e^epsilon. Where one report that both favour and one that neither does are replaced by one that each favours alone, L
takes the values h - w l and l - w h instead of h - w h and l - w l: the same sum, further apart. Two equal values
favour the same reports and are below all others.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from sottovoce.theory.blanket import PairLaw

__all__ = ["Third", "binary_law", "two_level_law"]


class Third(NamedTuple):
    """Shares of all reports that a third value favours."""

    shared: Fraction
    """Among those that both of two values favour, and not every value."""
    first: Fraction
    """Among those that the first favours and the second does not."""
    second: Fraction
    """Among those that the second favours and the first does not."""
    neither: Fraction
    """Among those that neither favours."""


def two_level_law(
    high: Fraction,
    low: Fraction,
    *,
    favoured: Fraction,
    shared: Fraction,
    common: Fraction = Fraction(0),
    third: Third | None = None,
) -> PairLaw:
    """The law of two values that favour some of a number of reports.

    Parameters
    ----------
    high, low
        A report's probability, times the number of reports, where the value favours it and where not.
    favoured, shared, common
        Shares of all reports that one value favours, that both of the two favour, and that every value favours.
    third
        What the bystander favours; None for the pair's second value.

    Examples
    --------
    >>> third = Fraction(1, 3)
    >>> law = two_level_law(Fraction(3, 2), Fraction(3, 4), favoured=third, shared=Fraction(0))
    >>> law.mass, law.one
    (0.75, array([0.5 , 0.25, 0.25]))
    """
    single, both, neither = favoured - shared, shared - common, 1 - 2 * favoured + shared
    third = third or Third(both, Fraction(0), single, Fraction(0))

    def seen(share: Fraction, of_third: Fraction) -> Fraction:
        return low * share + (high - low) * of_third

    return PairLaw.of(
        [
            (low * single, high * single, low * single, seen(single, third.first)),
            (low * single, low * single, high * single, seen(single, third.second)),
            (low * both, high * both, high * both, seen(both, third.shared)),
            (low * neither, low * neither, low * neither, seen(neither, third.neither)),
            (high * common, high * common, high * common, high * common),
        ]
    )


def binary_law(own: Fraction, differing: Fraction, constant: Fraction = Fraction(0)) -> PairLaw:
    """The law of two values where something is drawn in public, and a bit about it told by randomized response.

    Given what was drawn, two values have the same bit or not, and these are laws of two levels: so of all pairs those
    with different bits most often are the highest in convex order. The bystander is the pair's second value.

    Parameters
    ----------
    own
        The probability that the bit told is the true one: at least one half.
    differing
        The probability that something is drawn in which the two values' bits differ.
    constant
        The probability that something is drawn in which all values have the same bit, so that g is the channel itself.

    Examples
    --------
    >>> law = binary_law(Fraction(3, 4), Fraction(1, 2))
    >>> law.mass, law.one
    (0.5, array([0.375, 0.125, 0.375, 0.125]))
    """
    flipped, same = 1 - own, 1 - differing - constant
    differ, agree = flipped * differing, flipped * same
    return PairLaw.of(
        [
            (differ, own * differing, differ, differ),
            (differ, differ, own * differing, own * differing),
            (agree, own * same, own * same, own * same),
            (agree, agree, agree, agree),
            (constant, constant, constant, constant),
        ]
    )
