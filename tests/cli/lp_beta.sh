#!/usr/bin/env bash
# Methods svm and lp-beta: many labels, two labels, kernels from a file, what is refused; and where
# this build has no library for linear programs, that lp-beta says so.
source "$(dirname "$0")/lib.sh"
data=${MEDLEY_DATA:-}
[ -z "$data" ] || data=$(cd "$data" && pwd)
cd "$work" || exit 1

"$MEDLEY" generate waveform --rows 150 --output three.csv
"$MEDLEY" generate waveform --rows 200 --seed 2 --output three_new.csv
"$MEDLEY" generate ringnorm --rows 150 --output two.csv
"$MEDLEY" generate ringnorm --rows 200 --seed 2 --output two_new.csv
bank=(--scale standard --kernel linear --kernel 'rbf(sigma2={5,20,80})')

expect_exit 0 "methods are listed" "$MEDLEY" list methods
expect_text "svm is in the list, with its C" "^ *svm .*C is LIBSVM's, default 10" "$out"
expect_text "lp-beta is in the list" "^ *lp-beta .*LP-beta" "$out"

methods=(svm)
if "$MEDLEY" train --model x.medley --method lp-beta --quiet three.csv >"$out" 2>"$err"; then
    methods+=(lp-beta)
else
    expect_exit 2 "lp-beta refuses without its library" "$MEDLEY" train --model y.medley \
        --method lp-beta --quiet three.csv
    expect_text "and names the package" "install coinor-libclp-dev and build Medley again" "$err"
    check "and writes no model" test ! -e y.medley
    skip "lp-beta" "this build has no library for linear programs"
fi

for method in "${methods[@]}"; do
    for set in two three; do
        expect_exit 0 "$method learns $set" "$MEDLEY" train --model m.medley --method $method "${bank[@]}" \
            --json --quiet $set.csv || continue
        check "$method, $set: C is 10" test "$(key C "$out")" = 10
        check "$method, $set: certified" above 0.01 "$(key gap "$out")"
        check "$method, $set: converged" test "$(key converged "$out")" = true
        expect_exit 0 "$method, $set: evaluates" "$MEDLEY" eval --model m.medley --json ${set}_new.csv
        check "$method, $set: learns" above "$(key accuracy "$out")" 0.75
        expect_exit 0 "$method, $set: is told of" "$MEDLEY" inspect m.medley
        expect_text "$method, $set: by its name" "learnt by $method" "$out"
    done
    "$MEDLEY" kernel --output k.npy --quiet "${bank[@]}" three.csv >/dev/null
    awk -F, 'NR > 1 { print $NF }' three.csv >labels.txt
    expect_exit 0 "$method: kernels from a file" "$MEDLEY" train --model g.medley --method $method \
        --gram k.npy --labels labels.txt --json --quiet
    check "$method: they are certified" above 0.01 "$(key gap "$out")"
    expect_exit 2 "$method: no numbers" "$MEDLEY" train --model x.medley --method $method \
        --task regression --gram k.npy --labels labels.txt
    expect_text "$method: in words" "learns labels, not numbers; use --method spicy" "$err"
    expect_exit 2 "$method: hinge only" "$MEDLEY" train --model x.medley --method $method \
        --loss logistic three.csv
    expect_text "$method: in words" "whose loss is hinge" "$err"
    expect_exit 2 "$method: no other penalty" "$MEDLEY" train --model x.medley --method $method \
        --penalty elastic three.csv
    expect_text "$method: in words" "leave out --penalty elastic" "$err"
done

# all kernels have the same weight in one, and beta in the other
expect_exit 0 "svm: weights" "$MEDLEY" train --model m.medley --method svm "${bank[@]}" three.csv
expect_text "svm: a quarter each" "rbf.* 0\.2500 " "$out"

if [ -z "$data" ] || [ ! -d "$data/mfeat" ] || [[ $MEDLEY_BUILD == *asan* ]]; then
    skip "mfeat" "MEDLEY_DATA names no folder with mfeat/, or the build is a slow one"
    exit 0
fi
views=()
for view in fac fou kar mor pix zer; do
    views+=(--view "$view=$data/mfeat/mfeat-$view.csv.gz")
done
for method in "${methods[@]}"; do
    expect_exit 0 "mfeat: $method" "$MEDLEY" train --model m.medley --method $method --quiet --json \
        "${views[@]}" --kernel 'rbf(auto)' --holdout 0.2
    check "mfeat: $method: at least 98 % on one held-out fifth" above "$(key holdout_accuracy "$out")" 0.98
done
