"""Workers: every report is counted exactly once, whatever is killed."""
