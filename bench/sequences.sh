#!/usr/bin/env bash
# A linear-chain CRF on tagged words, end to end: CoNLL-2000's chunks, where the folder MEDLEY_DATA has
# them, or generated words with the frequencies of English. Trains 12 epochs of averaged stochastic
# gradients with the built-in templates, then tags the test words by one thread. Best of three. Prints
# seconds (wall and processor), peak memory, tokens a second with and without reading and writing, and
# one line of JSON. Letters, and what kernels cost beside the machine's limits: bench_sequence.
set -euo pipefail
: "${MEDLEY:=build/medley}"
MEDLEY=$(realpath "$MEDLEY")
data=${MEDLEY_DATA:-}
[ ! -d "$data" ] || data=$(realpath "$data")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# tagged_words SENTENCES SEED: word, part of speech, label of a chunk. Its own random numbers: every
# awk has others.
tagged_words() {
    awk -v sentences="$1" -v state="$2" '
        function uniform() { state = (state * 16807) % 2147483647; return state / 2147483647 }
        function rank(n) { return int(exp(uniform() * log(n + 1)) - 1) }
        BEGIN {
            for (s = 0; s < sentences; s++) {
                length_ = 4 + int(40 * uniform())
                before = -1
                for (i = 0; i < length_; i++) {
                    word = rank(20000)
                    tag = uniform() < 0.9 ? word % 44 : rank(44)
                    kind = tag % 11
                    inside = kind == before && uniform() < 0.8
                    print "word" word, "T" tag, kind == 0 ? "O" : (inside ? "I-" : "B-") "C" kind
                    before = kind
                }
                print ""
            }
        }'
}

if [ -n "$data" ] && [ -r "$data/conll2000/train.txt.gz" ]; then
    source="CoNLL-2000"
    train=$data/conll2000/train.txt.gz
    test=$data/conll2000/test.txt.gz
else
    source="generated words"
    train=train.txt
    test=test.txt
    tagged_words 8936 1 >train.txt
    tagged_words 2012 2 >test.txt
fi

# key NAME FILE: a number in a JSON object
key() { sed -E "s/.*\"$1\":([^,}]*).*/\1/" "$2"; }
least() { awk -v a="$1" -v b="$2" 'BEGIN { print a < b ? a : b }'; }
TIMEFORMAT='%R %U %S'

wall=1e9
processor=1e9
for _ in 1 2 3; do
    { time "$MEDLEY" train --model crf.medley --template chunk --loss logistic --penalty l2 --C 4 \
        --eta0 0.1 --schedule constant --average --epochs 12 --quiet --json "$train" >trained; } 2>clock
    read -r elapsed user system <clock
    wall=$(least "$elapsed" "$wall")
    processor=$(least "$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')" "$processor")
done
inner=1e9
outer=1e9
for _ in 1 2 3; do
    "$MEDLEY" eval --model crf.medley --threads 1 --json "$test" >measured
    inner=$(least "$(key total measured)" "$inner")
    { time "$MEDLEY" predict --model crf.medley --threads 1 --output tagged.txt "$test"; } 2>clock
    read -r elapsed user system <clock
    outer=$(least "$elapsed" "$outer")
done
tokens=$(key parts measured)
rate() { awk -v n="$tokens" -v s="$1" 'BEGIN { printf "%.0f", n / s }'; }
memory=$(key peak_rss_mb trained)
f1=$(key f1 measured)

echo "$source: $(key examples trained) sentences, $(key parts trained) words, 12 epochs; $tokens words to tag"
printf '%-52s %10.2f s\n' "training, wall" "$wall"
printf '%-52s %10.2f s\n' "training, processor" "$processor"
printf '%-52s %10.0f MB\n' "training, peak memory" "$memory"
printf '%-52s %10.4f\n' "F1 of chunks in the test words" "$f1"
printf '%-52s %10.0f words/s\n' "tagging: templates, scores, decoding; one thread" "$(rate "$inner")"
printf '%-52s %10.0f words/s\n' "with loading the model, reading and writing" "$(rate "$outer")"
echo "{\"bench\":\"sequences\",\"source\":\"$source\",\"words\":$(key parts trained),\"train_seconds\":$wall,\"train_processor_seconds\":$processor,\"peak_rss_mb\":$memory,\"f1\":$f1,\"tag_words_per_second\":$(rate "$inner"),\"tag_words_per_second_with_files\":$(rate "$outer")}"
