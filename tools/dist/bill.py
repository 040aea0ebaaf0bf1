"""The bill of materials (SBOM): one CycloneDX file of what the Python packages bring and of what the pages bundle.

`cyclonedx-py` lists the Python environment and `npm sbom` the clients; this joins their lists. Both leave out what
would differ from one run to the next, or it is dropped here.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tools.dist.meta import CODE, META
from tools.dist.npm import with_node
from tools.dist.processes import BuildError, output

__all__ = ["bill_of_materials", "unpinned"]

CLIENTS = ("js", "pages")
_VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.argv[1])
sys.exit(f"not CycloneDX 1.6: {fault}" if fault else 0)
"""


def bill_of_materials(source: Path, python: Path, tools: Path, time: str) -> str:
    """The file's text: of an environment in which both packages are installed, and of a copy of the source."""
    listed = output(
        *(tools / "bin" / "cyclonedx-py", "environment", "--output-reproducible", "--spec-version", "1.6", python),
        within=source,
        SOURCE_DATE_EPOCH=time,
        PYTHONPATH="",
    )
    bill = json.loads(listed)
    if wrong := unpinned(bill, (source / "constraints.txt").read_text(encoding="utf-8")):
        raise BuildError(f"installed, but not as constraints.txt has it: {', '.join(wrong)}; `make constraints` pins again")
    _name_ours(bill)
    for client in CLIENTS:
        words = ("npm", "sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only")
        _join(bill, json.loads(with_node(source, source / "clients" / client, *words)), bundled=client == "pages")
    bill["components"].sort(key=lambda component: component["bom-ref"])
    bill["dependencies"].sort(key=lambda dependency: dependency["ref"])
    text = json.dumps(bill, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    output(tools / "bin" / "python", "-c", _VALIDATE, text, within=source)
    return text


def unpinned(bill: dict[str, Any], constraints: str) -> list[str]:
    """Packages of a bill that the constraints do not pin at that version, ours apart.

    Examples
    --------
    >>> bill = {"components": [{"name": "Typing.Extensions", "version": "4.1"}, {"name": "numpy", "version": "2.3"}]}
    >>> unpinned(bill, "typing_extensions==4.1\\nnumpy==2.4\\n")
    ['numpy 2.3']
    """
    pinned = {_normal(name): version for name, version in re.findall(r"^([\w.-]+)==(\S+)$", constraints, re.MULTILINE)}
    return [
        f"{component['name']} {component['version']}"
        for component in bill["components"]
        if component["name"] not in (META, CODE) and pinned.get(_normal(component["name"])) != component["version"]
    ]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _name_ours(bill: dict[str, Any]) -> None:
    """Our own packages by their public names, not by the folder they were installed from; the whole is the meta-package."""
    ours = {component["name"]: component for component in bill["components"] if component["name"] in (META, CODE)}
    for name, component in ours.items():
        component.pop("externalReferences", None)
        component["purl"] = f"pkg:pypi/{name}@{component['version']}"
    bill["components"].remove(ours[META])
    bill["metadata"]["component"] = ours[META]


def _join(bill: dict[str, Any], client: dict[str, Any], *, bundled: bool) -> None:
    """Add a client and what it brings; one that is bundled is a part of the Python package."""
    described = client["metadata"]["component"]
    # npm calls it by its folder, and its reference by its name and version.
    described["name"], described["externalReferences"] = described["bom-ref"].rpartition("@")[0], []
    bill["components"] += [described, *client["components"]]
    bill["dependencies"] += client["dependencies"]
    if bundled:
        [code] = (one for one in bill["dependencies"] if one["ref"].startswith(f"{CODE}=="))
        code["dependsOn"] = sorted([*code.get("dependsOn", []), described["bom-ref"]])
