#!/usr/bin/env bash
# The picture of README.md, light and dark: the report of its first example, with the same commands. Needs chromium
# (scripts/deps browser).
set -euo pipefail
here=$(dirname "$(realpath "$0")")
medley=$(realpath "${MEDLEY:-$here/../../build/medley}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export SOURCE_DATE_EPOCH=0
"$medley" generate blobs --views 12 --classes 4 --rows 2400 --seed 3 --output my.csv
tables=()
for v in $(seq 12); do tables+=(--view "v$v=my-view$v.csv"); done
"$medley" tune --quiet --model my.medley --method spicy --C 0.02,0.05,0.1,0.2,0.5,1 --choose one-error --folds 0/6 "${tables[@]}"
"$medley" report my.medley --folds 1-5/6 "${tables[@]}" --title 'Twelve tables, two of which matter' --output my.html

# picture FILE SCHEME: 0 is dark, 1 is light
picture() {
    chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --user-data-dir="$work/profile" --hide-scrollbars \
        --blink-settings=preferredColorScheme="$2" --window-size=1000,1115 --screenshot="$work/$1" "file://$work/my.html" \
        >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
    mv "$work/$1" "$here/$1"
}
picture report.png 1
picture report-dark.png 0
