"""Commands about metrics: score, agree, features, tag, vectors, train-metric."""
