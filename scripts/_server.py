"""The package's static server (`pywebmcp mcp --site` has it too), for scripts that run before anything
is installed.
"""

import sys

from _setup import ROOT

sys.path.insert(0, str(ROOT / "py"))

from pywebmcp.bridge.site import SiteHandler, SiteServer, serving

__all__ = ["SiteHandler", "SiteServer", "serving"]
