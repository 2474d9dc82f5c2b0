/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/vector.h"

#include "base/base.h"
#include "medley/options.h"

static const char *const names[] = {
    [MD_BASELINE] = "baseline", [MD_AVX2] = "avx2", [MD_AVX512] = "avx512"};

md_vector_level md_vectors;

static md_vector_level widest(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("popcnt"))
        return MD_BASELINE;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
               ? MD_AVX512
               : MD_AVX2;
#else
    return MD_BASELINE;
#endif
}

/* A level that the processor cannot run is not obeyed. */
__attribute__((constructor)) static void choose_vectors(void)
{
    const char *wanted = getenv("MEDLEY_VECTORS");
    md_vectors = widest();
    for (md_vector_level level = MD_BASELINE; wanted != NULL && level < md_vectors; level++)
        if (strcmp(wanted, names[level]) == 0)
            md_vectors = level;
}

const char *medley_vectors(void)
{
    return names[md_vectors];
}
