"""Counting on the cluster of a Spark session."""
