/* SPDX-License-Identifier: BSD-3-Clause */
/* What a task or a method says of itself before it does anything: its name, and which options it
 * has a use for. An option names the groups it belongs to (param.h, concerns), and is refused where
 * neither the task nor the method takes one of them. */
#ifndef MD_ABOUT_H
#define MD_ABOUT_H

#include "settings/options.h"

typedef enum md_takes {
    /* methods */
    MD_TAKES_PENALTY = 1 << 0,     /* a penalty of the user's choice */
    MD_TAKES_STRENGTH = 1 << 1,    /* lambda, C, spicy-C */
    MD_TAKES_CERTIFICATE = 1 << 2, /* gap, max-iter, storage, ridge */
    MD_TAKES_ROUNDS = 1 << 3,      /* batch, average, average-from: of online learning */
    MD_TAKES_EPOCHS = 1 << 4,
    MD_TAKES_STAGES = 1 << 5,       /* epochs1, epochs2 */
    MD_TAKES_RATES = 1 << 6,        /* eta0, schedule, radius, prox-every, mix */
    MD_TAKES_NORM = 1 << 7,         /* p */
    MD_TAKES_BLOCKS = 1 << 8,       /* block-scale */
    MD_TAKES_STEPS = 1 << 9,        /* eta */
    MD_TAKES_CHECKPOINTS = 1 << 10, /* checkpoint, resume */
    MD_TAKES_TEMPLATES = 1 << 11,
    MD_TAKES_BOUND = 1 << 13,    /* certify */
    MD_TAKES_GAP = 1 << 14,      /* gap, certify */
    MD_TAKES_WEIGHTS = 1 << 15,  /* block-weight */
    MD_TAKES_PATIENCE = 1 << 12, /* which waits for held-out data, and without them is idle */

    MD_TAKES_GROUPS = 1 << 22,
    MD_TAKES_PROXIMAL = 1 << 23, /* spicy-gamma, spicy-growth */

    /* tasks */
    MD_TAKES_KERNELS = 1 << 16,       /* kernel, views, scale, normalize ... */
    MD_TAKES_WORDS = 1 << 17,         /* min-count: features of templates are in a dictionary */
    MD_TAKES_CONTEXT = 1 << 18,       /* order, bigram-ends: labels look back on others */
    MD_TAKES_SHARED = 1 << 21,        /* bigram: weights that all rows share */
    MD_TAKES_ARCS = 1 << 19,          /* tags, roots, projective, prune, unlabelled */
    MD_TAKES_PROBABILITIES = 1 << 20, /* calibrate */
} md_takes;

/* What methods of one kind have a use for in any case: on whole matrices; in rounds; and in rounds
 * on any blocks, one run after all. */
enum {
    MD_BATCH_TAKES =
        MD_TAKES_PENALTY | MD_TAKES_STRENGTH | MD_TAKES_CERTIFICATE | MD_TAKES_PATIENCE,
    MD_LOOP_TAKES = MD_TAKES_STRENGTH | MD_TAKES_ROUNDS | MD_TAKES_PATIENCE,
    MD_ALL_BLOCKS = MD_TAKES_BLOCKS | MD_TAKES_WEIGHTS | MD_TAKES_TEMPLATES | MD_TAKES_CHECKPOINTS
};

typedef struct md_held {
    const char *option, *value;
} md_held;

typedef struct md_about {
    const char *name, *summary;
    unsigned takes;       /* of md_takes */
    const md_held *holds; /* options that have this value here although nobody gave it, so that it
                             may be said; a row without a name ends them. NULL: none */
} md_about;

/* ---- check.c: options that have no use in a run are a misunderstanding, and refused ---- */

/* A task, a method or a place that decides which options a run has a use for. */
typedef struct md_party {
    const char *kind;               /* "task", "method"; NULL: the name says it all */
    md_about (*list)(size_t index); /* all of the kind, then one without a name; NULL: no others */
    md_about about;                 /* the one of this run; without a name: left open */
} md_party;

/* One of the parties has a name at least. Refuses the first option that differs from its default,
 * concerns somebody and is taken by nobody of this run; and the first that is given without the one
 * it needs. */
medley_status md_options_check(const medley_options *options, const md_party *parties, size_t count,
                               medley_error *error);

/* Is there an option that one has a use for and the other has not? */
bool md_options_favour(const medley_options *options, unsigned one, unsigned other);

#endif
