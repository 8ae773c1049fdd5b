"""Word alignment of parallel text: models, symmetrisation, and the files of other aligners.

>>> import tempfile
>>> from lasw.selection import align_directions, symmetrise
>>> german, english = ["das haus", "das buch", "ein buch"], ["the house", "the book", "a book"]
>>> with tempfile.TemporaryDirectory() as folder:
...     alignment = symmetrise(align_directions(german, english, folder, jobs=1))
>>> alignment.points[alignment.offsets[0] : alignment.offsets[1]].tolist()
[[0, 0], [1, 1]]
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.selection.alignment.aligner import ALIGNERS
    from lasw.selection.alignment.directions import MAX_LENGTH, align_directions
    from lasw.selection.alignment.giza import alignment_blocks, write_giza
    from lasw.selection.alignment.kept_models import DIRECTIONS, KeptModels, keep_models
    from lasw.selection.alignment.pharaoh import Alignment, write_pharaoh
    from lasw.selection.alignment.symmetrisation import SYMMETRISATIONS, Directions, symmetrise, transposed
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
