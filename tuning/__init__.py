"""N-best lists, pools, optimisers, decoders and the tuning loop. Imports `lasw.metrics` and nothing above it."""
