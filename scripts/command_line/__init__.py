"""What commands share: options, progress, exit codes and signals."""

from typing import TYPE_CHECKING

from lasw.metrics.lazily import front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.scripts.command_line.command import Command
    from lasw.scripts.command_line.endings import (
        EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, Stopped, drop_output, told_of_signals,
    )
    from lasw.scripts.command_line.options import (
        add_given_scores, add_output_options, add_text_options, assignments, note, positive_int, print_json,
        seed_number, single_assignments, warn,
    )
    from lasw.scripts.command_line.progress import TuningProgress
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
