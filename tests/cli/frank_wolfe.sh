#!/usr/bin/env bash
# --method frank-wolfe: the gap that is asked for is reached, at optima that other programs have
# found where they are (MEDLEY_REF, default ../shared/ref beside the repository), on every task, with
# every loss and penalty; the same model whatever the threads, the memory or an interruption; what is refused.
source "$(dirname "$0")/lib.sh"
export LC_ALL=C
ref=${MEDLEY_REF:-$(dirname "$0")/../../../shared/ref}
[ ! -d "$ref" ] || ref=$(cd "$ref" && pwd)
cd "$work" || exit 1

at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }'; }
within() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a / b - 1; exit !(d <= t && d >= -t) }'; }

# proven NAME GAP ARGUMENTS...: trains to a gap; objective, dual and gap are said
proven() {
    local name=$1 asked=$2
    shift 2
    expect_exit 0 "$name" "$MEDLEY" train --model m.medley --method frank-wolfe --gap "$asked" --json --quiet "$@" || return
    sed -E 's/"epochs":\[[^]]*\],?//' "$out" >top.json
    dual=$(key dual top.json) gap=$(key gap top.json) objective=$(key objective top.json)
    check "$name: gap $gap" at_most "$gap" "$(awk -v g="$asked" 'BEGIN { print 1.1 * g }')"
    check "$name: that of objective $objective and dual $dual" awk -v p="$objective" -v d="$dual" -v g="$gap" \
        'BEGIN { e = g - (p - d) / p; exit !(d > 0 && d <= p && e < 1e-9 && e > -1e-9) }'
}

"$MEDLEY" generate waveform --rows 90 --output wave.csv
"$MEDLEY" generate ringnorm --rows 60 --output two.csv
"$MEDLEY" generate treebank --rows 20 --output trees.conllu
"$MEDLEY" generate handwriting --rows 12 --to letter --output words.data
tagged 40 3 >tagged.txt

# ---- known optima ----
if unpack_optima "$ref"; then
    for p in 1.05 1.25 2; do
        for C in 1 10 100; do
            known=$(sed -nE 's/^ *"objective": ([0-9.e-]+),.*/\1/p' "$ref/multiclass/iris60__p${p}__C$C.json")
            proven "p $p, C $C" 1e-3 --p $p --C $C --gram K.npy --labels y.npy
            check "p $p, C $C: dual $dual is not above $known" at_most "$dual" "$known"
            check "p $p, C $C: objective $objective is next to it" within "$objective" "$known" 1.1e-3
        done
    done
fi

# ---- every task, loss and penalty ----
for loss in hinge logistic softmax-margin; do
    proven "rows, $loss" 0.01 --loss $loss --scale standard wave.csv
    proven "two labels, $loss" 0.01 --loss $loss --scale standard two.csv
    proven "handwriting, $loss" 0.02 --loss $loss words.data
    proven "templates, $loss" 0.02 --template chunk --loss $loss tagged.txt
    proven "trees, $loss" 0.05 --unlabelled --template arc-form-upos --loss $loss --hash-bits 12 trees.conllu
done
for penalty in mkl group-lasso l2 block squared-block elastic elastic-mkl; do
    proven "$penalty" 0.02 --penalty $penalty --loss logistic --C 0.5 --scale standard wave.csv
done

# ---- the same model ----
train=("$MEDLEY" train --method frank-wolfe --quiet --scale standard --gap 0.005)
"${train[@]}" --model one.medley --threads 1 wave.csv >"$out"
"${train[@]}" --model two.medley --threads 2 wave.csv >"$out"
check "one thread or two" cmp one.medley two.medley
"${train[@]}" --model fly.medley --memory 0.02M --json wave.csv >fly.json
sed -E 's/"epochs":\[[^]]*\],?//' fly.json >top.json
check "kernels on the fly: the gap is reached" at_most "$(key gap top.json)" 0.0055

"${train[@]}" --model short.medley --checkpoint c.medley --epochs 3 wave.csv >"$out"
expect_exit 0 "resumed" "${train[@]}" --model rest.medley --checkpoint c.medley --resume wave.csv
check "a resumed run ends in the same model" cmp one.medley rest.medley
expect_exit 0 "resumed again" "${train[@]}" --model again.medley --checkpoint c.medley --resume wave.csv
check "and is over then" cmp one.medley again.medley

# ---- together with other things ----
expect_exit 0 "calibrated" "${train[@]}" --model m.medley --calibrate wave.csv
expect_exit 0 "predicts" "$MEDLEY" predict --model m.medley --proba wave.csv
expect_exit 0 "certify says what is so in any case" "${train[@]}" --model m.medley --certify wave.csv
expect_exit 0 "path" "$MEDLEY" path --method frank-wolfe --count 3 --quiet --output p.csv wave.csv
expect_exit 0 "tune" "$MEDLEY" tune --method frank-wolfe --C 1,10 --quiet --model m.medley wave.csv
expect_exit 0 "inspect" "$MEDLEY" inspect m.medley
expect_text "tells the gap" 'gap' "$out"

# ---- bad use ----
bad=("$MEDLEY" train --method frank-wolfe --quiet --model bad.medley)
expect_exit 2 "a sum of penalties" "${bad[@]}" --penalty mkl+l2 wave.csv
expect_text "is refused in one sentence" 'does not tell the way' "$err"
expect_exit 2 "a norm and a penalty" "${bad[@]}" --penalty mkl --p 1.5 wave.csv
expect_text "contradict each other" 'leave out one of them' "$err"
expect_exit 2 "p 1" "${bad[@]}" --p 1 wave.csv
expect_text "is out of range" 'out of range; give 1.001 to 2' "$err"
expect_exit 2 "averages" "${bad[@]}" --average wave.csv
expect_exit 2 "held-out data" "${bad[@]}" --dev wave.csv wave.csv
expect_exit 2 "gaps of methods without" "$MEDLEY" train --quiet --method spom --gap 0.1 --model bad.medley wave.csv
expect_text "have no place" 'gap is about methods frank-wolfe, fista, spicy' "$err"
check "nothing was written" test ! -e bad.medley
