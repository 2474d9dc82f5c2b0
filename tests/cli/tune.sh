#!/usr/bin/env bash
# Choosing options by cross-validation from the command line: the table in every form, the final
# model, misuse, threads, interruption.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

tune() { "$MEDLEY" tune "$@"; }
parses() { python3 -c 'import json,sys; json.load(open(sys.argv[1]))' "$1"; }
json() { python3 -c "import json,sys; d=json.load(open(sys.argv[1])); sys.exit(not ($2))" "$1"; }

"$MEDLEY" generate ringnorm --rows 150 --output ring.csv
"$MEDLEY" generate ringnorm --rows 100 --seed 2 --output new.csv
"$MEDLEY" generate waveform --rows 90 --output wave.csv
"$MEDLEY" generate handwriting --rows 24 --output words.data --to letter
tagged 40 3 >tagged.txt

# ---- the plain way ----
expect_exit 0 "tune varies what is a list" tune --C 0.01,0.1,1 --loss logistic ring.csv
expect_text "the table has a line for each value" '^0\.1 +[0-9.]+ % ' "$out"
expect_text "the best is marked" ' best' "$out"
expect_text "and named" '^best: C [0-9.]+ \(accuracy [0-9.]+ %\)' "$out"
check "three values, three lines" test "$(grep -Ec '^0?\.?[01]+[0-9.]* +[0-9.]+ %' "$out")" -eq 3
expect_exit 0 "without a list the strength is varied" "$MEDLEY" tune --cv 3 ring.csv
expect_text "and it says so" 'strength of the penalty is varied' "$err"
expect_text "over some values of C" '^[56] combinations' "$out"
expect_exit 0 "or around a value" "$MEDLEY" tune --cv 3 --method spom --epochs 2 --C 0.25 ring.csv
expect_text "which it says" 'around the value given' "$err"
expect_text "with its digits" '^0\.025 ' "$out"
expect_exit 0 "a range" tune --cv 3 --C 0.01..10 ring.csv
expect_text "has one value a decade" '^4 combinations, 3 folds, 150 rows' "$out"
expect_exit 0 "a range of one value" tune --cv 3 --C 1..1 ring.csv
expect_text "is that value" '^best: C 1 ' "$out"
expect_exit 0 "a range whose ratio is no number" tune --cv 2 --method spom --epochs 1 --C 1e-300..1e300:3,5 ring.csv
expect_text "has its values" '^4 combinations' "$out"
expect_exit 0 "alternatives of kernels" tune --cv 2 --kernel bias \
    --kernel 'rbf(sigma2=20) | poly(degree={1,2},norm=diag)' ring.csv
expect_text "are shown as they were written" '^rbf\(sigma2=20\) +[0-9.]+ %' "$out"
expect_exit 0 "sequences stay whole" tune --cv 3 --C 1,10 --epochs 2 --eta0 1 words.data
expect_text "and are counted" 'folds, 24 sequences' "$out"
expect_exit 0 "tagged words" tune --cv 2 --template chunk --loss logistic --epochs 2,4 --json tagged.txt
check "are measured by the F1 of chunks" json "$out" 'd["measure"] == "f1" and d["trials"][1]["mean"] > 0.9'
check "and share no kernels" json "$out" 'd["kernels_shared"] == False'

# ---- JSON, CSV ----
expect_exit 0 "tune --json" tune --json --cv 4 --C 0.1,1 --penalty 'group-lasso,block(q=1.5)' \
    --output table.csv ring.csv
check "is JSON" parses "$out"
check "is one line" test "$(wc -l <"$out")" -eq 1
check "has every combination" json "$out" 'len(d["trials"]) == 4 and d["folds"] == 4
    and [t["options"]["C"] for t in d["trials"]] == ["0.1","0.1","1","1"]
    and d["trials"][1]["options"]["penalty"] == "block(q=1.5)"'
check "means are those of the folds" json "$out" 'all(abs(sum(t["folds"])/4 - t["mean"]) < 1e-9
    and abs(t["standard_error"] - t["deviation"]/2) < 1e-9 for t in d["trials"])'
check "the best is the best" json "$out" 'd["trials"][d["best"]]["mean"] == max(t["mean"] for t in d["trials"])
    and 0 <= d["one_error"] < 4 and d["seconds"]["total"] >= d["seconds"]["tune"] and "model" not in d'
check "--output is a table of the same" python3 -c '
import csv, json, sys
d = json.load(open(sys.argv[1])); rows = list(csv.DictReader(open("table.csv")))
for t, r in zip(d["trials"], rows, strict=True):
    assert r["C"] == t["options"]["C"] and r["penalty"] == t["options"]["penalty"]
    assert abs(float(r["accuracy"]) - t["mean"]) < 1e-9
    assert [float(r["fold%d" % f]) for f in range(4)] == t["folds"]' "$out"

expect_exit 0 "kernels varied twice" tune --json --cv 2 --kernel 'rbf | poly' --kernel 'linear | bias' \
    --output table.csv ring.csv
check "have a key each" json "$out" '[list(t["options"].items()) for t in d["trials"]][1]
    == [("kernel1","rbf"),("kernel2","bias")]'
expect_text "in the table too" '^kernel1,kernel2,accuracy' table.csv

# ---- several views: each block once ----
"$MEDLEY" generate blobs --rows 60 --views 2 --output blobs.csv
views=(--cv 3 --method spom --epochs 3 --kernel 'rbf(sigma2=5)' --kernel linear --view b=blobs-view2.csv blobs-view1.csv)
for memory in 1K 1G; do
    expect_exit 0 "two views with --memory $memory" tune --json --memory $memory --C 0.5,5 "${views[@]}"
    check "have four blocks" json "$out" 'all(t["active"] == 4 for t in d["trials"])'
    cp "$out" $memory.json
done
check "with the same scores" python3 -c 'import json
a, b = ([t["folds"] for t in json.load(open(f))["trials"]] for f in ("1K.json", "1G.json")); assert a == b'
sed '1s/.*/"a{1,2}",b,label/' <(cut -d, -f1,2,21 ring.csv) >braces.csv
expect_exit 0 "names of columns are no specs" tune --cv 2 --method spom --epochs 1 --views each --C 1,2 \
    --kernel linear --kernel rbf braces.csv
echo 'rbf(sigma2=20)' >'a,b.txt'
expect_exit 0 "names of files may have commas" tune --cv 2 --C 1,2 --kernels a,b.txt ring.csv

# ---- honest: the same folds by hand ----
expect_exit 0 "one value in two folds" tune --json --cv 2 --C 0.5,0.7 --gap 1e-6 --method spicy \
    --kernel 'rbf(sigma2=20)' ring.csv
cp "$out" two.json
for f in 0 1; do
    "$MEDLEY" train --model f.medley --quiet --folds $((1 - f))/2 --C 0.5 --gap 1e-6 --method spicy \
        --kernel 'rbf(sigma2=20)' ring.csv >/dev/null
    "$MEDLEY" eval --model f.medley --json --folds $f/2 ring.csv >"$out"
    check "fold $f is what train and eval make of it" \
        json two.json "abs(d['trials'][0]['folds'][$f] - $(key accuracy "$out")) < 0.02"
done

# ---- widths and scalings are those of training rows: by hand, and whatever the memory ----
fresh=(--scale standard --kernel 'rbf(auto)' --kernel laplace --kernel 'poly(degree=2,norm=trace)')
scores() { tune --cv 4 --json "$@" "${fresh[@]}" ring.csv |
    python3 -c 'import json,sys; d=json.load(sys.stdin); print([t["folds"] for t in d["trials"]], d["chosen"])'; }
for method in 'spom --epochs 2 --eta0 1 --C 0.1,1,10' 'spicy --measure log-loss --C 0.1,1,10'; do
    # shellcheck disable=SC2086
    scores --method $method >default.txt
    for limit in '--memory 30K' '--memory 60K --threads 1' '--memory 200K' '--memory 1G --threads 3'; do
        # shellcheck disable=SC2086
        scores $limit --method $method >limited.txt
        check "${method%% *} $limit: the same table to the last digit" cmp default.txt limited.txt
    done
done
scores --method spom --epochs 2 --eta0 1 --C 0.1,1,10 --measure log-loss --loss logistic >default.txt
: >byhand.txt
for f in 0 1 2 3; do
    others=$(python3 -c "print(','.join(str(i) for i in range(4) if i != $f))")
    "$MEDLEY" train --model f.medley --quiet --folds "$others/4" --method spom --epochs 2 --eta0 1 --C 1 \
        --loss logistic "${fresh[@]}" ring.csv >/dev/null
    "$MEDLEY" eval --model f.medley --json --proba --folds $f/4 ring.csv >"$out"
    key log_loss "$out" >>byhand.txt
done
check "train on the training rows alone makes the same folds" python3 -c '
table = eval(open("default.txt").read().rsplit(" ", 1)[0])
assert table[1] == [float(x) for x in open("byhand.txt")], (table[1], open("byhand.txt").read())'

# ---- the final model ----
expect_exit 0 "--model learns from all rows" tune --cv 3 --C 0.01,0.1 --model m.medley ring.csv
expect_text "with the chosen value" 'all of the data with C 0\.[01]+:' "$out"
expect_text "and tells of it as train does" '^150 examples, 2 labels' "$out"
expect_exit 0 "it predicts" "$MEDLEY" eval --model m.medley --json new.csv
check "well" above "$(key accuracy "$out")" 0.85
expect_exit 0 "--choose one-error" tune --json --cv 3 --C 0.1,1,10 --choose one-error --model m.medley ring.csv
check "takes the other one" json "$out" 'd["chosen"] == d["one_error"]
    and abs(d["model"]["C"] - float(d["trials"][d["one_error"]]["options"]["C"])) < 1e-6
    and d["model"]["examples"] == 150 and d["model"]["file"] == "m.medley"'
"$MEDLEY" inspect --json m.medley >"$out"
check "the file is that model" json "$out" 'abs(d["C"] - 0.1) < 1e-6 or d["C"] >= 1'

expect_exit 0 "a kernel behind alternatives" tune --json --cv 2 --kernel 'linear | rbf(sigma2=20)' \
    --kernel 'poly(degree=2)' --method spom --epochs 2 --model m.medley ring.csv
first=$(python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(d["trials"][d["chosen"]]["options"]["kernel1"])' "$out")
"$MEDLEY" train --quiet --kernel "$first" --kernel 'poly(degree=2)' --method spom --epochs 2 \
    --model n.medley ring.csv >/dev/null
check "stays there in the model" cmp m.medley n.medley

# ---- what was found is told whatever happens afterwards ----
if [ -c /dev/full ]; then
    for option in model output report; do
        expect_exit 1 "--$option on a full disk" tune --cv 2 --C 1,2 --$option /dev/full ring.csv
        expect_text "the table is there" '^best: C [12] ' "$out"
        expect_text "and the error" '/dev/full' "$err"
        expect_exit 1 "--$option on a full disk, as JSON" tune --json --cv 2 --C 1,2 --$option /dev/full ring.csv
        check "has both" json "$out" 'len(d["trials"]) == 2 and d["error"]["code"] == 1 and "model" not in d'
    done
fi

# ---- one table whatever the threads ----
table() { tune --cv 3 --json "$@" | python3 -c 'import json,sys; print([t["folds"] for t in json.load(sys.stdin)["trials"]])'; }
for method in 'spicy --C 0.1,1,10' 'spom --C 1,10 --epochs 3 --eta0 1'; do
    # shellcheck disable=SC2086
    table --threads 1 --method $method ring.csv >one.txt
    # shellcheck disable=SC2086
    table --threads 2 --method $method ring.csv >two.txt
    check "${method%% *}: 1 and 2 threads give the same table" cmp one.txt two.txt
done
# shellcheck disable=SC2086
table --threads 1 --method spom --seed 2 --C 1,10 --epochs 3 --eta0 1 ring.csv >two.txt
check "another seed, other folds" bash -c '! cmp -s one.txt two.txt'

# ---- misuse ----
expect_exit 0 "a combination that fails is a line" tune --cv 2 --method spicy \
    --penalty 'group-lasso,mkl+squared-block' ring.csv
expect_text "with its reason" 'failed: .*needs a penalty that is a sum over kernels' "$out"
expect_exit 2 "if all fail that is an error" tune --cv 2 --method spicy --penalty 'mkl+squared-block,nonsense' ring.csv
expect_exit 2 "an option that is none" tune --see 1,2 ring.csv
expect_exit 2 "a value that is none" tune --C 1,x ring.csv
expect_text "is named" "C='x'" "$err"
expect_exit 2 "an empty value" tune --C 1,,2 ring.csv
expect_exit 2 "ranges of whole numbers" tune --epochs 5..10 ring.csv
expect_text "have a remedy" 'commas' "$err"
expect_exit 2 "a measure that is none" tune --measure beauty --C 1,2 ring.csv
expect_exit 2 "a measure of something else" tune --measure rmse --C 1,2 ring.csv
expect_exit 2 "--choose takes two words" tune --choose worst --C 1,2 ring.csv
expect_exit 2 "--cv must be a number" tune --cv many --C 1,2 ring.csv
expect_exit 2 "one fold is too few" tune --cv 1 --C 1,2 ring.csv
expect_exit 2 "more folds than rows are too many" tune --cv 151 --C 1,2 ring.csv
expect_exit 1 "a folder that is not there is known beforehand" tune --C 1,2 --model no/m.medley ring.csv
expect_text "of the model" 'cannot write the model' "$err"
expect_exit 1 "and of the table" tune --C 1,2 --output no/t.csv ring.csv
expect_text "too" 'cannot write the table' "$err"
touch fixed.csv && chmod a-w fixed.csv
if [ ! -w fixed.csv ]; then # not so for root
    expect_exit 1 "a table that may not be written to is known beforehand" tune --C 1,2 --output fixed.csv ring.csv
    expect_text "and named" 'fixed.csv: cannot write the table' "$err"
    check "before any work" test ! -s "$out"
fi
ln -sf ring.csv link.csv
expect_exit 2 "model and table in one file" tune --C 1,2 --model x.out --output ./x.out ring.csv
expect_text "are refused" 'same file' "$err"
expect_exit 2 "report and model" tune --C 1,2 --model m.medley --report m.medley ring.csv
expect_exit 2 "data that would be overwritten" tune --C 1,2 --output link.csv ring.csv
expect_text "are refused too" 'would overwrite .*which is read' "$err"
expect_exit 2 "and so are views" tune --C 1,2 --model blobs-view2.csv --view b=blobs-view2.csv blobs-view1.csv
expect_exit 2 "a report between the results" tune --C 1,2 --report - ring.csv
expect_text "is refused" 'name a file' "$err"
expect_exit 0 "devices are no files" tune --cv 2 --C 1,2 --model /dev/null --output /dev/null ring.csv
cut -d, -f1-20 ring.csv >bare.csv
expect_exit 2 "data without labels" tune --label none --C 1,2 bare.csv
expect_text "are told so" 'no labels to learn from' "$err"
expect_exit 2 "errors are JSON too" tune --json --measure beauty --C 1,2 ring.csv
check "that parses" parses "$out"
head -4 ring.csv >tiny.csv
expect_exit 2 "fewer rows than folds" tune --C 1,2 tiny.csv
expect_text "has a remedy" 'there can be at most 3' "$err"

# ---- a report ----
expect_exit 0 "--report" tune --cv 3 --C 0.1,1 --model m.medley --report r.html ring.csv
expect_text "is an HTML file" '<html' r.html

# ---- interruption ----
rm -f m.medley
"$MEDLEY" tune --C 1..1000:40 --method spom --epochs 500000 --eta0 1 --model m.medley --output t.csv \
    wave.csv >"$out" 2>"$err" &
for _ in $(seq 300); do # until it has begun
    grep -q '^tuning' "$err" && break
    sleep 0.1
done
kill -INT $!
wait $!
check "Ctrl-C ends with 130" test $? -eq 130
expect_text "and says that there is no result" 'no result' "$err"
check "and writes nothing" test ! -e m.medley -a ! -e t.csv
expect_exit 0 "help teaches by examples" "$MEDLEY" tune --help
expect_text "of ranges" 'C 0\.01\.\.100' "$out"

# ---- interrupted ----
"$MEDLEY" generate waveform --rows 1500 --output long.csv
("$MEDLEY" tune --method spom --epochs 60 --C 0.01,0.1,1,10 --cv 60 --kernel rbf --threads 1 --model never.medley long.csv \
    >stopped.out 2>stopped.err & pid=$!
    while ! grep -qE 'tuning ([1-9][0-9]|[5-9])/' stopped.err && kill -0 "$pid"; do sleep 0.1; done
    kill -INT "$pid"; wait "$pid"; echo $? >stopped.code)
check "an interrupted tuning ends with 130" grep -qx 130 stopped.code
expect_text "it prints what is finished" '^interrupted: this is what was finished, in [0-9]+ of 60 folds' stopped.out
expect_text "as a table" '^0\.1 +[0-9.]+ %' stopped.out
check "no model is written" test ! -e never.medley
("$MEDLEY" tune --method spom --epochs 2000 --C 0.01..100:8 --cv 2 --kernel rbf --threads 1 --report early.html long.csv \
    >early.out 2>early.err & pid=$!
    while ! grep -qE 'tuning [1-5]/16' early.err && kill -0 "$pid"; do sleep 0.1; done
    kill -INT "$pid"; wait "$pid"; echo $? >early.code)
check "one that is interrupted in its first fold ends with 130" grep -qx 130 early.code
expect_text "it prints what was tried" '^[0-9.]+ +[0-9.]+ %' early.out
expect_text "and what was not" '^[0-9.]+ +failed: the tuning was interrupted before it was tried' early.out
expect_text "in one fold" '^interrupted: this is what was finished, in 1 of 2 folds' early.out
expect_text "the report has it, too" 'interrupted before it was tried' early.html
expect_text "and says what it is" 'The tuning was interrupted: this is what was finished, in 1 of 2 folds' early.html
refute_text "no deviation of one fold" 'nan' early.out

# ---- the best value at the end of those that were tried ----
expect_exit 0 "tune with penalties that are too strong" tune --C 0.04,0.1,0.3 --loss logistic ring.csv
expect_text "says where to go on" 'the best C is the largest that was tried; larger ones may be better' "$out"
expect_exit 0 "tune with two values" tune --C 0.1,0.3 --loss logistic ring.csv
refute_text "which tell no direction" 'may be better' "$out"
