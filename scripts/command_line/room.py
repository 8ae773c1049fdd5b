"""Whether a process may take as much memory as what it loads does."""

from __future__ import annotations

import resource

from lasw.metrics import UserError

_LEAST = 512  # MB of addresses: tuning on a list of two lines takes 470 where OpenBLAS has two threads


def ask_for_room() -> None:
    """Refuse where addresses are too few (``ulimit -v``) for the libraries that compute.

    LLVM and OpenBLAS end the process when they get no memory, without an exception that could be told of.

    Raises:
        UserError: they are.
    """
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most != resource.RLIM_INFINITY and most < _LEAST << 20:
        raise UserError(
            f"not enough memory: a limit (ulimit -v) leaves {most >> 20} MB of addresses, at least {_LEAST} are needed"
        )
