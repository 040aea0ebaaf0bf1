"""The package `sottovoce`: no code, it requires `sottovoce-core` with compiled loops, and passes its extras on.

Two distributions that owned the same module would overwrite each other's files, and extras can add requirements, but
not take any away: so the small one holds the code, and the large one requires it.
"""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

__all__ = ["CODE", "META", "compiled_requirement", "lay_out", "pyproject"]

META = "sottovoce"
CODE = "sottovoce-core"
_COPIED = ("description", "readme", "requires-python", "license", "keywords", "classifiers")
_LICENCE = "Apache-2.0"


def compiled_requirement(version: str, *extras: str) -> str:
    """The code at exactly that version, with extras."""
    return f"{CODE}[{','.join(extras)}]=={version}"


def pyproject(core: str, version: str) -> str:
    """The file of the meta-package, made from that of the code.

    Examples
    --------
    >>> made = pyproject('[project]\\n[project.optional-dependencies]\\nplot = ["matplotlib"]\\n[build-system]\\n', "1.2.3")
    >>> made.splitlines()[-3:]
    ['', '[project.optional-dependencies]', 'plot = ["sottovoce-core[plot]==1.2.3"]']
    """
    read = tomllib.loads(core)
    project = read["project"]
    # What is bundled stands in the licence of the code; this package holds a README.
    fields = {"name": META, "version": version} | {name: project[name] for name in _COPIED if name in project}
    fields |= {"license": _LICENCE, "license-files": ["LICENSE"]}
    fields["dependencies"] = [compiled_requirement(version, "compiled")]
    extras = {name: [compiled_requirement(version, name)] for name in project["optional-dependencies"]}
    tables = {
        "build-system": read["build-system"],
        "tool.hatch.build.targets.wheel": {"bypass-selection": True},
        "project": fields,
        "project.optional-dependencies": extras,
    }
    return "\n\n".join(_table(name, values) for name, values in tables.items()) + "\n"


def _table(name: str, values: dict[str, object]) -> str:
    """Strings, lists of strings and booleans are written in TOML as they are in JSON."""
    return "\n".join([f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())])


def lay_out(source: Path, to: Path, version: str) -> None:
    """Write the folder that the meta-package is built from."""
    to.mkdir()
    text = pyproject((source / "pyproject.toml").read_text(encoding="utf-8"), version)
    (to / "pyproject.toml").write_text(text, encoding="utf-8")
    for name in ("README.md", "LICENSE"):
        shutil.copy(source / name, to / name)
