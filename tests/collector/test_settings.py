"""Settings: where they come from, what they refuse and how they say so, and that the documentation lists them all."""

from __future__ import annotations

import re
from multiprocessing.reduction import ForkingPickler
from pathlib import Path

import pytest

from sottovoce.cli import main
from sottovoce.collector.settings import OTHER_VARIABLES, SETTINGS, Settings
from sottovoce.core.errors import SettingsError

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def written(tmp_path: Path, text: str | bytes) -> Path:
    file = tmp_path / "collector.toml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def refusal(*given: object, **named: object) -> str:
    with pytest.raises(SettingsError) as caught:
        Settings.load(*given, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_without_anything_there_are_defaults():
    assert Settings.load() == Settings()
    assert (Settings().host, Settings().port, Settings().database) == ("127.0.0.1", 8470, "")


def test_a_flag_beats_a_variable_beats_the_file_beats_the_default(tmp_path):
    file = written(tmp_path, "port = 1\nworkers = 2\nqueue_reports = 30_000\n")
    environ = {"SOTTOVOCE_PORT": "10", "SOTTOVOCE_WORKERS": "20"}
    settings = Settings.load({"port": "100", "workers": None}, environ, file)
    assert (settings.port, settings.workers, settings.queue_reports) == (100, 20, 30_000)
    assert settings.lease_seconds == Settings().lease_seconds


def test_a_variable_names_the_file_unless_a_flag_does(tmp_path):
    environ = {"SOTTOVOCE_SETTINGS": str(written(tmp_path, "port = 1"))}
    other = tmp_path / "other.toml"
    other.write_text("port = 2")
    assert Settings.load({}, environ).port == 1
    assert Settings.load({}, environ, other).port == 2


GIVEN = {
    "host": ("::1", "::1"),
    "port": ("9_000", 9000),
    "data": ("elsewhere", Path("elsewhere")),
    "require_volume": ("yes", True),
    "database": ("postgresql://u:p@h/d", "postgresql://u:p@h/d"),
    "objects": ("s3://bucket/folder", "s3://bucket/folder"),
    "workers": ("3", 3),
    "minimum_reports": ("1e3", 1000),
    "max_counters": ("0", 0),
    "time_precision": ("86400", 86400),
    "max_body_bytes": ("2,097,152", 2**21),
    "max_batch_reports": ("500", 500),
    "queue_reports": ("20000", 20_000),
    "max_reports_per_second": ("1000", 1000),
    "body_seconds": ("2.5", 2.5),
    "lease_seconds": ("5", 5.0),
    "max_database_bytes": ("1048576", 2**20),
    "reserve_bytes": ("33554432", 2**25),
    "log_level": ("WARNING", "warning"),
    "log_format": ("json", "json"),
    "allow_origins": ("https://a.example, http://b.example:81", ("https://a.example", "http://b.example:81")),
    "public_url": ("https://survey.example:8443/", "https://survey.example:8443"),
    "tls_certificate": ("c.pem", "c.pem"),
    "tls_key": ("k.pem", "k.pem"),
}
"""Each setting as words, and what they mean; none of them the default."""

BAD = {
    "host": ("", "a b", "x" * 300, 7),
    "port": ("-1", "65536", "http", "1.5", "", True, 80.0, "nan", "1e999999"),
    "data": ("", 7, "a\0b"),
    "require_volume": ("maybe", "", 7, "2"),
    "database": ("mysql://secret@h/d", "secret.db", 7),
    "objects": ("simplecache::sftp://me:secret@h/d", "memory://x", "a\0b", 7),
    "workers": ("-1", "65"),
    "minimum_reports": ("0",),
    "max_counters": ("-1", "2147483649", "many", "1.5"),
    "time_precision": ("0", "59", "2678401", "3600.5"),
    "max_body_bytes": ("0", "1023", "2e9"),
    "max_batch_reports": ("0", "1e7"),
    "queue_reports": ("0", "9e9"),
    "max_reports_per_second": ("-1", "many"),
    "body_seconds": ("0", "inf", "nan", "4000", "soon", []),
    "lease_seconds": ("0.1", "1e5", False),
    "max_database_bytes": ("1", "1048575", "-5"),
    "reserve_bytes": ("0", "33554431", "-5"),
    "log_level": ("loud", "", 1),
    "log_format": ("xml",),
    "allow_origins": ("survey.example", "https://a.example/path", 7, [7], "null"),
    "public_url": (7, "survey.example", "https://survey.example/path", "ftp://survey.example", "https://a, https://b"),
    "tls_certificate": (7, "a\0b"),
    "tls_key": (7,),
}


def both(name: str, given: object) -> dict[str, object]:
    """TLS needs two files."""
    return {name: given} | ({"tls_certificate": "c.pem", "tls_key": "k.pem"} if name.startswith("tls_") else {})


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_setting_can_come_from_three_places(setting, tmp_path):
    words, meant = GIVEN[setting.name]
    given = {name: str(value) for name, value in both(setting.name, words).items()}
    lines = "\n".join(f'{name} = "{value}"' for name, value in given.items())
    from_flags = Settings.load(given)
    from_variables = Settings.load({}, {f"SOTTOVOCE_{name.upper()}": value for name, value in given.items()})
    from_file = Settings.load({}, {}, written(tmp_path, lines))
    assert from_flags == from_variables == from_file
    assert getattr(from_flags, setting.name) == meant != setting.default


@pytest.mark.parametrize(
    ("setting", "bad"),
    [(setting, bad) for setting in SETTINGS for bad in BAD[setting.name]],
    ids=lambda part: getattr(part, "name", repr(part)[:20]),
)
def test_every_setting_refuses_with_name_source_range_and_remedy(setting, bad):
    words = refusal({setting.name: bad})
    assert words.startswith(setting.name)
    assert f"(from the flag {setting.flag}): it must be {setting.allowed}; leave it out for the default" in words
    with pytest.raises(SettingsError, match=r"\(from the program\)"):
        Settings(**{setting.name: bad})
    if isinstance(bad, str):
        assert f"from the environment variable {setting.variable}" in refusal({}, {setting.variable: bad})


def test_a_password_is_in_no_message_and_no_repr():
    assert "secret" not in refusal({"database": "mysql://user:secret@host/name"})
    assert "secret" not in repr(Settings(database="postgresql://user:secret@host/name"))


def test_a_long_value_is_cut():
    assert len(refusal({"host": "x" * 10_000})) < 300


@pytest.mark.parametrize(
    ("name", "near"),
    [("SOTTOVOCE_PROT", "SOTTOVOCE_PORT"), ("SOTTOVOCE_DATA_BASE", "SOTTOVOCE_DATABASE"), ("SOTTOVOCE_", "SOTTOVOCE_")],
)
def test_an_unknown_variable_is_refused_with_the_nearest_name(name, near):
    words = refusal({}, {name: "1"})
    assert name in words
    assert f"did you mean {near}" in words


def test_variables_of_others_are_left_alone():
    environ = dict.fromkeys(OTHER_VARIABLES - {"SOTTOVOCE_SETTINGS"}, "x") | {"PATH": "/bin", "SOTTO": "x"}
    assert Settings.load({}, environ) == Settings()


def test_variables_of_the_tests_are_left_alone():
    assert Settings.load({}, {"SOTTOVOCE_TEST_POSTGRESQL": "postgresql:///x"}) == Settings()
    assert "SOTTOVOCE_TESTS" in refusal({}, {"SOTTOVOCE_TESTS": "1"})


@pytest.mark.parametrize(("line", "near"), [("prot = 1", "port"), ('"po\\nrt" = 1', "port")])
def test_an_unknown_key_is_refused_with_the_nearest_name(line, near, tmp_path):
    file = written(tmp_path, line)
    words = refusal({}, {}, file)
    assert str(file) in words
    assert f"did you mean {near}" in words


@pytest.mark.parametrize("lines", ["[server]\nport = 1", "[[server]]\nport = 1", "server.port = 1"])
def test_a_table_is_refused_as_one(lines, tmp_path):
    file = written(tmp_path, lines)
    words = refusal({}, {}, file)
    assert f"in {file}, server is a table" in words
    assert "did you mean" not in words


def test_a_boolean_is_shown_as_toml_writes_it(tmp_path):
    assert "port is true (" in refusal({}, {}, written(tmp_path, "port = true"))


def test_an_unknown_flag_of_a_program_is_refused():
    assert "did you mean port" in refusal({"prot": 1})


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("port = 1\nworkers =\n", "line 2"),
        ("port = 1\nport = 2\n", "line 2"),
        (b"port = 1\n# \xff\n", "line 2"),
        ("x", ""),
    ],
)
def test_unreadable_toml_is_told_with_file_line_and_reason(content, line, tmp_path):
    file = written(tmp_path, content)
    words = refusal({}, {}, file)
    assert words.startswith(f"the settings file {file} is not TOML: ")
    assert line in words


def test_a_missing_file_and_a_folder_are_told(tmp_path):
    assert "No such file" in refusal({}, {}, tmp_path / "none.toml")
    assert "directory" in refusal({}, {}, tmp_path)


@pytest.mark.parametrize("value", ["true", "1.0", "[1]", "1979-05-27", "{ a = 1 }", "inf"])
def test_toml_of_another_type_is_refused(value, tmp_path):
    assert "port is " in refusal({}, {}, written(tmp_path, f"port = {value}"))


def test_settings_that_contradict_each_other_are_refused():
    assert "queue_reports is 5" in refusal({"queue_reports": "5"})
    assert "TLS needs both" in refusal({"tls_key": "k.pem"})
    assert "tls_key is not" in refusal({"tls_certificate": "c.pem"})


def test_settings_can_go_to_another_process():
    settings = Settings.load({"database": "postgresql://u:p@h/d", "allow_origins": "*"})
    assert ForkingPickler.loads(ForkingPickler.dumps(settings)) == settings


def table() -> dict[str, list[str]]:
    """The rows of the page's table of settings, by name."""
    section = PAGE.read_text(encoding="utf-8").split("## All settings")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:3] == "| `"]
    return {row[0].strip("`"): row for row in rows}


def test_the_page_lists_every_setting_in_order():
    assert list(table()) == [setting.name for setting in SETTINGS]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_the_page_and_the_help_say_the_same(setting, capsys):
    default = f"`{setting.shown_default}`" if setting.shown_default else ""
    row = [f"`{setting.name}`", f"`{setting.flag}`", f"`{setting.variable}`", default, setting.allowed, setting.meaning]
    assert table()[setting.name] == row
    assert main(["serve", "--help"]) == 0
    shown = re.sub(r"\s+|(?<=-)\n\s+", "", capsys.readouterr().out)
    told = f"{setting.flag} {setting.metavar} {setting.meaning}"
    told += f" (default: {setting.shown_default})" if setting.shown_default else ""
    assert told.replace(" ", "") in shown


def test_the_page_lists_the_other_variables():
    section = PAGE.read_text(encoding="utf-8").split("## Other variables")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE)) == OTHER_VARIABLES
