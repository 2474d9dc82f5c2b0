#!/usr/bin/env bash
# Generating and converting.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

for name in ringnorm twonorm waveform handwriting tagged treebank; do
    "$MEDLEY" generate $name --rows 20 >one
    "$MEDLEY" generate $name --rows 20 >two
    "$MEDLEY" generate $name --rows 20 --seed 2 >three
    check "$name: one seed gives one data set" cmp one two
    check "$name: another seed another" bash -c '! cmp -s one three'
done
expect_exit 2 "an unknown generator" "$MEDLEY" generate ringnrm
expect_text "with the nearest" "did you mean 'ringnorm'" "$err"
expect_exit 2 "views need a file each" "$MEDLEY" generate blobs

"$MEDLEY" generate tagged --rows 200 --output train.txt
"$MEDLEY" generate tagged --rows 100 --seed 2 --output test.txt
expect_exit 0 "sentences are chunked" "$MEDLEY" train --template chunk --model chunks.medley train.txt
"$MEDLEY" eval --model chunks.medley test.txt >scores
check "well, but not without errors" awk '/^accuracy/ { good = $2 > 90 && $2 < 99.5 } END { exit !good }' scores
check "a treebank has ten columns between tabs" bash -c \
    '"$MEDLEY" generate treebank --rows 9 | awk -F "\t" "NF && NF != 10 { exit 1 }"'
"$MEDLEY" generate treebank --rows 60 --output train.conllu
"$MEDLEY" generate treebank --rows 60 --seed 2 --output test.conllu
expect_exit 0 "and is learnt" "$MEDLEY" train --epochs 3 --model parser.medley train.conllu
"$MEDLEY" eval --model parser.medley test.conllu >scores
check "as trees" awk '/^UAS/ { good = $2 > 75 && $2 < 99.5 } END { exit !good }' scores
expect_exit 2 "sentences have no dimension" "$MEDLEY" generate tagged --dimension 3
expect_exit 2 "and are no table" "$MEDLEY" generate treebank --to csv

"$MEDLEY" generate waveform --rows 50 --output w.csv
"$MEDLEY" convert --to svmlight --output w.svm w.csv
"$MEDLEY" convert --to csv --output back.csv w.svm
"$MEDLEY" convert --to svmlight --output again.svm back.csv
check "CSV to svmlight and back loses nothing" cmp w.svm again.svm
"$MEDLEY" convert --to svmlight --output w.svm.gz w.csv
check "and compresses" bash -c 'zcat w.svm.gz | cmp - w.svm'
expect_exit 2 "convert wants to know to what" "$MEDLEY" convert w.csv
expect_exit 2 "npy has no labels to convert to" "$MEDLEY" convert --to conllu w.csv

# ---- as JSON ----
expect_exit 0 "generate --json" "$MEDLEY" generate ringnorm --rows 3 --json
check "is JSON, with the text that would have been written" python3 -c '
import json, subprocess, sys
told = json.load(open(sys.argv[1]))
text = subprocess.run([sys.argv[2], "generate", "ringnorm", "--rows", "3"], capture_output=True, text=True).stdout
assert told["text"] == text and told["examples"] == 3 and told["format"] == "csv", told' "$out" "$MEDLEY"
expect_exit 2 "generate --json of several views" "$MEDLEY" generate blobs --rows 3 --json
expect_exit 2 "generate --json of npy" "$MEDLEY" generate ringnorm --rows 3 --json --to npy
