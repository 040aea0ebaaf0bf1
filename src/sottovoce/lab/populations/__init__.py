"""Whom simulated people are drawn from: named distributions, real ones, vectors of a known mean, tables of columns."""
