"""`lasw train-metric`: metrics that are trained on people's judgements."""
