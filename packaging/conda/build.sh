#!/usr/bin/env bash
# Run by conda-build in the source tree, with PREFIX, PYTHON, CMAKE_ARGS and CPU_COUNT set.
set -euo pipefail
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
# shellcheck disable=SC2086
cmake ${CMAKE_ARGS-} -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_PREFIX_PATH="$PREFIX" -DMEDLEY_TESTS=OFF -DMEDLEY_BENCH=OFF \
    -DMEDLEY_WERROR=OFF -DMEDLEY_WITH_MPI=OFF -DMEDLEY_WITH_CLP=OFF -DMEDLEY_CUDA=OFF
cmake --build "$build" -j "${CPU_COUNT:-2}"
cmake --install "$build"
MEDLEY_BUILT_LIBRARY=$build/libmedley.so "$PYTHON" -m pip install . --no-deps --no-build-isolation --no-index
