/* SPDX-License-Identifier: BSD-3-Clause */
/* A function that is compiled once for each generation of processor, so that a portable binary runs
 * wide code where it can:
 *
 *     MD_VECTOR(double, sum, (const double *x, size_t n), (x, n))
 *     {
 *         ...
 *     }
 *
 * defines `static double sum(const double *x, size_t n)`. What it calls has to be inline to become
 * wide with it. MD_VECTOR_VOID is for functions without a result.
 *
 * The variant is chosen by a test at each call, not by the loader: sanitizers and other C libraries
 * than glibc know nothing of that. */
#ifndef MD_VECTOR_H
#define MD_VECTOR_H

typedef enum md_vector_level { MD_BASELINE, MD_AVX2, MD_AVX512 } md_vector_level;

/* The widest that this processor runs, or less where the environment variable MEDLEY_VECTORS asks
 * for it (baseline, avx2, avx512). Chosen when the program starts. */
extern md_vector_level md_vectors;

/* NOLINTBEGIN(bugprone-macro-parentheses): parameter lists bring their own */
#if defined(__x86_64__) && !defined(__AVX2__)
#define MD_FOR_AVX2 __attribute__((target("avx2,fma,bmi,bmi2,popcnt")))
#define MD_FOR_AVX512                                                                              \
    __attribute__((target("avx2,fma,bmi,bmi2,popcnt,avx512f,avx512vl,avx512bw,avx512dq")))
#define MD_VECTOR_OF(type, give, name, parameters, arguments)                                      \
    static inline __attribute__((always_inline)) type name##_body parameters;                      \
    MD_FOR_AVX2 static type name##_avx2 parameters                                                 \
    {                                                                                              \
        give name##_body arguments;                                                                \
    }                                                                                              \
    MD_FOR_AVX512 static type name##_avx512 parameters                                             \
    {                                                                                              \
        give name##_body arguments;                                                                \
    }                                                                                              \
    static __attribute__((noinline)) type name##_baseline parameters                               \
    {                                                                                              \
        give name##_body arguments;                                                                \
    }                                                                                              \
    static inline type name parameters                                                             \
    {                                                                                              \
        if (md_vectors == MD_AVX512)                                                               \
            give name##_avx512 arguments;                                                          \
        else if (md_vectors == MD_AVX2)                                                            \
            give name##_avx2 arguments;                                                            \
        else                                                                                       \
            give name##_baseline arguments;                                                        \
    }                                                                                              \
    static inline __attribute__((always_inline)) type name##_body parameters
#else /* one variant: other machines, or -march=native */
#define MD_VECTOR_OF(type, give, name, parameters, arguments) static type name parameters
#endif
#define MD_VECTOR(type, name, parameters, arguments)                                               \
    MD_VECTOR_OF(type, return, name, parameters, arguments)
#define MD_VECTOR_VOID(name, parameters, arguments)                                                \
    MD_VECTOR_OF(void, , name, parameters, arguments)
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
