# SPDX-License-Identifier: BSD-3-Clause
# Structs are made from what the library declares when it is loaded: their types are known only then.
from typing import Any

def __getattr__(name: str) -> Any: ...
