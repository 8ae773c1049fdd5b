"""Tuning of log-linear systems: N-best lists, weights, optimisers, decoders, the loop, comparisons and reports.

>>> from lasw.tuning import make_optimiser, pool_of, rerank
>>> lists = [["a house", "a tree"], ["he sleeps", "he sleep"]]
>>> features = {"LM": [[-1.0, -2.0], [-2.0, -1.0]], "TM": [[0.0, -1.0], [0.0, -3.0]]}
>>> pool = pool_of(lists, features, ["a house", "he sleeps"])
>>> pool
Pool(2 sentences, 4 candidates, 2 dense and 0 sparse features)
>>> fit = make_optimiser("pro", metric="BLEU+1").fit(pool)
>>> fit.weights
Weights(2 dense: LM(1), TM(1); 0 sparse)
>>> rerank(lists, features, fit.weights)
['a house', 'he sleeps']
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.tuning.comparison import COMPARISON, PoolFiles, compare, read_comparison, table_text
    from lasw.tuning.decoders import (
        DECODERS, Decoder, Moses, Recorded, RecordedLists, Thot, TrainingOptions, build_system, check_text, last_lines,
        on_cluster, open_decoder, recorded_iterations, refuse_program,
    )
    from lasw.tuning.formats import (
        FLAT, MOSES, NBEST_LAYOUTS, WEIGHT_FILES, ExtraFeatures, FilePath, LayoutOptions, Match, NBestLayout, Options,
        as_json, check_count, check_output, group_lines, is_features_file, json_line, kind_of_name, layout_options,
        match, nbest_text, read_local_weights, read_nbest, read_weight_file, read_weights, stream_nbest,
        write_local_weights, write_moses_files, write_nbest, write_weights,
    )
    from lasw.tuning.local import (
        GLOBAL, SIMILARITIES, Curve, LocalSamples, LocalWeigher, Setting, Similarity, fast_form_error, grid,
        leave_one_out, local_samples, make_similarity, read_local_sets, read_samples, retrained, write_samples,
    )
    from lasw.tuning.loop import (
        CONFIGURATION, STEPS, Assessment, Configuration, Loop, Outcome, Progress, Steps,
        Proposal, RunSettings, iteration_seed,
        assessed, reason_to_stop, share_of,
    )
    from lasw.tuning.nbest import NBest
    from lasw.tuning.optimisers import (
        DEFAULT_OPTIMISER, DEFAULT_SEED, MERT, OPTIMISERS, REACHABLE, Fit, Optimiser, PairwiseOptimiser, ProThenMert,
        Ranges, make_optimiser, reach_weights,
    )
    from lasw.tuning.pool import (
        LOSS_COLUMN, Floats, LossScores, Pool, centred, check_lists, check_min_count, first_hypotheses, pruned,
        read_pool, read_scored_pool, unit_weights, with_losses,
    )
    from lasw.tuning.provenance import fingerprint, refuse_other_versions, versions
    from lasw.tuning.report import (
        Development, Table, document, held_out_scores, html_table, is_comparison, number_html, read_comparison_data,
        read_development, read_run, write_comparison_report, write_report, write_run_report,
    )
    from lasw.tuning.reranking import (
        ExpectedUtility, ListReranker, LocalReranker, MinimumRisk, Reranker, Samples, list_totals,
        one_per_sentence, pool_of, rerank, whole_sentences,
    )
    from lasw.tuning.run_directory import Json, RunDirectory, read_json
    from lasw.tuning.settings import Sections, with_changes
    from lasw.tuning.tuner import tune
    from lasw.tuning.weights import FeatureNames, Weights
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
