#!/usr/bin/env bash
# The BLAS in use has a name, and one that is slow is told of.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
readonly warning='^medley [a-z]+: slow: .*apt-get install libopenblas-dev'

expect_exit 0 "medley --version" "$MEDLEY" --version
check "the first line is the version alone" grep -Eqx 'medley [0-9.]+' <(head -n 1 "$out")
expect_text "the second names the BLAS" '^BLAS: (OpenBLAS [0-9.]+ \(.+\)|MKL|BLIS|ATLAS|reference|unknown)$' "$out"
name=$(sed -n 's/^BLAS: //p' "$out")
"$MEDLEY" generate waveform --rows 60 --output wave.csv
expect_exit 0 "train tells it in JSON" "$MEDLEY" train --model m.medley --epochs 2 --json wave.csv
check "the same" test "$(key blas "$out")" = "$name"
[ "$name" = reference ] || refute_text "there is nothing to warn of" "$warning" "$err"
expect_exit 0 "and eval" "$MEDLEY" eval --model m.medley --json wave.csv
check "the same again" test "$(key blas "$out")" = "$name"

# ---- the reference in place of it ----
reference=$(find /usr/lib/*/blas/libblas.so.3 2>/dev/null | head -n 1)
if [ -z "$reference" ]; then
    skip "the warning of a slow BLAS" "the reference BLAS (Debian's libblas3) is not here"
    exit 0
fi
slow() { # medley with the reference; the sanitizer would rather come first
    LD_PRELOAD=$reference ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0 "$MEDLEY" "$@"
}
expect_exit 0 "the loader chooses the BLAS" slow --version
expect_text "the reference is known" '^BLAS: reference$' "$out"
while read -r arguments; do
    # shellcheck disable=SC2086
    expect_exit 0 "medley $arguments" slow $arguments
    check "medley ${arguments%% *} warns once" test "$(grep -Ec "$warning" "$err")" -eq 1
done <<'COMMANDS'
train --model m.medley --epochs 2 wave.csv
tune --epochs 2 --C 1,10 wave.csv
path --epochs 2 --count 2 wave.csv
predict --model m.medley wave.csv
eval --model m.medley wave.csv
report --output r.html m.medley wave.csv
kernel --output k.npy wave.csv
COMMANDS
expect_exit 0 "train --quiet" slow train --model m.medley --epochs 2 --quiet wave.csv
check "says nothing of it" test ! -s "$err"
expect_exit 0 "inspect computes nothing" slow inspect m.medley
check "and does not warn" test ! -s "$err"
