"""Everything that is handed out: built twice, installed without the clone, and used as its first page says.

The environments are those of strangers: their only link with this clone is the folder of packages. The build comes
first and is shared by all tests; so is the environment with everything, in which the service runs.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tools.dist import sums
from tools.dist.environments import install, tools_environment
from tools.dist.source import commit_time, export
from tools.dist.wheels import build_one
from tools.weight import megabytes

import make_install_table
import sottovoce as sv
from browser import setting
from collector.service import until
from stranger import PATIENCE, Stranger, without_the_clone
from document import ROOT
from js.surveys import miniatures

pytestmark = pytest.mark.slow

VERSION = sv.__version__
HANDED_OUT = {
    f"sottovoce-{VERSION}-py3-none-any.whl",
    f"sottovoce-{VERSION}.tar.gz",
    f"sottovoce_core-{VERSION}-py3-none-any.whl",
    f"sottovoce_core-{VERSION}.tar.gz",
    f"sottovoce-{VERSION}.tgz",
    f"sottovoce-{VERSION}.cdx.json",
    "SHA256SUMS",
}
FIVE_MINUTES = 300.0
LIGHT = 100.0
"""Megabytes that a device's install stays below."""

ALLOWED = ("Apache", "BSD", "MIT", "ISC", "PSF", "Python Software Foundation", "HPND", "MPL", "Mozilla", "Zlib", "CC0")
LESSER = ("psycopg", "psycopg-binary")
"""LGPL, which lets others use it unchanged; the driver of PostgreSQL comes with the extra `collector` alone."""


class Built:
    """A clone of its own with one commit, and what `make dist` made there."""

    def __init__(self, folder: Path, umask: int) -> None:
        self.clone, self.dist, self.umask = folder / "clone", folder / "dist", umask
        export(ROOT, self.clone, with_changes=True)
        identity = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
        dates = {"GIT_AUTHOR_DATE": commit_time(ROOT), "GIT_COMMITTER_DATE": commit_time(ROOT)}
        for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "All")):
            subprocess.run(["git", *identity, *words], cwd=self.clone, env=without_the_clone() | dates, check=True)

    def build(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tools.dist", "--to", str(self.dist), *words]
        return subprocess.run(
            command, cwd=self.clone, env=without_the_clone(), umask=self.umask, capture_output=True, text=True, check=False
        )

    @cached_property
    def bill(self) -> dict[str, Any]:
        return dict(json.loads((self.dist / f"sottovoce-{VERSION}.cdx.json").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def tools() -> Path:
    return tools_environment(ROOT)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the environment with everything will be."""
    return tmp_path_factory.mktemp("whole") / "environment"


@pytest.fixture(scope="module")
def first(tools: Path, whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The packages, and an environment with all of them, which the build makes because it is missing."""
    made = Built(tmp_path_factory.mktemp("first"), umask=0o022)
    done = made.build("--tools", str(tools), "--environment", str(whole))
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def analyst(first: Built, whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    """Who has installed everything."""
    return Stranger(whole, tmp_path_factory.mktemp("analyst"))


@pytest.fixture(scope="module")
def service(analyst: Stranger) -> Iterator[dict[str, Any]]:
    with analyst.serving() as ready:
        yield ready


@pytest.fixture(scope="module")
def drinks(analyst: Stranger, service: dict[str, Any]) -> str:
    """The id of a live survey."""
    words = ("survey", "create", "shares", "--labels", "tea,coffee,water", "--epsilon", "1", "--title", "Drinks", "--json")
    return str(json.loads(analyst.sottovoce(*words, **access(service)))["id"])


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=setting.browser(), args=list(setting.FLAGS))
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def device(first: Built, tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    """Who has installed what a device needs, and nothing else."""
    environment = tmp_path_factory.mktemp("light") / "environment"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("XDG_CACHE_HOME")  # what the whole environment has needed is in the user's
        install(environment, first.dist, ["sottovoce-core"], ROOT / "constraints.txt")
    return Stranger(environment, tmp_path_factory.mktemp("device"))


def access(service: dict[str, Any]) -> dict[str, str]:
    return {"SOTTOVOCE_URL": service["address"], "SOTTOVOCE_TOKEN": service["admin_token"]}


def reports(analyst: Stranger, service: dict[str, Any], survey: str) -> int:
    """How many are counted, once none waits any more."""

    def status() -> dict[str, Any]:
        return dict(json.loads(analyst.sottovoce("survey", "show", survey, "--json", **access(service))))

    found: dict[str, Any] = until(lambda: None if (now := status())["waiting"] else now, "everything is counted")
    return int(found["n_reports"])


def test_a_live_survey_is_answered_in_a_browser_within_five_minutes_of_pip_install(
    analyst: Stranger, service: dict[str, Any], drinks: str, browser: Browser
) -> None:
    """The clock starts when pip is called: its first act is this file."""
    started = (analyst.environment / "pyvenv.cfg").stat().st_mtime
    page = browser.new_page(locale="en")
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(f"{service['address']}/s/{drinks}")
    page.get_by_role("radio", name="tea", exact=True).check()
    page.get_by_role("button", name="See what would leave").click()
    page.get_by_role("button", name="Send it").click()
    arrived = page.get_by_role("heading", name="It has arrived, and will be counted once.")
    expect(arrived).to_be_visible(timeout=1000 * PATIENCE)
    taken = time.time() - started
    page.close()
    assert reports(analyst, service, drinks) >= 1
    assert taken < FIVE_MINUTES, f"{taken:.0f} seconds from pip install to an answer"


def test_the_dashboard_is_served_from_the_wheel(service: dict[str, Any], browser: Browser) -> None:
    page = browser.new_page(locale="en")
    page.goto(service["address"])
    expect(page.get_by_role("heading").first).to_be_visible(timeout=1000 * PATIENCE)
    page.close()


def test_node_answers_with_the_npm_package(
    first: Built, analyst: Stranger, service: dict[str, Any], drinks: str, tmp_path: Path
) -> None:
    """Installed into an empty folder without a network: it needs nothing else. The program is its own first page's."""
    before = reports(analyst, service, drinks)
    readme = (ROOT / "clients" / "js" / "README.md").read_text(encoding="utf-8")
    program = next(code for code in re.findall(r"```js\n(.*?)```", readme, re.DOTALL) if "process.argv" in code)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "answer.js").write_text(program, encoding="utf-8")
    package = first.dist / f"sottovoce-{VERSION}.tgz"

    def here(*words: str) -> str:
        command = [str(ROOT / "tools" / "with_node"), *words]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True, env=without_the_clone()).stdout

    here("npm", "install", "--offline", "--silent", "--no-audit", "--no-fund", str(package))
    assert [path.name for path in (tmp_path / "node_modules").iterdir() if not path.name.startswith(".")] == ["sottovoce"]
    assert here("node", "answer.js", service["address"], drinks).splitlines() == ["sent", "3"]
    assert reports(analyst, service, drinks) == before + 1


def test_the_first_example_of_the_first_page_runs(analyst: Stranger) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1]
    printed = analyst.python(f"{example}\nprint(sv.__file__)").splitlines()
    assert [line.split()[0] for line in printed[:3]] == ["tea", "coffee", "water"]
    assert Path(printed[-1]).is_relative_to(analyst.environment), "not that of the clone"
    assert analyst.sottovoce("--version") == f"sottovoce {VERSION}\n"


def test_the_same_commit_gives_the_same_bytes(
    first: Built, tools: Path, whole: Path, analyst: Stranger, tmp_path: Path
) -> None:
    """In another folder, with other permissions of files, and with leftovers that git ignores."""
    second = Built(tmp_path, umask=0o077)
    for left in ("src/sottovoce/__pycache__/left.pyc", "clients/js/dist/left.js", "docs/_build/left.html"):
        (second.clone / left).parent.mkdir(parents=True, exist_ok=True)
        (second.clone / left).write_text("of an earlier run")
    done = second.build("--tools", str(tools), "--environment", str(whole))
    assert done.returncode == 0, done.stderr
    assert {path.name for path in first.dist.iterdir()} == HANDED_OUT
    assert {path.name for path in second.dist.iterdir()} == HANDED_OUT
    different = [name for name in HANDED_OUT if (first.dist / name).read_bytes() != (second.dist / name).read_bytes()]
    assert different == []


def test_a_changed_file_stops_a_release_and_leaves_the_last_one_alone(first: Built) -> None:
    before = {path.name: path.read_bytes() for path in first.dist.iterdir()}
    changed = first.clone / "README.md"
    text = changed.read_text(encoding="utf-8")
    changed.write_text(text + "more", encoding="utf-8")
    try:
        done = first.build()
    finally:
        changed.write_text(text, encoding="utf-8")
    assert done.returncode == 1
    assert "nothing was built: 1 uncommitted: README.md. A release is built from a commit" in done.stderr
    assert {path.name: path.read_bytes() for path in first.dist.iterdir()} == before


def test_a_folder_with_other_files_is_not_overwritten(first: Built, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    done = first.build("--to", str(tmp_path))
    assert done.returncode == 1
    assert "holds files and no SHA256SUMS" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_checksums_are_those_of_the_files(first: Built) -> None:
    words = ["sha256sum", "--check", "--strict", sums.NAME]
    done = subprocess.run(words, cwd=first.dist, capture_output=True, text=True, check=True)
    assert done.stdout.count(": OK") == len(HANDED_OUT) - 1


@pytest.mark.parametrize("name", ["sottovoce", "sottovoce_core"])
def test_a_source_distribution_builds_the_same_wheel(name: str, first: Built, tools: Path, tmp_path: Path) -> None:
    with tarfile.open(first.dist / f"{name}-{VERSION}.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    build_one(tmp_path / f"{name}-{VERSION}", tmp_path / "made", tools, commit_time(first.clone))
    wheel = f"{name}-{VERSION}-py3-none-any.whl"
    assert (tmp_path / "made" / wheel).read_bytes() == (first.dist / wheel).read_bytes()


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(first: Built) -> None:
    with zipfile.ZipFile(first.dist / f"sottovoce_core-{VERSION}-py3-none-any.whl") as wheel:
        carried = {name for name in wheel.namelist() if ".dist-info/" not in name}
        stated = {name.partition("/")[2] for name in wheel.namelist() if ".dist-info/" in name}
    source = first.clone / "src"
    tracked = subprocess.run(["git", "ls-files"], cwd=source, check=True, capture_output=True, text=True)
    assert carried == set(tracked.stdout.splitlines())
    assert {"sottovoce/py.typed", "sottovoce/auditing/client.mjs", "sottovoce/histories/device.mjs"} <= carried
    assert "sottovoce/collector/pages/assets/survey.js" in carried
    assert {"licenses/LICENSE", "entry_points.txt"} <= stated


def test_the_meta_package_holds_no_code(first: Built) -> None:
    with zipfile.ZipFile(first.dist / f"sottovoce-{VERSION}-py3-none-any.whl") as wheel:
        assert {name.partition("/")[0] for name in wheel.namelist()} == {f"sottovoce-{VERSION}.dist-info"}


def test_the_npm_package_has_its_licence_and_all_it_exports(first: Built) -> None:
    with tarfile.open(first.dist / f"sottovoce-{VERSION}.tgz") as packed:
        carried = {name.removeprefix("package/") for name in packed.getnames()}
        stated = json.load(packed.extractfile("package/package.json"))
        assert packed.extractfile("package/LICENSE").read() == (ROOT / "LICENSE").read_bytes()
    exported = {path.removeprefix("./") for way in stated["exports"].values() for path in way.values()}
    assert exported <= carried
    assert {name.partition("/")[0] for name in carried} == {"dist", "README.md", "LICENSE", "package.json"}


def test_the_bill_of_materials_lists_everything_that_is_installed(first: Built, analyst: Stranger) -> None:
    names = "import importlib.metadata as m; print(*sorted(d.name + ' ' + d.version for d in m.distributions()), sep='\\n')"
    installed = set(analyst.python(names).splitlines())
    listed = {f"{part['name']} {part['version']}" for part in first.bill["components"]}
    whole = first.bill["metadata"]["component"]
    assert f"{whole['name']} {whole['version']}" == f"sottovoce {VERSION}"
    from_npm = {f"{part['name']} {part['version']}" for part in first.bill["components"] if "pkg:npm" in part["purl"]}
    assert {name.partition(" ")[0] for name in from_npm} == {"sottovoce", "sottovoce-pages", "uplot"}
    assert (listed - from_npm) | {f"sottovoce {VERSION}"} == installed
    assert [part["name"] for part in first.bill["components"] if not part.get("purl")] == []


def test_the_bill_of_materials_says_nothing_of_the_machine(first: Built) -> None:
    assert "serialNumber" not in first.bill
    text = json.dumps(first.bill)
    assert "file:" not in text
    assert str(first.clone) not in text


def licence(about: dict[str, Any]) -> str:
    return about["expression"] or " ".join(about["classifiers"]) or about["text"].partition("\n")[0]


def test_every_licence_of_what_is_installed_is_allowed(analyst: Stranger) -> None:
    code = """
import importlib.metadata as m, json
print(json.dumps({d.name: {
    "expression": d.metadata["License-Expression"],
    "classifiers": [c for c in d.metadata.get_all("Classifier", []) if c.startswith("License :: ")],
    "text": d.metadata["License"] or "",
} for d in m.distributions()}))
"""
    stated = {name: licence(about) for name, about in json.loads(analyst.python(code)).items()}
    assert stated["sottovoce-core"] == "Apache-2.0 AND MIT"
    unknown = {name: said for name, said in stated.items() if not any(word in said for word in ALLOWED)}
    assert {name for name, said in unknown.items() if not (name in LESSER and "LGPL" in said)} == set(), unknown


def test_a_device_install_is_light_and_weighs_what_the_page_says(device: Stranger) -> None:
    weight = megabytes(device.environment)
    assert weight < LIGHT
    stated = json.loads(make_install_table.MEASURED.read_text(encoding="utf-8"))["megabytes"]["sottovoce-core"]
    assert weight == pytest.approx(stated, rel=0.2), "python tools/make_install_table.py dist measures again"
    assert device.python("import importlib.util as u; print(u.find_spec('numba'), u.find_spec('scipy'))") == "None None\n"


def test_a_device_install_answers_surveys_of_every_kind(device: Stranger) -> None:
    cases = {
        name: (survey.to_json(), {digest: held.hex() for digest, held in survey.attachments.items()}, values[0])
        for name, (survey, values) in miniatures(1.0).items()
    }
    assert len(cases) > 10
    (device.folder / "cases.json").write_text(json.dumps(cases, default=_plain), encoding="utf-8")
    code = """
import json, sottovoce as sv
for name, (survey, held, value) in json.load(open("cases.json", encoding="utf-8")).items():
    read = sv.Survey.from_json(survey, {digest: bytes.fromhex(text) for digest, text in held.items()})
    print(name, len(read.randomize(value)), sep="\\t")
"""
    assert [line.split("\t")[0] for line in device.python(code).splitlines()] == list(cases)


def _plain(value: Any) -> Any:
    return value.tolist()


def test_a_device_install_answers_a_live_survey_and_keeps_its_ledger(
    device: Stranger, analyst: Stranger, service: dict[str, Any], drinks: str
) -> None:
    before = reports(analyst, service, drinks)
    assert "tea" in device.sottovoce("survey", "show", drinks, **access(service))
    device.sottovoce("answer", service["address"], "Drinks", "tea")
    assert "Drinks" in device.sottovoce("ledger")
    code = f"""
import sottovoce
from sottovoce.device import Device
with Device("other.db") as device:
    print(device.answer({service["address"]!r}, {drinks!r}, "water").state)
"""
    assert device.python(code) == "sent\n"
    assert reports(analyst, service, drinks) == before + 2


TEA = "s = sv.Survey(sv.shares(['tea', 'coffee', 'water']), epsilon=1.0)"
MORE = "which a device install leaves out: pip install sottovoce"


@pytest.mark.parametrize(
    "call",
    [
        "s.simulate(['tea'] * 100, seed=7)",
        "s.estimate([s.randomize('tea')] * 50)",
        "sv.audit(s)",
        "sv.Survey(sv.vector(dimension=20, radius=1.0), epsilon=1.0)",
        "sv.Survey(sv.number(0, 600), epsilon=1.0)",
    ],
)
def test_a_call_that_needs_more_says_what_to_install(call: str, device: Stranger) -> None:
    done = device.run("python", "-c", f"import sottovoce as sv\n{TEA}\n{call}")
    said = done.stderr.strip().splitlines()[-1]
    assert re.fullmatch(rf"sottovoce\.core\.errors\.MissingExtraError: this needs (numba|scipy), {MORE}", said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("mechanisms", MORE),
        ("strategies", MORE),
        ("audit hadamard", MORE),
        ("plan vector --dimension 20 --epsilon 1 --people 1000", MORE),
        ("simulate shares --values 8 --epsilon 1 --people 1000", MORE),
        ("serve", "pip install 'sottovoce[collector]'"),
        ("relay --to https://stats.example.org", "pip install 'sottovoce[collector]'"),
        ("demo", "pip install 'sottovoce[collector]'"),
    ],
)
def test_a_command_that_needs_more_says_what_to_install(words: str, said: str, device: Stranger) -> None:
    assert said in device.refused(*words.split())
