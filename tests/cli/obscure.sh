#!/usr/bin/env bash
# Methods obscure and pegasos: known optima where they are (MEDLEY_REF, default ../shared/ref beside
# the repository), what is said, what is refused; threads, memory and interruptions make no
# difference; classes that are rare, many or unknown.
source "$(dirname "$0")/lib.sh"
export LC_ALL=C
ref=${MEDLEY_REF:-$(dirname "$0")/../../../shared/ref}
[ ! -d "$ref" ] || ref=$(cd "$ref" && pwd)
cd "$work" || exit 1
slow=no
[[ $MEDLEY_BUILD != *asan* ]] || slow=yes

# top FILE: what train said of the whole run, without its epochs
top() { sed -E 's/"epochs":\[[^]]*\],?//' "$1" >top.json; }
# within A B T: is A within a share T of B?
within() { awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a / b - 1; exit !(d <= t && d >= -t) }'; }

obscure() { # obscure ARGUMENTS...: the objective and the rest go to top.json
    "$MEDLEY" train --method obscure --model m.medley --json --quiet "$@" >train.json 2>"$err" && top train.json
}

# ---- certified optima ----

# saved_objective LABELS P LAMBDA: of m.medley, from what predict says of the training rows and the norms
# that inspect says
saved_objective() {
    {
        "$MEDLEY" inspect --json m.medley | tr '{' '\n' |
            sed -nE 's/^"name":"gram.*"norm":([^,]*),.*/norm \1/p'
        paste "$1" <("$MEDLEY" predict --scores --model m.medley --gram K.npy | tail -n +2)
    } | awk -v p="$2" -v lambda="$3" '
        $1 == "norm" { sum += $2 ^ p; next }
        {
            worst = -1e300
            for (l = 0; l < 3; l++) if (l != $1 && $(l + 3) > worst) worst = $(l + 3)
            hinge = 1 + worst - $($1 + 3)
            loss += hinge > 0 ? hinge : 0
            rows++
        }
        END { printf "%.12g\n", lambda / 2 * sum ^ (2 / p) + loss / rows }'
}

# optimum P C EPOCHS TOLERANCE [OPTION...]
optimum() {
    local p=$1 C=$2 epochs=$3 tolerance=$4 name="p $1, C $2" known found
    shift 4
    known=$(sed -nE 's/^ *"objective": ([0-9.e-]+),.*/\1/p' "$ref/multiclass/iris60__p${p}__C$C.json")
    check "$name" obscure --p "$p" --C "$C" --epochs2 "$epochs" "$@" --threads 1 \
        --gram K.npy --labels y.npy || return
    found=$(key objective top.json)
    check "$name: $found is within $tolerance of $known" within "$found" "$known" "$tolerance"
    check "$name: and not below it" awk -v a="$found" -v b="$known" 'BEGIN { exit !(a >= b * (1 - 1e-6)) }'
    check "$name: what is saved is what was found" within \
        "$(saved_objective labels.txt "$p" "$(key lambda top.json)")" "$found" 1e-3
    for word in updates radius bound; do
        check "$name: $word" above "$(key $word top.json)" 1e-9
    done
    check "$name: within the bound of theorem 1" awk -v a="$found" -v b="$known" -v c="$(key bound top.json)" \
        'BEGIN { exit !(a - b <= c) }'
}

unpack() { unzip -qo "$1" 2>/dev/null || python3 -m zipfile -e "$1" . 2>/dev/null; }

if [ ! -f "$ref/multiclass/iris60.npz" ]; then
    skip "certified optima" "there is no $ref/multiclass/iris60.npz; set MEDLEY_REF"
elif ! unpack "$ref/multiclass/iris60.npz"; then
    skip "certified optima" "neither unzip nor python3 to unpack iris60.npz with"
else
    od -An -v -t d8 -w8 -j $(($(od -An -t u2 -j 8 -N 2 y.npy) + 10)) y.npy >labels.txt
    check "there are labels" test "$(wc -l <labels.txt)" -eq 60
    mean=(--average --average-from 0.8)
    optimum 1.05 1 2000 0.001 "${mean[@]}"
    optimum 1.25 1 2000 0.001 "${mean[@]}"
    optimum 2 1 6000 0.001 "${mean[@]}"
    if [ $slow = no ]; then # weak penalties take long
        optimum 1.05 10 25000 0.001 "${mean[@]}"
        optimum 1.25 10 25000 0.001 "${mean[@]}"
        optimum 2 10 50000 0.001 "${mean[@]}"
        optimum 1.05 100 100000 0.01 "${mean[@]}"
        optimum 1.25 100 300000 0.001 # the last iterate is nearer than the mean
        optimum 2 100 100000 0.01 "${mean[@]}"
    fi
    expect_exit 0 "pegasos" "$MEDLEY" train --method pegasos --p 1.25 --C 1 --epochs 2000 --average \
        --average-from 0.8 --gram K.npy --labels y.npy --model m.medley --json --quiet
    top "$out"
    check "pegasos: the optimum" within "$(key objective top.json)" 0.11560388435357943 0.01
    check "pegasos: and not below it" above "$(key objective top.json)" 0.115603768
fi

# ---- what is said ----
"$MEDLEY" generate waveform --rows 600 --output train.csv
"$MEDLEY" generate waveform --rows 200 --seed 2 --output new.csv
kernels=(--kernel 'rbf(sigma2=20)' --kernel 'poly(degree=2,norm=diag)' --kernel 'poly(degree=1,norm=diag)')
expect_exit 0 "both stages" "$MEDLEY" train --method obscure --model m.medley "${kernels[@]}" train.csv
expect_text "both stages: method and penalty" 'hinge loss, penalty squared-block\(q=1.25\), method obscure' "$out"
expect_text "both stages: updates and mistakes" '^[0-9]+ updates in 19800 rounds, of them in the online stage [0-9]+ in 1800, with [0-9]+ mistakes$' "$out"
expect_exit 0 "both stages: evaluates" "$MEDLEY" eval --json --model m.medley new.csv
check "both stages: learns" above "$(key accuracy "$out")" 0.8
check "stage 1 alone" obscure --epochs1 4 --epochs2 0 "${kernels[@]}" train.csv
check "stage 1 alone: rounds" test "$(key iterations top.json)" -eq 2400
refute_text "stage 1 alone: no radius" '"radius"' top.json
check "stage 2 alone" obscure --epochs1 0 --epochs2 4 "${kernels[@]}" train.csv
check "stage 2 alone: rounds" test "$(key iterations top.json)" -eq 2400
check "stage 1 ends when nothing is left to do" obscure --epochs1 500 --epochs2 2 --kernel 'rbf(sigma2=1)' train.csv
check "stage 1 ends when nothing is left to do: rounds" above 100000 "$(key iterations top.json)"
check "few blocks count near p = 1" obscure --p 1.01 "${kernels[@]}" train.csv
few=$(key weight top.json) # of the last block: one column of all but noise
check "all count with p = 2" obscure --p 2 "${kernels[@]}" train.csv
check "weights are more alike with p = 2" above "$(key weight top.json)" "$few"
expect_text "both stages: mistakes of the first" '"theory":' top.json
check "mistakes: below the bound" above "$(key mistake_bound top.json)" "$(key online_updates top.json)"
check "mistakes: there are some" above "$(key mistakes top.json)" 0

# other strongly convex penalties: the optimum that frank-wolfe proves, and the same blocks
head -n 81 train.csv >few.csv
for penalty in 'elastic(t=0.5)' 'elastic(t=0.05)' elastic-mkl; do
    "$MEDLEY" train --method frank-wolfe --penalty "$penalty" --gap 1e-4 --json --quiet --model fw.medley "${kernels[@]}" few.csv >fw.json
    top fw.json && least=$(key objective top.json)
    check "$penalty" obscure --penalty "$penalty" --C 1 --epochs2 2000 --average --average-from 0.5 --certify "${kernels[@]}" few.csv
    check "$penalty: the optimum" within "$(key objective top.json)" "$least" 0.005
    check "$penalty: which the bound does not exceed" above "$least" "$(key dual top.json)"
done
check "elastic: a path" "$MEDLEY" path --method obscure --penalty elastic --count 4 --quiet "${kernels[@]}" few.csv

check "on held-out data" obscure --dev new.csv --patience 2 "${kernels[@]}" train.csv
check "log loss" obscure --loss logistic --eta 0.5 "${kernels[@]}" train.csv

# ---- what is refused ----
refuse() { # refuse PATTERN ARGUMENTS...
    local pattern=$1
    shift
    expect_exit 2 "refuses $*" "$MEDLEY" train --model bad.medley --quiet "${kernels[@]}" "$@" train.csv
    expect_text "refuses $*: says why" "$pattern" "$err"
    check "refuses $*: one line, no model" test "$(wc -l <"$err")$(ls bad.medley 2>/dev/null)" = 1
}
refuse 'strongly convex, and --penalty .?group-lasso.? is not; use elastic' --method obscure --penalty group-lasso
refuse 'single penalty' --method obscure --penalty l2+elastic
refuse 'p is the norm of squared-block' --method obscure --penalty l2 --p 1.5
refuse 'penalty has no place in --method pegasos; .*squared-block' --method pegasos --penalty mkl
refuse '--eta0 is about methods spom, average and best' --method obscure --eta0 1
refuse '--schedule .*has no place in --method obscure' --method obscure --schedule sqrt
refuse '--radius .*has no place in --method pegasos' --method pegasos --radius 3
refuse '--epochs .*obscure has --epochs1 and --epochs2' --method obscure --epochs 5
refuse 'learns nothing' --method obscure --epochs1 0 --epochs2 0
expect_exit 0 "om2" "$MEDLEY" train --model om2.medley --method om2 --epochs 5 --json --quiet train.csv
expect_text "om2 has no penalty" '"penalty":"none","norm":"squared-block\(q=1.25\)","lambda":0,"C":null,"spicy_C":null' "$out"
"$MEDLEY" inspect om2.medley >"$out"
expect_text "and only a mean loss" 'hinge loss, no penalty, norm squared-block.*, mean loss [0-9.e-]+ after 5 epochs' "$out"
refuse '--p is about methods obscure, pegasos, om2 and frank-wolfe' --method spom --p 1.5
refuse '--epochs1 is about method obscure' --method spom --epochs1 5
refuse '--eta is about method obscure' --method pegasos --eta 1
for p in 1 0.5 2.5 -1; do
    refuse 'out of range' --method obscure --p $p
done
refuse 'not a number' --method obscure --p nan
refuse 'neither auto nor a positive number' --method obscure --eta 0
refuse 'neither auto nor a positive number' --method obscure --eta many
refuse '--gap' --method obscure --gap 0.1
"$MEDLEY" generate handwriting --rows 40 --output words.data --to letter
expect_exit 2 "pairs with a term of their own" "$MEDLEY" train --method obscure --bigram fixed \
    --kernel 'rbf(sigma2=5)' --model bad.medley --quiet words.data
expect_text "pairs with a term of their own: says why" 'leave out --bigram fixed' "$err"
for bigram in learned none; do
    check "chains, bigram $bigram" obscure --bigram $bigram --kernel 'rbf(sigma2=5)' --epochs2 5 words.data
    check "chains, bigram $bigram: radius" above "$(key radius top.json)" 0.1
done

# ---- threads and memory ----
# Kernels that do not fit are computed on the fly: three of 600 x 600 need 4.3 MB.
short=(--epochs2 8 "${kernels[@]}" --kernel 'laplace(sigma=5,norm=center)' train.csv)
scores() { "$MEDLEY" predict --scores --model "$1" new.csv | tail -n +2; }
for memory in 1G 1M; do
    for threads in 1 2 3; do
        check "--memory $memory --threads $threads" obscure --memory $memory --threads $threads "${short[@]}"
        mv m.medley "$memory$threads.medley"
        mv top.json "$memory$threads.json"
    done
    check "--memory $memory: the same bytes with 2 threads" cmp ${memory}1.medley ${memory}2.medley
    check "--memory $memory: the same bytes with 3 threads" cmp ${memory}1.medley ${memory}3.medley
done
check "on the fly: the same objective" within "$(key objective 1M1.json)" "$(key objective 1G1.json)" 1e-4
paste <(scores 1M1.medley) <(scores 1G1.medley) >both.txt
check "on the fly: the same scores" awk '
    { for (l = 2; l <= 4; l++) { d = $l - $(l + 4); if (d > 5e-3 || d < -5e-3) bad++ } }
    END { exit bad > 0 || NR != 200 }' both.txt
check "on the fly, rounds of 4" obscure --memory 1M --batch 4 "${short[@]}"
mv top.json batch.json
check "rounds of 4" obscure --batch 4 "${short[@]}"
check "on the fly, rounds of 4: the same objective" within "$(key objective batch.json)" \
    "$(key objective top.json)" 1e-3

# ---- interruptions ----
# start_and_kill SECONDS ARGUMENTS...: kills training at a moment within so many seconds of its first
# checkpoint. False: it was faster.
start_and_kill() {
    local pause
    pause=$(awk -v s="$1" -v share="$RANDOM" 'BEGIN { printf "%.3f", s * share / 32768 }')
    shift
    touch started
    "$MEDLEY" train --method obscure --model killed.medley --checkpoint run.checkpoint --resume --quiet "$@" \
        >/dev/null 2>&1 &
    while ! [ run.checkpoint -nt started ] && kill -0 $! 2>/dev/null; do
        sleep 0.01
    done
    sleep "$pause"
    kill -KILL $! 2>/dev/null
    wait $! 2>/dev/null
    [ $? -eq 137 ] && [ -s run.checkpoint ] && [ ! -e killed.medley ]
}

# survives NAME ARGUMENTS...: kills at any moment, in either stage, make no difference
survives() {
    local name=$1 kills=0 start=$EPOCHREALTIME seconds
    shift
    rm -f run.checkpoint ./*.medley
    expect_exit 0 "$name: left alone" "$MEDLEY" train --method obscure --model whole.medley --quiet "$@" || return
    seconds=$(awk -v s="$start" -v e="$EPOCHREALTIME" 'BEGIN { print e - s }')
    for _ in 1 2 3 4 5 6; do
        if start_and_kill "$(awk -v s="$seconds" 'BEGIN { print s / 2 }')" "$@"; then
            kills=$((kills + 1))
        fi
        [ ! -e killed.medley ] || break
    done
    check "$name: killed" test $kills -ge 1
    expect_exit 0 "$name: goes on" "$MEDLEY" train --method obscure --model killed.medley \
        --checkpoint run.checkpoint --resume --quiet "$@"
    check "$name: the same bytes" cmp whole.medley killed.medley
}

# not separable: stage 1 has all of its epochs
flat=(--kernel 'poly(degree=1,norm=diag)' --kernel 'poly(degree=1,offset=1)' --threads 1 train.csv)
many=1500
[ $slow = no ] || many=100
survives "kernels" --epochs1 $many --epochs2 $many "${flat[@]}"
survives "averaged" --average --average-from 0.3 --epochs1 $many --epochs2 $many "${flat[@]}"
survives "on the fly" --memory 1M --average --epochs1 $((many / 10)) --epochs2 $((many / 10)) "${flat[@]}"

# border NAME ARGUMENTS...: ends with stage 1, goes on with stage 2, and comes back when all is done
border() {
    local name=$1
    shift
    rm -f run.checkpoint
    "$MEDLEY" train --method obscure --model whole.medley --epochs1 3 --epochs2 4 --quiet "$@" >/dev/null
    "$MEDLEY" train --method obscure --model parts.medley --epochs1 3 --epochs2 0 --checkpoint run.checkpoint \
        --quiet "$@" >/dev/null
    for time in 1 2 3; do
        expect_exit 0 "$name: resumed at the border of the stages, time $time" "$MEDLEY" train --method obscure \
            --model parts.medley --epochs1 3 --epochs2 4 --checkpoint run.checkpoint --resume --quiet "$@"
        check "$name: resumed at the border of the stages, time $time: the same bytes" cmp whole.medley parts.medley
    done
}
border "kernels" "${flat[@]}"
border "on the fly" --memory 1M "${flat[@]}"

# One epoch more is in the file after every run: in the end all of them are.
finished() { # finished NAME ARGUMENTS...
    local name=$1
    shift
    rm -f run.checkpoint
    "$MEDLEY" train --method obscure --model whole.medley --quiet "$@" >/dev/null
    for time in $(seq 40); do
        "$MEDLEY" train --method obscure --model parts.medley --checkpoint run.checkpoint --resume --quiet "$@" \
            >/dev/null
        cmp -s whole.medley parts.medley || break
    done
    check "$name: the same bytes" test "$time" -eq 40
}
finished "stage 1 ended early and all is done, resumed 40 times" --epochs1 30 --epochs2 3 \
    --kernel 'rbf(sigma2=1)' train.csv
finished "stage 1 alone ended early, resumed 40 times" --epochs1 30 --epochs2 0 --kernel 'rbf(sigma2=1)' train.csv

# ---- classes ----
# classes NAME FILE ACCURACY ARGUMENTS...
classes() {
    local name=$1 file=$2 accuracy=$3
    shift 3
    check "$name" obscure --kernel 'rbf(sigma2=0.1)' "$@" "$file" || return
    expect_exit 0 "$name: evaluates" "$MEDLEY" eval --json --model m.medley "$file"
    check "$name: learns" above "$(key accuracy "$out")" "$accuracy"
}
cells() { # cells ROWS CLASSES: a class is a cell of a grid
    awk -v rows="$1" -v classes="$2" 'BEGIN {
        print "x,y,label"
        for (i = 0; i < rows; i++) {
            c = i % classes
            printf "%.4f,%.4f,c%d\n", int(c / 32) + 0.01 * (i % 7), c % 32 + 0.01 * (i % 5), c
        }
    }'
}
labels=1000
[ $slow = no ] || labels=200
cells $((2 * labels)) $labels >many.csv
classes "$labels classes" many.csv 0.99 --epochs2 3
classes "$labels classes on the fly" many.csv 0.99 --epochs2 3 --memory $((3 * labels))k
cells 300 300 >once.csv
classes "every class has one example" once.csv 0.99
{ cells 40 4 && echo "7,7,rare"; } >rare.csv
classes "a class with one example" rare.csv 0.99
printf 'x,y,label\n0,0,a\n1,1,b\n' >two.csv
classes "two rows of two classes" two.csv 0.99
printf 'x,y,label\n0,0,a\n1,1,b\n5,5,c\n6,6,d\n' >four.csv
check "held-out data with more classes than there are rows" obscure --kernel 'rbf(sigma2=1)' --dev four.csv two.csv
"$MEDLEY" train --method obscure --model m.medley --kernel 'rbf(sigma2=1)' --quiet two.csv >/dev/null
expect_exit 3 "a class that was never seen" "$MEDLEY" eval --model m.medley four.csv
expect_text "a class that was never seen: says so" "label 'c', which the model has never seen" "$err"
expect_exit 0 "a class that was never seen counts as wrong" "$MEDLEY" eval --json --allow-unseen --model m.medley four.csv
check "a class that was never seen counts as wrong: accuracy" test "$(key accuracy "$out")" = 0.5
