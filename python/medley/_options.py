# SPDX-License-Identifier: BSD-3-Clause
"""Constructor parameters as options of the library.

A parameter has the name of the command's option wherever Python allows it (lambda_ is --lambda,
n_jobs is --threads, random_state is --seed, kernels is --kernel, hyphens become underscores). A
parameter that is None, or at its default, is not handed over: the library's own defaults hold.
Every other option of the command can be given by name in `options`.
"""

import difflib
import numbers
import os
from ctypes import byref

import numpy as np

from . import _structs as s
from ._checks import flag, whole
from ._errors import UsageError
from ._library import Handle, c_text, call, create, lib, text
from ._names import option_name
from ._ranks import current

# Parameters that are no options: what they mean is seen to elsewhere.
NOT_OPTIONS = {"verbose", "options", "image_shape", "scoring", "structure"}


def option_infos():
    """A medley_option_info for each option of the library."""
    infos = [s.OptionInfo() for _ in range(lib.medley_option_count())]
    for i, info in enumerate(infos):
        lib.medley_option_describe(byref(info), i)
    return infos


def option_table():
    """The library's options by name: argument, default, help, repeatable."""
    infos = option_infos()
    return {text(info.name): info for info in infos}


def value_text(value):
    """An option's value as the command line would have it."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if not isinstance(value, str):
        raise UsageError(f"an option cannot be a {type(value).__name__}; give a text or a number")
    return value


def threads(n_jobs):
    """n_jobs as the library counts: None and -1 are all processors (0), -2 all but one.

    None is one inside a worker of joblib, which has as many of them as there are processors.
    """
    if n_jobs is None:
        return 1 if _inside_joblib() else 0
    count = whole("n_jobs", n_jobs, -(2**20))
    if count == 0:
        raise UsageError("n_jobs=0 has no meaning; use None or -1 for all processors")
    if count > 0:
        return count
    return 0 if count == -1 else max(1, len(os.sched_getaffinity(0)) + 1 + count)


def _inside_joblib():
    """Is this a task of joblib.Parallel with several jobs?"""
    import joblib.parallel  # with scikit-learn, which takes longer to import than all else

    backend = joblib.parallel.get_active_backend()[0]
    return (getattr(backend, "nesting_level", None) or 0) > 0


def seed(random_state):
    """A whole number for the library from anything that scikit-learn takes."""
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _scales(value):
    """`scale`: one kind for all, or a dict {view: kind}."""
    if isinstance(value, dict):
        return [f"{view}={kind}" if view else str(kind) for view, kind in value.items()]
    return [value]


def _weights(value):
    """`block_weight`: strings name=weight, or a dict {name: weight}."""
    if isinstance(value, dict):
        return [f"{name}={value_text(weight)}" for name, weight in value.items()]
    return value


class Options(Handle):
    """Owner of a medley_options."""

    free = "medley_options_free"

    def __init__(self):
        super().__init__(create("medley_options_create"))
        lib.medley_options_set_comm(self.pointer, current())

    def set(self, name, value):
        call("medley_options_set", self.pointer, c_text(name), c_text(value_text(value)))

    def _set_any(self, table, name, value):
        """A value from Python: flags are bools, repeatable options may be lists."""
        info = table[name]
        if info.argument == b"":
            if flag(name, value):
                self.set(name, "")
        elif isinstance(value, (bool, np.bool_)):
            raise UsageError(f"{name}={value}; give a value ({text(info.argument)})")
        elif info.repeatable and isinstance(value, (list, tuple)):
            for item in value:
                self.set(name, item)
        else:
            self.set(name, value)


def _check_name(table, name):
    if name in table:
        return
    near = difflib.get_close_matches(name, table, 1)
    hint = f"; did you mean '{near[0]}'?" if near else "; see medley.list_options()"
    raise UsageError(f"there is no option '{name}'{hint}")


def _translated(parameter, value):
    if parameter == "random_state":
        return seed(value)
    if parameter == "n_jobs":
        return threads(value) or None
    if parameter == "scale" and value is not None:
        return _scales(value)
    if parameter == "block_weight":
        return _weights(value)
    return value


def make_options(estimator, fixed=None):
    """A medley_options from the parameters of an estimator.

    fixed: {option: value} that the estimator decides itself (task, kernel ...); None: leave out.
    """
    options, table = Options(), option_table()
    fixed = dict(fixed or {})
    parameters = estimator.get_params(deep=False)
    extra = parameters.get("options") or {}
    if not isinstance(extra, dict):
        raise UsageError(f"options={extra!r}; give a dict {{name: value}}")
    given = {}
    for parameter, value in parameters.items():
        name = option_name(parameter)
        if parameter not in NOT_OPTIONS and name not in fixed:
            given[name] = _translated(parameter, value)
    given.update(fixed)
    for name, value in extra.items():
        name = str(name).replace("_", "-")
        _check_name(table, name)
        given[name] = value
    for name, value in given.items():
        if value is not None:
            options._set_any(table, name, value)
    return options
