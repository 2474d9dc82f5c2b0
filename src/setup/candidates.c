/* SPDX-License-Identifier: BSD-3-Clause */
/* Which blocks there are to learn: kernels, templates, and the context of labels in a chain. */
#include "setup/setup.h"

enum context { PAIRS, TRIPLES, ENDS, SHARED, CONTEXTS };
const char *const md_context_names[] = {
    [PAIRS] = "bigram", [TRIPLES] = "trigram", [ENDS] = "ends", [SHARED] = "shared", NULL};

static void add(md_problem *problem, md_candidate candidate)
{
    problem->candidates[problem->candidate_count++] = candidate;
}

/* Do labels look back on others? */
static bool has_context(const md_problem *problem)
{
    return (problem->task->about.takes & MD_TAKES_SHARED) != 0 &&
           problem->options->bigram != MD_BIGRAM_NONE;
}

/* Label context that the templates do not bring along. */
static void add_label_context(md_problem *problem, bool has_pairs, bool own_term)
{
    const medley_options *options = problem->options;
    static const md_part_kind kinds[] = {[PAIRS] = MD_PAIR_PARTS,
                                         [TRIPLES] = MD_TRIPLE_PARTS,
                                         [ENDS] = MD_END_PARTS,
                                         [SHARED] = MD_SHARED_PARTS};
    const bool shares = problem->task->shares_parts != NULL;
    const bool wants_pairs =
        options->bigram != MD_BIGRAM_AUTO || problem->source == NULL || options->order == 2;
    const bool wanted[] = {[PAIRS] = wants_pairs && !has_pairs && !shares,
                           [TRIPLES] = options->order == 2,
                           [ENDS] = options->bigram_ends,
                           [SHARED] = shares && problem->task->shares_parts(problem)};
    for (size_t i = 0; i < CONTEXTS; i++)
        if (wanted[i])
            add(problem, (md_candidate){.origin = MD_FROM_LABELS,
                                        .kind = kinds[i],
                                        .name = md_context_names[i],
                                        .own_term = own_term});
}

/* The structure has the parts that candidates speak of, and no others. */
static void find_shape(md_problem *problem)
{
    md_shape *shape = &problem->space.shape;
    for (size_t c = 0; c < problem->candidate_count; c++) {
        const md_candidate *candidate = &problem->candidates[c];
        const size_t order = candidate->kind == MD_TRIPLE_PARTS ? 2
                             : candidate->kind == MD_PAIR_PARTS ? 1
                                                                : 0;
        shape->order = order > shape->order ? order : shape->order;
        shape->ends = shape->ends || candidate->kind == MD_END_PARTS;
        if (candidate->origin == MD_FROM_TEMPLATE && candidate->kind == MD_PAIR_PARTS)
            shape->local_pairs =
                shape->local_pairs ||
                !problem->source->class->facts(problem->source, candidate->index).constant;
    }
}

/* Candidates with a term of their own move after the others; both keep their order. */
static medley_status put_own_terms_last(md_problem *problem, medley_error *error)
{
    const size_t count = problem->candidate_count;
    md_candidate *sorted;
    MEDLEY_TRY(md_new(&sorted, count, sizeof *sorted, error));
    size_t used = 0;
    for (int own = 0; own < 2; own++)
        for (size_t c = 0; c < count; c++)
            if (problem->candidates[c].own_term == (own == 1))
                sorted[used++] = problem->candidates[c];
    free(problem->candidates);
    problem->candidates = sorted;
    return MEDLEY_OK;
}

static medley_status check_context(const md_problem *problem, medley_error *error)
{
    const medley_options *options = problem->options;
    if (options->bigram == MD_BIGRAM_FIXED && problem->method->traits != NULL &&
        !problem->method->traits->own_terms)
        return md_fail(error, MEDLEY_USAGE,
                       "`method=%s` has one norm over all blocks and no term of its own for pairs "
                       "of labels; leave out `bigram=fixed`",
                       problem->method->about->name);
    if (options->bigram == MD_BIGRAM_NONE && (options->order == 2 || options->bigram_ends))
        return md_fail(error, MEDLEY_USAGE,
                       "%s looks at neighbouring labels and `bigram=none` does not; use `bigram="
                       "fixed` or learned",
                       options->order == 2 ? "`order=2`" : "`bigram-ends`");
    return MEDLEY_OK;
}

static void add_kernels(md_problem *problem)
{
    for (size_t m = 0; m < problem->bank.count; m++)
        add(problem, (md_candidate){.origin = MD_FROM_KERNEL,
                                    .index = m,
                                    .kind = MD_ROW_PARTS,
                                    .name = problem->bank.kernels[m].name});
}

/* Pairs of labels make sense only where labels look back on others. *has_pairs: there is a template
 * of all pairs. */
static void add_templates(md_problem *problem, bool own_term, bool *has_pairs)
{
    const md_source *source = problem->source;
    for (size_t t = 0; t < md_source_count(source); t++) {
        const md_template_facts facts = source->class->facts(source, t);
        if (facts.pair && !has_context(problem))
            continue;
        *has_pairs = *has_pairs || (facts.pair && facts.constant);
        add(problem, (md_candidate){.origin = MD_FROM_TEMPLATE,
                                    .index = t,
                                    .kind = facts.pair ? MD_PAIR_PARTS : MD_ROW_PARTS,
                                    .name = source->class->name(source, t),
                                    .own_term = facts.pair && own_term});
    }
}

medley_status md_problem_list_candidates(md_problem *problem, medley_error *error)
{
    const medley_options *options = problem->options;
    const size_t most = problem->bank.count + md_source_count(problem->source) + CONTEXTS;
    MEDLEY_TRY(check_context(problem, error));
    MEDLEY_TRY(md_new(&problem->candidates, most, sizeof *problem->candidates, error));
    const md_method_traits *traits = problem->method->traits;
    const bool may_own = traits != NULL && traits->own_terms; /* else one norm is over all */
    const bool own_term =
        may_own && (options->bigram == MD_BIGRAM_FIXED ||
                    (options->bigram == MD_BIGRAM_AUTO && problem->source == NULL));
    bool has_pairs = false;
    add_kernels(problem);
    add_templates(problem, own_term, &has_pairs);
    if (has_context(problem))
        add_label_context(problem, has_pairs, own_term);
    if (problem->candidate_count == 0)
        return md_fail(error, MEDLEY_USAGE,
                       "there is nothing to learn with: the templates speak of pairs of labels "
                       "only, and these are left out; use `task=chain` without `bigram=none`");
    find_shape(problem);
    return put_own_terms_last(problem, error);
}
