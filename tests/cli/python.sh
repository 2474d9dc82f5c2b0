#!/usr/bin/env bash
# The Python package: installed as users do, then the tests of tests/python, one line each.
source "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-/usr/bin/python3}
if [[ $MEDLEY_BUILD == *asan* ]]; then
    skip "the Python package" "Python is not built with sanitizers"
    exit 0
fi
for module in ensurepip setuptools wheel numpy scipy sklearn; do
    if ! "$python" -c "import $module" 2>/dev/null; then
        skip "the Python package" "$python has no $module; scripts/deps python installs what is needed"
        exit 0
    fi
done
check "installs without network" "$root/scripts/install-python" || exit
export PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH MEDLEY_LIBRARY
cd "$work" || exit 1
"$root/build-python/venv/bin/python3" "$root/tests/python/run.py" || failures=$((failures + 1))
if git -C "$root" rev-parse --git-dir >/dev/null 2>&1; then
    check "installing leaves nothing behind that git would show" \
        test -z "$(git -C "$root" status --porcelain --untracked-files=all -- '*.egg-info' '*.so' \
        '*.whl' 'dist' '*.pyc')"
fi
