"""Algorithms of others as printed, to be measured and audited. Never deploy them.

Alg. 1-2 (`gaussian`) and Alg. 3-4 (`rejection`) of Bassily 2019 do not give the privacy they claim; the mechanisms of
the same names replace them. `one_number`, `sets` and `fake_data` are what `compare` shows beside ours. Nothing outside
`lab`, the commands and the tests may import this package.
"""
