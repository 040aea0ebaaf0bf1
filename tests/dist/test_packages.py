"""Names, versions and requirements of what is handed out, and the source that it is built from."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tools.dist.bill import unpinned
from tools.dist.meta import pyproject
from tools.dist.processes import BuildError
from tools.dist.source import commit_time, export, uncommitted

import make_install_table
import sottovoce
from document import ROOT
from sottovoce.core.extras import LEFT_OUT

CLIENTS = ROOT / "clients"


def project() -> dict[str, Any]:
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"])


def name_of(requirement: str) -> str:
    return re.match(r"[\w.-]+", requirement)[0]


@pytest.mark.parametrize("client", ["js", "pages"])
def test_the_clients_have_the_version_of_the_package(client: str) -> None:
    stated = json.loads((CLIENTS / client / "package.json").read_text(encoding="utf-8"))
    locked = json.loads((CLIENTS / client / "package-lock.json").read_text(encoding="utf-8"))
    versions = {stated["version"], locked["version"], locked["packages"][""]["version"]}
    assert versions == {sottovoce.__version__}


def test_the_changes_have_a_section_for_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[{re.escape(sottovoce.__version__)}\]", text, re.MULTILINE)


def test_a_device_needs_none_of_what_an_install_may_leave_out() -> None:
    needed = {name_of(requirement).replace("-", "_") for requirement in project()["dependencies"]}
    compiled = {name_of(requirement).replace("-", "_") for requirement in project()["optional-dependencies"]["compiled"]}
    assert "numpy" in needed
    assert not needed & set(LEFT_OUT)
    assert compiled | {"llvmlite"} == set(LEFT_OUT), "llvmlite comes with numba"


def test_the_meta_package_requires_the_code_and_passes_all_extras_on() -> None:
    made = tomllib.loads(pyproject((ROOT / "pyproject.toml").read_text(encoding="utf-8"), "9.8.7"))
    assert made["project"]["name"] == "sottovoce"
    assert made["project"]["dependencies"] == ["sottovoce-core[compiled]==9.8.7"]
    extras = made["project"]["optional-dependencies"]
    assert extras == {name: [f"sottovoce-core[{name}]==9.8.7"] for name in project()["optional-dependencies"]}
    assert made["project"]["requires-python"] == project()["requires-python"]
    assert made["project"]["classifiers"] == project()["classifiers"]
    assert made["build-system"]["requires"]


def test_the_npm_package_may_be_published_and_needs_nothing() -> None:
    stated = json.loads((CLIENTS / "js" / "package.json").read_text(encoding="utf-8"))
    assert stated["name"] == "sottovoce"
    assert "private" not in stated
    assert "dependencies" not in stated


def test_the_licence_of_what_the_pages_bundle_is_carried_along() -> None:
    [bundled] = json.loads((CLIENTS / "pages" / "package.json").read_text(encoding="utf-8"))["dependencies"]
    carried = ROOT / "src" / "sottovoce" / "collector" / "pages" / "licences" / f"{bundled}.txt"
    assert "Permission is hereby granted" in carried.read_text(encoding="utf-8")
    assert project()["license"] == "Apache-2.0 AND MIT"
    if (installed := CLIENTS / "pages" / "node_modules" / bundled / "LICENSE").exists():
        assert carried.read_bytes() == installed.read_bytes()


def test_the_table_of_installs_has_the_figures_that_were_measured() -> None:
    weights = json.loads(make_install_table.MEASURED.read_text(encoding="utf-8"))["megabytes"]
    assert list(weights) == list(make_install_table.INSTALLS)
    page = make_install_table.PAGE.read_text(encoding="utf-8")
    assert make_install_table.with_table(page, make_install_table.table(weights)) == page


def test_a_page_without_the_table_is_not_written() -> None:
    with pytest.raises(ValueError, match="has no table"):
        make_install_table.with_table("# Install\n", "| install |")


def test_a_package_that_nobody_pinned_is_noticed() -> None:
    bill = {"components": [{"name": "numpy", "version": "2"}, {"name": "sottovoce-core", "version": "1"}]}
    assert unpinned(bill, "numpy==2\n") == []
    assert unpinned(bill, "numpy==2.1\n") == ["numpy 2"]
    assert unpinned(bill, "") == ["numpy 2"]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A commit with two files, and a file that git ignores."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "somebody@example.org")
        monkeypatch.setenv(f"GIT_{role}_DATE", "@1700000000 +0200")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "kept.py").write_text("committed = True\n")
    (folder / ".gitignore").write_text("*.pyc\n")
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "First")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    (folder / "left.pyc").write_text("of an earlier run")
    return folder


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_files_that_git_ignores_are_not_built(repository: Path, tmp_path: Path) -> None:
    assert uncommitted(repository) == []
    assert commit_time(repository) == "1700000000"
    export(repository, tmp_path / "copy")
    assert names(tmp_path / "copy") == {"kept.py", ".gitignore"}


@pytest.mark.parametrize("name", ["kept.py", "new file.py"])
def test_a_release_is_not_built_from_uncommitted_changes(name: str, repository: Path, tmp_path: Path) -> None:
    (repository / name).write_text("committed = False\n")
    with pytest.raises(BuildError, match=re.escape(f"1 uncommitted: {name}. ") + ".*commit or stash, or pass --with-changes"):
        export(repository, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_trial_has_the_changes_and_leaves_what_is_staged_alone(repository: Path, tmp_path: Path) -> None:
    (repository / "staged.py").write_text("")
    subprocess.run(["git", "add", "staged.py"], cwd=repository, check=True)
    (repository / "kept.py").write_text("committed = False\n")
    state = ["git", "status", "--porcelain"]
    before = subprocess.run(state, cwd=repository, check=True, capture_output=True).stdout
    export(repository, tmp_path / "copy", with_changes=True)
    assert names(tmp_path / "copy") == {"kept.py", ".gitignore", "staged.py"}
    assert (tmp_path / "copy" / "kept.py").read_text() == "committed = False\n"
    assert subprocess.run(state, cwd=repository, check=True, capture_output=True).stdout == before


def test_a_folder_outside_git_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(BuildError, match="not a git repository"):
        uncommitted(tmp_path)
