"""DuckDB's side of `scale_files`, run by the peers' Python: processor time of three questions over a folder's files."""

import json
import os
import sys
import time

import duckdb


def main() -> None:
    """Words: the folder, and how many times each question is asked."""
    files, repeats = f"'{sys.argv[1]}/*.parquet'", int(sys.argv[2])
    once = f"SELECT min(report) AS report FROM {files} GROUP BY report_id"
    questions = {
        "group": f"SELECT report, count(*) FROM {files} GROUP BY report",
        "both": f"SELECT report, count(*), max(report_id) FROM {files} GROUP BY report",
        "exact": f"SELECT report, count(*) FROM ({once}) GROUP BY report",
    }
    connection = duckdb.connect()
    connection.execute(f"SET threads = {len(os.sched_getaffinity(0))}")
    found = {}
    for name, question in questions.items():
        taken = []
        for _ in range(repeats):
            begin = time.process_time()
            connection.execute(f"CREATE OR REPLACE TEMP TABLE counts AS {question}")
            taken.append(time.process_time() - begin)
        found[name] = min(taken)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
