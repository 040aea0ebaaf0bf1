"""The pages that the collector serves, as they were built, and how their files are read and sent."""
