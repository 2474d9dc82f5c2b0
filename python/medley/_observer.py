# SPDX-License-Identifier: BSD-3-Clause
"""Watching long work from Python: progress for `verbose`, and Ctrl-C.

While the library works the Python handler of SIGINT only notes the signal; the library asks after
each step whether to go on and stops. What the handler would have done (raise KeyboardInterrupt)
is done when the call is over, so that no exception has to pass through C.
"""

import math
import signal
import sys
import threading
import time
from numbers import Integral
from typing import Any, Callable, NamedTuple, Optional, Union

import numpy as np

from . import _structs as s
from ._errors import UsageError
from ._library import text
from ._optional import needed

_CALLBACK = dict(s.Observer._fields_)["progress"]


class Progress(NamedTuple):
    """What a callable given as ``verbose`` gets; it may return False to stop the work.

    Attributes
    ----------
    stage : str
        What is being done: "kernels", "training" ...
    done, total : int
        Steps of this stage; a total of 0 is unknown.
    objective : float
        Of the model so far; NaN where there is none yet.
    held_out_accuracy : float
        On ``eval_set``; NaN without one.
    seconds : float
        Since the work began.
    gap : float
        Relative gap between objective and dual; 0 or less where none is known.

    Examples
    --------
    >>> import medley
    >>> X, y = medley.generate("waveform", rows=100, seed=1)
    >>> stages = []
    >>> model = medley.MKLClassifier(epochs=3, verbose=lambda told: stages.append(told.stage))
    >>> _ = model.fit(X, y)
    >>> "training" in stages
    True
    """

    stage: str
    done: int
    total: int
    objective: float
    held_out_accuracy: float
    seconds: float
    gap: float

    def __str__(self) -> str:
        line = f"{self.stage} {self.done}/{self.total}" if self.total else self.stage
        if not math.isnan(self.objective):
            line += f"  objective {self.objective:.6g}"
        if self.gap > 0:
            line += f"  gap {100 * self.gap:.3g} %"
        if not math.isnan(self.held_out_accuracy):
            line += f"  held-out accuracy {100 * self.held_out_accuracy:.2f} %"
        return line + f"  {self.seconds:.1f} s"


class _Printer:
    """Prints a line for each new stage, at its end, and about every second (2: every time)."""

    def __init__(self, level):
        self.level, self.stage, self.last = level, None, 0.0

    def __call__(self, progress):
        now = time.monotonic()
        ended = progress.total > 0 and progress.done >= progress.total
        if self.level > 1 or progress.stage != self.stage or ended or now - self.last > 1:
            print(f"medley: {progress}", file=sys.stdout, flush=True)
            self.stage, self.last = progress.stage, now
        return True


class _Bar:
    """A bar of tqdm, in notebooks and in terminals: that of the last stage stays."""

    def __init__(self):
        self.tqdm = needed("tqdm.auto", 'verbose="tqdm"').tqdm
        self.bar, self.stage = None, None

    def __call__(self, progress):
        if progress.stage != self.stage:
            self.close(leave=False)
            self.stage = progress.stage
            self.bar = self.tqdm(desc=progress.stage, total=progress.total or None)
        figures = {}
        if not math.isnan(progress.objective):
            figures["objective"] = f"{progress.objective:.6g}"
        if progress.gap > 0:
            figures["gap"] = f"{100 * progress.gap:.3g} %"
        if not math.isnan(progress.held_out_accuracy):
            figures["accuracy"] = f"{100 * progress.held_out_accuracy:.2f} %"
        self.bar.set_postfix(figures, refresh=False)
        # some methods do not count their steps: then every call is one
        self.bar.update(progress.done - self.bar.n if progress.total else 1)
        return True

    def close(self, leave=True):
        if self.bar is not None:
            self.bar.leave = leave
            self.bar.close()


Verbose = Union[int, str, Callable[[Progress], Any]]


def _teller(verbose: Optional[Verbose]) -> Optional[Callable[[Progress], Any]]:
    if callable(verbose) or verbose is None:
        return verbose
    if isinstance(verbose, str) and verbose == "tqdm":
        return _Bar()
    if not isinstance(verbose, (Integral, np.bool_)):
        raise UsageError(f"verbose={verbose!r}; give 0, 1, 2, \"tqdm\" or a callable")
    return _Printer(int(verbose)) if verbose else None


class Watch:
    """Context in which a call that takes a medley_observer is made: ``watch.observer`` is it.

    keeps: an interrupt is not raised at the end but kept as ``interrupt``, for who has something to
    save first and raises it then.
    """

    def __init__(self, verbose=0, keeps=False):
        self.interrupted = False
        self.interrupt, self._keeps = None, keeps
        self.problem = None
        self._tell = _teller(verbose)
        self._callback = _CALLBACK(self._progress)
        self.observer = s.Observer(progress=self._callback)
        self._handler = None

    def _progress(self, _context, progress):
        if self._tell is not None and not self.interrupted:
            try:
                p = progress.contents
                told = Progress(
                    text(p.stage), p.done, p.total, p.objective, p.dev_accuracy, p.seconds, p.gap
                )
                if self._tell(told) is False:
                    return False
            except BaseException as problem:  # it is raised when the library has returned
                self.problem = self.problem or problem
                return False
        return not self.interrupted

    def _note(self, _signal, _frame):
        self.interrupted = True

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler = handler
                signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, kind, _problem, _trace):
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        if isinstance(self._tell, _Bar):
            self._tell.close()
        # What holds itself in a circle would keep data and model alive for as long as it likes.
        self.observer = self._callback = self._tell = None
        problem, self.problem = self.problem, None
        try:
            if problem is not None:
                raise problem
        finally:
            del problem
        if self.interrupted:
            self._raise_or_keep(kind)
        return False

    def _raise_or_keep(self, failed):
        """Does what the handler of SIGINT would have done."""
        try:
            self._handler(signal.SIGINT, None)
            raise KeyboardInterrupt  # the handler let it pass
        except BaseException as interrupt:
            if failed or not self._keeps:
                raise
            self.interrupt = interrupt.with_traceback(None)
