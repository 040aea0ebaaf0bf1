"""The hot loops themselves, compiled by Numba on first use and cached on disk.
Import these modules inside functions only: importing Numba takes longer than the rest of the package."""
