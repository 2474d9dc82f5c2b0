#!/usr/bin/env bash
# MNIST with 12 kernels (quarters of the images x linear, cubic, Gaussian) by method obscure. First end
# to end with 10,000 rows drawn from the training file: reading, kernels, training, predicting the
# 10,000 test digits, beside NumPy and scikit-learn's SVC on the average of the same kernels, if they
# are installed. Then seconds of training against rows, kernels computed on the fly (--memory 64M: few
# rows can be kept), with exponents by least squares in logarithms. With --full (or
# MEDLEY_BENCH_FULL=1) up to 60,000 rows, and those once more end to end with --memory 4G. One line of
# JSON for each row. Without MNIST's idx files in MEDLEY_DATA/mnist it is skipped.
#
#     bench/obscure.sh [--full]
set -euo pipefail
: "${MEDLEY:=build/medley}"
MEDLEY=$(realpath "$MEDLEY")
data=${MEDLEY_DATA:-$(dirname "$(realpath "$0")")/../../shared/data}/mnist
full=${MEDLEY_BENCH_FULL:-0}
[ "${1:-}" != --full ] || full=1
for file in {train,t10k}-{images-idx3,labels-idx1}-ubyte.gz; do
    if [ ! -r "$data/$file" ]; then
        echo "skipped: no data file $data/$file; put it there, or name the data folder in MEDLEY_DATA"
        exit 0
    fi
done
if ! "$MEDLEY" list methods | grep -q '^  obscure '; then
    echo "skipped: this command has no method obscure"
    exit 0
fi
data=$(realpath "$data")
train=$data/train-images-idx3-ubyte.gz
test=$data/t10k-images-idx3-ubyte.gz
kernels=(--views grid:2x2 --scale minmax --kernel 'linear(norm=diag)' --kernel 'poly(degree=3,norm=diag)'
    --kernel 'rbf(sigma2=2.8)')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
json=()

# key NAME FILE: a number in a JSON object, not one of its epochs
key() { sed -E "s/\"epochs\":\[[^]]*\]//; s/.*\"$1\":([^,}]*).*/\1/" "$2"; }
between() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", b - a }'; }
error_of() { awk -v a="$(key accuracy "$1")" 'BEGIN { printf "%.2f", 100 * (1 - a) }'; }
smaller() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }

# fit ROWS OPTIONS...: train.json
fit() {
    local rows=$1
    shift
    "$MEDLEY" train --model model.medley --method obscure "${kernels[@]}" --sample "$rows" "$@" \
        --quiet --json "$train" >train.json
}
# end_to_end ROWS OPTIONS...: one run; sets $seconds and leaves train.json, eval.json
end_to_end() {
    local begin=$EPOCHREALTIME
    fit "$@"
    "$MEDLEY" eval --model model.medley --json "$test" >eval.json
    seconds=$(between "$begin" "$EPOCHREALTIME")
}
# show ROWS WHAT OPTIONS...: the last end to end run
show() {
    local rows=$1 what=$2
    printf '%-46s %8.2f %9.2f %9.2f %9.2f %8.2f %8.0f\n' "medley, $rows rows, $what" "$seconds" \
        "$(key read train.json)" "$(key kernels train.json)" "$(key train train.json)" \
        "$(error_of eval.json)" "$(key peak_rss_mb train.json)"
    json+=("{\"bench\":\"obscure\",\"case\":\"$what\",\"rows\":$rows,\"seconds\":$seconds,\"read_seconds\":$(key read train.json),\"kernel_seconds\":$(key kernels train.json),\"train_seconds\":$(key train train.json),\"predict_seconds\":$(key total eval.json),\"error\":$(error_of eval.json),\"updates\":$(key updates train.json),\"support_rows\":$(key support_rows train.json),\"peak_mb\":$(key peak_rss_mb train.json)}")
}

# ---- the peer ----

# OpenBLAS takes slow code on processors younger than itself; Medley avoids that, so must its peer.
flags=$(grep -m 1 '^flags' /proc/cpuinfo 2>/dev/null || true)
if [ -z "${OPENBLAS_CORETYPE:-}" ]; then
    case $flags in
        *avx512bw*avx512vl*) export OPENBLAS_CORETYPE=SkylakeX ;;
        *avx2*) export OPENBLAS_CORETYPE=Haswell ;;
    esac
fi

# peer ROWS: peer.json
peer() {
    OPENBLAS_NUM_THREADS=1 /usr/bin/python3 - "$data" "$1" >peer.json <<'PYTHON'
import gzip, json, os, resource, sys, time
begin = time.perf_counter()
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from sklearn.svm import SVC

folder, rows = sys.argv[1], int(sys.argv[2])


def read(part):
    with gzip.open(f"{folder}/{part}-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)
    with gzip.open(f"{folder}/{part}-labels-idx1-ubyte.gz") as file:
        return images, np.frombuffer(file.read(), np.uint8, offset=8)


def quarters(images, low, high):
    """Four views, every pixel scaled to 0 .. 1 by what the training rows have."""
    span = np.where(high > low, high - low, 1)
    scaled = (images.astype(np.float32) - low) / span
    return [np.ascontiguousarray(scaled[:, i:i + 14, j:j + 14].reshape(len(images), -1))
            for i in (0, 14) for j in (0, 14)]


def average(left, right):
    """Mean of the 12 kernels: one product for each view, maps in place, stripes of rows side by
    side on all processors."""
    mean = np.zeros((len(left[0]), len(right[0])), np.float32)

    def root(values):
        return np.where(values > 0, 1 / np.sqrt(np.where(values > 0, values, 1)), 0)

    def stripe(first):
        out, some = mean[first:first + 250], slice(first, first + 250)
        for a, b in zip(left, right):
            x = a[some]
            products = x @ b.T
            own, other = np.einsum("ij,ij->i", x, x)[:, None], np.einsum("ij,ij->i", b, b)
            values = products * root(own)
            values *= root(other)
            out += values
            np.add(products, 1, out=values)
            values *= values * values
            values *= root((own + 1) ** 3)
            values *= root((other + 1) ** 3)
            out += values
            products *= 2 / 5.6
            products -= own / 5.6
            products -= other / 5.6
            out += np.exp(products, out=products)
        out /= 12

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(stripe, range(0, len(mean), 250)))
    return mean


images, labels = read("train")
test_images, test_labels = read("t10k")
chosen = np.random.default_rng(1).choice(len(images), rows, replace=False)
images, labels = images[chosen], labels[chosen]
low, high = images.min(axis=0).astype(np.float32), images.max(axis=0).astype(np.float32)
views, test_views = quarters(images, low, high), quarters(test_images, low, high)
was_read = time.perf_counter()
kernel = average(views, views)
computed = time.perf_counter()
machine = SVC(kernel="precomputed", C=10, cache_size=1000).fit(kernel, labels)
fitted = time.perf_counter()
error = np.mean(machine.predict(average(test_views, views)) != test_labels)
done = time.perf_counter()
print(json.dumps({"seconds": round(done - begin, 3), "read": round(was_read - begin, 3),
                  "kernels": round(computed - was_read, 3), "train": round(fitted - computed, 3),
                  "predict": round(done - fitted, 3), "error": round(100 * error, 2),
                  "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024},
                 separators=(",", ":")))
PYTHON
}

# ---- end to end ----

rows=10000
printf '%-46s %8s %9s %9s %9s %8s %8s\n' "" "wall s" "reading" "kernels" "training" "error %" "peak MB"
best=1e9
for _ in 1 2; do
    end_to_end $rows
    if smaller "$seconds" "$best"; then
        best=$seconds
        cp train.json best_train.json
        cp eval.json best_eval.json
    fi
done
seconds=$best
mv best_train.json train.json
mv best_eval.json eval.json
show $rows "end to end"
if /usr/bin/python3 -c 'import numpy, sklearn' 2>/dev/null; then
    begin=$EPOCHREALTIME
    peer $rows
    wall=$(between "$begin" "$EPOCHREALTIME")
    printf '%-46s %8.2f %9.2f %9.2f %9.2f %8.2f %8.0f\n' "NumPy, SVC on the average kernel, $rows rows" \
        "$wall" "$(key read peer.json)" "$(key kernels peer.json)" "$(key train peer.json)" \
        "$(key error peer.json)" "$(key peak_mb peer.json)"
    ratio=$(awk -v a="$wall" -v b="$seconds" 'BEGIN { printf "%.2f", a / b }')
    echo "NumPy and scikit-learn / medley: $ratio"
    json+=("{\"bench\":\"obscure\",\"case\":\"peer\",\"rows\":$rows,\"seconds\":$wall,\"kernel_seconds\":$(key kernels peer.json),\"train_seconds\":$(key train peer.json),\"predict_seconds\":$(key predict peer.json),\"error\":$(key error peer.json),\"peak_mb\":$(key peak_mb peer.json),\"ratio\":$ratio}")
else
    echo "NumPy and scikit-learn are not installed (Debian: python3-sklearn): no SVM to compare with"
fi
if [ "$full" = 1 ]; then
    end_to_end 60000 --memory 4G
    show 60000 "on the fly, 4G"
else
    echo "60,000 rows are left out; --full or MEDLEY_BENCH_FULL=1 has them"
fi

# ---- seconds against rows ----

sizes=(5000 10000 20000)
[ "$full" != 1 ] || sizes+=(40000 60000)
: >points
printf '\n%-46s %8s %9s %9s %9s %8s %8s\n' "training on the fly, 64M" "seconds" "updates" "ns/upd/row" \
    "support" "" "peak MB"
for rows in "${sizes[@]}"; do
    fit "$rows" --memory 64M
    seconds=$(key train train.json)
    updates=$(key updates train.json)
    each=$(awk -v s="$seconds" -v u="$updates" -v n="$rows" 'BEGIN { printf "%.4f", 1e9 * s / u / n }')
    printf '%-46s %8.2f %9d %9.3f %9d %8s %8.0f\n' "$rows rows" "$seconds" "$updates" "$each" \
        "$(key support_rows train.json)" "" "$(key peak_rss_mb train.json)"
    echo "$rows $seconds $each" >>points
    json+=("{\"bench\":\"obscure\",\"case\":\"rows\",\"rows\":$rows,\"train_seconds\":$seconds,\"updates\":$updates,\"ns_per_update_and_row\":$each,\"support_rows\":$(key support_rows train.json),\"peak_mb\":$(key peak_rss_mb train.json)}")
done
# slope COLUMN: of the least-squares line through the logarithms
slope() {
    awk -v c="$1" '{ x = log($1); y = log($c); n++; sx += x; sy += y; sxx += x * x; sxy += x * y }
        END { printf "%.3f", (n * sxy - sx * sy) / (n * sxx - sx * sx) }' points
}
echo "exponents: training seconds $(slope 2), seconds per update and row $(slope 3)"
json+=("{\"bench\":\"obscure\",\"case\":\"exponents\",\"rows\":\"${sizes[*]}\",\"train_seconds\":$(slope 2),\"seconds_per_update_and_row\":$(slope 3)}")
printf '%s\n' "${json[@]}"
