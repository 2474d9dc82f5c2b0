#!/usr/bin/env bash
# mpirun -n N medley: the model of one process, printed and written once; files that only rank 0 sees; ranks that fail,
# differ or are killed end all of them with one sentence.
source "$(dirname "$0")/lib.sh"
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 # ranks share processors here
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_orte_tmpdir_base=$work
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 # MPI has its own
MEDLEY=$(realpath "$MEDLEY")
plugins=$(realpath "$MEDLEY_BUILD")
mpi=$(command -v mpirun.openmpi || command -v mpirun)
if [ -z "$mpi" ] || [ ! -e "$plugins/libmedley-mpi.so" ]; then
    skip "ranks" "there is no mpirun, or no plug-in for it (Debian: openmpi-bin, libopenmpi-dev)"
    exit
fi
cd "$work" || exit 1
ranks() { # ranks N ARGUMENTS...
    local count=$1
    shift
    timeout 120 "$mpi" -n "$count" "$MEDLEY" "$@"
}
two() { # two FOLDER COMMAND... -- FOLDER COMMAND...: rank 0 and rank 1, each in a folder of its own
    local first=() second=() now=first word
    for word in "$@"; do
        if [ "$word" = -- ]; then now=second; elif [ $now = first ]; then first+=("$word"); else second+=("$word"); fi
    done
    # shellcheck disable=SC2016 # the inner shell expands these
    timeout 120 "$mpi" -n 1 sh -c 'cd "$1" && shift && exec "$@"' sh "${first[@]}" : \
        -n 1 sh -c 'cd "$1" && shift && exec "$@"' sh "${second[@]}"
}
medley_lines() { grep -c '^medley ' "$err"; }

"$MEDLEY" generate ringnorm --rows 80 --output two.csv
"$MEDLEY" generate waveform --rows 80 --output wave.csv
"$MEDLEY" generate treebank --rows 25 --output trees.conllu
tagged 60 3 >tagged.txt

# ---- the same model, whatever the ranks ----
same() { # same NAME ARGUMENTS...
    local name=$1
    shift
    "$MEDLEY" train --quiet --model alone.medley "$@" >"$out" 2>"$err"
    for count in 2 3; do
        expect_exit 0 "$name: $count ranks" ranks $count train --quiet --json --model m$count.medley "$@" || return
        check "$name: $count ranks, the same bytes" cmp alone.medley m$count.medley
        check "$name: $count ranks print once" [ "$(wc -l <"$out")" -eq 1 ]
        check "$name: $count ranks are told" [ "$(key ranks "$out")" = $count ]
    done
}
same "templates" --template chunk --loss logistic --epochs 3 tagged.txt
same "trees" --epochs 2 --hash-bits 12 --template arc-form-upos trees.conllu
same "kernels on the fly" --method obscure --kernel 'rbf(sigma={1,2})' --memory 1 wave.csv
expect_exit 0 "spicy: two ranks" ranks 2 train --quiet --json --model s.medley --method spicy --kernel 'rbf(sigma={1,2,4})' two.csv
"$MEDLEY" train --quiet --json --model s1.medley --method spicy --kernel 'rbf(sigma={1,2,4})' two.csv >alone.json
check "spicy: the objective of one process" awk -v a="$(key objective "$out")" -v b="$(key objective alone.json)" \
    'BEGIN { d = a / b - 1; exit !(d < 1e-9 && d > -1e-9) }'

# ---- the other commands ----
"$MEDLEY" train --quiet --model t.medley --template chunk --epochs 2 tagged.txt >"$out"
"$MEDLEY" predict --model t.medley tagged.txt >one.txt
ranks 2 predict --model t.medley --output many.txt tagged.txt >"$out" 2>"$err"
check "predict: the same file" cmp one.txt many.txt
"$MEDLEY" eval --model t.medley tagged.txt | grep -v second >one.txt
ranks 2 eval --model t.medley tagged.txt 2>"$err" | grep -v second >many.txt
check "eval: the same figures" cmp one.txt many.txt
"$MEDLEY" tune --quiet --C 0.1,1,10 --cv 3 --output one.csv two.csv >"$out"
ranks 3 tune --quiet --C 0.1,1,10 --cv 3 --output many.csv two.csv >"$out" 2>"$err"
check "tune: the same table" diff <(cut -d, -f1-3 one.csv) <(cut -d, -f1-3 many.csv)
"$MEDLEY" kernel --quiet --kernel 'rbf(sigma={1,2,4})' --output one.npy two.csv
ranks 2 kernel --quiet --kernel 'rbf(sigma={1,2,4})' --output many.npy two.csv >"$out" 2>"$err"
check "kernel: the same matrices" cmp one.npy many.npy
expect_exit 0 "other commands are run by rank 0" ranks 2 list kernels
check "and print once" [ "$(grep -c '^ *rbf' "$out")" -eq 1 ]
ranks 2 train --quiet --model pipe.medley --format columns --template chunk --epochs 2 - <tagged.txt >"$out" 2>"$err"
check "standard input is rank 0's" cmp t.medley pipe.medley

# ---- files ----
mkdir -p a b other
cp tagged.txt a/data.txt
expect_exit 0 "a file that rank 1 does not see" two a "$MEDLEY" train --quiet --model m.medley --template chunk --epochs 2 data.txt \
    -- b "$MEDLEY" train --quiet --model m.medley --template chunk --epochs 2 data.txt
check "gives the same model" cmp a/m.medley t.medley
check "which rank 0 writes" [ ! -e b/m.medley ]
head -n 20 tagged.txt >other/data.txt
train=("$MEDLEY" train --quiet --model x.medley --template chunk data.txt)
expect_exit 3 "another file under the same name" two a "${train[@]}" -- other "${train[@]}"
expect_text "is named, with its rank" 'data.txt: rank 1 .* sees another file' "$err"
check "in one sentence" [ "$(medley_lines)" -eq 1 ]
check "and nothing is written" [ ! -e a/x.medley ]
expect_exit 1 "a rank that fails alone" two a "${train[@]}" -- b env TMPDIR=/nonexistent "${train[@]}"
expect_text "says so" '^medley train: rank 1: /nonexistent: cannot make a folder' "$err"
check "and nothing is written" [ ! -e a/x.medley ]

# ---- bad use ----
expect_exit 2 "an option out of range" ranks 2 train --C -1 --model x.medley two.csv
check "is told once" [ "$(medley_lines)" -eq 1 ]
expect_exit 1 "a file that is not there" ranks 2 train --model x.medley none.csv
check "is told once" [ "$(medley_lines)" -eq 1 ]
expect_exit 1 "a full disk" ranks 2 train --quiet --model /dev/full two.csv
expect_text "is told" 'No space left' "$err"
train=("$MEDLEY" train --quiet --model x.medley two.csv)
expect_exit 1 "processors that compute otherwise" two . "${train[@]}" -- . env MEDLEY_VECTORS=none OPENBLAS_CORETYPE=Prescott "${train[@]}"
expect_text "are told, with what to do" 'rank 1 .* do not round alike; .*OPENBLAS_CORETYPE=Haswell' "$err"
mkdir -p old
version=$("$MEDLEY" --version | sed -n 's/^medley //p')
sed "s/$version/${version%?}9/g" "$plugins/libmedley-mpi.so" >old/libmedley-mpi.so
expect_exit 1 "a plug-in of another version" env MEDLEY_PLUGINS="$PWD/old" "$mpi" -n 2 "$MEDLEY" train --model x.medley two.csv
expect_text "is told" "belongs to Medley ${version%?}9" "$err"
mkdir -p bare
cp "$MEDLEY" bare/medley
expect_exit 2 "no plug-in" "$mpi" -n 2 bare/medley train --model x.medley two.csv
expect_text "is told, with what to do" 'build Medley where mpicc is' "$err"
check "once" [ "$(medley_lines)" -eq 1 ]

# ---- interruptions and checkpoints ----
long=(train --quiet --model c.medley --checkpoint c.point --template chunk --eta0 0.1 --schedule sqrt tagged.txt)
"$MEDLEY" train --quiet --model whole.medley --template chunk --eta0 0.1 --schedule sqrt --epochs 6 tagged.txt >"$out"
ranks 2 "${long[@]}" --epochs 2 >"$out" 2>"$err"
expect_exit 0 "a checkpoint of two ranks goes on with three" ranks 3 "${long[@]}" --epochs 4 --resume
expect_exit 0 "and with one" "$MEDLEY" "${long[@]}" --epochs 6 --resume
check "to the same model" cmp whole.medley c.medley

if [[ $MEDLEY_BUILD == *asan* ]]; then
    exit # signals take their time, and are sent to the plain build
fi
"$mpi" -n 2 "$MEDLEY" train --quiet --model i.medley --template chunk --loss logistic --epochs 100000 tagged.txt >"$out" 2>"$err" &
job=$!
sleep 3
kill -USR1 $job
wait $job
check "a signal ends the epoch on all ranks: exit code" [ $? -eq 130 ]
check "and the model is written" "$MEDLEY" eval --model i.medley tagged.txt

"$mpi" -n 2 "$MEDLEY" train --quiet --model k.medley --template chunk --loss logistic --epochs 100000 tagged.txt >"$out" 2>"$err" &
job=$!
sleep 3
pkill -9 -n -f 'model k.medley' # the youngest: a rank, not mpirun
wait $job
check "a killed rank ends all" [ $? -ne 0 ]
check "and nothing is written" [ ! -e k.medley ]
check "nobody is left" [ "$(pgrep -cf 'model k.medley')" -eq 0 ]

# ---- the other MPI ----
mpich=$(command -v mpiexec.mpich)
if [ -n "$mpich" ] && [ -e "$plugins/libmedley-mpich.so" ]; then
    expect_exit 0 "MPICH" "$mpich" -n 2 "$MEDLEY" train --quiet --model h.medley --template chunk --epochs 2 tagged.txt
    check "gives the same model" cmp t.medley h.medley
else
    skip "MPICH" "it is not installed"
fi
