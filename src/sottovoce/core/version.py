"""The version: its one home. The build reads it here; other files that state it are compared with it by tests."""

__all__ = ["__version__"]

__version__ = "2.0.0"
