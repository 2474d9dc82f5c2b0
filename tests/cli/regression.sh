#!/usr/bin/env bash
# Numbers in place of labels, from training to predictions.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# rows SEED COUNT: two columns and a number, a smooth function of them far from zero.
rows() {
    awk -v state="$1" -v count="$2" '
        function uniform() { state = (state * 16807) % 2147483647; return state / 2147483647 }
        BEGIN {
            print "a,b,y"
            for (i = 0; i < count; i++) {
                a = 4 * uniform() - 2
                b = 4 * uniform() - 2
                printf "%.6f,%.6f,%.6f\n", a, b, 1000 + sin(2 * a) + b / 2 + 0.1 * uniform()
            }
        }'
}
rows 1 120 >train.csv
rows 2 80 >new.csv

# ---- train and eval ----
expect_exit 0 "train learns numbers" "$MEDLEY" train --task regression --gap 1e-6 --spicy-C 0.2 \
    --model m.medley --json --quiet train.csv || exit
cp "$out" train.json
check "it is a regression" test "$(key task train.json)" = regression
expect_exit 0 "eval measures it on new rows" "$MEDLEY" eval --model m.medley --json new.csv
check "nearly all of the variance is explained" above "$(key r2 "$out")" 0.95
expect_text "eval --json has rmse" '"rmse":0\.[0-9]' "$out"
refute_text "and nothing about labels" 'accuracy|confusion|unknown_labels' "$out"
expect_exit 0 "eval prints the same" "$MEDLEY" eval --model m.medley new.csv
expect_text "in words" '^rmse 0\.[0-9]+, R2 0\.9[0-9]+ \(80 rows\)$' "$out"

# The objective is that of the saved model: half the mean squared error and lambda times the norms.
"$MEDLEY" eval --model m.medley --json train.csv >own.json
"$MEDLEY" inspect --json m.medley >model.json
norms=$(tr '{' '\n' <model.json | sed -nE 's/.*"norm":([^,]*).*/\1/p' | awk '{ s += $1 } END { print s }')
check "the objective is that of the saved model" awk -v o="$(key objective model.json)" \
    -v e="$(key rmse own.json)" -v l="$(key lambda model.json)" -v n="$norms" \
    'BEGIN { d = e * e / 2 + l * n - o; exit !(d < 1e-4 * o && d > -1e-4 * o) }'
check "it is certified" above 1e-6 "$(key gap model.json)"
check "the bias is near the mean" above "$(key bias model.json)" 990
expect_exit 0 "inspect shows it" "$MEDLEY" inspect m.medley
expect_text "as a regression" '^regression, learnt by spicy from 120 examples$' "$out"
expect_text "with its certificate" '^certified: objective .*, dual .*, gap .* %, [0-9]+ iterations' "$out"

# ---- predict ----
expect_exit 0 "predict prints one number a row" "$MEDLEY" predict --model m.medley new.csv
cp "$out" numbers.txt
check "as many numbers as rows" test "$(grep -Ec '^[0-9]+(\.[0-9]+)?$' numbers.txt)" -eq 80
cut -d, -f1,2 new.csv >bare.csv
expect_exit 0 "rows need no numbers" "$MEDLEY" predict --model m.medley --output bare.txt bare.csv
check "and get the same" cmp -s bare.txt numbers.txt
expect_exit 0 "--scores is a table of one column" "$MEDLEY" predict --scores --model m.medley new.csv
check "of the same numbers" bash -c '{ echo value; cat numbers.txt; } | cmp -s - "$0"' "$out"
expect_exit 0 "predict --json runs" "$MEDLEY" predict --json --model m.medley new.csv
expect_text "with numbers" '"predictions":\[[0-9]+\.[0-9]+,' "$out"
expect_exit 2 "there are no probabilities" "$MEDLEY" predict --proba --model m.medley new.csv
expect_text "which is said" 'regression: it predicts numbers.* leave out --proba' "$err"

# ---- what is no number ----
sed '3s/,[^,]*$/,much/' new.csv >text.csv
expect_exit 3 "eval refuses words" "$MEDLEY" eval --model m.medley text.csv
expect_text "and says where" "text\.csv.*row 2 .*'much', which is no number" "$err"
