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

# scripts/fuzz, with programs of paper in place of libFuzzer's
mkdir "$work/bin"
printf '#!/bin/sh\necho "stat::number_of_executed_units: 7"\n' >"$work/bin/good"
printf '#!/bin/sh\necho "#3 NEW"\nexit 77\n' >"$work/bin/bad"
chmod +x "$work"/bin/*
run=("$(dirname "$0")/../../scripts/fuzz" -s 1 -j 2 -o "$work/out" "$work/bin")
expect_exit 0 "a run without findings succeeds" "${run[@]}" good
expect_text "it counts executions" '^good +7 +7 fine' "$out"
expect_text "and adds them up" '^7 executions, 0 targets at fault$' "$out"
expect_exit 1 "a run with findings fails" "${run[@]}"
expect_text "it says where they are" "^bad +3 +3 FAULT, see .*/out/logs/bad" "$out"
expect_text "and keeps what was said" '#3 NEW' "$work/out/findings/bad.log"
expect_exit 2 "a target must be there" "${run[@]}" other
expect_text "or is named" "there is no target 'other'" "$err"
