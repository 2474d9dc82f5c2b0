# SPDX-License-Identifier: BSD-3-Clause
"""How a report came about, for those who want to repeat it: the program, the model's parameters, the date."""

import os
import platform
import re
import sys
from datetime import datetime, timezone
from typing import Any

import numpy
import sklearn


def program() -> str:
    """The running program without its folder and its arguments, which may say more of a machine or
    a person than readers of a report should know."""
    if "ipykernel" in sys.modules:
        return "a notebook"
    path = sys.argv[0] if getattr(sys, "argv", None) else ""
    if path in ("", "-c", "-"):
        return "no script"
    folder, name = os.path.split(path)
    if name == "__main__.py":  # of python -m PACKAGE
        name = os.path.basename(folder) or name
    return " ".join(name.split())


def code(estimator: Any) -> str:
    """The estimator with the parameters that are not the defaults, below where it was used."""
    try:
        told = repr(estimator)
    except Exception:  # of a parameter of somebody else's making: no reason to lose a report
        told = f"{type(estimator).__name__}(...)"
    told = re.sub(r" at 0x[0-9a-fA-F]+", "", told)  # functions: another address each time
    text = (
        f"# {program()} (Python {platform.python_version()}, NumPy {numpy.__version__}, "
        f"scikit-learn {sklearn.__version__})\n{told}"
    )
    return text.encode("utf-8", "replace").decode().replace("\0", "?")  # what C can take


def date() -> str:
    """Now, as the command writes it; SOURCE_DATE_EPOCH stands for the clock where files must come
    out the same."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        when = datetime.fromtimestamp(int(given), timezone.utc)
    except (ValueError, OverflowError, OSError):
        when = datetime.now(timezone.utc)
    return when.strftime("%Y-%m-%d %H:%M UTC")
