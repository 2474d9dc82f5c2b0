#!/usr/bin/env bash
# Reports from the command line: of a model alone and on data, behind training, where they are
# written and what is refused. What they look like: tests/browser.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
export SOURCE_DATE_EPOCH=1000000000 # or a report differs from one of the next minute

"$MEDLEY" generate waveform --rows 200 --output train.csv
"$MEDLEY" generate waveform --rows 100 --seed 2 --output test.csv
quick=(--eta0 1 --epochs 4 --quiet)

# ---- behind training ----
expect_exit 0 "train --report" "$MEDLEY" train --model wave.medley "${quick[@]::4}" --holdout 0.3 \
    --report trained.html train.csv || exit
expect_text "it says where" 'report written to trained.html' "$out"
expect_text "the report has training against time" '>seconds<' trained.html
expect_text "and held-out rows" 'the held-out rows' trained.html
expect_exit 0 "with JSON" "$MEDLEY" train --model wave.medley "${quick[@]}" --dev test.csv --json \
    --report dev.html train.csv
check "which names the file" test "$(key report "$out")" = dev.html
expect_text "held-out accuracy of --dev" 'Held-out accuracy' dev.html
expect_text "--dev chose the epoch, and the report says so" 'These data chose the epoch' dev.html
refute_text "without an interval" '95 % confidence' dev.html
expect_text "rows that chose nothing have one" '95 % confidence' trained.html
refute_text "and nothing else is said of them" 'These data chose' trained.html
expect_exit 0 "path --report" "$MEDLEY" path --quiet --count 3 --holdout 0.3 --report path.html \
    train.csv
expect_text "held-out rows chose the penalty" 'These data chose the penalty' path.html
refute_text "without an interval" '95 % confidence' path.html
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
expect_text "rows are numbered among those that were read" 'numbered among those looked at' some.html
refute_text "no examples" 'id="examples"' few.html
expect_text "the other blocks are in the table" 'more have a weight' few.html
expect_exit 0 "to /dev/stdout" "$MEDLEY" report wave.medley --output /dev/stdout
check "nothing but the report" cmp -s "$out" wave.html
expect_text "the rest is told elsewhere" 'report written to /dev/stdout' "$err"

# ---- how it came about ----
expect_text "the command line" '<code class="command">medley train --model wave.medley .*--report trained.html train.csv</code>' \
    trained.html
expect_text "the date of SOURCE_DATE_EPOCH" 'date</th><td><bdi>2001-09-09 01:46 UTC</bdi>' trained.html
expect_text "the file of the data" 'the held-out rows of train.csv' trained.html
expect_text "the version" 'version</th><td><bdi>Medley [0-9.]+' trained.html
expect_text "words are quoted, and where it was written is left out" \
    '<code class="command">medley report wave.medley test.csv --title &#39;A &amp; B&#39; --json</code>' on.html
SOURCE_DATE_EPOCH= "$MEDLEY" report wave.medley --output now.html --quiet
expect_text "else the clock's" "date</th><td><bdi>$(date -u +%Y)-" now.html


# ---- very long names: characters stay whole ----
long=$(printf 'é%.0s' $(seq 124)).csv
for file in "$long" "x$long"; do # of which the cut would split a character, with one of the two
    cp train.csv "$file"
    "$MEDLEY" train --holdout 0.3 --epochs 1 --model long.medley --report long.html --quiet "$file"
    check "a long name is cut between characters" iconv -f UTF-8 -t UTF-8 -o /dev/null long.html
    expect_text "and as late as possible" 'the held-out rows of x?é{115,118}<' long.html
done

# ---- data that the model has seen ----
expect_exit 0 "on the training data" "$MEDLEY" report wave.medley train.csv --output known.html
expect_text "a warning" 'Warning: </strong>the model was trained on these data' known.html
refute_text "no interval" '95 % C' known.html
refute_text "on other data no warning" 'Warning' on.html
expect_text "an interval" '95 % CI: ' on.html
expect_text "and a baseline" 'majority-class baseline' on.html
expect_text "probabilities as they come are uncalibrated" 'Confidence is uncalibrated' on.html
"$MEDLEY" train --model sure.medley "${quick[@]}" --calibrate train.csv
expect_exit 0 "a calibrated model" "$MEDLEY" report sure.medley test.csv
refute_text "is not called so" 'uncalibrated' sure.html
expect_exit 0 "tune --report" "$MEDLEY" tune --quiet --cv 2 --kernel linear --C 0.1,1 --model tuned.medley \
    --report tuned.html train.csv
expect_text "begins with the tuning" '<title>Tuning of C</title>' tuned.html
check "its section is the first" test "$(grep -o '<section id="[a-z]*"' tuned.html | head -1)" = '<section id="tuning"'

cut -d, -f1-10,22 test.csv >left.csv
cut -d, -f11-22 test.csv >right.csv
"$MEDLEY" train --model views.medley "${quick[@]}" --view a=left.csv --view b=right.csv >"$out"
expect_exit 0 "several views" "$MEDLEY" report views.medley --view a=left.csv --view b=right.csv
expect_text "all of them are named" '<bdi>left.csv, right.csv</bdi>' views.html
expect_text "columns with their views" '<bdi>b</bdi>\.' views.html
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

# ---- nothing that is read may be overwritten ----
cp wave.medley m.medley
ln -s m.medley link
ln m.medley hard
for output in m.medley ./m.medley link hard; do
    expect_exit 2 "onto the model: $output" "$MEDLEY" report m.medley --output "$output"
done
expect_text "with the remedy" 'are the same file .*name two' "$err"
check "the model is as it was" cmp -s m.medley wave.medley
cp test.csv data.csv
expect_exit 2 "onto the data" "$MEDLEY" report m.medley data.csv --output data.csv
expect_exit 2 "onto a view" "$MEDLEY" report views.medley --view a=left.csv --view b=right.csv:1-11 \
    --output right.csv
expect_exit 2 "train: onto the data" "$MEDLEY" train --model new.medley "${quick[@]}" --report data.csv \
    data.csv
expect_exit 2 "train: onto --dev" "$MEDLEY" train --model new.medley "${quick[@]}" --report data.csv \
    --dev data.csv train.csv
expect_exit 2 "train: model and report" "$MEDLEY" train --model new.medley "${quick[@]}" \
    --report ./new.medley train.csv
expect_exit 2 "train: the model onto the data" "$MEDLEY" train --model data.csv "${quick[@]}" data.csv
expect_exit 2 "path: onto the data" "$MEDLEY" path --quiet --count 2 --report data.csv data.csv
check "the data are as they were" cmp -s test.csv data.csv
check "and nothing was learnt" test ! -e new.medley
for command in "train --model new.medley" path demo; do
    for output in - /dev/stdout; do
        # shellcheck disable=SC2086
        expect_exit 2 "$command --report $output" "$MEDLEY" $command --report $output \
            $([ "$command" = demo ] || echo train.csv)
    done
done
check "nothing half-written is left" sh -c '! ls | grep -q tmp'
