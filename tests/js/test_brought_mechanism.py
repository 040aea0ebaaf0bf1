"""A mechanism of another package, in both languages as the page on adding one shows it: they send the same bytes."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import sottovoce as sv
from commands import run_here
from docs.test_examples import fenced
from document import ROOT
from foreign import install
from js.bridge import CLIENT, Bridge, built, node
from sottovoce.auditing.client import audit_client
from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms import registry
from sottovoce.randomness import tape_source

PAGE = (ROOT / "docs" / "contributors" / "adding_a_mechanism.md").read_text(encoding="utf-8")
IMPORT = re.compile(r"^import .*$", re.MULTILINE)
BRINGS = """
import {{ readSurvey as read }} from "{client}/index.js";
import {{ lazyResponse }} from "./lazy_response.js";
export {{ Source }} from "{client}/index.js";
export const readSurvey = (text, attachments) => read(text, attachments, {{ lazy_response: lazyResponse }});
"""
RUNS = """
import { lazyResponseLaw } from "./lazy_response.js";
import { readSurvey, Source } from "./my_client.js";
import { explain } from "CLIENT/explain.js";
const [statement, value, ...tapes] = JSON.parse(process.argv[2]);
const survey = await readSurvey(statement);
for (const tape of tapes) {
  const bytes = Buffer.from(tape, "hex");
  let at = 0;
  const report = survey.randomize(value, new Source((wanted) => wanted.forEach((_, i) => (wanted[i] = bytes[at++]))));
  const told = explain(survey, report, value, { lazy_response: lazyResponseLaw });
  console.log(Buffer.from(report).toString("hex"), told.likelihood(value));
}
"""


@pytest.fixture
def brought(client: Bridge, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A module that exports what the audit asks of a client, and brings the mechanism."""
    base = tmp_path_factory.getbasetemp()
    build = built(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base).parents[1]
    code = (build / "test" / "lazy_response.js").read_text(encoding="utf-8").replace('"../src/', f'"{build}/src/')
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "lazy_response.js").write_text(code, encoding="utf-8")
    module = tmp_path / "my_client.js"
    module.write_text(BRINGS.format(client=build / "src"))
    (tmp_path / "runs.js").write_text(RUNS.replace("CLIENT", str(build / "src")))
    return module


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> sv.Survey:
    install(tmp_path, monkeypatch)
    registry.REGISTRY.forget()
    return sv.Survey(sv.shares(["red", "green", "blue"]), epsilon=1.0, mechanism="lazy_response")


def test_what_is_run_here_is_what_the_page_shows() -> None:
    blocks = list(fenced(PAGE))
    shown = next(block.code for block in blocks if block.mark == "ts")
    imports = next(block.code for block in blocks if block.mark == "js")
    module = (CLIENT / "test" / "lazy_response.ts").read_text(encoding="utf-8")
    assert without_imports(shown) == without_imports(module)
    taken = module.replace('"../src/index.js"', '"sottovoce"').replace('"../src/explain.js"', '"sottovoce/explain"')
    assert re.findall(IMPORT, re.sub(r"type \w+, ", "", taken)) == re.findall(IMPORT, imports)


def without_imports(code: str) -> str:
    """The code from its first definition on."""
    return code[code.index("export const") :].strip()


def test_both_devices_send_the_same_bytes_with_the_same_probability(brought: Path, survey: sv.Survey) -> None:
    tapes = [bytes((37 * i + 11 * start) % 256 for i in range(64)) for start in range(40)]
    asked = json.dumps([survey.to_json(), "blue", *(tape.hex() for tape in tapes)])
    command = [node(), str(brought.with_name("runs.js")), asked]
    sent = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    mechanism = survey.mechanism
    reports = [mechanism.randomize(2, tape_source(tape)) for tape in tapes]
    assert sent[::2] == [(survey.tag + mechanism.encode(report)).hex() for report in reports]
    chances = [float(mechanism.probability(report, 2)) for report in reports]
    assert [float(chance) for chance in sent[1::2]] == pytest.approx(chances, rel=1e-15)
    assert len(set(reports)) == 3


def test_the_audit_runs_a_client_that_brings_it(
    brought: Path, survey: sv.Survey, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = audit_client(survey, brought, seconds=0.5)
    assert found.agrees
    assert found.every_value
    (tmp_path / "survey.json").write_text(survey.to_json())
    done = run_here(capsys)(
        "audit", "--survey", str(tmp_path / "survey.json"), "--client", str(brought), "--seconds", "1"
    )
    assert done.status == 0, done.stderr


def test_the_audit_sees_one_that_draws_otherwise(brought: Path, survey: sv.Survey) -> None:
    module = brought.with_name("lazy_response.js")
    code = module.read_text(encoding="utf-8")
    assert code.count("truthful ? value : blind") == 1
    module.write_text(code.replace("truthful ? value : blind", "truthful ? blind : value"), encoding="utf-8")
    assert not audit_client(survey, brought, seconds=0.5).agrees


def test_a_client_that_brings_nothing_refuses_the_survey(brought: Path, survey: sv.Survey) -> None:
    brought.write_text(brought.read_text().replace("{ lazy_response: lazyResponse }", "{}"))
    with pytest.raises(MechanismError, match="mechanisms"):
        audit_client(survey, brought)
