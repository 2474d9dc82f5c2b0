#!/usr/bin/env bash
# Small problems whose optima are known to 14 digits, where they are: MEDLEY_REF (default
# ../shared/ref beside the repository). The command finds them, says so, and saves what it certified.
source "$(dirname "$0")/lib.sh"
export LC_ALL=C
ref=${MEDLEY_REF:-$(dirname "$0")/../../../shared/ref}
if [ ! -f "$ref/index.json" ]; then
    skip "problems with known optima" "there is no $ref/index.json; set MEDLEY_REF"
    exit 0
fi
ref=$(cd "$ref" && pwd)
cd "$work" || exit 1

# instances: a line "problem rows loss reg C objective bias file" for each object of index.json
instances() {
    awk -F'[:,]' '
        { gsub(/[ "{}]/, "") }
        $1 == "problem" || $1 == "N" || $1 == "loss" || $1 == "reg" || $1 == "C" ||
            $1 == "objective" || $1 == "b" || $1 == "file" { value[$1] = $2 }
        $1 == "file" {
            print value["problem"], value["N"], value["loss"], value["reg"], value["C"],
                value["objective"], value["b"], value["file"]
        }' "$ref/index.json"
}

# targets NPY: its float64 values, one a line
targets() {
    local header
    header=$(od -An -t u2 -j 8 -N 2 "$1")
    od -An -v -t f8 -w8 -j $((header + 10)) "$1"
}

# known_active JSON: numbers (from 1) of the kernels whose norm is not zero to rounding
known_active() {
    awk '
        { gsub(/[ ,]/, "") }
        $0 == "\"norms\":[" { inside = 1; next }
        inside && /^]/ { exit }
        inside { norm[++count] = $0 + 0; if (norm[count] > most) most = norm[count] }
        END {
            for (m = 1; m <= count; m++)
                if (most > 1e-9 && norm[m] > 1e-6 * most) printf "%d ", m
        }' "$1"
}

# found_active JSON: the same of what train or inspect printed
found_active() {
    tr '{' '\n' <"$1" | sed -nE 's/^"name":"gram([0-9]+)",.*"norm":([^,]*),.*/\1 \2/p' |
        awk '$2 > 0 { printf "%d ", $1 }'
}

# within A B T: is A within a share T of B?
within() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a / b - 1; exit !(d <= t && d >= -t) }'; }

# saved_objective TARGETS LOSS REG C: N times the objective of the model in m.medley, from what predict says of the
# training rows (in scores) and the norms that inspect says (in model.json)
saved_objective() {
    {
        tr '{' '\n' <model.json | sed -nE 's/^"name":"gram.*"norm":([^,]*),.*/norm \1/p'
        paste "$1" <(awk 'NR > 1 { print $NF }' scores)
    } | awk -v loss="$2" -v reg="$3" -v C="$4" '
        $1 == "norm" && reg == "l1" { sum += C * $2; next }
        $1 == "norm" && reg == "en" { sum += C * ($2 / 2 + $2 * $2 / 4); next }
        $1 == "norm" { sum += C / 1.5 * $2 ^ 1.5; next }
        { margin = $1 * $2; off = $1 > $2 ? $1 - $2 : $2 - $1 }
        loss == "hinge" { sum += margin < 1 ? 1 - margin : 0 }
        loss == "logit" { sum += log(1 + exp(-margin)) }
        loss == "squared" { sum += off * off / 2 }
        loss == "epsins" { sum += off > 0.1 ? off - 0.1 : 0 }
        END { printf "%.12g\n", sum }'
}

declare -A losses=([hinge]=hinge [logit]=logistic [squared]=squared [epsins]='epsilon(0.1)')
declare -A penalties=([l1]=group-lasso [en]='elastic(t=0.5)' [q]='block(q=1.5)')
count=0
empty=0
while read -r problem rows loss reg C objective bias file; do
    count=$((count + 1))
    data=$ref/data/$problem
    task=binary
    [ "$problem" != friedman80 ] || task=regression
    targets "$data/y.npy" >y.txt
    for storage in float32 float64; do
        name="$problem, $loss, $reg, C $C, $storage"
        expect_exit 0 "$name" "$MEDLEY" train --task $task --method spicy --loss "${losses[$loss]}" \
            --penalty "${penalties[$reg]}" --spicy-C "$C" --gap 1e-7 --storage $storage \
            --gram "$data/K.npy" --labels "$data/y.npy" --model m.medley --json --quiet || continue
        cp "$out" train.json
        found=$(awk -v o="$(key objective train.json)" -v n="$rows" 'BEGIN { printf "%.12g", o * n }')
        check "$name: the optimum" within "$found" "$objective" 1e-6
        check "$name: the gap" above 1e-7 "$(key gap train.json)"
        check "$name: converged" test "$(key converged train.json)" = true
        known=$(known_active "$ref/$file")
        # elsewhere neither norms nor bias need be unique
        if [ "$loss" = logit ] || [ "$loss" = squared ]; then
            check "$name: the kernels" test "$(found_active train.json)" = "$known"
            check "$name: the bias" within "$(key bias train.json)" "$bias" 0.001
        fi
        "$MEDLEY" inspect --json m.medley >model.json
        "$MEDLEY" predict --scores --model m.medley --gram "$data/K.npy" >scores
        check "$name: what is saved is what is certified" within "$found" \
            "$(saved_objective y.txt "$loss" "$reg" "$C")" 1e-5
        [ -z "$known" ] || continue
        empty=$((empty + 1))
        check "$name: no kernels" test "$(key active_blocks train.json)" -eq 0
        check "$name: the bias is predicted" awk -v b="$bias" \
            'NR > 1 { d = $NF - b; if (d > 1e-4 || d < -1e-4) exit 1 }' scores
    done
done < <(instances)
check "there were 38 problems, three of them without kernels" test "$count $empty" = "38 6"
