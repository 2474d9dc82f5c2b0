# SPDX-License-Identifier: BSD-3-Clause
"""Packages that are wanted only where they are used: pandas, matplotlib, tqdm."""

import importlib
from typing import Any

# What pip and Debian call them.
_EXTRAS = {
    "matplotlib.pyplot": ("plot", "python3-matplotlib"),
    "pandas": ("pandas", "python3-pandas"),
    "tqdm.auto": ("notebook", "python3-tqdm"),
}


def needed(module: str, by: str) -> Any:
    """The module; an ImportError says what wants it and how it is installed."""
    extra, debian = _EXTRAS[module]
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        package = module.partition(".")[0]
        raise ImportError(
            f"{by} needs {package}, which cannot be imported ({problem}); install it: "
            f"pip install 'medley[{extra}]', or on Debian apt install {debian}"
        ) from None
