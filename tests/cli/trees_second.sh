#!/usr/bin/env bash
# Trees of second order and pruned ones: what siblings and grandparents tell that arcs do not, one
# seed one model, checkpoints, selection, long sentences; wrong options and templates.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# nouns SENTENCES SEED: a verb and some nouns behind it. The last of them hangs from the verb and all
# others from that one, so that tags of arcs tell little, and siblings and grandparents all.
nouns() {
    awk -v sentences="$1" -v state="$2" '
        function below(n) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * n) }
        BEGIN {
            OFS = "\t"
            for (s = 1; s <= sentences; s++) {
                n = 3 + below(5)
                for (i = 1; i <= n; i++)
                    print i, (i == 1 ? "sees" : "dog"), "_", (i == 1 ? "VERB" : "NOUN"), "_", "_",
                        (i == 1 ? 0 : i == n ? 1 : n), (i == 1 ? "root" : i == n ? "obj" : "nmod"), "_", "_"
                print ""
            }
        }'
}
train() { "$MEDLEY" train --model m.medley --task tree --hash-bits 10 --quiet --threads 1 "$@"; }
evaluate() { "$MEDLEY" eval --model m.medley --json "$@"; }
uas_of() { evaluate "$1" >"$out" && key uas "$out"; }

nouns 60 1 >train.conllu
nouns 40 2 >test.conllu
printf 'h.upos m.upos dir\n' >first.arcs
printf 'h.upos m.upos dir\nh.upos m.upos s.upos\nm.upos s.upos s.dist\ng.upos h.upos m.upos\ng.upos m.upos g.dist\n' >second.arcs
small=(--template second.arcs --order 2 --eta0 0.2 --epochs 6)

# ---- what it is for ----
expect_exit 0 "arcs alone are learnt" train --template first.arcs --eta0 0.2 --epochs 6 train.conllu
first=$(uas_of test.conllu)
expect_exit 0 "siblings and grandparents are learnt" train "${small[@]}" --json train.conllu || exit
expect_text "a template of siblings is a block" '"name":"h.upos m.upos s.upos"' "$out"
expect_text "and one of grandparents" '"name":"g.upos m.upos g.dist"' "$out"
cp m.medley second.medley
second=$(uas_of test.conllu)
check "arcs alone cannot tell ($first)" above 0.8 "$first"
check "second order can ($second)" above "$second" 0.95
for loss in logistic softmax-margin; do
    expect_exit 0 "loss $loss" train "${small[@]}" --loss $loss --eta0 1 train.conllu
    check "$loss learns it too" above "$(uas_of test.conllu)" 0.95
done

# ---- one seed, one model ----
train "${small[@]}" train.conllu >"$out"
check "the same model again" cmp m.medley second.medley
"$MEDLEY" train --model m.medley --task tree --hash-bits 10 --quiet --threads 3 "${small[@]}" train.conllu >"$out"
check "with three threads, too" cmp m.medley second.medley
train "${small[@]}" --checkpoint c --epochs 3 train.conllu >"$out"
expect_exit 0 "more epochs after a checkpoint" train "${small[@]}" --checkpoint c --resume train.conllu
check "make the same model" cmp m.medley second.medley
expect_exit 0 "features in little memory" train "${small[@]}" --memory 1M train.conllu
check "are the same" cmp m.medley second.medley
methods=(pegasos obscure om2)
penalties=(l1 l2 'sparse-group(s=0.5)' group-lasso 'block(q=1.5)')
if [[ $MEDLEY_BUILD == *asan* ]]; then # those whose memory is used in another way
    methods=(obscure)
    penalties=('sparse-group(s=0.5)')
fi
for method in "${methods[@]}"; do
    steps=(--epochs 2)
    [ $method != obscure ] || steps=(--epochs1 1 --epochs2 1)
    expect_exit 0 "method $method" train --template second.arcs --order 2 --method $method "${steps[@]}" train.conllu
done
for penalty in "${penalties[@]}"; do
    expect_exit 0 "penalty $penalty" train "${small[@]}" --penalty "$penalty" train.conllu
done
expect_exit 0 "averages" train "${small[@]}" --average train.conllu
check "learn" above "$(uas_of test.conllu)" 0.9
expect_exit 0 "held-out sentences" train "${small[@]}" --dev test.conllu --json train.conllu
expect_exit 0 "any number of roots" train "${small[@]}" --roots many train.conllu
check "learns" above "$(uas_of test.conllu)" 0.75
expect_exit 0 "a path" "$MEDLEY" path --task tree --hash-bits 10 --quiet --count 2 "${small[@]}" train.conllu

# ---- pruning ----
expect_exit 0 "--prune without second order" train --template first.arcs --prune --eta0 0.2 --epochs 6 train.conllu
check "is as good" above "$(uas_of test.conllu)" "$(awk -v x="$first" 'BEGIN { print x - 0.05 }')"

# ---- choosing templates ----
cp second.medley m.medley
expect_exit 0 "templates are chosen by their weights" train "${small[@]}" --from second.medley --keep 3 --json train.conllu
check "three of them" test "$(grep -o '"name":' "$out" | wc -l)" -eq 3
check "and are nearly enough" above "$(uas_of test.conllu)" 0.85

# ---- built-in sets ----
expect_exit 0 "a built-in set has templates of second order" "$MEDLEY" train --model m.medley --task tree \
    --template arc-form-upos --order 2 --hash-bits 8 --epochs 1 --quiet --json train.conllu
expect_text "with siblings" '"name":"m.upos s.upos"' "$out"

# ---- projective trees ----
expect_exit 0 "projective trees of second order" train "${small[@]}" --projective train.conllu
check "are right, too" above "$(uas_of test.conllu)" 0.95

# ---- probabilities and several trees ----
cp second.medley m.medley
expect_exit 0 "probabilities of second order" "$MEDLEY" predict --model m.medley --proba test.conllu
check "of every word" test "$(grep -c 'HeadProb=' "$out")" -eq "$(grep -cE '^[0-9]+	' test.conllu)"
expect_exit 0 "three trees of each sentence" "$MEDLEY" predict --model m.medley --best 3 --proba test.conllu
check "and their scores" test "$(grep -c '^# score' "$out")" -eq 120
check "the best of them is the one that is predicted" cmp <(awk '/^# tree/ { t = $4 } NF > 6 && t == 1 { print $7 }' "$out") \
    <("$MEDLEY" predict --model m.medley test.conllu | awk 'NF > 6 { print $7 }')
expect_exit 0 "calibrated ones" train "${small[@]}" --calibrate train.conllu
expect_exit 0 "are measured" "$MEDLEY" eval --model m.medley --proba --json test.conllu
check "and sure of right trees" above 0.3 "$(key log_loss "$out")"

# ---- long sentences ----
awk 'BEGIN { OFS = "\t"; for (i = 1; i <= 1000; i++) print i, "dog", "_", (i == 1 ? "VERB" : "NOUN"), "_", "_", "_", "_", "_", "_"; print "" }' >long.conllu
cp second.medley m.medley
expect_exit 0 "a sentence of 1,000 words" timeout 120 "$MEDLEY" predict --model m.medley long.conllu
check "is one tree" test "$(cut -f7 "$out" | grep -cx 0)" -eq 1
{ sed '/^$/d' long.conllu; printf '1001\tdog\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n'; } >longer.conllu
expect_exit 3 "one of 1,001 words" "$MEDLEY" predict --model m.medley longer.conllu
expect_text "one of 1,001 words: why" 'longer.conllu:1: a sentence of 1001 words.*--order 2' "$err"

# ---- wrong use ----
refuse() { # refuse CODE PATTERN NAME ARGUMENTS...
    local code=$1 pattern=$2 name=$3
    shift 3
    expect_exit "$code" "$name" "$MEDLEY" train --model bad.medley --task tree --hash-bits 8 --epochs 1 --quiet "$@"
    expect_text "$name: why" "$pattern" "$err"
    check "$name: one sentence" test "$(wc -l <"$err")" -eq 1
}
refuse 2 "'h.upos m.upos s.upos'.*--order 2" "second order without asking for it" --template second.arcs train.conllu
refuse 2 'no template is about siblings' "nothing of second order" --template first.arcs --order 2 train.conllu
expect_exit 0 "a model of arcs" train --template first.arcs --epochs 1 train.conllu
refuse 2 'choose from a model of --order 2' "choosing from a model of arcs" --template second.arcs --order 2 \
    --from m.medley --keep 1 train.conllu
train --template first.arcs --epochs 1 --checkpoint arcs.c train.conllu >"$out"
refuse 2 'arcs.c' "going on from a run on arcs" --template second.arcs --order 2 --checkpoint arcs.c --resume train.conllu
printf 'h.upos s.upos g.upos\n' >bad.arcs
refuse 3 'bad.arcs:1:.*sibling and a grandparent' "both at once" --template bad.arcs --order 2 train.conllu
printf 'h.upos s.upos between.upos\n' >bad.arcs
refuse 3 'bad.arcs:1:.*between.upos' "tags between beside siblings" --template bad.arcs --order 2 train.conllu
printf 'h.upos u.upos\n' >bad.arcs
refuse 3 "bad.arcs:1:.*'u.upos'" "parts that there are not" --template bad.arcs --order 2 train.conllu
refuse 2 'proven' "a certificate of second order" --template second.arcs --order 2 --certify train.conllu
refuse 2 'proven' "a certificate of some arcs" --template first.arcs --prune --certify train.conllu
refuse 2 'proven' "frank-wolfe" --template second.arcs --order 2 --method frank-wolfe train.conllu
refuse 2 'order' "third order" --template second.arcs --order 3 train.conllu
