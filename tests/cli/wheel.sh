#!/usr/bin/env bash
# The wheel of `make wheel`: what is inside, twice the same bytes, and an environment that has nothing else to load. The
# library is that of the build, with all that it needs, so that nothing is compiled here. (scripts/check-wheel: on a bare machine.)
source "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-/usr/bin/python3}
if [[ $MEDLEY_BUILD == *asan* ]]; then
    skip "the wheel" "Python is not built with sanitizers"
    exit 0
elif ! command -v patchelf >/dev/null 2>&1; then
    skip "the wheel" "there is no patchelf; scripts/deps wheel installs it"
    exit 0
elif ! "$python" -c 'import ensurepip, setuptools, wheel, pip, numpy, scipy, sklearn' 2>/dev/null; then
    skip "the wheel" "$python lacks something; scripts/deps python installs what is needed"
    exit 0
elif [ ! -d /usr/share/doc/zlib1g ]; then
    skip "the wheel" "licences of libraries are taken from Debian's /usr/share/doc"
    exit 0
fi
unset PYTHONPATH MEDLEY_LIBRARY LD_LIBRARY_PATH
export MEDLEY_BUILT_LIBRARY=$MEDLEY_BUILD/libmedley.so SOURCE_DATE_EPOCH=1700000000 PYTHONDONTWRITEBYTECODE=1
cd "$work" || exit 1
expect_exit 0 "a wheel is made" "$python" "$root/scripts/make-wheel" first || exit
wheel=$(cat "$out")
expect_text "its name tells the oldest glibc" \
    '^first/medley-[0-9.]+-py3-none-manylinux_2_[0-9]+_[a-z0-9_]+\.whl$' "$out"
check "made again it has the same bytes" sh -c \
    "'$python' '$root/scripts/make-wheel' second && cmp first/*.whl second/*.whl && cmp first/*.tar.gz second/*.tar.gz"

# ---- sources ----
tar tzf first/*.tar.gz | sed 's|^[^/]*/||' | sort >packed
(cd "$root" && find src include cmake python/medley python/tutorial.py tests/python -type f -not -name '*.pyc' -not -name '.*' \
    -not -path '*/__pycache__/*' -not -name '*.so' && printf '%s\n' CMakeLists.txt LICENSE README.md pyproject.toml setup.py) |
    sort >wanted
check "the sdist has everything that the package is built from" test -z "$(comm -13 packed wanted | tee missing)"
[ ! -s missing ] || show missing "not packed"

# ---- inside ----
"$python" -m zipfile -e "$wheel" tree
expect_text "the tag inside is that of the name" "^Tag: $(basename "$wheel" .whl | cut -d- -f3-)$" tree/medley-*.dist-info/WHEEL
check "no plug-in for MPI is inside" test -z "$(find tree -name 'libmedley-*')"
check "the BLAS is inside, with a name of its own" compgen -G 'tree/medley.libs/lib*blas*-????????.so*'
check "licences go with what is inside" sh -c \
    'grep -qi bsd tree/*.dist-info/licenses/*blas*/copyright && grep -q "GCC RUNTIME LIBRARY EXCEPTION" tree/*.dist-info/licenses/libgfortran*/copyright'
for file in tree/medley/libmedley.so tree/medley.libs/*; do
    readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
done | sort -u | grep -Ev '^(ld-linux.*|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so\.[0-9]+)$' >needed
check "all that is needed is inside" test -z "$(comm -13 <(ls tree/medley.libs | sort) needed)"
newest=$(for file in tree/medley/libmedley.so tree/medley.libs/*; do objdump -T "$file"; done |
    sed -n 's/.*\*UND\*.*GLIBC_2\.\([0-9]*\).*/\1/p' | sort -n | tail -n 1)
check "the tag is true to the symbols" grep -q "manylinux_2_${newest}_" <<<"$wheel"

# ---- installed ----
"$python" -m venv --system-site-packages venv
check "pip accepts the wheel and what it says of its files" \
    venv/bin/python3 -m pip install --quiet --no-index --no-deps --disable-pip-version-check "$wheel"
cat >try.py <<'PY'
import sys
import medley

def loaded(name):
    return {line.split()[-1] for line in open("/proc/self/maps") if name in line}

assert loaded("libmedley.so") and all(sys.prefix in file for file in loaded("libmedley.so"))
assert loaded("blas") and all("/medley.libs/" in file for file in loaded("blas")), loaded("blas")
X, y = medley.generate("waveform", rows=300, seed=1)
model = medley.MKLClassifier(n_jobs=2).fit(X, y)  # beside NumPy's BLAS, whatever it is
assert model.score(X, y) > 0.85
print(medley.blas())
PY
expect_exit 0 "the package works, with the library and the BLAS inside it" venv/bin/python3 try.py
expect_text "the BLAS is told" . "$out"
expect_exit 0 "also where NumPy comes first" venv/bin/python3 -c '
import numpy, medley
a = numpy.ones((200, 200)) @ numpy.ones((200, 200))
X, y = medley.generate("waveform", rows=100, seed=1)
medley.MKLClassifier().fit(X, y)
assert (numpy.ones((200, 200)) @ numpy.ones((200, 200)) == a).all()'
