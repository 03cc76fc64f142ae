"""`python -m local.server`, but its demo provider does not pause between two pieces unless it is told to."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from local import server
from toolwire.demo import server as demo


def main(argv: Sequence[str]) -> int:
    demo.PACE_SECONDS = 0.0
    return server.main(argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
