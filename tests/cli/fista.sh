#!/usr/bin/env bash
# --method fista: the gap that is asked for is reached at the optimum of frank-wolfe, on every task and
# kind of block; the same model whatever the threads, the seed, the memory or an interruption; what is refused.
source "$(dirname "$0")/lib.sh"
export LC_ALL=C
cd "$work" || exit 1

at_most() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }'; }

# proven NAME GAP ARGUMENTS...: trains to a gap; sets $objective and $dual
proven() {
    local name=$1 asked=$2 gap
    shift 2
    expect_exit 0 "$name" "$MEDLEY" train --model m.medley --method fista --gap "$asked" --json --quiet "$@" || return
    sed -E 's/"epochs":\[[^]]*\],?//' "$out" >top.json
    dual=$(key dual top.json) gap=$(key gap top.json) objective=$(key objective top.json)
    check "$name: gap $gap" at_most "$gap" "$(awk -v g="$asked" 'BEGIN { print 1.1 * g }')"
}

"$MEDLEY" generate waveform --rows 90 --output wave.csv
"$MEDLEY" generate ringnorm --rows 60 --output two.csv
"$MEDLEY" generate treebank --rows 8 --output trees.conllu
"$MEDLEY" generate handwriting --rows 12 --to letter --output words.data
tagged 40 3 >tagged.txt

# ---- every task and kind of block ----
proven "rows" 0.01 --scale standard wave.csv
proven "two labels" 0.01 --scale standard --loss softmax-margin two.csv
proven "handwriting" 0.02 words.data
proven "templates" 0.05 --template chunk --penalty l2 --C 1 tagged.txt
proven "trees" 0.2 --unlabelled --template arc-form-upos --hash-bits 10 --C 0.3 trees.conllu

# ---- the optimum ----
both=(--loss logistic --C 0.5 --scale standard --views each --kernel 'linear(explicit)' wave.csv)
for penalty in l2 mkl group-lasso; do
    "$MEDLEY" train --model fw.medley --method frank-wolfe --gap 5e-3 --penalty $penalty --json --quiet "${both[@]}" |
        sed -E 's/"epochs":\[[^]]*\],?//' >fw.json
    proven "$penalty" 1e-3 --penalty $penalty "${both[@]}"
    check "$penalty: no worse than frank-wolfe" at_most "$objective" "$(awk -v d="$(key dual fw.json)" 'BEGIN { print d * 1.0061 }')"
    check "$penalty: nothing is below the bound" at_most "$dual" "$(key objective fw.json)"
done
for penalty in l1 sparse-group mkl+l2; do
    expect_exit 0 "$penalty" "$MEDLEY" train --model m.medley --method fista --penalty $penalty --gap 0.03 --json --quiet "${both[@]}"
    expect_text "$penalty: converges" '"converged":true' "$out"
    grep -oE '[{]"objective":[0-9.e-]+' "$out" | cut -d: -f 2 >falling.txt
    check "$penalty: the objective never rises" awk 'NR > 1 && $1 > last * (1 + 1e-6) { exit 1 } { last = $1 } END { if (NR < 5) exit 1 }' falling.txt
done

# ---- what was not reached is not called so ----
expect_exit 0 "more than single precision has" "$MEDLEY" train --model m.medley --method fista --gap 1e-10 --quiet --json wave.csv
expect_text "does not converge" '"converged":false' "$out"
"$MEDLEY" inspect m.medley >"$out"
expect_text "and says so" '^the gap that was asked for \(--gap\) was not reached' "$out"
expect_exit 0 "groups" "$MEDLEY" train --model m.medley --method fista --groups <(printf 'all * 1\nsome linear* 0.5\n') \
    --gap 0.05 wave.csv
expect_text "have no certificate" '^no certificate: with this penalty no bound from below is known' "$out"

# ---- nothing is left out ----
expect_exit 0 "rows that are nearly certain" "$MEDLEY" train --model m.medley --method fista --quiet --json --C 1000 two.csv
check "take part in every step" test "$(key steps_skipped "$out")" = 0
expect_exit 2 "and need no option" "$MEDLEY" train --model m.medley --method fista --quiet --skip-certain 0 two.csv

# ---- the same model ----
train=("$MEDLEY" train --method fista --quiet --scale standard --gap 0.005)
"${train[@]}" --model one.medley --threads 1 wave.csv >"$out"
"${train[@]}" --model two.medley --threads 2 --seed 7 wave.csv >"$out"
check "one thread or two, any seed" cmp <("$MEDLEY" predict --model one.medley --scores wave.csv) \
    <("$MEDLEY" predict --model two.medley --scores wave.csv)
"${train[@]}" --model fly.medley --memory 0.02M --json wave.csv >fly.json
check "kernels on the fly: the gap is reached" at_most "$(sed -E 's/"epochs":\[[^]]*\],?//' fly.json >top.json && key gap top.json)" 0.0055

"${train[@]}" --model short.medley --checkpoint c.medley --epochs 3 wave.csv >"$out"
expect_exit 0 "resumed" "${train[@]}" --model rest.medley --checkpoint c.medley --resume wave.csv
check "a resumed run ends in the same model" cmp one.medley rest.medley

# ---- together with other things ----
expect_exit 0 "calibrated" "${train[@]}" --model m.medley --calibrate --certify wave.csv
expect_exit 0 "path" "$MEDLEY" path --method fista --penalty group-lasso --count 3 --quiet --output p.csv wave.csv
expect_exit 0 "inspect" "$MEDLEY" inspect m.medley
expect_text "tells the gap" 'gap' "$out"

# ---- bad use ----
bad=("$MEDLEY" train --method fista --quiet --model bad.medley)
expect_exit 2 "a loss with kinks" "${bad[@]}" --loss hinge wave.csv
expect_text "is refused with a remedy" 'needs a smooth loss, and --loss hinge has kinks; use --loss logistic or softmax-margin, or --method spom' "$err"
expect_exit 2 "rates" "${bad[@]}" --eta0 1 wave.csv
expect_exit 2 "batches" "${bad[@]}" --batch 4 wave.csv
expect_exit 2 "certificates of what has none" "${bad[@]}" --penalty l1 --certify --kernel 'linear(explicit)' wave.csv
check "nothing was written" test ! -e bad.medley
