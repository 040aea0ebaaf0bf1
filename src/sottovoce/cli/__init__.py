"""The `sottovoce` command: thin commands over the library, one file each, imported when they are run.

Exit status: 0 success; 1 an audit or the check of a log failed; 2 an error; 3 a page on which parts
cannot be stated; 130 interrupted; 141 closed pipe.
"""

from __future__ import annotations

import _thread
import contextlib
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["main"]

INTERRUPTED = 130
PIPE_CLOSED = 141
_AGAIN_SECONDS = 0.05


def main(argv: Sequence[str] | None = None, grammar: Callable[[Sequence[str]], Parser] | None = None) -> int:
    """Run one command line and return its exit status.

    Parameters
    ----------
    argv
        The words after `sottovoce`; those of this process unless given.
    grammar
        Another grammar than `build_parser`, for commands beside those of the package.

    Examples
    --------
    >>> main(["--version"])
    sottovoce ...
    0
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        with _no_interrupt_lost(), _plain_warnings():
            status = _run(words, grammar)
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _stop_writing()
        return PIPE_CLOSED
    return status


def _run(words: list[str], grammar: Callable[[Sequence[str]], Parser] | None) -> int:
    from sottovoce.cli.parser import UsageError, build_parser
    from sottovoce.core.errors import SottovoceError

    _replace_unencodable_characters()
    try:
        arguments = (grammar or build_parser)(words).parse_args(words)
        return int(arguments.run(arguments))
    except SystemExit as done:  # argparse after --help and --version
        return int(done.code or 0)
    except (SottovoceError, UsageError, MemoryError) as error:
        from sottovoce.cli.output import report_error

        report_error(error, as_json="--json" in words)
        return 2


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    """A warning is one line on standard error, without the place in the source that Python shows."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        from sottovoce.cli.output import report_warning

        report_warning(str(message))

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _replace_unencodable_characters() -> None:
    """A terminal that cannot show a character shows a question mark instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


@contextlib.contextmanager
def _no_interrupt_lost() -> Iterator[None]:
    """Ctrl-C may come while Python ignores errors, as in a finalizer, or wraps them, as while a class is made."""
    before = sys.unraisablehook

    def deliver_again(ignored: Any) -> None:
        if issubclass(ignored.exc_type, KeyboardInterrupt):
            import threading

            # Later, and from elsewhere: an interrupt inside this hook would be ignored too.
            threading.Timer(_AGAIN_SECONDS, _thread.interrupt_main).start()
        else:
            before(ignored)

    sys.unraisablehook = deliver_again
    try:
        yield
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, KeyboardInterrupt):
            cause = cause.__cause__
        if cause is None:
            raise
        raise cause from None
    finally:
        sys.unraisablehook = before


def _stop_writing() -> None:
    """The reader has closed the pipe (`| head`): discard what is still buffered, without an error at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
