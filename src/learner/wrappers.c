/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods that SpicyMKL is compared with: the same problem, the same certificate, other
 * solvers. The two baselines are the batch forms of online methods. */
#include "batch/wrappers.h"
#include "learner/path.h"

extern const md_method md_method_gauss_seidel, md_method_simplemkl;
extern const md_method md_method_batch_average, md_method_batch_best;

const md_method md_method_gauss_seidel = {
    .about = &(const md_about){.name = "gauss-seidel",
                               .summary = "for comparison: as spicy, by turns between kernel "
                                          "weights and an SVM (lp-MKL)",
                               .takes = MD_BATCH_TAKES},
    .needs_kernels = true,
    .kind = &md_batch_kind,
    .fit = md_fit_batch,
    .fit_path = md_fit_batch_path,
    .solve = md_batch_gauss_seidel,
};
const md_method md_method_simplemkl = {
    .about = &(const md_about){.name = "simplemkl",
                               .summary = "for comparison: as spicy, by reduced gradients on "
                                          "kernel weights (SimpleMKL)",
                               .takes = MD_BATCH_TAKES},
    .needs_kernels = true,
    .kind = &md_batch_kind,
    .fit = md_fit_batch,
    .fit_path = md_fit_batch_path,
    .solve = md_batch_simplemkl,
};
const md_method md_method_batch_average = {
    .about = &(const md_about){.name = "average", .takes = MD_BATCH_TAKES},
    .suits = md_batch_suits,
    .penalty = "l2",
    .needs_kernels = true,
    .kind = &md_batch_kind,
    .fit = md_fit_batch,
    .solve = md_batch_average,
    .largest_C = md_batch_average_C,
};
const md_method md_method_batch_best = {
    .about = &(const md_about){.name = "best", .takes = MD_BATCH_TAKES},
    .suits = md_batch_suits,
    .needs_kernels = true,
    .kind = &md_batch_kind,
    .fit = md_fit_batch,
    .solve = md_batch_best,
};
