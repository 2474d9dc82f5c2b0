#!/usr/bin/env bash
# The two stages of method obscure: rounds of several examples, averages, held-out data and
# checkpoints look at the stage that they belong to.
source "$(dirname "$0")/lib.sh"
export LC_ALL=C
cd "$work" || exit 1

"$MEDLEY" generate waveform --rows 60 --seed 3 --to csv --output small.csv --quiet
"$MEDLEY" generate waveform --rows 300 --seed 4 --to csv --output train.csv --quiet
"$MEDLEY" generate waveform --rows 200 --seed 5 --to csv --output dev.csv --quiet
kernels=(--kernel 'rbf(sigma2=20)' --kernel 'poly(degree=2,norm=diag)')

train() { "$MEDLEY" train --method obscure --json --quiet --model m.medley "${kernels[@]}" "$@" 2>error.txt; }
# value KEY < JSON: the number of a key that occurs once, or the first
value() { grep -oE "\"$1\":[-+0-9.e]+" | head -n 1 | cut -d: -f 2; }
near() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; exit !((d < 0 ? -d : d) <= t * b) }'; }
objective() { train "$@" | value objective; }

# the optimum does not depend on how examples are put together, nor on a last round that is short
long=(--p 1.5 --C 1 --epochs2 3000 --average --average-from 0.5 small.csv)
alone=$(objective "${long[@]}")
for batch in 7 40 60 100; do
    check "rounds of $batch: the same optimum" near "$(objective --batch $batch "${long[@]}")" "$alone" 0.003
done

# iterates of the online stage, however wild, are not averaged with those of the batch stage
wild=(--eta 50 --epochs2 4 train.csv)
for first in 1 3 20; do
    last=$(objective --epochs1 $first "${wild[@]}")
    check "$first wild epochs before: the mean is not spoilt" awk -v a="$last" \
        -v b="$(objective --epochs1 $first --average "${wild[@]}")" 'BEGIN { exit !(b < 2 * a) }'
done

# lost patience in the online stage leads to the other one
train --eta 1e-6 --epochs1 20 --epochs2 10 --patience 2 --dev dev.csv train.csv >dev.json
check "patience: the second stage was there" grep -q '"radius":' dev.json
check "patience: and has learnt" awk -v a="$(value objective <dev.json)" 'BEGIN { exit !(a < 0.9) }'
epochs=$(grep -o '"dev_accuracy"' dev.json | wc -l)
check "patience: not all epochs were needed ($epochs)" test "$epochs" -lt 30

# the online stage ends early: what is resumed knows how long the run is
early=(--kernel 'rbf(sigma2=0.5)' --epochs1 100 train.csv)
train --epochs2 6 --checkpoint a.checkpoint "${early[@]}" >whole.json
cp m.medley whole.medley
check "the first stage ended early" awk -v a="$(grep -o '"dev_accuracy"' whole.json | wc -l)" \
    'BEGIN { exit !(a < 106) }'
train --epochs2 6 --checkpoint a.checkpoint --resume "${early[@]}" >again.json
check "nothing is left to do after the end" cmp -s m.medley whole.medley
train --epochs2 3 --checkpoint a.checkpoint --resume "${early[@]}" >fewer.json
check "fewer epochs than were done are refused" grep -q 'has seen' fewer.json

# where averaging begins depends on the second stage
mean=(--epochs1 3 --average --average-from 0.5 train.csv)
train --epochs2 11 --checkpoint b.checkpoint "${mean[@]}" >/dev/null
train --epochs2 12 "${mean[@]}" >/dev/null
cp m.medley whole.medley
if train --epochs2 12 --checkpoint b.checkpoint --resume "${mean[@]}" >resumed.json; then
    check "a longer run is the same as one that was never interrupted" cmp -s m.medley whole.medley
else
    check "or it is refused" grep -q 'other data or options' resumed.json
fi

# first steps of 1e21: their squares are beyond single precision, the weights are not
check "huge first steps are survived" "$MEDLEY" train --method pegasos --lambda 1e-20 --epochs 2 --kernel linear \
    --quiet --model huge.medley train.csv
