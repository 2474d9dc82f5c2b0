#!/usr/bin/env bash
# Help, lists, the manual and completion: all from the same tables.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

expect_exit 0 "medley --help" "$MEDLEY" --help
commands=$(awk '/^  [a-z]/ { print $1 }' "$out")
check "it lists the commands" test "$(echo "$commands" | wc -l)" -ge 9
expect_exit 0 "medley --version" "$MEDLEY" --version
expect_text "it has a number" '^medley [0-9]+\.[0-9]+' "$out"
for command in $commands; do
    expect_exit 0 "medley $command --help" "$MEDLEY" "$command" --help
    expect_text "$command has a usage line" "^usage: medley $command" "$out"
    expect_text "$command has examples" '^examples:' "$out"
    refute_text "$command's help fits 80 columns, examples apart" '^([^ ]|  -|      ).{80}' "$out"
    expect_text "$command's help tells exit codes" '^exit codes: 0 fine, .*3 bad input' "$out"
    check "$command's help is short" test "$(wc -l <"$out")" -le "$([ "$command" = train ] && echo 50 || echo 70)"
    check "$command has a manual page" test -s "$MEDLEY_BUILD/man/medley-$command.1"
    expect_exit 0 "medley help $command" "$MEDLEY" help "$command"
    expect_exit 0 "medley $command --help=all" "$MEDLEY" "$command" --help=all
    refute_text "$command's options fit 80 columns" '^([^ ]|  -|      ).{80}' "$out"
    grep -oE '^  (-.,|   ) --[a-zA-Z0-9-]*' "$out" | grep -o -- '--.*' | sort >options
    check "$command has options" test -s options
    for option in $(cat options); do
        grep -q -- "$(echo "$option" | sed 's/-/\\\\-/g')" "$MEDLEY_BUILD/man/medley-$command.1" ||
            echo "$option"
    done >missing
    check "$command's manual has every option" test ! -s missing
    for option in $(cat options); do
        grep -q -- "_from $command' -l ${option#--} " "$MEDLEY_BUILD/man/medley.fish" &&
            sed -n "/^    $command)/,/;;/p" "$MEDLEY_BUILD/man/medley.zsh" | grep -Eq -- "['\*,]$option=?(\}')?\[" ||
            echo "$option"
    done >missing
    check "so have its completions for fish and zsh" test ! -s missing
    "$MEDLEY" "$command" --help=all | sed -nE 's/^  -(.), --([a-z]+).*/\1 \2/p' >letters
    printf 'h help\nV version\n' >>letters
    while read -r letter option; do
        grep -q -- "_from $command' -l $option -s $letter " "$MEDLEY_BUILD/man/medley.fish" &&
            sed -n "/^    $command)/,/;;/p" "$MEDLEY_BUILD/man/medley.zsh" |
            grep -Eq -- "\{-$letter\+?,--$option=?\}" || echo "$letter"
    done <letters >missing
    check "and letters" test ! -s missing
    expect_exit 0 "medley $command -V" "$MEDLEY" "$command" -V
    expect_text "tells the version" '^medley [0-9]' "$out"
done

# ---- groups ----
"$MEDLEY" train --help=all | grep -oE '^      --[a-zA-Z0-9-]*|^  -., --[a-zA-Z0-9-]*' | sort >all
for group in data kernels objective sequences trees online certified scale output; do
    expect_exit 0 "train --help=$group" "$MEDLEY" train --help=$group
    expect_text "$group is named in its help" "^$group: " "$out"
    cat "$out" >&3
done 3>groups
grep -oE '^      --[a-zA-Z0-9-]*|^  -., --[a-zA-Z0-9-]*' groups | sort >grouped
check "every option of train is in one group" cmp all grouped
check "everyday options are about fifteen" test "$("$MEDLEY" train --help | grep -cE '^  (-.,|   ) --')" -le 18
expect_exit 2 "no such group" "$MEDLEY" train --help=kernel
expect_text "the nearest is named" 'did you mean --help=kernels' "$err"
expect_exit 2 "a group of other commands" "$MEDLEY" inspect --help=trees
expect_exit 2 "one that is like none" "$MEDLEY" train --help=views
expect_text "all are named" 'there are data, kernels, .*, output, and all' "$err"

# ---- letters ----
for command in train predict eval tune path kernel; do
    "$MEDLEY" $command --help=all >"$out"
    expect_text "$command: -q is --quiet" '^  -q, --quiet' "$out"
done
expect_exit 0 "-V is --version" "$MEDLEY" -V
printf 'a,b,label\n0,0,x\n1,2,y\n0,1,x\n1,1,y\n' >"$work/four.csv"
expect_exit 0 "letters, with and without a blank" "$MEDLEY" train -q -j1 -m "$work/four.medley" "$work/four.csv"
check "-m is --model" test -s "$work/four.medley"
check "-q is silent once the model is written" bash -c '[ -z "$(cat "$1" "$2")" ]' - "$out" "$err"
expect_exit 0 "-o is --output" "$MEDLEY" predict -m "$work/four.medley" -o "$work/four.out" "$work/four.csv"
check "and writes there" test -s "$work/four.out"
expect_exit 2 "a letter that there is not" "$MEDLEY" train -x "$work/four.csv"
expect_text "is named" "'-x' is not an option of medley train" "$err"
expect_exit 2 "a letter without its value" "$MEDLEY" train "$work/four.csv" -m
expect_text "tells what is missing" '-m needs a value: -m FILE' "$err"
expect_exit 2 "a flag with a value" "$MEDLEY" train -quiet "$work/four.csv"
expect_text "says so" '-q takes no value' "$err"

# ---- models as words ----
cp "$work/four.csv" "$work/other.csv"
expect_exit 0 "predict MODEL DATA" "$MEDLEY" predict "$work/four.medley" "$work/four.csv"
expect_exit 0 "eval DATA MODEL" "$MEDLEY" eval "$work/four.csv" "$work/four.medley"
expect_exit 0 "inspect --model" "$MEDLEY" inspect --model "$work/four.medley"
expect_exit 0 "report --model" "$MEDLEY" report --model "$work/four.medley" "$work/four.csv" -o "$work/four.html"
expect_exit 0 "train DATA MODEL" "$MEDLEY" train "$work/four.csv" "$work/second.medley"
check "it is written" test -s "$work/second.medley"
cat "$work"/four.csv{,,,,} | awk 'NR == 1 || !/label/' >"$work/twenty.csv"
for command in "tune --cv 2 --C 1,2" "path --count 3"; do
    rm -f "$work/third.medley"
    expect_exit 0 "$command -q DATA MODEL" "$MEDLEY" $command -q "$work/twenty.csv" "$work/third.medley"
    check "it is written" test -s "$work/third.medley"
    check "and nothing is printed" bash -c '[ -z "$(cat "$1" "$2")" ]' - "$out" "$err"
done
expect_exit 2 "two files of data" "$MEDLEY" train "$work/four.csv" "$work/other.csv"
check "a file of data is not taken for a model" cmp "$work/four.csv" "$work/other.csv"
expect_exit 3 "predict without a model" "$MEDLEY" predict "$work/four.csv"
expect_text "says what the file is not" 'four.csv: this is not a Medley model' "$err"
expect_exit 0 "convert --from goes on meaning --format" "$MEDLEY" convert --from csv --to svmlight "$work/four.csv"

for kind in kernels penalties losses methods formats generators; do
    expect_exit 0 "medley list $kind" "$MEDLEY" list $kind
    check "$kind are listed" test "$(wc -l <"$out")" -ge 3
done
"$MEDLEY" list kernels >"$out"
for kernel in laplace chi2 rbf; do
    expect_text "$kernel says what sigma, sigma2 and gamma are" \
        "^  $kernel .*sigma2 = sigma\^2.*|^  $kernel .*gamma = 1/\(2 sigma2\), sigma2 = sigma\^2" "$out"
done
printf 'a,b,label\n0,0,x\n1,2,y\n' >"$work/two.csv"
"$MEDLEY" kernel --quiet --kernel 'laplace(sigma=2)' --kernel 'laplace(gamma=0.125)' --output "$work/two.npy" "$work/two.csv"
check "and laplace keeps to it: exp(-gamma ||x-z||_1)" python3 -c '
import math, struct, sys
a, b = struct.unpack("<8f", open(sys.argv[1], "rb").read()[-32:])[1::4]
assert a == b and abs(a - math.exp(-3 / 8)) < 1e-6, (a, b)' "$work/two.npy"
expect_exit 0 "medley list --json" "$MEDLEY" list --json
expect_text "kernels in JSON" '"name":"rbf"' "$out"
expect_exit 2 "an unknown list" "$MEDLEY" list kernel
expect_text "with the nearest" "did you mean 'kernels'" "$err"
check "completion is valid bash" bash -n "$MEDLEY_BUILD/man/medley.bash"
complete_words() { # complete_words WORD...: what bash would offer for the last word
    bash -c 'source "$MEDLEY_BUILD/man/medley.bash"; COMP_WORDS=(medley "$@"); COMP_CWORD=$#
        _medley; printf "%s\n" "${COMPREPLY[@]}"' - "$@"
}
complete_words tr >offered
expect_text "completion knows commands" '^train$' offered
complete_words train --pen >offered
expect_text "completion knows options" '^--penalty$' offered
if command -v fish >/dev/null 2>&1; then
    check "completion is valid fish" fish -n "$MEDLEY_BUILD/man/medley.fish"
    complete_fish() { # complete_fish LINE: what fish would offer at its end, without descriptions
        HOME=$work fish --private -c "source $MEDLEY_BUILD/man/medley.fish; complete -C '$1'" | cut -f 1
    }
    complete_fish "medley tr" >offered
    expect_text "fish knows commands" '^train$' offered
    complete_fish "medley train --pen" >offered
    expect_text "and options" '^--penalty$' offered
    complete_fish "medley list ker" >offered
    expect_text "and what is listed" '^kernels$' offered
else
    skip "completion of fish" "there is no fish here"
fi
if command -v zsh >/dev/null 2>&1; then
    check "completion is valid zsh" zsh -n "$MEDLEY_BUILD/man/medley.zsh"
    mkdir site && cp "$MEDLEY_BUILD/man/medley.zsh" site/_medley
    # An interactive shell is needed: it gets the line, a tab and the end of the line, and says what it has then.
    complete_zsh() { # complete_zsh LINE: the line after a tab
        HOME=$work zsh -f -c '
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell "fpath=($PWD/site \$fpath); autoload -Uz compinit; compinit -D -u"
            zpty -w shell "show() { print -r \"<\$BUFFER>\" >$PWD/line; exit }; zle -N show; bindkey \"^X\" show"
            zpty -w -n shell "$1"$'"'\t\x18'"'
            for ((i = 0; i < 100; i++)); do [[ -s line ]] && break; sleep 0.1; done
            zpty -d shell' - "$1" >/dev/null 2>&1
        cat line
        rm -f line
    }
    complete_zsh "medley tra" >offered
    expect_text "zsh knows commands" '^<medley train >$' offered
    complete_zsh "medley train --penal" >offered
    expect_text "and options" '^<medley train --penalty[= ]?>$' offered
    complete_zsh "medley list ker" >offered
    expect_text "and what is listed" '^<medley list kernels >$' offered
else
    skip "completion of zsh" "there is no zsh here"
fi
if command -v man >/dev/null 2>&1; then
    check "man reads the pages" bash -c 'man -l "$MEDLEY_BUILD/man/medley-train.1" | grep -q SYNOPSIS'
else
    skip "man reads the pages" "there is no man here"
fi

# ---- help that does not arrive ----
if [ -e /dev/full ]; then
    for words in --help help --version 'help train' 'train --help' 'list kernels'; do
        # shellcheck disable=SC2086
        expect_exit 1 "medley $words on a full disk" bash -c '"$MEDLEY" "$@" >/dev/full' - $words
        expect_text "medley $words: says so" 'could not be written' "$err"
    done
else
    skip "help that does not arrive" "/dev/full is not there"
fi
