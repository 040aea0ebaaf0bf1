"""Speed, memory and accuracy of Sottovoce, beside its peers measured in the same run.

Run ``python -m evidence.benchmarks.peers`` to see the peers' side alone.
"""
