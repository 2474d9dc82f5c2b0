#!/usr/bin/env bash
# --method spicy with squared norms (mkl, squared-block): the same optimum as frank-wolfe finds for the same
# --penalty and --C, if the data are such that no bias helps; numbers, several labels, paths; what is refused.
source "$(dirname "$0")/lib.sh"
export LC_ALL=C
cd "$work" || exit 1

near() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; exit !(d <= t && d >= -t) }'; }
at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }'; }

# train METHOD GAP ARGUMENTS...: sets objective, dual, gap
train() {
    local method=$1 asked=$2
    shift 2
    expect_exit 0 "$method $*" "$MEDLEY" train --model "$method.medley" --method "$method" --gap "$asked" --json --quiet "$@" || return
    sed -E 's/"epochs":\[[^]]*\],?//' "$out" >"$method.json"
    dual=$(key dual "$method.json") gap=$(key gap "$method.json") objective=$(key objective "$method.json")
    check "$method $*: gap $gap of $objective and $dual" awk -v p="$objective" -v d="$dual" -v g="$gap" \
        'BEGIN { e = g - (p - d) / p; exit !(d > 0 && d <= p && e < 1e-9 && e > -1e-9) }'
}

# Each row again with all signs turned, and the other label: the best score is odd, and has no bias.
"$MEDLEY" generate twonorm --rows 40 --seed 3 --dimension 4 --output half.csv
awk -F, -v OFS=, '
    NR == 1 { print; next }
    { print; for (i = 1; i < NF; i++) $i = -$i; $NF = -$NF; print }' half.csv >two.csv
check "both labels" test "$(awk -F, 'NR > 1 { print $NF }' two.csv | sort -u | wc -l)" -eq 2
"$MEDLEY" generate waveform --rows 60 --output three.csv
kernels=(--kernel 'rbf(sigma2=1)' --kernel 'rbf(sigma2=10)' --kernel linear --views all+each --scale none)

# ---- the objective of SPOM and OBSCURE ----
for loss in hinge logistic; do
    for penalty in mkl 'squared-block(q=1.25)' 'squared-block(q=2)' '2*mkl'; do
        for C in 0.1 3; do
            options=(--loss $loss --penalty "$penalty" --C $C "${kernels[@]}" two.csv)
            train frank-wolfe 1e-4 --epochs 2000 "${options[@]}"
            other_objective=$objective other_dual=$dual
            train spicy 1e-6 "${options[@]}"
            check "$loss, $penalty, C $C: the gap is reached" at_most "$gap" 1e-6
            check "$loss, $penalty, C $C: dual $dual is not above $other_objective" \
                at_most "$dual" "$(awk -v x="$other_objective" 'BEGIN { print x * (1 + 1e-6) }')"
            check "$loss, $penalty, C $C: objective $objective is not below $other_dual" \
                at_most "$(awk -v x="$other_dual" 'BEGIN { print x * (1 - 1e-6) }')" "$objective"
            for method in frank-wolfe spicy; do
                tr '{' '\n' <$method.json | sed -nE 's/^"name":"linear@all",.*"norm":([^,]*),.*/\1/p' >$method.norm
            done
            check "$loss, $penalty, C $C: norms are measured alike" awk \
                'NR == 1 { a = $1 } NR == 2 { d = a - $1; exit !(d * d < 0.01 * (1e-4 + a * a)) }' \
                frank-wolfe.norm spicy.norm
        done
    done
done

# ---- the saved model has it: lambda Omega of its norms, and the loss of its predictions ----
train spicy 1e-6 --loss hinge --penalty mkl --C 3 "${kernels[@]}" half.csv
"$MEDLEY" inspect --json spicy.medley >model.json
check "a bias where it helps" awk -v b="$(key bias model.json)" 'BEGIN { exit !(b * b > 1e-8) }'
"$MEDLEY" predict --model spicy.medley --scores half.csv >scores
{
    tr '{' '\n' <model.json | sed -nE 's/^"name":.*"norm":([^,]*),.*/norm \1/p'
    paste <(awk -F, 'NR > 1 { print $NF }' half.csv) <(awk 'NR > 1 { print $NF }' scores)
} | awk '
    $1 == "norm" { sum += $2; next }
    { margin = $1 * $2; loss += margin < 1 ? 1 - margin : 0; n++ }
    END { printf "%.10g\n", sum * sum / (2 * 3 * n) + loss / n }' >found
check "objective $objective of the saved model: $(cat found)" \
    awk -v p="$objective" '{ d = $1 / p - 1; exit !(d * d < 1e-10) }' found

# ---- numbers, several labels, paths ----
for loss in squared 'epsilon(0.1)'; do
    for penalty in mkl 'squared-block(q=1.25)'; do
        train spicy 1e-6 --task regression --loss "$loss" --penalty "$penalty" --C 1 half.csv
        check "numbers, $loss, $penalty: the gap is reached" at_most "$gap" 1e-6
    done
done
train spicy 1e-5 --penalty mkl three.csv
check "several labels: the gap is reached" at_most "$gap" 1e-5
check "several labels: C is that of online methods" near "$(key C spicy.json)" 10 1e-9
expect_exit 0 "a path" "$MEDLEY" path --method spicy --penalty mkl --count 8 --json half.csv

# ---- sums of terms ----
for penalty in elastic-mkl mkl+l2 'squared-block(q=1.5)+0.5*l2' 'block(q=1.2)+group-lasso'; do
    train spicy 1e-5 --penalty "$penalty" half.csv
    check "$penalty: the gap is reached" at_most "$gap" 1e-5
done

# ---- refused ----
for penalty in 'mkl+squared-block(q=1.5)' 'squared-block(q=3)+l2' mkl+none 'squared-block(q=1.0001)'; do
    expect_exit 2 "$penalty" "$MEDLEY" train --model no.medley --method spicy --penalty "$penalty" half.csv
    expect_text "$penalty: says what would do" "squared norm.*group-lasso.*mkl" "$err"
done
expect_exit 2 "gauss-seidel" "$MEDLEY" train --model no.medley --method gauss-seidel --penalty mkl half.csv
expect_text "gauss-seidel: says so" "sum over kernels" "$err"
