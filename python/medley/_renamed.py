# SPDX-License-Identifier: BSD-3-Clause
"""Names that were others before, and arguments that are refused with a sentence.

They arrive as further keywords, so that the signatures that scikit-learn reads (does ``fit`` take
``sample_weight``?) and help shows have today's names only.
"""

import warnings
from typing import Any, Callable, Dict

from ._errors import UsageError

_NO_WEIGHTS = (
    "sample_weight has no place here: the losses count every example once; repeat rows instead "
    "(X[np.repeat(np.arange(len(X)), counts)], y likewise), or draw them in proportion to their "
    "weights (sklearn.utils.resample)"
)


def warn_renamed(old: str, new: str, frames: int = 1) -> None:
    """Says so to the caller of the caller; frames: so many further up."""
    told = f"{old} is now called {new}; the old name will go in version 1.0"
    warnings.warn(told, FutureWarning, stacklevel=frames + 2)


def take_old(function: str, others: Dict[str, Any], names: Dict[str, str],
             frames: int = 2) -> Dict[str, Any]:
    """{new name: value} of the keywords in others that are old names; refuses all else."""
    found = {}
    for name, value in others.items():
        if name in names:
            warn_renamed(f"{function}({name}=...)", f"{names[name]}=...", frames)
            found[names[name]] = value
        elif name != "sample_weight":
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
        elif value is not None:
            raise UsageError(_NO_WEIGHTS)
    return found


def eval_set_of(eval_set: Any, others: Dict[str, Any]) -> Any:
    """The argument of ``fit``, by its old name, too."""
    return take_old("fit", others, {"held_out": "eval_set"}, 3).get("eval_set", eval_set)


def old_attribute(old: str, new: str) -> Any:
    """A property that still answers to the old name."""

    def get(self: Any) -> Any:
        kind = type(self).__name__
        warn_renamed(f"{kind}.{old}", f"{kind}.{new}")
        return getattr(self, new)

    return property(get, doc=f"Old name of ``{new}``.")


def old_function(old: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that still answers to the old name."""

    def call(*arguments: Any, **keywords: Any) -> Any:
        warn_renamed(f"medley.{old}", f"medley.{function.__name__}")
        return function(*arguments, **keywords)

    call.__name__ = call.__qualname__ = old
    call.__doc__ = f"Old name of ``medley.{function.__name__}``."
    return call
