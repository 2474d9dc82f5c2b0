# SPDX-License-Identifier: BSD-3-Clause
"""The shared library and what it declares: structs, constants and the signatures of its functions.

None of it is written down here. The library tells the declarations of its own public headers
(medley_declarations), and they are turned into ctypes when this module is imported, so the package
cannot drift away from the library that it has loaded. ``medley_read_options`` becomes the class
``ReadOptions``, ``MEDLEY_BAD_INPUT`` the number ``BAD_INPUT``. A pointer to something that the
headers do not define (``medley_model *``) is a ``c_void_p``.

Calls go through ctypes.CDLL, which lets other Python threads run while the library works.
"""

import ctypes
import os
import re
from pathlib import Path

_SCALARS = {
    "void": None,
    "bool": ctypes.c_bool,
    "char": ctypes.c_char,
    "int": ctypes.c_int,
    "long": ctypes.c_long,
    "unsigned": ctypes.c_uint,
    "unsigned long": ctypes.c_ulong,
    "unsigned long long": ctypes.c_ulonglong,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "size_t": ctypes.c_size_t,
    "int32_t": ctypes.c_int32,
    "uint32_t": ctypes.c_uint32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
}
SYSTEM_LIBRARY = "libmedley.so.1"  # SOVERSION of CMakeLists.txt
_FUNCTION_POINTER = re.compile(r"(.+?) ?\(\*(\w+)\)\((.*)\)$")
_DECLARATION = re.compile(r"(.+?)([ *]*)\b(\w+)(?:\[(\d+)\])?$")


class Struct(ctypes.Structure):
    """A struct of the library. Fields are given by name; struct_size sets itself."""

    def __init__(self, **fields):
        super().__init__(**fields)
        if hasattr(type(self), "struct_size"):
            self.struct_size = ctypes.sizeof(self)


def _python_name(name):
    return "".join(part.capitalize() for part in name.split("_")[1:])


class Declarations:
    """Declarations as ctypes: ``structs`` and ``callbacks`` by C name, ``constants`` by Python's,
    ``functions`` as {name: (result, arguments)}."""

    def __init__(self, text):
        self.structs, self.callbacks, self.constants, self.functions = {}, {}, {}, {}
        self._enums, self._opaque = set(), set()
        for line in text.splitlines():
            try:
                self._read(re.sub(r"\bconst\b ?", "", line.strip().rstrip(";")))
            except (KeyError, AttributeError) as problem:
                raise ImportError(f"cannot be understood ({problem}): {line}") from None

    def _read(self, line):
        kind = re.match(r"typedef (enum|struct) (\w+)(?: \{(.*)\} \w+)?", line)
        if kind is None:
            callback = _FUNCTION_POINTER.match(line[8:]) if line.startswith("typedef ") else None
            if callback:
                self.callbacks[callback[2]] = self._callback(callback)
            elif line:
                result, name, arguments = re.match(r"(.+?)(medley_\w+)\((.*)\)$", line).groups()
                result = self._declared(result + "result")[1]
                self.functions[name] = result, self._arguments(arguments)
        elif kind[1] == "enum":
            self._enums.add(kind[2])
            self._enumerate(kind[3])
        elif kind[3] is None:
            self._opaque.add(kind[2])
        else:
            self._define(kind[2], kind[3])

    def _enumerate(self, body):
        value = -1
        for name, given in re.findall(r"MEDLEY_(\w+)(?: = (-?\d+))?", body):
            value = int(given) if given else value + 1
            self.constants[name] = value

    def _define(self, name, body):
        # known before its fields are: it may hold pointers to its own kind
        made = self.structs[name] = type(_python_name(name), (Struct,), {"c_name": name})
        fields = []
        for declaration in filter(None, map(str.strip, body.split(";"))):
            pointer = _FUNCTION_POINTER.match(declaration)
            if pointer:
                fields.append((pointer[2], self._callback(pointer)))
                continue
            first, *others = declaration.split(",")
            fields.append(self._declared(first))
            base = _DECLARATION.match(first)[1]
            fields.extend(self._declared(f"{base} {other.strip()}") for other in others)
        made._fields_ = fields

    def _callback(self, found):
        result = self._declared(found[1] + " result")[1]
        return ctypes.CFUNCTYPE(result, *self._arguments(found[3]))

    def _arguments(self, text):
        return [] if text == "void" else [self._declared(part)[1] for part in text.split(", ")]

    def _declared(self, text):
        """(name, type) of one declaration."""
        base, stars, name, length = _DECLARATION.match(text).groups()
        kind = self._type(base, stars.count("*"))
        return name, kind * int(length) if length else kind

    def _type(self, base, stars):
        if stars and (base == "void" or base in self._opaque):
            kind, stars = ctypes.c_void_p, stars - 1
        elif stars and base == "char":
            kind, stars = ctypes.c_char_p, stars - 1
        elif base in self._enums:
            kind = ctypes.c_int
        else:
            known = self.structs.get(base) or self.callbacks.get(base)
            kind = known or _SCALARS[base]
        for _ in range(stars):
            kind = ctypes.POINTER(kind)
        return kind


def library_path():
    """The file that is loaded: $MEDLEY_LIBRARY, else the one inside the package, else, in the
    source tree (where scripts beside the package find it first), the one that was built last,
    else the system's (a package of a distribution has none inside)."""
    chosen = os.environ.get("MEDLEY_LIBRARY")
    inside = Path(__file__).resolve().with_name("libmedley.so")
    if chosen or inside.exists():
        return chosen or str(inside)
    root = inside.parents[2]
    built = [root / "build-python" / "cmake" / inside.name, root / "build" / inside.name]
    built = [path for path in built if path.exists()]
    return str(max(built, key=lambda path: path.stat().st_mtime, default=SYSTEM_LIBRARY))


def _load(path):
    """The library, and its declarations, which its functions know from now on."""
    try:
        library = ctypes.CDLL(path)
        tell = library.medley_declarations
    except OSError as problem:
        raise ImportError(
            f"the Medley library cannot be loaded ({problem}); install the package with 'make "
            "python' or 'pip install --no-build-isolation .' in the repository, or set "
            "MEDLEY_LIBRARY to a libmedley.so"
        ) from None
    except AttributeError:
        raise ImportError(f"{path} tells no declarations: it is of another version") from None
    tell.restype = ctypes.c_char_p
    try:
        declared = Declarations(tell().decode())
    except ImportError as problem:
        raise ImportError(f"{path}: a declaration {problem}") from None
    for name, (result, arguments) in declared.functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library, declared


lib, declared = _load(library_path())
globals().update(declared.constants)
globals().update(
    {_python_name(name): kind for name, kind in {**declared.structs, **declared.callbacks}.items()}
)
