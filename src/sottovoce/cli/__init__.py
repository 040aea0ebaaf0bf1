"""The `sottovoce` command: thin commands over the library, one file each, imported when they are needed.

Exit status: 0 done; 1 an audit found a mechanism unsound; 2 something was asked for wrongly; 130 interrupted.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

__all__ = ["main"]

INTERRUPTED = 130
PIPE_CLOSED = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status.

    Parameters
    ----------
    argv
        The words after `sottovoce`; those of this process unless given.

    Examples
    --------
    >>> main(["--version"])
    sottovoce ...
    0
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        status = _run(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _stop_writing()
        return PIPE_CLOSED
    return status


def _run(words: list[str]) -> int:
    from sottovoce.cli.output import report_error, tolerate_narrow_encodings
    from sottovoce.cli.parser import UsageError, build_parser
    from sottovoce.errors import SottovoceError

    tolerate_narrow_encodings()
    try:
        arguments = build_parser().parse_args(words)
        return int(arguments.run(arguments))
    except SystemExit as done:  # argparse after --help and --version
        return int(done.code or 0)
    except (SottovoceError, UsageError, MemoryError) as error:
        report_error(error, as_json="--json" in words)
        return 2


def _stop_writing() -> None:
    """The reader went away (`| head`): what is still buffered goes nowhere, without a complaint at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
