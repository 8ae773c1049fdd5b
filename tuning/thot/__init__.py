"""A phrase-based Thot system made from parallel text and its word alignments."""
