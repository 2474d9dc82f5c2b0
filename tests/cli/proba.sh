#!/usr/bin/env bash
# Probabilities: train --calibrate, predict --proba, eval --proba, inspect.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# number KEY FILE: a number anywhere in a JSON text
number() { grep -oE "\"$1\":[^,}]*" "$2" | head -n 1 | cut -d: -f2; }
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }

"$MEDLEY" generate waveform --rows 300 --output train.csv
"$MEDLEY" generate waveform --rows 600 --seed 2 --output new.csv
settings=(--scale standard --C 0.05 --epochs 10 --quiet)

# ---- rows ----
expect_exit 0 "trains without" "$MEDLEY" train --model plain.medley "${settings[@]}" --json train.csv || exit
expect_text "which is said" '"calibration":null' "$out"
expect_exit 0 "trains with --calibrate" "$MEDLEY" train --model m.medley "${settings[@]}" --calibrate \
    --json train.csv || exit
expect_text "the summary has the calibration" \
    '"calibration":\{"temperature":[0-9.e-]+,"offsets":\[[-0-9.e]+,[-0-9.e]+,[-0-9.e]+\]\}' "$out"
expect_exit 0 "and says so in words" "$MEDLEY" train --model m.medley "${settings[@]::6}" --calibrate train.csv
expect_text "with the temperature" '^calibrated probabilities: temperature 0\.[0-9]+, offsets -' "$out"
for model in plain m; do
    "$MEDLEY" predict --model $model.medley new.csv >$model.labels
    "$MEDLEY" predict --model $model.medley --scores new.csv >$model.scores
    expect_exit 0 "eval --proba of $model" "$MEDLEY" eval --model $model.medley --proba --json new.csv
    cp "$out" $model.json
done
check "labels stay the same" cmp plain.labels m.labels
check "scores stay the same" cmp plain.scores m.scores
check "the log loss is smaller" less "$(number log_loss m.json)" "$(number log_loss plain.json)"
check "the Brier score is smaller" less "$(number brier m.json)" "$(number brier plain.json)"
check "the calibration error is smaller" less "$(number calibration_error m.json)" \
    "$(number calibration_error plain.json)"
check "and small" less "$(number calibration_error m.json)" 0.06
check "the accuracy is the same" test "$(number accuracy m.json)" = "$(number accuracy plain.json)"

expect_exit 0 "eval --proba in words" "$MEDLEY" eval --model m.medley --proba new.csv
expect_text "has a line" '^probabilities: log loss 0\.[0-9]{4}, Brier score 0\.[0-9]{4}, calibration error 0\.[0-9]{4}$' "$out"
expect_exit 0 "eval without --proba" "$MEDLEY" eval --model m.medley --json new.csv
refute_text "says nothing of it" 'log_loss|brier|calibration_error' "$out"

expect_exit 0 "predict --proba" "$MEDLEY" predict --model m.medley --proba new.csv
check "probabilities sum to one" awk 'NR > 1 && ($2 + $3 + $4 < 0.9999 || $2 + $3 + $4 > 1.0001) { exit 1 }' "$out"
# the log loss of what is printed, with the labels of the data
tail -n +2 "$out" >p.txt
tail -n +2 new.csv | sed 's/.*,//' >y.txt
by_hand=$(paste y.txt p.txt | awk '{ sum -= log($($1 + 3)) } END { print sum / NR }')
check "eval measures what predict prints" awk -v a="$by_hand" -v b="$(number log_loss m.json)" \
    'BEGIN { d = a - b; exit !(d < 1e-4 && d > -1e-4) }'

# ---- tables into files ----
"$MEDLEY" predict --model m.medley --proba --json new.csv >p.json
expect_exit 0 "a table into a .gz file" "$MEDLEY" predict --model m.medley --proba --output p.txt.gz new.csv
check "is compressed" gzip -t p.txt.gz
check "and the same table" sh -c 'gzip -dc p.txt.gz | tail -n +2 | cmp - p.txt'
expect_exit 0 "so is JSON" "$MEDLEY" predict --model m.medley --proba --json --output p.json.gz new.csv
check "the same object" sh -c 'gzip -dc p.json.gz | cmp - p.json'
printf 'kept\n' >target.txt
ln -s target.txt link.txt
expect_exit 0 "through a link" "$MEDLEY" predict --model m.medley --scores --output link.txt new.csv
check "the link stays" test -L link.txt
check "what it leads to is replaced" sh -c "head -n 1 target.txt | grep -q '^label'"
expect_exit 1 "into no folder" "$MEDLEY" predict --model m.medley --scores --output none/p.txt new.csv
expect_text "which is told" 'none/p.txt: cannot write' "$err"
check "no temporary file is left" sh -c '! ls | grep -q tmp'

expect_exit 0 "inspect" "$MEDLEY" inspect m.medley
expect_text "tells the temperature" '^calibrated probabilities: temperature 0\.[0-9]+' "$out"
expect_exit 0 "inspect of the other" "$MEDLEY" inspect plain.medley
expect_text "tells that there is none" '^probabilities are not calibrated' "$out"
expect_exit 0 "inspect --json" "$MEDLEY" inspect --json m.medley
expect_text "has the temperature too" '"calibration":\{"temperature":' "$out"

# ---- two labels, the certified optimum ----
"$MEDLEY" generate ringnorm --rows 150 --output two.csv
"$MEDLEY" generate ringnorm --rows 400 --seed 2 --output new2.csv
for option in "" --calibrate; do
    expect_exit 0 "spicy trains $option" "$MEDLEY" train --model s.medley --quiet --json $option two.csv
    expect_text "with its certificate" '"gap":0' "$out"
    expect_exit 0 "and predicts" "$MEDLEY" eval --model s.medley --proba --json new2.csv
    cp "$out" "spicy$option.json"
done
check "two labels: the log loss is smaller" less "$(number log_loss spicy--calibrate.json)" \
    "$(number log_loss spicy.json)"

# ---- sequences ----
tagged 80 1 >train.txt
tagged 80 2 >new.txt
for option in "" --calibrate; do
    expect_exit 0 "chains train $option" "$MEDLEY" train --model c.medley --template chunk --penalty l2 \
        --C 0.01 --epochs 5 --quiet $option train.txt
    expect_exit 0 "and are measured" "$MEDLEY" eval --model c.medley --proba --json new.txt
    cp "$out" "chain$option.json"
done
check "chains: the log loss is smaller" less "$(number log_loss chain--calibrate.json)" \
    "$(number log_loss chain.json)"
expect_exit 0 "inspect of a chain" "$MEDLEY" inspect c.medley
expect_text "has no offsets" '^calibrated probabilities: temperature [0-9.]+$' "$out"

# ---- refusals ----
head -n 9 train.csv >few.csv
expect_exit 3 "too few rows" "$MEDLEY" train --model x.medley --calibrate few.csv
expect_text "are said" 'few.csv.*8 are too few for that; give at least 10 or leave out --calibrate' "$err"
expect_exit 2 "numbers" "$MEDLEY" train --model x.medley --task regression --calibrate two.csv
expect_text "have no probabilities" 'tasks binary, multiclass, chain and tree and has no place in --task regression; leave out --calibrate' "$err"
"$MEDLEY" train --model r.medley --task regression --quiet two.csv >"$out"
expect_exit 2 "eval --proba of numbers" "$MEDLEY" eval --model r.medley --proba two.csv
expect_text "is refused" 'leave out --proba' "$err"
expect_exit 0 "inspect of numbers" "$MEDLEY" inspect --json r.medley
refute_text "says nothing of probabilities" 'calibration' "$out"
check "no model is left behind" test ! -e x.medley

# ---- labels that are no line of text ----
awk 'BEGIN { srand(3); print "a,b,label"; for (i = 0; i < 40; i++)
    printf "%.3f,%.3f,\"%s\"\n", i % 2 + rand() / 2, rand(), i % 2 ? "two\nlines" : "a\ttab" }' >odd.csv
expect_exit 0 "labels with tabs and line ends" "$MEDLEY" train --model odd.medley --quiet odd.csv
for what in --quiet --proba --scores; do
    expect_exit 3 "predict $what refuses them in text" "$MEDLEY" predict --model odd.medley "$what" odd.csv
    expect_text "with the remedy" "label that begins with .* has a tab or a line end in it .*JSON" "$err"
    check "before anything is written" test ! -s "$out"
done
expect_exit 0 "JSON holds them" "$MEDLEY" predict --model odd.medley --json odd.csv
expect_text "escaped" 'two\\u000alines' "$out"
