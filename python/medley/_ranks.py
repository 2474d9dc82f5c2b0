# SPDX-License-Identifier: BSD-3-Clause
"""Processes that work together: the ranks of an MPI job."""

import atexit
import sys
import traceback
from ctypes import byref, c_size_t, c_void_p
from typing import Any, Dict, List, Literal, Optional

from . import _structs as s
from ._errors import UsageError
from ._library import call
from ._structs import lib

_world: Optional[c_void_p] = None  # the ranks that mpirun has started: MPI can be initialised once only
_entered: List["Ranks"] = []  # contexts, the innermost last


def current():
    """The comm of the innermost ``with Ranks()``; None: the process is alone."""
    return _entered[-1]._pointer if _entered else None


def _address(comm):
    """Where mpi4py keeps the communicator of the C library."""
    try:
        from mpi4py import MPI
    except ImportError:
        MPI = None
    if MPI is None or not isinstance(comm, MPI.Comm):
        raise UsageError(f"comm is a {type(comm).__name__}, expected a communicator of mpi4py")
    return c_void_p(MPI._addressof(comm))


def _open(address):
    pointer = c_void_p()
    call("medley_comm_open", byref(pointer), address)
    return pointer


def _open_world():
    global _world
    if _world is None:
        _world = _open(None)
        atexit.register(lib.medley_comm_free, _world)
    return _world


class Ranks:
    """The processes that ``mpirun -n N python3 program.py`` has started, as a context.

    Inside the context all of them learn and predict together: each makes the same calls with the
    same data, the work is divided among them, and each gets the whole result, which is that of a
    single process. What should be done once (printing, writing) is for ``rank`` 0.

    At the end of the context all ranks come together. If one of them has raised an exception that
    the others have not, it is printed and all of them are ended.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm, optional
        Some of the processes. Default: all of them; a process that was not started by mpirun is
        alone, and then the context changes nothing.

    Attributes
    ----------
    rank : int
        Number of this process, from 0.
    size : int
        How many there are.

    Examples
    --------
    >>> with medley.Ranks() as ranks:                               # doctest: +SKIP
    ...     model = medley.MKLClassifier().fit(X, y)
    ...     if ranks.rank == 0:
    ...         model.save("model.medley")
    """

    def __init__(self, comm: Any = None) -> None:
        self._own = comm is not None
        self._pointer = _open_world() if comm is None else _open(_address(comm))
        self.rank = lib.medley_comm_rank(self._pointer)
        self.size = lib.medley_comm_size(self._pointer)

    def counts(self) -> Dict[str, float]:
        """Tell what this rank has exchanged so far.

        Returns
        -------
        dict
            Figures by name: calls, bytes_sent, bytes_gotten, seconds, work.
        """
        found = s.CommCounts()
        call("medley_comm_count", byref(found), self._pointer)
        names = ("calls", "bytes_sent", "bytes_gotten", "seconds", "work")
        return {name: getattr(found, name) for name in names}

    def __enter__(self) -> "Ranks":
        _entered.append(self)
        return self

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> Literal[False]:
        _entered.remove(self)
        teller, status = c_size_t(), 0 if kind is None else -1
        together = lib.medley_comm_settle(byref(teller), self._pointer, status)
        if not together:
            traceback.print_exception(kind, problem, trace)
            print(f"rank {self.rank} has failed alone and ends the others", file=sys.stderr)
            sys.stderr.flush()
            lib.medley_comm_end(self._pointer, 1)
        if self._own:
            lib.medley_comm_free(self._pointer)
            self._pointer, self._own = c_void_p(), False
        return False
