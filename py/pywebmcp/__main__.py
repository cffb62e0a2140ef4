"""``python -m pywebmcp`` is the command ``pywebmcp``."""

import sys

from pywebmcp.cli import main

if __name__ == "__main__":
    sys.exit(main())
