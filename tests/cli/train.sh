#!/usr/bin/env bash
# Training and predicting from the command line: every way data come in, what comes out, one seed
# one model, interruption.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

train() { "$MEDLEY" train --model m.medley --eta0 1 --epochs 10 --quiet "$@"; }

"$MEDLEY" generate ringnorm --rows 300 --output ring.csv
"$MEDLEY" generate ringnorm --rows 200 --seed 2 --output new.csv
"$MEDLEY" generate handwriting --rows 60 --output words.data --to letter

# ---- the plain way ----
expect_exit 0 "train learns from a CSV file" "$MEDLEY" train --model m.medley ring.csv
expect_text "the summary names the blocks" 'rbf\(.*@all' "$out"
expect_exit 0 "eval measures it" "$MEDLEY" eval --model m.medley --json new.csv
check "ringnorm is learnt" above "$(key accuracy "$out")" 0.9
expect_exit 0 "predict prints one label a row" "$MEDLEY" predict --model m.medley new.csv
check "as many labels as rows" test "$(wc -l <"$out")" -eq 200
expect_text "labels come back as they were written" '^-1$' "$out"
cp "$out" labels.txt

# ---- the same data in other clothes ----
"$MEDLEY" convert --to svmlight --output new.svm new.csv
gzip -k new.svm
cut -d, -f1-20 new.csv >bare.csv
same() { "$MEDLEY" predict --model m.medley "$@" | cmp -s - labels.txt; }
check "svmlight gives the same labels" same new.svm
# What the last column of the blocks counts.
"$MEDLEY" generate waveform --rows 100 --output three.csv
"$MEDLEY" train --model three.medley --method obscure three.csv >"$out" 2>"$err"
expect_text "weights of columns are called features" '^block  .* rows/features$' "$out"
"$MEDLEY" train --model three.medley --method obscure --kernel 'rbf(sigma=4)' three.csv >"$out" 2>"$err"
expect_text "rows are support rows" '^block  .* support rows$' "$out"
# Indices from 0, as scikit-learn writes them: of new rows, in which feature 0 is 0 and left out, others are not moved.
awk '{ for (i = 2; i <= NF; i++) { split($i, pair, ":"); $i = pair[1] - 1 ":" pair[2] } print }' new.svm >from0.svm
sed 's/ 0:[^ ]*//' from0.svm >without0.svm
sed 's/ 1:[^ ]*//' new.svm >without1.svm
"$MEDLEY" train --quiet --model from0.medley --epochs 3 --method spom from0.svm
"$MEDLEY" train --quiet --model from1.medley --epochs 3 --method spom new.svm
"$MEDLEY" predict from0.medley without0.svm >from0.txt
"$MEDLEY" predict from1.medley without1.svm >from1.txt
check "svmlight, indices from 0: the model knows" cmp from0.txt from1.txt
expect_exit 3 "indices from 0 for a model of others" "$MEDLEY" predict from1.medley from0.svm
expect_text "says so" 'from0.svm: the file has features with the index 0, and the training data had none' "$err"
check "gzip gives the same labels" same new.svm.gz
check "standard input gives the same labels" bash -c \
    '"$MEDLEY" predict --model m.medley --format svmlight - <new.svm | cmp -s - labels.txt'
check "a file without the label column gives the same labels" same bare.csv
"$MEDLEY" predict --model m.medley --output written.txt new.csv
check "--output writes the same labels" cmp -s written.txt labels.txt

# ---- the same model in other clothes ----
cp m.medley plain.medley
gzip -k plain.medley
same_by() { "$MEDLEY" predict --model "$1" new.csv | cmp -s - labels.txt; }
check "a compressed model predicts" same_by plain.medley.gz
check "a model from a pipe predicts" same_by <(cat plain.medley)
train --method spom ring.csv >/dev/null
"$MEDLEY" train --model small.medley.gz --eta0 1 --epochs 10 --quiet --method spom ring.csv >/dev/null
check "train --model FILE.gz writes one" bash -c 'zcat small.medley.gz | cmp - m.medley'
expect_exit 0 "that can be inspected" "$MEDLEY" inspect small.medley.gz
long=$(printf 'n%.0s' {1..248}).medley
expect_exit 0 "a model with a name of 255 bytes" "$MEDLEY" train --model "$long" --eta0 1 --epochs 1 --quiet ring.csv
check "that predicts" "$MEDLEY" predict --model "$long" new.csv
expect_exit 1 "a name of 256 bytes" "$MEDLEY" train --model "n$long" ring.csv
refute_text "is refused before anything is learnt" 'training' "$err"
mv plain.medley m.medley
rm ./*.medley.gz

# ---- probabilities and JSON ----
expect_exit 0 "predict --proba runs" "$MEDLEY" predict --model m.medley --proba new.csv
check "probabilities sum to one" awk 'NR > 1 && ($2 + $3 < 0.999 || $2 + $3 > 1.001) { exit 1 }' "$out"
expect_exit 0 "train --json runs" train --json ring.csv
for name in task method loss penalty lambda C spicy_C examples parts blocks active_blocks objective \
    dual gap iterations epochs seconds peak_rss_mb model_bytes seed threads blas converged; do
    expect_text "train --json has $name" "\"$name\":" "$out"
done
check "train --json is one line" test "$(wc -l <"$out")" -eq 1
check "C, lambda and spicy_C agree" awk -v c="$(key C "$out")" -v s="$(key spicy_C "$out")" \
    'BEGIN { d = c * s - 1; exit !(d < 1e-6 && d > -1e-6) }'
expect_exit 0 "eval --json runs" "$MEDLEY" eval --model m.medley --json new.csv
for name in task examples parts accuracy confusion seconds per_second; do
    expect_text "eval --json has $name" "\"$name\":" "$out"
done
expect_exit 0 "inspect shows the blocks" "$MEDLEY" inspect --top 2 m.medley
expect_text "inspect --top leaves out the others" 'and [12] more' "$out"
printf '1,2,caf\351\n3,4,"say ""hi"""\n' >latin.csv
expect_exit 0 "labels in another encoding" "$MEDLEY" train --model latin.medley --eta0 1 --epochs 1 \
    --quiet latin.csv
expect_exit 0 "labels in another encoding as JSON" "$MEDLEY" inspect --json latin.medley
expect_text "JSON is valid UTF-8" '"caf\\ufffd","say \\"hi\\""' "$out"
expect_exit 0 "inspect --json runs" "$MEDLEY" inspect --json m.medley
expect_text "inspect --json has weights" '"weight":' "$out"

# ---- one seed, one model ----
for method in spom average best; do
    "$MEDLEY" train --model one.medley --method $method --epochs 3 --threads 1 --quiet words.data >/dev/null
    "$MEDLEY" train --model two.medley --method $method --epochs 3 --threads 2 --quiet words.data >/dev/null
    check "$method: 1 and 2 threads give the same bytes" cmp one.medley two.medley
done
"$MEDLEY" train --model two.medley --method best --epochs 3 --seed 2 --quiet words.data >/dev/null
check "another seed gives another model" bash -c '! cmp -s one.medley two.medley'

# ---- a small memory budget ----
train --kernel 'rbf(sigma2=5)' words.data >/dev/null
"$MEDLEY" predict --model m.medley words.data >full.txt
expect_exit 0 "kernels are computed on the fly under --memory" \
    train --kernel 'rbf(sigma2=5)' --memory 100K words.data
"$MEDLEY" predict --model m.medley words.data >streamed.txt
check "and give the same predictions" bash -c \
    'test "$(diff full.txt streamed.txt | grep -c "^<")" -le 1'

# ---- views, folds, scaling, banks ----
"$MEDLEY" generate blobs --rows 200 --output blobs.csv
views=(--view a=blobs-view1.csv --view b=blobs-view2.csv --view noise=blobs-view3.csv)
expect_exit 0 "views without DATA" train "${views[@]}" --kernel 'rbf(auto)' --holdout 0.25 --json
check "views together do well" above "$(key holdout_accuracy "$out")" 0.8
expect_text "every view has its kernel" '@noise' "$out"
expect_exit 0 "eval takes the same views" "$MEDLEY" eval --model m.medley "${views[@]}" --json
expect_exit 2 "a view that is missing is named" "$MEDLEY" eval --model m.medley "${views[@]:0:2}"
expect_text "with the remedy" '--view (b|noise)=FILE' "$err"
expect_exit 0 "columns of a view" train --view a=blobs-view1.csv:1-3 --kernel linear --json
expect_exit 0 "scaling of one view" train "${views[@]}" --scale standard --scale b=minmax
expect_exit 0 "--folds by the file's column" train --folds 0-4 words.data
expect_exit 0 "--folds by a fixed division" train --folds 1-4/5 --json ring.csv
check "four fifths of the rows" test "$(key examples "$out")" -eq 240
expect_exit 0 "the other fifth" "$MEDLEY" eval --model m.medley --folds 0/5 --json ring.csv
check "one fifth of the rows" test "$(key parts "$out")" -eq 60
expect_exit 0 "--sample draws rows" train --sample 50 --json ring.csv
check "so many" test "$(key examples "$out")" -eq 50
expect_exit 0 "lists and ranges expand over views" train --views all+each --epochs 1 \
    --kernel 'rbf(sigma={0.5,2..3})' --kernel 'poly(degree=1..2)@all' --json ring.csv
check "to 3 x 21 + 2 kernels" test "$(grep -o '"name":' "$out" | wc -l)" -eq 65
printf '# a bank\nlinear\nrbf(gamma=0.1)  # narrow\n' >bank.txt
expect_exit 0 "--kernels reads a file" train --kernels bank.txt --json ring.csv
check "of two kernels" test "$(grep -o '"name":' "$out" | wc -l)" -eq 2
expect_exit 0 "image tiles" train --views grid:2x2 --epochs 1 --json words.data
expect_text "are named" '@tile2x2' "$out"
expect_exit 0 "explicit weights and an l1 penalty" train --kernel 'linear(explicit)' --penalty l1 \
    --C 0.1 --scale standard ring.csv
expect_exit 0 "logistic loss, composite penalty, averaging" train --loss logistic \
    --penalty 'l2+group-lasso' --average ring.csv

# ---- what the theory says of rates and regret ----
for eta0 in auto paper theory 0.3; do
    for data in ring.csv words.data; do
        expect_exit 0 "eta0 $eta0, $data" "$MEDLEY" train --model m.medley --method spom --eta0 $eta0 --epochs 5 --quiet --json $data
        check "regret is below its bound" above "$(key regret_bound "$out")" "$(key regret "$out")"
        check "and above nothing" above "$(key regret "$out")" 0
    done
done

theory() { # theory NAME OPTIONS...: the options are outside of the proposition
    local name=$1
    shift
    expect_exit 0 "$name" "$MEDLEY" train --model m.medley --method spom --epochs 5 --quiet --json "$@" ring.csv
    refute_text "$name: nothing is known" '"theory"' "$out"
}
theory "rounds of several examples" --batch 4
theory "a prox every third round" --prox-every 3
theory "steps that are left out" --loss logistic --skip-certain 0.4
expect_exit 0 "all steps" "$MEDLEY" train --model m.medley --method spom --epochs 5 --loss logistic --skip-certain 0 \
    --quiet --json ring.csv
expect_text "and it is" '"theory"' "$out"
"$MEDLEY" train --model m.medley --method spom --epochs 5 --penalty l2 --radius 7 --C 0.01 --quiet --json ring.csv >"$out"
plain=$(key G "$out") lambda=$(key lambda "$out")
"$MEDLEY" train --model m.medley --method spom --epochs 5 --penalty absorbed-l2 --radius 7 --C 0.01 --quiet --json ring.csv >"$out"
check "an absorbed square adds sigma times the radius to G" awk -v a="$(key G "$out")" -v g="$plain" -v l="$lambda" \
    'BEGIN { d = a - g - 7 * l; exit !(d < 1e-6 && d > -1e-6) }'

# ---- precomputed kernels ----
expect_exit 0 "kernel writes Gram matrices" "$MEDLEY" kernel --kernel 'rbf(sigma={2,4})' \
    --output K.npy --quiet ring.csv
tail -n +2 ring.csv | sed 's/.*,//' >labels.lst
expect_exit 0 "--gram and --labels need no DATA" train --gram K.npy --labels labels.lst --json
check "a stack of two" test "$(grep -o '"name":' "$out" | wc -l)" -eq 2
expect_exit 0 "eval takes new rows by training rows" "$MEDLEY" eval --model m.medley --gram K.npy \
    --labels labels.lst --json
check "precomputed kernels predict" above "$(key accuracy "$out")" 0.9

# ---- a file of a few bytes that claims a hundred million columns ----
printf '1 1:1\n2 100000000:1\n1 1:2\n2 3:1\n' >huge.svm
for method in spicy spom obscure; do
    expect_exit 0 "$method learns from columns that occur" "$MEDLEY" train --quiet --model m.medley \
        --method $method --json huge.svm
    check "in little memory" above 400 "$(key peak_rss_mb "$out")"
    check "and a small model" test "$(wc -c <m.medley)" -lt 100000
done
expect_exit 0 "and predicts" "$MEDLEY" eval --model m.medley --json huge.svm
expect_exit 3 "scaling is refused" "$MEDLEY" train --quiet --model m.medley --scale maxabs huge.svm
expect_text "with the remedy" 'of 100000000 columns hardly any occur .* small numbers' "$err"
expect_exit 3 "explicit weights too" "$MEDLEY" train --quiet --model m.medley --method spom \
    --kernel 'linear(explicit)' huge.svm
printf 'a,label\n1,x\n2,y\n1,x\n2,y\n' >four.csv
expect_exit 3 "and a choice of columns" "$MEDLEY" train --quiet --model m.medley --view 'w=huge.svm:1-3' four.csv
expect_text "with the reason" 'a choice of columns keeps a number for each column' "$err"

# ---- held-out data and interruption ----
expect_exit 0 "--dev stops early" train --epochs 200 --patience 2 --dev new.csv --json ring.csv
expect_text "and says so" '"converged":true' "$out"
rm -f m.medley
"$MEDLEY" train --model m.medley --epochs 100000 --eta0 1 ring.csv >"$out" 2>"$err" &
for _ in $(seq 300); do # until an epoch is done
    grep -q '^training' "$err" && break
    sleep 0.1
done
kill -INT $!
wait $!
check "Ctrl-C ends with 130" test $? -eq 130
expect_exit 0 "and leaves a usable model" "$MEDLEY" eval --model m.medley new.csv
check "no temporary files are left" bash -c '! ls | grep -E "medley\.|\.part$|\.tmp$"'

# ---- the table of blocks ----
expect_exit 0 "weights that are alike" "$MEDLEY" train --model m.medley --method spom --epochs 2 --penalty l2 --views each --kernel rbf ring.csv
expect_text "bars are norms then" '^\(the penalty weighs all blocks alike: bars are norms\)' "$out"
check "largest first" bash -c 'grep -a "^rbf" "$1" | awk "{ print \$3 }" | sort -c -g -r' - "$out"
expect_text "kernels have support rows" '^block .* norm  support rows$' "$out"
"$MEDLEY" generate tagged --rows 20 --output tagged.txt
expect_exit 0 "templates" "$MEDLEY" train --model m.medley --template chunk --epochs 1 tagged.txt
expect_text "have features" '^block .* norm  features$' "$out"
sed '1s/x1,x2/größe,a_name_that_is_so_long_that_no_column_of_a_table_has_room_for_it/' ring.csv >long.csv
expect_exit 0 "long names" "$MEDLEY" train --model m.medley --method spom --epochs 1 --views each --kernel linear long.csv
expect_text "are cut" '^linear@a_name_that_is_so.*….*room_for_it  [01]' "$out"
check "columns stay aligned" python3 -c '
import sys
lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
start = next(i for i, line in enumerate(lines) if line.startswith("block "))
place = lines[start].index("weight")
rows = [line for line in lines[start + 1:] if line.startswith("linear@")]
assert len(rows) == 20 and all(line[place - 1] == " " and line[place] in "01" for line in rows), rows' "$out"
expect_exit 0 "one block is left" "$MEDLEY" train --model m.medley --method spicy --spicy-C 20 --views each --kernel rbf ring.csv
refute_text "then weights are not alike" 'weighs all blocks alike' "$out"
expect_exit 0 "kernels on sequences" "$MEDLEY" train --model m.medley --epochs 1 --kernel linear words.data
expect_text "have rows, and pairs of labels features" '^block .* norm  rows/features$' "$out"
