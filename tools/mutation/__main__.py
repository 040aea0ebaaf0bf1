"""Mutation testing of the code that privacy and accuracy rest on; `make mutation` calls it.

Cosmic Ray makes the mutants (mutants.py). This process imports what is slow and is not mutated, then forks: one child
a group, which collects the tests, notes which lines each of them reaches, and forks again for every mutant, one at a
time. Mutants that survive, and those of code that runs at import, are tried once more in a fresh import.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tools.mutation.plan import GROUPS, Group
from tools.mutation.trial import KILLED, SURVIVED, TIMEOUT, Forked, Trial, fresh_import

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "sottovoce"
STATE = ROOT / ".mutation"
RESULTS = STATE / "results.jsonl"
MAKER = ROOT / ".venv-mutation" / "bin" / "python"
SEED = 1
PRELOADED = (
    "hypothesis.extra.numpy msgspec numba numpy.testing rfc8785 scipy.linalg scipy.optimize scipy.sparse scipy.special "
    "scipy.stats"
)


def _preload() -> None:
    """What every import of the package and its tests brings in, and no mutant changes."""
    for name in PRELOADED.split():
        importlib.import_module(name)


def _mutants(name: str) -> list[Trial]:
    """All mutants of one module, made once for each version of it."""
    file, kept = SOURCES / name, STATE / "mutants" / name.replace("/", "_").replace(".py", ".jsonl")
    if not kept.exists() or kept.stat().st_mtime < file.stat().st_mtime:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(subprocess.check_output([MAKER, Path(__file__).with_name("mutants.py"), file]))
    module = "sottovoce." + name.removesuffix(".py").replace("/", ".")
    version = hashlib.sha256(file.read_bytes()).hexdigest()[:12]
    made = map(json.loads, kept.read_text().splitlines())
    return [Trial(file=file, module=module, version=version, **mutant) for mutant in made]


def _tell(trial: Trial) -> None:
    with RESULTS.open("a") as file:
        file.write(json.dumps(trial.result()) + "\n")


def _key(result: dict[str, object]) -> tuple[object, ...]:
    return result["module"], result["operator"], result["occurrence"]


def _results() -> dict[tuple[object, ...], dict[str, object]]:
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return {_key(result): result for result in map(json.loads, lines)}


def _run(group: Group, trials: list[Trial], scratch: Path, patience: float) -> None:
    tests = [f"tests/{name}" for name in group.tests]
    arguments = ["-q", "-p", "no:cacheprovider", f"--basetemp={scratch / 'tests'}", f"--rootdir={ROOT}"]
    arguments += [f"--deselect=tests/{name}" for name in group.deselect]
    again = scratch / "again.json"
    files = {SOURCES / name for name in group.modules}
    read = sorted(files | {Path(test.split("::")[0]) for test in tests})
    version = hashlib.sha256(
        b"".join([repr((group, patience)).encode(), *(file.read_bytes() for file in read)])
    ).hexdigest()[:12]
    traced, log = STATE / f"reached-{group.name}-{version}.json", STATE / f"{group.name}.log"
    child = os.fork()
    if child == 0:
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        plugin = Forked(trials, _tell, files=files, traced=traced, again=again, patience=patience)
        os._exit(pytest.main([*arguments, *tests], plugins=[plugin]))
    os.waitpid(child, 0)
    if not again.exists():
        sys.exit(f"{group.name}: the tests do not pass without a mutant; {log.relative_to(ROOT)} says more")
    left = [(trials[index], names, limit) for index, names, limit in json.loads(again.read_text())]
    for trial, names, limit in left[:1]:
        sound = replace(trial, source=trial.file.read_text(encoding="utf-8"), tests=names, limit=limit)
        fresh_import(sound, arguments)
        if sound.verdict != SURVIVED:
            sys.exit(f"{group.name}: in a fresh import the tests do not pass without a mutant: {sound.by}")
    for trial, names, limit in left:
        trial.tests, trial.limit = names, limit
        fresh_import(trial, arguments)
        _tell(trial)


def _report(names: list[str], markdown: bool) -> None:
    """A row a module: its mutants as it stands now, and their verdicts."""
    known, survivors, rows = _results(), [], []
    for name in names:
        made = _mutants(name)
        found = [known.get(_key(trial.result()), {}) for trial in made]
        found = [one if one.get("version") == trial.version else {} for one, trial in zip(found, made, strict=True)]
        counts = Counter(str(one.get("verdict")) for one in found)
        rows.append(
            (name.removesuffix(".py"), len(made), *(counts[verdict] for verdict in (KILLED, TIMEOUT, SURVIVED)))
        )
        survivors += [one for one in found if one.get("verdict") == SURVIVED]
    rows.append(("together", *(sum(row[column] for row in rows) for column in range(1, 5))))
    heads = ("module", "mutants", "killed", "timeouts", "survived")
    if markdown:
        print("\n".join(f"| {' | '.join(map(str, row))} |" for row in (heads, ("---",) * 5, *rows)))
        return
    for row in (heads, *rows):
        print("{:44} {:>8} {:>8} {:>9} {:>9}".format(*row))
    for one in survivors:
        print("survived: {module}:{line} {operator} ({inside})".format(**one))


def main() -> None:
    """Run the mutants that have no verdict yet, or once more those that survived; then print the table."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutation", description="Mutation testing; one process.")
    parser.add_argument("only", nargs="*", help="groups, or modules such as mechanisms/codecs.py (all of them if none)")
    parser.add_argument(
        "--sample", type=float, default=1.0, help="share of each module's mutants, drawn by a fixed seed"
    )
    parser.add_argument("--again", nargs="+", choices=(SURVIVED, TIMEOUT), help="those with this verdict, once more")
    parser.add_argument("--patience", type=float, default=1.0, help="times as long for the tests of a mutant")
    parser.add_argument("--markdown", action="store_true", help="run nothing; the table for the documentation")
    options = parser.parse_args()
    os.chdir(ROOT)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    sys.path.insert(0, str(ROOT / "src"))
    STATE.mkdir(exist_ok=True)
    _preload()
    known, ran = _results(), []
    for group in GROUPS:
        names = [name for name in group.modules if not options.only or {name, group.name} & set(options.only)]
        trials = []
        for name in names:
            made = _mutants(name)
            chosen = np.random.default_rng(SEED).permutation(len(made))[: math.ceil(len(made) * options.sample)]
            made = [made[i] for i in sorted(chosen)]
            for trial in made:
                old = known.get(_key(trial.result()))
                verdict = old["verdict"] if old and old.get("version", trial.version) == trial.version else None
                if verdict in (options.again or (None,)):
                    trials.append(trial)
        ran += names
        if trials and not options.markdown:
            print(f"==> {group.name}: {len(trials)} mutants", flush=True)
            with tempfile.TemporaryDirectory() as scratch:
                _run(group, trials, Path(scratch), options.patience)
    _report(ran, options.markdown)


if __name__ == "__main__":
    main()
