"""What commands share: options, progress, exit codes and signals."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.scripts.command_line.colours import coloured
    from lasw.scripts.command_line.compiling import told_of_compiling
    from lasw.scripts.command_line.endings import (
        EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, Stopped, drop_output, guarded, told_of_signals,
    )
    from lasw.scripts.command_line.idle import Rule, idle_options, idle_settings, shown_setting, tell_idle
    from lasw.scripts.command_line.risk import MBR_HELP, add_mbr_options, check_mbr_options, mbr_layout, minimum_risk
    from lasw.scripts.command_line.options import (
        MOST_SEED, add_dask, add_force, add_given_scores, add_jobs, add_layout_options, add_marks, add_metric,
        add_output_options, add_seed, add_text_options, assignments, layout_of_arguments, note, positive_int,
        preprocessing, print_json, reading, single_assignments, spelt_metric, take_several_metrics, warn, whole_output,
        write_output,
    )
    from lasw.scripts.command_line.parser import Command, Parser, add_action, say_new_word
    from lasw.scripts.command_line.pools import GivenPool, PoolReader, add_pool_options
    from lasw.scripts.command_line.progress import TuningProgress, development_score, watched_sentences
    from lasw.scripts.command_line.room import ask_for_room
    from lasw.scripts.command_line.sections import add_old_option, add_section, given_hyperparameters, given_settings
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
