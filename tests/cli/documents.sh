#!/usr/bin/env bash
# Every command line that the documents show is run, on small generated files (tests/documents).
source "$(dirname "$0")/lib.sh"
if [[ $MEDLEY_BUILD == *asan* ]]; then
    skip "the documents' commands" "they are run by the plain build"
    exit 0
fi
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    skip "the documents' commands" "there is no python3 of version 3.9 or later"
    exit 0
fi
here=$(dirname "$(realpath "$0")")/../documents
export PYTHONDONTWRITEBYTECODE=1

# ---- documents that are wrong are found out ----
for document in "$here"/wrong/*.md; do
    expect_exit 1 "$(sed -n 's/^# //p' "$document") is found" python3 "$here/run.py" "$document"
    expect_text "and said where" "$(basename "$document"):[0-9]+: " "$out"
done
expect_exit 0 "a document that is right is not complained of" python3 "$here/run.py" "$here/right.md"
expect_text "and all of its pieces were run" '^ok - .*right.md: 9 commands run$' "$out"

# ---- ours ----
refute_text "rbf(auto) is not said to be a median, which the code does not compute" 'median' \
    "$here/../../docs/guides/kernels-and-penalties.md"
python3 "$here/run.py" || failures=$((failures + 1))
