"""Commands that take N-best lists as they are: rerank them, turn them into other layouts, look at them."""
