"""Parallel text: word alignment and the choice of development data. Imports `lasw.metrics` only."""
