"""The paper's rule for when to project: the printed inequalities of Algorithms 2 and 4, and their edges."""

from math import exp, log, sqrt

import pytest

from sottovoce.errors import DomainError, MechanismError, SurveyError
from sottovoce.projections import paper_threshold_rule


@pytest.mark.parametrize(("epsilon", "d", "J"), [(1.0, 256, 4000), (0.5, 10, 2), (4.0, 1000, 10**6)])
def test_algorithm_2_projects_below_its_threshold(epsilon, d, J):
    threshold = d**2 * log(2 / 1e-6) / (8 * epsilon**2 * log(J))
    assert paper_threshold_rule(int(threshold), epsilon, d, J, "gaussian", delta=1e-6)
    assert not paper_threshold_rule(int(threshold) + 1, epsilon, d, J, "gaussian", delta=1e-6)


@pytest.mark.parametrize(("epsilon", "d", "J"), [(1.0, 256, 4000), (0.5, 10, 2), (4.0, 1000, 10**6)])
def test_algorithm_4_compares_the_reports_with_the_people_asked(epsilon, d, J):
    users = 10**7
    threshold = d**2 * log(users) / (4 * epsilon**2 * log(J))
    assert paper_threshold_rule(int(threshold), epsilon, d, J, "rejection", n_users=users)
    assert not paper_threshold_rule(int(threshold) + 1, epsilon, d, J, "rejection", n_users=users)


def test_algorithm_4_is_algorithm_2_with_the_delta_of_algorithm_3():
    users = 5_000
    for reports in range(0, users, 7):
        both = [
            paper_threshold_rule(reports, 1.0, 60, 500, "gaussian", delta=2 / users**2),
            paper_threshold_rule(reports, 1.0, 60, 500, "rejection", n_users=users),
        ]
        assert both[0] == both[1]


def test_the_least_delta_is_still_one():
    # log(2/delta) = 745 there: 2/delta itself would overflow.
    d = int(sqrt(8 * log(2)))
    assert paper_threshold_rule(1, 1.0, d, 2, "gaussian", delta=5e-324)
    assert paper_threshold_rule(int(4 / 8 * 745 / log(2)) - 1, 1.0, 2, 2, "gaussian", delta=exp(-744.0))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"n_reports": -1}, SurveyError),
        ({"n_reports": 1.5}, SurveyError),
        ({"epsilon": 0.0}, SurveyError),
        ({"n_queries": 0}, SurveyError),
        ({"domain_size": 1}, DomainError),
        ({"mechanism": "codebook"}, MechanismError),
        ({"delta": None}, SurveyError),
        ({"delta": 0.0}, SurveyError),
        ({"delta": 1.0}, SurveyError),
        ({"delta": float("nan")}, SurveyError),
        ({"delta": True}, SurveyError),
        ({"mechanism": "rejection"}, SurveyError),
        ({"mechanism": "rejection", "n_users": 99}, SurveyError),
        ({"mechanism": "rejection", "n_users": 200.0}, SurveyError),
    ],
)
def test_what_the_rule_cannot_be_asked(changes, error):
    asked = {"n_reports": 100, "epsilon": 1.0, "n_queries": 5, "domain_size": 9, "mechanism": "gaussian", "delta": 1e-6}
    assert isinstance(paper_threshold_rule(**asked), bool)
    with pytest.raises(error):
        paper_threshold_rule(**(asked | changes))
