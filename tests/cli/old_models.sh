#!/usr/bin/env bash
# Models that older versions have written are read and predict what they predicted (tests/model/old/README.md).
source "$(dirname "$0")/lib.sh"
old=$(cd "$(dirname "$0")/../model/old" && pwd)
eval "$(sed -n '/^options()/,/^}/p' "$old/make.sh")"
same() { # same THEN NOW: numbers up to rounding, everything else to the letter
    awk 'NR == FNR { line[FNR] = $0; lines = FNR; next }
         { count = split(line[FNR], then_, /[\t \/]/)
           if (split($0, now, /[\t \/]/) != count) exit bad = 1
           for (i = 1; i <= count; i++) {
               if (then_[i] == now[i]) continue
               gap = then_[i] - now[i]; size = then_[i] + 0
               if (then_[i] !~ /^-?[0-9]/ || gap * gap > 1e-8 * (1 + size * size)) { print FNR ": " line[FNR] "\n" FNR ": " $0; exit bad = 1 }
           } }
         END { exit bad || FNR != lines }' "$1" "$2"
}
data_of() {
    case $1 in
    rows | numbers) echo "$old/$1.csv" ;;
    sentences) echo "$old/sentences.txt" ;;
    trees | pruned) echo "$old/trees.conllu" ;;
    esac
}
cd "$work" || exit 1
count=0
for model in "$old"/*.medley; do
    name=$(basename "$model" .medley)
    kind=${name#*-}
    # shellcheck disable=SC2046
    expect_exit 0 "$name is read" "$MEDLEY" predict --model "$model" $(options "$kind") "$(data_of "$kind")"
    cp "$out" now
    check "$name predicts what it predicted" same "$old/$name.txt" now
    expect_exit 0 "$name can be looked at" "$MEDLEY" inspect "$model"
    count=$((count + 1))
done
check "there are models of formats 3 to 8" test "$count" -ge 22
written=$(od -A n -t u8 -j 8 -N 8 "$old/format7-rows.medley" | tr -d ' ')
check "the names tell the formats" test "$written" -eq 7
"$MEDLEY" train --quiet --model today.medley --epochs 1 "$old/rows.csv" >/dev/null
today=$(od -A n -t u8 -j 8 -N 8 today.medley | tr -d ' ')
check "there is a model of the format that is written today (tests/model/old/README.md)" \
    test -f "$old/format$today-rows.medley"
expect_exit 1 "predictions that differ are found" same <(echo 'a 0.5') <(echo 'a 0.51')
