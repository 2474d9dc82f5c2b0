#!/usr/bin/env bash
# How long a proof takes: method frank-wolfe (log losses: fista, too) to a relative gap of 0.01 on the data of the other benchmarks,
# beside the usual online run on the same blocks, whose own gap is told by --certify. Handwritten words (fold 0,
# kernels L, Q and G, p = 1.25, C = 10) as a support vector machine and as a conditional random field, chunks of
# CoNLL-2000 (l2, C = 1), MNIST (10,000 rows, 12 kernels), and MNIST made hard (hard_images.py), so that half of the rows become support
# vectors. Seconds of training, epochs, steps, support rows, gap, and the ratio to the online run. Data sets that are
# not in MEDLEY_DATA are skipped.
#
#     bench/optimum.sh [words|chunks|mnist|hard ...]
set -euo pipefail
: "${MEDLEY:=build/medley}"
MEDLEY=$(realpath "$MEDLEY")
here=$(dirname "$(realpath "$0")")
data=${MEDLEY_DATA:-$here/../../shared/data}
[ ! -d "$data" ] || data=$(realpath "$data")
[ $# -gt 0 ] || set -- words chunks mnist hard
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export LC_ALL=C

# key NAME: a number of run.json that is not one of its epochs; nothing: it has none
key() { sed -E 's/"epochs":\[[^]]*\]//' run.json | grep -oE "\"$1\":-?[0-9.e+-]+" | head -n 1 | cut -d: -f 2; }

# row NAME OPTIONS...: trains, sets $seconds, prints a row
row() {
    local name=$1
    shift
    "$MEDLEY" train --model model.medley --json --quiet "$@" >run.json
    seconds=$(key train)
    printf '%-44s %8.2f %7d %9d %8s %10.6g %8.3f\n' "$name" "$seconds" "$(grep -o '"updates"' run.json | wc -l)" \
        "$(grep -oE '"updates":[0-9]+' run.json | awk -F: '{ n += $2 } END { print n + 0 }')" \
        "$("$MEDLEY" inspect model.medley | sed -nE 's/.* ([0-9]+) support rows.*/\1/p')" "$(key objective)" "$(awk -v g="$(key gap)" 'BEGIN { print 100 * g }')"
}
# pair NAME "ONLINE OPTIONS" "OPTIONS OF THE OPTIMUM" COMMON...
pair() {
    local name=$1 online=$2 optimum=$3 first
    shift 3
    # shellcheck disable=SC2086 # words
    row "$name, online" $online --certify "$@"
    first=$seconds
    # shellcheck disable=SC2086
    row "$name, frank-wolfe" --method frank-wolfe $optimum "$@"
    awk -v a="$seconds" -v b="$first" 'BEGIN { printf "%-44s %8.1f times\n", "", a / b }'
}

printf '%-44s %8s %7s %9s %8s %10s %8s\n' "" seconds epochs steps support objective "gap %"
for what; do
    case $what in
        words) file=$data/ocr/letter.data.gz ;;
        chunks) file=$data/conll2000/train.txt.gz ;;
        mnist | hard) file=$data/mnist/train-images-idx3-ubyte.gz ;;
        *)
            echo "optimum: there is no $what; choose words, chunks, mnist or hard" >&2
            exit 2
            ;;
    esac
    if [ ! -r "$file" ]; then
        echo "skipped: no data file $file; put it there, or name the data folder in MEDLEY_DATA"
        continue
    fi
    case $what in
        words)
            common=(--task chain --C 10 --folds 0 --kernel 'linear(norm=diag)' --kernel 'poly(degree=2,norm=diag)'
                --kernel 'rbf(sigma2=5)' "$file")
            pair "words, SVM" "--method spom --eta0 1 --epochs 20" "--p 1.25" "${common[@]}"
            pair "words, CRF" "--method spom --eta0 1 --epochs 20 --loss logistic" "--p 1.25 --loss logistic" "${common[@]}"
            row "words, CRF, fista" --method fista --penalty 'squared-block(q=1.25)' --bigram learned "${common[@]}"
            ;;
        chunks)
            pair "chunks, CRF" "--method spom" "" --template chunk --loss logistic --penalty l2 --C 1 "$file"
            row "chunks, CRF, fista, 100 epochs" --method fista --epochs 100 --template chunk --penalty l2 --C 1 "$file"
            ;;
        mnist | hard)
            name="MNIST, 10,000 rows"
            if [ "$what" = hard ]; then
                name="the same, made hard"
                if ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
                    echo "skipped: $name: /usr/bin/python3 has no numpy"
                    continue
                fi
                /usr/bin/python3 "$here/hard_images.py" "$file" "${file/images-idx3/labels-idx1}" 10000 0.2 hard
                file=hard-images-idx3-ubyte.gz
            fi
            pair "$name" "--method obscure" "" --views grid:2x2 --scale minmax --sample 10000 \
                --kernel 'linear(norm=diag)' --kernel 'poly(degree=3,norm=diag)' --kernel 'rbf(sigma2=2.8)' "$file"
            ;;
    esac
done
