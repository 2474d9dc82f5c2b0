#!/usr/bin/env bash
# End to end against LIBSVM on the same files: generated handwriting, letters one by one, the same
# Gaussian kernel and C; then three kernels learnt together. Wall seconds, kernels included; best of
# three. Prints ratios (peer / medley: above 1 is faster) and test accuracies, and one JSON line.
set -euo pipefail
: "${MEDLEY:=build/medley}"
MEDLEY=$(realpath "$MEDLEY")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$MEDLEY" generate handwriting --rows 1000 --output train.data --to letter
"$MEDLEY" generate handwriting --rows 500 --seed 2 --output test.data --to letter
# LIBSVM wants numbers as labels
for part in train test; do
    "$MEDLEY" convert --to svmlight --from letter $part.data | sed 's/ qid:[0-9]*//' |
        awk 'BEGIN { for (i = 97; i < 123; i++) code[sprintf("%c", i)] = i - 96 }
             { $1 = code[$1]; print }' >$part.svm
done
rows=$(wc -l <train.svm)

best_of_three() { # best_of_three COMMAND...: seconds of the fastest run
    local best=
    for _ in 1 2 3; do
        local start=$EPOCHREALTIME
        "$@" >/dev/null 2>&1
        best=$(awk -v s="$start" -v e="$EPOCHREALTIME" -v b="${best:-1e9}" \
            'BEGIN { t = e - s; print t < b ? t : b }')
    done
    echo "$best"
}
accuracy() { # of a medley model
    "$MEDLEY" eval --model "$1" --json test.svm | sed -E 's/.*"accuracy":([0-9.e-]+).*/\1/'
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

one=$(best_of_three "$MEDLEY" train --model one.medley --method spom --kernel 'rbf(gamma=0.1)' --C 3 --quiet train.svm)
three=$(best_of_three "$MEDLEY" train --model three.medley --method spom --kernel 'rbf(gamma=0.1)' \
    --kernel 'linear(norm=diag)' --kernel 'poly(degree=2,norm=diag)' --C 3 --quiet train.svm)
tell=$(best_of_three "$MEDLEY" predict --model one.medley test.svm)
echo "$rows letters, 26 classes, 128 pixels"
printf '%-44s %8s %10s\n' "" "seconds" "accuracy"
printf '%-44s %8.2f %10.4f\n' "medley, one Gaussian" "$one" "$(accuracy one.medley)"
printf '%-44s %8.2f %10.4f\n' "medley, three kernels learnt together" "$three" "$(accuracy three.medley)"
printf '%-44s %8.2f\n' "medley, prediction" "$tell"
if command -v svm-train >/dev/null; then
    peer=$(best_of_three svm-train -q -c 3 -g 0.1 -m 2000 train.svm peer.model)
    peer_tell=$(best_of_three svm-predict test.svm peer.model peer.out)
    svm-predict test.svm peer.model peer.out >said
    peer_accuracy=$(sed -E 's/.*\(([0-9]+)\/([0-9]+)\).*/\1 \2/' said | awk '{ print $1 / $2 }')
    printf '%-44s %8.2f %10.4f\n' "LIBSVM, one Gaussian" "$peer" "$peer_accuracy"
    printf '%-44s %8.2f\n' "LIBSVM, prediction" "$peer_tell"
    echo "training: LIBSVM / medley, one Gaussian    $(ratio "$peer" "$one")"
    echo "training: LIBSVM / medley, three kernels   $(ratio "$peer" "$three")"
    echo "prediction: LIBSVM / medley                $(ratio "$peer_tell" "$tell")"
    echo "{\"benchmark\":\"peers\",\"rows\":$rows,\"medley_one\":$one,\"medley_three\":$three,\"libsvm\":$peer,\"medley_predict\":$tell,\"libsvm_predict\":$peer_tell}"
else
    echo "svm-train is not installed (Debian: libsvm-tools): no peer to compare with"
fi
