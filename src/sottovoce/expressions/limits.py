"""Limits on expressions, checked before anything is computed, so that a device can refuse a tree safely."""

from __future__ import annotations

from typing import Final

MAX_NODES: Final = 1024
"""Maximum number of constants, attributes and operations of one expression, not counting members of lists."""

MAX_DEPTH: Final = 32
"""Maximum depth of an expression; a constant or an attribute alone has depth 1."""

MAX_CONSTANTS: Final = 2**16
"""Maximum number of members of an expression's lists, all lists together."""

MAX_TABLES: Final = 2**20
"""Maximum number of entries, of 8 bytes, of all lookup tables together; further lists are searched without a table."""

MAX_LABELS: Final = 2**21
"""Maximum number of integer labels, of 8 bytes, of the attributes in an expression, each attribute counted once."""

MAX_MEMORY: Final = 2**26
"""Memory in bytes to read, check and evaluate an expression for one record, besides the domain itself.

Three quarters are for labels: a third of that is permanent, the rest is temporary while a record is looked up. An
eighth is for tables, and an eighth for lists, parts and JSON. No tree within the limits above takes more.
"""

MAX_TEXT: Final = 4096
"""Maximum number of characters of an expression written as text."""

MAX_QUERY_BYTES: Final = 2**20
"""Maximum number of bytes of an expression's canonical JSON."""

EXACT: Final = 2**53 - 1
"""Largest integer written as a JSON number; larger ones are written ["integer", "..."]."""

SMALLEST: Final = -(2**63)
"""Smallest integer allowed in an expression."""

LARGEST: Final = 2**63 - 1
"""Largest integer allowed in an expression."""
