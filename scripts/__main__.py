"""``python -m lasw.scripts``: the program `lasw`."""

import sys

from lasw.scripts.entry import lasw

if __name__ == "__main__":
    sys.exit(lasw())
