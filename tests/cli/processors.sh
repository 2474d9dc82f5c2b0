#!/usr/bin/env bash
# Other processors: the tests that depend on the order of sums (one seed one model, numbers of
# threads, resuming, order of rows, references) with each variant of the vector loops and other code
# of OpenBLAS, as far as this processor runs it. `make processors` runs all tests so.
source "$(dirname "$0")/lib.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)

readonly programs=(test_arc_weights test_block_state test_chain test_deferred test_features test_fit test_gram
    test_hard_problems test_kernel_laws test_method_laws test_online_optimum test_packed test_packed_exact
    test_incremental test_products test_solve test_special_cases test_spicy test_structure_laws
    test_task_laws test_tree_sum test_tune_honest test_working_set)

if [ "$(basename "$MEDLEY_BUILD")" != build ]; then
    skip "other processors" "once is enough: the tests of the build folder 'build' do it"
    exit 0
fi
[ -n "${MEDLEY_VECTORS-}${OPENBLAS_CORETYPE-}" ] && skip "other processors" "this is one" && exit 0

expect_exit 0 "a variant can be asked for" env MEDLEY_VECTORS=baseline "$MEDLEY" --version
expect_text "and is used" '^vectors: baseline$' "$out"
expect_exit 0 "one that is not known" env MEDLEY_VECTORS=abacus "$MEDLEY" --version
expect_text "is not obeyed" "^$("$MEDLEY" --version | tail -n 1)\$" "$out"

while read -r vectors core; do
    for program in "${programs[@]}"; do
        check "$program with $vectors loops, BLAS for $core" \
            env MEDLEY_VECTORS="$vectors" OPENBLAS_CORETYPE="$core" "$MEDLEY_BUILD/tests/$program"
    done
done < <("$root/scripts/processors" --list | head -n 2)
