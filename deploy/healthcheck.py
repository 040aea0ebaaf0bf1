"""Whether what runs in this container is ready; for HEALTHCHECK, since the image has no curl.

The first process tells what it is: `serve` and `relay` are asked at /readyz; one that only works has no address, and
is well as long as it runs. Read are flags and variables, not a settings file.
"""

from __future__ import annotations

import os
import ssl
import sys
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path


def ready_address(words: Sequence[str], environ: Mapping[str, str]) -> str | None:
    """Where to ask, from the first process's command line; None where there is nothing to ask."""
    if "--only-work" in words:
        return None
    prefix, port = ("SOTTOVOCE_RELAY_", "8471") if "relay" in words else ("SOTTOVOCE_", "8470")

    def given(setting: str, default: str) -> str:
        flag, value = "--" + setting.lower().replace("_", "-"), environ.get(prefix + setting, default)
        for word, after in zip(words, (*words[1:], ""), strict=True):  # of several flags the last one counts
            if word == flag:
                value = after
            elif word.startswith(f"{flag}="):
                value = word.removeprefix(f"{flag}=")
        return value

    scheme = "https" if given("TLS_CERTIFICATE", "") else "http"
    return f"{scheme}://127.0.0.1:{given('PORT', port)}/readyz"


def main(first: Path = Path("/proc/1/cmdline")) -> int:
    """0 if it is ready."""
    words = first.read_text("utf-8").split("\0")
    address = ready_address(words, os.environ)
    if address is None:
        return 0
    # The certificate names another host; whoever answers on this port in this container is the service.
    context = ssl._create_unverified_context()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(address, timeout=5):
            return 0
    except OSError as error:
        sys.stderr.write(f"not ready: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
