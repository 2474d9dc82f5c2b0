#!/usr/bin/env bash
# Seconds of training with 1, 2, 4 ... threads up to the number of processors, the best of some runs, how
# many times faster that is than one thread, and the share of the work that is serial as two threads
# show it (Amdahl: s = 2 T2 / T1 - 1) and as all of them do. Four runs: MNIST 10,000 rows by method
# obscure, CoNLL-2000 with templates under the log loss, EWT trees (two epochs), and method spicy with
# 3,000 kernels on 1,000 generated rows. Models must be the same bytes for any number of threads: that
# is checked. One line of JSON for each run. Data that are not in MEDLEY_DATA are left out.
#
#     bench/threads.sh [NAME...]          mnist conll trees spicy; default: all of them
#
# MEDLEY_RUNS: runs of each (2); MEDLEY_THREADS: numbers of threads, in place of 1 2 4 ...
set -euo pipefail
: "${MEDLEY:=build/medley}"
MEDLEY=$(realpath "$MEDLEY")
data=$(realpath -m "${MEDLEY_DATA:-$(dirname "$(realpath "$0")")/../../shared/data}")
runs=${MEDLEY_RUNS:-2}
most=$(nproc)
counts=${MEDLEY_THREADS:-}
for ((t = 1; t < most; t *= 2)); do [ -n "${MEDLEY_THREADS:-}" ] || counts+=" $t"; done
[ -n "${MEDLEY_THREADS:-}" ] || counts+=" $most"
names=("$@")
[ $# -gt 0 ] || names=(mnist conll trees spicy)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
json=()

# key NAME FILE: a number in a JSON object, not one of its epochs
key() { sed -E "s/\"epochs\":\[[^]]*\]//; s/.*\"$1\":([^,}]*).*/\1/" "$2"; }

# arguments NAME: of the run, into `options`; false: its data are not here
arguments() {
    local file
    case $1 in
        mnist)
            file=$data/mnist/train-images-idx3-ubyte.gz
            options=(--method obscure --p 1.05 --C 100 --views grid:2x2 --kernel linear
                --kernel 'poly(degree=2)' --kernel 'rbf(auto)' --sample 10000)
            ;;
        conll)
            file=$data/conll2000/train.txt.gz
            options=(--template chunk --loss logistic)
            ;;
        trees)
            file=$data/ud-english-ewt/en_ewt-ud-train.conllu.gz
            options=(--epochs 2)
            ;;
        spicy)
            file=$work/spicy.csv
            "$MEDLEY" generate ringnorm --rows 1000 --output "$file" --to csv --quiet
            options=(--method spicy --views random:3000 --kernel 'rbf(auto)')
            ;;
        *)
            echo "unknown run $1; known: mnist conll trees spicy" >&2
            exit 2
            ;;
    esac
    options+=("$file")
    [ -r "$file" ]
}

printf '%-8s %8s %10s %10s %8s %10s\n' run threads seconds training times serial
for name in "${names[@]}"; do
    if ! arguments "$name"; then
        echo "skipped: no data for $name in $data"
        continue
    fi
    first=
    for threads in $counts; do
        best=1e9
        for ((r = 0; r < runs; r++)); do
            begin=$EPOCHREALTIME
            "$MEDLEY" train --model "$name.$threads" --threads "$threads" --quiet --json \
                "${options[@]}" >run.json
            wall=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.3f", b - a }')
            if awk -v a="$wall" -v b="$best" 'BEGIN { exit !(a < b) }'; then
                best=$wall
                mv run.json best.json
            fi
        done
        [ -n "$first" ] || first=$best
        alike=true
        cmp -s "$name.1" "$name.$threads" || [ ! -e "$name.1" ] || alike=false
        read -r times serial <<<"$(awk -v a="$first" -v b="$best" -v t="$threads" 'BEGIN {
            printf "%.2f %s", a / b, (t > 1 ? sprintf("%.3f", (t * b / a - 1) / (t - 1)) : "-") }')"
        printf '%-8s %8d %10.2f %10.2f %8.2f %10s%s\n' "$name" "$threads" "$best" \
            "$(key train best.json)" "$times" "$serial" "$($alike || echo '   OTHER MODEL')"
        json+=("{\"bench\":\"threads\",\"case\":\"$name\",\"threads\":$threads,\"seconds\":$best,\"train_seconds\":$(key train best.json),\"times\":$times,\"same_model\":$alike}")
    done
done
[ ${#json[@]} -eq 0 ] || printf '%s\n' "${json[@]}"
