#!/usr/bin/env bash
# Kernels chosen by leave-one-out errors (--preselect): which stay, what is said, bad use.
source "$(dirname "$0")/lib.sh"
export LC_ALL=C
cd "$work" || exit 1

"$MEDLEY" generate waveform --rows 150 --seed 3 --to csv --output w.csv --quiet
"$MEDLEY" generate waveform --rows 1100 --seed 4 --to csv --output many.csv --quiet
# columns of two views: the second is noise
awk -F, 'BEGIN { srand(1) } NR == 1 { print "a,b,c,label" } NR > 1 { print rand() "," rand() "," rand() "," $NF }' w.csv >noise.csv
views=(--view wave=w.csv --view noise=noise.csv)
kernels=(--kernel 'rbf(sigma2={0.001,20})' --kernel 'linear' --kernel bias)

train() { expect_exit 0 "$1" "$MEDLEY" train --model m.medley "${@:2}"; }
kept() { grep -oE '"kernel":"[^"]*","error":[^,]*,"kept":true' "$1" | cut -d'"' -f 4; }
error_of() { grep -oE "\"kernel\":\"$1\",\"error\":[^,]*" "$2" | cut -d: -f 3; }

train "the best two" --json --preselect 2 "${views[@]}" "${kernels[@]}"
kept "$out" >names.txt
check "the best two: and what is constant" test "$(wc -l <names.txt)" -eq 3
check "the best two: of what tells something" test "$(grep -c @wave names.txt)" -eq 2
expect_text "the best two: rows are told" '"preselection":\{"rows":150' "$out"
check "a kernel that remembers rows is worse" above "$(error_of 'rbf\(sigma2=0.001\)@wave' "$out")" "$(error_of 'rbf\(sigma2=20\)@wave' "$out")"
expect_exit 0 "the best two: predicts" "$MEDLEY" predict --model m.medley "${views[@]}"
train "one of every view" --preselect view "${views[@]}" "${kernels[@]}"
expect_text "one of every view: is said" '^3 of 7 kernels kept, by leave-one-out error on 150 rows:$' "$out"
expect_text "one of every view: with errors" '^ +[0-9.]+ %  .*@noise$' "$out"
expect_text "one of every view: constants stay" '^  a constant  bias$' "$out"
train "more than there are" --preselect 99 w.csv
expect_text "more than there are: all stay" '^4 of 4 kernels kept' "$out"

# centring a kernel, or keeping it as weights, changes nothing; nor do threads
for kind in '' '(norm=center)' '(explicit)'; do
    train "linear$kind" --json --method spom --epochs 1 --preselect 1 --kernel "linear$kind" --kernel 'rbf(sigma2=0.001)' w.csv
    kept "$out" >names.txt
    check "linear$kind: is chosen" grep -q '^linear' names.txt
    grep -oE '"kernel":"linear[^}]*' "$out" | grep -oE '"error":[0-9.e-]+' >>errors.txt
done
check "all have one error" test "$(sort -u errors.txt | wc -l)" -eq 1
train "a sample" --json --method obscure --epochs2 1 --preselect 1 --threads 1 many.csv
expect_text "a sample: its size is said" '"preselection":\{"rows":1000' "$out"
cp m.medley one.medley
train "a sample, threads" --json --method obscure --epochs2 1 --preselect 1 --threads 2 many.csv
check "a sample: the same model with two threads" cmp -s one.medley m.medley

# ready-made values, numbers, tuning
"$MEDLEY" kernel --kernel 'rbf(sigma2={0.001,20})' --output K.npy --quiet w.csv
tail -n +2 w.csv | sed 's/.*,//' >labels.lst
train "ready-made values" --json --preselect 1 --gram K.npy --labels labels.lst
check "ready-made values: the same is chosen" test "$(kept "$out")" = gram2
train "one of every file" --json --preselect view --gram one=K.npy --gram two=K.npy --labels labels.lst
check "one of every file: its best" test "$(kept "$out" | tr '\n' ' ')" = 'one2 two2 '
train "numbers" --json --task regression --preselect 1 --kernel 'rbf(sigma2={0.001,20})' w.csv
check "numbers: the same is chosen" test "$(kept "$out")" = 'rbf(sigma2=20)@all'
expect_exit 0 "tuning" "$MEDLEY" tune --preselect 1,3 --C 1,10 --cv 3 --quiet --output t.medley "${kernels[@]}" w.csv

# ---- bad use ----
refuse() { # refuse TEXT OPTIONS...
    expect_exit 2 "refuses ${*:2}" "$MEDLEY" train --model bad.medley --quiet "${@:2}"
    expect_text "refuses ${*:2}: says why" "$1" "$err"
    check "refuses ${*:2}: one line, no model" test "$(wc -l <"$err")$(ls bad.medley 2>/dev/null)" = 1
}
for value in 0 -1 1.5 nan each; do
    refuse "preselect=.$value. is neither a number of kernels nor view" --preselect $value w.csv
done
head -n 3 w.csv >two.csv
refuse 'needs 3, here are 2' --preselect 1 two.csv
tagged 1 20 >t.txt
refuse 'templates only' --template chunk --preselect 1 t.txt
expect_exit 2 "refuses it where kernels are only written" "$MEDLEY" kernel --preselect 1 --output K2.npy w.csv
