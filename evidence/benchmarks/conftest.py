"""Which files have no examples to run: they need packages of an environment of their own."""

collect_ignore_glob = ["*_worker.py", "collector_baseline.py", "scale_files_duckdb.py"]
