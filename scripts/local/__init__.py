"""`lasw local`: WRO-local, a weight vector for every sentence."""
