"""Pure functions from a raw estimate to the nearest feasible one, each with a certificate.

Projecting on a convex set that holds the truth never increases the L2 error.
"""

from sottovoce.projections.projected import Projected
from sottovoce.projections.simplex import project_simplex

__all__ = ["Projected", "project_simplex"]
