#!/usr/bin/env bash
# Reports from the command line: of a model alone and on data, behind training, where they are
# written and what is refused. What they look like: tests/browser.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

"$MEDLEY" generate waveform --rows 200 --output train.csv
"$MEDLEY" generate waveform --rows 100 --seed 2 --output test.csv
quick=(--eta0 1 --epochs 4 --quiet)

# ---- behind training ----
expect_exit 0 "train --report" "$MEDLEY" train --model wave.medley "${quick[@]}" --holdout 0.3 \
    --report trained.html train.csv || exit
expect_text "it says where" 'report written to trained.html' "$out"
expect_text "the report has training against time" '>seconds<' trained.html
expect_text "and held-out rows" 'the held-out rows' trained.html
expect_exit 0 "with JSON" "$MEDLEY" train --model wave.medley "${quick[@]}" --dev test.csv --json \
    --report dev.html train.csv
check "which names the file" test "$(key report "$out")" = dev.html
expect_text "held-out accuracy of --dev" 'Held-out accuracy' dev.html
expect_exit 1 "a folder that is not there" "$MEDLEY" train --model other.medley "${quick[@]}" \
    --report none/r.html train.csv
expect_text "is told before training" 'cannot write the report' "$err"
check "and no model is written" test ! -e other.medley

# ---- of a model ----
expect_exit 0 "report MODEL" "$MEDLEY" report wave.medley
check "is written beside it" test -s wave.html
expect_text "under its name" '<title>wave</title>' wave.html
expect_text "training against epochs" '>epochs<' wave.html
refute_text "and nothing of data" 'confusion-matrix' wave.html
expect_exit 0 "on data" "$MEDLEY" report wave.medley test.csv --output on.html --title 'A & B' --json
check "the size is told" test "$(key bytes "$out")" -eq "$(wc -c <on.html)"
expect_text "the title" '<title>A &amp; B</title>' on.html
expect_text "the name of the data" '<bdi>test.csv</bdi>' on.html
expect_text "the confusions" 'id="confusion-matrix"' on.html
expect_exit 0 "some of the data" "$MEDLEY" report wave.medley test.csv --folds 1-2/5 --sample 30 \
    --output some.html
expect_text "is told" 'test.csv \(folds 1-2/5, 30 drawn at random\)' some.html
"$MEDLEY" eval --model wave.medley --json test.csv >eval.json
correct=$(awk -v a="$(key accuracy eval.json)" 'BEGIN { printf "%.0f", 100 * a }')
expect_text "the number of right labels is that of eval" "$correct of 100 labels" on.html
expect_exit 0 "to standard output" "$MEDLEY" report wave.medley --output -
expect_text "the same" '<title>wave</title>' "$out"
check "the same bytes" cmp -s "$out" wave.html
expect_exit 0 "fewer of everything" "$MEDLEY" report wave.medley test.csv --examples 0 --top 1 \
    --output few.html
refute_text "no examples" 'id="examples"' few.html
expect_text "the other blocks are in the table" 'more have a weight' few.html
check "nothing is loaded from anywhere" \
    sh -c "! grep -Eiq 'https?:|src=|url\(|@import|<script|<link|<img' on.html"

# ---- refused ----
cp wave.html before.html
expect_exit 2 "no model" "$MEDLEY" report
expect_exit 1 "a model that is not there" "$MEDLEY" report none.medley
expect_exit 3 "a file that is no model" "$MEDLEY" report train.csv
expect_exit 2 "too many files" "$MEDLEY" report wave.medley test.csv train.csv
expect_exit 2 "a number that is none" "$MEDLEY" report wave.medley --top many
expect_exit 2 "data without labels" "$MEDLEY" report wave.medley test.csv --label none
expect_text "with the remedy" 'no labels to compare with' "$err"
printf 'a,b\n1,x\n' >other.csv
"$MEDLEY" report wave.medley other.csv >"$out" 2>"$err"
check "other data" test $? -ge 2
expect_exit 1 "a full disk" "$MEDLEY" report wave.medley --output /dev/full
expect_exit 1 "a folder instead of a file" "$MEDLEY" report wave.medley --output .
check "the report that was there is as it was" cmp -s before.html wave.html
check "nothing half-written is left" sh -c '! ls | grep -q tmp'
