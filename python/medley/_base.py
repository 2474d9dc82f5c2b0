# SPDX-License-Identifier: BSD-3-Clause
"""What all estimators share: learning through the library, what was learnt, files, reports."""

import ctypes
import os
from contextlib import contextmanager

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _structs as s
from ._checks import pair, whole
from ._errors import UsageError
from ._library import c_text, call
from ._model import Model
from ._options import make_options, threads


class MedleyEstimator(BaseEstimator):
    """Common ground of the estimators; not for use by itself."""

    def _problem(self, X, y):
        """What is to be learnt: a dataset, the options that are no plain parameters, and a context
        that holds the file of templates (it yields None where there is none)."""
        raise NotImplementedError

    def _test_rows(self, X, y):
        """A dataset of other rows with their labels, while nothing has been learnt yet."""
        raise NotImplementedError

    @contextmanager
    def _all_or_nothing(self):
        """Whatever fails or is stopped inside leaves the estimator as it was."""
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _learn(self, X, y, held_out=None):
        """Learns a model with the estimator's parameters and keeps it."""
        with self._all_or_nothing():
            dataset, fixed, templates = self._problem(X, y)
            others = None if held_out is None else self._test_rows(*self._pair(held_out))
            with templates as name:
                options = make_options(self, {**fixed, **({"template": name} if name else {})})
                bound = self._bind(options)
                self._keep(Model.fit(dataset, options, others, self.verbose, bound))
        return self

    def _bind(self, options):
        """Gives the options a structure of the user's, and returns what must outlive the model."""
        return None

    def _pair(self, held_out):
        """held_out as X and y."""
        return pair(held_out)

    def _keep(self, model):
        """The model and its figures as attributes."""
        blocks = model.blocks
        summary = model.summary()
        self.model_ = model
        self.blocks_ = [block.name for block in blocks]
        self.weights_ = np.array([block.weight for block in blocks])
        self.norms_ = np.array([block.norm for block in blocks])
        self.scale_ = summary["scale"]
        self.objective_ = summary["objective"]
        self.dual_ = summary["dual"]
        self.gap_ = summary["gap"]
        self.n_iter_ = max(1, summary["iterations"] or len(summary["epochs"]))

    def __sklearn_is_fitted__(self):  # the parameter lambda_ looks like an attribute of fitting
        return hasattr(self, "model_")

    @property
    def _threads(self):
        return threads(self.n_jobs)

    def summary(self):
        """Everything the library tells about the fitted model, as a dict.

        Times are known only in the process that learnt it.
        """
        check_is_fitted(self, "model_")
        return self.model_.summary()

    def strongest(self, block, most=10):
        """The strongest features of a block of templates: pairs of text and weight.

        block: a name in ``blocks_`` or its number, from 0. Kernels have support rows instead: [].
        """
        check_is_fitted(self, "model_")
        if isinstance(block, str):
            if block not in self.blocks_:
                raise UsageError(f"the model has no block {block!r}; blocks_ has their names")
            block = self.blocks_.index(block)
        elif not 0 <= whole("block", block, -(2**53)) < len(self.blocks_):
            last = len(self.blocks_) - 1
            raise IndexError(f"there is no block {block}; they have the numbers 0 to {last}")
        return self.model_.strongest(int(block), whole("most", most))

    def save(self, path):
        """Writes the model file that the command reads as well."""
        check_is_fitted(self, "model_")
        self.model_.save(os.fspath(path))

    @classmethod
    def load(cls, path, *, classes=None, X=None, **parameters):
        """An estimator over a model file, written by ``save`` or by ``medley train``.

        The file has the names of labels and not their type: if all are numbers, so are
        ``classes_``, else they are texts. classes: the labels themselves, where they were texts
        such as "0", bools, bytes or anything else. X: the rows that the model was learnt from,
        wanted where kernels are callables. parameters: those of the estimator, of which kernels
        must be what it was where it has callables or matrices.
        """
        estimator = cls(**parameters)
        model = Model.load(os.fspath(path), getattr(estimator, "structure", None))
        estimator._check_kind(model)
        estimator._keep(model)
        estimator._after_load(classes, X)
        return estimator

    def _check_kind(self, model):
        """Raises if the model is for another estimator."""

    def _after_load(self, classes, X):
        """Attributes that are not in the model file."""
        if classes is not None or X is not None:
            raise UsageError(f"{type(self).__name__}.load has no use for classes and X")

    def evaluate(self, X, y, **arguments):
        """All measures the library has for this kind of model, as a dict.

        Classifiers and labelers have accuracy and confusion, log_loss, brier and
        calibration_error; labelers exact_match and chunk_f1 as well; regressors rmse and r2;
        parsers uas and las, and nonprojective.
        """
        dataset = self._labelled(X, y, **arguments)
        return self.model_.evaluate(dataset, self._threads, self._has_probabilities)

    _has_probabilities = True

    def _labelled(self, X, y, **arguments):
        """A dataset of new rows with their labels."""
        raise NotImplementedError

    def report(self, path, X=None, y=None, *, title=None, data_name=None, tuning=None, trace=None,
               contenders=(), examples=24, top=30, **arguments):
        """Writes an HTML report of what was learnt: one file that needs nothing else.

        X, y: labelled data that the model is measured on; tuning, trace: results of
        ``medley.tune`` and ``medley.path`` to be shown; contenders: (name, score, seconds) of other
        models on the same data.
        """
        check_is_fitted(self, "model_")
        if X is None and y is not None:
            raise UsageError("report: y has come without X")
        dataset = None if X is None else self._labelled(X, y, **arguments)
        options = s.ReportOptions(
            title=c_text(title),
            data=None if dataset is None else dataset.pointer,
            data_name=c_text(data_name),
            examples=whole("examples", examples),
            top=whole("top", top),
            threads=self._threads,
        )
        if tuning is not None:
            options.tuning = _answer("tuning", tuning)
        if trace is not None:
            options.path = _answer("trace", trace)
        lines = _contenders(contenders)
        options.contenders, options.contender_count = lines, len(contenders)
        call(
            "medley_report_write",
            self.model_.pointer,
            c_text(os.fspath(path)),
            ctypes.byref(options),
        )
        return self


def _answer(name, result):
    """The library's object behind a Tuning or a Path."""
    kind = {"tuning": "Tuning", "trace": "Path"}[name]
    if type(result).__name__ != kind:
        raise UsageError(f"report: {name} is a {type(result).__name__}, expected a medley.{kind}")
    return result.pointer


def _contenders(given):
    """An array of medley_contender."""
    lines = (s.Contender * max(1, len(given)))()
    for line, one in zip(lines, given):
        if not isinstance(one, (tuple, list)) or len(one) != 3:
            raise UsageError("report: contenders are triples (name, score, seconds)")
        line.name, line.score, line.seconds = c_text(one[0]), one[1], one[2]
    return lines
