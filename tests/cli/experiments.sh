#!/usr/bin/env bash
# The experiments, from end to end, on some rows of their data: every script of experiments/ writes its table and figures.
source "$(dirname "$0")/lib.sh"
root=$(realpath "$(dirname "$0")/../..")
cd "$work" || exit 1
data=${MEDLEY_DATA:-$root/../shared/data}
if [ ! -d "$data" ] || ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    skip "experiments" "they need their data (MEDLEY_DATA) and Python 3.9"
    exit 0
fi
if [[ $MEDLEY_BUILD == *asan* ]]; then
    skip "experiments" "they try the scripts, not the command"
    exit 0
fi

cat >cut.py <<'PROGRAM'
"""The data that the scripts read, but little of them."""
import gzip, sys
from pathlib import Path

source, target = map(Path, sys.argv[1:])

def lines(name):
    return gzip.open(source / name, "rt", encoding="utf-8").read().splitlines(keepends=True)

def write(name, kept):
    path = target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as file:
        file.writelines(kept)

def sentences(name, count):
    kept = []
    for line in lines(name):
        kept.append(line)
        count -= not line.strip()
        if not count:
            break
    write(name, kept)

write("ocr/letter.data.gz",
      [line for line in lines("ocr/letter.data.gz") if int(line.split("\t")[3]) % 8 == 0])
for part in ("train", "test"):
    sentences(f"conll2000/{part}.txt.gz", 300)
for part in ("train", "dev", "test"):
    sentences(f"ud-english-ewt/en_ewt-ud-{part}.conllu.gz", 40)
for path in [*source.glob("uci/*.csv.gz"), *source.glob("ida/*.csv.gz")]:
    name = f"{path.parent.name}/{path.name}"
    every = {"uci": 2, "ida": 1}[path.parent.name]
    write(name, [line for i, line in enumerate(lines(name)) if i == 0 or i % every == 0][:520])
PROGRAM
python3 cut.py "$data" data || exit 1
cp -r "$root/experiments" . && rm -rf experiments/*/results
for folder in mfeat mnist; do
    ln -s "$data/$folder" data/$folder
done
export MEDLEY_DATA=$work/data

# tables name the commit of the tree that they are made in
commit="no commit known"
if git init -q . 2>/dev/null && git add cut.py &&
    git -c user.name=t -c user.email=t@example.org commit -qm "data" 2>/dev/null; then
    commit="commit $(git rev-parse --short=10 HEAD)"
fi

# try NAME [OPTION...]: its script, quickly
try() {
    local name=$1
    expect_exit 0 "$name runs" python3 experiments/$name/run.py --quick "${@:2}" || return
    check "$name has a table" test -s experiments/$name/results/table.md
    expect_text "which names its commit" "$commit" experiments/$name/results/table.md
    check "and figures" test -n "$(ls experiments/$name/results/*.svg)"
}
try ocr
try parsing --template arc-form-upos --only epochs,rounds --epochs 2
try obscure --parts rows,combine
try theory
try spicy --parts uci,rate --jobs 2
expect_exit 0 "all experiments can be asked for at once" python3 experiments/all.py --quick --only chunking
expect_text "which says how they ended" "^  chunking +[0-9.]+ s  done" "$out"
expect_text "and of which commit they are" "^experiments of $commit" "$out"
expect_text "which the table has, too" "$commit" experiments/chunking/results/table.md
