"""``python -m sgmc``: the command line."""

import sys

from sgmc.api.cli import main

sys.exit(main())
