"""Text, metrics and their statistics. Imports neither `lasw.tuning` nor `lasw.selection`."""
