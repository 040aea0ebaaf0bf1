"""Errors measured on simulated people, as `simulate`, `plan --plot` and `strategies` show them."""
