"""Pure functions from a raw estimate to the nearest feasible one, each with a certificate.

Projecting on a convex set that contains the truth never increases the L2 error.
"""

from sottovoce.projections.ball import project_ball
from sottovoce.projections.checks import Projected
from sottovoce.projections.hull import HullProjection, project_hull
from sottovoce.projections.operator import Operator
from sottovoce.projections.simplex import project_simplex

__all__ = [
    "HullProjection",
    "Operator",
    "Projected",
    "project_ball",
    "project_hull",
    "project_simplex",
]
