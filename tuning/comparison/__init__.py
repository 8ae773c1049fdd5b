"""Tuned systems side by side: a grid of optimisers, losses, development sets and seeds, tuned, tested and compared."""
