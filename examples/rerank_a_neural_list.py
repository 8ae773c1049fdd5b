"""Learn what the scores of a neural system's hypotheses are worth, and choose among new ones by that.

python examples/rerank_a_neural_list.py
"""

import numpy as np

from lasw.tuning import make_optimiser, pool_of, rerank

# Three sentences to learn from: what the system proposes for each, best first by its own log-probability, ...
hypotheses = [
    ["the dog the in garden sleeps", "the dog sleeps in the garden", "a dog in the garden"],
    ["she has two new books", "she buys books", "she bought two new books"],
    ["the train late", "the train is late today", "late is the train today"],
]
# ... scores of each hypothesis, as arrays (here the system's own, a language model's, an estimate of quality), ...
features = {
    "model": np.array([-3.1, -3.3, -3.9, -2.9, -3.6, -3.2, -2.1, -2.3, -4.8]),
    "lm": np.array([-31.0, -14.0, -13.0, -15.0, -10.0, -16.0, -21.0, -14.0, -13.0]),
    "quality": np.array([0.55, 0.83, 0.48, 0.64, 0.41, 0.79, 0.35, 0.66, 0.69]),
}
# ... and how people translated them.
references = ["the dog sleeps in the garden", "she bought two new books", "the train is late today"]

# MERT finds the weights under which the best-scoring hypotheses have the highest BLEU. The scores' units do not matter.
pool = pool_of(hypotheses, features, references)
fit = make_optimiser("mert", metric="BLEU+1").fit(pool)
print("weights", {name: round(float(weight), 4) for name, weight in zip(features, fit.weights.dense, strict=True)})

# A new sentence, of which nobody knows the translation.
new = [["he reads newspaper the", "he reads the newspaper", "he reads"]]
scores = {"model": [[-2.0, -2.2, -1.9]], "lm": [[-22.0, -11.0, -7.0]], "quality": [[0.58, 0.85, 0.39]]}
print("chosen ", *rerank(new, scores, fit.weights))
