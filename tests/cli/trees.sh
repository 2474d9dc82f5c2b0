#!/usr/bin/env bash
# Dependency trees from the command line: learning from CoNLL-U, what comes out and what stays as it
# was, tagging and parsing in a pipe, one seed one model, checkpoints; bad input and wrong options.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# treebank SENTENCES SEED: CoNLL-U of a small grammar. Prepositions belong to the noun behind them;
# `of` links it to the noun before, the others to the verb. A pronoun at the end belongs to the
# subject, over the verb: these trees are not projective. Some sentences have a multiword token or an
# empty node.
treebank() {
    awk -v sentences="$1" -v state="$2" '
        function below(n) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * n) }
        function say(words, upos, xpos, deprel, list) {
            form[++n] = list[1 + below(split(words, list, " "))]
            tags[n] = upos "\t" xpos
            relation[n] = deprel
            return n
        }
        function noun_phrase(deprel, first, noun, i) {
            first = n + 1
            if (below(3)) say("the a this every", "DET", "DT", "det")
            while (below(4) == 0) say("big red old", "ADJ", "JJ", "amod")
            noun = say("dog cat house boy river stone", "NOUN", "NN", deprel)
            for (i = first; i < noun; i++) head[i] = noun
            return noun
        }
        function prepositional_phrase(words, deprel, above, case_word, noun) {
            case_word = say(words, "ADP", "IN", "case")
            noun = noun_phrase(deprel)
            head[case_word] = noun
            head[noun] = above
        }
        BEGIN {
            OFS = "\t"
            for (s = 1; s <= sentences; s++) {
                n = 0
                subject = noun_phrase("nsubj")
                if (below(3) == 0) prepositional_phrase("of", "nmod", subject)
                verb = say("sees finds eats likes", "VERB", "VB", "root")
                head[subject] = verb
                head[verb] = 0
                if (below(3)) head[noun_phrase("obj")] = verb
                if (below(2)) prepositional_phrase("in on by", "obl", verb)
                if (below(4) == 0) head[say("alone itself", "PRON", "PRP", "nmod:alone")] = subject
                head[say(". !", "PUNCT", ".", "punct")] = verb
                print "# sent_id = " s
                for (i = 1; i <= n; i++) {
                    if (i == 2 && s % 3 == 0) print "2-3", "both", "_", "_", "_", "_", "_", "_", "_", "_"
                    print i, form[i], form[i], tags[i], "Odd=" i % 2, head[i], relation[i], "_",
                        (i == n - 1 ? "SpaceAfter=No" : "_")
                    if (i == 1 && s % 4 == 0) print "1.1", "unsaid", "_", "_", "_", "_", "_", "_", "1:x", "_"
                }
                print ""
            }
        }'
}
# change CONDITION STATEMENTS FILE: of the lines of words, fields in $1 to $10
change() { awk -F'\t' -v OFS='\t' "NF == 10 && \$1 ~ /^[0-9]+\$/ && ($1) { $2 } { print }" "$3"; }
crossing() { # sentences with arcs that cross, those from the root included
    awk -F'\t' 'function look(i, j, a, b, c, d, found) {
            for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) {
                a = i < head[i] ? i : head[i]; b = i + head[i] - a
                c = j < head[j] ? j : head[j]; d = j + head[j] - c
                if (a < c && c < b && b < d) found = 1
            }
            crossed += found; n = 0
        }
        $1 ~ /^[0-9]+$/ { head[++n] = $7 } !NF { look() } END { print crossed + 0 }' "$1"
}
train() {
    "$MEDLEY" train --model m.medley --task tree --template small.arcs --hash-bits 10 --batch 4 \
        --eta0 0.1 --epochs 4 --quiet "$@"
}
predict() { "$MEDLEY" predict --model m.medley "$@"; }
evaluate() { "$MEDLEY" eval --model m.medley --json "$@"; }
count() { grep -o -e "$1" "$2" | wc -l; }
learns() { # learns NAME LEAST: the model in m.medley does so on sentences never seen
    expect_exit 0 "$1 predicts" evaluate test.conllu
    check "$1 learns" above "$(key uas "$out")" "$2"
}

treebank 80 1 >train.conllu
treebank 40 2 >test.conllu
words=$(grep -cE '^[0-9]+	' test.conllu)
cat >small.arcs <<'END'
# tags, words and what lies between
{h,m}.upos dist
h.upos m.upos {,dist}
h.upos m.upos between.upos
h.upos m.upos crossed
h.form m.upos
h.upos h-1.form m.upos
h.upos m.upos {h,m}{-1,+1}.upos
END
check "the test data are not all projective" test "$(crossing test.conllu)" -ge 5

# ---- training and measuring ----
expect_exit 0 "trees are learnt" train --json train.conllu || exit
check "that is the task" test "$(key task "$out")" = tree
expect_text "with the hinge loss" '"loss":"hinge"' "$out"
expect_text "every template is a block" '"name":"h.upos m.upos between.upos"' "$out"
check "there are twelve" test "$(count '"name":' "$out")" -eq 12
check "examples are sentences" test "$(key examples "$out")" -eq 80
check "parts are words" test "$(key parts "$out")" -eq "$(grep -cE '^[0-9]+	' train.conllu)"
cp m.medley parser.medley
expect_exit 0 "eval --json of trees" evaluate test.conllu
for name in task examples parts accuracy exact_match uas las uas_no_punct las_no_punct unknown_labels \
    nonprojective seconds per_second; do
    expect_text "eval --json has $name" "\"$name\":" "$out"
done
check "every word counts" test "$(key parts "$out")" -eq "$words"
check "trees are right" above "$(key uas "$out")" 0.95
check "relations too" above "$(key las "$out")" 0.93
check "UAS is not below LAS" above "$(key uas "$out")" "$(key las "$out")"
uas=$(key uas "$out")
awk -F '\t' -v OFS='\t' 'NF == 10 { $8 = "unheard-of" } { print }' test.conllu >unheard.conllu
expect_exit 0 "eval of unknown relations" evaluate unheard.conllu
check "none of which is right" test "$(key las "$out")" = 0
expect_exit 0 "eval in words" "$MEDLEY" eval --model m.medley test.conllu
expect_text "tells of heads" '^UAS [0-9.]+ % \(right heads: ' "$out"
expect_text "and of relations" '^LAS [0-9.]+ % ' "$out"
expect_text "and of arcs over words that do not hang from their head" \
    '^non-projective arcs: precision [0-9.]+ % of [0-9]+ predicted, recall [0-9.]+ % of [0-9]+ in the data$' "$out"
expect_exit 0 "inspect a parser" "$MEDLEY" inspect m.medley
expect_text "shows its templates" '^h.upos m.upos' "$out"
expect_text "and tells that probabilities are not calibrated" '^probabilities are not calibrated' "$out"

# ---- predictions ----
predict test.conllu >parsed.conllu
rest_of() { cut -f1-6,9- "$1"; }
check "all but HEAD and DEPREL stays as it was" cmp <(rest_of test.conllu) <(rest_of parsed.conllu)
check "also in the lines that are no words" cmp <(grep -vE '^[0-9]+	' test.conllu) \
    <(grep -vE '^[0-9]+	' parsed.conllu)
same_as_before() { predict "$@" | cmp - parsed.conllu; }
change 1 '$7 = "_"; $8 = "_"' test.conllu >bare.conllu
check "a file without heads" same_as_before bare.conllu
change 1 '$7 = $1; $8 = "?"' test.conllu >nonsense.conllu
check "heads that make no trees" same_as_before nonsense.conllu
check "standard input" same_as_before - <bare.conllu
gzip -c bare.conllu >bare.conllu.gz
check "gzip" same_as_before bare.conllu.gz
sed 's/$/\r/' bare.conllu >crlf.conllu
check "Windows line ends" cmp <(predict crlf.conllu | tr -d '\r') parsed.conllu
sed '$d' bare.conllu >open.conllu
check "no blank line at the end" cmp <(predict open.conllu | grep .) <(grep . parsed.conllu)
check "two threads" same_as_before --threads 2 bare.conllu
predict --output written.conllu bare.conllu
check "--output writes the same" cmp written.conllu parsed.conllu
expect_exit 0 "predict --json" predict --json test.conllu
check "has all heads" test "$(sed 's/.*"heads":\[//; s/\].*//' "$out" | tr ',' '\n' | wc -l)" -eq "$words"
expect_text "and the names of relations" '"labels":\[.*"nmod:alone".*\]' "$out"
printf '1\tdog\t_\tNOUN\tNN\t_\t_\t_\t_\t_\n\n' >one.conllu
expect_exit 0 "a sentence of one word" predict one.conllu
check "hangs from the root" test "$(cut -f7 "$out" | head -1)" = 0

# ---- probabilities and best trees ----
words_of() { grep -E '^[0-9]+	' "$1"; }
expect_exit 0 "--calibrate" train --calibrate --json train.conllu
expect_text "tells the temperature" '"calibration":\{"temperature":[0-9.e-]+\}' "$out"
check "--calibrate: the same trees" same_as_before bare.conllu
expect_text "inspect tells it too" '^calibrated probabilities: temperature ' <("$MEDLEY" inspect m.medley)
predict --proba test.conllu >proba.conllu
check "all but MISC is as without --proba" cmp <(cut -f1-9 proba.conllu) <(cut -f1-9 parsed.conllu)
check "every word has the probability of its head and of its relation" test "$words" -eq \
    "$(words_of proba.conllu | cut -f10 | grep -cE '(^|\|)HeadProb=(0|1|0\.[0-9]+|[0-9.]+e-[0-9]+)\|RelProb=(0|1|0\.[0-9]+|[0-9.]+e-[0-9]+)$')"
check "MISC of the data stays" test "$(count 'SpaceAfter=No|HeadProb=' proba.conllu)" -eq \
    "$(count 'SpaceAfter=No' test.conllu)"
check "and nothing piles up" cmp <(predict --proba proba.conllu) proba.conllu
check "--proba with two threads" cmp <(predict --proba --threads 2 test.conllu) proba.conllu
expect_exit 0 "predict --proba --json" predict --proba --json test.conllu
for name in head relation; do
    check "has the probabilities of every ${name}" test "$words" -eq \
        "$(sed "s/.*\"${name}_probabilities\":\[//; s/\].*//" "$out" | tr ',' '\n' | wc -l)"
done
expect_exit 0 "eval --proba of trees" evaluate --proba test.conllu
for name in log_loss brier calibration_error; do
    expect_text "eval --proba has $name" "\"$name\":[0-9]" "$out"
done
trusted=$(key log_loss "$out")
expect_text "eval --proba in words" '^probabilities of heads: log loss [0-9.]+, Brier score [0-9.]+, calibration error [0-9.]+$' \
    <("$MEDLEY" eval --model m.medley --proba test.conllu)
check "calibrated probabilities are better" above \
    "$(key log_loss <("$MEDLEY" eval --model parser.medley --json --proba test.conllu))" "$trusted"
predict --best 3 test.conllu >best.conllu
first_trees() { # first_trees FILE: without comments of ours, the best tree of every sentence
    awk '/^# sent_id/ { id = $0; next } /^# tree = / { keep = $4 == 1; if (keep) print id; next }
        /^# (score|probability) = / { next } keep' "$1"
}
check "the first of the best trees is the tree" cmp <(first_trees best.conllu) parsed.conllu
check "there are three of a sentence" test "$(grep -c '^# tree = 3$' best.conllu)" -eq 40
check "scores fall" awk '/^# tree = 1$/ { last = 1e9 } /^# score = / { if ($4 > last) exit 1; last = $4 }' best.conllu
check "the trees differ" test "$(awk -F'\t' '/^# tree = / { if (heads != "") print id heads; heads = " " } /^# sent_id/ { next_id = $0 }
    /^# tree = 1$/ { id = next_id } /^[0-9]+\t/ { heads = heads " " $7 } END { print id heads }' best.conllu | sort -u | wc -l)" -eq 120
check "what --best writes is CoNLL-U" "$MEDLEY" eval --model m.medley --quiet best.conllu
predict --best 2 --proba test.conllu >both.conllu
check "--best and --proba tell of each tree" test "$(grep -c '^# probability = ' both.conllu)" -eq 80
check "and of each arc" test "$(grep -c 'HeadProb=.*RelProb=' both.conllu)" -eq $((2 * words))
expect_exit 0 "--best --json of trees" predict --best 2 --proba --json test.conllu
expect_text "has trees" '"best":\[\[\{"score":[-0-9.e]+,"probability":[0-9.e-]+,"heads":\[[0-9,]+\],"labels":\["' "$out"
expect_exit 0 "--best of a sentence of one word" predict --best 5 one.conllu
check "which has one tree" test "$(grep -c '^# tree = ' "$out")" -eq 1
expect_exit 0 "a report with probabilities" "$MEDLEY" report m.medley test.conllu --output trees.html
expect_text "tells how far they can be trusted" 'id="confidence"' trees.html
expect_text "of every arc on request" '<title>[^<]* → [^<]*: [0-9.]+.{1,2}%</title>' trees.html
cp parser.medley m.medley

# ---- measures, of a parser that is often wrong ----
share() { # share FIELDS: of words that have them right
    paste <(grep -E '^[0-9]+	' test.conllu | cut -f"$1") <(predict test.conllu | grep -E '^[0-9]+	' | cut -f"$1") |
        awk -F'\t' '{ same = 1; for (i = 1; i <= NF / 2; i++) same = same && $i == $(i + NF / 2); right += same }
            END { printf "%.4f", right / NR }'
}
expect_exit 0 "two poor templates" train --blocks 'h.form m.upos,m.upos dist' --epochs 1 train.conllu
evaluate test.conllu >poor.json
check "two poor templates err" above 0.95 "$(key uas poor.json)"
check "UAS is what counting gives" test "$(share 7)" = "$(printf %.4f "$(key uas poor.json)")"
check "LAS is what counting gives" test "$(share 7,8)" = "$(printf %.4f "$(key las poor.json)")"
over_others() { # over_others FILE: words whose arc goes over one that does not hang from the head
    awk -F'\t' 'function hangs(word, from, steps) {
            for (; steps <= n; steps++) { word = head[word]; if (word == from) return 1; if (word == 0) return 0 }
        }
        function look(i, k, found) {
            for (i = 1; i <= n; i++) {
                found = 0
                for (k = (i < head[i] ? i : head[i]) + 1; k < (i < head[i] ? head[i] : i); k++)
                    found = found || !hangs(k, head[i], 0)
                print found
            }
            n = 0
        }
        $1 ~ /^[0-9]+$/ { head[++n] = $7 } !NF { look() }' "$1"
}
over_shares() { # over_shares GOLD PREDICTED: as eval --json tells it
    heads() { grep -E '^[0-9]+	' "$1" | cut -f7; }
    paste <(heads "$1") <(heads "$2") <(over_others "$1") <(over_others "$2") |
        awk '{ same = $1 == $2; gold += $3; said += $4; found += $3 && same; right += $4 && same }
            END { printf "%.4f %.4f %d %d", said ? right / said : 0, gold ? found / gold : 0, gold, said }'
}
told_shares() { # told_shares FILE: the same from JSON
    sed -E 's/.*"nonprojective":\{"precision":([^,]*),"recall":([^,]*),"gold":([0-9]+),"predicted":([0-9]+)\}.*/\1 \2 \3 \4/' "$1" |
        awk '{ printf "%.4f %.4f %d %d", $1, $2, $3, $4 }'
}
predict test.conllu >poor.conllu
check "non-projective arcs are what counting gives" \
    test "$(over_shares test.conllu poor.conllu)" = "$(told_shares poor.json)"
change '$1 == 1 && ++n % 2' '$7 = 1' test.conllu >selves.conllu
expect_exit 0 "eval with heads that make no trees" evaluate selves.conllu
cp parser.medley m.medley

# ---- tagger and parser in a pipe ----
expect_exit 0 "a tagger of the same file" "$MEDLEY" train --model tagger.medley --template ud-pos \
    --epochs 3 --quiet train.conllu
change 1 '$4 = "_"; $7 = "_"; $8 = "_"' test.conllu >raw.conllu
"$MEDLEY" predict --model tagger.medley raw.conllu | predict - >piped.conllu
check "the pipe leaves words alone" cmp <(cut -f1-3,5,6,9- raw.conllu) <(cut -f1-3,5,6,9- piped.conllu)
right=$(paste <(cut -f7 test.conllu) <(cut -f7 piped.conllu) | awk -F'\t' '/^[0-9]/ && $1 == $2' | wc -l)
check "most heads are right behind tags that were predicted" above "$right" $((words * 9 / 10))

# ---- which tags, roots and trees ----
change 1 't = $4; $4 = $5; $5 = t' train.conllu >turned.conllu
change 1 't = $4; $4 = $5; $5 = t' test.conllu >turned_test.conllu
expect_exit 0 "--tags XPOS" train --tags XPOS turned.conllu
expect_exit 0 "tags from XPOS predict" evaluate turned_test.conllu
check "tags from XPOS, the same trees" test "$(key uas "$out")" = "$uas"
expect_exit 0 "other tags for once" evaluate --tags UPOS test.conllu
check "other tags for once, the same trees" test "$(key uas "$out")" = "$uas"
expect_exit 0 "--tags by number" train --tags 5 turned.conllu
check "--tags by number is the same" test "$(evaluate turned_test.conllu | grep -o '"uas":[^,]*')" = "\"uas\":$uas"
change '$4 == "PUNCT"' '$7 = 0' train.conllu >many.conllu
change '$4 == "PUNCT"' '$7 = 0' test.conllu >many_test.conllu
expect_exit 0 "--roots many" train --roots many many.conllu
expect_exit 0 "several roots predict" evaluate many_test.conllu
check "several roots are learnt" above "$(key uas "$out")" 0.95
roots() { predict "$1" | awk -F'\t' '$7 == 0 && /^[0-9]+\t/ { n++ } !NF { print n; n = 0 }' | sort -u | tr '\n' ' '; }
check "several words hang from the root" test "$(roots many_test.conllu)" = "2 "
for many in "" "--roots many"; do
    # shellcheck disable=SC2086
    expect_exit 0 "--projective $many" train --projective $many train.conllu
    predict test.conllu >projective.conllu
    check "--projective $many: no arcs cross" test "$(crossing projective.conllu)" -eq 0
    awk 'BEGIN { for (i = 1; i <= 1001; i++) print i "\tword\tword\tNOUN\tNN\t_\t_\t_\t_\t_"; print "" }' >long.conllu
    (predict test.conllu >/dev/null && cat test.conllu long.conllu) >longer.conllu
    expect_exit 3 "--projective $many: a sentence of 1001 words" predict longer.conllu
    expect_text "is refused with its line" \
        "longer.conllu:$(($(wc -l <test.conllu) + 1)): a sentence of 1001 words, at most 1000" "$err"
    sed 1d long.conllu | awk -F'\t' 'BEGIN { OFS = FS } NF { $1 = NR } { print }' >thousand.conllu
    expect_exit 0 "--projective $many: a sentence of 1000 words" predict thousand.conllu
done
check "without it some do" test "$(crossing parsed.conllu)" -ge 3
expect_exit 0 "--unlabelled" train --unlabelled train.conllu
expect_exit 0 "heads alone are measured" evaluate test.conllu
check "--unlabelled: the same heads" test "$(key uas "$out")" = "$uas"
refute_text "--unlabelled: no LAS" '"las' "$out"
check "--unlabelled: relations stay as they were" cmp <(predict test.conllu | cut -f1-6,8-) <(cut -f1-6,8- test.conllu)
for few in 2 19 20 21; do # from 20 on relations are learnt from found trees too
    treebank "$few" 3 >few.conllu
    expect_exit 0 "$few sentences with relations" train few.conllu
    expect_exit 0 "of which it has learnt" evaluate few.conllu
    check "some relations of $few" above "$(key las "$out")" 0.3
done
treebank 20 3 | change 1 '$8 = "dep"' - >alike.conllu
expect_exit 0 "relations that are all alike are none" train alike.conllu
change 1 '$8 = "_"' train.conllu >unrelated.conllu
expect_exit 0 "a treebank without relations" train unrelated.conllu
refute_text "makes an unlabelled model" '"las' <(evaluate test.conllu)

# ---- templates, losses, penalties, methods ----
expect_exit 0 "the built-in templates" "$MEDLEY" train --model m.medley --hash-bits 8 --epochs 1 \
    --eta0 0.1 --quiet --json train.conllu
check "CoNLL-U without more words means trees" test "$(key task "$out")" = tree
check "they are 507" test "$(count '"name":' "$out")" -eq 507
expect_exit 0 "arc-form-upos means trees" "$MEDLEY" train --model m.medley --template arc-form-upos \
    --hash-bits 12 --epochs 3 --quiet --json train.conllu
check "that are 154" test "$(count '"name":' "$out")" -eq 154
learns "arc-form-upos" 0.95
expect_text "medley list names the built-in sets" '^ *arc-507 ' <("$MEDLEY" list templates)
for loss in hinge logistic softmax-margin; do
    expect_exit 0 "$loss loss, averaged" train --loss $loss --average --unlabelled train.conllu
    learns "$loss loss, averaged" 0.95
done
expect_exit 0 "arcs that are nearly impossible" train --loss logistic --unlabelled --epochs 3 --json train.conllu
check "take no step, and are counted" above "$(key steps_skipped "$out")" 1
expect_exit 0 "and all arcs" train --loss logistic --unlabelled --epochs 3 --json --skip-certain 0 train.conllu
check "take every step" test "$(key steps_skipped "$out")" = 0
if [[ $MEDLEY_BUILD == *asan* ]]; then
    skip "how good defaults of log losses are" "it is the same with sanitizers"
else
    # words of many forms, few of which come again: defaults of the log losses are not far behind the
    # hinge's, and do not depend on how many small steps are left out
    for seed in 1 2; do
        "$MEDLEY" generate treebank --rows 200 --noise 3 --seed $seed | awk -F'\t' -v OFS='\t' -v state=5 '
            NF == 10 {
                state = (state * 16807) % 2147483647
                $2 = $2 state % 8; $3 = $2; $5 = $4; $6 = "_"
            }
            { print }' >forms$seed.conllu
    done
    forms_uas() { # forms_uas ARGUMENTS...
        "$MEDLEY" train --model m.medley --template arc-form-upos --hash-bits 14 --unlabelled --quiet "$@" \
            --json forms1.conllu >forms.json && evaluate forms2.conllu >forms_eval.json && key uas forms_eval.json
    }
    hinge=$(forms_uas --loss hinge)
    check "the usual C of the hinge" test "$(printf %.0f "$(key C forms.json)")" -eq 3
    for loss in logistic softmax-margin; do
        soft=$(forms_uas --loss $loss)
        check "the usual C of $loss" test "$(printf %.0f "$(key C forms.json)")" -eq 300
        check "$loss is not far behind the hinge" above "$soft" "$(awk "BEGIN { print $hinge - 0.015 }")"
        check "$loss without steps for small parts" above "$(forms_uas --loss $loss --skip-certain 0.1)" \
            "$(awk "BEGIN { print $soft - 0.01 }")"
    done
fi
for penalty in mkl group-lasso l2 l1 elastic sparse-group block; do
    expect_exit 0 "penalty $penalty" train --penalty $penalty --unlabelled train.conllu
    learns "penalty $penalty" 0.95
done
expect_exit 0 "penalty l1, averaged" train --penalty l1 --average --unlabelled train.conllu
learns "penalty l1, averaged" 0.95
expect_exit 0 "a penalty that leaves nothing" train --penalty group-lasso --lambda 1000 --unlabelled train.conllu
expect_exit 0 "a model without blocks predicts trees" evaluate test.conllu
expect_exit 0 "method obscure" "$MEDLEY" train --model m.medley --task tree --template small.arcs --hash-bits 10 \
    --method obscure --epochs2 5 --unlabelled --quiet train.conllu
learns "method obscure" 0.95
expect_exit 0 "--keep the best templates" train --from parser.medley --keep 5 --unlabelled --json train.conllu
check "five stay" test "$(count '"name":' "$out")" -eq 5
"$MEDLEY" inspect --top 5 parser.medley | awk '/^[hm]\./ { sub(/  .*/, ""); print }' | sort >best.lst
grep -o '"name":"[^"]*"' "$out" | cut -d'"' -f4 | sort >kept.lst
check "the best are five" test "$(wc -l <best.lst)" -eq 5
check "those with the largest weights" cmp best.lst kept.lst
learns "five templates" 0.9
expect_exit 0 "--blocks by name" train --blocks 'h.upos m.upos,h.form m.upos' --unlabelled --json train.conllu
check "the named ones stay" test "$(count '"name":"h\.\(upos\|form\) m.upos"' "$out")" -eq 2
expect_exit 0 "held-out trees" train --dev test.conllu --unlabelled --json train.conllu
expect_text "are measured" '"dev_accuracy":(0\.|1)' "$out"
expect_exit 0 "--holdout" train --holdout 0.2 --unlabelled --json train.conllu
check "is measured" above "$(key holdout_accuracy "$out")" 0.8

# ---- one seed, one model; checkpoints ----
same_model() { # same_model NAME ARGUMENTS...
    local name=$1
    shift
    train --threads 1 "$@" >/dev/null && mv m.medley one.medley
    train --threads 2 "$@" >/dev/null
    check "$name: 1 and 2 threads give the same bytes" cmp one.medley m.medley
}
same_model "labelled" train.conllu
same_model "hinge, averaged" --loss hinge --average --unlabelled train.conllu
same_model "l1, rounds of 1" --penalty l1 --batch 1 --unlabelled train.conllu
same_model "in little memory" --memory 1K train.conllu
train train.conllu >/dev/null
check "in little memory: the same bytes" cmp one.medley m.medley
same_model "calibrated, in little memory" --calibrate --memory 1K train.conllu
train --calibrate train.conllu >/dev/null
check "calibrated, in little memory: the same bytes" cmp one.medley m.medley
same_model "calibrated, projective" --calibrate --projective --unlabelled train.conllu
same_model "projective, chosen rate" --projective --eta0 auto --unlabelled train.conllu
resumes() { # resumes NAME ARGUMENTS...
    local name=$1
    shift
    rm -f run.checkpoint
    train "$@" >/dev/null && mv m.medley whole.medley
    train "$@" --epochs 2 --checkpoint run.checkpoint >/dev/null
    expect_exit 0 "$name: goes on" train "$@" --checkpoint run.checkpoint --resume
    check "$name: the same bytes" cmp whole.medley m.medley
}
resumes "labelled" train.conllu
resumes "calibrated" --calibrate train.conllu
resumes "l1, averaged" --penalty l1 --average --unlabelled train.conllu

# ---- bad input ----
change '++n == 12' '$7 = $1' train.conllu >self.conllu
awk -F'\t' -v OFS='\t' '/^# sent_id = 2$/ { n = 1 } n && $1 == 1 { $7 = 2 } n && $1 == 2 { $7 = 1; n = 0 } { print }' \
    train.conllu >cycle.conllu
change '++n == 3' '$7 = 99' train.conllu >far.conllu
change '++n == 3' '$7 = -1' train.conllu >negative.conllu
change '++n == 3' '$7 = "_"' train.conllu >gap.conllu
change '++n == 3' '$8 = "_"' train.conllu >norelation.conllu
awk -F'\t' -v OFS='\t' 'NR == 4 { print $1, $2, $3; next } { print }' train.conllu >short.conllu
awk -v OFS='\t' 'BEGIN { for (i = 1; i <= 2000; i++) print i, "w" i % 7, "_", "NOUN", "NN", "_", i - 1,
    i == 1 ? "root" : "dep", "_", "_"; print "" }' >long.conllu
: >empty.conllu
printf '# nothing\n\n' >blank.conllu
"$MEDLEY" generate twonorm --rows 30 --output rows.csv
awk -F'\t' '/^[0-9]+\t/ { print length($2) "," length($3) "," $4 }' train.conllu >numbers.csv
printf 'h.form m.form\n\nh.colour m.form\n' >colour.arcs
treebank 9 3 >few.conllu
printf 'U00:%%x[0,0]\n' >chain.template
printf '# nothing\n' >none.arcs
head -c 300 parser.medley >cut.medley
cp parser.medley m.medley
touch before.lst after.lst
ls -A >before.lst
# refuse CODE PATTERN NAME ARGUMENTS...: medley train refuses in one line
refuse() {
    local code=$1 pattern=$2 name=$3
    shift 3
    expect_exit "$code" "$name" "$MEDLEY" train --model bad.medley --task tree --hash-bits 8 --epochs 1 --quiet "$@"
    expect_text "$name: says what and how to mend it" "$pattern" "$err"
    check "$name: one line" test "$(wc -l <"$err")" -eq 1
}
line_of() { diff "$1" train.conllu | sed -nE '1s/^([0-9]+).*/\1/p'; } # the first that differs
small=(--template small.arcs)
refuse 3 "^medley train: cycle.conllu:[0-9]+: .*cycle: 1 -> 2 -> 1" "a cycle" "${small[@]}" cycle.conllu
refuse 3 "self.conllu:$(line_of self.conllu): " "a word that is its own head" "${small[@]}" self.conllu
refuse 3 "many.conllu:[0-9]+: two words hang from the root .*--roots many" "two roots" "${small[@]}" many.conllu
refuse 3 "far.conllu:$(line_of far.conllu): .*HEAD.* 99 " "a head behind the end" "${small[@]}" far.conllu
refuse 3 "negative.conllu:$(line_of negative.conllu): .*HEAD" "a head below the root" "${small[@]}" negative.conllu
refuse 3 "gap.conllu:$(line_of gap.conllu): .*HEAD is not given" "one word without a head" "${small[@]}" gap.conllu
refuse 3 "norelation.conllu:$(line_of norelation.conllu): .*--unlabelled" "one word without a relation" \
    "${small[@]}" norelation.conllu
refuse 3 'bare.conllu:2: .*HEAD is not given' "no heads at all" "${small[@]}" bare.conllu
refuse 3 'short.conllu:4: 3 columns' "a column is missing" "${small[@]}" short.conllu
refuse 3 'long.conllu:1: a sentence of 2000 words' "a sentence too long to learn from" "${small[@]}" long.conllu
refuse 3 'empty.conllu: .*empty' "an empty file" "${small[@]}" empty.conllu
refuse 3 'blank.conllu: ' "a file without words" "${small[@]}" blank.conllu
refuse 1 'nowhere.conllu' "a file that is not there" "${small[@]}" nowhere.conllu
refuse 3 'rows.csv: .*CoNLL-U' "trees of rows of numbers" "${small[@]}" rows.csv
refuse 3 'bare.conllu:2: ' "held-out data without heads" "${small[@]}" --dev bare.conllu train.conllu
refuse 3 'rows.csv: ' "held-out data of another kind" "${small[@]}" --dev rows.csv train.conllu
refuse 3 'colour.arcs:3: .*h.colour' "an unknown field" --template colour.arcs train.conllu
refuse 3 'chain.template:1: ' "templates of chains in a file" --template chain.template train.conllu
refuse 2 'ud-pos.*arc templates, such as arc-507' "built-in templates of chains" --template ud-pos train.conllu
refuse 3 'none.arcs: ' "a file without templates" --template none.arcs train.conllu
refuse 1 'nowhere.arcs: ' "templates that are not there" --template nowhere.arcs train.conllu
refuse 2 "NONSENSE.*UPOS, XPOS" "tags from nowhere" "${small[@]}" --tags NONSENSE train.conllu
refuse 2 "'11'" "tags from column 11" "${small[@]}" --tags 11 train.conllu
refuse 2 'roots' "neither one nor many roots" "${small[@]}" --roots few train.conllu
refuse 3 'few.conllu.*9 are too few.*leave out --calibrate' "--calibrate of few sentences" "${small[@]}" --calibrate few.conllu
refuse 2 'min-count' "--min-count" "${small[@]}" --min-count 2 train.conllu
refuse 2 'hash-bits 4' "too few slots" "${small[@]}" --hash-bits 4 train.conllu
refuse 2 'order' "--order" "${small[@]}" --order 2 train.conllu
refuse 2 '--kernel' "--kernel" "${small[@]}" --kernel linear train.conllu
refuse 2 '--view' "numbers beside words" "${small[@]}" --view size=numbers.csv train.conllu
for method in average best svm; do
    expect_exit 2 "--method $method" "$MEDLEY" train --model bad.medley --task tree --method $method --quiet \
        "${small[@]}" train.conllu
    expect_text "--method $method: names another" 'spom' "$err"
done
refuse 2 "no block 'h.colour'" "--blocks that are not there" "${small[@]}" --blocks h.colour train.conllu
refuse 3 'cut.medley: ' "--from a model that is cut short" "${small[@]}" --keep 2 --from cut.medley train.conllu
for option in '--tags UPOS' '--roots many' --projective --unlabelled; do
    # shellcheck disable=SC2086
    expect_exit 2 "$option of a chain" "$MEDLEY" train --model bad.medley --template ud-pos $option train.conllu
    expect_text "$option of a chain: where it belongs" '--task tree' "$err"
done

# ---- predicting and measuring what cannot be ----
decline() { # decline CODE PATTERN NAME ARGUMENTS...: medley predict refuses in one line
    local code=$1 pattern=$2 name=$3
    shift 3
    expect_exit "$code" "$name" predict --output bad.out --quiet "$@"
    expect_text "$name: says why" "$pattern" "$err"
    check "$name: one line" test "$(wc -l <"$err")" -eq 1
}
decline 2 'at most the 20 best' "too many trees" --best 21 test.conllu
decline 2 '--scores' "scores of several trees" --best 2 --scores test.conllu
decline 3 'long.conllu:1: a sentence of 2000 words, at most 1000 can be parsed with --proba' \
    "probabilities of a sentence too long for them" --proba long.conllu
decline 3 'at most 1000 can be parsed with --best' "best trees of a sentence too long for them" --best 2 long.conllu
decline 2 '--scores' "scores of trees" --scores test.conllu
decline 2 '--constrain' "given trees" --constrain test.conllu
decline 2 'NONSENSE' "tags from nowhere, predicting" --tags NONSENSE test.conllu
decline 3 'short.conllu:4: ' "a column is missing, predicting" short.conllu
decline 3 'far.conllu:[0-9]+: .*HEAD' "a head behind the end, predicting" far.conllu
decline 3 'rows.csv: .*CoNLL-U' "rows of numbers, predicting" rows.csv
decline 3 'empty.conllu: ' "an empty file, predicting" empty.conllu
decline 1 'nowhere.conllu' "a file that is not there, predicting" nowhere.conllu
expect_exit 3 "a model that is cut short" "$MEDLEY" predict --model cut.medley --output bad.out test.conllu
expect_exit 3 "eval without heads" evaluate bare.conllu
expect_text "eval without heads: where" 'bare.conllu:2: ' "$err"
expect_exit 3 "eval --proba without heads" evaluate --proba bare.conllu
expect_exit 2 "--tags of a tagger" "$MEDLEY" predict --model tagger.medley --tags XPOS --output bad.out test.conllu
ls -A >after.lst
check "nothing is left behind" cmp before.lst after.lst
expect_exit 0 "a sentence too long to learn from is parsed" predict --output long.out long.conllu
check "to the last word" test "$(wc -l <long.out)" -eq 2001
check "as one tree" test "$(cut -f7 long.out | grep -cx 0)" -eq 1
check "the input is untouched" cmp train.conllu <(treebank 80 1)
