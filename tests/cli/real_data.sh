#!/usr/bin/env bash
# Real data, where they are: MEDLEY_DATA (default ../shared/data beside the repository).
source "$(dirname "$0")/lib.sh"
data=${MEDLEY_DATA:-$(dirname "$0")/../../../shared/data}
if [ ! -d "$data" ]; then
    skip "real data" "there is no $data; set MEDLEY_DATA"
    exit 0
fi
data=$(cd "$data" && pwd)
cd "$work" || exit 1

views=()
for view in fac fou kar mor pix zer; do
    views+=(--view "$view=$data/mfeat/mfeat-$view.csv.gz")
done
expect_exit 0 "mfeat: six views, one Gaussian each" "$MEDLEY" train --model m.medley --quiet --json \
    "${views[@]}" --kernel 'rbf(auto)' --holdout 0.2 --epochs 20
check "mfeat: at least 98.5 % on one held-out fifth" above "$(key holdout_accuracy "$out")" 0.985

for set in sonar ionosphere; do
    expect_exit 0 "$set: the default bank" "$MEDLEY" train --model m.medley --quiet --json \
        --scale standard --folds 1-4/5 "$data/uci/$set.csv.gz"
    expect_exit 0 "$set: evaluates" "$MEDLEY" eval --model m.medley --folds 0/5 --json \
        "$data/uci/$set.csv.gz"
    check "$set: at least 80 %" above "$(key accuracy "$out")" 0.8
done

if [[ $MEDLEY_BUILD == *asan* ]]; then
    skip "MNIST and letters" "too slow with sanitizers"
    exit 0
fi
expect_exit 0 "letters: three kernels on fold 0" "$MEDLEY" train --model m.medley --quiet --json \
    --folds 0 --kernel 'linear(norm=diag)' --kernel 'poly(degree=2,norm=diag)' \
    --kernel 'rbf(sigma2=5)' --epochs 20 "$data/ocr/letter.data.gz"
expect_exit 0 "letters: evaluates on fold 1" "$MEDLEY" eval --model m.medley --folds 1 --json \
    "$data/ocr/letter.data.gz"
check "letters: at least 86 % in their words" above "$(key accuracy "$out")" 0.86
expect_exit 0 "chunks: a conditional random field" "$MEDLEY" train --model m.medley --quiet --json \
    --template chunk --loss logistic --penalty l2 --C 4 --eta0 0.1 --schedule constant --average \
    --epochs 4 "$data/conll2000/train.txt.gz"
expect_exit 0 "chunks: evaluates" "$MEDLEY" eval --model m.medley --json "$data/conll2000/test.txt.gz"
check "chunks: F1 at least 93 %" above "$(key f1 "$out")" 0.93
expect_text "chunks: rare labels of new text do not matter" '"unknown_labels":2' "$out"
expect_exit 0 "MNIST: 10,000 rows, three kernels, 2 GB" "$MEDLEY" train --model m.medley --quiet --json \
    --sample 10000 --memory 2G "$data/mnist/train-images-idx3-ubyte.gz"
check "MNIST: peak memory under 2 GB" above 2048 "$(key peak_rss_mb "$out")"
expect_exit 0 "MNIST: evaluates" "$MEDLEY" eval --model m.medley --json \
    "$data/mnist/t10k-images-idx3-ubyte.gz"
check "MNIST: at least 96 %" above "$(key accuracy "$out")" 0.96
