"""`sottovoce audit`: the verdict on what leaves the device, at the size that is deployed."""

from __future__ import annotations

import argparse
import math
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.auditing import DEFAULT_DELTA
from sottovoce.cli.arguments import add_epsilon, add_integer, add_json, add_number, refuse_options
from sottovoce.cli.audit_device import add_device_options, run_device_audit
from sottovoce.cli.output import console, print_json, progress, titled_table
from sottovoce.core.progress import steps

if TYPE_CHECKING:
    from sottovoce.auditing import AuditResult
    from sottovoce.auditing.client import ClientAudit
    from sottovoce.cli.parser import Parser
    from sottovoce.surveys.survey import Survey

__all__ = ["register", "show_audits"]

GRID = (0.25, 0.5, 1.0, 2.0, 4.0)
"""The epsilons of `--all`."""

SAMPLES = (100, 10**9)
"""Fewer samples certify nothing; more would take days."""

_LONG = 10.0
"""Seconds for each of several audits beyond which a broken one among the last should not wait for the others."""
_SHORT = 1.0

_DESCRIPTION = """\
Audit mechanisms at a stated epsilon, or a survey at its own size. The device's code is run on given draws and must send
what its stated law demands. The verdict is one of three: proved (every outcome of its draws was run, for every value),
sampled (some were run; the audit says which, and what fault they would have shown), broken (with a witness). A lower
bound on epsilon is certified from sampled reports alone. A mechanism by name is audited at a size that is usual in
surveys, which the verdict states. The audit ends as soon as something is broken; the exit status is then 1.
"""

_EXAMPLES = """\
examples:
  sottovoce audit
  sottovoce audit --survey survey.json                 the survey that is deployed, at its size
  sottovoce audit --survey survey.json --seconds 1000  run more of a large one
  sottovoce audit --survey survey.json --client dist/sottovoce.min.js
  sottovoce audit --device                             the device itself, through all short histories
  sottovoce audit hadamard subset_selection --epsilon 0.5
  sottovoce audit randomized_response --epsilon 2 --values 5
  sottovoce audit --all --html soundness.html          every mechanism at several epsilons, as one page
  sottovoce audit --json | jq '.results[] | select(.verdict == "broken")'
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    parser.add_argument("mechanisms", nargs="*", metavar="MECHANISM", help="mechanisms to audit (default: all)")
    parser.add_argument("--survey", type=Path, metavar="FILE", help="audit the survey whose JSON this file holds")
    parser.add_argument("--attachment", type=Path, metavar="FILE", help="the file that it names by digest, if any")
    parser.add_argument(
        "--client",
        type=Path,
        metavar="FILE",
        help="first run this JavaScript client (an ES module, by Node) and the Python device on the same random bytes",
    )
    add_epsilon(parser, required=False)
    add_integer(parser, "--values", "J", "number of values (default: one that is usual in surveys)")
    add_integer(
        parser,
        "--samples",
        "N",
        "sampled reports per value, and random runs at least (default: 20,000, or fewer where they take long)",
    )
    add_number(
        parser,
        "--seconds",
        "S",
        "processor seconds for runs of each device; all are used (default: up to 120 for a survey, 3 else)",
    )
    add_number(parser, "--delta", "D", "delta of the Gaussian mechanisms", DEFAULT_DELTA)
    parser.add_argument(
        "--all",
        action="store_true",
        help=f"at epsilon {', '.join(f'{epsilon:g}' for epsilon in GRID)}; takes minutes",
    )
    add_device_options(parser)
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write the results as one page")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from rich.markup import escape

    from sottovoce.auditing.page import render
    from sottovoce.core.files import check_file, write_file

    if arguments.device:
        return run_device_audit(arguments)
    refuse_options(arguments, "belongs to an audit of a device: give --device too", "history")
    survey = _survey(arguments)
    names, epsilons = _subjects(arguments)
    if arguments.html is not None:
        check_file(arguments.html, "page")
    client = None if survey is None or arguments.client is None else _audit_client(arguments, survey)
    if survey is None:
        results = _audit_names(arguments, names, epsilons)
    else:
        results = [_audit_survey(arguments, survey)] if client is None or client.agrees else []
    sound = all(result.sound for result in results) and (client is None or client.agrees)
    if client is not None and not arguments.json:
        console().print(str(client), markup=False, soft_wrap=True)
    if not arguments.json:
        for epsilon in dict.fromkeys(result.epsilon for result in results):
            show_audits([result for result in results if result.epsilon == epsilon], epsilon)
    if arguments.html is not None:
        write_file(arguments.html, render(results))
    if arguments.json:
        page = {} if arguments.html is None else {"page": str(arguments.html)}
        beside = {} if client is None else {"client": client.to_dict()}
        print_json({"sound": sound, "results": [result.to_dict() for result in results], **beside, **page})
    elif arguments.html is not None:
        console().print(f"[bold]{escape(str(arguments.html))}[/]: all results on one page", soft_wrap=True)
    return 0 if sound else 1


def _survey(arguments: argparse.Namespace) -> Survey | None:
    """The survey to audit, if one is named; nothing that says what to audit may stand beside it."""
    from sottovoce.cli.parser import UsageError
    from sottovoce.cli.survey_create import stated_in_file
    from sottovoce.core.errors import SurveyError
    from sottovoce.surveys.survey import Survey

    if arguments.survey is None:
        refuse_options(arguments, "belongs to a survey: give --survey too", "attachment", "client")
        return None
    if arguments.mechanisms:
        raise UsageError("--survey says what is audited: leave MECHANISM out (see: sottovoce audit --help)")
    reason = "is for mechanisms by name; the survey says it itself: leave it out"
    refuse_options(arguments, reason, "epsilon", "values", "delta", "all")
    survey = stated_in_file(arguments.survey, arguments.attachment)
    if not isinstance(survey, Survey):
        raise SurveyError(
            f"{str(arguments.survey)!r} is a {survey.noun}, which asks nothing itself: name one of its {survey.part}s"
        )
    return survey


def _audit_survey(arguments: argparse.Namespace, survey: Survey) -> AuditResult:
    from sottovoce.auditing import audit

    return audit(survey, samples=arguments.samples, seconds=arguments.seconds)


def _audit_client(arguments: argparse.Namespace, survey: Survey) -> ClientAudit:
    from sottovoce.auditing.client import DEFAULT_CLIENT_SECONDS, audit_client

    seconds = DEFAULT_CLIENT_SECONDS if arguments.seconds is None else arguments.seconds
    with steps("auditing the client", unit="runs") as shown:
        return audit_client(survey, arguments.client, seconds=seconds, tell=shown.advance)


def _audit_names(arguments: argparse.Namespace, names: list[str], epsilons: tuple[float, ...]) -> list[AuditResult]:
    """The results up to the first that is broken. Where each takes long, all are looked at for a short time first."""
    from sottovoce.auditing import has_delta

    settings = {"domain_size": arguments.values, "samples": arguments.samples, "seconds": arguments.seconds}
    given = {name: setting for name, setting in settings.items() if setting is not None}
    rounds = [given]
    if (arguments.seconds or 0) > _LONG and len(names) * len(epsilons) > 1:
        rounds = [{**given, "seconds": _SHORT, "samples": SAMPLES[0]}, given]
    results: list[AuditResult] = []
    with progress("auditing", len(rounds) * len(names) * len(epsilons), "audits") as advance:
        for settings in rounds:
            results = []
            for epsilon, name in product(epsilons, names):
                more = {"delta": arguments.delta} if has_delta(name) else {}
                results.append(_audited(name, epsilon, {**settings, **more}))
                advance(1)
                if not results[-1].sound:
                    return results
    return results


def _audited(name: str, epsilon: float, given: dict[str, Any]) -> AuditResult:
    from sottovoce.auditing import audit

    try:
        return audit(name, epsilon=epsilon, **given)
    except MemoryError as error:
        named = {"domain_size": "--values", "samples": "--samples"}
        options = [option for setting, option in named.items() if setting in given]
        if not options:
            raise
        raise MemoryError(f"not enough memory; give a smaller {' or '.join(options)}") from error


def _subjects(arguments: argparse.Namespace) -> tuple[list[str], tuple[float, ...]]:
    """The mechanisms to audit, with their epsilons; all options are checked before the first audit."""
    from sottovoce.auditing import auditable, check_seconds, has_delta
    from sottovoce.cli.parser import UsageError
    from sottovoce.core.errors import MechanismError
    from sottovoce.core.limits import check_delta, check_epsilon, check_integer

    known = list(auditable())
    names = list(dict.fromkeys(arguments.mechanisms)) or known
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise MechanismError(f"mechanism {unknown!r} cannot be audited; choose among {', '.join(known)}")
    check_delta(arguments.delta)
    if not any(has_delta(name) for name in names):
        refuse_options(arguments, "is for mechanisms that have a delta, such as gaussian: leave it out", "delta")
    if arguments.samples is not None:
        check_integer("samples", arguments.samples, *SAMPLES)
    if arguments.seconds is not None:
        check_seconds(arguments.seconds)
    if arguments.all and arguments.epsilon is not None:
        raise UsageError("--all has its own epsilons; leave --epsilon or --all out (see: sottovoce audit --help)")
    if arguments.all:
        return names, GRID
    return names, (check_epsilon(1.0 if arguments.epsilon is None else arguments.epsilon),)


def show_audits(results: list[AuditResult], epsilon: float) -> None:
    """Print the verdicts of one epsilon as a table, and what they rely on."""
    from sottovoce.auditing.page import method_in_words

    table = titled_table(
        f"audit at stated epsilon {epsilon:g}",
        "exact: the epsilon of the bytes that leave the device; certified: a lower bound from sampled reports; –: the "
        "samples prove nothing",
    )
    table.add_column("mechanism", style="bold", no_wrap=True)
    table.add_column("exact", justify="right", no_wrap=True)
    table.add_column("certified", justify="right", no_wrap=True)
    table.add_column("verdict", justify="center", no_wrap=True)
    table.add_column("how")
    for result in results:
        verdict = f"[green]{result.verdict}[/]" if result.sound else "[bold red]BROKEN[/]"
        verdict += f" {result.size}"
        exact = "∞" if math.isinf(result.exact_epsilon) else f"{result.exact_epsilon:.6f}"
        certified = f"{result.certified_lower_bound:.3f}" if result.certified_lower_bound > 0 else "–"
        table.add_row(result.mechanism, exact, certified, verdict, method_in_words(result))
    console().print(table)
    assumptions = dict.fromkeys(assumption for result in results for assumption in result.assumptions)
    if assumptions:
        console().print("These verdicts rely on:")
        for assumption in assumptions:
            console().print(f"  - {assumption}", markup=False)
