#!/usr/bin/env bash
# The methods for comparison: gauss-seidel, simplemkl, hessianmkl, levelmkl, silp, the two around Pegasos, and the
# batch forms of average and best.
# Problems with known optima are used where they are: MEDLEY_REF (default ../shared/ref beside the
# repository).
source "$(dirname "$0")/lib.sh"
ref=${MEDLEY_REF:-$(dirname "$0")/../../../shared/ref}
[ ! -d "$ref" ] || ref=$(cd "$ref" && pwd)
cd "$work" || exit 1

# within A B SHARE: is A between B and B times 1 + SHARE, but for rounding of kernels?
within() { awk -v a="$1" -v b="$2" -v s="$3" 'BEGIN { exit !(a >= b * (1 - 1e-6) && a <= b * (1 + s)) }'; }

"$MEDLEY" generate ringnorm --rows 120 --output two.csv
"$MEDLEY" generate ringnorm --rows 200 --seed 2 --output new.csv
squared=()
bank=(--scale standard --kernel linear --kernel 'rbf(sigma2={5,20,80})' --normalize trace)

# ---- the same optimum ----
expect_exit 0 "spicy trains" "$MEDLEY" train --model m.medley --method spicy --gap 1e-6 "${bank[@]}" \
    --spicy-C 0.2 --json --quiet two.csv || exit
optimum=$(key objective "$out")
wrappers=(gauss-seidel simplemkl hessianmkl levelmkl silp)
if "$MEDLEY" train --model x.medley --method silp --quiet two.csv 2>&1 | grep -q 'built without'; then
    skip "levelmkl and silp" "this build has no library for linear programs"
    wrappers=(gauss-seidel simplemkl hessianmkl)
fi
rm -f x.medley
for method in "${wrappers[@]}"; do
    expect_exit 0 "$method trains" "$MEDLEY" train --model $method.medley --method $method --gap 1e-3 \
        --max-iter 5000 "${bank[@]}" --spicy-C 0.2 --json --quiet two.csv || continue
    check "$method reaches the wanted gap" above 1e-3 "$(key gap "$out")"
    check "$method reaches the optimum of spicy" within "$(key objective "$out")" "$optimum" 1.1e-3
    check "$method says how many problems it solved" above "$(key newton_steps "$out")" 1
    [ $method = gauss-seidel ] || squared+=($method)
    expect_exit 0 "$method predicts" "$MEDLEY" eval --model $method.medley --json new.csv
    check "$method learns" above "$(key accuracy "$out")" 0.9
    expect_exit 0 "$method is in the list" "$MEDLEY" list methods
    expect_text "$method has its line" "^ *$method +for comparison" "$out"
done

# ---- the square of the block 1-norm: weights on the simplex, as in the papers ----
expect_exit 0 "spicy trains with mkl" "$MEDLEY" train --model m.medley --method spicy --penalty mkl --gap 1e-6 \
    "${bank[@]}" --spicy-C 0.01 --json --quiet two.csv || exit
optimum=$(key objective "$out")
for method in "${squared[@]}"; do
    expect_exit 0 "$method trains with mkl" "$MEDLEY" train --model x.medley --method $method --penalty mkl \
        --gap 1e-3 --max-iter 5000 "${bank[@]}" --spicy-C 0.01 --json --quiet two.csv || continue
    check "$method reaches the wanted gap with mkl" above 1e-3 "$(key gap "$out")"
    check "$method reaches the optimum of spicy with mkl" within "$(key objective "$out")" "$optimum" 1.1e-3
    rm -f x.medley
done

# ---- weights of blocks ----
weights=(--block-weight 'linear*=0.5' --block-weight 'rbf(sigma2=20*=2.5')
for penalty in group-lasso mkl; do
    expect_exit 0 "spicy obeys weights of blocks, $penalty" "$MEDLEY" train --model m.medley --method spicy --gap 1e-6 \
        --penalty $penalty "${bank[@]}" "${weights[@]}" --spicy-C 0.02 --json --quiet two.csv || continue
    optimum=$(key objective "$out")
    for method in "${squared[@]}" $([ $penalty = mkl ] || echo gauss-seidel); do
        expect_exit 0 "$method obeys them" "$MEDLEY" train --model x.medley --method $method --penalty $penalty --gap 1e-3 \
            --max-iter 5000 "${bank[@]}" "${weights[@]}" --spicy-C 0.02 --json --quiet two.csv || continue
        check "$method, $penalty: the optimum with weights" within "$(key objective "$out")" "$optimum" 1.1e-3
        rm -f x.medley
    done
done

# ---- baselines ----
for method in average best; do
    expect_exit 0 "$method trains" "$MEDLEY" train --model b.medley --method $method "${bank[@]}" \
        --json --quiet two.csv || continue
    check "$method is certified" above 0.01 "$(key gap "$out")"
    check "$method has so many kernels" test "$(key active_blocks "$out")" \
        = "$([ $method = best ] && echo 1 || echo 4)"
    expect_exit 0 "$method predicts" "$MEDLEY" eval --model b.medley --json new.csv
    check "$method learns" above "$(key accuracy "$out")" 0.9
    expect_exit 0 "$method --epochs is online" "$MEDLEY" train --model b.medley --method $method \
        "${bank[@]}" --epochs 3 --json --quiet two.csv
    check "$method --epochs has no certificate" test "$(key gap "$out")" = null
done
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 60; i++) { a = i % 7 - 3; b = i % 11 - 5; print a "," b "," a * a + b / 2 } }' >numbers.csv
for method in "${wrappers[@]}" average best; do
    expect_exit 0 "$method learns numbers" "$MEDLEY" train --model n.medley --method $method --task regression \
        --spicy-C 0.01 --kernel linear --kernel rbf --json --quiet numbers.csv
    expect_exit 0 "$method predicts numbers" "$MEDLEY" eval --model n.medley --json numbers.csv
    check "$method explains them" above "$(key r2 "$out")" 0.8
done

# ---- around structured Pegasos: SPOM's objective, for sequences and classes ----
"$MEDLEY" generate handwriting --rows 12 --to letter --output words.data
"$MEDLEY" generate waveform --rows 90 --output wave.csv
letters=(--kernel 'linear(norm=diag)' --kernel 'poly(degree=2,norm=diag)' --kernel 'rbf(sigma2=5)' --bigram learned
    --penalty mkl --C 1 --json --quiet words.data)
waves=(--scale standard --kernel linear --kernel 'rbf(sigma2={5,20})' --normalize trace --penalty mkl --C 10
    --json --quiet wave.csv)
weighted=("${waves[@]}" --block-weight 'linear*=1.2' --block-weight 'rbf(sigma2=20,*=0.95')
for of in letters waves weighted; do
    declare -n given=$of
    expect_exit 0 "frank-wolfe finds the optimum of $of" "$MEDLEY" train --model f.medley --method frank-wolfe \
        --gap 1e-3 "${given[@]}" || continue
    optimum=$(sed -E 's/.*"objective":([0-9.e-]+).*"epochs":.*/\1/' "$out")
    for method in gauss-seidel-pegasos simplemkl-pegasos; do
        name="$method, $of"
        expect_exit 0 "$name" "$MEDLEY" train --model p.medley --method $method --epochs 250 --threads 1 \
            "${given[@]}" || continue
        found=$(sed -E 's/.*"objective":([0-9.e-]+).*"epochs":.*/\1/' "$out")
        check "$name: $found is near the optimum $optimum" within "$found" "$(awk -v o="$optimum" 'BEGIN { print o * 0.998 }')" 0.017
        sum=$(grep -oE '"weight":[0-9.e-]+' "$out" | awk -F: '{ s += $2 } END { print s }')
        check "$name: weights are on the simplex" within "$sum" 1 1e-6
        "$MEDLEY" train --model q.medley --method $method --epochs 250 --threads 2 "${given[@]}" >"$out"
        check "$name: one thread or two" cmp p.medley q.medley
    done
done
for method in gauss-seidel simplemkl; do
    expect_exit 2 "$method is not for sequences" "$MEDLEY" train --model x.medley --method $method words.data
    expect_text "and says what is" "whole sequences of them; use --method $method-pegasos" "$err"
    expect_exit 2 "$method-pegasos refuses elastic" "$MEDLEY" train --model x.medley --method $method-pegasos \
        --penalty elastic words.data
    expect_text "and says what it can do" "mkl.* only, and this is elastic; use --penalty mkl, or --method spom" "$err"
done

# ---- refusals ----
expect_exit 2 "simplemkl refuses elastic" "$MEDLEY" train --model x.medley --method simplemkl \
    --penalty elastic two.csv
expect_text "and says what it can do" "simplemkl learns with the penalties group-lasso and mkl only" "$err"
expect_exit 2 "gauss-seidel refuses mkl" "$MEDLEY" train --model x.medley --method gauss-seidel \
    --penalty mkl two.csv
expect_text "and says what it can do" "needs a penalty that is a sum over kernels" "$err"
check "no model is left behind" test ! -e x.medley

# ---- known optima ----
if [ ! -f "$ref/index.json" ]; then
    skip "known optima" "there is no $ref/index.json; set MEDLEY_REF"
    exit 0
fi
# one line an instance: problem rows loss penalty C objective
tr -d '\n ' <"$ref/index.json" | sed 's/},{/}\n{/g' | sed -E \
    's/.*"problem":"([^"]*)","N":([0-9]*).*"loss":"([^"]*)","reg":"([^"]*)","C":([^,]*),"objective":([^,]*).*/\1 \2 \3 \4 \5 \6/' >list
echo >>list # the last line has none
while read -r problem rows loss penalty C objective; do
    [ -n "$problem" ] || continue
    [[ $MEDLEY_BUILD != *asan* || $problem$loss == sonar60hinge ]] || continue
    case $loss in logit) loss=logistic ;; epsins) loss='epsilon(0.1)' ;; esac
    case $penalty in l1) penalty=group-lasso ;; en) penalty='elastic(t=0.5)' ;; q) penalty='block(q=1.5)' ;; esac
    task=binary
    [ $problem != friedman80 ] || task=regression
    for method in "${wrappers[@]}"; do
        [ $method = gauss-seidel ] || [ $penalty = group-lasso ] || continue
        name="$method, $problem, $loss, $penalty, C $C"
        expect_exit 0 "$name" "$MEDLEY" train --model r.medley --task $task --method $method --loss "$loss" \
            --penalty "$penalty" --spicy-C "$C" --gap 2e-3 --max-iter 5000 --gram "$ref/data/$problem/K.npy" \
            --labels "$ref/data/$problem/y.npy" --json --quiet || continue
        found=$(awk -v o="$(key objective "$out")" -v n="$rows" 'BEGIN { printf "%.12g", o * n }')
        dual=$(awk -v o="$(key dual "$out")" -v n="$rows" 'BEGIN { printf "%.12g", o * n }')
        check "$name: the known optimum" within "$found" "$objective" 2.1e-3
        check "$name: the dual value is below it" within "$objective" "$dual" 2.1e-3
    done
done <list
