#!/usr/bin/env bash
# Training that is killed at random moments and resumed ends in the same bytes as training that is
# left alone. Then what --resume refuses.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

"$MEDLEY" generate handwriting --rows 150 --output words.data --to letter
"$MEDLEY" generate handwriting --rows 20 --seed 2 --output dev.data --to letter
tagged 1000 1 >train.txt
tagged 100 2 >dev.txt
kernels=(--kernel 'rbf(sigma2=5)' --kernel 'linear(norm=diag)' --eta0 1)
# A run must take long enough to be killed three times: sanitizers make up for fewer epochs.
epochs=100
[[ $MEDLEY_BUILD != *asan* ]] || epochs=20
all_kills=0

# Starts training in the background, waits until it has written a checkpoint, waits up to a fifth of
# the time that the whole run took and kills it. False: it was faster.
start_and_kill() { # start_and_kill SECONDS ARGUMENTS...
    local pause
    pause=$(awk -v s="$1" -v share="$RANDOM" 'BEGIN { printf "%.3f", s / 5 * share / 32768 }')
    shift
    touch started
    "$MEDLEY" train --model killed.medley --checkpoint run.checkpoint --resume --quiet "$@" \
        >/dev/null 2>&1 &
    while ! [ run.checkpoint -nt started ] && kill -0 $! 2>/dev/null; do
        sleep 0.01
    done
    sleep "$pause"
    kill -KILL $! 2>/dev/null
    wait $! 2>/dev/null
    [ $? -eq 137 ] && [ -s run.checkpoint ] && [ ! -e killed.medley ]
}

# survives NAME ARGUMENTS...: three kills make no difference. A run that ends before it is killed is
# no test of anything: another begins from the start.
survives() {
    local name=$1 kills=0 start=$EPOCHREALTIME seconds first
    shift
    rm -f run.checkpoint ./*.medley
    if ! expect_exit 0 "$name: left alone" "$MEDLEY" train --model whole.medley --quiet "$@"; then
        return
    fi
    seconds=$(awk -v s="$start" -v e="$EPOCHREALTIME" 'BEGIN { print e - s }')
    for _ in $(seq 20); do
        if start_and_kill "$seconds" "$@"; then
            kills=$((kills + 1))
            [ $kills -lt 3 ] || break
        else
            rm -f run.checkpoint killed.medley
            kills=0
        fi
    done
    all_kills=$((all_kills + kills))
    check "$name: killed" test $kills -ge 1
    expect_exit 0 "$name: goes on" "$MEDLEY" train --model killed.medley --checkpoint run.checkpoint \
        --resume "$@"
    first=$(sed -nE 's/^training ([0-9]+).*/\1/p' "$err" | head -1)
    check "$name: and not from the start" test "${first:-end}" != 1 # after its end it has nothing to tell
    check "$name: the same bytes" cmp whole.medley killed.medley
}

survives "kernels, hinge" "${kernels[@]}" --epochs $((5 * epochs)) --threads 1 words.data
survives "kernels, logistic, averaged" "${kernels[@]}" --loss logistic --average --epochs $epochs \
    --threads 1 words.data
survives "kernels, logistic, certified" "${kernels[@]}" --loss logistic --certify --epochs $epochs \
    --threads 1 words.data
survives "templates, rounds of 8" --template chunk --loss logistic --batch 8 --eta0 0.1 \
    --epochs $epochs train.txt
survives "templates, l1" --template chunk --penalty l1 --C 1 --eta0 0.1 --epochs $epochs \
    --threads 1 train.txt
survives "early stopping" "${kernels[@]}" --dev dev.data --patience 20 --epochs 2000 --threads 1 words.data
check "there were at least eight kills" test $all_kills -ge 8

# ---- without violence ----
template=(--template chunk --eta0 0.1)
rm -f run.checkpoint
"$MEDLEY" train --model whole.medley --epochs 6 --average --quiet "${template[@]}" train.txt >/dev/null
"$MEDLEY" train --model parts.medley --epochs 1 --average --checkpoint run.checkpoint --quiet \
    "${template[@]}" train.txt >/dev/null
expect_exit 0 "more epochs than at first, another number of threads" "$MEDLEY" train --model parts.medley \
    --epochs 6 --average --checkpoint run.checkpoint --resume --threads 1 --quiet "${template[@]}" train.txt
check "more epochs: the same bytes" cmp whole.medley parts.medley
early=(--dev dev.txt --patience 2 --epochs 50)
"$MEDLEY" train --model whole.medley --checkpoint early.checkpoint --quiet "${template[@]}" "${early[@]}" \
    train.txt >/dev/null
# The first epoch of every run is written down, so after some runs the last one is.
for run in 1 2 3 4; do
    "$MEDLEY" train --model parts.medley --checkpoint early.checkpoint --resume --quiet \
        "${template[@]}" "${early[@]}" train.txt >/dev/null
    check "a run that has ended, resumed $run times: the same bytes" cmp whole.medley parts.medley
done
searched=(--template chunk --epochs 4)
"$MEDLEY" train --model whole.medley --checkpoint auto.checkpoint --quiet "${searched[@]}" train.txt >/dev/null
expect_exit 0 "a rate that was searched for" "$MEDLEY" train --model parts.medley \
    --checkpoint auto.checkpoint --resume --json --quiet "${searched[@]}" train.txt
check "a rate that was searched for: the same bytes" cmp whole.medley parts.medley

# ---- what is refused ----
"$MEDLEY" train --model m.medley --epochs 1 --checkpoint good.checkpoint --quiet "${template[@]}" train.txt \
    >/dev/null
refuse() { # refuse CODE PATTERN NAME ARGUMENTS...
    local code=$1 pattern=$2 name=$3
    shift 3
    expect_exit "$code" "$name" "$MEDLEY" train --model bad.medley --epochs 2 --quiet "${template[@]}" "$@"
    expect_text "$name: says what and how to mend it" "$pattern" "$err"
    check "$name: one line" test "$(wc -l <"$err")" -eq 1
    check "$name: no model" test ! -e bad.medley
}
again=(--checkpoint good.checkpoint --resume)
refuse 2 '--checkpoint FILE' "--resume without --checkpoint" --resume train.txt
refuse 2 'other data or options' "another C" "${again[@]}" --C 3 train.txt
refuse 2 'other data or options' "blocks of another scale" "${again[@]}" --block-scale 'U*=2' train.txt
refuse 2 'other data or options' "other data" "${again[@]}" dev.txt
refuse 2 'other data or options' "held-out data where there were none" "${again[@]}" --dev dev.txt train.txt
head -c 1000 good.checkpoint >cut.checkpoint
refuse 3 'cut.checkpoint: .*damaged' "a truncated checkpoint" --checkpoint cut.checkpoint --resume train.txt
: >cut.checkpoint
refuse 3 'cut.checkpoint: .*not a checkpoint' "an empty checkpoint" --checkpoint cut.checkpoint --resume train.txt
refuse 3 'dev.txt: .*not a checkpoint' "a file that is no checkpoint" --checkpoint dev.txt --resume train.txt
refuse 2 'dev.txt: .*--checkpoint would overwrite this file' "a file that is no checkpoint and not to be read" \
    --checkpoint dev.txt train.txt
check "is untouched" cmp dev.txt <(tagged 100 2)
for way in '' --resume; do
    refuse 2 "checkpoint would overwrite 'train.txt'" "the data as a checkpoint [$way]" --checkpoint train.txt \
        ${way:+"$way"} train.txt
    refuse 2 "dev and --checkpoint are the same file" "held-out data as a checkpoint [$way]" --checkpoint dev.txt \
        ${way:+"$way"} --dev dev.txt train.txt
done
(cat good.checkpoint && echo more) >cut.checkpoint
refuse 3 'cut.checkpoint: .*damaged' "a checkpoint with something behind it" --checkpoint cut.checkpoint \
    --resume train.txt
rows=("${kernels[@]}" --scale standard --quiet)
"$MEDLEY" train --model m.medley --epochs 1 --checkpoint rows.checkpoint "${rows[@]}" words.data >/dev/null
for others in '--scale minmax' '--block-scale rbf*=2' '--kernel bias' '--views all+grid:2x2' '--normalize trace'; do
    # shellcheck disable=SC2086
    expect_exit 2 "$others is refused" "$MEDLEY" train --model bad.medley --epochs 2 --checkpoint rows.checkpoint \
        --resume "${rows[@]}" $others words.data
    expect_text "$others: says why" 'other data or options' "$err"
done
expect_exit 0 "other --threads and --memory go on" "$MEDLEY" train --model more.medley --epochs 2 \
    --checkpoint rows.checkpoint --resume "${rows[@]}" --threads 1 --memory 3G words.data
size=$(wc -c <good.checkpoint)
for place in 9 17 26 34 42 100 $((size / 2)) $((size - 3)); do # the head, the counts, weights, the sum
    cp good.checkpoint bad.checkpoint
    printf '\377' | dd of=bad.checkpoint bs=1 seek="$place" conv=notrunc 2>/dev/null
    cmp -s good.checkpoint bad.checkpoint && printf '\0' |
        dd of=bad.checkpoint bs=1 seek="$place" conv=notrunc 2>/dev/null
    "$MEDLEY" train --model bad.medley --epochs 2 --checkpoint bad.checkpoint --resume --quiet \
        "${template[@]}" train.txt >"$out" 2>"$err"
    status=$?
    check "a changed byte at $place is noticed" test $status -eq 2 -o $status -eq 3
    check "a changed byte at $place: one line" test "$(wc -l <"$err")" -eq 1
done
check "and no model comes of it" test ! -e bad.medley
refuse 1 'no/such/folder' "a checkpoint that cannot be written" --checkpoint no/such/folder/c train.txt
if [ -e /dev/full ]; then
    refuse 1 'space' "a full disk" --checkpoint /dev/full train.txt
else
    skip "a checkpoint on a full disk" "/dev/full is not there"
fi
check "the input is untouched" cmp train.txt <(tagged 1000 1)
