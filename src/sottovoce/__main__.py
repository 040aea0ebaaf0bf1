"""`python -m sottovoce`, the same as the `sottovoce` command."""

import sys

from sottovoce.cli import main

sys.exit(main())
