#!/usr/bin/env bash
# Dependency parsing end to end on UD English EWT: training with 507 templates for
# 10 epochs on two threads, then parsing the test sentences with all templates and with the best 107.
# Prints seconds, peak memory, look-ups of features a second (arcs x templates with weight x epochs /
# training seconds; what training looks up besides is not counted), sentences a second with and
# without reading and writing, how all that compares with plain random reads of tables as large
# (bench_arcs), and one line of JSON. By default every twelfth training sentence, best of two; with
# --full (or MEDLEY_BENCH_FULL=1) all of them, once. Without the treebank in
# MEDLEY_DATA/ud-english-ewt it is skipped.
#
#     bench/parsing.sh [--full]
set -euo pipefail
: "${MEDLEY:=build/medley}"
MEDLEY=$(realpath "$MEDLEY")
data=${MEDLEY_DATA:-$(dirname "$(realpath "$0")")/../../shared/data}/ud-english-ewt
full=${MEDLEY_BENCH_FULL:-0}
[ "${1:-}" != --full ] || full=1
for part in train test; do
    if [ ! -r "$data/en_ewt-ud-$part.conllu.gz" ]; then
        echo "skipped: no data file $data/en_ewt-ud-$part.conllu.gz; put it there, or name the data folder in MEDLEY_DATA"
        exit 0
    fi
done
data=$(realpath "$data")
bench_arcs=$(realpath -m "${MEDLEY_BUILD:-$(dirname "$MEDLEY")}")/bench/bench_arcs
test=$data/en_ewt-ud-test.conllu.gz
epochs=10
kept=107
recipe=(--task tree --template arc-507 --loss hinge --penalty mkl --threads 2)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# every N FILE: every N-th sentence
every() { gzip -dc "$2" | awk -v n="$1" 'BEGIN { RS = ""; ORS = "\n\n" } NR % n == 0'; }
# arcs: possible ones of the sentences on standard input, n for each of n words
arcs() {
    awk -F '\t' '$1 ~ /^[0-9]+$/ { n++ } /^$/ { sum += n * n; n = 0 }
        END { printf "%d", sum + n * n }'
}
# key NAME FILE: a number in a JSON object, not one of its epochs
key() { sed -E "s/\"epochs\":\[[^]]*\]//; s/.*\"$1\":([^,}]*).*/\1/" "$2"; }
least() { awk -v a="$1" -v b="$2" 'BEGIN { print a < b ? a : b }'; }
divide() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4g", a / b }'; }
# rate ARCS TEMPLATES PASSES SECONDS: look-ups a second
rate() { awk -v a="$1" -v t="$2" -v p="$3" -v s="$4" 'BEGIN { printf "%.4g", a * t * p / s }'; }
show() { printf '%-58s %10s %s\n' "$@"; }
millions() { awk -v a="$1" 'BEGIN { printf "%.1f", a / 1e6 }'; }
TIMEFORMAT='%R'

if [ "$full" = 1 ]; then
    repeats=1
    train=$data/en_ewt-ud-train.conllu.gz
    train_arcs=$(gzip -dc "$train" | arcs)
else
    repeats=2
    train=train.conllu
    every 12 "$data/en_ewt-ud-train.conllu.gz" >train.conllu
    train_arcs=$(arcs <train.conllu)
fi
test_arcs=$(gzip -dc "$test" | arcs)

# ---- training ----

# passes_of FILE: seconds from the start of the first epoch to the end of the last
passes_of() { sed -E 's/.*"epochs":\[([^]]*)\].*/\1/; s/.*"seconds":([^,}]*).*/\1/' "$1"; }

seconds=1e9
passes=1e9
wall=1e9
for ((i = 0; i < repeats; i++)); do
    { time "$MEDLEY" train --model all.medley "${recipe[@]}" --epochs $epochs --quiet --json \
        "$train" >trained; } 2>clock
    seconds=$(least "$(key train trained)" "$seconds")
    passes=$(least "$(passes_of trained)" "$passes")
    wall=$(least "$(cat clock)" "$wall")
done
"$MEDLEY" train --model some.medley "${recipe[@]}" --from all.medley --keep $kept --epochs $epochs \
    --quiet --json "$train" >trained_some
templates=$(key active_blocks trained)
lookups=$(rate "$train_arcs" "$templates" $epochs "$seconds")
pass_lookups=$(rate "$train_arcs" "$templates" $epochs "$passes")
memory=$(key peak_rss_mb trained)

# ---- parsing ----

# parse MODEL THREADS: sets $inner and $outer, sentences a second, and $scan, seconds of parsing
parse() {
    scan=1e9
    outer=1e9
    for _ in 1 2 3; do
        "$MEDLEY" eval --model "$1" --threads "$2" --json --quiet "$test" >measured
        scan=$(least "$(key total measured)" "$scan")
        { time "$MEDLEY" predict --model "$1" --threads "$2" --output parsed.conllu --quiet "$test"; } 2>clock
        outer=$(least "$(cat clock)" "$outer")
    done
    inner=$(awk -v n="$(key examples measured)" -v s="$scan" 'BEGIN { printf "%.0f", n / s }')
    outer=$(awk -v n="$(key examples measured)" -v s="$outer" 'BEGIN { printf "%.0f", n / s }')
}

echo "UD English EWT: $(key examples trained) sentences, $(key parts trained) words, $train_arcs arcs, 507 templates, $epochs epochs"
show "training, wall, two threads" "$wall" s
show "training alone, two threads" "$(printf %.2f "$seconds")" s
show "  of it passes over the sentences" "$(printf %.2f "$passes")" s
show "training, peak memory" "$(printf %.0f "$memory")" MB
show "training, look-ups" "$(millions "$lookups")" "million/s"
show "  in passes over the sentences" "$(millions "$pass_lookups")" "million/s"
json="{\"bench\":\"parsing\",\"sentences\":$(key examples trained),\"arcs\":$train_arcs,\"epochs\":$epochs,\"active_templates\":$templates,\"train_seconds\":$seconds,\"train_wall_seconds\":$wall,\"peak_rss_mb\":$memory,\"pass_seconds\":$passes,\"lookups_per_second\":$lookups,\"lookups_per_second_in_passes\":$pass_lookups"
for count in 507 $kept; do
    model=all.medley
    [ "$count" = 507 ] || model=some.medley
    for threads in 1 2; do
        parse $model $threads
        show "parsing, $count templates, $threads thread(s)" "$inner" "sentences/s"
        show "  with loading the model, reading and writing" "$outer" "sentences/s"
        json+=",\"parse_${count}_t${threads}\":$inner,\"parse_with_files_${count}_t${threads}\":$outer"
        [ "$count $threads" != "507 1" ] || parse_lookups=$(rate "$test_arcs" "$templates" 1 "$scan")
    done
    show "UAS of the test sentences, $count templates" \
        "$(awk -v u="$(key uas measured)" 'BEGIN { printf "%.2f", 100 * u }')" "%"
    json+=",\"uas_$count\":$(key uas measured)"
done

# ---- what the machine can do ----

# limit CASE THREADS NAME: a number that bench_arcs printed
limit() {
    grep "\"case\":\"$1\".*\"threads\":$2," limits >line
    key "$3" line
}
if [ -x "$bench_arcs" ]; then
    "$bench_arcs" >limits
    training=$(limit training 2 plain_reads_per_second)
    parsing=$(limit parsing 1 plain_reads_per_second)
    show "plain random reads of such tables, two threads" "$(millions "$training")" "million/s"
    show "  training looks up, of that" "$(divide "$lookups" "$training")" ""
    show "  passes over the sentences, of that" "$(divide "$pass_lookups" "$training")" ""
    show "  scoring alone, of that" "$(limit training 2 ratio)" ""
    show "plain random reads, template by template, one thread" "$(millions "$parsing")" "million/s"
    show "  parsing (features, scores, trees), of that" "$(divide "$parse_lookups" "$parsing")" ""
    show "  scoring alone, of that" "$(limit parsing 1 ratio)" ""
    json+=",\"plain_reads_training\":$training,\"plain_reads_parsing\":$parsing,\"training_ratio\":$(divide "$lookups" "$training"),\"parsing_ratio\":$(divide "$parse_lookups" "$parsing")"
else
    echo "no $bench_arcs: the machine's own limit is not measured"
fi
echo "$json}"
