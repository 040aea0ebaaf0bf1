"""What `make demo` runs: a service, simulated devices, three surveys and a report."""
