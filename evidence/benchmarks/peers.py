"""The peers' side of the benchmarks: pure-ldp and multi-freq-ldpy, measured in the same run as ours.

They live in an environment of their own, ``.venv-peers`` beside ``.venv``, because their
dependencies are not ours; `measure` creates it when it is missing.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import msgspec
import numpy as np
from numpy.typing import NDArray

from sottovoce.core.limits import check_domain_size, check_epsilon

__all__ = [
    "Accuracy",
    "PeerMeasurements",
    "PeersUnavailable",
    "Throughput",
    "accuracy_sample",
    "measure",
    "prepared_environment",
    "run_step",
]

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE.parents[1] / ".venv-peers"
REQUIREMENTS = HERE / "peers-requirements.txt"
WORKER = HERE / "peers_worker.py"

ACCURACY_DOMAIN_SIZE = 1024
ACCURACY_PEOPLE = 20_000
ACCURACY_SEED = 20_000

LARGEST_DOMAIN = 2**24
"""Above this one peer's client, which lists the domain for each user, cannot be timed in reasonable time."""

STEP_SECONDS = 1800
"""Installing or measuring takes a minute or two; a step this long has hung."""


class PeersUnavailable(RuntimeError):  # noqa: N818 - it names a state callers go on from
    """The peers could not be installed or measured; says which step failed. Go on without them."""


class Throughput(TypedDict):
    """Rates of one mechanism of one package; `PeerMeasurements.notes` says how they were taken."""

    package: str
    mechanism: str
    domain_size: int
    epsilon: float
    randomize_people: int
    randomize_per_second: float
    aggregate_people: int
    aggregate_per_second: float
    estimate_seconds: float
    people_per_second: float


class Accuracy(TypedDict):
    """L2 error of one package's estimate on `accuracy_sample`, after its own post-processing."""

    package: str
    mechanism: str
    domain_size: int
    epsilon: float
    n_people: int
    post_processing: str
    runs: int
    l2_error_mean: float
    l2_error_deviation: float


class PeerMeasurements(TypedDict):
    """Everything measured about the peers in one run."""

    python: str
    packages: dict[str, str]
    adjustments: list[str]
    notes: list[str]
    cpu_share: float
    collection: int
    throughput: list[Throughput]
    accuracy: list[Accuracy]


def accuracy_sample() -> NDArray[np.int64]:
    """The values of 20,000 people, Zipf(1) over 1024 values, that every accuracy figure is measured on.

    Examples
    --------
    >>> sample = accuracy_sample()
    >>> sample.size, bool(sample.min() >= 0), bool(sample.max() < 1024)
    (20000, True, True)
    """
    weights = 1.0 / np.arange(1, ACCURACY_DOMAIN_SIZE + 1)
    rng = np.random.default_rng(ACCURACY_SEED)
    return rng.choice(ACCURACY_DOMAIN_SIZE, size=ACCURACY_PEOPLE, p=weights / weights.sum())


def measure(domain_sizes: Sequence[int] = (1024, 1_000_000), epsilon: float = 1.0) -> PeerMeasurements:
    """Measure the peers now, on this machine; nothing is kept from earlier runs but the environment.

    Parameters
    ----------
    domain_sizes
        Where pure-ldp's Hadamard Response and multi-freq-ldpy's k-ary randomized response
        are timed. Their other mechanisms are timed at 1024 values, for information.
    epsilon
        Privacy parameter of every measurement.

    Raises
    ------
    PeersUnavailable
        The environment could not be made (no package index in reach, say) or a peer failed.
    SurveyError
        `epsilon` or a domain size is out of range.
    """
    request = {
        "domain_sizes": [check_domain_size(size, largest=LARGEST_DOMAIN) for size in domain_sizes],
        "epsilon": check_epsilon(epsilon),
        "accuracy_domain_size": ACCURACY_DOMAIN_SIZE,
        "accuracy_values": accuracy_sample().tolist(),
    }
    python = prepared_environment(ENVIRONMENT, REQUIREMENTS)
    _say("measuring the peers (a minute or two)")
    answer = run_step(
        "measuring the peers",
        [str(python), "-I", str(WORKER)],
        hint="its errors are above",
        text=json.dumps(request),
        live=True,
    )
    try:
        return msgspec.json.decode(answer, type=PeerMeasurements)
    except msgspec.MsgspecError as error:
        raise PeersUnavailable(f"measuring the peers failed: its answer cannot be read ({error})") from error


def _say(message: str) -> None:
    print(f"==> {message}", file=sys.stderr, flush=True)


def prepared_environment(environment: Path, requirements: Path) -> Path:
    """Path of the Python inside an environment, made or made anew unless it is complete and current."""
    python = environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    stamp = environment / ".installed"
    # The stamp is written last, so an interrupted or outdated installation is never taken for a good one.
    state = f"{sys.version}\n{hashlib.sha256(requirements.read_bytes()).hexdigest()}\n"
    if python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == state:
        return python
    _say(f"creating {environment.name} (once; a minute or two)")
    try:
        venv.create(environment, clear=True, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise PeersUnavailable(f"creating {environment.name} failed: {error}") from error
    _say(f"installing {requirements.name} into {environment.name}")
    # The file pins everything that is needed; one package in it demands more than is.
    pip = [str(python), "-m", "pip", "install", "-qq", "--no-deps", "--disable-pip-version-check", "--no-input"]
    run_step(
        f"installing {requirements.name}",
        [*pip, "--retries", "1", "--requirement", str(requirements)],
        hint="it needs a package index in reach",
    )
    stamp.write_text(state, encoding="utf-8")
    return python


def run_step(step: str, command: list[str], *, hint: str, text: str | None = None, live: bool = False) -> str:
    """Standard output of `command`, fed with `text`; a failure names the `step` and gives the `hint`.

    Standard error is shown as it comes if `live`, else quoted in the failure.
    """
    errors = None if live else subprocess.PIPE
    try:
        done = subprocess.run(
            command,
            input=text,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            timeout=STEP_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeersUnavailable(f"{step} failed: {error}") from error
    if done.returncode:
        quoted = f":\n{done.stderr.strip()}" if done.stderr else ""
        raise PeersUnavailable(f"{step} failed with exit status {done.returncode}; {hint}{quoted}")
    return done.stdout


if __name__ == "__main__":
    try:
        measurements = measure()
    except PeersUnavailable as unavailable:
        sys.exit(f"peers unavailable: {unavailable}")
    print(json.dumps(measurements, indent=2))
