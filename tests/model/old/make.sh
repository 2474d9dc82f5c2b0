#!/usr/bin/env bash
# Writes models with a program of some version, and what it predicts with them: make.sh MEDLEY
# Files are called after the format that the program writes and the task: format7-rows.medley, format7-rows.txt.
set -euo pipefail
medley=$(realpath "$1")
cd "$(dirname "$(realpath "$0")")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
model() { # model NAME DATA OPTION...
    local name=$1 data=$2 format
    shift 2
    "$medley" train --quiet --model "$work/model" "$@" "$data" >/dev/null
    format=$(od -A n -t u8 -j 8 -N 8 "$work/model" | tr -d ' ')
    mv "$work/model" "format$format-$name.medley"
    # shellcheck disable=SC2046
    "$medley" predict --model "format$format-$name.medley" $(options "$name") "$data" >"format$format-$name.txt"
}
options() { # what is asked of predict: tests/cli/old_models.sh reads it here
    case $1 in
    rows) echo --proba ;;
    sentences) echo --best 2 ;;
    esac
}
model rows rows.csv --kernel linear --kernel 'rbf(sigma2=1)' --normalize diag --scale standard --epochs 3 --C 10 --calibrate
model numbers numbers.csv --task regression --method spicy --kernel linear --kernel 'rbf(sigma2=4)' --gap 1e-3
model sentences sentences.txt --task chain --template template.txt --epochs 3
model trees trees.conllu --task tree --template arcs.txt --hash-bits 6 --unlabelled --epochs 2
if { "$medley" train --help; "$medley" train --help=all; } 2>&1 | grep -e --prune >/dev/null; then # from format 7 on
    model pruned trees.conllu --task tree --template arcs.txt --hash-bits 6 --unlabelled --prune --epochs 2
fi
