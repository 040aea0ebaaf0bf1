"""The hot loops themselves, compiled by Numba on first use and cached on disk.
Import these modules inside functions only: importing Numba takes longer than the rest of the package."""

from sottovoce.core.extras import full_install

# Before any of the modules here is read: so one place says what to install where Numba is missing.
with full_install:
    import numba as numba
