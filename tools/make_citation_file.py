"""Write the references of CITATION.cff from what the mechanisms cite: `python tools/make_citation_file.py`.

Every mechanism names its sources in BibTeX (`mechanism.citation()`); a test keeps the file equal to what this writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sottovoce.core.version import __version__
from sottovoce.mechanisms import MECHANISMS, VectorMechanism

FILE = Path(__file__).resolve().parent.parent / "CITATION.cff"

_KINDS = {
    "article": ("article", "journal", "journal"),
    "inproceedings": ("conference-paper", "booktitle", "collection-title"),
}
_FIRST = "bassily2019linear"
_ACCENTS = {r"{\'e}": "é", r"{\'U}": "Ú"}


def cited() -> Iterator[str]:
    """The BibTeX of every mechanism, an entry a line."""
    for kind in MECHANISMS.values():
        is_vector = issubclass(kind, VectorMechanism)
        made = kind.best(1, 1.0, 1.0, 1e-9, 1000) if is_vector else kind.typical(8, 1.0)
        yield from made.citation().splitlines()


def entries() -> dict[str, tuple[str, dict[str, str]]]:
    """Each work that is cited, once: its kind and its fields by its key; first the paper that all began with."""
    found = {}
    for entry in cited():
        for written, letter in _ACCENTS.items():
            entry = entry.replace(written, letter)
        kind, key, rest = re.fullmatch(r"@(\w+)\{(\w+), (.*)\}", entry).groups()
        found[key] = kind, dict(re.findall(r"(\w+)=\{((?:[^{}]|\{[^{}]*\})*)\}", rest))
    return {_FIRST: found[_FIRST], **dict(sorted(found.items()))}


def reference(kind: str, fields: dict[str, str]) -> list[str]:
    """One work in the words of the citation file format."""
    name, where, called = _KINDS[kind]
    lines = [f"  - type: {name}", f'    title: "{fields["title"].replace("{", "").replace("}", "")}"', "    authors:"]
    for author in fields["author"].split(" and "):
        family, given = author.split(", ")
        lines += [f"      - family-names: {family}", f"        given-names: {given}"]
    lines.append(f"    {called}: {fields[where]}")
    lines += [
        f"    {field if field != 'number' else 'issue'}: {fields[field]}"
        for field in ("volume", "number")
        if field in fields
    ]
    return [*lines, f"    year: {fields['year']}"]


def text(head: str) -> str:
    """The whole file, with its head as it is."""
    body = [line for kind, fields in entries().values() for line in reference(kind, fields)]
    return "\n".join([head + "references:", *body]) + "\n"


def head() -> str:
    """What stands before the references, with the version of the package."""
    written = FILE.read_text(encoding="utf-8").partition("references:\n")[0]
    return re.sub(r"(?m)^version: .*$", f"version: {__version__}", written)


if __name__ == "__main__":
    FILE.write_text(text(head()), encoding="utf-8")
