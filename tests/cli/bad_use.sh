#!/usr/bin/env bash
# Wrong use and bad input: one sentence with the remedy, the right exit code, nothing half-written.
here=$(dirname "$(realpath "$0")")
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

"$MEDLEY" generate twonorm --rows 60 --output good.csv
"$MEDLEY" train --model good.medley --eta0 1 --epochs 2 --quiet good.csv >/dev/null

# refuse CODE PATTERN NAME ARGUMENTS...: medley train refuses; no model appears
refuse() {
    local code=$1 pattern=$2 name=$3
    shift 3
    expect_exit "$code" "$name" "$MEDLEY" train --model bad.medley --eta0 1 --epochs 2 --quiet "$@"
    expect_text "$name: says what and how to mend it" "$pattern" "$err"
    check "$name: one line" test "$(wc -l <"$err")" -eq 1
    check "$name: no model" test ! -e bad.medley
}

# ---- options ----
refuse 2 'did you mean --epochs' "unknown option" --epoch 3 good.csv
refuse 2 'needs a value' "missing value" good.csv --kernel
refuse 2 'not a whole number' "bad number" --epochs=many good.csv
refuse 2 'out of range' "number out of range" --threads -2 good.csv
refuse 2 "did you mean 'rbf'" "unknown kernel" --kernel rbff good.csv
refuse 2 "did you mean 'sigma'" "unknown kernel key" --kernel 'rbf(sgma=2)' good.csv
refuse 2 'never closed' "unclosed kernel" --kernel 'rbf(sigma=2' good.csv
refuse 2 'not several' "two widths" --kernel 'rbf(sigma=2,gamma=1)' good.csv
refuse 2 'given twice' "a key given twice" --kernel 'rbf(sigma=1,sigma=2)' good.csv
refuse 2 "no view 'left'" "unknown view" --kernel rbf@left good.csv
refuse 2 'did you mean' "unknown penalty" --penalty mlk good.csv
refuse 2 'did you mean' "unknown loss" --loss hing good.csv
refuse 2 'did you mean' "unknown method" --method spon good.csv
refuse 2 'say the same thing' "C and lambda" --C 1 --lambda 1 good.csv
refuse 2 'linear\(explicit\)' "l1 on kernels" --penalty l1 good.csv
refuse 2 'name a file' "no data at all"
refuse 2 'one file too many' "two data files" good.csv good.csv
refuse 2 'share between 0 and 1' "bad holdout" --holdout 2 good.csv
refuse 2 'no fold' "folds without a fold column" --folds 0 good.csv
refuse 2 'format' "unknown format" --format xml good.csv
refuse 2 'column' "unknown label column" --label colour good.csv
refuse 2 'NAME=FILE' "malformed view" --view good.csv
printf 'a 1:1\nb 60000:1\n' >wide.svm
refuse 2 '60000 columns' "a view for each of too many columns" --views each wide.svm
expect_exit 2 "no model named" "$MEDLEY" train good.csv
expect_exit 2 "unknown command" "$MEDLEY" trian
expect_text "unknown command: nearest" "did you mean 'train'" "$err"
expect_exit 2 "no command" "$MEDLEY"

# ---- what is read is not written over ----
cp good.csv kept.csv
cp good.medley kept.medley
ln -s good.csv link.csv
ln good.csv hard.csv
mkdir -p inner
spare() { # spare NAME ARGUMENTS...: refused, and the files are what they were
    expect_exit 2 "$@" <good.csv
    expect_text "$1: says why" 'would overwrite|are the same file' "$err"
    check "$1: the files stay" eval 'cmp -s good.csv kept.csv && cmp -s good.medley kept.medley'
}
for name in good.csv link.csv hard.csv inner/../good.csv "$PWD/good.csv"; do
    spare "predict --output $name" "$MEDLEY" predict --model good.medley --output "$name" good.csv
    spare "predict --proba --output $name" "$MEDLEY" predict --model good.medley --proba --output "$name" good.csv
    spare "kernel --output $name" "$MEDLEY" kernel --kernel linear --output "$name" good.csv
    spare "convert --output $name" "$MEDLEY" convert --to csv --output "$name" good.csv
    spare "train --checkpoint $name" "$MEDLEY" train --model new.medley --method spom --checkpoint "$name" good.csv
    spare "train --model $name" "$MEDLEY" train --model "$name" good.csv
    spare "report --output $name" "$MEDLEY" report --output "$name" good.medley good.csv
done
spare "standard input" "$MEDLEY" predict --model good.medley --output good.csv -
spare "predict --output MODEL" "$MEDLEY" predict --model good.medley --output good.medley good.csv
spare "predict --json --output MODEL" "$MEDLEY" predict --model good.medley --json --output good.medley good.csv
spare "train --from MODEL" "$MEDLEY" train --model good.medley --from good.medley --keep 1 good.csv
spare "train --checkpoint MODEL" "$MEDLEY" train --model good.medley --method spom --checkpoint good.medley good.csv
check "no model" test ! -e new.medley
rm -r link.csv hard.csv inner
expect_exit 1 "predict --json that fails" "$MEDLEY" predict --json --model good.medley --output no/where good.csv
expect_text "prints one object" '^\{"error":\{"code":1,.*\}\}$' "$out"
if [ -e /dev/full ]; then
    expect_exit 1 "predict --json to a full disk" "$MEDLEY" predict --json --model good.medley --output /dev/full good.csv
    expect_text "prints one object as well" '^\{"error":\{"code":1,.*\}\}$' "$out"
fi

# ---- data ----
printf 'a,b,label\n1,2,x\n3,oops,y\n' >word.csv
refuse 3 '^medley train: word.csv:3: ' "a word among numbers" word.csv
printf 'a,b,label\n1,2,x\n3,nan,y\n' >nan.csv
refuse 3 'nan.csv:3: ' "NaN in the data" nan.csv
printf 'a,b,label\n1,2,x\n3,1e999,y\n' >inf.csv
refuse 3 'inf.csv:3: ' "infinity in the data" inf.csv
printf 'a,b,label\n1,2,x\n3,y\n' >short.csv
refuse 3 'short.csv:3: ' "a short line" short.csv
: >empty.csv
refuse 3 'empty' "an empty file" empty.csv
printf 'a,b,label\n1,2,x\n3,4,x\n' >single.csv
refuse 3 'at least two' "one class only" single.csv
printf '1 1:0.5 3:x\n' >bad.svm
refuse 3 'bad.svm:1: ' "a malformed svmlight line" bad.svm
head -c 100 <(gzip -c good.csv) >cut.csv.gz
refuse 3 'cut.csv.gz' "a truncated gzip file" cut.csv.gz
refuse 1 'nowhere.csv' "a file that is not there" nowhere.csv
head -30 good.csv >half.csv
refuse 3 'rows' "views of different length" --view a=good.csv --view b=half.csv
printf '%s\n' x y x >three.lst
refuse 3 '3 labels|60' "labels of different length" --labels three.lst good.csv

# ---- precomputed kernels ----
npy() { # npy SHAPE BYTES: a float64 array of the shape from hexadecimal bytes
    local header="{'descr': '<f8', 'fortran_order': False, 'shape': ($1), }"
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"
    printf "$2"
}
zero='\x00\x00\x00\x00\x00\x00\x00\x00' one='\x00\x00\x00\x00\x00\x00\xf0\x3f'
printf 'x\ny\n' >two.lst
npy '2, 3' "$one$zero$zero$zero$one$zero" >wide.npy
refuse 3 'not square' "a kernel that is not square" --gram wide.npy --labels two.lst
npy '2, 2' "$one$one$zero$one" >skew.npy
refuse 3 'not symmetric' "a kernel that is not symmetric" --gram skew.npy --labels two.lst
npy '2, 2' "$one$zero$zero\x00\x00\x00\x00\x00\x00\xf0\xbf" >negative.npy
refuse 3 'not positive' "a kernel with a negative diagonal" --gram negative.npy --labels two.lst
npy '2, 2' "$one$zero" >cut.npy
refuse 3 'cut.npy' "a truncated npy file" --gram cut.npy --labels two.lst
npy '2, 2' "$one$zero$zero$one" >fine.npy
refuse 2 'labels' "a kernel without labels" --gram fine.npy

# ---- targets ----
expect_exit 1 "an unwritable target" "$MEDLEY" train --model no/such/folder/m.medley --quiet good.csv
expect_text "an unwritable target: says where" 'no/such/folder' "$err"
expect_exit 1 "a directory as target" "$MEDLEY" train --model . --quiet good.csv
if [ -e /dev/full ]; then
    expect_exit 1 "a full disk while saving the model" "$MEDLEY" train --model /dev/full --epochs 1 \
        --eta0 1 --quiet good.csv
    expect_text "a full disk: says so" 'space' "$err"
    expect_exit 1 "a full disk while printing" bash -c '"$MEDLEY" predict --model good.medley good.csv >/dev/full'
else
    skip "a full disk" "/dev/full is not there"
fi

# ---- models and predictions ----
head -c 1000 good.medley >cut.medley
expect_exit 3 "a truncated model" "$MEDLEY" predict --model cut.medley good.csv
expect_text "a truncated model: says so" 'damaged|cut short' "$err"
expect_exit 3 "a file that is no model" "$MEDLEY" predict --model good.csv good.csv
expect_text "a file that is no model: says so" 'not a Medley model' "$err"
expect_exit 1 "a model that is not there" "$MEDLEY" inspect nowhere.medley
cut -d, -f1-7 good.csv >narrow.csv
expect_exit 3 "too few columns for the model" "$MEDLEY" predict --model good.medley narrow.csv
expect_text "too few columns: both numbers" '(6|7).*20' "$err"
sed '2,$s/,-\?1$/,7/' good.csv >strange.csv
expect_exit 3 "labels never seen are refused" "$MEDLEY" eval --model good.medley strange.csv
expect_text "labels never seen: which, and what to do" "row 1 .*'7'.*--allow-unseen" "$err"
expect_exit 0 "or count as wrong" "$MEDLEY" eval --model good.medley --allow-unseen --json strange.csv
expect_text "and are counted" '"unknown_labels":60' "$out"
expect_exit 2 "eval with threads that are no number" "$MEDLEY" eval --model good.medley --threads -2 good.csv
expect_exit 2 "--dev cannot stand for views" "$MEDLEY" train --model bad.medley --view a=good.csv --dev good.csv
mkfifo pipe.lst
cat pipe.lst >piped.lst &
expect_exit 0 "predictions into a pipe" "$MEDLEY" predict --model good.medley --output pipe.lst good.csv
wait
check "the pipe is still one" test -p pipe.lst
check "and has carried every row" test "$(wc -l <piped.lst)" -eq 60
printf 'rbf(sigma=2)\n\nrbff # no such kernel\n' >wrong.kernels
refuse 3 "^medley train: wrong.kernels:3: .*did you mean 'rbf'" "a wrong line among kernels" --kernels wrong.kernels good.csv
printf '# nothing\n' >no.kernels
refuse 3 'no kernels in this file' "a file without kernels" --kernels no.kernels good.csv
printf '1 2 x\n3 oops y\n' >word.columns
refuse 3 '^medley train: word.columns:2: ' "a word in a table of numbers" word.columns
expect_exit 2 "eval without labels" "$MEDLEY" eval --model good.medley --label none \
    <(cut -d, -f1-20 good.csv) --format csv

# ---- errors as JSON ----
expect_exit 3 "--json turns errors into JSON" "$MEDLEY" train --model bad.medley --json word.csv
expect_text "with code, message, file and line" \
    '^\{"error":\{"code":3,"message":".*","file":"word.csv","line":3\}\}$' "$out"
expect_exit 2 "usage errors too" "$MEDLEY" train --model bad.medley --json --kernel nope good.csv
expect_text "with a null file" '"file":null,"line":null' "$out"
check "nothing half-written is left" bash -c '! ls | grep -E "^bad\.medley|\.part$|\.csv\..{6}$"'

# ---- what is near, and what to do ----
printf 'a,b,label\n0,0,x\n1,2,y\n0,1,x\n1,1,y\n' >four.csv
refuse() { # refuse NAME PATTERN ARGUMENT...: training ends with 2 and says so
    expect_exit 2 "$1" "$MEDLEY" train --model near.medley "${@:3}"
    expect_text "$1: $2" "$2" "$err"
}
refuse "a task" 'did you mean regression\?' --task regresion four.csv
refuse "a scale" "did you mean 'standard'\?" --scale standrad four.csv
refuse "a penalty" "did you mean 'group-lasso'\?" --penalty lasso four.csv
refuse "a kernel that others call Gaussian" "did you mean 'rbf'\?" --kernel gaussian four.csv
refuse "a loss by another name" "did you mean 'logistic'\?" --loss cross-entropy four.csv
refuse "a task by another name" 'did you mean chain\?' --task crf four.csv
refuse "a kernel in capitals" "did you mean 'rbf'\?" --kernel RBF four.csv
refuse "an underscore" 'did you mean --eta0\?' --learning_rate 0.1 four.csv
refuse "a parameter by another name" "did you mean 'offset'\?" --kernel 'poly(coef0=1)' four.csv
expect_exit 2 "a command without kernels" "$MEDLEY" predict --gamma 1 rows.medley four.csv
refute_text "has no hint at them" 'kernel' "$err"
refuse "an option by another name" 'did you mean --eta0\?' --learning-rate 0.1 four.csv
refuse "a parameter of a kernel" "a parameter of the kernel: --kernel 'rbf\(gamma=" --gamma 0.1 four.csv
refuse "data as an option" "data files are plain arguments" --data four.csv
refuse "a format by another name" "did you mean 'svmlight'\?" --format libsvm four.csv
{
    for kind in kernels penalties losses methods formats tasks; do "$MEDLEY" list "$kind"; done | awk '/^  / { print $1 }'
    for command in train predict; do "$MEDLEY" "$command" --help=all; done | grep -oE -e '--[a-zA-Z0-9-]+' | cut -c3-
    for options in '--scale nothing' '--kernel poly(nothing=1)'; do
        # shellcheck disable=SC2086
        "$MEDLEY" train --model near.medley $options four.csv 2>&1 | sed 's/.*known: //' | tr -d ' ' | tr , '\n'
    done
} >ours.txt
sed -nE 's/^MD_OTHER_NAME\(".*", "(.*)"\)$/\1/p' "$here/../../src/param/other_names.def" >meant.txt
check "there are other names" test "$(wc -l <meant.txt)" -ge 50
check "which all mean something" bash -c '! grep -vxFf ours.txt meant.txt'
refuse "a letter of LIBSVM" 'did you mean --C\?' -c 10 four.csv
refuse "a negative C" '--C=-1 is out of range; give more than 0' --C -1 four.csv
refuse "epochs of spicy" '--epochs is about .*stop by --gap and --max-iter' --epochs 5 --method spicy four.csv
"$MEDLEY" generate tagged --rows 20 --output tagged.txt
"$MEDLEY" generate treebank --rows 20 --output bank.conllu
refuse "arc templates for words" 'is a set of arc templates, for dependency trees' --template arc-507 tagged.txt
refuse "templates of words for trees" 'dependency trees need arc templates' --task tree --template chunk bank.conllu
printf 'a,b\n1,2\n3,4\n5,6.5\n' >numbers.csv
expect_exit 3 "numbers taken for labels" "$MEDLEY" train --model near.medley numbers.csv
expect_text "names the column" "\(column 'b'\) look like numbers to be predicted" "$err"
awk 'BEGIN { srand(3); print "a,b,y"; for (i = 0; i < 60; i++) { x = rand(); print x "," rand() "," (i == 17 ? "-" : 3 * x) } }' >word.csv
expect_exit 3 "a word among numbers" "$MEDLEY" train --model near.medley word.csv
expect_text "is named" "word.csv: the label of row 18 is '-', and nearly all others are numbers" "$err"
sed 's/,-$/,1e160/' word.csv >huge.csv
expect_exit 3 "a number that cannot be squared" "$MEDLEY" train --model near.medley --task regression huge.csv
expect_text "is named, too" 'row 18 has the number 1e[+]160 to predict' "$err"
expect_exit 2 "columns of DATA, and no DATA" "$MEDLEY" train --model near.medley --view v=four.csv --ignore a
expect_text "says how views do it" 'leave columns of a view out by --view NAME=FILE:!COLUMNS' "$err"
expect_exit 2 "labels that no view has" "$MEDLEY" train --model near.medley numbers.csv --view v=numbers.csv --label nope
expect_text "names them" '--label nope: no file has a column of that name' "$err"
cut -d, -f1,2 four.csv >bare.csv
expect_exit 0 "labels that only a view has" "$MEDLEY" train --quiet --model near.medley bare.csv --view v=four.csv --label label
expect_exit 0 "a model of numbers" "$MEDLEY" train --quiet --model rows.medley four.csv
expect_exit 3 "words for a model of numbers" "$MEDLEY" predict rows.medley tagged.txt
expect_text "says how the file was read" 'tagged.txt: this file was read as columns, and the model needs columns of numbers' "$err"

# ---- what single precision cannot tell apart, and what nothing can be learnt from ----
for start in 1700000000000 1700000000 1000; do # milliseconds, seconds
    (echo time,kind; for i in $(seq 40); do echo "$((start + i * 7 % 40)),k$((i * 7 % 40 < 20))"; done) >"from$start.csv"
    "$MEDLEY" train --model near.medley --json "from$start.csv" >"$out" 2>"$err"
done
refute_text "small numbers are not warned of" 'single precision' "$err"
for start in 1700000000000 1700000000; do
    "$MEDLEY" train --model near.medley "from$start.csv" >"$out" 2>"$err"
    expect_text "times from $start are warned of" "warning: column 'time' has values about 1.7e.*subtract a number near them first" "$err"
done
(echo a,age; for i in $(seq 90); do echo "$((i * 7 % 13)),$((20 + i * 11 % 31))"; done) >age.csv
"$MEDLEY" train --model near.medley age.csv >"$out" 2>"$err"
expect_text "ages are warned of" "31 different whole numbers in 90 rows \(column 'age'\) are taken for classes; use --task regression" "$err"
"$MEDLEY" train --model near.medley --task multiclass age.csv >"$out" 2>"$err"
refute_text "unless they are meant as classes" 'taken for classes' "$err"
(echo a,age; for i in $(seq 900); do echo "$((i * 7 % 13)),$((20 + i * 11 % 31))"; done) >age.csv
"$MEDLEY" train --model near.medley --method best --epochs 1 age.csv >"$out" 2>"$err"
expect_text "ages in many rows are warned of, too" "31 different whole numbers in 900 rows" "$err"
(echo a,digit; for i in $(seq 900); do echo "$((i * 7 % 13)),$((i * 11 % 31))"; done) >codes.csv
"$MEDLEY" train --model near.medley --method best --epochs 1 codes.csv >"$out" 2>"$err"
refute_text "codes from 0 on are classes" 'taken for classes' "$err"
(echo a,price; for i in $(seq 90); do echo "$((i * 7 % 13)),$((i % 89)).5"; done) >price.csv
expect_exit 3 "prices" "$MEDLEY" train --model near.medley price.csv
refute_text "are not called whole numbers" 'whole numbers' "$err"
(echo a,kind; for i in $(seq 40); do echo "5,k$((i % 2))"; done) >constant.csv
expect_exit 0 "a constant column" "$MEDLEY" train --model near.medley --json constant.csv
expect_text "leaves nothing to learn" 'warning: every block was left out' "$err"
expect_text "in the JSON as well" '"warnings":\["every block was left out' "$out"
expect_exit 2 "a model that is not called so" "$MEDLEY" train four.csv model.bin
expect_text "says why it is none" "'model.bin' is not taken for it, since its name does not end in .medley" "$err"

expect_exit 2 "demo: a file" "$MEDLEY" demo mine.csv
expect_text "demo: has data of its own" "'mine.csv' was not expected; the demo makes its own data" "$err"
expect_exit 2 "no rows" "$MEDLEY" generate blobs --rows 0 --output none.csv
expect_text "no rows: the least" "rows must be at least 1" "$err"

# ---- sparse rows ----
awk 'BEGIN { for (i = 0; i < 60; i++) print 2 * (i % 2) - 1, "1:" 1000 * (i % 7) + 1, 2 + i % 40 ":" 0.2 }' >uneven.svm
"$MEDLEY" train --model near.medley uneven.svm >"$out" 2>"$err"
expect_text "sparse columns of very different size are warned of" "warning: sparse columns differ greatly in magnitude \(column 1 goes up to 6e\+03, column 2 to 0.2\).*--scale maxabs" "$err"
for kind in maxabs none; do
    "$MEDLEY" train --model near.medley --scale "$kind" uneven.svm >"$out" 2>"$err"
    refute_text "with --scale $kind they are not" 'differ greatly in magnitude' "$err"
done

# ---- held-out data, standard output, samples ----
(echo a,b,kind; for i in $(seq 60); do echo "$((i * 7 % 13)),$((i % 5)),k$((i * 7 % 13 > 6))"; done) >kinds.csv
sed 's/k[01]$/z/' kinds.csv >strangers.csv
for command in "train --model near.medley" path; do
    # shellcheck disable=SC2086
    expect_exit 0 "$command: held-out labels that training does not have" "$MEDLEY" $command --method spom --dev strangers.csv --json kinds.csv
    expect_text "$command: are warned of" "warning: 60 of 60 held-out rows have labels that training does not have, such as 'z'" "$err"
done
expect_text "in the JSON, too" '"warnings":\["60 of 60 held-out rows' "$out"
"$MEDLEY" train --model near.medley --method spom --dev kinds.csv kinds.csv >"$out" 2>"$err"
refute_text "known ones are not" 'held-out rows have' "$err"
expect_exit 2 "a model and a summary in one place" "$MEDLEY" train --model - kinds.csv
expect_text "are kept apart" 'summary is written to standard output as well; add --quiet' "$err"
expect_exit 2 "a model and JSON in one place" "$MEDLEY" train --model /dev/stdout --json kinds.csv
expect_text "are kept apart, too" 'the JSON is written to standard output as well; leave out --json' "$err"
expect_exit 0 "a model alone" "$MEDLEY" train --model - --quiet kinds.csv
cp "$out" alone.medley
expect_exit 0 "can be read" "$MEDLEY" eval alone.medley kinds.csv
expect_exit 2 "kernel values and JSON in one place" "$MEDLEY" kernel --output - --json --kernel linear kinds.csv
awk 'BEGIN { srand(1); print "a,b,kind"; for (i = 0; i < 600; i++) print rand() "," rand() ",k" int(2 * rand()) }' >chance.csv
"$MEDLEY" train --quiet --model chance.medley --kernel 'rbf(sigma=0.01)' --C 100 --sample 100 chance.csv
"$MEDLEY" eval --json chance.medley --sample 100 chance.csv >"$out"
check "a sample to measure on is not the one that was learnt" above 0.75 "$(key accuracy "$out")"

# ---- files that other programs wrote ----
told() { # told PATTERN WHAT TEXT: a file with this text is refused
    printf "$3" >other.csv
    expect_exit 3 "$2" "$MEDLEY" train --model near.medley other.csv
    expect_text "$2: what to do" "$1" "$err"
}
told 'separated by commas, semicolons or tabs, not by blanks' "blanks between columns" 'a b label\n1 2 x\n2 3 y\n'
told 'looks like a comment; remove that line' "a comment above the header" '# made by hand\na,b,label\n1,2,x\n2,3,y\n'
told 'carriage return alone' "line ends of old files" 'a,b,label\r1,2,x\r2,3,y\r'
told 'leave out the %' "percentages" 'a,b,label\n5%%,2,x\n6%%,3,y\n'
told 'write dates as numbers' "dates" 'a,b,label\n2026-01-31,2,x\n2026-02-01,3,y\n'
told 'write 1 and 0' "truth values" 'a,b,label\nTrue,2,x\nFalse,3,y\n'
told 'remove the comma if it separates thousands' "thousands" 'a,b,label\n"1,234",2,x\n"2,000",3,y\n'
told 'remove the comma if it separates thousands' "millions" 'a,b,label\n"-1,234,567.5",2,x\n"2,000",3,y\n'
told 'decimal point in place of the comma' "decimal commas" 'a;b;label\n1,25;2;x\n2,5;3;y\n'
told "holds 'Rome'.* --ignore city,4,kind, .* --label" "columns of text are listed" \
    'a,city,b,"my kind",kind,label\n1,Rome,3,p,q,x\n2,Bonn,2,q,q,y\n'

# ---- values that are no numbers ----
for text in NA '?' N/A null; do
    printf 'a,b,label\n0,0,x\n1,%s,y\n' "$text" >missing.csv
    expect_exit 3 "missing values" "$MEDLEY" train --model near.medley missing.csv
    expect_text "called $text" "missing.csv:3: missing value .* in column 2 \('b'\); fill it in or remove the row" "$err"
done
printf 'a;b;label\n0;0;x\n1;0,25;y\n' >comma.csv
expect_exit 3 "decimal commas" "$MEDLEY" train --model near.medley comma.csv
expect_text "have a remedy" "holds '0,25', expected a number; write a decimal point" "$err"
printf 'a,b,label\n0,red,x\n' >red.csv
expect_exit 3 "words for a model of numbers" "$MEDLEY" predict rows.medley red.csv
expect_text "have no place" "holds 'red', expected a number, as in training" "$err"

# ---- columns that are left out ----
(echo id,a,b,label,note; for i in $(seq 20); do echo "$i,0.$i,$((i % 7)),c$((i % 2)),text"; done) >notes.csv
expect_exit 3 "a column of text" "$MEDLEY" train --model near.medley --label label notes.csv
expect_text "how to leave it out" "\('note'\) holds 'text', expected a number; leave the column out by --ignore" "$err"
expect_exit 0 "is left out" "$MEDLEY" train --json --model near.medley --ignore note,id notes.csv
refute_text "then nothing is warned of" 'counts the rows' "$err"
expect_text "and the label is found" '"examples":20' "$out"
expect_exit 0 "the model reads its columns by name" "$MEDLEY" predict near.medley notes.csv
expect_exit 0 "a column that numbers the rows" "$MEDLEY" train --json --model near.medley --ignore 5 notes.csv
expect_text "is warned of" "column 'id' only counts the rows, .* --ignore id" "$err"
awk -F, 'NR == 1 { print "patient_id," $0; next } { print (NR * 7919) % 10007 "," $0 }' good.csv >ids.csv
expect_exit 0 "a column of identifiers in no order" "$MEDLEY" train --model near.medley --epochs 1 --method spom ids.csv
expect_text "is warned of, too" "column 'patient_id' has a different whole number in each row, .* --ignore patient_id" "$err"
cut -d, -f 2-4 notes.csv | tail -n +2 >bare.csv
(cut -d, -f 2-4,1 notes.csv | tail -n +2 | awk -F, -v OFS=, '{ print $2, $3, $4, $1 }') >last.csv
expect_exit 0 "the label is the last that is left" "$MEDLEY" train --json --header no --model last.medley --ignore 4 last.csv
expect_text "of two classes" '"task":"binary"' "$out"
expect_exit 0 "without a header" "$MEDLEY" eval last.medley bare.csv
refuse "a column that there is not" "there is no column 'nope'; the columns are 'id', 'a'" --ignore nope notes.csv
(echo class,a,b,target; for i in $(seq 20); do echo "k$((i % 3)),0.$i,$((i % 7)),c$((i % 2))"; done) >two.csv
expect_exit 0 "a column that would be the label is left out" "$MEDLEY" train --json --model two.medley --ignore class two.csv
expect_text "another is it" '"task":"binary"' "$out"
refuse "a label that is left out" "is to be the label and to be left out" --label class --ignore class two.csv
cut -d, -f 2- notes.csv | cut -d, -f 1-3 >dev.csv
expect_exit 0 "held-out data need not have the column" "$MEDLEY" train --quiet --model dev.medley --method spom --epochs 2 --ignore id,note --dev dev.csv notes.csv
expect_exit 0 "nor do new ones" "$MEDLEY" eval dev.medley --ignore id dev.csv
expect_exit 2 "a group that is not here" "$MEDLEY" eval --help=kernels
refute_text "is not suggested" 'did you mean --help=kernels' "$err"
