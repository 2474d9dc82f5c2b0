/* SPDX-License-Identifier: BSD-3-Clause */
/* MD_VECTOR in front of a function's definition compiles it once for each generation of processor
 * and lets the loader choose, so a portable binary runs the wide code where there is any. */
#ifndef MD_VECTOR_H
#define MD_VECTOR_H

#include <features.h>

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(MEDLEY_SANITIZED) &&                     \
    !defined(__AVX2__) && (defined(__clang__) || __GNUC__ >= 9)
#define MD_VECTOR                                                                                  \
    __attribute__((target_clones("default", "arch=haswell", "arch=skylake-avx512")))
#else
#define MD_VECTOR /* one version: other machines, sanitizers, or -march=native */
#endif

#endif
