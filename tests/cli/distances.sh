#!/usr/bin/env bash
# Kernels from distances (--distance): the kernel exp(-d/gamma) of the mean distance, in training and for new
# rows; bad distances.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
if ! python3 -c 'import struct' 2>/dev/null; then
    skip "distances" "there is no python3 to write the matrices"
    exit 0
fi

"$MEDLEY" generate twonorm --rows 120 --seed 3 --output all.csv --quiet || exit 1
# D.npy, K.npy: 80 rows with each other; D2.npy, K2.npy: the other 40 with these; by city blocks
cat >matrices.py <<'PROGRAM'
import csv, math, struct
with open("all.csv") as file:
    rows = [row for row in csv.reader(file)]
if not rows[0][0].replace(".", "").replace("-", "").replace("e", "").isdigit():
    names, rows = rows[0], rows[1:]
label = [row[-1] for row in rows]
x = [[float(v) for v in row[:-1]] for row in rows]
d = [[sum(abs(a - b) for a, b in zip(left, right)) for right in x[:80]] for left in x]
gamma = sum(map(sum, d[:80])) / (80 * 79)
k = [[math.exp(-v / gamma) for v in row] for row in d]

def write(path, rows):
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (len(rows), len(rows[0]))
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + header.ljust(117).encode() + b"\n")
        for row in rows:
            file.write(struct.pack("<%dd" % len(row), *row))

write("D.npy", d[:80]), write("K.npy", k[:80]), write("D2.npy", d[80:]), write("K2.npy", k[80:])
skew = [list(row) for row in d[:80]]
skew[0][1] += 1
write("skew.npy", skew)
skew[0][1] = skew[1][0] = -1
write("negative.npy", skew)
skew[0][1] = skew[1][0] = math.nan
write("nan.npy", skew)
write("one.npy", k[:80])
write("zero.npy", [[0.0] * 80 for _ in range(80)])
print("%.6g" % gamma)
for path, labels in (("labels.lst", label[:80]), ("labels2.lst", label[80:])):
    with open(path, "w") as file:
        file.write("\n".join(labels) + "\n")
PROGRAM
gamma=$(python3 matrices.py) || exit 1

train() { "$MEDLEY" train --model m.medley --labels labels.lst --quiet --json "$@"; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !((d < 0 ? -d : d) <= 1e-5 * b) }'; }
for method in spicy obscure spom frank-wolfe fista; do
    expect_exit 0 "$method: kernel values" train --method $method --gram K.npy
    known=$(key objective "$out")
    "$MEDLEY" predict --model m.medley --gram K2.npy >expected.txt
    expect_exit 0 "$method: distances" train --method $method --distance D.npy
    check "$method: have the same objective" near "$(key objective "$out")" "$known"
    expect_exit 0 "$method: new distances" "$MEDLEY" predict --model m.medley --distance D2.npy
    check "$method: and the same predictions" cmp expected.txt "$out"
done
expect_exit 0 "unit diagonal is what they have" train --method spicy --distance D.npy --normalize diag
expect_exit 0 "for new rows, too" "$MEDLEY" eval --model m.medley --distance near=D2.npy --labels labels2.lst
expect_exit 0 "beside kernel values" train --method spicy --gram values=K.npy --distance far=D.npy
expect_text "under names of their own" '"name":"far"' "$out"
check "with their gamma" near "$(grep -oE '"name":"far"[^}]*"gamma":[0-9.]+' "$out" | sed 's/.*://')" "$gamma"
expect_exit 0 "which inspect has" "$MEDLEY" inspect m.medley
expect_text "too" "^far: exp[(]-d/gamma[)] of distances d, gamma $gamma$" "$out"
refute_text "and of no other kernel" '^values:' "$out"
expect_exit 0 "they can be tuned with" "$MEDLEY" tune --labels labels.lst --distance D.npy --C 0.1,1 --quiet --output t.medley
expect_exit 0 "a report tells of them" train --method spicy --distance D.npy
expect_exit 0 "and measures on new ones" "$MEDLEY" report m.medley --output r.html --distance D2.npy --labels labels2.lst

# ---- bad use ----
refuse() { # refuse CODE TEXT NAME OPTIONS...
    local code=$1 text=$2 name=$3
    shift 3
    expect_exit "$code" "$name" "$MEDLEY" train --model bad.medley --labels labels.lst --quiet "$@"
    expect_text "$name: says why" "$text" "$err"
}
refuse 3 'not symmetric.*give \(D \+ D' "distances that are not symmetric" --distance skew.npy
refuse 3 'row 1, column 2 is -1.*0 or more' "a negative distance" --distance negative.npy
refuse 3 'row 1, column 2 is nan; distances must be finite' "no distance at all" --distance nan.npy
refuse 3 'column 1 is 1; a row has distance 0 to itself' "kernel values for distances" --distance one.npy
refuse 3 "distances 'distance1' are all 0.*leave them out" "distances that are all 0" --distance zero.npy
refuse 3 'not square' "distances of other rows" --distance D2.npy --labels labels2.lst
"$MEDLEY" train --model m.medley --labels labels.lst --quiet --method spicy --distance D.npy --folds 0-3/5 >/dev/null
expect_exit 3 "other folds of the same distances" "$MEDLEY" eval --model m.medley --labels labels.lst --distance D.npy --folds 4/5
expect_text "says what to give" 'has 16 columns, expected one for each of the 64 training rows; give a matrix of new rows by those .*--folds takes' "$err"
train --method spicy --distance D.npy >/dev/null
expect_exit 2 "kernel values where distances were" "$MEDLEY" predict --model m.medley --gram K2.npy
expect_text "says what to give" 'use --distance, not --gram' "$err"
train --method spicy --gram K.npy >/dev/null
expect_exit 2 "distances where kernel values were" "$MEDLEY" predict --model m.medley --distance D2.npy
expect_text "says what to give instead" 'use --gram, not --distance' "$err"
check "nothing is left of what was refused" test ! -e bad.medley

# ---- kernels that have names are found by them ----
"$MEDLEY" generate ringnorm --rows 90 --output rings.csv
cut -d, -f1-20 rings.csv | python3 -c '
import sys, struct
rows = [list(map(float, line.split(","))) for line in list(sys.stdin)[1:]]
def save(name, left, right, kernel):
    head = "{%s, %s, %s, }" % ("\"descr\": \"<f8\"".replace("\"", chr(39)), chr(39) + "fortran_order" + chr(39) + ": False",
                               chr(39) + "shape" + chr(39) + ": (%d, %d)" % (len(left), len(right)))
    head = head.ljust(117) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        for x in left:
            file.write(struct.pack("<%dd" % len(right), *(kernel(x, z) for z in right)))
dot = lambda x, z: sum(a * b for a, b in zip(x, z))
square = lambda x, z: (1 + dot(x, z)) ** 2 / 100
old, new = rows[:60], rows[60:]
save("old-a.npy", old, old, dot); save("old-b.npy", old, old, square)
save("new-a.npy", new, old, dot); save("new-b.npy", new, old, square)'
sed 1d rings.csv | cut -d, -f21 | head -60 >old.lst
sed 1d rings.csv | cut -d, -f21 | tail -30 >new.lst
both() { "$MEDLEY" "$1" --scores "$2" "${@:3}"; }
expect_exit 0 "two named kernels" "$MEDLEY" train --quiet --model named.medley --gram a=old-a.npy --gram b=old-b.npy --labels old.lst
both predict named.medley --gram a=new-a.npy --gram b=new-b.npy >named.txt
expect_exit 0 "in another order" both predict named.medley --gram b=new-b.npy --gram a=new-a.npy
check "the same scores" cmp "$out" named.txt
expect_exit 0 "without names, in the order of training" both predict named.medley --gram new-a.npy --gram new-b.npy
check "the same scores, too" cmp "$out" named.txt
expect_exit 2 "other names" both predict named.medley --gram a=new-a.npy --gram c=new-b.npy
expect_text "are refused" "learnt from a kernel 'b', and none of those given is called that \('c' stands in its place\)" "$err"
expect_exit 0 "kernels without names" "$MEDLEY" train --quiet --model plain.medley --gram old-a.npy --gram old-b.npy --labels old.lst
expect_exit 0 "may get names later" both predict plain.medley --gram a=new-a.npy --gram b=new-b.npy
check "and are found by their order" cmp "$out" named.txt
