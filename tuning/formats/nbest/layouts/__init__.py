"""Layouts of N-best lists, one file each; `lasw.tuning.formats.nbest.layout` says what one is and lists them."""
