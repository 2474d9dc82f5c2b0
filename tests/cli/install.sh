#!/usr/bin/env bash
# What `make install` lays down works for somebody else: C programs through pkg-config and through CMake, with the
# shared library and with the static one.
source "$(dirname "$0")/lib.sh"
if [[ $MEDLEY_BUILD == *asan* ]]; then
    skip "installation" "a sanitized library is not for installing"
    exit 0
fi
root=$(realpath "$(dirname "$0")/../..")
prefix=$work/usr
check "installs" cmake --install "$MEDLEY_BUILD" --prefix "$prefix"
check "the command runs from there" "$prefix/bin/medley" --version
check "manual pages are there" test -s "$prefix/share/man/man1/medley-train.1"
for file in bash-completion/completions/medley zsh/site-functions/_medley fish/vendor_completions.d/medley.fish; do
    check "completion for ${file%%[-/]*} is there" test -s "$prefix/share/$file"
done
if grep -q '^CMAKE_BUILD_TYPE:.*=Release' "$MEDLEY_BUILD/CMakeCache.txt"; then
    check "nothing knows where it was built" bash -c '! grep -rlF -e "$1" -e "$2" "$3"' - "$root" \
        "$(realpath "$MEDLEY_BUILD")" "$prefix"
fi
if ! command -v pkg-config >/dev/null 2>&1; then
    skip "pkg-config" "it is not installed"
    exit 0
fi
cat >"$work/user.c" <<'C'
#include <medley/medley.h>
#include <stdio.h>
int main(void)
{
    medley_error error = {0};
    medley_dataset *data = NULL;
    medley_model *model = NULL;
    medley_generate_options how = MEDLEY_GENERATE_OPTIONS_INIT;
    how.rows = 100;
    if (medley_generate(&data, "waveform", &how, &error) < 0 ||
        medley_fit(&model, data, NULL, NULL, NULL, &error) < 0) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%zu labels\n", medley_model_label_count(model));
    medley_model_free(model);
    medley_dataset_free(data);
    return 0;
}
C
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name medley.pc)")
export LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# shellcheck disable=SC2046
check "a program compiles against it" "${CC:-cc}" -std=c11 -o "$work/user" "$work/user.c" \
    $(pkg-config --cflags --libs medley)
expect_exit 0 "and runs" "$work/user"
expect_text "and learns" '^3 labels$' "$out"
soversion=$(sed -n 's/.* SOVERSION \([0-9][0-9]*\).*/\1/p' "$root/CMakeLists.txt")
check "the shared library has a version in its name" test -e "$(dirname "$PKG_CONFIG_PATH")/libmedley.so.$soversion"
refute_text "a program with the shared library links nothing else" 'blas|-lz|-lsvm|-lClp' \
    <(pkg-config --libs medley)
expect_text "what the static library needs is told apart" 'blas.*-pthread' <(pkg-config --static --libs medley)
cp -r "$root/python/medley" "$work/medley"
rm -f "$work/medley/libmedley.so"
if "${PYTHON:-/usr/bin/python3}" -c 'import numpy, scipy, sklearn' 2>/dev/null; then
    expect_exit 0 "a Python package without a library inside loads the system's" env -u MEDLEY_LIBRARY \
        PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$work" "${PYTHON:-/usr/bin/python3}" -c \
        'import medley; print(medley._structs.lib._name)'
    expect_text "by the version in its name" "^libmedley\.so\.$soversion$" "$out"
else
    skip "a Python package without a library inside" "there is no Python with NumPy, SciPy and scikit-learn"
fi

# ---- libraries that lie in lib/x86_64-linux-gnu ----
check "a build for such a place is configured" cmake -S "$root" -B "$work/multiarch/build" \
    -DCMAKE_INSTALL_LIBDIR=lib/a-triplet -DMEDLEY_TESTS=OFF -DMEDLEY_BENCH=OFF
expect_text "warnings are no errors there" '^MEDLEY_WERROR:BOOL=OFF' "$work/multiarch/build/CMakeCache.txt"
expect_text "they are for make test" 'MEDLEY_WERROR="ON"' <(cmake -S "$root" --preset check -N -B "$work/none" 2>&1)
mkdir -p "$work/multiarch/usr/lib/a-triplet/pkgconfig"
cp "$work"/multiarch/build/*.pc "$work/multiarch/usr/lib/a-triplet/pkgconfig/"
place() { # place VARIABLE: a folder that pkg-config's file names there
    realpath -m "$(PKG_CONFIG_PATH=$work/multiarch/usr/lib/a-triplet/pkgconfig pkg-config --variable="$1" medley)"
}
check "pkg-config finds the headers" test "$(place includedir)" = "$(realpath "$work/multiarch/usr")/include"
check "and the library" test "$(place libdir)" = "$(realpath "$work/multiarch/usr")/lib/a-triplet"

# ---- shared and static ----
examples=$root/examples
rows=$examples/rows.c
uses() { # uses yes|no PROGRAM: does it load the shared library?
    if ldd "$2" | grep -q 'libmedley\.so'; then test "$1" = yes; else test "$1" = no; fi
}
# shellcheck disable=SC2046
check "an example compiles against the static library" "${CC:-cc}" -std=c11 -o "$work/rows_static" "$rows" \
    $(pkg-config --cflags --libs medley-static)
check "a program of pkg-config's medley loads the shared library" uses yes "$work/user"
check "one of medley-static does not" uses no "$work/rows_static"
cd "$work" || exit 1
expect_exit 0 "it runs without it" env -u LD_LIBRARY_PATH "$work/rows_static"
expect_text "and measures" '^accuracy 0\.[89]' "$out"
mkdir -p "$work/project"
cat >"$work/project/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.21)
project(user LANGUAGES C)
find_package(medley 0.1 REQUIRED)
add_executable(rows $rows)
target_link_libraries(rows PRIVATE medley::medley)
add_executable(rows_static $rows)
target_link_libraries(rows_static PRIVATE medley::medley_static)
CMAKE
check "a project finds the CMake package" cmake -S "$work/project" -B "$work/project/build" \
    -DCMAKE_PREFIX_PATH="$prefix"
check "and builds with both libraries" cmake --build "$work/project/build"
check "medley::medley is the shared library" uses yes "$work/project/build/rows"
check "medley::medley_static is not" uses no "$work/project/build/rows_static"
expect_exit 0 "a program of a CMake project runs" env -u LD_LIBRARY_PATH "$work/project/build/rows"
expect_exit 0 "so does one with the static library" env -u LD_LIBRARY_PATH "$work/project/build/rows_static"
for component in shared static; do
    mkdir "$work/$component"
    cat >"$work/$component/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.21)
project(user LANGUAGES C)
find_package(medley REQUIRED COMPONENTS $component)
foreach(target medley::medley medley::medley_static ZLIB::ZLIB)
  if(TARGET \${target})
    message("has \${target}")
  endif()
endforeach()
if(TARGET medley::medley_static)
  get_target_property(needs medley::medley_static INTERFACE_LINK_LIBRARIES)
  message("needs \${needs}")
endif()
CMAKE
done
expect_exit 0 "the component shared alone" cmake -S "$work/shared" -B "$work/shared/build" -DCMAKE_PREFIX_PATH="$prefix"
expect_text "is the shared library" '^has medley::medley$' "$err"
refute_text "and looks for nothing else" '^has (ZLIB|medley::medley_static)' "$err"
expect_exit 0 "the component static alone" cmake -S "$work/static" -B "$work/static/build" -DCMAKE_PREFIX_PATH="$prefix"
expect_text "is the static library" '^has medley::medley_static$' "$err"
refute_text "which needs no file of the machine that built it" '^needs .*[;:>]/' "$err"
sed -i 's/COMPONENTS .*/COMPONENTS gpu)/' "$work/static/CMakeLists.txt"
expect_exit 1 "a component that there is not" cmake -S "$work/static" -B "$work/static/build" \
    -DCMAKE_PREFIX_PATH="$prefix"

# ---- cards ----
plugins=$(dirname "$PKG_CONFIG_PATH")/medley
if [ -e "$MEDLEY_BUILD/libmedley-cuda.so" ]; then
    check "the plug-in for cards is installed" test -s "$plugins/libmedley-cuda.so"
fi
if [ -e "$MEDLEY_BUILD/tests/fake_card/libmedley-cuda.so" ]; then
    mkdir -p "$plugins"
    cp "$MEDLEY_BUILD/tests/fake_card/libmedley-cuda.so" "$plugins/"
    "$prefix/bin/medley" generate ringnorm --rows 60 --output ring.csv
    expect_exit 0 "the command finds a plug-in there" env -u MEDLEY_PLUGINS "$prefix/bin/medley" train \
        --device cuda --model ring.medley ring.csv
    expect_text "and says what ran on the card" '^fake card: ' "$out"
else
    skip "a plug-in for cards where libraries are installed" "the build has no tests"
fi

# ---- the examples ----
cp -r "$examples" "$work/examples"
cd "$work/examples" || exit 1
examples=0
example() { # example NAME PATTERN...: compiles without a warning, runs, and prints lines like these
    local name=$1 pattern
    shift
    examples=$((examples + 1))
    # shellcheck disable=SC2046
    check "example $name compiles" "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -o "$name" "$name.c" \
        $(pkg-config --cflags --libs medley) || return
    expect_exit 0 "example $name runs" "./$name" || return
    for pattern in "$@"; do
        expect_text "example $name prints what it should" "$pattern" "$out"
    done
    check "example $name has nothing to complain of" test ! -s "$err"
}
example rows '^kernel rbf.* weight 0\.[0-9]' '^accuracy 0\.[89]' '^row 3: label [012]$'
check "example rows leaves its model" "$prefix/bin/medley" inspect wave.medley
mkdir -p elsewhere/train.csv
expect_exit 1 "an example that cannot write its file ends well" bash -c 'cd elsewhere && ../rows'
expect_text "and says why" '^rows: .*train\.csv' "$err"
example own_kernels '^kernel 5-letters +weight (0\.[5-9]|1\.)' '^accuracy (0\.[89]|1\.0).* on 80 new texts$'
example sequences '^training [0-9]+ of [0-9]+: .*held-out accuracy 0\.' '^good enough after [0-9]+ ' \
    '^[^ ]+.[A-Z]+.B-NP$'
example pieces '^ 300 rows seen, .*accuracy 0\.[78]' '^1800 rows seen, .*accuracy 0\.8' '^saved in '
example choose '^penalty .* \(best\)$' '^lambda .* kernels, accuracy 0\.' '^everything .* choose.html$'
check "example choose leaves its report" grep -q '</html>' choose.html
example segments '^40 signals: 9[0-9]\.. % of the candidates right, [4-9]'
example ranks '^1 ranks: accuracy 0\.8'
mpirun=$(command -v mpirun.openmpi)
if [ -n "$mpirun" ] && [ -e "$MEDLEY_BUILD/libmedley-mpi.so" ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    expect_exit 0 "the library finds the installed plug-in for MPI" timeout 100 "$mpirun" -n 2 ./ranks
    expect_text "and two ranks learn together" '^2 ranks: accuracy 0\.8' "$out"
    expect_exit 0 "so does the command" timeout 100 "$mpirun" -n 2 "$prefix/bin/medley" eval --model wave.medley train.csv
    refute_text "the plug-in is not among the libraries to link with" 'mpi' <(ls "$(dirname "$PKG_CONFIG_PATH")")
else
    skip "the installed plug-in for MPI" "there is no mpirun of Open MPI, or no plug-in for it"
fi
example matching '^60 pairs of pictures, 9[0-9]\.. % matched'
expect_exit 2 "the command refuses a model that needs a structure" "$prefix/bin/medley" inspect segments.medley
expect_text "and names it" "needs the structure 'segments'" "$err"
check "every example is tested" test "$(find . -name '*.c' | wc -l)" -eq "$examples"
check "the examples' Makefile makes them all" make --silent --always-make CC="${CC:-cc}" \
    CFLAGS='-O1 -Wall -Wextra -Werror' MAKEFLAGS=
