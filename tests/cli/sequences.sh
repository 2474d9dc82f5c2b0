#!/usr/bin/env bash
# Sequences from the command line: tagged words with templates, named attributes, CoNLL-U, letters
# with kernels; what comes out and in which format; one seed one model; bad input.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

train() { "$MEDLEY" train --model m.medley --eta0 0.1 --epochs 4 --quiet "$@"; }
predict() { "$MEDLEY" predict --model m.medley "$@"; }
evaluate() { "$MEDLEY" eval --model m.medley --json "$@"; }
count() { grep -o -e "$1" "$2" | wc -l; }

tagged 60 1 >train.txt
tagged 30 2 >test.txt
cut -d' ' -f1,2 test.txt >bare.txt
rows=$(grep -c . test.txt)
printf '# words and tags\nU00:%%x[0,0]\nU01:%%x[0,1]\nU02:%%x[-1,1]/%%x[0,1]\n\nB\n' >small.template

# ---- tagged words and templates ----
expect_exit 0 "templates from a file" train --template small.template --json train.txt ||
    exit
check "sequences make it a chain" test "$(key task "$out")" = chain
for name in 'U00:%x\[0,0\]' 'U02:%x\[-1,1\]/%x\[0,1\]' B; do
    expect_text "train --json names the block $name" "\"name\":\"$name\"" "$out"
done
check "every line is a block" test "$(count '"name":' "$out")" -eq 4
check "examples are sequences" test "$(key examples "$out")" -eq 60
check "parts are rows" test "$(key parts "$out")" -eq "$(grep -c . train.txt)"
expect_exit 0 "eval --json of sequences" evaluate test.txt
for name in task examples parts accuracy exact_match 'chunk":{"precision' recall f1 confusion \
    seconds per_second; do
    expect_text "eval --json has $name" "\"$name\":" "$out"
done
check "the chunks are learnt" above "$(key f1 "$out")" 0.95
check "and whole sentences" above "$(key exact_match "$out")" 0.9
expect_exit 0 "eval in words" "$MEDLEY" eval --model m.medley test.txt
expect_text "tells of chunks" '^chunks: precision .* recall .* F1 ' "$out"
expect_text "and of sequences" '^sequences without an error .* of 30$' "$out"

# ---- predictions: one more column, all else as it was ----
predict test.txt >tagged.txt
check "as many lines as before" test "$(wc -l <tagged.txt)" -eq "$(wc -l <test.txt)"
check "the columns before it are unchanged" bash -c 'cut -d" " -f1-3 tagged.txt | cmp - test.txt'
check "the column is the prediction" bash -c 'cut -d" " -f3 tagged.txt |
    paste -d" " - <(cut -d" " -f4 tagged.txt) | awk "NF && \$1 == \$2" | wc -l | xargs test 155 -le'
cut -d' ' -f1,2,4 tagged.txt >expected.txt
tags_as_expected() { predict "$@" | cmp - expected.txt; }
check "a file without labels" tags_as_expected bare.txt
check "standard input" tags_as_expected - <bare.txt
check "gzip" tags_as_expected <(gzip -c bare.txt)
sed 's/$/\r/' bare.txt >crlf.txt
check "Windows line ends" tags_as_expected crlf.txt
tr ' ' '\t' <bare.txt >tabs.txt
check "tabs stay tabs" bash -c '"$MEDLEY" predict --model m.medley tabs.txt | cmp - <(tr " " "\t" <expected.txt)'
sed 's/$/ ???/' bare.txt | sed 's/^ .*//' >strange.txt
check "labels that are none do not matter" bash -c \
    '"$MEDLEY" predict --model m.medley strange.txt | cut -d" " -f1,2,4 | cmp - expected.txt'
predict --output written.txt bare.txt
check "--output writes the same" cmp written.txt expected.txt
sed '$d' bare.txt >open.txt
check "no blank line at the end" tags_as_expected open.txt
printf 'the DT\n\nruns VB\n\n\n\n. .\n' >single.txt
expect_exit 0 "sequences of one word" predict single.txt
check "each on its own" test "$(grep -c '^$' "$out")" -eq 3
head -1 test.txt >one.txt
expect_exit 0 "one word is enough to evaluate" evaluate one.txt
sed 's/ [^ ]*$/ X/' one.txt >unseen.txt
expect_exit 3 "a label never seen" evaluate unseen.txt
expect_text "is named, with the remedy" "label 'X'.*--allow-unseen" "$err"
(for _ in 1 2 3 4; do cat test.txt; done; cat unseen.txt) >rarely.txt
expect_exit 0 "one in some hundreds counts as wrong" evaluate rarely.txt
expect_text "and is counted" '"unknown_labels":1' "$out"

# ---- scores, probabilities, several outputs, given labels ----
predict test.txt >plain.txt
for what in scores proba; do
    expect_exit 0 "--$what" predict "--$what" test.txt
    check "a line for each of the input" test "$(wc -l <"$out")" -eq "$(wc -l <test.txt)"
    check "tokens, columns, blank lines and labels as without it" cmp plain.txt <(cut -d' ' -f1-4 "$out")
    check "then a number for each label" awk 'NF && NF != 9 { bad = 1 } NF { for (i = 5; i <= 9; i++)
        if ($i !~ /^[BIO][^ ]*\/-?[0-9.e+-]+$/) bad = 1 } END { exit bad || NR < 100 }' "$out"
done
check "marginals sum to one" awk 'NF { sum = 0; for (i = 5; i <= 9; i++) { n = split($i, part, "/"); sum += part[n] }
    if (sum < 0.999 || sum > 1.001) bad = 1 } END { exit bad || NR < 100 }' "$out"
expect_exit 0 "--best" predict --best 3 test.txt
check "three outputs of each sentence" test "$(wc -l <"$out")" -eq 90
check "from the best on, all different" awk -F'\t' '$2 > 1 && $3 > score { bad = 1 }
    { score = $3 } seen[$1, $4]++ { bad = 1 } END { exit bad || !NR }' "$out"
check "the first is the prediction" bash -c 'awk -F"\t" "\$2 == 1 { print \$4 }" "$1" | tr " " "\n" |
    cmp - <(cut -d" " -f3 expected.txt | grep .)' - "$out"
expect_exit 0 "no more outputs than there are" predict --best 20 one.txt
check "five labels, five outputs" test "$(wc -l <"$out")" -eq 5
expect_exit 0 "--best with --json" predict --best 2 --json test.txt
check "has them all" test "$(count '"score":' "$out")" -eq 60
expect_exit 2 "too many outputs" predict --best 21 test.txt
expect_text "how many there may be" '20' "$err"
awk 'NF && ++row == 2 { print $1, $2, "O"; next } NF { print $1, $2, "?"; next } { print }' \
    test.txt >given.txt
expect_exit 0 "--constrain" predict --constrain given.txt
check "the given label stays" test "$(sed -n '2s/.* //p' "$out")" = O
check "the others are predicted" bash -c '! cut -d" " -f4 "$1" | grep -F "?"' - "$out"

# ---- looking into the model ----
expect_exit 0 "inspect --features" "$MEDLEY" inspect --features 3 m.medley
expect_text "shows features by name" '^ +\+[0-9.]+  U01:VB -> B-VP$' "$out"
expect_text "and pairs of labels" 'B -> B-NP I-NP$' "$out"
expect_exit 0 "inspect --features --json" "$MEDLEY" inspect --features 3 --json m.medley
expect_text "the same as JSON" '"strongest":\{.*"U01:VB -> B-VP":' "$out"

# ---- --dev is read as the training data are ----
printf 'U01:%%x[0,0]\nB\n' >number.template
awk 'BEGIN { for (s = 0; s < 20; s++) { for (w = 1; w < 6; w++) print (s + w) % 4, ((s + w) % 4 > 1) ? "high" : "low"; print "" } }' >numbers.txt
printf '1 low\n2 high\n3 high\n' >one.txt # a single sentence of numbers looks like a table
expect_exit 0 "words of --dev may be numbers" train --template number.template --dev one.txt --json numbers.txt
expect_text "and are tagged" '"dev_accuracy":1,' "$out"

# ---- which blocks, and how ----
expect_exit 0 "the built-in templates" train --template chunk --json train.txt
check "are nineteen and pairs of labels" test "$(count '"name":' "$out")" -eq 20
cp m.medley chunk.medley
expect_exit 0 "--keep the best of them" train --template chunk --from chunk.medley --keep 3 --json train.txt
check "three stay" test "$(count '"name":' "$out")" -eq 3
"$MEDLEY" inspect --top 3 chunk.medley | awk '/^U|^B/ { print $1 }' | sort >best.lst
grep -o '"name":"[^"]*"' "$out" | cut -d'"' -f4 | sort >kept.lst
check "the best are three" test "$(wc -l <best.lst)" -eq 3
check "those with the largest weights" cmp best.lst kept.lst
expect_exit 0 "--blocks by name" train --template chunk --blocks U02,U12,B --json train.txt
check "the named ones stay" test "$(count '"name":"\(U02\|U12\|B\)' "$out")" -eq 3
norm_of() { sed -E "s/.*\"name\":\"$1[^}]*\"norm\":([^,}]*).*/\1/" "$out"; }
train --template small.template --json train.txt >"$out"
plain=$(norm_of U01)
expect_exit 0 "--block-scale" train --template small.template --block-scale 'U01=3' --json train.txt
check "a larger scale, a larger share" above "$(norm_of U01)" "$plain"
expect_exit 0 "--block-weight" train --template small.template --block-weight 'U01=3' --json train.txt
check "a larger weight, a smaller share" above "$plain" "$(norm_of U01)"
expect_exit 0 "--block-weight by the number of features" train --template small.template --block-weight '*=size' \
    --json train.txt
check "a share that is smaller as well" above "$plain" "$(norm_of U01)"
printf 'words U01,U02 1\nall words,B 0.5 # and the pairs\n' >groups.txt
expect_exit 0 "--groups" train --template small.template --groups groups.txt --json train.txt
expect_text "are the penalty" '"penalty":"groups"' "$out"
expect_exit 0 "--groups beside a penalty" train --template small.template --groups groups.txt --penalty l2 --json train.txt
expect_text "and the groups" '"penalty":"l2\+groups"' "$out"
expect_exit 0 "--min-count" train --template small.template --min-count 5 --json train.txt
expect_exit 0 "--hash-bits" train --template small.template --hash-bits 8 --json train.txt
expect_exit 0 "hashed features predict" evaluate test.txt
check "as well" above "$(key f1 "$out")" 0.9
for bigram in fixed learned none; do
    expect_exit 0 "--bigram $bigram" train --template small.template --bigram $bigram --json train.txt
    case $bigram in
    none) refute_text "has no pairs" '"name":"(B|bigram)"' "$out" ;;
    *) expect_text "has pairs" '"name":"(B|bigram)"' "$out" ;;
    esac
    expect_exit 0 "--bigram $bigram predicts" evaluate test.txt
done
expect_exit 0 "--order 2 with ends" train --template small.template --order 2 --bigram-ends --json train.txt
expect_text "has triples" '"name":"trigram"' "$out"
expect_text "and ends" '"name":"ends"' "$out"
expect_exit 0 "--order 2 predicts" evaluate test.txt
check "at least as well" above "$(key f1 "$out")" 0.95
expect_exit 0 "--best of triples" predict --best 2 test.txt
expect_exit 0 "marginals of triples" predict --proba test.txt
for loss in hinge logistic softmax-margin; do
    expect_exit 0 "$loss loss, averaged" train --template small.template --loss $loss --average train.txt
    expect_exit 0 "$loss loss predicts" evaluate test.txt
    check "$loss loss learns" above "$(key f1 "$out")" 0.95
done
certain() { train --template small.template --loss logistic --epochs 20 --json --skip-certain "$1" train.txt; }
expect_exit 0 "rows that are nearly certain" certain 0.01
check "take no step" above "$(key steps_skipped "$out")" 100
expect_exit 0 "and all rows" certain 0
check "take every step" test "$(key steps_skipped "$out")" = 0
expect_exit 2 "a share that is none" certain 0.9
expect_exit 0 "one label a row is possible, too" train --template small.template --task multiclass --json train.txt
check "and no chain" test "$(key task "$out")" = multiclass

# ---- named attributes (CRFsuite) ----
attributes() {
    awk '!NF { print ""; before = "_"; next }
         { print $3 "\tw=" $1 "\tpos=" $2 "\tbefore=" before; before = $2 }' before=_ "$1"
}
attributes train.txt >train.crfsuite
attributes test.txt >test.crfsuite
awk -F'\t' '!NF { print ""; next } { print "\t" $4 "\tnew=1\t" $3 "\t" $2 }' test.crfsuite >turned.crfsuite
expect_exit 0 "attributes train a chain" train --json train.crfsuite
expect_text "one block for each kind of them" '"name":"linear\(explicit\)@before"' "$out"
expect_exit 0 "attributes evaluate" evaluate test.crfsuite
check "attributes are learnt" above "$(key f1 "$out")" 0.95
predict test.crfsuite >predicted.crfsuite
as_sets() { awk -F'\t' '{ for (i = 2; i <= NF; i++) print NR, $i }' "$1" | sort; }
check "attributes come back with the items" cmp <(as_sets test.crfsuite) <(as_sets predicted.crfsuite)
check "labels first" above "$(paste test.crfsuite predicted.crfsuite | awk -F'\t' '$1 == $5 && NF' |
    wc -l)" 155
predict turned.crfsuite >turned.out
check "attributes in another order and unknown ones" cmp <(cut -f1 predicted.crfsuite) <(cut -f1 turned.out)
check "convert writes what it reads" cmp <("$MEDLEY" convert --to attributes test.crfsuite | sort | uniq -c) \
    <("$MEDLEY" convert --to attributes <("$MEDLEY" convert --to attributes test.crfsuite) | sort | uniq -c)

# ---- CoNLL-U ----
conllu() {
    awk -v OFS='\t' 'NR == 1 { print "# newdoc" }
        !NF { print ""; n = 0; next }
        !n { print "# sent_id = " ++sentences }
        { print ++n, $1, "_", $2, $3, "_", "_", "_", "_", n % 2 ? "SpaceAfter=No" : "_" }
        n == 1 { print "2-3", "together", "_", "_", "_", "_", "_", "_", "_", "_" }
        n == 2 { print "2.1", "unsaid", "_", "_", "_", "_", "_", "_", "_", "_" }' "$1"
}
conllu train.txt >train.conllu
conllu test.txt >test.conllu
printf 'U00:%%x[0,1]\nU01:%%m[0,1,".?$"]\nU02:%%x[-1,1]\nB\n' >form.template
expect_exit 0 "CoNLL-U trains" train --template form.template --epochs 8 train.conllu
expect_exit 0 "CoNLL-U evaluates" evaluate test.conllu
check "parts of speech are learnt" above "$(key accuracy "$out")" 0.95
predict test.conllu >predicted.conllu
check "all but the tags comes back: comments, multiword tokens, empty nodes" cmp \
    <(cut -f1-3,5- test.conllu) <(cut -f1-3,5- predicted.conllu)
awk -F'\t' -v OFS='\t' 'NF == 10 { $4 = "_" } { print }' test.conllu >untagged.conllu
check "CoNLL-U without tags, from standard input" bash -c \
    '"$MEDLEY" predict --model m.medley - <untagged.conllu | cmp - predicted.conllu'

# ---- letters: kernels ----
"$MEDLEY" generate handwriting --rows 150 --output words.data --to letter
"$MEDLEY" generate handwriting --rows 40 --seed 2 --output more.data --to letter
letters() { train --eta0 1 "$@" words.data; }
expect_exit 0 "letters train a chain" letters --json
check "of words" test "$(key examples "$out")" -eq 150
expect_exit 0 "letters evaluate" evaluate --allow-unseen more.data
expect_text "with exact matches" '"exact_match":' "$out"
refute_text "but without chunks" '"chunk":' "$out"
check "letters are learnt" above "$(key accuracy "$out")" 0.6
check "letters: one label a row" test "$(predict more.data | wc -l)" -eq "$(wc -l <more.data)"
expect_exit 0 "neighbours, blurred and shifted images" letters --kernel linear --json \
    --views 'all+window:1+blur(0.7)+shift+shift(1,-1)'
for view in all window:1 'blur\(0.7\)' shift 'shift\(1,-1\)'; do
    expect_text "view $view" "\"name\":\"linear@$view\"" "$out"
done
expect_exit 0 "such views predict" evaluate --allow-unseen more.data
check "and see more" above "$(key accuracy "$out")" 0.6
expect_exit 0 "a step behind another" letters --kernel linear --views 'blur(0.5)/window:1'
expect_exit 0 "letters, order 2" letters --order 2 --bigram learned
expect_exit 0 "letters, order 2 predict" evaluate --allow-unseen more.data

# ---- kernels and templates together ----
numbers() { awk 'NF { print length($1) "," length($2) "," $3 }' "$1"; }
numbers train.txt >numbers.csv
numbers test.txt >more.csv
expect_exit 0 "numbers beside words" train --template small.template --view size=numbers.csv \
    --kernel 'rbf(auto)@size' --json train.txt
expect_text "kernels" '"name":"rbf\(.*@size"' "$out"
expect_text "and templates" '"name":"U02:' "$out"
expect_exit 0 "a mixed model evaluates" evaluate --view size=more.csv test.txt
check "a mixed model does well" above "$(key f1 "$out")" 0.95
check "a mixed model tags" bash -c '"$MEDLEY" predict --model m.medley --view size=more.csv test.txt |
    cut -d" " -f1-3 | cmp - test.txt'
expect_exit 2 "a mixed model needs both" evaluate test.txt
expect_text "and says which is missing" '--view size=FILE' "$err"

# ---- one seed, one model, whatever the number of threads ----
same_model() { # same_model NAME ARGUMENTS...
    local name=$1
    shift
    train --threads 1 "$@" >/dev/null && mv m.medley one.medley
    train --threads 2 "$@" >/dev/null
    check "$name: 1 and 2 threads give the same bytes" cmp one.medley m.medley
}
for loss in hinge logistic; do
    for batch in 1 8; do
        same_model "templates, $loss, rounds of $batch" --template chunk --loss $loss --batch $batch train.txt
        cp m.medley "$loss$batch.medley"
        same_model "kernels, $loss, rounds of $batch" --eta0 1 --loss $loss --batch $batch words.data
    done
    check "$loss: rounds of 8 give another model" bash -c "! cmp -s ${loss}1.medley ${loss}8.medley"
done
same_model "averaged" --template chunk --average train.txt
same_model "order 2" --template small.template --order 2 --loss logistic train.txt
same_model "l1" --template chunk --penalty l1 --C 1 train.txt
same_model "attributes" train.crfsuite
same_model "chosen rate" --template small.template --eta0 auto train.txt
same_model "mixed" --template small.template --view size=numbers.csv --kernel 'rbf(auto)@size' train.txt

# ---- a very long sequence ----
tagged 20000 5 | grep . | head -100000 >long.txt
expect_exit 0 "100,000 words in one sequence" train --template chunk --epochs 1 --loss logistic --json long.txt
check "in less than 300 MB" above 300 "$(key peak_rss_mb "$out")"
expect_exit 0 "are tagged" predict --output long.out long.txt
check "to the last" test "$(wc -l <long.out)" -eq 100001

# ---- bad input ----
cp m.medley good.medley
# refuse CODE PATTERN NAME ARGUMENTS...: medley train refuses in one sentence; no model appears
refuse() {
    local code=$1 pattern=$2 name=$3
    shift 3
    expect_exit "$code" "$name" "$MEDLEY" train --model bad.medley --eta0 1 --epochs 2 --quiet "$@"
    expect_text "$name: says what and how to mend it" "$pattern" "$err"
    check "$name: one line" test "$(wc -l <"$err")" -eq 1
    check "$name: no model" test ! -e bad.medley
    rm -f bad.medley
}
words=(--template small.template)
: >empty.txt
printf '\n\n \n' >blank.txt
refuse 3 'empty' "an empty file" "${words[@]}" empty.txt
refuse 3 'blank.txt' "a file of blank lines" "${words[@]}" blank.txt
refuse 3 'blank.txt' "blank lines as columns" "${words[@]}" --format columns blank.txt
expect_exit 3 "an empty file to tag" predict empty.txt
expect_exit 3 "a file of blank lines to tag" predict --format columns blank.txt
awk 'NR == 3 { print $1, $3; next } { print }' train.txt >ragged.txt
refuse 3 'ragged.txt:3: ' "a short line" "${words[@]}" --format columns ragged.txt
refuse 2 '--template' "words without templates" train.txt
refuse 1 'nowhere.template' "templates that are not there" --template nowhere.template train.txt
printf 'U00:%%x[0,0]\n\nU01:%%x[0,5]\n' >far.template
refuse 3 'far.template:3: .*column 5' "a column that is not there" --template far.template train.txt
printf 'U00:%%x[0,0]\nU01:%%x[0,\n' >broken.template
refuse 3 'broken.template:2: ' "a malformed template" --template broken.template train.txt
printf 'U00:%%x[0,0]\nX:%%x[0,0]\n' >letter.template
refuse 3 'letter.template:2: ' "a line that is no template" --template letter.template train.txt
printf 'U00:%%t[0,0,"(a)*"\n' >pattern.template
refuse 3 'pattern.template:1: ' "a malformed pattern" --template pattern.template train.txt
printf '# nothing\n\n' >none.template
refuse 3 'none.template: ' "a file without templates" --template none.template train.txt
refuse 2 'min-count' "no feature is left" "${words[@]}" --min-count 100000 train.txt
refuse 2 'min-count' "no feature of a label is left" "${words[@]}" --blocks U00,U01 --min-count 100000 train.txt
refuse 2 'bigram' "triples without pairs" "${words[@]}" --order 2 --bigram none train.txt
refuse 2 'out of range' "order 3" "${words[@]}" --order 3 train.txt
"$MEDLEY" generate twonorm --rows 30 --output rows.csv
refuse 3 'rows.csv: .*sequences' "a chain of rows that stand alone" --task chain rows.csv
refuse 3 'rows.csv: .*text' "templates for numbers" "${words[@]}" rows.csv
refuse 2 '--keep.*--from' "--keep without --from" "${words[@]}" --keep 2 train.txt
refuse 2 '--keep.*--from' "--from without --keep" "${words[@]}" --from good.medley train.txt
refuse 3 'not a Medley model' "--from a file that is no model" "${words[@]}" --keep 2 --from train.txt train.txt
refuse 1 'nowhere.medley' "--from a model that is not there" "${words[@]}" --keep 2 --from nowhere.medley train.txt
refuse 2 "no block 'U98'" "--blocks that are not there" "${words[@]}" --blocks U98,U99 train.txt
refuse 2 "no block 'U99'" "one of --blocks that is not there" "${words[@]}" --blocks U00,U99 train.txt
refuse 2 'NAME=X' "--block-scale without a number" "${words[@]}" --block-scale U01 train.txt
refuse 2 'NAME=X' "--block-scale with a word" "${words[@]}" --block-scale U01=much train.txt
refuse 2 'NAME=X' "--block-scale below 0" "${words[@]}" --block-scale U01=-1 train.txt
refuse 2 'a number from 1e-06 to 1e\+06 or the word size' "--block-weight below 0" "${words[@]}" --block-weight U01=-1 train.txt
refuse 2 'a number from 1e-06' "--block-weight of 0" "${words[@]}" --block-weight U01=0 train.txt
refuse 2 'no block of that name' "--block-weight of a block that is not there" "${words[@]}" --block-weight U77=2 train.txt
refuse 2 'l2 term of its own' "--block-weight of a block with a term of its own" "${words[@]}" --bigram fixed \
    --block-weight B=2 train.txt
printf 'a U01,U77 1\n' >unknown.txt
refuse 3 "unknown.txt:1: group 'a' names 'U77'" "--groups with an unknown block" "${words[@]}" --groups unknown.txt train.txt
printf 'a U01,b 1\nb U02,a 1\n' >cycle.txt
refuse 3 "cycle.txt:2: group 'a' is inside of itself by way of 'b'" "--groups in a circle" "${words[@]}" --groups cycle.txt train.txt
printf 'a U01 -1\n' >negative.txt
awk 'BEGIN { for (i = 0; i < 5000; i++) print "g" i, "g" i + 1, 1 }' >chain.txt
refuse 3 "chain.txt:4097: there are more than 4096 groups" "--groups without end" "${words[@]}" --groups chain.txt train.txt
refuse 3 "negative.txt:1: the weight of group 'a' is '-1'" "--groups with a negative weight" "${words[@]}" --groups negative.txt \
    train.txt
refuse 2 'no block of that name' "--block-scale of a block that is not there" "${words[@]}" --block-scale U77=2 train.txt
refuse 2 "'window:0'" "no neighbours" --views window:0 words.data
refuse 2 "'blur\(0\)'" "no blur" --views 'blur(0)' words.data
printf 'B-NP\tw=the\nI-NP\tw=a:b\n\n' >colon.crfsuite
refuse 3 'colon.crfsuite:2: ' "an attribute whose value is no number" colon.crfsuite
awk -F'\t' -v OFS='\t' 'NR == 4 { print $1, $2; next } { print }' test.conllu >short.conllu
refuse 3 'short.conllu:4: ' "a short line of CoNLL-U" --template form.template short.conllu
cut -d' ' -f1 bare.txt >narrow.txt
train "${words[@]}" train.txt >/dev/null
expect_exit 3 "too few columns to tag" predict --format columns --output narrow.out narrow.txt
expect_text "too few columns to tag: where" 'narrow.txt:1: ' "$err"
expect_exit 3 "another kind of data" predict --output narrow.out rows.csv
check "and no output" test ! -e narrow.out
check "nothing half-written is left" bash -c '! ls | grep -E "^bad\.medley|\.part$|\.tmp$|out\..{6}$"'

# ---- data of another format than the model's ----
"$MEDLEY" generate tagged --rows 40 --seed 5 --output other-train.txt
"$MEDLEY" generate treebank --rows 10 --seed 6 --output other.conllu
expect_exit 0 "a chunker" "$MEDLEY" train --model other.medley --quiet --template chunk --epochs 2 other-train.txt
for how in predict eval; do
    expect_exit 3 "$how on CoNLL-U is refused" "$MEDLEY" "$how" --model other.medley other.conllu
    expect_text "with both formats" 'other.conllu: these data have the format conllu with 10 columns .* the format columns with 2 and the label in column 3' "$err"
    check "and nothing is written" test ! -s "$out"
done
expect_exit 3 "so are held-out data" "$MEDLEY" train --model other2.medley --quiet --template chunk --epochs 2 \
    --dev other.conllu other-train.txt
expect_text "that are of another format" 'other.conllu: these data have the format conllu' "$err"
expect_exit 0 "a tagger" "$MEDLEY" train --model tagger.medley --quiet --task chain --template ud-pos --epochs 2 other.conllu
expect_exit 3 "is refused other data" "$MEDLEY" predict --model tagger.medley other-train.txt

# ---- numbers beside tagged words ----
expect_exit 0 "--proba of CoNLL-U" "$MEDLEY" predict --model tagger.medley --proba other.conllu
"$MEDLEY" predict --model tagger.medley other.conllu >tagged.conllu
check "all but MISC is as without it" cmp <(cut -f1-9 tagged.conllu) <(cut -f1-9 "$out")
check "MISC has a number for each label" awk -F'\t' 'NF == 10 && $10 !~ /^Proba\[[A-Z]+\]=[0-9.e-]+(\|Proba\[[A-Z]+\]=[0-9.e-]+)+$/ {
    bad = 1 } END { exit bad || NR < 20 }' "$out"
cp "$out" with.conllu
expect_exit 0 "it is CoNLL-U still" "$MEDLEY" eval --model tagger.medley with.conllu
awk -F'\t' 'NF == 10 { $10 = "SpaceAfter=No" } { print }' OFS='\t' other.conllu >space.conllu
expect_exit 0 "what MISC had" "$MEDLEY" predict --model tagger.medley --scores space.conllu
expect_text "stays" '	SpaceAfter=No\|Score\[ADJ\]=' "$out"
awk 'NF { print $3 "\tw=" $1 "\tp=" $2; next } { print "" }' train.txt >items.crfsuite
expect_exit 0 "attributes" "$MEDLEY" train --model items.medley --quiet --epochs 2 items.crfsuite
"$MEDLEY" predict --model items.medley items.crfsuite >items.out
expect_exit 0 "--proba of attributes" "$MEDLEY" predict --model items.medley --proba items.crfsuite
check "are further attributes" cmp items.out <(sed 's/\tproba=.*//' "$out")
expect_text "of all labels" 'proba=B-NP:[0-9.e-]+	proba=' "$out"
