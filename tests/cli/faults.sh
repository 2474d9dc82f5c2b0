#!/usr/bin/env bash
# A sample of scripts/faults, always the same one: calls of every command fail, and it says so, leaks
# nothing, leaves files as they were. make faults tries all of them.
source "$(dirname "$0")/lib.sh"
root=$(dirname "$(realpath "$0")")/../..
if [ ! -x "$MEDLEY_BUILD/faults/driver" ]; then
    skip "faults" "calls are made to fail on Linux and x86-64 only"
    exit 0
fi
sample=2
[[ $MEDLEY_BUILD != *asan* ]] || sample=1 # looking for leaks takes its time
faults() { # faults NAME OPTIONS...
    local name=$1
    shift
    expect_exit 0 "$name" "$root/scripts/faults" "$MEDLEY_BUILD" --jobs 2 "$@" ||
        grep -A 12 '^not ok' "$out" | sed 's/^/    | /' | head -n 60
}
faults "a sample of faults" --sample $sample
check "of more than a thousand runs" test "$(sed -nE 's/.* ([0-9]+) runs, .*/\1/p' "$out")" -gt 1000
[[ $MEDLEY_BUILD != *asan* ]] || exit 0
# All faults of some commands that were wanting: they chose another method, called files bad that could not
# be read, left something out of tables and reports, or did not name the file.
faults "all faults of some commands" \
    --only kernel,generate-gzip,spicy-logistic,spom-views,spom-report,chunk-checkpoint,chunk-resume,report-rows,path-online
