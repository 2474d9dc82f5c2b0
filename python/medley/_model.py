# SPDX-License-Identifier: BSD-3-Clause
"""Owner of a medley_model: learning, looking at it, predicting, bytes."""

import ctypes
import warnings
from contextlib import nullcontext
from ctypes import POINTER, byref, c_size_t, c_void_p
from typing import NamedTuple, Optional

import numpy as np

from . import _structs as s
from ._dataset import located
from ._errors import MedleyError
from ._library import Handle, c_text, call, create, lib, text
from ._names import in_python
from ._observer import Watch
from ._ranks import current
from ._structure import Bound


class Block(NamedTuple):
    """A kernel or template of a model, and what it counts for.

    Attributes
    ----------
    name : str
        The kernel, with ``@`` and its view, or the template.
    weight : float
        What it counts, all summing to 1.
    norm : float
        Of its weights.
    features : int
        Support rows of a kernel, nonzero weights of explicit features.
    """

    name: str
    weight: float
    norm: float
    features: int


class Predicted(NamedTuple):
    """What a model says about some rows; what does not apply is None."""

    value: Optional[np.ndarray]
    label: Optional[np.ndarray]
    score: Optional[np.ndarray]
    head: Optional[np.ndarray]
    best_label: Optional[np.ndarray]
    best_score: Optional[np.ndarray]
    head_probability: Optional[np.ndarray]
    arc_probability: Optional[np.ndarray]
    best_head: Optional[np.ndarray]
    best_probability: Optional[np.ndarray]


def array_of(pointer, shape, kind):
    """A copy of an array of the library; None for NULL."""
    if not pointer:
        return None
    count = int(np.prod(shape))
    if count == 0:
        return np.empty(shape, dtype=kind)
    return np.ctypeslib.as_array(pointer, shape=(count,)).astype(kind).reshape(shape)


def warn_of(dataset, options, frames):
    """What speaks against learning from the data with these options becomes a warning, which
    points at the caller of the caller of ..., so many frames up."""
    sentence = ctypes.create_string_buffer(1200)
    if lib.medley_fit_warning(sentence, len(sentence), dataset.pointer, options.pointer) > 0:
        warnings.warn(in_python(text(sentence.value)), UserWarning, stacklevel=frames + 1)


class Model(Handle):
    """A fitted model. It can be pickled: its state is the bytes of its file."""

    free = "medley_model_free"
    bound = None  # of a structure of the user's

    def __init__(self, pointer, bound=None):
        super().__init__(pointer)
        self.bound = bound

    @property
    def _calling(self):
        """Context of calls that may come back to a structure of the user's."""
        return nullcontext() if self.bound is None else self.bound.raising()

    @classmethod
    def fit(cls, dataset, options, held_out=None, verbose=0, bound=None):
        """The model, and the interrupt (Ctrl-C) that ended its training early, else None."""
        pointer = c_void_p()
        warn_of(dataset, options, 4)  # fit, _learn, the estimator's fit
        calling = nullcontext() if bound is None else bound.raising()
        with calling, located(dataset, held_out), Watch(verbose, keeps=True) as watch:
            status = call(
                "medley_fit",
                byref(pointer),
                dataset.pointer,
                None if held_out is None else held_out.pointer,
                options.pointer,
                byref(watch.observer),
            )
            model = cls(pointer, bound)
        if status == s.STOPPED and model._summary.epoch_count == 0:
            if watch.interrupt is not None:
                raise watch.interrupt
            raise MedleyError("stopped before the first epoch was complete; there is no model")
        return model, watch.interrupt

    @classmethod
    def load(cls, path, structure=None):
        bound = None if structure is None else Bound(structure)
        given = None if bound is None else byref(bound.c)
        return cls(create("medley_model_load_with", c_text(path), given), bound)

    @classmethod
    def from_bytes(cls, content, name="a pickled model"):
        return cls(create("medley_model_read", content, len(content), c_text(name)))

    def save(self, path):
        call("medley_model_save", self.pointer, c_text(path))

    def to_bytes(self):
        content, size = c_void_p(), c_size_t()
        call("medley_model_write", byref(content), byref(size), self.pointer)
        try:
            return ctypes.string_at(content, size.value)
        finally:
            lib.medley_bytes_free(content)

    def __getstate__(self):
        return {"bytes": self.to_bytes(), "structure": self.bound and self.bound.structure}

    def __setstate__(self, state):
        structure, content = state.get("structure"), state["bytes"]
        self.bound = None if structure is None else Bound(structure)
        given = None if self.bound is None else byref(self.bound.c)
        self.pointer = create(
            "medley_model_read_with", content, len(content), b"a pickled model", given
        )

    # ---- what was learnt ----

    @property
    def labels(self):
        count = lib.medley_model_label_count(self.pointer)
        return [text(lib.medley_model_label_name(self.pointer, i)) for i in range(count)]

    def columns(self, name=""):
        return lib.medley_model_columns(self.pointer, c_text(name))

    def column_names(self, name=""):
        """Names of the columns of a table, or None: they are known by their places."""
        told = lib.medley_model_column_name
        names = [told(self.pointer, c_text(name), i) for i in range(self.columns(name))]
        return None if not names or names[0] is None else [text(one) for one in names]

    @property
    def _summary(self):
        return lib.medley_model_summary(self.pointer).contents

    @property
    def blocks(self):
        summary = self._summary
        blocks = [summary.blocks[i] for i in range(summary.block_count)]
        return [Block(text(b.name), b.weight, b.norm, b.features) for b in blocks]

    @property
    def preselected(self):
        """Kernels that `preselect` has looked at, the best first."""
        summary = self._summary
        kernels = [summary.preselected[i] for i in range(summary.preselected_count)]
        return [{"kernel": text(k.name), "error": k.error, "kept": k.kept} for k in kernels]

    @property
    def theory(self):
        """What a theorem says of the run, as `medley train --json` tells it; None: nothing."""
        regret, mistakes = self._summary.regret, self._summary.mistakes
        if regret.gradient > 0:
            told = ("G", "F", "regret_bound", "regret")
            found = (regret.gradient, regret.diameter, regret.bound, regret.measured)
        elif mistakes.rounds > 0:
            told = ("online_rounds", "mistakes", "online_updates", "mistake_bound", "cumulative_loss")
            found = (mistakes.rounds, mistakes.mistakes, mistakes.updates, mistakes.bound, mistakes.loss)
        else:
            return None
        return dict(zip(told, found))

    @property
    def epochs(self):
        summary = self._summary
        names = [name for name, _ in s.Epoch._fields_]
        return [
            {name: getattr(summary.epochs[i], name) for name in names}
            for i in range(summary.epoch_count)
        ]

    def summary(self):
        """Everything that the library tells about the model, as a dict."""
        summary, told = self._summary, {}
        for name, kind in s.Summary._fields_:
            value = getattr(summary, name)
            if isinstance(value, bytes):
                value = text(value)
            if isinstance(value, ctypes.Structure):
                value = {field: getattr(value, field) for field, _ in value._fields_}
            if not isinstance(value, ctypes._Pointer):
                told[name] = value
        told["blocks"], told["epochs"] = self.blocks, self.epochs
        told["preselected"], told["theory"] = self.preselected, self.theory
        return told

    def strongest(self, block, most):
        """The strongest features of one block: pairs of text and value."""
        found, count = POINTER(s.Feature)(), c_size_t()
        call("medley_model_features", byref(found), byref(count), self.pointer, block, most)
        try:
            return [(text(found[i].text), found[i].value) for i in range(count.value)]
        finally:
            lib.medley_features_free(found, count)

    # ---- prediction ----

    def predict(self, dataset, threads=0, device=None, probabilities=False, best=0):
        options = s.PredictOptions(
            threads=threads,
            probabilities=probabilities,
            best=best,
            comm=current(),
            device=c_text(device),
        )
        answer = POINTER(s.Prediction)()
        with self._calling, located(dataset):
            call(
                "medley_predict_with", byref(answer), self.pointer, dataset.pointer, byref(options)
            )
        try:
            p = answer.contents
            arcs = sum(n * (n + 1) for n in dataset.lengths) if p.arc_probability else 0
            return Predicted(
                value=array_of(p.value, (p.rows,), np.float64),
                label=array_of(p.label, (p.rows,), np.intp),
                score=array_of(p.score, (p.rows, p.labels), np.float64),
                head=array_of(p.head, (p.rows,), np.intp),
                best_label=array_of(p.best_label, (p.best, p.rows), np.intp),
                best_score=array_of(p.best_score, (p.sequences, p.best), np.float64),
                head_probability=array_of(p.head_probability, (p.rows,), np.float64),
                arc_probability=array_of(p.arc_probability, (arcs,), np.float64),
                best_head=array_of(p.best_head, (p.best, p.rows), np.intp),
                best_probability=array_of(p.best_probability, (p.sequences, p.best), np.float64),
            )
        finally:
            lib.medley_prediction_free(answer)

    def evaluate(self, dataset, threads=0, device=None, probabilities=False):
        """The figures of medley_evaluate as a dict; what does not apply is left out."""
        options = s.EvaluateOptions(
            threads=threads,
            probabilities=probabilities,
            comm=current(),
            device=c_text(device),
        )
        e = s.Evaluation()
        with self._calling, located(dataset):
            call("medley_evaluate_with", byref(e), self.pointer, dataset.pointer, byref(options))
        try:
            told = {}
            for name, _ in s.Evaluation._fields_:
                if name == "struct_size":
                    continue
                value = getattr(e, name)
                if name == "device":
                    value = text(value) or "cpu"
                if name == "confusion":
                    value = array_of(value, (e.labels, e.labels), np.intp)
                if name.startswith("chunk_") and not e.has_chunks:
                    continue
                group, _, name_in_group = name.partition("_")
                if group == "nonprojective":  # of trees
                    if not np.isnan(e.uas):
                        told.setdefault(group, {})[name_in_group] = value
                    continue
                if value is not None and not (isinstance(value, float) and np.isnan(value)):
                    told[name] = value
            return told
        finally:
            lib.medley_evaluation_clear(byref(e))


class Learner(Handle):
    """Owner of a medley_learner."""

    free = "medley_learner_free"

    def __init__(self, options):
        super().__init__(create("medley_learner_create", options.pointer))

    def partial_fit(self, dataset):
        call("medley_learner_partial_fit", self.pointer, dataset.pointer)

    def model(self):
        return Model(create("medley_learner_model", self.pointer))
