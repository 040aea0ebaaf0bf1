"""Surveys: the frozen statement of one collection, what is counted of it, and what is estimated from that."""
