"""How a typed word is spelt before it is counted: one form for all texts that are canonically equivalent.

A survey states its rule, and its devices, its analysts and its pages follow it. Every step is on code points, so that
no step depends on a locale, a dictionary or the letters around a letter. Normal forms and small letters of assigned
characters are stable (Unicode Standard Annex #15, Sec. 3; Unicode stability policy). A character that is newer than
the Unicode version of a device or a browser is kept there as it was typed, so that two devices of different age may
count a capital letter of a new script apart.

Texts that look alike are not merged: a Cyrillic "a" is another letter than a Latin one, and a character joiner is a
character, since Persian words and emoji are written with it.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["CASES", "spelt"]

CASES: Final = ("lower", "keep")
"""What becomes of capital letters."""

_SPACES: Final = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
"""White space, listed since languages differ in what they trim."""

_CONTROLS: Final = "\x00-\x1f\x7f-\x9f\ud800-\udfff"
_HIDDEN: Final = "\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069"
_REFUSED: Final = re.compile(f"[{_CONTROLS}{_HIDDEN}]")
"""Control characters, lone surrogates, marks that steer the direction of writing, and a space of no width."""


def spelt(text: str, case: str) -> str | None:
    """The one spelling of a text: NFC, in small letters if so stated, white space trimmed and joined.

    None for what is no word: nothing but white space, a lone surrogate, a control character, or a mark that steers the
    direction of writing, with which a list could be made to lie.

    Examples
    --------
    >>> spelt("  Cafe\\u0301 au  lait ", "lower")
    'café au lait'
    >>> spelt("\\u202etxet", "lower") is None
    True
    """
    if text.isascii():  # which is NFC as it stands
        found = text.lower() if case == "lower" else text
    else:
        found = unicodedata.normalize("NFC", text)
        if case == "lower":
            # Letter by letter: of a whole word, Python and JavaScript would look at a sigma's neighbours.
            found = unicodedata.normalize("NFC", "".join(letter.lower() for letter in found))
    found = _SPACES.sub(" ", found).strip(" ")
    return None if not found or _REFUSED.search(found) else found
