"""The paper's algorithms exactly as printed, to be measured and audited. Never deploy them.

Alg. 1-2 (`gaussian`) and Alg. 3-4 (`rejection`) do not give the privacy they claim; the mechanisms of the same names
replace them. Nothing outside `lab`, the commands and the tests may import this package.
"""
