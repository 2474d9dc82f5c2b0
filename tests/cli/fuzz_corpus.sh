#!/usr/bin/env bash
# The inputs that fuzzing has found worth keeping, as ordinary tests: every folder of fuzz/corpus is replayed by its
# program. With the sanitizers' build these are the tests that mends of findings have.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

corpus=$(dirname "$0")/../../fuzz/corpus
programs=$MEDLEY_BUILD/fuzz/bin
for program in "$programs"/*; do
    target=$(basename "$program")
    check "fuzz target $target takes its corpus" "$program" "$corpus/$target"
done
for folder in "$corpus"/*; do
    [ -x "$programs/$(basename "$folder")" ] || failed "there is no target for $folder"
done
