"""Mathematics that several strategies share: variances, spreads and laws of one report, and norms of query matrices."""
