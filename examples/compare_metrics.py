"""Score two systems with several metrics, and ask whether the difference may be chance.

python examples/compare_metrics.py
"""

from lasw.metrics import Corpus, Evaluation, References, metric, paired_bootstrap

references = References.from_lines(
    [
        "the cat sat on the mat",
        "he did not want to go home",
        "there is a book on the table",
        "the weather will be fine tomorrow",
        "they have lived here for ten years",
        "can you tell me the way to the station",
        "we are looking forward to your visit",
        "the old bridge was closed last week",
    ]
)
systems = {
    "first": [
        "the cat sat on mat",
        "he want not to go home",
        "there is a book at the table",
        "the weather will be fine tomorrow",
        "they live here for ten years",
        "can you tell me the way to station",
        "we are looking forward to the visit of you",
        "the old bridge was closed in the last week",
    ],
    "second": [
        "the cat sat on the mat",
        "he did not want to go home",
        "there is a book on a table",
        "tomorrow the weather will be fine",
        "they have lived here ten years",
        "can you tell me the way to the station",
        "we are looking forward to your visit",
        "last week the old bridge was closed",
    ],
}

# Texts share the references' vocabulary: words are numbers from here on.
corpora = tuple(Corpus.from_lines(lines, references.vocabulary) for lines in systems.values())
evaluation = Evaluation(references, corpora)
for spec in ("BLEU", "CHRF", "TER", "PABC4:alpha=3"):  # any metric that 'lasw score' knows
    judged = metric(spec)
    first, second = paired_bootstrap(judged, evaluation.statistics(judged), seed=1)
    scores = " ".join(f"{judged.display.score(one.score):6.2f}" for one in (first, second))
    print(f"{spec:14} {scores}   p = {second.p_value:.3f}")
