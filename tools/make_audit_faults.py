"""Plants every fault of tests/auditing/planted and writes which check of the audit finds it, some minutes.

Writes the table of docs/contributors/audit_faults.md: `PYTHONPATH=tests python tools/make_audit_faults.py`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from auditing.planted import FAULTS, PlantedFault
from js.bridge import built

PAGE = Path(__file__).resolve().parents[1] / "docs" / "contributors" / "audit_faults.md"
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->\n"


def row(fault: PlantedFault, check: str) -> str:
    """The fault's line of the table."""
    survey = fault.survey()
    size = f"{survey.question.values_text}, `{survey.mechanism.name}`"
    return f"| {fault.name} | {fault.language} | {size} | {check or f'**not found**: {fault.missed}'} |"


def main() -> None:
    rows = ["| fault | language | survey | found by |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        compiled = built(Path(folder)).parents[1] / "src"
        for fault in FAULTS:
            began = time.process_time()
            rows.append(row(fault, fault.found_by(compiled)))
            sys.stdout.write(f"{rows[-1]} {time.process_time() - began:.1f} s\n")
    head, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}" + "\n".join(rows) + f"\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
