# SPDX-License-Identifier: BSD-3-Clause
"""Grids of parameters: the names and values that the library tries, and back."""

from sklearn.base import clone

from . import _structs as s
from ._errors import UsageError
from ._library import c_text, text
from ._names import option_name
from ._options import NOT_OPTIONS, option_table, value_text


def _grid_text(parameter, value):
    """A value of the grid as the library writes it."""
    if parameter == "kernels" and isinstance(value, (list, tuple)):
        if len(value) != 1:
            raise UsageError(
                "a value of kernels in a grid is one kernel, which may stand for several: "
                "'rbf(sigma2={1,5})'; for lists of kernels use GridSearchCV"
            )
        value = value[0]
    if value is None:
        value = "auto" if parameter == "scale" else _fallback(parameter)
        if not value:
            raise UsageError(f"None stands for no single value of {parameter}; leave None out")
    return value_text(value).strip()


def _fallback(parameter):
    return text(option_table()[option_name(parameter)].fallback)


def params_of(grid, names, trial):
    """The values of a trial as they were given; numbers where the library has chosen them."""
    params = {}
    for i, name in enumerate(names):
        value = text(trial.values[i]).strip()
        parameter = next((p for p in grid if option_name(p) == name), None)
        if parameter is None:
            params[_parameter_name(name)] = float(value)
        else:
            given = {_grid_text(parameter, v): v for v in grid[parameter]}
            params[parameter] = given.get(value, value)
    return params


def _parameter_name(option):
    return {"lambda": "lambda_"}.get(option, option)


def choices(grid):
    choices = (s.Choice * max(1, len(grid)))()
    for choice, (parameter, values) in zip(choices, grid.items()):
        separator = " | " if parameter == "kernels" else ","
        choice.option = c_text(option_name(parameter))
        choice.values = c_text(separator.join(_grid_text(parameter, value) for value in values))
    return choices


def checked_grid(estimator, grid):
    """{parameter: list of values} with the names that the estimator or the command has."""
    if not isinstance(grid, dict):
        raise UsageError("a grid is a dict {parameter: list of values}")
    own = {option_name(p): p for p in estimator.get_params(deep=False) if p not in NOT_OPTIONS}
    checked = {}
    for given, values in grid.items():
        name = option_name(str(given))
        parameter = own.get(name, name if name in option_table() else None)
        if parameter is None:
            raise UsageError(f"{type(estimator).__name__} has no parameter {given!r}")
        if parameter in checked:
            raise UsageError(f"the grid has {parameter!r} twice")
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise UsageError(f"the grid has one value for {given!r}; give a list of values")
        checked[parameter] = list(values)
        if not checked[parameter]:
            raise UsageError(f"the grid has no values for {given!r}")
    return checked


def with_params(estimator, params):
    """A copy with these parameters; those that are no parameters go to its options."""
    own = estimator.get_params(deep=False)
    others = {name: value for name, value in params.items() if name not in own}
    best = clone(estimator).set_params(**{n: v for n, v in params.items() if n in own})
    return best.set_params(options={**(own["options"] or {}), **others}) if others else best
