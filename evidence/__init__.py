"""Evidence for what Sottovoce claims: reproductions, comparisons, published algorithms and benchmarks.

It stands beside the product, is never installed with it, and no module of `sottovoce` imports it. Run it from the root
of the repository: `python -m evidence --help`.
"""
