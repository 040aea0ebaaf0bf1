"""A service as a process: settings, log, metrics, threads, its folder."""
