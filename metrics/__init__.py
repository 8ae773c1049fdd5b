"""Metrics of translations: what they see and say, how they agree with people. Imports nothing of the other rooms.

>>> from lasw.metrics import Evaluation, metric
>>> evaluation = Evaluation.from_lines(["the cat sat on the mat"], ["the cat sat on a mat"], ["a cat"])
>>> bleu = metric("BLEU")
>>> [round(float(score), 2) for score in bleu.display.score(evaluation.corpus_scores(bleu))]
[53.73, 0.0]
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.agreement import (
        AVERAGES, LEVEL, OFFICIAL, SEGMENTS, SIGNIFICANCE_TESTS, STATISTICS, TAUS, WINS, Agreement, Asked,
        Correlation, DirectAssessment, Judged, Judgements, Key, MarkedSystems, Panel, Scores, Significance,
        StoredMetric, Translation, agreement_of, agreement_of_scores, agreement_significance, agreements, asked_for,
        cluster_ranks, judges_agreement, largest_disagreements, mean_ranks, metric_scores, panel_title, people_of,
        picture, read_direct_assessment, read_judgements, read_marks, read_mtme, read_rankings, stored_scores,
    )
    from lasw.metrics.base import (
        LARGEST, Display, Evaluation, MeanMetric, Metric, Signature, labels, number_in, version,
        with_ones,
    )
    from lasw.metrics.edit import WordErrorRate
    from lasw.metrics.errors import UserError, unknown
    from lasw.metrics.kernels import (
        HIGH_BITS, ONES, allocating, borrowing, leading_bytes, load_word, lowest_bit, nested,
    )
    from lasw.metrics.learned import (
        COMBINATION_KINDS, DEFAULT_COST, DEFAULT_PENALTY, FLOOR, FUNCTION_WORDS, LINEAR, LOSSES, MOST_CHARACTERS,
        MOST_COST, ROSE_KINDS, TAGGERS, CombinationModel, Examples, Pairwise, PairwiseInputs, PairwiseModel, Rose,
        RoseFeatures, RoseModel, Settings, TaggedText, check_hidden, comparisons, examples, frequent_words,
        held_out_scores, joined, listed_function_words, read_preferences, tagged, tagger, train_combination,
        train_pairwise, train_rank, train_reg, trainer, training_fingerprint, write_trained_metric,
    )
    from lasw.metrics.ngram import ALIASES, NAME, ORDERS, Pairs, ReferenceNgrams, SimpBleu
    from lasw.metrics.parallel import (
        ATTEMPTS, Cluster, Here, Worker, Workers, ahead, ask_all, each_once, executor, on_dask, run_all, serve,
        worker_address, workers,
    )
    from lasw.metrics.registry import (
        METRICS, Parameter, Registry, construct, display_of, is_metric, metric, named_in, parameters, spelt,
    )
    from lasw.metrics.significance import (
        BOOTSTRAP_SEED, DEFAULT_SAMPLES, FEW_SEGMENTS, MINIMUM_RUNS, MINIMUM_SEGMENTS, TESTS, Comparison, Difference,
        Interval, Spread, bootstrap_scores, confidence, differences, paired_bootstrap, percentile_p_value, spread,
    )
    from lasw.metrics.text import (
        JOINTS, LARGEST_FILE, NORMAL_FORMS, STANDARD_INPUT, Bag, Block, Blocks, CandidatePairs, Corpus, Finding,
        Preprocessing, References, ScratchFolder, Series, Settle, Vocabulary, as_option, atomic_write, check_alike,
        check_pairs, check_parallel, check_texts, command_words, content_digest, distinct, document, dot_rows, dots,
        facts_table, first_bytes, first_screen, gzip_member, histogram, html_table, intern_token, line_chart,
        marked_list, normal_form, number_html, open_bytes, own_names, parse_array, parse_json, parse_toml, read_arrays,
        read_bytes, read_corpora, read_corpus, read_lines, refuse_links, refuse_or_warn, refuse_overwriting,
        remove_abandoned, scan, scrolling, stacked_bars, token_end, tokens, write_text,
    )
    from lasw.metrics.vectors import (
        FORMATS, MODELS, Coverages, Sees, Text, Training, VectorFile, check_evaluation, nearest, open_vectors,
        selected, write_vector_model, write_vectors,
    )
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
