"""Every mechanism of the registry passes the whole battery."""

import pytest

from sottovoce.audit.conformance import check_mechanism
from sottovoce.mechanisms import MECHANISMS


@pytest.mark.parametrize("name", MECHANISMS)
def test_battery(name: str) -> None:
    check_mechanism(MECHANISMS[name])


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("epsilon", [2.0**-10, 8.0])
def test_battery_at_extreme_epsilon(name: str, epsilon: float) -> None:
    check_mechanism(MECHANISMS[name], domain_sizes=(4,), epsilons=(epsilon,))
