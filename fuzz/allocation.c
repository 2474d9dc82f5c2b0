/* SPDX-License-Identifier: BSD-3-Clause */
/* Any other target with allocations that fail: a byte chooses which, two bytes the first allocation
 * that fails, another byte whether all others do as well; the rest is that target's input. Only the
 * program of this target has a malloc that can fail (entry.c). */
#include "fuzz.h"

static fuzz_target *const targets[] = {
#define FUZZ_TARGET(name) fuzz_##name,
#include "targets.def"
#undef FUZZ_TARGET
};

void fuzz_allocation(fuzz_input input)
{
    enum { OTHERS = sizeof targets / sizeof *targets - 1 }; /* this one is the last */
    fuzz_target *target = targets[fuzz_byte(&input) % OTHERS];
    const size_t countdown = fuzz_byte(&input) + 256U * fuzz_byte(&input);
    const bool forever = fuzz_byte(&input) % 2;
    fuzz_failures = (fuzz_failing){.countdown = countdown, .forever = forever};
    target(input);
    fuzz_failures = (fuzz_failing){0};
}
