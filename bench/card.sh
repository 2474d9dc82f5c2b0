#!/usr/bin/env bash
# A card (--device cuda) beside the processors of the same machine: MNIST's 60,000 rows with 12 kernels (quarters of the
# images x linear, cubic, Gaussian) by method obscure, with a certified gap of 5 % by frank-wolfe, the same made hard
# (hard_images.py: more than half of the rows become support vectors), new rows, 200,000 rows if asked for, and method spicy on thousands of
# Gaussians on random columns. Seconds are those of the command, from file to model; in brackets reading, kernels,
# training. Skipped where there is no card. The operations alone are timed by bench_card.
#
#     bench/card.sh [mnist|certified|hard|predict|large|many|small ...]
#
# NO_CPU=1 leaves out the runs without a card, which take minutes.
set -euo pipefail
: "${MEDLEY:=build/medley}"
MEDLEY=$(realpath "$MEDLEY")
here=$(dirname "$(realpath "$0")")
data=${MEDLEY_DATA:-$here/../../shared/data}/mnist
python=${PYTHON:-/usr/bin/python3}
[ $# -gt 0 ] || set -- mnist certified hard predict many small
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$MEDLEY" generate twonorm --rows 30 --output "$work/few.csv"
if ! "$MEDLEY" train --quiet --device cuda --model "$work/few.medley" --kernel 'rbf(auto)' "$work/few.csv" 2>"$work/why"; then
    echo "skipped: $(cat "$work/why")"
    exit 0
fi
if [ -r "$data/train-images-idx3-ubyte.gz" ]; then data=$(realpath "$data"); else data=; fi
cd "$work"
kernels=(--views grid:2x2 --scale minmax --kernel 'linear(norm=diag)' --kernel 'poly(degree=3,norm=diag)'
    --kernel 'rbf(sigma2=2.8)')

# key NAME FILE: a number in a JSON object, not one of its epochs
key() { sed -E 's/"epochs":\[[^]]*\]//' "$2" | sed -nE "s/.*\"$1\":([^,}]*).*/\1/p"; }

# run WHAT DEVICE COMMAND...: a row
run() {
    local what=$1 device=$2 begin=$EPOCHREALTIME seconds
    shift 2
    "$MEDLEY" "$@" --quiet --json --device "$device" >out.json || return 0
    seconds=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }')
    awk -v what="$what" -v device="$device" -v s="$seconds" -v r="$(key read out.json)" -v k="$(key kernels out.json)" \
        -v t="$(key train out.json)" -v o="$(key objective out.json)" -v g="$(key gap out.json)" \
        -v n="$(key support_rows out.json)" -v a="$(key accuracy out.json)" -v c="$(key score out.json)" 'BEGIN {
            printf "%-34s %-5s %8.2f s", what, device, s
            if (t != "") printf "  (%.2f, %.2f, %.2f)  objective %.6f  support %s", r, k, t, o, n
            if (g != "" && g != "null") printf "  gap %.4f", g
            if (a != "") printf "  scores %.3f s  error %.2f %%", c, 100 * (1 - a)
            printf "\n" }'
    if [ "$device" = cuda ]; then
        card=$seconds
    else
        awk -v a="$seconds" -v b="$card" 'BEGIN { printf "%42s%.1f times\n", "", a / b }'
    fi
}
# both WHAT COMMAND...: with the card, and without
both() {
    local what=$1
    shift
    run "$what" cuda "$@"
    [ -n "${NO_CPU:-}" ] || run "$what" cpu "$@"
}
# digits: is MNIST there?
digits() {
    [ -z "$data" ] || return 0
    echo "skipped: $1: no MNIST; put its idx files into MEDLEY_DATA/mnist"
    return 1
}
train=$data/train-images-idx3-ubyte.gz
test=$data/t10k-images-idx3-ubyte.gz
echo "$(nproc) processors"
for what in "$@"; do
    case $what in
        mnist)
            digits "$what" || continue
            both "MNIST, 60,000 x 12" train --model m.medley --method obscure "${kernels[@]}" "$train"
            both "  its test digits" eval --model m.medley "$test"
            ;;
        certified)
            digits "$what" || continue
            both "the same, gap 5 %" train --model m.medley --method frank-wolfe --gap 0.05 "${kernels[@]}" "$train"
            ;;
        hard | predict)
            digits "$what" || continue
            if ! "$python" -c 'import numpy' 2>/dev/null; then
                echo "skipped: $what: $python has no numpy"
                continue
            fi
            [ -e hard-images-idx3-ubyte.gz ] ||
                "$python" "$here/hard_images.py" "$train" "${train/images-idx3/labels-idx1}" 60000 0.38 hard
            if [ "$what" = hard ]; then
                both "MNIST made hard" train --model h.medley --method obscure "${kernels[@]}" hard-images-idx3-ubyte.gz
            else
                [ -e h.medley ] || "$MEDLEY" train --quiet --device cuda --model h.medley --method obscure \
                    "${kernels[@]}" hard-images-idx3-ubyte.gz
                both "10,000 new rows" eval --model h.medley "$test"
            fi
            ;;
        large)
            digits "$what" || continue
            "$python" "$here/hard_images.py" "$train" "${train/images-idx3/labels-idx1}" 200000 0.3 large 0
            run "200,000 rows x 12" cuda train --model l.medley --method obscure "${kernels[@]}" large-images-idx3-ubyte.gz
            ;;
        many | small)
            rows=2000 count=5000
            [ "$what" = many ] || rows=200 count=6000
            "$MEDLEY" generate ringnorm --rows "$rows" --output "$what.csv" --to csv --quiet
            both "spicy, $rows x $count" train --model s.medley --method spicy --views "random:$count" \
                --kernel 'rbf(auto)' "$what.csv"
            ;;
        *)
            echo "unknown run $what; known: mnist certified hard predict large many small" >&2
            exit 2
            ;;
    esac
done
