# SPDX-License-Identifier: BSD-3-Clause
"""What parameters and attributes mean that several estimators have, written once.

``documented`` puts it into the docstring of a class: ``help`` and notebooks show every parameter
of every estimator, in the order of its signature. What a class says itself comes first.
"""

import inspect
import re
from typing import Callable, Dict, List, Tuple, TypeVar

PARAMETERS = '''
template : "auto", None, name, path or text
    Feature templates of CRF++ or Wapiti for words: a built-in set (``medley.list_templates()``), a
    file, or the lines themselves. "auto": a set of our own.
kernels : "default" or list of str
    For sequences of numbers, and attributes (where the default is a weight for each).
views : str or dict
    A text as the command has it, or, for sequences of numbers, {name: columns}.
penalty : str, default "auto"
    What is asked of weights: see ``medley.list_penalties()``.
loss : str, default "auto"
    What mistakes cost: see ``medley.list_losses()``.
method : str, default "auto"
    How the model is learnt: see ``medley.list_methods()``.
C : float, optional
    Weakness of the penalty: a large C lets the model follow the data.
lambda_ : float, optional
    Strength of the penalty, in place of C: lambda is 1 / (C N) for N examples.
block_weight : str, list or dict, optional
    Weights of blocks: the penalty sees the norm of a block times its weight. ``{name: weight}`` (a
    name may end in ``'*'``, a weight may be ``"size"``: the square root of the number of features),
    or strings ``'name=weight'``.
p : float, optional
    Norm over the blocks, of method obscure.
epochs : int, optional
    Passes over the data, of online methods.
eta0 : float or str, optional
    The first rate of online methods, "paper" or "theory"; default: tried on some examples.
preselect : int or "view", optional
    Use only so many kernels, or of every view the one, with the least leave-one-out error
    (``summary()["preselected"]``).
bigram : "auto", "fixed", "learned" or "none"
    Pairs of neighbouring labels: a block beside the penalty, one like the others, or none.
min_count : int, optional
    Leave out features that occur less often in training.
hash_bits : int, optional
    Number features by a hash of so many bits instead of a dictionary.
scale : None, "auto", "none", "center", "standard", "minmax", "maxabs" or dict
    Of columns, for all views or by view. None is "auto": columns whose deviations differ tenfold
    are standardised, unless they are pixels or of one range as these are; the default kernels see
    other columns centred; sparse rows and what else there is stay as they are. ``scale_`` says what
    was done.
normalize : None, "diag", "trace" or "center"
    Of kernels.
calibrate : bool, default False
    Learn how far scores can be trusted, for ``predict_proba``; takes as long again.
certify : bool, default False
    Online methods, too, tell how near to its optimum the objective is (``dual_``, ``gap_``).
gap : float, optional
    Methods with a certificate stop at this relative gap.
image_shape : (int, int), optional
    Height and width where rows are images, for views such as ``'grid:2x2'``.
scoring : "accuracy", "f1" or "exact_match"
    What ``score`` measures: labels, chunks (B-NP, I-NP, O), whole sequences.
n_jobs : int, optional
    Threads; -1: all processors; None: the same, but one inside a worker of joblib. The result does
    not depend on it.
device : "auto", "cpu", "cuda" or "cuda:N", optional
    Where kernel values are computed, also those of new rows: "auto" uses an NVIDIA card if there is
    one and the problem is large enough, "cpu" never does, "cuda" fails if no card can be used,
    "cuda:1" is the second card. ``summary()["device"]`` and ``evaluate(X, y)["device"]`` tell what
    was used. None is "auto".
memory : str, optional
    Budget for kernel values, such as ``'2G'``.
random_state : int, RandomState or None, default 1
    One number gives one model; None draws one from NumPy's global state.
verbose : int, "tqdm" or callable, default 0
    1 prints progress, 2 all of it; "tqdm" draws a bar; a callable gets ``medley.Progress`` and may
    return False to stop.
options : dict, optional
    Any other option of the command by name (``medley.list_options()``).
'''

ATTRIBUTES = '''
classes_ : ndarray
    The labels, sorted.
blocks_ : list of str
    Names of the blocks: kernels, with ``@`` and their view where there are views, or templates.
weights_ : ndarray of shape (n_blocks,)
    What each block counts: they sum to 1, or are all 0 where the penalty has left out every one.
norms_ : ndarray of shape (n_blocks,)
    The norm of the weights of each block.
scale_ : str
    What was done to columns; see ``scale``.
objective_ : float
    Of the model that was learnt.
dual_ : float
    What no model can be below; NaN where the method has no certificate and none was asked for.
gap_ : float
    How far the objective is from its optimum at most, relative to it; NaN as for ``dual_``.
n_iter_ : int
    Iterations, or epochs of online methods.
n_features_in_ : int
    Columns of X in ``fit``; not there for views, precomputed stacks and lists.
feature_names_in_ : ndarray of str
    Names of the columns where X was a data frame; new ones may have them in any order, and further
    ones are left out. A model file keeps them.
X_fit_ : data or None
    The training rows, kept only where kernels are callables.
model_ : Model
    The owner of the library's object.
'''

_ENTRY = re.compile(r"^(?=\w+ : )", flags=re.M)


def _entries(text: str) -> Dict[str, str]:
    """{name: entry} of the text of a section."""
    found = [entry for entry in _ENTRY.split(text) if entry.strip()]
    return {entry.partition(" : ")[0]: entry.strip("\n") for entry in found}


def _parts(doc: str, section: str) -> Tuple[str, str, str]:
    """A docstring up to the entries of a section (which may be empty), these, and what follows."""
    title = f"{section}\n{'-' * len(section)}\n"
    before, _, rest = doc.partition(title)
    own, _, after = ("", "", rest[1:]) if rest.startswith("\n") else rest.partition("\n\n")
    return before + title, own, after


def _filled(doc: str, section: str, shared: str, names: List[str]) -> str:
    """The docstring with the named entries in a section: its own ones, or shared ones."""
    before, own, after = _parts(doc, section)
    told = {**_entries(shared), **_entries(own)}
    missing = [name for name in names if name not in told]
    if missing:
        raise TypeError(f"no description of {', '.join(missing)}")
    return before + "\n".join(told[name] for name in names) + "\n\n" + after


Kind = TypeVar("Kind", bound=type)


def documented(*attributes: str) -> Callable[[Kind], Kind]:
    """Decorator of estimators: fills up the sections Parameters and Attributes.

    attributes: those that it has after ``fit`` besides the ones of its own docstring and those
    that all have.
    """
    everywhere = ["blocks_", "weights_", "norms_", "scale_", "objective_", "dual_", "gap_"]

    def fill(kind: Kind) -> Kind:
        if kind.__doc__ is None:  # python -OO
            return kind
        doc = inspect.cleandoc(kind.__doc__)
        names = list(inspect.signature(kind).parameters)
        doc = _filled(doc, "Parameters", PARAMETERS, names)
        own = _entries(_parts(doc, "Attributes")[1])
        names = [*attributes, *own, *everywhere, "n_iter_", "model_"]
        kind.__doc__ = _filled(doc, "Attributes", ATTRIBUTES, names)
        return kind

    return fill
