#!/usr/bin/env bash
# --certify: lower bounds of the objectives of online methods, which optima found by other programs
# confirm where they are (MEDLEY_REF, default ../shared/ref beside the repository); where they are
# told; that nothing else changes; what is refused.
source "$(dirname "$0")/lib.sh"
export LC_ALL=C
ref=${MEDLEY_REF:-$(dirname "$0")/../../../shared/ref}
[ ! -d "$ref" ] || ref=$(cd "$ref" && pwd)
cd "$work" || exit 1
norms=(1.05 1.25 2) losses=(hinge logistic softmax-margin) rounds=200
[[ $MEDLEY_BUILD != *asan* ]] || norms=(1.25) losses=(hinge softmax-margin) rounds=100

# certified NAME ARGUMENTS...: trains, and top.json has what was said but for the epochs
certified() {
    local name=$1
    shift
    expect_exit 0 "$name" "$MEDLEY" train --model m.medley --certify --json --quiet "$@" || return
    sed -E 's/"epochs":\[[^]]*\],?//' "$out" >top.json
    dual=$(key dual top.json) gap=$(key gap top.json) objective=$(key objective top.json)
    check "$name: the gap is that of objective $objective and dual $dual" awk -v p="$objective" \
        -v d="$dual" -v g="$gap" 'BEGIN { e = g - (p - d) / p; exit !(d > 0 && d < p && e < 1e-9 && e > -1e-9) }'
}
within() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a / b - 1; exit !(d <= t && d >= -t) }'; }
at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }'; }

"$MEDLEY" generate waveform --rows 90 --output wave.csv
"$MEDLEY" generate ringnorm --rows 60 --output two.csv
"$MEDLEY" generate treebank --rows 20 --output trees.conllu
tagged 40 3 >tagged.txt

# ---- known optima ----
if unpack_optima "$ref"; then
    for p in "${norms[@]}"; do
        for C in 1 10 100; do
            known=$(sed -nE 's/^ *"objective": ([0-9.e-]+),.*/\1/p' "$ref/multiclass/iris60__p${p}__C$C.json")
            certified "obscure, p $p, C $C" --method obscure --p $p --C $C --epochs2 300 --gram K.npy --labels y.npy
            check "obscure, p $p, C $C: $dual is not above $known" at_most "$dual" "$known"
            check "obscure, p $p, C $C: nor far below" at_most "$(awk -v k="$known" 'BEGIN { print 0.5 * k }')" "$dual"
        done
    done
    certified "pegasos" --method pegasos --p 1.25 --C 1 --epochs 500 --gram K.npy --labels y.npy
    check "pegasos: $dual is just below the optimum" within "$dual" 0.11560388 1e-3
    check "pegasos: but below" at_most "$dual" 0.11560388
    certified "spom" --method spom --penalty 'squared-block(1.25)' --C 1 --epochs 500 --gram K.npy --labels y.npy
    check "spom: $dual is just below the optimum" within "$dual" 0.11560388 1e-2
    check "spom: but below" at_most "$dual" 0.11560388
fi

# ---- every task, loss and penalty ----
for loss in "${losses[@]}"; do
    certified "rows, $loss" --method spom --loss $loss --scale standard --epochs 60 --C 1 wave.csv
    check "rows, $loss: a gap worth telling" at_most "$gap" 0.25
    certified "sequences, $loss" --template chunk --loss $loss --epochs 20 --C 1 tagged.txt
    check "sequences, $loss: a gap worth telling" at_most "$gap" 0.7
    certified "trees, $loss" --unlabelled --loss $loss --epochs 5 --C 1 --hash-bits 12 trees.conllu
done
for penalty in mkl group-lasso l2 absorbed-l2 block squared-block elastic elastic-mkl l2+mkl; do
    certified "penalty $penalty" --method spom --penalty $penalty --scale standard --epochs 60 --C 1 wave.csv
    check "penalty $penalty: a gap worth telling" at_most "$gap" 0.4
done
# Strong penalties, long runs: objective and bound meet, and a bound that were too high would show.
meet=(--method pegasos --p 2 --epochs $rounds)
for loss in "${losses[@]}"; do
    certified "trees, $loss, at the optimum" "${meet[@]}" --unlabelled --loss $loss --C 0.01 --hash-bits 12 \
        --template arc-form-upos trees.conllu
    check "trees, $loss, at the optimum: a gap of $gap" at_most "$gap" 0.1
    certified "templates, $loss, at the optimum" "${meet[@]}" --template chunk --loss $loss --C 0.1 tagged.txt
    check "templates, $loss, at the optimum: a gap of $gap" at_most "$gap" 0.1
    certified "rows, $loss, at the optimum" "${meet[@]}" --scale standard --loss $loss --C 0.1 wave.csv
    check "rows, $loss, at the optimum: a gap of $gap" at_most "$gap" 0.02
    certified "rows on the fly, $loss, at the optimum" "${meet[@]}" --scale standard --loss $loss --C 0.1 \
        --memory 20K wave.csv
    check "rows on the fly, $loss, at the optimum: a gap of $gap" at_most "$gap" 0.02
done
certified "the mean of iterates" --method spom --average --average-from 0.5 --scale standard --epochs 60 \
    --C 1 wave.csv
certified "two labels have spicy, which tells in any case" two.csv
expect_text "two labels have spicy" '"method":"spicy"' "$out"
certified "with calibration" --method spom --calibrate --epochs 5 wave.csv
"$MEDLEY" generate waveform --rows 60 --seed 2 --output other.csv
certified "early stopping" --method spom --scale standard --C 1 --dev other.csv --patience 3 --epochs 50 wave.csv
certified "relations of arcs have none of it" --epochs 2 --hash-bits 12 trees.conllu

# ---- nothing else changes ----
plain() { sed -E 's/"seconds":\{[^}]*\},//; s/"(dual|gap|seconds[a-z_]*|peak_rss_mb|model)":[^,}]*,?//g'; }
for loss in hinge logistic; do
    run=(--method spom --loss $loss --scale standard --epochs 10)
    "$MEDLEY" train --model without.medley --json --quiet "${run[@]}" wave.csv | plain >without.json
    "$MEDLEY" train --model m.medley --certify --json --quiet "${run[@]}" wave.csv | plain >with.json
    check "$loss: the run is the same" cmp without.json with.json
    for model in without m; do
        "$MEDLEY" predict --scores --model $model.medley wave.csv >$model.txt
    done
    check "$loss: the model is the same" cmp without.txt m.txt
done
same=(--method spom --loss logistic --scale standard --epochs 10 --C 1 --kernel rbf --kernel 'linear(norm=diag)')
certified "kept kernels" "${same[@]}" --threads 1 wave.csv
kept=$dual
certified "two threads" "${same[@]}" --threads 2 wave.csv
check "two threads: the same dual" test "$dual" = "$kept"
certified "kernels on the fly" "${same[@]}" --memory 20K wave.csv
check "kernels on the fly: $dual is $kept" within "$dual" "$kept" 1e-3
certified "explicit weights" --method spom --scale standard --epochs 30 --C 1 --kernel 'linear(explicit)' wave.csv
explicit=$dual
certified "the same as a kernel" --method spom --scale standard --epochs 30 --C 1 --kernel linear wave.csv
check "explicit or not: $explicit and $dual" within "$dual" "$explicit" 2e-2

# ---- resumed ----
for run in "--method obscure --epochs1 2 --epochs2" "--method spom --loss logistic --eta0 1 --average --epochs"; do
    rm -f run.checkpoint
    # shellcheck disable=SC2086 # words
    {
        "$MEDLEY" train --certify --model whole.medley --quiet $run 8 wave.csv >/dev/null
        "$MEDLEY" train --certify --model parts.medley --quiet --checkpoint run.checkpoint $run 3 wave.csv >/dev/null
        expect_exit 0 "$run: resumed" "$MEDLEY" train --certify --model parts.medley --quiet \
            --checkpoint run.checkpoint --resume $run 8 wave.csv
        check "$run: the same bytes" cmp whole.medley parts.medley
        expect_exit 2 "$run: without --certify it is another run" "$MEDLEY" train --model parts.medley \
            --quiet --checkpoint run.checkpoint --resume $run 8 wave.csv
    }
done

# ---- where it is told ----
expect_exit 0 "train says" "$MEDLEY" train --model m.medley --method spom --certify --epochs 20 --report r.html wave.csv
expect_text "dual and gap" '^dual 0\.[0-9]+, gap [0-9.]+ %: no weights have an objective below the dual$' "$out"
expect_text "and epochs" ', 20 epochs' "$out"
expect_text "the report, too" 'lower by (more than|up to)' r.html
expect_exit 0 "inspect says" "$MEDLEY" inspect m.medley
expect_text "the same" '^dual 0\.[0-9]+, gap [0-9.]+ %' "$out"
expect_exit 0 "inspect --json" "$MEDLEY" inspect --json m.medley
expect_text "has numbers" '"dual":0\.[0-9]+,"gap":0\.[0-9]+' "$out"
expect_exit 0 "a path" "$MEDLEY" path --method spom --penalty group-lasso --scale standard --certify --count 4 \
    --epochs 100 --quiet wave.csv
check "has a gap for each lambda" test "$(grep -Ec '^ +[0-9.e-]+ +[0-9.e+]+ +[0-9.]+ +[0-9.e-]+ % +[0-9]+' "$out")" -eq 4

# ---- what is refused ----
refuse() { # refuse PATTERN NAME ARGUMENTS...
    local pattern=$1 name=$2
    shift 2
    expect_exit 2 "$name is refused" "$MEDLEY" train --model bad.medley --certify --quiet "$@"
    expect_text "$name: why" "$pattern" "$err"
    check "$name: in one sentence" test "$(wc -l <"$err")" -eq 1
    check "$name: nothing is written" test ! -e bad.medley
}
unknown='--certify needs a penalty whose conjugate .* and that of --penalty'
refuse "$unknown l1 does not; use mkl" "l1" --template chunk --penalty l1 tagged.txt
refuse "$unknown sparse-group" "sparse-group" --template chunk --penalty sparse-group tagged.txt
refuse "$unknown none" "none" --method spom --penalty none wave.csv
refuse "$unknown l2\\+l1" "l2+l1" --template chunk --penalty l2+l1 tagged.txt
refuse '--certify has no place in --method average' "average" --method average wave.csv
refuse '--certify has no place in --method best' "best" --method best wave.csv
expect_exit 2 "a path of l1" "$MEDLEY" path --certify --template chunk --penalty l1 --count 2 --quiet tagged.txt
expect_text "a path of l1: why" "$unknown l1" "$err"

# ---- kernels that are not positive semi-definite have no certificate ----
"$MEDLEY" generate ringnorm --rows 80 --output few.csv
doubtful=(--kernel 'bspline(zeros=0.1)' --C 1 --penalty l2)
for run in '--method obscure --certify' '--method spom --certify' '--method frank-wolfe' '--method fista --loss logistic'; do
    # shellcheck disable=SC2086
    expect_exit 3 "bspline, $run" "$MEDLEY" train --quiet --model none.medley "${doubtful[@]}" $run few.csv
    expect_text "says why, and what to do" "kernel 'bspline.*' is not positive semi-definite: .*(leave out --certify|use --method obscure or spom)" "$err"
done
check "nothing is written" test ! -e none.medley
expect_exit 0 "without a certificate they are learnt" "$MEDLEY" train --quiet --model some.medley --method obscure "${doubtful[@]}" few.csv
expect_exit 0 "a column at a time it is one" "$MEDLEY" train --quiet --model some.medley --certify --method spom --views each \
    --epochs 3 --kernel 'bspline(zeros=0.1)' few.csv
