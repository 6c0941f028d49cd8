"""``python -m sgmc``: the command line."""
import sys

from sgmc.cli import main

sys.exit(main())
