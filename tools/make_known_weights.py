"""Write the weights that another package gives to a small sample, for the tests of ours.

In an environment with samplics (0.6.1), which needs polars and statsmodels and is no dependency of this project:

    python tools/make_known_weights.py
"""

from __future__ import annotations

import json
import warnings
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np

FILE: Final = Path(__file__).resolve().parent.parent / "tests" / "exact" / "known_weights.json"

VALUES: Final = {"age": ["18-39", "40-64", "65+"], "sex": ["f", "m"]}
COUNTS: Final = [330, 210, 190, 130, 90, 50]
"""People of the sample by age and sex, the sex changing fastest."""
MARGINS: Final = {"age": [0.35, 0.4, 0.25], "sex": [0.49, 0.51]}


def main() -> None:
    """Ask samplics to rake and to calibrate, and keep one weight per cell, of which all add up to 1."""
    warnings.simplefilter("ignore", FutureWarning)
    from samplics.weighting import SampleWeight  # type: ignore[import-not-found]

    cells = list(product(*VALUES.values()))
    people = [cell for cell, count in zip(cells, COUNTS, strict=True) for _ in range(count)]
    start = np.ones(len(people))
    columns = {name: np.array([person[at] for person in people]) for at, name in enumerate(VALUES)}
    totals = {name: dict(zip(VALUES[name], MARGINS[name], strict=True)) for name in VALUES}
    scaled = {name: {value: share * len(people) for value, share in shares.items()} for name, shares in totals.items()}
    raked = SampleWeight().rake(start, columns, control=scaled, tol=1e-13, ctrl_tol=1e-13, max_iter=10_000)
    # All indicators of the first variable and all but the last of the other: linearly independent.
    indicators = [(name, value) for at, name in enumerate(VALUES) for value in VALUES[name][: -at or None]]
    matrix = np.array(
        [[float(columns[name][row] == value) for name, value in indicators] for row in range(len(people))]
    )
    control = {f"{name} {value}": scaled[name][value] for name, value in indicators}
    regressed = SampleWeight().calibrate(start, matrix, control=control)
    first = np.cumsum([0, *COUNTS[:-1]])
    found = {
        "package": f"samplics {version('samplics')}",
        "values": VALUES,
        "counts": COUNTS,
        "margins": totals,
        "weights": {name: np.asarray(w)[first].tolist() for name, w in (("rake", raked), ("greg", regressed))},
    }
    FILE.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
