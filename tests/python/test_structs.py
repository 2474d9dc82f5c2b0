# SPDX-License-Identifier: BSD-3-Clause
"""What _structs.py makes of the library's declarations is what a C compiler makes of the headers."""

import ctypes
import os
import re
import shutil
import subprocess
import unittest

from medley import _structs
from support import ROOT, InFolder

INCLUDE = ROOT / "include"
STRUCTS = _structs.declared.structs.values()


def prototypes():
    """{function: (result, number of arguments)} of all public functions."""
    found = {}
    for header in sorted((INCLUDE / "medley").glob("*.h")):
        text = re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.S)
        pattern = r"MEDLEY_API\s+(?:MEDLEY_CHECKED\s+)?([\w\s*]+?)\b(medley_\w+)\s*\(([^;]*)\)\s*;"
        for result, name, arguments in re.findall(pattern, text):
            arguments = " ".join(arguments.split())
            count = 0 if arguments in ("", "void") else arguments.count(",") + 1
            found[name] = (" ".join(result.split()), count)
    return found


class Layout(InFolder):
    @unittest.skipIf(shutil.which(os.environ.get("CC", "cc")) is None, "there is no C compiler")
    def test_structs_have_the_sizes_and_places_of_the_headers(self):
        lines = []
        for struct in STRUCTS:
            name = struct.c_name
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            for field, _ in struct._fields_:
                lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), '
                             f'sizeof((({name} *)0)->{field}));')
        source, program = self.folder / "sizes.c", self.folder / "sizes"
        source.write_text("#include <medley/medley.h>\n#include <stdio.h>\n#include <stddef.h>\n"
                          "int main(void)\n{\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, f"-I{INCLUDE}", "-o", str(program), str(source)], check=True)
        told = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
        expected = []
        for struct in STRUCTS:
            expected.append(f"{struct.c_name} {ctypes.sizeof(struct)}")
            for field, _ in struct._fields_:
                place = getattr(struct, field)
                expected.append(f"{struct.c_name}.{field} {place.offset} {place.size}")
        self.assertEqual(told.splitlines(), expected)

    def test_every_field_of_the_headers_is_there(self):
        text = "".join(header.read_text() for header in (INCLUDE / "medley").glob("*.h"))
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        known = {struct.c_name: [f for f, _ in struct._fields_] for struct in STRUCTS}
        for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text, flags=re.S):
            self.assertIn(name, known)
            fields = []
            for declaration in body.split(";"):
                pointer = re.search(r"\(\*(\w+)\)", declaration)
                if pointer:
                    fields.append(pointer.group(1))
                    continue
                for part in declaration.split(","):
                    found = re.findall(r"\w+", re.sub(r"\[.*?\]", "", part))
                    fields.extend(found[-1:])
            self.assertEqual(fields, known[name], name)

    def test_signatures_are_those_of_the_headers(self):
        declared, found = prototypes(), _structs.declared.functions
        self.assertGreater(len(declared), 60)
        self.assertEqual(sorted(found), sorted(declared))
        for name, (result, arguments) in found.items():
            said, count = declared[name]
            self.assertEqual(len(arguments), count, name)
            self.assertEqual(result is None, said == "void", name)
            if said == "medley_status":
                self.assertIs(result, ctypes.c_int)
                self.assertIs(arguments[-1], ctypes.POINTER(_structs.Error), name)

    @unittest.skipIf(shutil.which(os.environ.get("CC", "cc")) is None, "there is no C compiler")
    def test_declarations_are_c_that_agrees_with_the_headers(self):
        source = self.folder / "both.c"
        functions = [line for line in _structs.lib.medley_declarations().decode().splitlines()
                     if not line.startswith("typedef ")]
        self.assertEqual(len(functions), len(_structs.declared.functions))
        source.write_text("#include <medley/medley.h>\n" + "\n".join(functions) + "\n")
        subprocess.run([os.environ.get("CC", "cc"), f"-I{INCLUDE}", "-fsyntax-only", str(source)],
                       check=True)


class Parsing(unittest.TestCase):
    def test_types(self):
        found = _structs.Declarations(
            "typedef enum medley_kind { MEDLEY_A, MEDLEY_B = 5, MEDLEY_C } medley_kind;\n"
            "typedef struct medley_thing medley_thing;\n"
            "typedef struct medley_some_pair { size_t struct_size; const char *a, *b; double x[3]; "
            "const medley_thing *thing; int (*f)(void *context, const char *const *names); "
            "medley_kind kind; } medley_some_pair;\n"
            "typedef bool (*medley_taker)(void *context, medley_thing *thing);\n"
            "const char *const *medley_names(void);\n"
            "void medley_take(medley_taker take, medley_thing **thing, const medley_some_pair *pair, "
            "unsigned long long seed);\n")
        self.assertEqual(found.constants, {"A": 0, "B": 5, "C": 6})
        pair = found.structs["medley_some_pair"]
        self.assertEqual(pair.__name__, "SomePair")
        self.assertEqual(pair().struct_size, ctypes.sizeof(pair))
        fields = dict(pair._fields_)
        self.assertEqual(list(fields), ["struct_size", "a", "b", "x", "thing", "f", "kind"])
        self.assertIs(fields["b"], ctypes.c_char_p)
        self.assertIs(fields["x"], ctypes.c_double * 3)
        self.assertIs(fields["thing"], ctypes.c_void_p)
        self.assertIs(fields["kind"], ctypes.c_int)
        names = ctypes.POINTER(ctypes.c_char_p)
        self.assertEqual(fields["f"]._argtypes_, (ctypes.c_void_p, names))
        self.assertEqual(found.functions["medley_names"], (names, []))
        self.assertEqual(found.functions["medley_take"],
                         (None, [found.callbacks["medley_taker"], ctypes.POINTER(ctypes.c_void_p),
                                 ctypes.POINTER(pair), ctypes.c_ulonglong]))

    def test_what_is_not_understood_is_named(self):
        with self.assertRaisesRegex(ImportError, "quaternion"):
            _structs.Declarations("quaternion medley_turn(void);")


if __name__ == "__main__":
    unittest.main()
