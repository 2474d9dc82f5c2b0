# SPDX-License-Identifier: BSD-3-Clause
"""What _structs.py and _library.py say of the headers is what the headers say."""

import ctypes
import os
import re
import shutil
import subprocess
import unittest

from medley import _library, _structs
from support import ROOT, InFolder

INCLUDE = ROOT / "include"


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
        for struct in _structs.STRUCTS:
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
        for struct in _structs.STRUCTS:
            expected.append(f"{struct.c_name} {ctypes.sizeof(struct)}")
            for field, _ in struct._fields_:
                place = getattr(struct, field)
                expected.append(f"{struct.c_name}.{field} {place.offset} {place.size}")
        self.assertEqual(told.splitlines(), expected)

    def test_every_field_of_the_headers_is_there(self):
        text = "".join(header.read_text() for header in (INCLUDE / "medley").glob("*.h"))
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        known = {struct.c_name: [f for f, _ in struct._fields_] for struct in _structs.STRUCTS}
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
        declared = prototypes()
        self.assertGreater(len(declared), 60)
        for name, (result, arguments) in _library.SIGNATURES.items():
            self.assertIn(name, declared)
            said, count = declared[name]
            self.assertEqual(len(arguments), count, name)
            self.assertEqual(result is None, said == "void", name)
            if said == "medley_status":
                self.assertIs(arguments[-1], _library.ERROR, name)


if __name__ == "__main__":
    unittest.main()
