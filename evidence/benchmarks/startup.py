"""How long the package and the command take to start, beside `import numpy`."""

from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

__all__ = ["run"]

REPEATS = 15
TARGET = 1.5


def run() -> list[dict[str, object]]:
    """The median of interleaved runs, each in a new process; the interpreter's own start is part of both sides."""
    against = "import numpy"
    code = {
        "import sottovoce": "import sottovoce",
        "sottovoce --version": "from sottovoce.cli import main; main(['--version'])",
        against: against,
    }
    seconds: dict[str, list[float]] = {name: [] for name in code}
    for _ in range(REPEATS):
        for name, source in code.items():
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", source], check=True, stdout=subprocess.DEVNULL)
            seconds[name].append(time.perf_counter() - began)
    took = {name: median(times) for name, times in seconds.items()}
    return [
        {
            "name": name,
            "against": against,
            "ratio": took[name] / took[against],
            "seconds": took[name],
            "target": f"<= {TARGET}",
            "met": took[name] <= TARGET * took[against],
        }
        for name in code
        if name != against
    ]
