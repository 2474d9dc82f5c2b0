#!/usr/bin/env bash
# --scale auto, the default: what it chooses, that it is told, and that every command chooses alike.
source "$(dirname "$0")/lib.sh"
export LC_ALL=C
cd "$work" || exit 1

"$MEDLEY" generate ringnorm --rows 120 --dimension 4 --noise 0.5 --output even.csv
awk -F, -v OFS=, 'NR > 1 { $2 *= 1e4; $3 = $3 / 50 + 7 } 1' even.csv >uneven.csv
awk -F, -v OFS=, 'NR > 1 { for (c = 1; c < NF; c++) if ((NR + c) % 5) $c = 0 } 1' uneven.csv |
    "$MEDLEY" convert --to svmlight --from csv --output counts.svm -
"$MEDLEY" generate handwriting --rows 30 --output letters.data --to letter

# told FILE OPTIONS...: the scale of a model of these data
told() {
    "$MEDLEY" train --quiet --json --model told.medley --epochs 1 --method spom "${@:2}" "$1" >"$out" 2>"$err"
    sed -nE 's/.*"scale":"([^"]*)".*/\1/p' "$out"
}
for case in 'standard|uneven.csv' 'center|even.csv' 'none|even.csv --kernel rbf' 'standard|uneven.csv --kernel rbf' \
    'standard|uneven.csv --views all+each' 'none|counts.svm' 'center|letters.data' 'none|letters.data --kernel rbf' 'none|uneven.csv --scale none' \
    'minmax|uneven.csv --scale minmax' 'center|uneven.csv --scale center' 'standard|uneven.csv --scale auto' \
    'all=standard, x1=minmax|uneven.csv --views all+each --kernel rbf@all --kernel rbf@x1 --scale x1=minmax'; do
    # shellcheck disable=SC2086
    check "scale of ${case#*|}: ${case%%|*}" test "$(told ${case#*|})" = "${case%%|*}"
done

# ---- where it is told ----
expect_exit 0 "train" "$MEDLEY" train --model auto.medley --report auto.html uneven.csv
expect_text "the summary tells" '^scale standard$' "$out"
expect_exit 0 "inspect" "$MEDLEY" inspect auto.medley
expect_text "so does inspect" '^scale standard$' "$out"
expect_exit 0 "inspect --json" "$MEDLEY" inspect --json auto.medley
expect_text "in JSON as well" '"scale":"standard"' "$out"
expect_text "and the report" 'scale</th><td><bdi>standard' auto.html

# ---- it is the option that it says, to the byte ----
"$MEDLEY" train --quiet --model standard.medley --scale standard uneven.csv >/dev/null
check "auto is what it says" cmp auto.medley standard.medley
for command in "tune --cv 3 --C 0.1,1 --json" "path --count 3 --json" "tune --cv 3 --C 0.1,1 --method spom --epochs 2 --json"; do
    for scale in '' '--scale standard'; do
        # shellcheck disable=SC2086
        "$MEDLEY" $command --quiet $scale uneven.csv 2>"$err" |
            sed -E 's/"(seconds|deviation_seconds|time)[a-z_]*":(\{[^}]*\}|[-+0-9.e]+)//g' >"told${scale:+1}.json"
    done
    check "$command: the same choice in every fold" cmp told.json told1.json
done
for scale in auto standard; do
    "$MEDLEY" kernel --quiet --scale $scale --kernel rbf --output $scale.npy uneven.csv
done
"$MEDLEY" kernel --quiet --kernel rbf --output usual.npy uneven.csv
check "kernel: the same values" cmp auto.npy standard.npy
check "kernel: without the option too" cmp usual.npy standard.npy

# ---- what is learnt from is what decides: not held-out rows, nor those to predict ----
awk -F, -v OFS=, 'NR > 1 { $1 *= 1e6 } 1' even.csv >far.csv
expect_exit 0 "train --dev" "$MEDLEY" train --quiet --json --model dev.medley --kernel rbf --dev far.csv even.csv
expect_text "held-out rows do not count" '"scale":"none"' "$out"
expect_exit 0 "rows of any size are predicted" "$MEDLEY" predict --model auto.medley far.csv

# ---- the order of columns does not matter ----
awk -F, -v OFS=, '{ print $3, $1, $4, $2, $5 }' uneven.csv >permuted.csv
"$MEDLEY" train --quiet --model permuted.medley permuted.csv >/dev/null
"$MEDLEY" predict --model auto.medley --output a.txt uneven.csv
"$MEDLEY" predict --model permuted.medley --output b.txt permuted.csv
check "columns in another order: the same labels" cmp a.txt b.txt

# ---- runs that go on from something ----
again=(--method spom --epochs 4 --checkpoint c.checkpoint --quiet)
"$MEDLEY" train "${again[@]}" --model whole.medley uneven.csv >/dev/null
expect_exit 0 "--resume" "$MEDLEY" train "${again[@]}" --resume --model resumed.medley uneven.csv
check "ends in the same model" cmp whole.medley resumed.medley
expect_exit 0 "--from" "$MEDLEY" train --quiet --json --from auto.medley --keep 1 --model few.medley uneven.csv
expect_text "decides anew, from its own data" '"scale":"standard"' "$out"
expect_text "and finds the block" '"active_blocks":1' "$out"

# ---- columns that want to mislead ----
awk -F, -v OFS=, 'NR == 1 { print "c,h,r," $0; next } { print 5, (NR == 9) * 1e9, (NR % 40 == 0), $0 }' even.csv >odd.csv
expect_exit 0 "constant, huge and rare values" "$MEDLEY" train --quiet --json --model odd.medley odd.csv
expect_text "are standardised" '"scale":"standard"' "$out"
check "and learnt from" above "$("$MEDLEY" eval --model odd.medley --json odd.csv >"$out" && key accuracy "$out")" 0.9
awk -F, -v OFS=, 'NR == 1 { print "tiny," $0; next } { print NR "e-42", $0 }' even.csv >tiny.csv
expect_exit 0 "numbers too small for a scale" "$MEDLEY" train --quiet --model tiny.medley tiny.csv
refuse() { expect_exit "$1" "$3" "$MEDLEY" train --model m.medley "${@:4}" && expect_text "$3: says so" "$2" "$err"; }
refuse 2 "there is no scale 'big'; known: none, center, standard" "an unknown scale" --scale big even.csv
