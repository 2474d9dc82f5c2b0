#!/usr/bin/env bash
# Paths of penalties from the command line: the table in every form, the model that is kept, every
# penalty and task, misuse, threads, interruption.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

path() { "$MEDLEY" path "$@"; }
json() { python3 -c "import json,sys; d=json.load(open(sys.argv[1])); sys.exit(not ($2))" "$1"; }

"$MEDLEY" generate ringnorm --rows 150 --output ring.csv
"$MEDLEY" generate ringnorm --rows 100 --seed 2 --output new.csv
"$MEDLEY" generate waveform --rows 80 --output wave.csv
"$MEDLEY" generate treebank --rows 40 --output trees.conllu
tagged 40 3 >tagged.txt
tagged 20 4 >other.txt

# ---- the plain way ----
expect_exit 0 "path shows a line for each lambda" path --views all+each --kernel rbf --count 5 ring.csv
check "five of them" test "$(grep -Ec '^ +[0-9.e-]+ +[0-9.e+]+ +[0-9.]+ +[0-9.e-]+ % +[0-9]+' "$out")" -eq 5
expect_text "and what it is about" '^binary, hinge loss, penalty group-lasso, method spicy, 21 blocks' "$out"
expect_text "the first blocks to come in are named" '^the first blocks to come in' "$out"
expect_text "with where they do" '^ +0\.[0-9]+ +[0-9.e-]+ +rbf\(.*\)@x[0-9]+$' "$out"
refute_text "nothing is measured" 'best|accuracy' "$out"
check "the list stays short" test "$(grep -Ec '@(x|all)' "$out")" -le 10
expect_exit 0 "with held-out rows" path --count 5 --holdout 0.3 --model m.medley --report p.html ring.csv
expect_text "the best is marked" ' best$' "$out"
expect_text "and kept" '^the model at lambda .* written to m.medley' "$out"
expect_exit 0 "it predicts" "$MEDLEY" eval --model m.medley --json new.csv
check "well" above "$(key accuracy "$out")" 0.85
expect_text "the report is a page" '<html' p.html

# ---- JSON, CSV ----
expect_exit 0 "path --json" path --json --count 6 --ratio 0.02 --dev new.csv --views all+each \
    --kernel rbf --output p.csv ring.csv
check "is one line" test "$(wc -l <"$out")" -eq 1
check "has all there is" json "$out" 'd["task"] == "binary" and d["method"] == "spicy"
    and d["loss"] == "hinge" and d["penalty"] == "group-lasso" and d["measure"] == "accuracy"
    and len(d["blocks"]) == 21 and len(d["path"]) == 6
    and all(set(p) == {"lambda","C","objective","dual","gap","active","score","seconds","weights"}
            and len(p["weights"]) == 21 and 0 <= p["gap"] <= 0.01 and 0 <= p["score"] <= 1
            and abs(p["lambda"] * p["C"] * 150 - 1) < 1e-9 for p in d["path"])'
check "from strong to weak, from nothing to more" json "$out" 'd["path"][0]["active"] == 0
    and d["path"][5]["active"] > 3 and abs(d["path"][5]["lambda"] / d["path"][0]["lambda"] - 0.02) < 1e-9
    and all(a["lambda"] > b["lambda"] and a["seconds"] <= b["seconds"]
            for a, b in zip(d["path"], d["path"][1:]))
    and all(p["active"] == sum(w > 0 for w in p["weights"]) for p in d["path"])'
check "the best is the best" json "$out" 'd["path"][d["best"]]["score"] == max(p["score"] for p in d["path"])'
check "--output FILE.csv is the same" python3 -c '
import csv, json, sys
d = json.load(open(sys.argv[1])); rows = list(csv.reader(open("p.csv")))
assert rows[0] == ["lambda", "C", "active", "objective", "gap", "score"] + d["blocks"]
for p, r in zip(d["path"], rows[1:], strict=True):
    numbers = [float(x) for x in r]
    expected = [p[k] for k in ("lambda", "C", "active", "objective", "gap", "score")] + p["weights"]
    assert all(abs(a - b) <= 1e-8 * abs(b) for a, b in zip(numbers, expected, strict=True))' "$out"
check "names are quoted" grep -q '^lambda,C,active,objective,gap,score,"rbf(' p.csv
expect_exit 0 "--output FILE.json" path --json --lambdas 0.01,0.1,0.03 --output p.json ring.csv
check "is what --json says" cmp p.json "$out"
check "lambdas are brought in order" json "$out" '[p["lambda"] for p in d["path"]] == [0.1, 0.03, 0.01]
    and d["measure"] is None and d["path"][0]["score"] is None and d["best"] == 2'

# ---- what train finds at one of them ----
expect_exit 0 "a certified path" path --json --gap 1e-6 --lambdas 0.05,0.02 --method spicy ring.csv
cp "$out" two.json
"$MEDLEY" train --quiet --json --gap 1e-6 --lambda 0.02 --method spicy --model t.medley ring.csv >"$out"
check "is that of train" json two.json "abs(d['path'][1]['objective'] / $(key objective "$out") - 1) < 3e-6"
expect_exit 0 "a path of spom" path --json --lambdas 0.05,0.04,0.03 --method spom --penalty group-lasso ring.csv
cp "$out" two.json
"$MEDLEY" train --quiet --json --lambda 0.03 --method spom --penalty group-lasso --model t.medley ring.csv >"$out"
check "is no worse than train" json two.json "d['path'][2]['objective'] <= 1.01 * $(key objective "$out")"

# ---- every penalty, every task ----
for penalty in mkl l2 absorbed-l2 'squared-block(q=1.3)' elastic-mkl group-lasso+l2; do
    expect_exit 0 "penalty $penalty" "$MEDLEY" path --count 3 --epochs 8 --penalty "$penalty" ring.csv
    expect_text "by spom" 'method spom' "$out"
done
expect_exit 0 "penalty mkl without a word about the method" "$MEDLEY" path --count 2 --penalty mkl ring.csv
expect_text "says that there is no certificate" 'method spom.*without a certificate' "$err"
for penalty in group-lasso 'elastic(t=0.5)' 'block(q=1.5)'; do
    expect_exit 0 "penalty $penalty" path --count 3 --penalty "$penalty" ring.csv
    expect_text "certified" 'method spicy' "$out"
done
for penalty in l1 sparse-group; do
    expect_exit 0 "penalty $penalty" path --count 3 --kernel 'linear(explicit)' --penalty $penalty ring.csv
done
for method in obscure pegasos simplemkl gauss-seidel hessianmkl; do
    expect_exit 0 "method $method" path --count 3 --method $method --kernel rbf ring.csv
done
expect_exit 0 "several labels" path --count 4 --epochs 8 --holdout 0.3 --json wave.csv
check "are measured by accuracy" json "$out" 'd["measure"] == "accuracy" and d["method"] == "spom"'
expect_exit 0 "numbers" path --count 4 --holdout 0.3 --json --task regression --label x1 ring.csv
check "are measured by rmse, less is better" json "$out" 'd["measure"] == "rmse"
    and d["path"][d["best"]]["score"] == min(p["score"] for p in d["path"])'
expect_exit 0 "tagged words" path --count 4 --template chunk --penalty group-lasso --epochs 4 \
    --dev other.txt --json --model c.medley tagged.txt
check "are measured by the F1 of chunks" json "$out" 'd["measure"] == "f1"
    and d["path"][0]["active"] == 0 and d["path"][d["best"]]["score"] > 0.8'
expect_exit 0 "the model tags" "$MEDLEY" eval --model c.medley other.txt
expect_exit 0 "trees" path --count 3 --hash-bits 8 --epochs 3 --holdout 0.3 --json --model t.medley trees.conllu
check "are measured with their relations" json "$out" 'd["measure"] == "las" and len(d["path"]) == 3'
expect_exit 0 "the model parses" "$MEDLEY" eval --model t.medley --json trees.conllu
check "relations too" above "$(key las "$out")" 0.2

# ---- one path whatever the threads ----
weights() { path --json --count 4 "$@" | python3 -c 'import json,sys; print([(p["objective"], p["weights"]) for p in json.load(sys.stdin)["path"]])'; }
for method in 'spicy' 'spom --epochs 6'; do
    # shellcheck disable=SC2086
    weights --threads 1 --method $method ring.csv >one.txt
    # shellcheck disable=SC2086
    weights --threads 2 --method $method ring.csv >two.txt
    check "${method%% *}: 1 and 2 threads give the same path" cmp one.txt two.txt
done

# ---- misuse ----
misuse() { # misuse NAME PATTERN OPTIONS...
    local name=$1 pattern=$2
    shift 2
    expect_exit 2 "$name" path "$@" ring.csv
    expect_text "$name: the message" "$pattern" "$err"
}
misuse "an empty list" "'' is not a number above 0" --lambdas ''
misuse "a gap in the list" "'' is not a number above 0" --lambdas 1,,2
misuse "a negative lambda" "'-1' is not a number above 0" --lambdas 1,-1
misuse "a word in the list" "'x' is not a number" --lambdas 1,x
misuse "a list and a count" 'leave out --count' --lambdas 1,2 --count 3
misuse "a ratio above 1" "ratio='2'.*between 0 and 1" --ratio 2
misuse "a ratio of 0" 'between 0 and 1' --ratio 0
misuse "a ratio that is no number" "ratio='x'" --ratio x
misuse "a count of 0" 'at least 1' --count 0
misuse "a count without end" 'path of 1000000000 lambdas.*at most 10000' --count 1000000000
misuse "a count that is no number" 'whole number' --count many
misuse "a strength" 'C is what varies' --C 3
misuse "method average" 'method average has no path.*use' --method average
misuse "method best" 'method best has no path.*use' --method best
misuse "method om2" 'method om2 has no path.*use' --method om2
misuse "method svm" 'method svm has no path.*use' --method svm
misuse "penalty none" 'no strength' --penalty none
misuse "a penalty that spicy cannot have" 'group-lasso, elastic' --method spicy --penalty mkl+squared-block
misuse "calibration" 'leave out --calibrate' --calibrate
misuse "checkpoints" 'leave out --checkpoint' --method spom --checkpoint c
misuse "an output of another kind" 'ends in .csv or .json' --output table.txt
misuse "two ways to hold out" 'give one' --holdout 0.2 --dev new.csv
misuse "a share above 1" 'share between 0 and 1' --holdout 2
misuse "no data" 'one file too many' new.csv
expect_exit 1 "a folder that is not there" path --report nowhere/p.html ring.csv
expect_text "is noticed at once" "folder 'nowhere'" "$err"
expect_exit 2 "errors in JSON" path --json --ratio 2 ring.csv
check "are JSON" json "$out" 'd["error"]["code"] == 2'

# ---- Ctrl-C: the path so far ----
"$MEDLEY" generate ringnorm --rows 2500 --output large.csv
"$MEDLEY" path --json --method spom --count 60 --epochs 40 --eta0 0.3 --model i.medley large.csv \
    >i.json 2>i.log &
for _ in $(seq 300); do # until there are some models
    grep -q 'lambda 3 of 60' i.log && break
    sleep 0.1
done
kill -INT $!
wait $!
check "Ctrl-C ends with 130" test $? -eq 130
check "gives the path so far" json i.json 'd["interrupted"] and 2 <= len(d["path"]) < 60'
expect_exit 0 "and its last model" "$MEDLEY" inspect i.medley
