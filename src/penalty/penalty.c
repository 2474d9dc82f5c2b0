/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of penalties, and composites: terms joined by '+' that run one after the other
 * (SPOM Alg. 1, line 7, J > 1). */
#include "penalty/penalty_internal.h"

#include "penalty/block_weight.h"
#include <assert.h>
#include <ctype.h>

const md_penalty_class *const md_penalties[] = {
#define MD_PENALTY(name) &md_penalty_##name,
#include "penalty/penalties.def"
#undef MD_PENALTY
    NULL};

enum { PENALTY_COUNT = sizeof md_penalties / sizeof md_penalties[0] - 1 };

/* Squares of larger weights times squares of large norms would overflow. */
static const double MOST_WEIGHT = 1e100;

const md_penalty_class *md_penalty_find(const char *name)
{
    for (size_t i = 0; i < PENALTY_COUNT; i++)
        if (strcmp(md_penalties[i]->name, name) == 0)
            return md_penalties[i];
    return NULL;
}

static medley_status fail_unknown(const char *name, medley_error *error)
{
    const char *names[PENALTY_COUNT + 1] = {NULL};
    for (size_t i = 0; i < PENALTY_COUNT; i++)
        names[i] = md_penalties[i]->name;
    return md_fail_unknown("penalty", name, names, error);
}

/* ---- reading ---- */

static medley_status set_options(md_penalty_term *term, const md_spec *spec, medley_error *error)
{
    static const md_param no_params[] = {{0}};
    const md_param *params = term->class->params ? term->class->params : no_params;
    MD_CLEARED(md_text_clear) md_text what = {0};
    md_text_addf(&what, "penalty %s", spec->name);
    MEDLEY_TRY(md_params_defaults(params, term->state, error));
    return md_params_set_spec(params, term->state, what.data ? what.data : spec->name, spec, error);
}

static const char *skip_space(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* A number and '*' at *cursor, if they are there; moves *cursor past them. */
static medley_status read_factor(double *factor, const char **cursor, medley_error *error)
{
    const char *start = *cursor;
    const char *p = start;
    *factor = 1;
    double number;
    if (!md_read_number(&p, p + strlen(p), &number))
        return MEDLEY_OK;
    p = skip_space(p);
    if (*p != '*')
        return MEDLEY_OK; /* the spec's reader tells what is wrong */
    if (!(number > 0) || isinf(number))
        return md_fail(error, MEDLEY_USAGE, "the factor in '%s' must be a number above 0", start);
    *factor = number;
    *cursor = p + 1;
    return MEDLEY_OK;
}

/* One term, "factor*name(key=value)". */
static medley_status add_term(md_penalty *penalty, const char *text, medley_error *error)
{
    double factor;
    MD_CLEARED(md_spec_clear) md_spec spec = {0};
    MEDLEY_TRY(read_factor(&factor, &text, error));
    MEDLEY_TRY(md_spec_parse(&spec, text, error));
    const md_penalty_class *class = md_penalty_find(spec.name);
    if (class == NULL)
        return fail_unknown(spec.name, error);
    if (spec.view != NULL)
        return md_fail(error, MEDLEY_USAGE, "'%s': a penalty is put on all blocks; leave out '@%s'",
                       text, spec.view);
    MEDLEY_TRY(md_grow(&penalty->terms, &penalty->capacity, penalty->count + 1,
                       sizeof *penalty->terms, error));
    md_penalty_term *term = &penalty->terms[penalty->count++];
    *term = (md_penalty_term){.factor = factor, .class = class};
    MEDLEY_TRY(md_new(&term->state, 1, class->state_size, error));
    return set_options(term, &spec, error);
}

/* The end of the term that starts at start: the next '+' that stands neither in parentheses nor in
 * the exponent of a factor (1e+3*l2). */
static const char *term_end(const char *start)
{
    const char *p = start;
    double factor;
    md_read_number(&p, p + strlen(p), &factor);
    for (int depth = 0; *p != '\0'; p++) {
        depth += (*p == '(') - (*p == ')');
        if (*p == '+' && depth <= 0)
            break;
    }
    return p;
}

static medley_status read_terms(md_penalty *penalty, const char *text, medley_error *error)
{
    const char *start = skip_space(text);
    for (;;) {
        const char *end = *start == '+' ? start : term_end(start);
        if (end == start)
            return md_fail(error, MEDLEY_USAGE,
                           "the penalty '%s' has an empty term; write names joined by '+', such as "
                           "l2+mkl",
                           text);
        MD_OWNED(free) char *term = NULL;
        MEDLEY_TRY(md_new_text(&term, start, (size_t)(end - start), error));
        MEDLEY_TRY(add_term(penalty, term, error));
        if (*end == '\0')
            return MEDLEY_OK;
        start = skip_space(end + 1);
    }
}

static void print_term(const md_penalty_term *term, md_text *text)
{
    char number[32];
    if (term->factor != 1)
        md_text_addf(text, "%s*", md_format_double(number, term->factor));
    md_text_addf(text, "%s", term->class->name);
    MD_CLEARED(md_text_clear) md_text options = {0};
    if (term->class->params != NULL)
        md_params_print(term->class->params, term->state, &options);
    if (options.length > 0)
        md_text_addf(text, "(%s)", options.data);
    text->failed = text->failed || options.failed;
}

medley_status md_penalty_create(md_penalty **penalty, const char *text, medley_error *error)
{
    MD_OWNED(md_penalty_free) md_penalty *made = NULL;
    MEDLEY_TRY(md_new(&made, 1, sizeof *made, error));
    made->least_weight = 1;
    MEDLEY_TRY(read_terms(made, text, error));
    for (size_t i = 0; i < made->count; i++) {
        md_text_add(&made->text, "+", i > 0);
        print_term(&made->terms[i], &made->text);
    }
    MEDLEY_TRY(md_text_check(&made->text, error));
    *penalty = md_take(&made);
    return MEDLEY_OK;
}

void md_penalty_free(md_penalty *penalty)
{
    if (penalty == NULL)
        return;
    for (size_t i = 0; i < penalty->count; i++)
        free(penalty->terms[i].state);
    free(penalty->terms);
    free(penalty->weight);
    md_text_clear(&penalty->text);
    free(penalty);
}

medley_status md_penalty_set_weights(md_penalty *penalty, const double *weight, size_t count,
                                     medley_error *error)
{
    double least = weight != NULL && count > 0 ? weight[0] : 1;
    for (size_t m = 0; weight != NULL && m < count; m++) {
        if (!(weight[m] >= 0 && weight[m] <= MOST_WEIGHT))
            return md_fail(error, MEDLEY_USAGE,
                           "the weight of block %zu is %g; weights must lie between 0 and %g",
                           m + 1, weight[m], MOST_WEIGHT);
        least = fmin(least, weight[m]);
    }
    double *copy = NULL;
    if (weight != NULL)
        MEDLEY_TRY(md_new_copy(&copy, weight, count * sizeof *copy, error));
    free(penalty->weight);
    penalty->weight = copy;
    penalty->weight_count = count;
    penalty->least_weight = least;
    return MEDLEY_OK;
}

bool md_penalty_has_weights(const md_penalty *penalty)
{
    const double one = 1;
    bool obeyed = true;
    for (const md_penalty_term *t = penalty->terms; t < penalty->terms + penalty->count; t++)
        obeyed = obeyed && (t->class->value(t->state, &one, NULL, 1) > 0);
    return obeyed;
}

const double *md_penalty_block_weights(const md_penalty *penalty)
{
    return penalty->weight;
}

/* ---- use ---- */

double md_penalty_value(const md_penalty *penalty, const double *b, size_t count)
{
    assert(penalty->weight == NULL || penalty->weight_count == count);
    double value = 0;
    for (const md_penalty_term *t = penalty->terms; t < penalty->terms + penalty->count; t++)
        value += t->factor * t->class->value(t->state, b, penalty->weight, count);
    return value;
}

bool md_penalty_is_symmetric(const md_penalty *penalty)
{
    bool symmetric = true;
    for (const md_penalty_term *t = penalty->terms; t < penalty->terms + penalty->count; t++)
        symmetric = symmetric && !t->class->asymmetric;
    return symmetric;
}

/* Of a term at r times the direction with equal entries on the first k of the blocks. */
static double value_along(const md_penalty_term *term, double r, size_t k, size_t count, double *b)
{
    for (size_t m = 0; m < count; m++)
        b[m] = m < k ? r / sqrt((double)k) : 0;
    return term->factor * term->class->value(term->state, b, NULL, count);
}

/* Every symmetric term there is, is convex and does not fall as norms grow, and is least on a
 * sphere either on one block or on all alike. A sum is at least the sum of what its terms are at
 * least. */
double md_penalty_least(const md_penalty *penalty, double r, size_t count, double *scratch)
{
    double sum = 0;
    for (const md_penalty_term *t = penalty->terms; t < penalty->terms + penalty->count; t++)
        sum += fmin(value_along(t, r, 1, count, scratch), value_along(t, r, count, count, scratch));
    return md_penalty_is_symmetric(penalty) ? sum : 0;
}

size_t md_penalty_scratch(const md_penalty *penalty, size_t count)
{
    size_t most = 3 * count;
    for (const md_penalty_term *t = penalty->terms; t < penalty->terms + penalty->count; t++)
        if (t->class->scratch != NULL)
            most = md_max(most, t->class->scratch(t->state));
    return most;
}

void md_penalty_prox(const md_penalty *penalty, double tau, double *b, size_t count,
                     double *scratch)
{
    assert(penalty->weight == NULL || penalty->weight_count == count);
    for (const md_penalty_term *t = penalty->terms; t < penalty->terms + penalty->count; t++)
        t->class->prox(t->state, tau * t->factor, b, penalty->weight, count, b, scratch);
}

double md_penalty_inner_threshold(const md_penalty *penalty)
{
    double sum = 0;
    for (const md_penalty_term *t = penalty->terms; t < penalty->terms + penalty->count; t++)
        if (t->class->inner_threshold != NULL)
            sum += t->factor * t->class->inner_threshold(t->state);
    return sum;
}

double md_penalty_strong_convexity(const md_penalty *penalty)
{
    double sum = 0;
    for (const md_penalty_term *t = penalty->terms; t < penalty->terms + penalty->count; t++)
        if (t->class->strong_convexity != NULL)
            sum += t->factor * t->class->strong_convexity(t->state, penalty->least_weight);
    return sum;
}

double md_penalty_absorbed(const md_penalty *penalty)
{
    double sum = 0;
    for (const md_penalty_term *t = penalty->terms; t < penalty->terms + penalty->count; t++)
        if (t->class->absorbed != NULL)
            sum += t->factor * t->class->absorbed(t->state);
    return sum;
}

bool md_penalty_is_uniform(const md_penalty *penalty)
{
    bool uniform = penalty->weight == NULL;
    for (const md_penalty_term *t = penalty->terms; t < penalty->terms + penalty->count; t++)
        uniform = uniform && t->class->uniform;
    return uniform;
}

/* b / (dOmega/db): the inverse weights of the terms add up. */
static double kernel_weight(const md_penalty *penalty, double b, double total)
{
    double inverse = 0;
    for (const md_penalty_term *t = penalty->terms; t < penalty->terms + penalty->count; t++)
        if (t->class->kernel_weight != NULL)
            inverse += t->factor / t->class->kernel_weight(t->state, b, total);
    return inverse > 0 ? 1 / inverse : b;
}

void md_penalty_weights(const md_penalty *penalty, const double *b, size_t count, double *beta)
{
    const double *weight = penalty->weight;
    const double total = md_weighted_sum(b, weight, count);
    for (size_t m = 0; m < count;
         m++) { /* with x = d b, b / (dOmega/db) is x / (dOmega/dx) / d^2 */
        const double d = weight != NULL && weight[m] > 0 ? weight[m] : 1;
        beta[m] = b[m] > 0 ? kernel_weight(penalty, d * b[m], total) / (d * d) : 0;
    }
    /* Relative to the largest, so that the sum neither overflows nor vanishes. */
    const double largest = md_largest_norm(beta, count);
    double sum = 0;
    for (size_t m = 0; m < count; m++) {
        beta[m] = beta[m] == largest ? largest > 0 : beta[m] / largest;
        sum += beta[m];
    }
    for (size_t m = 0; m < count; m++)
        beta[m] = sum > 0 ? beta[m] / sum : 0;
}

const md_scalar_penalty *md_penalty_scalar(const md_penalty *penalty, const void **state,
                                           double *factor)
{
    const md_penalty_term *term = penalty->terms;
    if (penalty->count != 1 || term->class->scalar == NULL)
        return NULL;
    *state = term->class->fixed != NULL ? term->class->fixed : term->state;
    *factor = term->factor;
    return term->class->scalar;
}

const md_scalar_penalty *md_penalty_root(const md_penalty *penalty, const void **state, double *q,
                                         double *factor)
{
    const md_penalty_term *term = penalty->terms;
    if (penalty->count != 1 || term->class->root == NULL || term->class->l2_share != NULL)
        return NULL;
    *factor = term->factor;
    return term->class->root(term->state, state, q);
}

const char *md_penalty_text(const md_penalty *penalty)
{
    return penalty->text.data;
}
