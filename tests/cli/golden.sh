#!/usr/bin/env bash
# Objectives and predictions of some forty runs are those of golden.txt, which holds on every machine.
# After a change that is meant to change them: scripts/golden --record build tests/cli/golden.txt
source "$(dirname "$0")/lib.sh"
here=$(dirname "$(realpath "$0")")

expect_exit 0 "golden results" "$here/../../scripts/golden" --check "$MEDLEY_BUILD" "$here/golden.txt"
while read -r name found; do
    check "golden: $name is $found" test "$found" = "the same"
done <"$out"
check "golden: every recorded run was looked at" test "$(wc -l <"$out")" -eq "$(wc -l <"$here/golden.txt")"
