"""How large an expression may be: checked before anything is computed, so that a device may refuse a tree safely."""

from __future__ import annotations

from typing import Final

MAX_NODES: Final = 1024
"""Most constants, attributes and operations of one expression, members of lists not counted."""

MAX_DEPTH: Final = 32
"""Most levels of an expression; a constant or an attribute alone has one."""

MAX_CONSTANTS: Final = 2**16
"""Most members of an expression's lists, all lists together."""

MAX_TABLES: Final = 2**20
"""Most entries, of 8 bytes, of the tables that speed up searching in lists, all together; further lists have none."""

MAX_LABELS: Final = 2**21
"""Most integer labels, of 8 bytes, of the attributes that an expression mentions, each attribute counted once."""

MAX_MEMORY: Final = 2**26
"""Bytes within which an expression is read, checked and evaluated for one record, beside the domain itself.

Three quarters are for labels: a third of that stays, and finding a record among them takes the rest for a
moment. An eighth is for tables, and an eighth for the lists, the parts and the JSON: no tree within the
limits above takes more.
"""

MAX_TEXT: Final = 4096
"""Most characters of an expression written as text."""

MAX_QUERY_BYTES: Final = 2**20
"""Most bytes of an expression's canonical JSON."""

EXACT: Final = 2**53 - 1
"""Largest integer that stands as a JSON number; larger ones are written ["integer", "..."]."""

SMALLEST: Final = -(2**63)
"""Smallest integer an expression may reach."""

LARGEST: Final = 2**63 - 1
"""Largest integer an expression may reach."""
