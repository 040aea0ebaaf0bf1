"""The paper's algorithms exactly as printed, kept to be measured and audited. Never deploy any of this.

Alg. 1-2 (`gaussian`) and Alg. 3-4 (`rejection`) do not give the privacy they claim; what we ship instead are the
mechanisms of the same names. Nothing outside `experiments`, `audit` and the tests may import this package.
"""
