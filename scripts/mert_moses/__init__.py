"""`lasw-mert-moses`: takes the command line of Moses' mert-moses.pl, leaves the same files, needs no Perl."""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.scripts.mert_moses.command import main
    from lasw.scripts.mert_moses.options import FLAG, NEGATABLE, OURS, PATH, REFUSED, THEIRS
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
