"""`python -m local.server`, but its demo provider does not pause between two pieces unless it is told to."""

from __future__ import annotations

import sys

from local.server import main
from toolwire.demo import server

if __name__ == "__main__":
    server.PACE_SECONDS = 0.0
    sys.exit(main(sys.argv[1:]))
