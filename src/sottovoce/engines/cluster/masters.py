"""Kinds of Spark masters, whether one answers, and how long a session of its kind usually takes to start.

Spark itself would try for minutes.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from sottovoce.core.errors import ServiceError
from sottovoce.core.files import cache_directory, replace_file

__all__ = ["Kind", "check_master", "kind_of", "remember", "shown", "unanswered", "usually"]


Kind: TypeAlias = Literal["local", "standalone", "yarn", "kubernetes", "connect"]

_KINDS: Final[tuple[tuple[str, Kind], ...]] = (
    (r"local(\[.+\]|-cluster\[.+\])?", "local"),
    (r"spark://[^/]+", "standalone"),
    (r"yarn", "yarn"),
    (r"k8s://.+", "kubernetes"),
    (r"sc://.+", "connect"),
)
_NAMES: Final[Mapping[Kind, str]] = {
    "local": "Spark driver",
    "standalone": "Spark master",
    "yarn": "YARN resource manager",
    "kubernetes": "Kubernetes API server",
    "connect": "Spark Connect server",
}
_CONNECT_SECONDS: Final = 5.0
_SERVER_PORT: Final = 15002
"""Port of a Spark Connect server whose address names none."""


def kind_of(master: str) -> Kind:
    """What the address is one of.

    Examples
    --------
    >>> [kind_of(master) for master in ("local[2]", "spark://head:7077", "yarn", "k8s://https://api:6443", "sc://head")]
    ['local', 'standalone', 'yarn', 'kubernetes', 'connect']
    """
    for pattern, kind in _KINDS:
        if re.fullmatch(pattern, master):
            return kind
    raise ServiceError(
        "master is none that Spark knows: it must be local, local[N], local[*], spark://host:port, yarn, "
        "k8s://https://host:port or sc://host:port (Spark Connect)",
        code="bad_master",
    ).at("master")


def shown(master: str) -> str:
    """The address without what follows it: a Spark Connect server's may hold a token.

    Examples
    --------
    >>> shown("sc://head:15002/;use_ssl=true;token=abc")
    'sc://head:15002'
    """
    return master.partition("/;")[0]


def check_master(master: str) -> None:
    """Raise unless one of the addresses takes a connection; of YARN, unless there is a configuration."""
    kind = kind_of(master)
    if kind == "yarn":
        _check_hadoop()
    elif kind != "local" and not any(_answers(host, port) for host, port in _addresses(master, kind)):
        raise unanswered(master)


def unanswered(master: str) -> ServiceError:
    """The error for a master or server that does not answer."""
    kind = kind_of(master)
    location = f"at {shown(master)}" if kind != "yarn" else "of HADOOP_CONF_DIR, or the queue it has for this user,"
    return ServiceError(
        f"the {_NAMES[kind]} {location} does not answer: check its address and that it runs, or count on this machine "
        "with master='local[*]'",
        code="unreachable",
    )


def _addresses(master: str, kind: Kind) -> list[tuple[str, int | None]]:
    """Host and port of every address that is named."""
    rest = re.sub(r"[/;].*", "", re.sub(r"^\w+://(https?://)?", "", master))
    default = {"connect": _SERVER_PORT, "kubernetes": 80 if "//http://" in master else 443}.get(kind)
    matches = (re.fullmatch(r"\[?(.+?)\]?(?::(\d{1,5}))?", part) for part in rest.split(","))
    return [(match[1], int(match[2]) if match[2] else default) for match in matches if match]


def _answers(host: str, port: int | None) -> bool:
    if port is None:
        return False
    try:
        socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
    except (OSError, ValueError, OverflowError):
        return False
    return True


def _check_hadoop() -> None:
    named = [os.environ[name] for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR") if os.environ.get(name)]
    if not any(Path(folder, "yarn-site.xml").is_file() for folder in named):
        raise ServiceError(
            "master yarn needs the cluster's configuration: let HADOOP_CONF_DIR name the folder that holds its "
            "yarn-site.xml and core-site.xml",
            code="no_hadoop_conf",
        ).at("master")


_FILE: Final = "spark_starts.json"
_RANGES: Final[Mapping[Kind, str]] = {
    "local": "5 to 15 seconds",
    "standalone": "5 to 20 seconds",
    "yarn": "20 to 60 seconds, and longer where the queue is full",
    "kubernetes": "20 to 60 seconds, and longer where images must be fetched",
    "connect": "a second or two",
}


def usually(kind: Kind) -> str:
    """Words on how long it takes."""
    seconds = _remembered().get(kind)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < 1e5:
        return f"this usually takes {_RANGES[kind]}"
    return f"this took {max(1, round(seconds))} s last time"


def remember(kind: Kind, seconds: float) -> None:
    """Keep it for the next start; a cache that cannot be written is none."""
    with suppress(OSError):
        path = cache_directory() / _FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps({**_remembered(), kind: round(seconds, 1)}).encode())


def _remembered() -> dict[str, Any]:
    with suppress(OSError, ValueError):
        seconds = json.loads((cache_directory() / _FILE).read_bytes())
        if isinstance(seconds, dict):
            return seconds
    return {}
