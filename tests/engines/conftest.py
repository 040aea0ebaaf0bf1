"""Engines under test. Where the machine has no Java, nothing is run on a real Spark cluster, and that is said."""

from __future__ import annotations

import pytest

from browser.setting import required
from engines.spark_cluster import java

_ON_SPARK = ["test_spark_cluster.py", "test_spark_connect.py", "test_spark_local.py", "test_spark_stream.py"]
_LACKING = java() is None
if _LACKING and "java" in required():
    raise pytest.UsageError("SOTTOVOCE_TEST_REQUIRE asks for java: tools/with_java finds or installs it")
collect_ignore = _ON_SPARK if _LACKING else []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _LACKING:
        terminalreporter.write_line("NOT RUN: the tests on a real Spark cluster; missing: java", red=True)
