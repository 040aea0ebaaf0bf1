"""All tests: a package, so that one of that name that another project installs by mistake never takes its place."""
