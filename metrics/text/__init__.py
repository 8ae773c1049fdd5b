"""Text: files read and written, sentences as token ids, references, preprocessing; pages of reports.

>>> from lasw.metrics import Corpus, References
>>> references = References.from_lines(["the cat sat", "he slept"], ["a cat sat", "he was asleep"])
>>> references
References(2 segments, 2 each, 8 words)
>>> hypotheses = Corpus.from_lines(["the cat", "he slept"], references.vocabulary)
>>> [hypotheses.text(k) for k in range(len(hypotheses))]
['the cat', 'he slept']
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

# fmt: off
if TYPE_CHECKING:
    from lasw.metrics.text.bags import Bag, Overlap
    from lasw.metrics.text.bytescan import scan
    from lasw.metrics.text.candidates import CandidatePairs, SharedTexts
    from lasw.metrics.text.corpus import (
        Corpus, Vocabulary, check_parallel, distinct, intern_token, normal_form, read_corpora, read_corpus, token_end,
    )
    from lasw.metrics.text.files import Block, Blocks, read_lines
    from lasw.metrics.text.opening import (
        DAMAGED, LARGEST_FILE, LONGEST_LINE, STANDARD_INPUT, Limit, content_digest, damaged, first_bytes, open_bytes,
        parse_array, parse_json, parse_toml, read_arrays, read_bytes,
    )
    from lasw.metrics.text.marks import JOINTS
    from lasw.metrics.text.mismatch import (
        Finding, Settle, as_option, check_alike, check_pairs, check_texts, marked_list, refuse_or_warn,
    )
    from lasw.metrics.text.pages import (
        Series, document, dot_rows, dots, facts_table, first_screen, histogram, html_table, line_chart, number_html,
        scrolling, stacked_bars,
    )
    from lasw.metrics.text.preprocessing import NORMAL_FORMS, Preprocessing, tokens
    from lasw.metrics.text.references import References
    from lasw.metrics.text.scratch import ScratchFolder, remove_abandoned
    from lasw.metrics.text.splitting import command_words
    from lasw.metrics.text.words import PerWord, Spelling
    from lasw.metrics.text.writing import (
        atomic_write, gzip_member, own_names, refuse_links, refuse_overwriting, write_text,
    )
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
