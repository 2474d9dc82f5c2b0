/* SPDX-License-Identifier: BSD-3-Clause */
/* What a task or a method says of itself before it does anything: its name, and which options it
 * has a use for. An option names the groups it belongs to (param.h, concerns), and is refused where
 * neither the task nor the method takes one of them. */
#ifndef MD_ABOUT_H
#define MD_ABOUT_H

typedef enum md_takes {
    /* methods */
    MD_TAKES_PENALTY = 1 << 0,     /* a penalty of the user's choice */
    MD_TAKES_STRENGTH = 1 << 1,    /* lambda, C, spicy-C */
    MD_TAKES_CERTIFICATE = 1 << 2, /* gap, max-iter, storage, ridge */
    MD_TAKES_ROUNDS = 1 << 3,      /* batch, average, checkpoint ... of online learning */
    MD_TAKES_EPOCHS = 1 << 4,
    MD_TAKES_STAGES = 1 << 5, /* eta, epochs1, epochs2 */
    MD_TAKES_RATES = 1 << 6,  /* eta0, schedule, radius, prox-every */
    MD_TAKES_NORM = 1 << 7,   /* p */
    MD_TAKES_BLOCKS = 1 << 8, /* block-scale */

    /* tasks */
    MD_TAKES_KERNELS = 1 << 16,       /* kernel, views, scale, normalize ... */
    MD_TAKES_WORDS = 1 << 17,         /* min-count: features of templates are in a dictionary */
    MD_TAKES_CONTEXT = 1 << 18,       /* bigram, order ...: labels look back on others */
    MD_TAKES_ARCS = 1 << 19,          /* tags, roots, projective, unlabelled */
    MD_TAKES_PROBABILITIES = 1 << 20, /* calibrate */
} md_takes;

typedef struct md_about {
    const char *name, *summary;
    unsigned takes; /* of md_takes */
} md_about;

#endif
