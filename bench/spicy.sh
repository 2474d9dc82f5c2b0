#!/usr/bin/env bash
# Hundreds and thousands of kernels learnt by method spicy to a relative gap of 0.01 (spicy-C 0.05,
# unit trace), best of five: seconds of training, kernels computed beforehand, beside the time that two
# threads need to read all their values once (bench_packed in the same call), and the ratio of the two.
# UCI's sonar and ionosphere (80 % of the rows, scaled; ionosphere without its constant column) and
# IDA's ringnorm where the folder MEDLEY_DATA has them, else generated data of the same shape. Last,
# where scikit-learn is installed, LIBSVM trained once on the mean of the same kernels: what methods
# that call an SVM again and again pay for each call. One line of JSON for each row.
set -euo pipefail
: "${MEDLEY:=build/medley}"
MEDLEY=$(realpath "$MEDLEY")
: "${MEDLEY_BUILD:=$(dirname "$MEDLEY")}"
store=$(realpath "$MEDLEY_BUILD")/bench/bench_packed
data=${MEDLEY_DATA:-}
[ ! -d "$data" ] || data=$(realpath "$data")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# shuffled FILE ROWS SEED: the line of names and so many other lines, drawn at random. Its own random
# numbers: every awk has others.
shuffled() {
    head -n 1 "$1"
    tail -n +2 "$1" | awk -v state="$3" '
        { state = (state * 16807) % 2147483647; print state "\t" $0 }' |
        sort -n -k 1,1 | cut -f 2- | head -n "$2" || true # head ends before sort does
}
# data_file NAME GENERATOR DIMENSION: NAME.all, the rows of $data/NAME.csv.gz or generated ones
data_file() {
    local name
    name=$(basename "$1")
    if [ -n "$data" ] && [ -r "$data/$1.csv.gz" ]; then
        gzip -dc "$data/$1.csv.gz" >"$name.all"
    else
        echo "$name: no real data in MEDLEY_DATA; generated ones of the same shape"
        "$MEDLEY" generate "$2" --rows 4000 --dimension "$3" --output "$name.csv" --to csv --quiet
        mv "$name.csv" "$name.all"
    fi
}
# random_kernels COUNT: Gaussians of width 5 chi^2 + 0.1 on random sets of variables
random_kernels() {
    awk -v count="$1" -v state=1 '
        function uniform() { state = (state * 16807) % 2147483647; return state / 2147483647 }
        BEGIN {
            for (m = 1; m <= count; m++) {
                normal = sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform())
                printf "rbf(sigma=%.6g)@random%d\n", 5 * normal * normal + 0.1, m
            }
        }'
}

data_file uci/sonar twonorm 60
data_file uci/ionosphere twonorm 34
data_file ida/ringnorm ringnorm 20
cut -d, -f 1,3- ionosphere.all >ionosphere.cut
shuffled sonar.all 166 1 >sonar.csv
shuffled ionosphere.cut 281 1 >ionosphere.csv
shuffled ringnorm.all 200 1 >ringnorm200.csv
shuffled ringnorm.all 2000 1 >ringnorm2000.csv
each=(--views all+each --kernel 'rbf(sigma={0.1,0.25,0.5,0.75,1,2..20})' --kernel 'poly(degree={1..3})'
    --scale standard)
# bank FILE KERNELS: sets the array of options
bank() {
    case $1 in
        ringnorm*)
            random_kernels "$2" >"kernels$2.txt"
            options=(--views "random:$2:1" --kernels "kernels$2.txt")
            ;;
        *) options=("${each[@]}") ;;
    esac
    options+=(--normalize trace --threads 2)
}

# key NAME FILE: a number in a JSON object
key() { sed -E "s/.*\"$1\":([^,}]*).*/\1/" "$2"; }

# floor KERNELS ROWS: seconds in which two threads read as many bytes as the packed triangles have,
# from a measurement of about as many
floor() {
    "$store" "$1" "$2" 2 20 | grep '"plain read"' >read.json
    awk -v s="$(key seconds read.json)" -v m="$(key kernels read.json)" -v want="$1" \
        'BEGIN { printf "%.6f", s * want / m }'
}

# row DATA KERNELS LOSS PENALTY READ: trains five times
row() {
    local best=1e9
    bank "$1" "$2"
    for _ in 1 2 3 4 5; do
        "$MEDLEY" train --model model.medley --method spicy --loss "$3" --penalty "$4" \
            --spicy-C 0.05 --gap 0.01 "${options[@]}" --quiet --json "$1.csv" >run.json
        if awk -v a="$(key train run.json)" -v b="$best" 'BEGIN { exit !(a < b) }'; then
            best=$(key train run.json)
            mv run.json best.json
        fi
    done
    local rows ratio
    rows=$(key examples best.json)
    ratio=$(awk -v a="$best" -v b="$5" 'BEGIN { printf "%.1f", a / b }')
    printf '%-48s %8.1f %8.1f %8.2f %7.1f %6d %6d\n' "${1%%[0-9]*}, $rows x $2, $3, $4" \
        "$(awk -v s="$(key kernels best.json)" 'BEGIN { print 1e3 * s }')" \
        "$(awk -v s="$best" 'BEGIN { print 1e3 * s }')" \
        "$(awk -v s="$5" 'BEGIN { print 1e3 * s }')" "$ratio" \
        "$(key iterations best.json)" "$(key active_blocks best.json)"
    json+=("{\"bench\":\"spicy\",\"data\":\"${1%%[0-9]*}\",\"rows\":$rows,\"kernels\":$2,\"loss\":\"$3\",\"penalty\":\"$4\",\"kernel_seconds\":$(key kernels best.json),\"train_seconds\":$best,\"read_seconds\":$5,\"ratio\":$ratio,\"iterations\":$(key iterations best.json),\"active\":$(key active_blocks best.json),\"gap\":$(key gap best.json)}")
}

# one_svm DATA KERNELS: LIBSVM on the mean of the kernels, C = 1 at unit mean diagonal
one_svm() {
    bank "$1" "$2"
    "$MEDLEY" kernel --output stack.npy "${options[@]}" --quiet "$1.csv"
    /usr/bin/python3 - "$1" "$2" <<'PYTHON'
import sys, time
import numpy as np
from sklearn.svm import SVC
name, kernels = sys.argv[1:]
title = name.rstrip("0123456789")
labels = np.array([line.rsplit(",", 1)[1].strip() for line in open(name + ".csv")][1:])
mean = np.load("stack.npy", mmap_mode="r").mean(axis=0, dtype=np.float64)
best = np.inf
for _ in range(5):
    start = time.perf_counter()
    SVC(kernel="precomputed", C=len(labels)).fit(mean, labels)
    best = min(best, time.perf_counter() - start)
print(f"{f'one SVM: {title}, {len(labels)} x {kernels}':48} {'':8} {1e3 * best:8.1f}")
PYTHON
    rm stack.npy
}

json=()
printf '%-48s %8s %8s %8s %7s %6s %6s\n' "data, rows x kernels, loss, penalty" "kernels" "training" \
    "one read" "ratio" "outer" "active"
printf '%-48s %8s %8s %8s\n' "" "ms" "ms" "ms"
for case in "sonar 1647 166" "ionosphere 918 281" "ringnorm200 1000 200" "ringnorm200 6000 200" "ringnorm2000 20 2000"; do
    read -r name kernels rows <<<"$case"
    read_once=$(floor "$kernels" "$rows")
    row "$name" "$kernels" logistic group-lasso "$read_once"
    row "$name" "$kernels" hinge group-lasso "$read_once"
    case $name$kernels in
        sonar* | *6000) row "$name" "$kernels" logistic 'elastic(t=0.5)' "$read_once" ;;
    esac
done
if /usr/bin/python3 -c 'import sklearn' 2>/dev/null; then
    one_svm sonar 1647
    one_svm ionosphere 918
    one_svm ringnorm200 1000
    one_svm ringnorm2000 20
else
    echo "scikit-learn is not installed (Debian: python3-sklearn): no SVM to compare with"
fi
printf '%s\n' "${json[@]}"
