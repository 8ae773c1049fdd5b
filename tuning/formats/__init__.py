"""Files of translation systems: N-best lists, weights, Moses' own; one reader each, found by content."""
