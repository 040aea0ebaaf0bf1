"""Hot loops behind typed wrappers: each wrapper checks its arguments, then imports its compiled twin.
`reference` holds the same computations in plain NumPy, for reading and for tests; `finite_field` the arithmetic that
some of them compute in."""
