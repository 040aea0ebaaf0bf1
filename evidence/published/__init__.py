"""Algorithms of others as printed, to be measured and audited. Never deploy them.

Alg. 1-2 (`gaussian`) and Alg. 3-4 (`rejection`) of Bassily 2019 do not give the privacy they claim; the mechanisms of
the same names replace them. `one_number`, `sets` and `fake_data` are what `compare` shows beside ours. Nothing that is
shipped imports this package, and no survey can name what is in it.
"""
