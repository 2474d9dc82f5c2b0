# SPDX-License-Identifier: BSD-3-Clause
"""What all estimators share: learning through the library, what was learnt, files, reports."""

import os
import warnings
from contextlib import contextmanager
from typing import Any, Dict, List, Optional, Sequence, Tuple, Type, TypeVar, Union

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from . import _structs as s
from ._checks import pair, whole
from ._errors import UsageError
from ._library import c_text
from ._model import Model
from ._options import make_options, threads
from ._plots import plot_weights, weights_table
from ._provenance import code, date
from ._report import Report, answer_of, contender_lines, model_html, write_report

PathLike = Union[str, "os.PathLike[str]"]
Estimator = TypeVar("Estimator", bound="MedleyEstimator")


def list_tags(requires_y):
    """What estimators of lists tell scikit-learn before version 1.6."""
    return {"X_types": ["string", "dict"], "requires_y": requires_y, "no_validation": True}


def new_list_tags(tags, requires_y):
    """The same from version 1.6 on."""
    tags.input_tags.two_d_array, tags.input_tags.string, tags.input_tags.dict = False, True, True
    tags.target_tags.required, tags.no_validation = requires_y, True
    return tags


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

    def _learn(self, X, y, eval_set=None):
        """Learns a model with the estimator's parameters and keeps it, interrupted or not."""
        with self._all_or_nothing():
            dataset, fixed, templates = self._problem(X, y)
            others = None if eval_set is None else self._test_rows(*self._pair(eval_set))
            with templates as name:
                options = make_options(self, {**fixed, **({"template": name} if name else {})})
                bound = self._bind(options)
                model, interrupt = Model.fit(dataset, options, others, self.verbose, bound)
                self._keep(model)
        if interrupt is not None:
            told = "fit was interrupted: the model is the one that was learnt so far"
            warnings.warn(told, ConvergenceWarning, stacklevel=3)
            raise interrupt
        if len(self.weights_) and not np.any(self.weights_):
            warnings.warn("every block was left out: the model predicts the same for every row; a weaker penalty "
                          "(larger C) or other kernels may help, if neither the columns nor the labels are constant", stacklevel=3)
        return self

    def _bind(self, options):
        """Gives the options a structure of the user's, and returns what must outlive the model."""
        return None

    def _pair(self, eval_set):
        """eval_set as X and y."""
        return pair(eval_set)

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

    @property
    def _device(self):
        """Where new rows are scored: where the model is learnt. None: the library decides."""
        chosen = (self.options or {}).get("device")  # as in fit(), options come first
        return chosen if chosen is not None else getattr(self, "device", None)  # parsers have none

    def summary(self) -> Dict[str, Any]:
        """Tell everything that the library knows about the fitted model.

        Returns
        -------
        dict
            Figures by name; times are known only in the process that learnt the model.

        Examples
        --------
        >>> import medley
        >>> X, y = medley.generate("ringnorm", rows=60, seed=1)
        >>> medley.MKLClassifier("rbf(auto)").fit(X, y).summary()["method"]
        'spicy'
        """
        check_is_fitted(self, "model_")
        return self.model_.summary()

    def strongest(self, block: Union[int, str], most: int = 10) -> List[Tuple[str, float]]:
        """Look up the strongest features of a block of templates.

        Parameters
        ----------
        block : int or str
            A name in ``blocks_`` or its number, from 0.
        most : int, default 10
            So many of them at most.

        Returns
        -------
        list of (str, float)
            Features as texts, and their weights; [] for kernels, which have support rows instead.
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

    def weights_frame(self) -> Any:
        """Put the blocks into a data frame of pandas.

        Returns
        -------
        pandas.DataFrame
            A line for each block, in the order of ``blocks_``: block, kernel, view, weight, norm,
            features.
        """
        check_is_fitted(self, "model_")
        return weights_table(self.model_.blocks)

    def plot_weights(self, *, top: int = 30, ax: Optional[Any] = None) -> Any:
        """Draw what each block counts for, with matplotlib.

        Parameters
        ----------
        top : int, default 30
            So many blocks at most, the largest; those that count for nothing are left out.
        ax : matplotlib.axes.Axes, optional
            Where to draw; default: a figure of its own.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.
        """
        check_is_fitted(self, "model_")
        return plot_weights(self.blocks_, self.weights_, top, ax)

    def _repr_html_(self) -> str:
        """For notebooks: scikit-learn's diagram, and once fitted what was learnt."""
        if not hasattr(self, "model_"):
            return estimator_html_repr(self)
        return model_html(type(self).__name__, self.model_.summary())

    def _repr_mimebundle_(self, **_):  # scikit-learn's has the diagram in it, always
        bundle = super()._repr_mimebundle_()
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_()
        return bundle

    def save(self, path: PathLike) -> None:
        """Write the model file, which the command reads as well.

        Parameters
        ----------
        path : str or path
            The file. It has the names of columns where X was a data frame.
        """
        check_is_fitted(self, "model_")
        self.model_.save(os.fspath(path))

    @classmethod
    def load(cls: Type[Estimator], path: PathLike, *, classes: Optional[Sequence[Any]] = None,
             X: Any = None, **parameters: Any) -> Estimator:
        """Make an estimator of a model file, written by ``save`` or by ``medley train``.

        Parameters
        ----------
        path : str or path
            The file.
        classes : sequence, optional
            The labels themselves, where they were texts such as "0", bools, bytes or anything else:
            the file has the names of labels and not their type. By default ``classes_`` are numbers
            if all names are, else texts.
        X : data, optional
            The rows that the model was learnt from, wanted where kernels are callables.
        **parameters
            Those of the estimator, of which kernels must be what it was where it has callables or
            matrices.

        Returns
        -------
        estimator
            Fitted. Its ``feature_names_in_`` are those of the data frame in ``fit``.
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

    def evaluate(self, X: Any, y: Any, **arguments: Any) -> Dict[str, Any]:
        """Measure the model on labelled data in all ways that the library has for its kind.

        Parameters
        ----------
        X : data
            As ``predict`` takes them.
        y : labels
            As ``fit`` takes them.
        **arguments
            Further ones of ``predict``, such as grams.

        Returns
        -------
        dict
            Classifiers and labelers have accuracy and confusion, log_loss, brier and
            calibration_error; labelers exact_match and chunk_f1 as well; regressors rmse and r2;
            parsers uas and las, and nonprojective. All have device: what has computed kernel
            values, "cpu" or the name of a card.
        """
        dataset = self._labelled(X, y, **arguments)
        wanted = self._has_probabilities
        return self.model_.evaluate(dataset, self._threads, self._device, wanted)

    _has_probabilities = True

    def _labelled(self, X, y, **arguments):
        """A dataset of new rows with their labels."""
        raise NotImplementedError

    def report(self, path: Optional[PathLike] = None, X: Any = None, y: Any = None, *,
               title: Optional[str] = None, data_name: Optional[str] = None,
               tuning: Optional[Any] = None, trace: Optional[Any] = None,
               contenders: Sequence[Tuple[str, float, float]] = (), examples: int = 24,
               top: int = 30, **arguments: Any) -> Report:
        """Write an HTML report of what was learnt: one file that needs nothing else.

        At its end are the parameters of the estimator, the name of the script (neither its folder
        nor its arguments), the versions and the date; that of the environment's
        ``SOURCE_DATE_EPOCH`` where it is set, so that reports come out the same.

        Parameters
        ----------
        path : str or path, optional
            The file; default: none, the report is only returned, and a notebook shows it.
        X, y : data, labels, optional
            Labelled data that the model is measured on, and examples are taken from.
        title : str, optional
            Of the page.
        data_name : str, optional
            What the report calls these data.
        tuning : Tuning, optional
            A result of ``medley.tune`` to be shown.
        trace : Path, optional
            A result of ``medley.regularization_path`` to be shown.
        contenders : sequence of (str, float, float)
            Name, score and seconds of other models on the same data.
        examples : int, default 24
            So many examples at most, wrong ones first.
        top : int, default 30
            So many blocks are drawn at most; a table has all of them.
        **arguments
            Further ones of ``predict``, such as grams.

        Returns
        -------
        Report
            The page, which shows itself in a notebook.
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
            device=c_text(self._device),
            command=c_text(code(self)),
            date=c_text(date()),
        )
        if tuning is not None:
            options.tuning = answer_of("tuning", tuning)
        if trace is not None:
            options.path = answer_of("trace", trace)
        lines = contender_lines(contenders)
        options.contenders, options.contender_count = lines, len(contenders)
        return write_report(self.model_, path, options)
