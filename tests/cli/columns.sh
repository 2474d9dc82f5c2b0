#!/usr/bin/env bash
# Columns are found by name where both sides have names, whatever their order; a file without the
# label column loses no feature.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

columns() { # columns FROM TO NUMBERS: some columns of a CSV file, in that order
    awk -F, -v order="$3" 'BEGIN { count = split(order, place, " ") }
        { for (i = 1; i <= count; i++) printf "%s%s", $place[i], i < count ? "," : "\n" }' "$1" >"$2"
}

# Three kinds of flowers: four columns of very different size, the label has an unusual name.
awk 'BEGIN { srand(4); print "length,width,depth,weight,species"
    for (i = 0; i < 150; i++) { k = i % 3
        printf "%.3f,%.3f,%.3f,%.3f,%s\n", 5 + k + rand(), 30 - 4 * k + 4 * rand(), rand(), 100 * k + 90 * rand(),
            k == 0 ? "rose" : k == 1 ? "iris" : "lily" } }' >flowers.csv
columns flowers.csv moved.csv "4 5 2 1 3"
columns flowers.csv bare.csv "1 2 3 4"
columns flowers.csv bare-moved.csv "3 4 1 2"
columns flowers.csv short.csv "1 4 5"
awk -F, 'BEGIN { OFS = "," } { print NR == 1 ? "id" : "no " NR, $0, NR == 1 ? "note" : "x" NR }' moved.csv >more.csv
tail -n +2 flowers.csv >nameless.csv
tail -n +2 bare.csv >bare-nameless.csv
awk -F, 'BEGIN { OFS = "," } { print NR + 9, $0 }' bare-nameless.csv >numbered.csv

expect_exit 0 "a model of named columns" "$MEDLEY" train --model m.medley --quiet --scale standard flowers.csv || exit
"$MEDLEY" predict --model m.medley flowers.csv >right.txt 2>/dev/null
"$MEDLEY" predict --model m.medley --scores flowers.csv >right-scores.txt 2>/dev/null
for file in moved.csv bare.csv bare-moved.csv more.csv "nameless.csv --header no" bare-nameless.csv; do
    # shellcheck disable=SC2086
    expect_exit 0 "predict $file" "$MEDLEY" predict --model m.medley --scores $file
    check "the same scores" cmp "$out" right-scores.txt
done
"$MEDLEY" eval --model m.medley --json flowers.csv >right.json
for file in moved more; do
    expect_exit 0 "eval $file.csv" "$MEDLEY" eval --model m.medley --json "$file.csv"
    check "the same accuracy" test "$(key accuracy "$out")" = "$(key accuracy right.json)"
    expect_exit 0 "report $file.csv" "$MEDLEY" report m.medley "$file.csv" --output page.html
done
for command in predict eval; do # is the first column a number of the row, or the last one the label?
    for file in nameless numbered; do
        expect_exit 3 "$command $file.csv: columns beside those of the model, and no names" \
            "$MEDLEY" "$command" m.medley "$file.csv"
        expect_text "say what to do" "$file.csv: the file has 5 columns without names, .* 4 named ones; begin .* --header no" "$err"
    done
done
expect_exit 2 "a column of the model is to be left out" "$MEDLEY" eval m.medley flowers.csv --ignore width
expect_text "is named" "column 'width' cannot be left out: the model was trained with it" "$err"
expect_exit 0 "one that is not in the file may be" "$MEDLEY" eval m.medley flowers.csv --ignore id
expect_exit 2 "a column of the model as the label" "$MEDLEY" eval m.medley flowers.csv --label width
expect_text "is what is wrong" "column 'width' cannot be the label: the model was trained with it as a feature" "$err"
expect_exit 3 "missing columns are refused" "$MEDLEY" predict --model m.medley short.csv
expect_text "and named, with what there is" "short.csv: these columns of the training data are missing: 'width', 'depth'; .* columns are 'length', 'weight', 'species'" "$err"
expect_exit 2 "eval without the label column" "$MEDLEY" eval --model m.medley bare.csv
expect_text "names the column" "bare.csv: there are no labels to compare with: in training the column 'species' held them" "$err"
expect_exit 0 "another label column is named" "$MEDLEY" eval --model m.medley --json \
    --label kind <(sed '1s/species/kind/' moved.csv)
check "the same accuracy as well" test "$(key accuracy "$out")" = "$(key accuracy right.json)"

# ---- labels that stand for missing ones ----
for label in NA nan '?' Null; do
    sed "20s/[^,]*$/$label/" flowers.csv >unknown.csv
    expect_exit 3 "the label $label" "$MEDLEY" train --quiet --model x.medley unknown.csv
    expect_text "is a missing one" "unknown.csv:20: the label is '[$label]+' \(column 5\), which stands for a missing value" "$err"
    expect_exit 0 "which predict does not look at" "$MEDLEY" predict m.medley unknown.csv
    sed "s/iris$/\"$label\"/" flowers.csv >quoted.csv
    expect_exit 0 "in quotes it is a class" "$MEDLEY" train --quiet --model x.medley quoted.csv
    "$MEDLEY" convert --to csv quoted.csv --output written.csv >"$out" 2>"$err"
    expect_exit 0 "that is written in quotes, too" "$MEDLEY" eval --label label x.medley written.csv
done

# ---- columns of one name ----
sed '1s/weight/length/' flowers.csv >twice.csv
expect_exit 0 "two columns have one name" "$MEDLEY" train --quiet --model x.medley twice.csv
"$MEDLEY" predict --scores x.medley twice.csv >right-twice.txt
columns twice.csv twice-moved.csv "3 1 2 4 5"
expect_exit 0 "others may stand elsewhere" "$MEDLEY" predict --scores x.medley twice-moved.csv
check "for the same scores" cmp "$out" right-twice.txt
columns twice.csv once.csv "2 3 4 5"
expect_exit 3 "one of the two is missing" "$MEDLEY" predict x.medley once.csv
expect_text "and is called by its number" "missing: 'length.2'" "$err"

# ---- a number to be predicted ----
columns flowers.csv weights.csv "1 2 3 4"
expect_exit 0 "a regression" "$MEDLEY" train --model r.medley --quiet --task regression --scale standard weights.csv
"$MEDLEY" predict --model r.medley weights.csv >right-numbers.txt
columns weights.csv without.csv "3 1 2"
expect_exit 0 "without the target and in another order" "$MEDLEY" predict --model r.medley without.csv
check "the same numbers" cmp "$out" right-numbers.txt

# ---- held-out data ----
head -n 40 flowers.csv >dev.csv
columns dev.csv dev-moved.csv "4 5 2 1 3"
for file in dev dev-moved; do
    expect_exit 0 "train --dev $file.csv" "$MEDLEY" train --model d.medley --method spom --epochs 4 --json \
        --quiet --scale standard --dev "$file.csv" flowers.csv
    grep -o '"dev_accuracy":[0-9.]*' "$out" >"$file.accuracy"
    expect_exit 0 "path --dev $file.csv" "$MEDLEY" path --count 3 --json --quiet --scale standard --dev "$file.csv" flowers.csv
    grep -o '"score":[0-9.]*' "$out" >"$file.scores"
done
check "held-out accuracy is there" test -s dev.accuracy -a -s dev.scores
check "the same held-out accuracy" cmp dev.accuracy dev-moved.accuracy
check "the same along the path" cmp dev.scores dev-moved.scores

# ---- views of further files ----
columns flowers.csv a.csv "1 2 5"
columns flowers.csv b.csv "3 4 5"
columns flowers.csv b-moved.csv "5 4 3"
columns flowers.csv b-bare.csv "4 3"
expect_exit 0 "two views" "$MEDLEY" train --model v.medley --quiet --scale standard --view a=a.csv --view b=b.csv
"$MEDLEY" predict --model v.medley --scores --view a=a.csv --view b=b.csv >right-views.txt
for file in b-moved b-bare; do
    expect_exit 0 "a view from $file.csv" "$MEDLEY" predict --model v.medley --scores --view a=a.csv --view b="$file.csv"
    check "gives the same" cmp "$out" right-views.txt
done
