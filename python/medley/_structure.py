# SPDX-License-Identifier: BSD-3-Clause
"""Structures that users bring: callables over batches of examples, as the library calls them."""

import ctypes
from typing import Any, Optional, Tuple

import numpy as np

from . import _structs as s
from ._errors import MedleyError, UsageError
from ._library import lib


class Batch:
    """Some examples whose best outputs are wanted, as arrays that are filled up with zeros.

    Attributes
    ----------
    lengths : ndarray of shape (examples,)
        Rows of each example.
    scores : ndarray of shape (examples, longest, labels)
        What each label of each row counts for; where costs matter they have been added.
    shared : ndarray of shape (examples, shared parts)
        What each shared part counts for.
    info : list of ndarray of shape (length, width), or None
        The whole numbers beside the rows that were given to ``fit`` or ``predict``.
    """

    __slots__ = ("lengths", "scores", "shared", "info", "_wanted")

    def __init__(self, wanted: Any, count: int) -> None:
        self._wanted = [wanted[i].contents for i in range(count)]
        examples = [w.example for w in self._wanted]
        labels = examples[0].labels
        self.lengths = np.array([x.length for x in examples])
        self.scores = np.zeros((count, int(self.lengths.max()), labels), dtype=np.float32)
        start, step = self.scores.ctypes.data, self.scores.strides[0]
        for i, (w, x) in enumerate(zip(self._wanted, examples)):
            ctypes.memmove(start + i * step, w.score, 4 * x.length * labels)
            if w.gold:
                gold = _view(w.gold, np.int32, x.length)
                self.scores[i, : x.length] += 1
                self.scores[i, np.arange(x.length), gold] -= 1
        self.shared = self.info = None
        if examples[0].info:
            self.info = [
                _view(x.info, np.int32, x.length * x.info_width).reshape(x.length, x.info_width)
                for x in examples
            ]

    def _take_shared(self, parts):
        self.shared = np.empty((len(self._wanted), parts), dtype=np.float32)
        rows = self.scores.shape[2]
        for i, w in enumerate(self._wanted):
            if parts:
                whole = _view(w.score, np.float32, w.example.length * rows + parts)
                self.shared[i] = whole[-parts:]

    def __len__(self) -> int:
        return len(self.lengths)


def _view(pointer, kind, count):
    """An array over memory of the library."""
    address = ctypes.addressof(pointer.contents)
    raw = (ctypes.c_char * (count * np.dtype(kind).itemsize)).from_address(address)
    return np.frombuffer(raw, dtype=kind)


class Structure:
    """An output space; subclass it and give it a ``name`` and ``decode``.

    An example is a sequence of rows, an output gives every row one of the labels (0, 1, ... in the
    order of the sorted labels of the training data). The score of an output is the sum of the scores
    of its rows' labels, and of its shared parts if there are any.

    Overriding ``shared_parts``, ``most_shared`` and ``shared_of`` gives any shared parts; they are
    called for single examples, which is slower than ``neighbours``.

    Attributes
    ----------
    name : str
        Models name the structure they need.
    neighbours : bool
        True: pairs of labels of neighbouring rows are shared parts, ``before * labels + label``, as in
        sequence labelling.

    Examples
    --------
    >>> import medley
    >>> class Free(medley.Structure):  # every row for itself
    ...     name = "free"
    ...     def decode(self, batch):
    ...         return batch.scores.argmax(axis=2)
    """

    name: str = ""
    neighbours = False

    def decode(self, batch: Batch) -> Any:
        """Find the best output of every example.

        Parameters
        ----------
        batch : Batch
            The examples.

        Returns
        -------
        array of shape (examples, longest), or list of arrays
            Numbers of labels. What stands beyond an example's length is not looked at.
        """
        raise NotImplementedError(f"{type(self).__name__} has no decode")

    def marginals(self, batch: Batch) -> Tuple[Any, Any, Any]:
        """Sum over all outputs; optional, for log losses and probabilities.

        Parameters
        ----------
        batch : Batch
            The examples.

        Returns
        -------
        log_partition : array of shape (examples,)
            The logarithm of the sum of exp(score) over all outputs.
        rows : array of the shape of ``batch.scores``
            How often each label of each row is expected to occur.
        shared : array of the shape of ``batch.shared``
            How often each shared part is expected to occur.
        """
        raise NotImplementedError(f"{type(self).__name__} has no marginals")

    def shared_parts(self, labels: int) -> int:
        """Tell how many shared parts there are.

        Parameters
        ----------
        labels : int
            How many labels there are.

        Returns
        -------
        int
            Their number.
        """
        return 0

    def most_shared(self, length: int, labels: int) -> int:
        """Tell how many shared parts an output has at most.

        Parameters
        ----------
        length : int
            Rows of the example.
        labels : int
            How many labels there are.

        Returns
        -------
        int
            Their number.
        """
        return length

    def shared_of(self, output: np.ndarray, labels: int, info: Optional[np.ndarray]) -> Any:
        """Tell the shared parts of an output.

        Parameters
        ----------
        output : array of shape (length,)
            Numbers of labels.
        labels : int
            How many labels there are.
        info : array of shape (length, width) or None
            The whole numbers beside the rows.

        Returns
        -------
        sequence of int
            Numbers of parts, as often as they occur.
        """
        return ()


class Bound:
    """A medley_structure over a Structure, and what must stay alive with it."""

    def __init__(self, structure):
        if not isinstance(structure, Structure):
            raise UsageError(f"structure={structure!r}; give an object of a subclass of Structure")
        self.structure, self.problem = structure, None
        kinds = dict(s.Structure._fields_)
        own_marginals = type(structure).marginals is not Structure.marginals
        self.name = str(structure.name).encode()
        self.c = s.Structure(name=self.name)
        self.c.infer = kinds["infer"](self._guarded(self._infer))
        self.c.can_infer_marginals = own_marginals
        if structure.neighbours:
            lib.medley_structure_neighbours(ctypes.byref(self.c))
        elif type(structure).shared_of is not Structure.shared_of:
            self.c.shared_parts = kinds["shared_parts"](lambda _, labels: self._parts(labels))
            self.c.most_shared = kinds["most_shared"](self._guarded(self._most))
            self.c.shared_of = kinds["shared_of"](self._guarded(self._shared_of))

    def _guarded(self, function):
        """No exception may pass through C: it is kept and raised after the call."""

        def guarded(_context, *arguments):
            try:
                return function(*arguments)
            except BaseException as problem:
                self.problem = self.problem or problem
                return 1

        return guarded

    def _parts(self, labels):
        if self.structure.neighbours:
            return labels * labels
        try:
            return int(self.structure.shared_parts(labels))
        except BaseException as problem:
            self.problem = self.problem or problem
            return 0

    def _most(self, length, labels):
        return int(self.structure.most_shared(length, labels))

    def _shared_of(self, example, output, parts):
        x = example.contents
        info = None
        if x.info:
            info = _view(x.info, np.int32, x.length * x.info_width).reshape(x.length, -1)
        labels = _view(output, np.int32, x.length)
        found = np.asarray(self.structure.shared_of(labels, x.labels, info), dtype=np.uint32)
        if len(found) > self._most(x.length, x.labels):
            raise UsageError(f"shared_of gives {len(found)} parts, more than most_shared says")
        if len(found):
            ctypes.memmove(parts, found.ctypes.data, 4 * len(found))
        return len(found)

    def _infer(self, wanted, count):
        batch = Batch(wanted, count)
        batch._take_shared(self._parts(batch.scores.shape[2]))
        if batch._wanted[0].marginal:
            self._give_marginals(batch)
            return 0
        outputs = self.structure.decode(batch)
        if len(outputs) != count:
            raise UsageError(f"decode gives {len(outputs)} outputs for {count} examples")
        for w, output in zip(batch._wanted, outputs):
            output = np.ascontiguousarray(output[: w.example.length], dtype=np.int32)
            if len(output) != w.example.length:
                raise UsageError(f"decode gives {len(output)} labels for {w.example.length} rows")
            ctypes.memmove(w.output, output.ctypes.data, 4 * len(output))
        return 0

    def _give_marginals(self, batch):
        values, rows, shared = self.structure.marginals(batch)
        for i, w in enumerate(batch._wanted):
            length = w.example.length
            parts = [np.asarray(rows[i])[:length].ravel()]
            if batch.shared.shape[1]:
                parts.append(np.asarray(shared[i]).ravel())
            flat = np.ascontiguousarray(np.concatenate(parts), dtype=np.float32)
            if len(flat) != length * batch.scores.shape[2] + batch.shared.shape[1]:
                raise UsageError("marginals are of another shape than the scores")
            ctypes.memmove(w.marginal, flat.ctypes.data, flat.nbytes)
            w.value[0] = float(values[i])

    def raising(self):
        return _Raising(self)


class _Raising:
    """Context that raises what a callable has raised, in place of the library's own words for it."""

    def __init__(self, bound):
        self.bound = bound

    def __enter__(self):
        self.bound.problem = None

    def __exit__(self, kind, _problem, _trace):
        problem, self.bound.problem = self.bound.problem, None
        if problem is not None and kind is not None and issubclass(kind, MedleyError):
            raise problem from None
        return False
