/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a training run: a struct and a table, both made of the rows of options.def. */
#ifndef MD_OPTIONS_H
#define MD_OPTIONS_H

#include "comm/comm.h"
#include "medley/options.h"
#include "medley/structure.h"
#include "param/param.h"

typedef enum md_roots { MD_ROOTS_ONE, MD_ROOTS_MANY } md_roots;
typedef enum md_device_storage {
    MD_DEVICE_AUTO,
    MD_DEVICE_FLOAT16,
    MD_DEVICE_FLOAT32
} md_device_storage;
typedef enum md_storage { MD_STORAGE_FLOAT32, MD_STORAGE_FLOAT64 } md_storage;
typedef enum md_schedule {
    MD_RATE_AUTO,
    MD_RATE_SQRT,
    MD_RATE_EPOCH,
    MD_RATE_INVERSE,
    MD_RATE_CONSTANT
} md_schedule;
typedef enum md_mix { MD_MIX_ROUND, MD_MIX_EPOCH } md_mix;
typedef enum md_bigram {
    MD_BIGRAM_AUTO,
    MD_BIGRAM_FIXED,
    MD_BIGRAM_LEARNED,
    MD_BIGRAM_NONE
} md_bigram;

/* C types of the kinds of values. Strings may be NULL: none. Numbers: NaN and 0 as the help says.
 */
#define MD_VALUE_DOUBLE double
#define MD_VALUE_INT    long long
#define MD_VALUE_SIZE   size_t
#define MD_VALUE_FLAG   bool
#define MD_VALUE_CHOICE int
#define MD_VALUE_STRING char *
#define MD_VALUE_LIST   char **

/* In the order of the rows. NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct medley_options {
    medley_structure *structure; /* that the program has brought, or NULL; first, since rows come */
    medley_comm *comm;           /* who learns together; borrowed, NULL: the process is alone */
    bool along_path;             /* lambda falls from model to model (medley_fit_path) */
#define MD_OPTION(variable, kind, ...) MD_VALUE_##kind variable;
#include "settings/options.def"
#undef MD_OPTION
};

MD_OWNER(medley_options_free, medley_options)

/* What md_param.roles says of an option. */
typedef enum md_role {
    MD_ROLE_KEYLESS = 1 << 0,   /* may differ between a run and the one that resumes it */
    MD_ROLE_KERNELS = 1 << 1,   /* has a say in which kernel values there are */
    MD_ROLE_UNDIVIDED = 1 << 2, /* is one value for tune, whatever commas are in it */
    MD_ROLE_BARS = 1 << 3       /* has commas in its values: for tune, bars stand between them */
} md_role;

extern const md_param md_option_table[]; /* concerns: of md_takes (about.h) */

extern const char *const md_task_names[]; /* "auto", then those of tasks.def (task/tasks.c) */

/* options: NULL: defaults. */
medley_status md_options_copy(medley_options **copy, const medley_options *options,
                              medley_error *error);

/* Back to the defaults of all options that concern one of these (about.h). */
medley_status md_options_reset(medley_options *options, unsigned concerns, medley_error *error);

/* kernel_specs.c: all kernel specs: those given one by one and those in files. *specs is NULL if
 * there are none; the caller frees it with md_texts_free. */
medley_status md_options_kernels(char ***specs, const medley_options *options, medley_error *error);

/* "auto" gives NaN, "none" gives infinity (where allowed), a positive number itself. */
medley_status md_options_number(double *value, const char *name, const char *text, bool allow_none,
                                medley_error *error);

/* lambda from whichever of lambda, C and spicy-C was given. Batch methods choose
 * it by the kernels where none was (md_options_has_strength). */
bool md_options_has_strength(const medley_options *options);
medley_status md_options_lambda(double *lambda, const medley_options *options, double default_C,
                                size_t examples, medley_error *error);

#endif
