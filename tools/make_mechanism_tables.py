"""Brings lists of the mechanisms for values up to date with the registry: `python tools/make_mechanism_tables.py`.

These are the advice in docs/choosing.md, the classes in docs/api/mechanisms.md, what the JavaScript client runs in its
README, and the files of vectors/README.md.
"""

from __future__ import annotations

import re
from pathlib import Path

from sottovoce.mechanisms import FiniteMechanism, serving

ROOT = Path(__file__).resolve().parents[1]
THEORY = ROOT / "docs" / "contributors" / "theory"


def theory_page(name: str) -> str:
    """The file name of the theory page that opens with a mechanism's name; a family's opens with all of theirs."""
    opening = re.compile(rf"# .+\n\n(`\w+`, )*`{name}`")
    (found,) = (page.name for page in THEORY.glob("*.md") if opening.match(page.read_text(encoding="utf-8")))
    return found


def advice() -> str:
    """When to use each, with its theory."""
    rows = "".join(
        f"| [`{name}`](contributors/theory/{theory_page(name)}) | {kind.use_when.replace('epsilon', 'ε')} |\n"
        for name, kind in serving(FiniteMechanism).items()
    )
    return f"| mechanism | when |\n|---|---|\n{rows}"


def classes() -> str:
    """The classes, for the reference."""
    return "\n".join(
        f".. autoclass:: {kind.__module__}.{kind.__name__}\n" for kind in serving(FiniteMechanism).values()
    )


def names() -> str:
    """What a histogram can be asked with."""
    return f"| `histogram` | {', '.join(f'`{name}`' for name in serving(FiniteMechanism))} |\n"


def files() -> str:
    """The files of vectors, one for each mechanism."""
    listed = ", ".join(f"`{name}.json`" for name in serving(FiniteMechanism))
    return f"| {listed} | surveys of shares by one mechanism: identity, thresholds, reports |\n"


LISTS = {
    "docs/choosing.md": (r"\| mechanism \| when \|\n\|---\|---\|\n(\|.*\n)+", advice),
    "docs/api/mechanisms.md": (
        r"(?<=```\{eval-rst\}\n)\.\. autoclass:: sottovoce\.mechanisms\.\w+\.\w+\n(?:\n\.\. .*\n)+",
        classes,
    ),
    "clients/js/README.md": (r"\| `histogram` \| `.*\n", names),
    "vectors/README.md": (r"\| `[^|]*\| surveys of shares by one mechanism.*\n", files),
}
"""For every page the list to replace, as a pattern, and what makes it."""


def texts() -> dict[Path, str]:
    """Every page as it should be."""
    found = {}
    for page, (pattern, made) in LISTS.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        found[ROOT / page], count = re.subn(pattern, lambda _, made=made: made(), text, count=1)
        if count != 1:
            raise ValueError(f"{page} has no list of mechanisms that can be replaced")
    return found


def main() -> None:
    """Write the pages."""
    for page, text in texts().items():
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
