# SPDX-License-Identifier: BSD-3-Clause
"""Builds the C library with CMake and puts it beside the Python sources.

Everything that is made on the way goes to build-python/, since build/ is CMake's: the library in
build-python/cmake, which later runs find again, unless MEDLEY_BUILT_LIBRARY names one that is there
already. CMAKE_ARGS: further options for CMake, as in "-DMEDLEY_WITH_CLP=OFF". The package holds no compiled Python module, so one wheel serves every Python 3 of a
machine.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel  # from setuptools 70 on
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

ROOT = Path(__file__).resolve().parent
SCRATCH = "build-python"


def version():
    """The version has one home: CMakeLists.txt."""
    found = re.search(r"project\(medley VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    if found is None:
        sys.exit("setup.py: CMakeLists.txt has no line 'project(medley VERSION ...'")
    return found.group(1)


def run_cmake(*arguments):
    try:
        subprocess.run(["cmake", *map(str, arguments)], check=True)
    except subprocess.CalledProcessError as problem:
        sys.exit(
            f"setup.py: cmake ended with code {problem.returncode}; the lines above tell why. "
            "Medley needs a C compiler, a CBLAS (OpenBLAS) and zlib: on Debian "
            "'apt install gcc libc6-dev libopenblas-dev zlib1g-dev'"
        )


def build_library():
    """Builds libmedley as a shared library and returns its file."""
    built = os.environ.get("MEDLEY_BUILT_LIBRARY")
    if built is not None:
        if not Path(built).is_file():
            sys.exit(f"setup.py: MEDLEY_BUILT_LIBRARY is {built}, and there is no such file")
        return Path(built).resolve()
    if shutil.which("cmake") is None:
        sys.exit(
            "setup.py: cmake was not found, and Medley's library is built with it; install it "
            "(Debian: apt install cmake) or run 'make python', which does"
        )
    folder = ROOT / SCRATCH / "cmake"
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "MEDLEY_TESTS": "OFF",
        "MEDLEY_BENCH": "OFF",
        "MEDLEY_WERROR": "OFF",
    }
    chosen = [f"-D{name}={value}" for name, value in options.items()]
    run_cmake("-S", ROOT, "-B", folder, *chosen, *shlex.split(os.environ.get("CMAKE_ARGS", "")))
    jobs = os.environ.get("JOBS") or str(os.cpu_count() or 2)
    run_cmake("--build", folder, "--target", "libmedley_shared", "medley_plugins",
              "medley_cuda_plugin", "-j", jobs)
    return (folder / "libmedley.so").resolve()


class BuildWithLibrary(build_py):
    """Copies the Python sources, then the library."""

    def run(self):
        shutil.rmtree(Path(self.build_lib) / "medley", ignore_errors=True)  # modules that are gone
        super().run()
        target = Path(self.build_lib) / "medley" / "libmedley.so"
        target.parent.mkdir(parents=True, exist_ok=True)
        library = build_library()
        shutil.copyfile(library, target)
        target.chmod(0o755)
        for plugin in library.parent.glob("libmedley-*.so"):  # which the library looks for beside it
            shutil.copyfile(plugin, target.with_name(plugin.name))


class PlatformWheel(bdist_wheel):
    """Any Python 3, this kind of machine."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class PlatformDistribution(Distribution):
    """Goes to the folder for packages that are not pure Python."""

    def has_ext_modules(self):
        return True


os.chdir(ROOT)
Path(SCRATCH).mkdir(exist_ok=True)
setup(
    version=version(),
    distclass=PlatformDistribution,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel},
    options={"build": {"build_base": SCRATCH}, "egg_info": {"egg_base": SCRATCH}},
)
