/* SPDX-License-Identifier: BSD-3-Clause */
/* A rule is the part of the online loop in which SPOM, OBSCURE and Pegasos differ: what becomes of
 * theta in a round. One file (spom.c, obscure.c, pegasos.c) and one line in rules.def make a rule,
 * and a --method of its name. Nobody else asks which rule it is: what differs is a field here. */
#ifndef MD_RULE_H
#define MD_RULE_H

#include "online/online.h"
#include "settings/about.h"
#include "setup/setup.h"

enum { MD_MOST_STAGES = 2 };

/* The examples of one round, all scored by the same theta. */
typedef struct md_round {
    md_online *online;
    const size_t *which; /* [size] */
    size_t size;
    bool is_last;     /* of the epoch */
    size_t gradients; /* in online->gradients: size, or 0 if no example had a loss */
    size_t own;       /* of them are scored by this rank: online->mine */
    size_t threads;   /* that are worth it */
    size_t groups;    /* of rows that are scored together; scores are the same for any number */
} md_round;

/* For the summary: how far the optimum may be from theta = 0, and the objective from its own. NaN:
 * nothing is known. */
typedef struct md_bound {
    double radius, distance;
} md_bound;

/* Of a first stage that is a perceptron. */
typedef struct md_mistakes {
    double count, most_updates;
} md_mistakes;

struct md_rule {
    md_about about;
    md_method_traits traits;             /* of the method of its name */
    bool leaves_out_blocks;              /* what the penalty makes 0 is 0 */
    bool is_smooth;                      /* needs losses by marginals, which have no kinks */
    bool in_order;                       /* examples come as they stand: seeds do not matter */
    const char *smaller[MD_MOST_STAGES]; /* the option to make smaller if a stage diverges */
    size_t state_size;

    /* NULL: eta0 of the settings. */
    double (*first_rate)(const md_online_problem *problem, const md_online_settings *settings);

    void (*restart)(md_online *online); /* round 0; blocks hold any theta */

    /* Any of these may be NULL. */
    medley_status (*check)(const md_problem *problem, medley_error *error); /* can it learn this? */
    medley_status (*init)(md_online *online, medley_error *error); /* what depends on the problem */
    void (*clear)(md_online *online);                              /* what init has made */
    void (*from_weights)(md_online *online); /* blocks hold weights, and then theta */
    medley_status (*begin)(md_online *online, medley_error *error); /* online->stage begins */
    medley_status (*before_epoch)(md_online *online, medley_error *error);
    /* An epoch begins: its examples come to the front of online->order, *count: how many. */
    medley_status (*choose)(md_online *online, size_t *count, medley_error *error);
    void (*end_epoch)(md_online *online); /* norms were refreshed, or theta was replaced */
    md_bound (*bound)(const md_online *online);

    /* The blocks hold weights, which would have lost `loss` in the rounds of the first stage. */
    md_mistakes (*mistakes)(md_online *online, double loss);

    /* Of rules that try things out, after an epoch: may theta be returned? The one with the least
     * objective is; else the last. */
    bool (*is_candidate)(const md_online *online);

    /* Of rules that know how far the optimum is. measure: after an epoch; gap: relative, as it was
     * measured, a run ends at the one that was asked for. distributions: over the outputs of the
     * examples, to online->gather, for a lower bound of the objective. */
    medley_status (*measure)(md_online *online, double *objective, medley_error *error);
    double (*gap)(const md_online *online);
    bool (*is_settled)(const md_online *online); /* nothing is left to gain, whatever the gap */
    void (*distributions)(md_online *online);

    /* What changes beside the state; and may what was read be that? */
    void (*visit_state)(md_online *online, md_state_visitor visit, void *context);
    bool (*is_sound)(md_online *online);

    /* Is stage 0 over, after an epoch with steps or without (idle)? It is in any case when its
     * epochs are over. NULL: there is one stage only. */
    bool (*is_over)(const md_online *online, bool idle);

    /* The lines of the paper. */
    void (*round)(md_online *online, md_round *round);
};

extern const md_rule *const md_rules[]; /* NULL-terminated */
#define MD_RULE(name) extern const md_rule md_rule_##name;
#include "online/rules.def"
#undef MD_RULE

/* ---- what rules are made of ---- */

/* Scores the examples of a round, decodes or takes marginals, and finds the gradients. False: a
 * loss is not finite (online->diverged). */
bool md_online_find_gradients(md_online *online, md_round *round);

/* The same for one of them, by theta as it is now; nothing is counted. */
void md_online_find_gradient(md_round *round, size_t item);

/* The first `count` gradients of the round, with a rate; the norms afterwards go to online->norm.
 * Whoever takes a step finishes it: every block becomes as long as online->shrunk says, times
 * factor. */
void md_online_step(md_online *online, size_t count, double eta);
void md_online_finish(md_online *online, size_t count, double eta, double factor);

/* Between them: soft thresholds inside the blocks under the penalty, whose norms follow. */
void md_online_threshold(md_online *online, size_t count, double eta, double threshold);

/* May coordinates be thresholded as late as they are looked at? */
bool md_online_shrinks_late(const md_online *online);

/* theta *= factor for the first `count` blocks; 0 or less clears them. */
void md_online_rescale(md_online *online, size_t count, double factor);

/* Factor of the rate: as a run cools down, single examples have less and less of a say. */
double md_online_cooling(const md_online *online);

bool md_online_norms_are_finite(const md_online *online);

/* ---- shared by the files of the loop ---- */

/* Groups of rows of a round that so many threads score. */
size_t md_round_groups(size_t threads);

/* Which items of a round this rank scores: online->mine; by online->cost, or all of them where
 * exchanging them would take longer. */
void md_round_divide(md_round *round);

/* What the ranks have found for their items is told to all of them. False: that was not possible,
 * and the epoch fails (md_exchange_check). */
bool md_round_exchange(md_round *round);

medley_status md_exchange_create(md_exchange **exchange, const medley_comm *comm,
                                 medley_error *error);
void md_exchange_free(md_exchange *exchange);
MD_OWNER(md_exchange_free, md_exchange)
/* Did an exchange fail? */
medley_status md_exchange_check(const md_exchange *exchange, medley_error *error);

/* The scores of an example by all blocks. */
void md_online_score(const md_online_problem *problem, md_example example, float *score);

/* These examples, at most MD_AHEAD, have been scored and are evaluated next: a structure that looks
 * ahead may look at all of them at once. */
enum { MD_AHEAD = 64 };
void md_online_look_ahead(const md_online_problem *problem, md_inference *inference,
                          const size_t *which, size_t count);

/* Features of the next examples of online->order are made, or the deferred scores are told their
 * rows, as many whole rounds as fit its window; *count: how many examples these are. */
medley_status md_online_announce(md_online *online, size_t from, size_t end, size_t *count,
                                 medley_error *error);

/* What an epoch began with. */
typedef struct md_epoch_start {
    size_t round, updates, left_out;
} md_epoch_start;

/* After an epoch in which each rank has learnt from its share of `visited` examples: the weights of
 * all blocks, and what is averaged of them, become their means over the ranks, and what was counted
 * is added up. The norms are to be refreshed. */
medley_status md_online_mix(md_online *online, const md_epoch_start *start, size_t visited,
                            medley_error *error);

/* The visited examples in the order of the data. */
void md_online_fill_order(md_online *online);

/* What every block is made of is up to date afterwards, for all rows. */
medley_status md_online_settle(md_online *online, medley_error *error);

/* The norms of all blocks, from scratch. */
void md_online_refresh_norms(md_online *online);

/* Score caches are computed anew, unless that takes another pass over kernels; and norms. */
medley_status md_online_make_exact(md_online *online, medley_error *error);

/* Score caches are computed anew, in any case or if there were enough changes since; norms are to
 * be refreshed. */
medley_status md_online_renew_all(md_online *online, medley_error *error);
medley_status md_online_renew(md_online *online, medley_error *error);

#endif
