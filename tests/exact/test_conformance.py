"""Every mechanism of the registry passes the whole battery."""

from fractions import Fraction

import pytest

from sottovoce.auditing.conformance import ConformanceError, check_instance, check_mechanism
from sottovoce.mechanisms import ChannelMechanism, FiniteMechanism, serving
from sottovoce.mechanisms.symmetric import PairSupport
from sottovoce.mechanisms.unary import UnaryOptimized


@pytest.mark.parametrize("name", serving(FiniteMechanism))
def test_battery(name: str) -> None:
    check_mechanism(serving(FiniteMechanism)[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", serving(FiniteMechanism))
@pytest.mark.parametrize("epsilon", [2.0**-10, 8.0])
def test_battery_at_extreme_epsilon(name: str, epsilon: float) -> None:
    check_mechanism(serving(FiniteMechanism)[name], domain_sizes=(4,), epsilons=(epsilon,))


@pytest.mark.parametrize("name", serving(ChannelMechanism))
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_battery_of_the_strategies_channels(name: str, epsilon: float) -> None:
    for small in serving(ChannelMechanism)[name].miniatures(epsilon):
        check_instance(small)


def test_wrong_second_moments_are_found() -> None:
    class Dependent(UnaryOptimized):  # type: ignore[misc]
        """Says that its bits never stand together: each entry's variance is right, and no sum's."""

        @property
        def _pair_support(self) -> PairSupport:
            return PairSupport(Fraction(0), Fraction(0))

    with pytest.raises(ConformanceError, match="second_moments are not the exact ones"):
        check_instance(Dependent(5, 1.0))
