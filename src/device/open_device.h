/* SPDX-License-Identifier: BSD-3-Clause */
/* Which device there is, and its functions with the library's errors. */
#ifndef MD_OPEN_DEVICE_H
#define MD_OPEN_DEVICE_H

#include "base/base.h"
#include "device/device.h"

typedef struct md_device md_device;

/* By a description: "cpu" is NULL; "cuda" or "cuda:1" a card, and an error where it cannot be used;
 * "auto" a card where it can, else NULL, and why in reason[MD_DEVICE_MESSAGE], which is "" where
 * nobody would expect one. */
medley_status md_device_open(md_device **device, const char *description, char *reason,
                             medley_error *error);
void md_device_close(md_device *device);
MD_OWNER(md_device_close, md_device)

/* Can this be the description of a device? */
medley_status md_device_check(const char *description, medley_error *error);
/* "cpu": nothing is looked for; "auto": it has to be worth it; others: a card, or an error. */
bool md_device_is_cpu(const char *description);
bool md_device_is_auto(const char *description);

const char *md_device_name(const md_device *device); /* "NVIDIA H200" */

/* ---- the functions of device.h ---- */

typedef struct md_device_bank md_device_bank;
typedef struct md_device_scores md_device_scores;
typedef struct md_device_matrices md_device_matrices;

medley_status md_device_bank_create(md_device_bank **bank, const md_device *device,
                                    const md_device_layout *layout, const md_device_rows *rows,
                                    bool precise, medley_error *error);
void md_device_bank_free(md_device_bank *bank);
MD_OWNER(md_device_bank_free, md_device_bank)
void md_device_bank_count(const md_device_bank *bank, size_t *computed, size_t *found);

medley_status md_device_scores_create(md_device_scores **scores, const md_device_bank *bank,
                                      const md_device_slots *slots, medley_error *error);
void md_device_scores_free(md_device_scores *scores);
MD_OWNER(md_device_scores_free, md_device_scores)

medley_status md_device_add(md_device_scores *scores, const size_t *rows, size_t count,
                            const float *change, bool precisely, medley_error *error);
medley_status md_device_add_others(md_device_scores *scores, const md_device_rows *rows,
                                   const float *change, medley_error *error);
medley_status md_device_expect(md_device_scores *scores, const size_t *rows, size_t count,
                               medley_error *error);
medley_status md_device_open_rows(md_device_scores *scores, const size_t *rows, size_t count,
                                  md_device_opened *opened, medley_error *error);
/* Memory that scores are read to; false: that is not to be had, and changes nothing. */
bool md_device_pin(const md_device_scores *scores, void *memory, size_t bytes);
void md_device_unpin(const md_device_scores *scores, void *memory);
medley_status md_device_read(md_device_scores *scores, size_t slot, float *out,
                             medley_error *error);
medley_status md_device_write(md_device_scores *scores, size_t slot, const float *in,
                              medley_error *error);
/* Cannot fail where it is called: what goes wrong is told by the next one that can. */
void md_device_scale(md_device_scores *scores, size_t slot, size_t first, size_t count,
                     float factor);

medley_status md_device_matrices_create(md_device_matrices **matrices, const md_device_bank *bank,
                                        medley_error *error);
void md_device_matrices_free(md_device_matrices *matrices);
MD_OWNER(md_device_matrices_free, md_device_matrices)

medley_status md_device_multiply(md_device_matrices *matrices, const size_t *kernels, size_t count,
                                 const double *x, size_t stride, double *norm2, double *y,
                                 medley_error *error);
medley_status md_device_squares(md_device_matrices *matrices, double *square, medley_error *error);
medley_status md_device_sum(md_device_matrices *matrices, const size_t *kernels, size_t count,
                            const double *weight, double *sum, medley_error *error);
medley_status md_device_multiply_sum(md_device_matrices *matrices, const double *x, double *y,
                                     medley_error *error);
medley_status md_device_column(md_device_matrices *matrices, size_t row, double *column,
                               medley_error *error);

#endif
