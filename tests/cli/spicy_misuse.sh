#!/usr/bin/env bash
# Method spicy on what it cannot work with, on the least it can work with, and cut short: one
# sentence with the remedy, or a model with its certificate.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# npy SHAPE NUMBERS...: an array of whole numbers from -128 to 127
npy() {
    local header="{'descr': '|i1', 'fortran_order': False, 'shape': ($1), }" number
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"
    shift
    for number in "$@"; do
        printf "\\x$(printf %02x $((number & 255)))"
    done
}

spicy() { "$MEDLEY" train --model m.medley --method spicy --quiet --json "$@"; }

# refuse CODE PATTERN NAME ARGUMENTS...: it refuses; no model appears
refuse() {
    local code=$1 pattern=$2 name=$3
    shift 3
    rm -f m.medley
    expect_exit "$code" "$name is refused" "$MEDLEY" train --model m.medley --method spicy --quiet "$@"
    expect_text "$name: says what and how to mend it" "$pattern" "$err"
    check "$name: one line" test "$(wc -l <"$err")" -eq 1
    check "$name: no model" test ! -e m.medley
}

# certified NAME GAP: the last run's JSON, in $out
certified() {
    check "$1: certified" above "$2" "$(key gap "$out")"
    check "$1: converged" test "$(key converged "$out")" = true
    check "$1: the dual value is not above the objective" above "$(key objective "$out")" "$(key dual "$out")"
}

near() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; exit !(d <= t && d >= -t) }'; }

"$MEDLEY" generate twonorm --rows 80 --output good.csv
"$MEDLEY" generate waveform --rows 60 --output three.csv

# what belongs to online learning, and what online learning has no use for
refuse 2 "leave out 'explicit'" "a kernel with explicit weights" --kernel 'linear(explicit)' good.csv
refuse 2 "epochs is about methods spom.* no place in --method spicy" "--epochs" --epochs 5 good.csv
refuse 2 "online learning" "--dev" --dev good.csv good.csv
refuse 2 "checkpoint is about methods spom.* no place in --method spicy" "--checkpoint" --checkpoint c.bin good.csv
expect_exit 2 "--gap without a certificate is refused" \
    "$MEDLEY" train --model m.medley --method spom --gap 1e-3 --quiet good.csv
expect_text "--gap: says for which methods" "about methods frank-wolfe, fista, spicy, gauss-seidel, simplemkl, hessianmkl, levelmkl, silp, svm and lp-beta" "$err"

# a label that no training row has is no obstacle: its output is a constant
"$MEDLEY" generate waveform --rows 60 --output all.csv
{ head -1 all.csv; grep -v ',2$' all.csv | tail -n +2; grep ',2$' all.csv | head -2; } >rare.csv
expect_exit 0 "a rare label, one against the rest" spicy --task multiclass --loss logistic --sample 20 --seed 3 rare.csv
certified "a rare label" 0.01
printf '%s\n' a a b b >abab.lst

# ---- kernels that are none ----
npy '4, 4' 1 2 0 0 2 1 0 0 0 0 1 0 0 0 0 1 >indefinite.npy
refuse 3 "'gram1' is not positive semi-definite: .* -1 to 3; --ridge 1\.?[0-9]*" \
    "a kernel with a negative eigenvalue" --gram indefinite.npy --labels abab.lst
ridge=$(sed -E 's/.*--ridge ([0-9.e+-]*).*/\1/' "$err")
expect_exit 0 "the ridge it offers helps" spicy --ridge "$ridge" --gap 1e-6 --gram indefinite.npy \
    --labels abab.lst
certified "the ridge it offers" 1e-6
refuse 3 'not positive semi-definite' "half of that ridge" \
    --ridge "$(awk -v r="$ridge" 'BEGIN { print r / 2 }')" --gram indefinite.npy --labels abab.lst
npy '4, 4' 0 1 0 0 1 0 0 0 0 0 0 0 0 0 0 0 >hollow.npy
refuse 3 'not positive semi-definite: .* -1 to 1' "a kernel without diagonal" --gram hollow.npy \
    --labels abab.lst
{
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
    printf '\x00\x00\x80\x3f\x00\x00\xc0\x7f\x00\x00\xc0\x7f\x00\x00\x80\x3f'
} >nan.npy
printf '%s\n' a b >ab.lst
refuse 3 'nan.npy|not finite|NaN|nan' "a kernel with NaN" --gram nan.npy --labels ab.lst

# ---- labels ----
printf '%s\n' a a a a >aaaa.lst
npy '4, 4' 1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1 >identity.npy
refuse 3 'at least two' "labels that are all equal" --gram identity.npy --labels aaaa.lst
refuse 3 'number' "words as numbers" --task regression --gram identity.npy --labels abab.lst
printf '%s\n' 2 2 2 2 >2222.lst
for loss in squared 'epsilon(0.1)'; do
    expect_exit 0 "$loss: numbers that are all equal" spicy --task regression --loss "$loss" \
        --gram identity.npy --labels 2222.lst
    certified "$loss: numbers that are all equal" 0.01
    check "$loss: they are the bias" near "$(key bias "$out")" 2 0.1001
    expect_exit 0 "$loss: they are predicted" "$MEDLEY" predict --model m.medley --gram identity.npy
    check "$loss: each of them" awk '{ if ($1 < 1.8 || $1 > 2.2) exit 1 }' "$out"
done

# ---- options ----
refuse 2 "squared.*(hinge|logistic)|loss" "a loss of numbers for labels" --loss squared good.csv
refuse 2 "hinge.*(squared|epsilon)|loss" "a loss of labels for numbers" --task regression \
    --loss hinge good.csv
refuse 2 'sum over kernels.*(group-lasso|elastic)' "a penalty that is no sum" --penalty none good.csv
refuse 2 'sum over kernels|group-lasso' "a penalty of two squares" --penalty mkl+squared-block good.csv
refuse 2 "unknown|did you mean|float64" "an unknown way to store" --storage double good.csv
for gap in 0 -0.1 nan some 2; do
    refuse 2 'gap' "a gap of $gap" --gap "$gap" good.csv
done
refuse 2 'max-iter' "no iterations at all" --max-iter 0 good.csv
refuse 2 'ridge' "a negative ridge" --ridge -1 good.csv
refuse 2 'spicy-C|say the same thing' "two strengths" --spicy-C 1 --C 1 good.csv
refuse 2 'spicy-C' "a strength of nothing" --spicy-C 0 good.csv
refuse 2 'chain|sequence|spicy' "tagged sentences" --task chain --template chunk <(tagged 3 1)

# ---- hardly anything ----
npy '2, 2' 1 0 0 1 >two.npy
for loss in logistic hinge; do
    for penalty in group-lasso 'elastic(t=0.5)' 'block(q=1.5)' 'block(q=3)' l2; do
        expect_exit 0 "$loss, $penalty: two rows and one kernel" spicy --loss $loss \
            --penalty "$penalty" --spicy-C 0.1 --gap 1e-6 --gram two.npy --labels ab.lst || continue
        certified "$loss, $penalty: two rows and one kernel" 1e-6
        expect_exit 0 "$loss, $penalty: predicts" "$MEDLEY" predict --model m.medley --gram two.npy
        check "$loss, $penalty: both rows" cmp -s "$out" ab.lst
    done
done
npy '4, 4' 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 >ones.npy
printf '%s\n' a b b b >abbb.lst
expect_exit 0 "a constant kernel alone" spicy --loss logistic --spicy-C 0.001 --gap 1e-6 \
    --gram ones.npy --labels abbb.lst
certified "a constant kernel alone" 1e-6
check "a constant kernel has no weight" test "$(key active_blocks "$out")" -eq 0
check "the bias is the logarithm of 3" near "$(key bias "$out")" 1.0986122887 1e-6
expect_exit 0 "a constant kernel predicts" "$MEDLEY" predict --model m.medley --scores --gram ones.npy
check "the bias in every row" awk 'NR > 1 && ($1 != "b" || $3 < 1.0985 || $3 > 1.0987) { exit 1 }' "$out"
npy '4, 4' 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 >zeros.npy
for kernel in ones zeros; do # and no word about the strength
    for loss in logistic hinge; do
        expect_exit 0 "$loss: a kernel of $kernel alone" spicy --loss $loss --gram $kernel.npy \
            --labels abbb.lst
        certified "$loss: a kernel of $kernel alone" 0.01
        expect_exit 0 "$loss: a kernel of $kernel predicts" "$MEDLEY" predict --model m.medley \
            --gram $kernel.npy
        check "$loss: the more frequent label" test "$(sort "$out" | uniq -c | awk '{ print $1 $2 }')" = 4b
    done
done
npy '2, 4, 4' 3 3 1 1 3 3 1 1 1 1 3 3 1 1 3 3 3 3 1 1 3 3 1 1 1 1 3 3 1 1 3 3 >twice.npy
for loss in logistic hinge; do
    expect_exit 0 "$loss: rows and kernels that are the same" spicy --loss $loss --spicy-C 0.01 \
        --gap 1e-6 --gram twice.npy --labels abbb.lst
    certified "$loss: rows and kernels that are the same" 1e-6
done

# ---- cut short ----
expect_exit 0 "one iteration" spicy --loss hinge --gap 1e-9 --max-iter 1 good.csv
check "one iteration: not converged" test "$(key converged "$out")" = false
check "one iteration: counted" test "$(key iterations "$out")" -eq 1
check "one iteration: the gap is above" above "$(key gap "$out")" 1e-9
expect_exit 0 "one iteration predicts" "$MEDLEY" eval --model m.medley --json good.csv
check "and not badly" above "$(key accuracy "$out")" 0.8
expect_exit 0 "the least gap ends" spicy --gap 1e-12 good.csv
check "the least gap: as small as can be" above 1e-6 "$(key gap "$out")"
expect_exit 0 "more than two labels" spicy --gap 1e-5 three.csv
certified "more than two labels" 1e-5

rows=1200
[[ $MEDLEY_BUILD != *asan* ]] || rows=400
"$MEDLEY" generate ringnorm --rows $rows --output ring.csv
rm -f m.medley
"$MEDLEY" train --model m.medley --method spicy --loss hinge --gap 1e-12 --views each+all --json \
    --kernel 'rbf(sigma={1..12})' --spicy-C 0.05 ring.csv >"$out" 2>"$err" &
for _ in $(seq 600); do # until there is an iteration
    grep -q '^training' "$err" && break
    kill -0 $! 2>/dev/null || break
    sleep 0.05
done
kill -INT $!
wait $!
check "Ctrl-C ends with 130" test $? -eq 130
check "Ctrl-C: the summary says so" test "$(key interrupted "$out")" = true
check "Ctrl-C: not converged" test "$(key converged "$out")" = false
"$MEDLEY" inspect --json m.medley >model.json
check "Ctrl-C: the model has its gap" test "$(key gap model.json)" = "$(key gap "$out")"
check "Ctrl-C: which is not what was asked for" above "$(key gap model.json)" 1e-12
expect_exit 0 "Ctrl-C leaves a usable model" "$MEDLEY" eval --model m.medley ring.csv
check "no temporary files are left" bash -c '! ls | grep -E "medley\.|\.part$|\.tmp$"'
