#!/usr/bin/env bash
# A sample of scripts/kills: runs that are killed at random moments end in the same bytes as runs that are left
# alone. Then temporary files: those of the dead are removed by the next run, those of the living are not.
source "$(dirname "$0")/lib.sh"
root=$(dirname "$(realpath "$0")")/../..
cd "$work" || exit 1
count=30
[[ $MEDLEY_BUILD != *asan* ]] || count=6
check "killed runs go on" "$root/scripts/kills" "$MEDLEY_BUILD" --count $count --seed 1 --jobs 2

# ---- temporary files ----
"$MEDLEY" generate ringnorm --rows 300000 --output big.csv &
writer=$!
for _ in $(seq 3000); do
    stray=$(compgen -G 'medley-*.tmp') && [ -s "$stray" ] && break # it is locked once it is written to
    sleep 0.005
done
kill -STOP $writer
check "a file on its way has a name of its own" test -e "$stray"
ln -s two.csv "${stray%-*}-7.tmp"
mkdir "${stray%-*}-8.tmp"
touch medley-00000000-1-0.tmp medley-1-0.tmp # of another machine, of an earlier version
expect_exit 0 "another run in the folder" "$MEDLEY" generate ringnorm --rows 5 --output two.csv
check "leaves the file of a live process alone" test -e "$stray"
kill -KILL $writer
wait $writer 2>/dev/null
check "the file of a dead one is left" test -e "$stray"
expect_exit 0 "the next run" "$MEDLEY" generate ringnorm --rows 5 --output two.csv
check "removes it" test ! -e "$stray"
check "and nothing but that" test -h "${stray%-*}-7.tmp" -a -d "${stray%-*}-8.tmp" -a \
    -e medley-00000000-1-0.tmp -a -e medley-1-0.tmp
check "no file came of it" test ! -e big.csv
