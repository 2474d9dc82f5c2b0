/* SPDX-License-Identifier: BSD-3-Clause */
/* How settings and data become a problem (task/problem.h has what it is), what a run has learnt and
 * how it becomes a model, and what a method is. */
#ifndef MD_SETUP_H
#define MD_SETUP_H

#include "gram/card.h"
#include "loss/margin_loss.h"
#include "packed/packed.h"
#include "task/problem.h"

typedef struct md_method md_method;
typedef struct md_rule md_rule;                     /* online/rule.h */
typedef struct md_batch_problem md_batch_problem;   /* batch/batch.h */
typedef struct md_batch_solution md_batch_solution; /* batch/batch.h */

/* ---- kinds of methods, and what each has beside the problem ---- */

/* How a first learning rate is found: on a part of the data, as SPOM's table 1 has it (both
 * rate_search.c), or from its proposition 3 (theory.c). */
typedef enum md_rate_rule { MD_RATE_SEARCHED, MD_RATE_OF_PAPER, MD_RATE_OF_THEORY } md_rate_rule;

/* Methods that go through the examples, round by round (online_side.c). */
typedef struct md_online_side {
    const md_loss *loss;
    double eta0, radius;    /* NaN: auto; radius infinite: none */
    md_rate_rule rate_rule; /* where eta0 is NaN */
    double eta;             /* of a first stage; NaN: auto */
    size_t epochs;
    size_t first_epochs;   /* of them, of a first stage */
    md_gram *gram;         /* NULL if every block has explicit weights */
    size_t limit;          /* of its memory; 0: what there is */
    bool on_card;          /* the gram is to be on problem->device */
    bool *were_weights;    /* [kernels of the bank] before: */
    bool without_weights;  /* linear kernels are kernels, as runs on a card have them */
    bool mixed;            /* the gram has become the sum of all kernels */
    md_deferred *deferred; /* of kernels whose values are not kept; NULL: none yet */
} md_online_side;

/* Methods on whole matrices, each row an example, with losses of one number (batch_side.c). */
typedef struct md_batch_side {
    const md_margin_loss *loss;
    void *loss_state;
    md_packed *packed;
    bool products_only; /* see md_batch_problem */
    size_t mixture;
} md_batch_side;

typedef struct md_kind {
    bool batch;                   /* on whole matrices */
    const char *penalty;          /* that "auto" means */
    const char *attribute_kernel; /* that named attributes have */

    medley_status (*begin)(md_problem *problem, const char *loss, medley_error *error);
    medley_status (*know_blocks)(md_problem *problem,
                                 medley_error *error); /* candidates are listed */
    /* Rows are prepared; NULL: find_values does it. */
    medley_status (*choose_device)(md_problem *problem, medley_error *error);
    medley_status (*find_values)(md_problem *problem, medley_error *error); /* points are made */
    void (*drop_values)(md_problem *problem);
} md_kind;
extern const md_kind md_online_kind, md_batch_kind;

/* To be cleared whatever comes back. */
medley_status md_problem_init(md_problem *problem, const medley_dataset *train,
                              const medley_dataset *dev, const medley_options *options,
                              const medley_observer *observer, const md_method *method,
                              medley_error *error);
void md_problem_clear(md_problem *problem);

/* Between two fits on the same rows with the same kernels: drops all but the kernels, which the
 * next md_problem_init finds, and takes; models are the same bits as without. Values go as well
 * where a fit has changed them, or may have changed what is kept of them. */
void md_problem_keep_kernels(md_problem *problem);

/* The kernels that options mean on data; empty where templates are all there is. */
medley_status md_make_bank(md_bank *bank, const medley_dataset *data, const medley_options *options,
                           const md_task *task, const md_method *method, medley_error *error);

/* What belongs to the rows of problem->train, for learning from one data set after the other: its
 * examples, and the rows of linear kernels that are kept as weights (points are made). */
medley_status md_problem_make_examples(md_problem *problem, medley_error *error);
medley_status md_problem_find_primal(md_problem *problem, medley_error *error);
bool md_problem_has_values(const md_problem *problem); /* of kernels that have no weights */
void md_problem_drop_rows(md_problem *problem);

/* Tells the observer, with the seconds since the problem began; false: stop. */
bool md_problem_report(md_problem *problem, medley_progress progress);

/* Progress that is passed on under another name. */
typedef struct md_renaming {
    const medley_observer *observer; /* may be NULL */
    const char *from;                /* the stage with another name; NULL: all of them */
    const char *to;
} md_renaming;
bool md_rename_stage(void *renaming, const medley_progress *progress);

/* Are the features templates' or named attributes, so that all of them are sparse and explicit? */
bool md_problem_is_explicit(const md_problem *problem);

/* Examples of a round. */
size_t md_problem_batch(const md_problem *problem);

/* C where no strength is given. Batch methods choose it by the kernels instead. */
double md_default_C(const md_method *method, const md_task *task, const medley_options *options);

/* The step-th lambda of a path: the caller's, or evenly in logarithm down from the largest. */
double md_path_lambda(const medley_path_options *path, double largest, size_t step);

/* ---- device.c ---- */

/* Is there enough for a card to do, that of a number of rows some kernels be learnt? */
bool md_is_worth_a_card(const md_bank *bank, const bool *wanted, size_t rows,
                        const md_method *method);
/* The card that is to compute kernel values, if there is to be one; else NULL. refusal: why a card
 * could not do what the method needs, or no error. */
medley_status md_problem_find_device(const md_device **device, md_problem *problem,
                                     const md_card_wish *wish, const medley_error *refusal,
                                     medley_error *error);
/* It has failed: an error, or the processor does it. */
medley_status md_problem_without_device(md_problem *problem, const medley_error *why,
                                        medley_error *error);
/* Kernels are computed: a card that was asked for has had something to do. */
medley_status md_problem_check_device(const md_problem *problem, medley_error *error);
/* For the summary: what it has done. */
void md_problem_note_device(md_problem *problem, const char *what);

/* ---- online_side.c ---- */
medley_status md_online_find_deferred(md_deferred **deferred, md_problem *problem,
                                      medley_error *error);
/* The weighted sum of all kernels in place of them (md_gram_mix). */
medley_status md_problem_mix_kernels(md_problem *problem, const double *weight,
                                     medley_error *error);

/* ---- online_card.c ---- */
medley_status md_online_choose_device(md_problem *problem, medley_error *error);
/* The largest K(x,x) of kernels whose values a card may round to half precision. */
double md_online_device_rounds(const md_problem *problem);
/* A Gram source on the card that was chosen, or none. */
medley_status md_online_find_values_on_card(md_problem *problem, md_gram_options options,
                                            medley_error *error);

/* ---- check_options.c: options that have no place here ---- */

/* Against a task and a method (NULL: not known yet) and what else limits a run (NULL: nothing). */
medley_status md_check_options(const medley_options *options, const md_task *task,
                               const md_method *method, const md_about *place, medley_error *error);
medley_status md_problem_check_options(const md_problem *problem, medley_error *error);

/* ---- block_values.c: --block-scale, --block-weight; candidates and penalty are known ---- */

medley_status md_problem_check_block_values(const md_problem *problem, medley_error *error);
double md_block_scale(const md_problem *problem, const md_candidate *candidate);
/* Gives the penalty its weights of blocks; features and rows have been found. */
medley_status md_problem_find_weights(md_problem *problem, medley_error *error);

/* ---- lines.c ---- */

/* A line without comment (#) and blanks around it, if anything is left of it. */
typedef medley_status (*md_line_taker)(void *context, char *text, size_t line, medley_error *error);
/* what: for the sentence where there is no such file. */
medley_status md_read_lines(const char *path, const char *what, md_line_taker take, void *context,
                            medley_error *error);

/* ---- read_groups.c: --groups; candidates and penalty are known ---- */

medley_status md_problem_find_groups(md_problem *problem, medley_error *error);

/* ---- candidates.c ---- */

/* Lists the candidates; the shape follows from them. Bank and templates are made. */
medley_status md_problem_list_candidates(md_problem *problem, medley_error *error);

/* Names of the blocks of label context: "bigram", "trigram", "ends". */
extern const char *const md_context_names[]; /* NULL-terminated */

/* ---- a fifth of the training examples is held out, and scored by what was learnt from
 * the others: for the choice among kernels, and for calibration ---- */

typedef struct md_division_rule {
    bool sequences; /* examples are sequences, else rows */
    bool by_label;  /* each label is divided for itself (a sequence by its first) */
    size_t which;   /* of each five examples, in order of appearance: 1 to 5 */
} md_division_rule;

typedef struct md_division {
    size_t *visit; /* [visit_count] examples that are trained on, increasing */
    size_t visit_count;
    size_t *held; /* [held_count] the others, increasing */
    size_t held_count;
} md_division;

/* To be cleared whatever comes back. */
medley_status md_division_make(md_division *division, const medley_dataset *train,
                               const md_division_rule *rule, medley_error *error);
void md_division_clear(md_division *division);

/* ---- selection.c: --from, --keep, --blocks ---- */

typedef struct md_selection {
    bool all;         /* nothing is left out */
    bool by_name;     /* the user has named them */
    md_strings names; /* of the blocks that stay */
} md_selection;

/* To be cleared whatever comes back. */
medley_status md_selection_make(md_selection *selection, const medley_options *options,
                                medley_error *error);
void md_selection_clear(md_selection *selection);
bool md_selection_has(const md_selection *selection, const char *name, bool is_template);
/* Does a name as people write it, with a '*' at its end or, for templates, without what follows
 * ':', mean this block? */
bool md_selection_matches(const char *written, size_t length, const char *name, bool is_template);
/* Fails for a name of --blocks that no block has. */
medley_status md_selection_check(const md_selection *selection, const md_problem *problem,
                                 medley_error *error);
medley_status md_selection_of_bank(const md_selection *selection, md_bank *bank,
                                   medley_error *error);
medley_status md_selection_of_templates(const md_selection *selection, md_source *source,
                                        medley_error *error);

/* ---- preselect.c ---- */

/* Only those kernels of the bank stay that option `preselect` asks for; all if it is not given.
 * What was looked at is told in problem->preselection. */
medley_status md_preselect(md_problem *problem, medley_error *error);

/* ---- what a run has learnt ---- */

/* Of a method without blocks: f(x) = sum_m K_m(x, .) body[m] + bias, all of it borrowed. Kernels
 * with explicit weights have no place here. */
typedef struct md_coefficients {
    size_t outputs; /* one for each label; or 1, of regression or for the second of two labels */
    const double *const *body; /* [bank.count] each [rows][outputs]; NULL: not active */
    const double *norm;        /* [bank.count] ||theta_m|| */
    const double *bias;        /* [outputs], or NULL: none */
    double dual, gap;          /* NaN: no certificate */
    size_t newton_steps, passes;
    bool logistic_link; /* probabilities of labels are those of one-vs-rest */
} md_coefficients;

/* The blocks that a run trains. */
typedef struct md_run_blocks {
    md_block **blocks; /* [count] */
    size_t *candidate; /* [count] of the problem */
    size_t count;
    size_t penalised; /* the first ones, which are under the penalty */
    bool is_mixture;  /* block 0 stands for the average of all kernels */
} md_run_blocks;

/* Blocks for one of the kernels, or for all of them (MD_ALL_KERNELS), and for everything else;
 * nothing is learnt. To be cleared whatever comes back. */
enum { MD_ALL_KERNELS = -1 };
medley_status md_run_blocks_make(md_run_blocks *run, md_problem *problem, long kernel,
                                 medley_error *error);
void md_run_blocks_clear(md_run_blocks *run);

/* How a run went. */
typedef struct md_run_result {
    double eta0, objective;
    double radius, bound; /* what the rule knows of the optimum; NaN: nothing */
    medley_epoch *epochs; /* [epoch_count] */
    size_t epoch_count, iterations, updates;
    size_t left_out; /* steps of rows that were nearly certain, and of parts of others */
    bool converged;
    bool certified;
    double dual, gap; /* if certified */
    medley_regret regret;
    medley_mistakes mistakes;
} md_run_result;
void md_run_result_clear(md_run_result *result);

/* The model of blocks as they are now. */
medley_status md_model_of_blocks(medley_model **model, const md_problem *problem,
                                 const md_run_blocks *run, const md_run_result *result,
                                 medley_error *error);
/* MEDLEY_STOPPED: there is a model, and the observer has stopped the run. */
medley_status md_model_of_coefficients(medley_model **model, const md_problem *problem,
                                       const md_coefficients *plain, const md_run_result *result,
                                       medley_error *error);

/* scores[rows][outputs], without bias, that a model of these coefficients gives to the rows that it
 * was learnt from. */
medley_status md_model_score_training(double *scores, const medley_model *model,
                                      const md_problem *problem, const md_coefficients *plain,
                                      medley_error *error);

/* The model of other rows and coefficients than those of the problem. */
medley_status md_draft_build(medley_model **model, const md_draft *draft,
                             const md_run_result *result, medley_error *error);
void md_draft_clear(md_draft *draft);

/* ---- methods: one file and one line in methods.def; every rule of the online loop is one ---- */
typedef struct md_run md_run;

/* What assembling a problem depends on. */
typedef struct md_method_traits {
    double default_C; /* where no strength is given; 0: that of most methods */
    bool own_terms;   /* a block may have an l2 term of its own beside the penalty */
    bool few_changes; /* with the hinge: of few rows, a few times each */

    const char *loss; /* that "auto" means; NULL: the task's */
    size_t examples;  /* of a round on explicit features; 0: as the task has it */
    size_t rows;      /* of a round on kernels; 0: one example */
    size_t epochs;    /* unless they are given; 0: those of most methods */

    /* Its penalty: the only one it has, or, with any_penalty, the one that "auto" means. NULL: one
     * of the user's choice. */
    bool any_penalty;
    bool strongly_convex; /* with any_penalty: another one must be, and have a single term */
    void (*penalty)(char *text, size_t size, const medley_options *options);

    /* As that of md_method. */
    bool (*suits)(const md_method *method, const md_method *other, const md_run *run);
} md_method_traits;

typedef medley_status (*md_batch_solver)(md_batch_solution *solution,
                                         const md_batch_problem *problem,
                                         const md_batch_solution *start, medley_error *error);
typedef medley_status (*md_strength_finder)(const md_batch_problem *problem, double *largest,
                                            double *without_slope, medley_error *error);

struct md_method {
    const md_about *about;
    const char *weights; /* of kernels, where they do not follow from norms (medley/options.h) */
    const md_kind *kind;
    const md_rule *rule;            /* of an online method, else NULL */
    const md_method_traits *traits; /* NULL: all fields 0 */

    /* Is it the one to take in place of another, where the user leaves the choice? NULL: never. */
    bool (*suits)(const md_method *method, const md_method *other, const md_run *run);
    const char *penalty; /* that "auto" means; NULL: that of its kind */
    bool labels_only;    /* of a batch method: does not predict numbers */
    bool needs_kernels;  /* works on kernel values, even of linear kernels */
    medley_status (*fit)(medley_model **model, md_problem *problem, medley_error *error);

    /* The same for many strengths of the penalty, each started from the one before; NULL: there is
     * nothing to see along a path. */
    medley_status (*fit_path)(md_problem *problem, const medley_path_options *path,
                              medley_path_taker take, void *context, medley_error *error);

    /* Of an online method: the same by the batch solver, taken for two labels and for numbers where
     * size and options allow; or NULL. */
    const md_method *batch_form;

    const char *structured; /* of a batch method: the one to use for sequences; NULL: spom */

    /* Of a batch method, whose fit is md_fit_batch: solves one output, and finds the strength that
     * leaves nothing in (NULL: md_batch_largest_strength), of which a share is taken by default. */
    md_batch_solver solve;
    bool products; /* solve can do without matrices of rows by rows */
    bool squares;  /* solve takes penalties that are squared norms (md_penalty_root) too */
    md_strength_finder largest_strength;
};

/* ---- batch_side.c, for those methods ---- */

/* One-vs-rest: regression and two labels are one problem; of more labels each has an output that
 * tells it from all others. The targets [rows] of an output are numbers, or +1 for its label (of
 * two: the second) and -1 for others. */
size_t md_batch_outputs(const md_problem *problem);
void md_batch_targets(double *y, const md_problem *problem, size_t output);

/* The kernels anew, in double precision. */
medley_status md_batch_use_float64(md_problem *problem, medley_error *error);

/* The same for methods without values of whole kernels (definite.c). */
medley_status md_check_definite(md_problem *problem, const char *remedy, medley_error *error);

/* Refuses a kernel that is not positive semi-definite. remedy: the end of the sentence; NULL: the
 * least ridge that helps. */
medley_status md_batch_check_kernels(const md_problem *problem, const char *remedy,
                                     medley_error *error);

/* The weights of a mean, for the caller to free whatever comes back. */
medley_status md_mean_weights(double **weight, size_t count, medley_error *error);

extern const md_method *const md_methods[]; /* NULL-terminated */

/* ---- choose_method.c ---- */

/* What a method is chosen by. */
struct md_run {
    const medley_options *options;
    const medley_dataset *train, *dev; /* dev may be NULL */
    const md_task *task;
    bool path; /* of penalties, along which blocks come in */
};

/* Can a batch method do what is asked for, and is nothing asked for that only the other can do? */
bool md_batch_suits(const md_method *method, const md_method *other, const md_run *run);
/* The same where no method is named: for few rows and outputs, for more of them along a path
 * and where a loss, a penalty or a gap is asked for, and unless the penalty wants all kernels
 * alike; of three labels or more only if nothing is said about loss and penalty, which are those of
 * one label against the rest then. */
bool md_sparse_batch_suits(const md_method *method, const md_method *other, const md_run *run);
/* Are there rows with labels that kernels are to tell apart, and is nothing asked for that belongs
 * to other online learners? */
bool md_dual_suits(const md_method *method, const md_method *other, const md_run *run);

/* The method of the options; for "auto" the one that suits the data. */
medley_status md_method_choose(const md_method **method, const medley_options *options,
                               const medley_dataset *train, const medley_dataset *dev,
                               medley_error *error);
/* The same for a path of penalties. */
medley_status md_method_choose_for_path(const md_method **method, const medley_options *options,
                                        const medley_dataset *train, medley_error *error);

/* "there is no loss 'x'; did you mean ...": kinds is the list of medley_list that was searched. */
medley_status md_fail_unlisted(const char *kind, const char *kinds, const char *name,
                               medley_error *error);

#endif
