"""Used by every other package: errors, limits, input values, durable files, signatures, text."""
