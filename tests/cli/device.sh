#!/usr/bin/env bash
# --device: a card that is none (tests/device/fake_card.c) learns and predicts what the processor does; what is said of it;
# what is refused; cards that fail, also in the middle of a run, which goes on without. The same on a real card, where there
# is one.
source "$(dirname "$0")/lib.sh"
export LC_ALL=C
cd "$work" || exit 1
fake=$MEDLEY_BUILD/tests/fake_card

if [ ! -f "$fake/libmedley-cuda.so" ]; then
    skip "cards" "there is no $fake/libmedley-cuda.so; build the tests"
    exit
fi

# on_card ARGUMENTS...: the command with the fake card, or with the one that it finds by itself
on_card() { MEDLEY_PLUGINS=$plugins MEDLEY_FAKE_CARD=${fault-} "$MEDLEY" "$@"; }
plugins=$fake

# refuse CODE PATTERN NAME ARGUMENTS...: one sentence, and no model
refuse() {
    local code=$1 pattern=$2 name=$3
    shift 3
    rm -f bad.medley
    expect_exit "$code" "$name" on_card train --model bad.medley --quiet "$@"
    expect_text "$name: says what and how to mend it" "$pattern" "$err"
    check "$name: one line" test "$(wc -l <"$err")" -eq 1
    check "$name: no model" test ! -e bad.medley
}

# A key of the summary, whose list of epochs has keys of its own.
told() { sed -E 's/"epochs":\[[^]]*\],?//' "$2" >top.json && key "$1" top.json; }

"$MEDLEY" generate waveform --rows 150 --output wave.csv
"$MEDLEY" generate waveform --rows 300 --seed 2 --output test.csv
"$MEDLEY" generate handwriting --rows 30 --to letter --output words.data
"$MEDLEY" generate treebank --rows 12 --output trees.conllu
tagged 40 3 >tagged.txt

# ---- the same as without ----

# same CARD METHOD ARGUMENTS...: models of the processor and of the card, and what each predicts
same() {
    local card=$1 method=$2 here there
    shift 2
    expect_exit 0 "$card, $method: trains" on_card train --model there.medley --device cuda --method "$method" \
        --json --quiet "$@" wave.csv || return
    cp "$out" there.json
    expect_exit 0 "$card, $method: without" on_card train --model here.medley --device cpu --method "$method" \
        --json --quiet "$@" wave.csv
    cp "$out" here.json
    check "$card, $method: device is a card" test "$(told device there.json)" != cpu
    check "$card, $method: what it has done" grep -Eq '"device_use":"[^"]* of [1-9]' there.json
    check "$card, $method: there is no reason not to" test "$(told device_reason there.json)" = ""
    check "$card, $method: the processor is told" test "$(told device here.json)$(told device_use here.json)" = cpu
    here=$(told objective here.json) there=$(told objective there.json)
    check "$card, $method: objectives $here and $there" awk -v a="$here" -v b="$there" \
        'BEGIN { exit !(a - b <= 3e-3 * a && b - a <= 3e-3 * a) }'
    on_card eval --json --device cpu here.medley test.csv >here.json
    expect_exit 0 "$card, $method: evaluates" on_card eval --json --device cuda there.medley test.csv
    here=$(key accuracy here.json) there=$(key accuracy "$out")
    check "$card, $method: accuracies $here and $there" awk -v a="$here" -v b="$there" \
        'BEGIN { exit !(a - b <= 0.015 && b - a <= 0.015) }'
}

# commands CARD: whatever takes the option
commands() {
    local name
    expect_exit 0 "$1: trains" on_card train --model m.medley --device cuda --method spom --epochs 20 wave.csv
    expect_text "$1: the text tells of it" '^.+: values and scores of 3 kernels$' "$out"
    name=$(sed -nE 's/^(.+): values and scores of 3 kernels$/\1/p' "$out")
    expect_exit 0 "$1: eval" on_card eval --json --device cuda m.medley test.csv
    check "$1: eval tells of it" test "$(key device "$out")" = "$name"
    on_card eval --json m.medley test.csv >"$out"
    check "$1: which has too little to do" test "$(key device "$out")" = cpu
    for command in "predict" "predict --proba" "predict --scores"; do
        # shellcheck disable=SC2086
        on_card $command --device cpu m.medley test.csv >here.txt
        # shellcheck disable=SC2086
        expect_exit 0 "$1: $command" on_card $command --device cuda m.medley test.csv
        check "$1: $command: as many lines" test "$(wc -l <"$out")" = "$(wc -l <here.txt)"
    done
    expect_exit 0 "$1: report" on_card report --device cuda --output r.html m.medley test.csv
    expect_exit 0 "$1: tune" on_card tune --device cuda --method spom --loss logistic --epochs 20 --C 0.1,1 --quiet \
        --output t.csv --model tuned.medley wave.csv
    expect_exit 0 "$1: path" on_card path --device cuda --method spom --count 3 --epochs 20 --quiet --output p.csv wave.csv
    expect_exit 0 "$1: sequences" on_card train --device cuda --model s.medley --epochs 5 --quiet words.data
    expect_exit 0 "$1: sequences are labelled" on_card predict --device cuda s.medley words.data
    expect_exit 0 "$1: certified" on_card train --device cuda --model c.medley --certify --method spom --epochs 20 --json \
        --quiet wave.csv
    check "$1: dual is not above the objective" above "$(told objective "$out")" "$(told dual "$out")"
    on_card train --model one.medley --device cuda --method obscure --threads 1 --quiet wave.csv >"$out"
    on_card train --model two.medley --device cuda --method obscure --threads 2 --quiet wave.csv >"$out"
    check "$1: one seed, one model" cmp one.medley two.medley
    on_card train --model one.medley --device cuda --method obscure --device-storage float32 --quiet wave.csv >"$out"
    check "$1: other rounding, another model" test "$(cmp -s one.medley two.medley || echo other)" = other
}

methods_of() { # methods_of CARD
    same "$1" spom --loss logistic
    same "$1" obscure --epochs2 200 --normalize center
    same "$1" frank-wolfe --gap 0.001
    same "$1" pegasos --device-storage float32
    same "$1" average --loss logistic --normalize trace
    same "$1" spicy --gap 0.001
}

methods_of "fake card"
commands "fake card"

# ---- bad use ----
refuse 2 '--device gpu is none of auto, cpu, cuda and cuda:N' "a device that is none" --device gpu wave.csv
refuse 2 '--device cuda: is none of auto' "a card without a number" --device cuda: wave.csv
refuse 2 'there is no card 7: the last one is 0' "a card that is not there" --device cuda:7 wave.csv
refuse 2 'nothing for a card to do: .*leave out --device' "templates" --device cuda --template chunk tagged.txt
refuse 2 'leave out --device' "trees" --device cuda trees.conllu
refuse 2 '--device-storage' "another storage" --device cuda --device-storage float8 wave.csv
expect_exit 0 "templates without a card" on_card train --model c.medley --device auto --template chunk --epochs 2 tagged.txt
expect_exit 0 "trees, told that there is none" on_card train --model c.medley --device cpu --epochs 2 trees.conllu
expect_exit 2 "predict: a device that is none" on_card predict --device tpu m.medley test.csv
expect_text "predict: says which there are" '--device tpu is none of auto' "$err"
"$MEDLEY" kernel --output K.npy --kernel rbf wave.csv >"$out" 2>"$err"
sed 1d wave.csv | cut -d, -f22 >labels.csv
refuse 2 "kernel 'gram1' has values from outside" "kernels from outside" --device cuda --method spom --gram K.npy \
    --labels labels.csv

# ---- how values are rounded ----

# Half precision where that does no harm: K(x,x) is 21 or so, and C as large as it takes to fit closely.
linear=(--method spom --epochs 100 --kernel linear --kernel 'rbf(sigma=3)' --C 10 wave.csv)
on_card train --model here.medley --device cpu --json --quiet "${linear[@]}" >here.json
on_card train --model there.medley --device cuda --json --quiet "${linear[@]}" >there.json
here=$(told objective here.json) there=$(told objective there.json)
check "large kernel values, objectives $here and $there" awk -v a="$here" -v b="$there" \
    'BEGIN { exit !(a - b <= 3e-3 * a && b - a <= 3e-3 * a) }'
on_card train --model one.medley --device cuda --device-storage float32 --quiet "${linear[@]}" >"$out"
check "large kernel values are not rounded" cmp one.medley there.medley
on_card train --model one.medley --device cuda --device-storage float16 --quiet "${linear[@]}" >"$out"
check "unless that is asked for" test "$(cmp -s one.medley there.medley || echo other)" = other
on_card train --model one.medley --device cuda --method obscure --quiet wave.csv >"$out"
on_card train --model two.medley --device cuda --method obscure --device-storage float16 --quiet wave.csv >"$out"
check "small ones are" cmp one.medley two.medley

# Rows whose K(x,x) is below what floats can tell, beside large ones.
awk 'BEGIN { srand(5); for (i = 0; i < 60; i++) { s = i % 2 ? 1 : 0.004; for (j = 0; j < 4; j++) printf "%.9g,", s * (rand() + 0.3 * (i % 3));
    print "c" i % 3 } }' >tiny.csv
for method in obscure spom; do
    tiny=(--method "$method" --scale none --kernel 'poly(degree=8,offset=0)' --kernel linear tiny.csv)
    for plugins in "$fake" "$MEDLEY_BUILD/tests/cuda_on_processor"; do
        [ -e "$plugins/libmedley-cuda.so" ] || continue
        expect_exit 0 "$method: rows of nearly nothing, ${plugins##*/}" on_card train --device cuda --model t.medley --quiet \
            "${tiny[@]}"
    done
done

# The same bytes whatever memory is free, so however many values are kept; and from a card that reads pages by itself.
plugins=$MEDLEY_BUILD/tests/cuda_on_processor
if [ -e "$plugins/libmedley-cuda.so" ]; then
    kept=(--device cuda --method obscure --device-storage float16 --epochs1 2 --epochs2 2 --quiet)
    "$MEDLEY" generate waveform --rows 250 --output more.csv
    on_card train --model all.medley "${kept[@]}" more.csv
    for memory in 100 537.5 538.5; do
        MEDLEY_CARD_MEMORY=$memory on_card train --model some.medley "${kept[@]}" more.csv
        check "with $memory MB: the same bytes" cmp all.medley some.medley
    done
    MEDLEY_CARD_PAGES=1 on_card train --model some.medley "${kept[@]}" more.csv
    check "with pages that are read late: the same bytes" cmp all.medley some.medley
    on_card train --model some.medley "${kept[@]}" --memory 20M more.csv
    check "with little memory of the processor: the same bytes" cmp all.medley some.medley
fi
plugins=$fake

# A gap that single precision does not reach: the processor goes on, and plans its memory anew.
"$MEDLEY" generate ringnorm --rows 1510 --output ring.csv
expect_exit 0 "spicy: a gap for double precision" on_card train --model c.medley --device cuda --method spicy \
    --kernel 'rbf(sigma=4)' --C 1 --gap 1e-7 --json --quiet ring.csv
expect_text "spicy: who went on" '"device_use":"[^"]*; the last steps in double precision on the processor"' "$out"
check "spicy: to the gap" awk -v gap="$(told gap "$out")" 'BEGIN { exit !(gap != "" && gap <= 1e-7) }'

# ---- what runs where ----
expect_exit 0 "path: tells of the card" on_card path --device cuda --method spom --count 3 --epochs 20 --quiet --json wave.csv
check "path: by name" test "$(key device "$out")" = "fake card"
for storage in auto float32 float16; do
    on_card path --device cuda --device-storage $storage --method obscure --count 3 --quiet --output "$storage.csv" wave.csv >"$out"
done
check "path: values are not rounded" cmp auto.csv float32.csv
check "path: unless it is asked for" test "$(cksum <auto.csv)" != "$(cksum <float16.csv)"
expect_exit 0 "tune: tells of the card" on_card tune --device cuda --method spom --epochs 10 --C 0.1,1 --quiet --json \
    --model tuned.medley wave.csv
expect_text "tune: by name" '"device":"fake card"' "$out"
"$MEDLEY" train --quiet --epochs 2 --model trees.medley trees.conllu
fault=none expect_exit 2 "predict: nothing to do, and no card" on_card predict --device cuda trees.medley trees.conllu
fault=none expect_exit 0 "predict: nothing to do, and none asked for" on_card predict trees.medley trees.conllu
fault=
if command -v mpirun.openmpi >"$out" && [ -e "$MEDLEY_BUILD/libmedley-mpi.so" ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    mkdir -p both
    cp "$fake/libmedley-cuda.so" "$MEDLEY_BUILD/libmedley-mpi.so" both
    ranks() { # two ranks that have a card
        MEDLEY_PLUGINS=$work/both ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 timeout 120 mpirun.openmpi -n 2 \
            -x MEDLEY_PLUGINS "$(realpath "$MEDLEY")" "$@"
    }
    on_card train --model m.medley --device cuda --method spom --epochs 20 --quiet wave.csv
    expect_exit 0 "ranks: eval" ranks eval --device cuda --json m.medley test.csv
    check "ranks: eval tells of the card" test "$(key device "$out")" = "fake card"
    expect_exit 2 "ranks: tune with a card" ranks tune --device cuda --method spom --epochs 5 --C 0.1,1 --quiet wave.csv
    expect_text "ranks: tune says why not" 'ranks learn on their processors; leave out --device' "$err"
fi

# ---- cards that cannot be used ----

# 300 rows of so many columns that a card is worth it.
awk 'BEGIN { for (i = 0; i < 300; i++) print 2 * (i % 2) - 1, "1:" i % 7 + i % 2, "2:" i % 3 - i % 2, 6000000 - i % 50 ":1" }' \
    >wide.svm
wide=(--method spom --epochs 2 --kernel 'rbf(sigma2=5)' --scale none)

unusable() { # unusable FAULT PATTERN
    fault=$1
    refuse 2 "device cuda: $2" "$1" --device cuda --method spom wave.csv
    refuse 2 "device cuda: $2" "$1, spicy" --device cuda --method spicy wave.csv
    expect_exit 0 "$1: too little to do" on_card train --model c.medley --method spom --epochs 2 --quiet --json wave.csv
    check "$1: nobody asks why" test "$(told device_reason "$out")" = ""
    expect_exit 0 "$1: enough to do" on_card train --model c.medley --quiet --json "${wide[@]}" wide.svm
    check "$1: the processor has done it" test "$(told device "$out")" = cpu
    expect_text "$1: and why" "\"device_reason\":\"[^\"]*$2" "$out"
    expect_exit 0 "$1: in words" on_card train --model c.medley "${wide[@]}" wide.svm
    expect_text "$1: and why, in words" "^no card was used: .*$2" "$out"
    expect_exit 2 "$1: predict" on_card predict --device cuda m.medley test.csv
    expect_text "$1: predict says why" "device cuda: $2" "$err"
    expect_exit 0 "$1: predicts without" on_card predict m.medley test.csv
}
unusable version 'libmedley-cuda.so belongs to Medley .* and this is .*; install both anew'
unusable none 'there is no card that CUDA can use'
unusable old 'fake card is too old'
fault=scores
for method in spom average best obscure; do
    refuse 1 'device cuda: fake card: .* MB of its memory are needed, and .* are free; leave out --device' \
        "no memory for scores, $method" --device cuda --method "$method" wave.csv
done
fault=memory
refuse 1 'device cuda: fake card: .* MB of its memory are needed, and .* are free' "no memory" --device cuda --method spom \
    wave.csv
refuse 1 'MB of its memory are needed' "no memory, spicy" --device cuda --method spicy wave.csv
fault=
plugins=$work/none
expect_exit 0 "no plug-in: the processor does it" on_card train --model c.medley --quiet --json --epochs 2 --method spom wave.csv
check "no plug-in: nobody asks why" test "$(told device_reason "$out")" = ""
plugins=$fake

# ---- cards that are lost ----
for fault in lost:1 lost:2 lost:3; do
    refuse 1 'unspecified launch failure while waiting for it; (--device cpu does without it|leave out --device)' "$fault" --device cuda \
        --method spom wave.csv
    refuse 1 'unspecified launch failure' "$fault, spicy" --device cuda --method spicy wave.csv
    expect_exit 1 "$fault: predict" on_card predict --device cuda m.medley test.csv
    expect_exit 0 "$fault: train without" on_card train --model c.medley --device cpu --method spom --epochs 2 --quiet wave.csv
done

# In the middle of a run: its checkpoint is as good as ever.
run=(train --method spom --loss logistic --epochs 60 --eta0 1 wave.csv)
fault=
on_card "${run[@]}" --device cuda --model whole.medley --quiet >"$out"
on_card "${run[@]}" --device cpu --model here.medley --json --quiet >here.json
for fault in lost:60 lost:120 lost:200; do
    rm -f run.checkpoint bad.medley
    expect_exit 1 "$fault: ends" on_card "${run[@]}" --device cuda --model bad.medley --checkpoint run.checkpoint --quiet
    expect_text "$fault: says what and how to mend it" 'launch failure .*--device cpu .* goes on from a checkpoint' "$err"
    check "$fault: one line" test "$(wc -l <"$err")" -eq 1
    check "$fault: no model" test ! -e bad.medley
    check "$fault: a checkpoint" test -s run.checkpoint
    cp run.checkpoint again.checkpoint
    expect_exit 0 "$fault: goes on without" on_card "${run[@]}" --device cpu --model rest.medley \
        --checkpoint run.checkpoint --resume
    check "$fault: and not from the start" test "$(sed -nE 's/^training ([0-9]+).*/\1/p' "$err" | head -1)" -gt 1
    on_card inspect --json rest.medley >rest.json
    check "$fault: to about the same place" awk -v a="$(told objective here.json)" -v b="$(told objective rest.json)" \
        'BEGIN { exit !(a - b <= 2e-3 * a && b - a <= 2e-3 * a) }'
    fault=
    expect_exit 0 "goes on with the card" on_card "${run[@]}" --device cuda --model rest.medley --checkpoint again.checkpoint \
        --resume
    check "goes on with the card: the same bytes" cmp whole.medley rest.medley
done

# ---- a real card ----
plugins=
if on_card train --model real.medley --device cuda --method spom --epochs 1 --quiet wave.csv >"$out" 2>"$err"; then
    methods_of "real card"
    commands "real card"
else
    skip "a real card" "$(sed 's/^medley train: //' "$err" | tail -1)"
fi
