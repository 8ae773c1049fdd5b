"""`lasw select`: a development set from a pool of noisy parallel text."""
