#!/usr/bin/env bash
# The demo: the whole story, the report, and a folder that cannot be written to.
source "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
if [[ $MEDLEY_BUILD == *asan* ]]; then
    skip "the demo" "too slow with sanitizers"
    exit 0
fi

expect_exit 0 "medley demo" "$MEDLEY" demo || exit
expect_text "it draws words" '█' "$out"
expect_text "each kernel alone" '^the whole letter +[0-9.]+ %' "$out"
expect_text "their average" '^the average of all nine +[0-9.]+ %' "$out"
expect_text "all of them together" '^all nine, learnt together +[0-9.]+ %' "$out"
best=$(awk '/^(the|its|directions).* %  / { s = $0; sub(/ %.*/, "", s); sub(/.* /, "", s); if (s > b) b = s }
            END { print b }' "$out")
mixture=$(awk '/^all nine/ { print $5 }' "$out")
check "with this seed together they are best" above "$mixture" "$best"
expect_text "the weights as bars, under the names from above" '^the whole letter .*█' "$out"
expect_text "what to type next" '^  medley train --model my.medley' "$out"
check "the report is there" test -s medley-demo.html
expect_text "with the comparison" 'id="contender-dots"' medley-demo.html
expect_text "with the names of the kernels" '<th scope="row"><bdi>the whole letter</bdi>' medley-demo.html
expect_text "and what they are, in the table" '<bdi>rbf\(sigma2=5\)<wbr>@all</bdi>' medley-demo.html
expect_text "with held-out accuracy" 'Held-out accuracy' medley-demo.html
expect_text "against time" '>seconds<' medley-demo.html
expect_text "with words" 'class="letters"' medley-demo.html
expect_exit 0 "a folder that cannot be written to" "$MEDLEY" demo --json --seed 2 \
    --report none/demo.html
expect_text "is told" 'no report: none/demo.html' "$err"
expect_text "and the demo goes on" '"contenders":\[\{"name":"the whole letter","kernel":"rbf' "$out"
check "without a report" test "$(key report "$out")" = null
expect_exit 2 "a seed that is none" "$MEDLEY" demo --seed x
