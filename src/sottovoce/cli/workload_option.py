"""The option that names a query set, and how query sets are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["WORKLOADS", "add_workload"]

WORKLOADS: Final = """\
workloads:
  identity:1024                            the share of each value
  prefix:1024                              of the values up to each one
  ranges:64                                of every interval of values
  bins:100:10                              of ranges ten wide
  marginals:age=10,sex=2,country=30:2      of every table of two attributes
  parities:10:3                            parities of up to three out of ten bits
  dense:FILE.npy                           any matrix that numpy.save wrote, one row a query
"""


def add_workload(parser: Parser) -> None:
    """`--workload W`."""
    parser.add_argument("--workload", required=True, metavar="W", help="the queries; see below")
