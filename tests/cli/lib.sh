# shellcheck shell=bash
# For the tests of the command: source it first. It gives
#
#   $MEDLEY $MEDLEY_BUILD                the command and the build folder (from scripts/run-tests)
#   $work                                an empty folder, removed at the end
#   check NAME COMMAND...                the command succeeds
#   expect_exit CODE NAME COMMAND...     it ends with CODE; the files $out and $err keep what it said
#   expect_text NAME PATTERN FILE        a line of FILE matches (extended regular expression)
#   refute_text NAME PATTERN FILE        no line does
#   skip NAME REASON                     NAME cannot be tested here
#   key NAME FILE                        value of a top-level number or word of a JSON object
#   above A B                            is A at least B? (numbers)
#   tagged SENTENCES SEED                prints sentences: word, part of speech, chunk label
#
# Each prints "ok - NAME", "not ok - NAME" with what was seen, or "skip - NAME: REASON", and the
# script's exit code is 1 if anything failed. Each of the first four returns whether it held, so that
# what depends on it can be left out: `expect_exit 0 trains ... || exit`.

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    echo "lib.sh is not a test: tests source it" >&2
    exit 2
fi

set -u
: "${MEDLEY:=$(dirname "${BASH_SOURCE[0]}")/../../build/medley}"
: "${MEDLEY_BUILD:=$(dirname "$MEDLEY")}"
export MEDLEY MEDLEY_BUILD

work=$(mktemp -d)
own=$(mktemp -d) # apart from $work, so that tests may list or fill that
out=$own/out
err=$own/err
failures=0
: >"$out"
: >"$err"

finish() {
    local status=$?
    if [ "$status" -ne 0 ] && [ "$failures" -eq 0 ]; then
        echo "not ok - $(basename "$0" .sh) runs to its end"
        echo "    it stopped with exit code $status"
        failures=1
    fi
    rm -rf "$work" "$own"
    [ "$failures" -eq 0 ] || exit 1
    exit 0
}
trap finish EXIT
trap 'exit 130' INT TERM

show() { # show FILE [TITLE]
    [ -s "$1" ] || return 0
    [ $# -lt 2 ] || echo "    $2:"
    tail -n 40 "$1" | sed 's/^/    | /'
}

passed() {
    echo "ok - $1"
}

failed() {
    echo "not ok - $1"
    failures=$((failures + 1))
}

check() {
    local name=$1 status
    shift
    "$@" >"$own/check" 2>&1
    status=$?
    if [ "$status" -eq 0 ]; then
        passed "$name"
        return 0
    fi
    failed "$name"
    echo "    exit code $status from: $*"
    show "$own/check"
    return 1
}

expect_exit() {
    local expected=$1 name=$2 status
    shift 2
    "$@" >"$out" 2>"$err"
    status=$?
    if [ "$status" -eq "$expected" ]; then
        passed "$name"
        return 0
    fi
    failed "$name"
    echo "    exit code $status, expected $expected, from: $*"
    show "$out" "standard output"
    show "$err" "standard error"
    return 1
}

expect_text() {
    if grep -Eq -e "$2" -- "$3"; then
        passed "$1"
        return 0
    fi
    failed "$1"
    echo "    no line matches: $2"
    show "$3" "the text"
    return 1
}

refute_text() {
    : >"$own/found"
    if [ -r "$3" ] && ! grep -En -e "$2" -- "$3" >"$own/found"; then
        passed "$1"
        return 0
    fi
    failed "$1"
    echo "    must not match: $2"
    [ -r "$3" ] || echo "    cannot read $3"
    show "$own/found"
    return 1
}

skip() {
    echo "skip - $1: $2"
}

# ---- what several tests need ----

key() { sed -E "s/.*\"$1\":(\"([^\"]*)\"|([^,}]*)).*/\2\3/" "$2"; }
above() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }'; }

# The word run can be a noun or a verb and nouns start a chunk or continue one, so that context
# matters. The random numbers are its own: every awk has others.
tagged() {
    awk -v sentences="$1" -v state="$2" '
        function below(n) { state = (state * 16807) % 2147483647; return int(state / 2147483647 * n) }
        function say(words, tag, label) { print words[1 + below(length_of[tag])], tag, label }
        BEGIN {
            length_of["DT"] = split("the a this every", determiner, " ")
            length_of["JJ"] = split("big red old", adjective, " ")
            length_of["NN"] = split("dog cat house boy river stone run", noun, " ")
            length_of["VB"] = split("runs sees eats finds run", verb, " ")
            length_of["IN"] = split("in on by", preposition, " ")
            for (s = 0; s < sentences; s++) {
                say(determiner, "DT", "B-NP")
                while (below(5) < 2) say(adjective, "JJ", "I-NP")
                say(noun, "NN", "I-NP")
                say(verb, "VB", "B-VP")
                if (below(2)) {
                    say(preposition, "IN", "B-PP")
                    say(noun, "NN", "B-NP")
                }
                print ". . O\n"
            }
        }'
}

# unpack_optima REF: K.npy and y.npy of the reference problem of three classes, here; or says why not
unpack_optima() {
    local file=$1/multiclass/iris60.npz
    if [ ! -f "$file" ]; then
        skip "known optima" "there is no $file; set MEDLEY_REF"
        return 1
    elif ! unzip -qo "$file" 2>/dev/null && ! python3 -m zipfile -e "$file" . 2>/dev/null; then
        skip "known optima" "neither unzip nor python3 to unpack iris60.npz with"
        return 1
    fi
}
