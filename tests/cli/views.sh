#!/usr/bin/env bash
# Random views by name and by group, banks of many kernels, columns that carry nothing, and kernel
# matrices that are none.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

train() {
    "$MEDLEY" train --model m.medley --seed 5 --epochs 5 --quiet "$@"
}

names() { # blocks of a JSON summary
    grep -o '"name":"[^"]*"' "$1" | cut -d'"' -f4
}

expect_exit 0 "data" "$MEDLEY" generate ringnorm --rows 120 --seed 3 --output ring.csv || exit

# ---- where labels are, and where they are not ----
printf 'a,b,c\n' >plain.csv
for i in $(seq 40); do echo "$((i * 7 % 11)),$((i * 5 % 13)),$((i % 2 * 4 + i % 3))"; done >>plain.csv
tail -n +2 plain.csv | awk -F, '{ print ($3 > 3 ? "many" : "few") }' >plain.lst
tail -n +2 plain.csv >bare.csv
paste -d, <(cut -d, -f1 plain.csv) <(echo kind && cat plain.lst) >kinds.csv
cut -d, -f2,3 plain.csv >third.csv
for file in plain.csv bare.csv; do
    expect_exit 0 "$file: labels of their own" train --labels plain.lst --json "$file"
    check "$file: all columns are features" above "$("$MEDLEY" eval --model m.medley --labels plain.lst --json "$file" >"$out" && key accuracy "$out")" 1
    expect_exit 0 "$file: new rows" "$MEDLEY" predict --model m.medley "$file"
    check "$file: are read in the same way" cmp "$out" plain.lst
done
both=(--view x=third.csv --view y=kinds.csv)
expect_exit 3 "views that seem to have different labels" train "${both[@]}"
expect_text "what to do" "if only some have labels, name their column by --label" "$err"
expect_exit 0 "one view with labels" train --label kind "${both[@]}"
check "the other one is features" above "$("$MEDLEY" eval --model m.medley --json --label kind "${both[@]}" >"$out" && key accuracy "$out")" 1
expect_exit 3 "no view with labels" train --label kinds "${both[@]}"

# ---- random views ----
expect_exit 0 "random views" train --views all+random:6:4 --kernel 'rbf(auto)@random' \
    --kernel 'linear@all' --kernel 'poly@random2' --json ring.csv
check "a kernel on each of the group" test "$(names "$out" | grep -c '^rbf.*@random[1-6]$')" -eq 6
check "one on a view by its name" test "$(names "$out" | grep -c '^poly.*@random2$')" -eq 1
expect_exit 0 "a model predicts with its views" "$MEDLEY" predict --model m.medley ring.csv
cp "$out" first
expect_exit 0 "the seed gives the same views" train --views random:6:4+all --kernel 'rbf(auto)@random' \
    --kernel 'linear@all' --kernel 'poly@random2' ring.csv
expect_exit 0 "that predict" "$MEDLEY" predict --model m.medley ring.csv
check "the same" cmp -s first "$out"
expect_exit 2 "no views at all" train --views random:0 ring.csv
expect_text "with what is allowed" '1 to 1000000' "$err"
expect_exit 2 "too many" train --views random:1000001 ring.csv
expect_exit 2 "not a number" train --views random:many ring.csv
expect_text "with the form" 'random:COUNT' "$err"
expect_exit 2 "a view beyond the last" train --views random:3 --kernel 'rbf@random4' ring.csv
expect_text "is named" "no view 'random4'" "$err"

# ---- names that say nothing ----
for name in '' ' ' '" "' '""'; do
    sed "1s/^[^,]*,/$name,/" ring.csv >nameless.csv
    expect_exit 0 "a column named [$name]" train --views each --kernel linear --json nameless.csv
    expect_text "is called by its number" '"linear@x1"' "$out"
    expect_exit 0 "and its model predicts" "$MEDLEY" predict --model m.medley nameless.csv
done
for header in ',,c,d' 'a,a,c,d' ',a,,a' 'a,a,,' 'x1,,c,d' ',x1,c,d' 'x2,,x1,d' 'x1,x1,,x3' ' ,"",x1,x1' ',x2,x1,'; do
    (sed "1s/^[^,]*,[^,]*,[^,]*,[^,]*,/$header,/" ring.csv) >names.csv
    expect_exit 0 "columns named [$header]" train --views each --kernel linear --json names.csv
    check "have views with names of their own" python3 -c '
import json, sys
names = [block["name"] for block in json.load(open(sys.argv[1]))["blocks"]]
assert len(set(names)) == len(names) and all(name.split("@")[1].strip() for name in names), names' "$out"
    expect_exit 0 "and their model predicts" "$MEDLEY" predict --model m.medley --scores names.csv
    cp "$out" by-name.txt
    sed 1d names.csv >unnamed.csv
    "$MEDLEY" predict --model m.medley --header no --scores unnamed.csv >by-place.txt
    check "by place as by name" cmp by-name.txt by-place.txt
done
expect_exit 2 "a view with a blank name" train --view ' =ring.csv'
expect_text "is refused" 'name is blank' "$err"

# ---- many ----
seq -f 'rbf(sigma=1.7)@random%.0f' 3000 >bank.txt
expect_exit 0 "3000 lines that name a view each" "$MEDLEY" kernel --views random:3000 --kernels bank.txt \
    --sample 5 --output K.npy ring.csv
expect_text "give 3000 kernels" '^3000 kernels' "$err"

# ---- columns that carry nothing ----
awk -F, 'BEGIN { OFS = "," } NR == 1 { print "nothing,same,tiny", $0; next }
    { print 0, 0.3, (NR % 7) "e-22", $0 }' ring.csv >dull.csv
for norm in none diag trace center; do
    for scale in none standard minmax; do
        expect_exit 0 "constant columns, $norm, $scale" train --views each --normalize "$norm" \
            --scale "$scale" --kernel linear --kernel 'rbf(auto)' --kernel poly --json dull.csv
        refute_text "no value that is no number" 'nan|inf' "$out"
        check "every block stays" test "$(names "$out" | wc -l)" -eq 69
    done
done

# ---- kernel matrices ----
labels() { tail -n +2 ring.csv | sed 's/.*,//'; }
labels >labels.lst
expect_exit 0 "a kernel matrix" "$MEDLEY" kernel --kernel 'rbf(sigma=2)' --output K.npy ring.csv
expect_exit 0 "is learnt from" train --gram K.npy --labels labels.lst
# float32 1.0 in place of the value in row 2, column 1
offset=$(($(wc -c <K.npy) - 4 * 120 * 120 + 4 * 120))
printf '\000\000\200\077' | dd of=K.npy bs=1 seek=$offset conv=notrunc 2>/dev/null
expect_exit 3 "an asymmetric one is refused" train --gram same=K.npy --labels labels.lst
expect_text "by kernel, row, column and values" \
    "kernel 'same' is not symmetric: row 2, column 1 is 1 but row 1, column 2 is 8\\." "$err"
printf '\000\000\300\177' | dd of=K.npy bs=1 seek=$offset conv=notrunc 2>/dev/null
expect_exit 3 "NaN is refused" train --gram K.npy --labels labels.lst
expect_text "by its place" 'row 2, column 1 is -?nan' "$err"

# ---- scaling does not ask how the numbers were stored ----
"$MEDLEY" generate waveform --rows 120 | awk -F, -v OFS=, 'NR > 1 { # mostly zeros, which svmlight leaves out
    for (c = 1; c < NF; c++) if ($c < 3.5 && $c > -1) $c = 0 } 1' >scaled.csv
"$MEDLEY" convert --to svmlight --output scaled.svm scaled.csv
for scale in standard minmax maxabs; do
    for data in csv svm; do
        expect_exit 0 "train --scale $scale on $data" "$MEDLEY" train --quiet --model $data.medley --method spom \
            --epochs 3 --scale $scale --kernel 'rbf(auto)' --kernel linear scaled.$data
        "$MEDLEY" predict --model $data.medley --scores --output $data.scores scaled.$data 2>"$err"
    done
    check "--scale $scale: svmlight and csv give the same scores" python3 -c '
rows = [[[float(x) for x in line.replace(",", " ").split()[1:]] for line in open(f).readlines()[1:]]
        for f in ("csv.scores", "svm.scores")]
assert rows[0] and len(rows[0]) == len(rows[1])
for a, b in zip(*rows):
    assert len(a) == len(b) > 0 and all(abs(x - y) <= 1e-4 * max(1, abs(x)) for x, y in zip(a, b)), (a, b)'
done

# ---- numbers beyond what kernels can tell apart are learnt or refused, never guessed ----
"$MEDLEY" generate ringnorm --rows 120 --dimension 3 --noise 0.5 --output unit.csv
for factor in 1 1e-5 1e-18 1e-25 1e-40 1e25; do
    awk -F, -v OFS=, -v factor=$factor 'NR > 1 { for (c = 1; c < NF; c++) $c = sprintf("%.6g", $c * factor) } 1' \
        unit.csv >far.csv
    for kernel in 'rbf(auto)' 'linear(norm=diag)' 'linear(norm=trace)' laplace 'poly(degree=2,offset=0,norm=diag)'; do
        "$MEDLEY" train --quiet --model far.medley --kernel "$kernel" far.csv >"$out" 2>"$err"
        case $? in
        0)
            "$MEDLEY" predict --model far.medley --output $factor.txt far.csv 2>"$err"
            [ $factor = 1 ] && cp 1.txt "unit-$kernel.txt"
            check "$kernel of numbers times $factor learns what it learns of them" cmp $factor.txt "unit-$kernel.txt"
            ;;
        *)
            expect_text "$kernel of numbers times $factor is refused with a remedy" \
                'too (small|large) for .*use --scale standard' "$err"
            check "but not near 1" test $factor != 1 -a $factor != 1e-5
            ;;
        esac
    done
    awk -F, -v OFS=, 'NR > 1 { for (c = 1; c < NF; c++) sub(/^-/, "", $c) } 1' far.csv >histograms.csv
    "$MEDLEY" train --quiet --model far.medley --kernel chi2 histograms.csv >"$out" 2>"$err"
    if [ $factor = 1e-40 ] || [ $factor = 1e25 ]; then
        expect_text "chi2 of numbers times $factor is refused" 'too (small|large) for' "$err"
    else
        "$MEDLEY" predict --model far.medley --output $factor.txt histograms.csv 2>"$err"
        [ $factor = 1 ] && cp 1.txt unit-chi2.txt
        check "chi2 of numbers times $factor learns what it learns of them" cmp $factor.txt unit-chi2.txt
    fi
    "$MEDLEY" train --quiet --model far.medley --scale standard far.csv >"$out" 2>"$err"
    case $factor in
    1e-40) expect_text "nor can such numbers be scaled" 'too small to be scaled' "$err" ;;
    *) check "--scale standard brings numbers times $factor back" \
        above "$("$MEDLEY" eval --model far.medley --json far.csv >"$out" && key accuracy "$out")" 0.9 ;;
    esac
done

# ---- columns of very different spread are told of where they stay as they are ----
awk -F, -v OFS=, 'NR > 1 { $2 *= 1e4 } 1' unit.csv >uneven.csv
wide=$(head -1 unit.csv | cut -d, -f2)
awk -F, -v OFS=, 'NR > 1 { for (c = 1; c < NF; c++) sub(/^-/, "", $c) } 1' uneven.csv >bins.csv
expect_exit 0 "columns of different spread" "$MEDLEY" train --model far.medley --kernel chi2 bins.csv
expect_text "are warned of" "^medley train: warning: .*column '$wide' has deviation .*use --scale minmax" "$err"
expect_exit 0 "with --quiet" "$MEDLEY" train --quiet --json --model far.medley --kernel chi2 bins.csv
check "there is silence" test ! -s "$err"
check "but the JSON tells" python3 -c '
import json, sys
(warning,) = json.load(open(sys.argv[1]))["warnings"]
assert "--scale minmax" in warning, warning' "$out"
for command in tune path; do
    expect_exit 0 "medley $command on such columns" "$MEDLEY" $command --method spom --epochs 1 --kernel chi2 bins.csv
    expect_text "warns" "^medley $command: warning: .*use --scale minmax" "$err"
done
for silent in '' '--scale standard' '--scale none' '--views each' '--kernel rbf'; do
    # shellcheck disable=SC2086
    expect_exit 0 "silent: '$silent'" "$MEDLEY" train --json --model far.medley $silent uneven.csv
    refute_text "no warning of different spread" warning: "$err"
    check "and none in the JSON" grep -q '"warnings":\[\]' "$out"
done
expect_exit 0 "tune that varies --scale" "$MEDLEY" tune --cv 2 --method spom --epochs 1 --kernel chi2 --scale none,minmax bins.csv
refute_text "is silent as well" warning: "$err"
expect_exit 0 "columns as they come from the generator" "$MEDLEY" train --model far.medley unit.csv
refute_text "need no warning" warning: "$err"
