/* SPDX-License-Identifier: BSD-3-Clause */
/* MD_VECTOR in front of a static function's definition compiles it once for each generation of
 * processor and lets the loader choose, so a portable binary runs the wide code where it can. */
#ifndef MD_VECTOR_H
#define MD_VECTOR_H

#include <features.h>

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(MEDLEY_SANITIZED) && !defined(__AVX2__)
#if defined(__clang__)
/* clang clones only static functions well, and knows features rather than levels */
#define MD_VECTOR __attribute__((target_clones("default", "avx2", "avx512f")))
#elif __GNUC__ >= 12
/* levels, not models such as haswell: those match that very processor only */
#define MD_VECTOR __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define MD_VECTOR
#endif
#else
#define MD_VECTOR /* one version: other machines, sanitizers, or -march=native */
#endif

#endif
