"""What every command is."""

from __future__ import annotations

import argparse
from typing import Protocol


class Command(Protocol):
    """A module of a subcommand."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the options."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; the exit code."""
