"""Work in other processes, of this machine or of a Dask cluster: tasks that anybody carries out, and workers.

>>> from lasw.metrics import executor, run_all
>>> lengths = []
>>> with executor(jobs=1) as here:
...     failed = run_all(here, len, ["a house", "", 3], lengths.append)
>>> lengths, failed
([7, 0], [(3, TypeError("object of type 'int' has no len()"))])
"""

from lasw.metrics.lazily import TYPE_CHECKING, front_door

if TYPE_CHECKING:
    from lasw.metrics.parallel.advance import ahead
    from lasw.metrics.parallel.parts import ATTEMPTS, Workers, each_once, workers
    from lasw.metrics.parallel.cluster import Cluster, on_dask
    from lasw.metrics.parallel.executors import Here, executor, run_all, worker_address
    from lasw.metrics.parallel.processes import Worker, ask_all, serve
else:
    __getattr__, __dir__ = front_door(__name__, __file__)
