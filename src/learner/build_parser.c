/* SPDX-License-Identifier: BSD-3-Clause */
/* Arc templates on their way into a model: those without weights are left behind. */
#include "learner/build_model.h"

#include "base/memory.h"
#include "block/arc_weights.h"
#include "task/parser.h"
#include <math.h>
#include <stdlib.h>

static medley_status copy_templates(md_builder *b, md_parser *parser)
{
    const md_arc_templates *templates = b->problem->arc_templates;
    bool *keep = md_calloc(md_arc_templates_count(templates), sizeof *keep);
    if (keep == NULL)
        return md_fail_memory(b->error, md_arc_templates_count(templates) * sizeof *keep);
    for (size_t i = 0; i < b->learnt_count; i++)
        if (md_learnt_is_active(&b->learnt[i]))
            keep[md_builder_candidate(b, i)->index] = true;
    const medley_status status =
        md_arc_templates_subset(&parser->templates, templates, keep, b->error);
    free(keep);
    return status;
}

/* Weights so small that all of an arc's together change its score by about this, if their signs are
 * random, are left out: they are most of them. A loss of one, or a margin, is the unit of scores;
 * where weights are small, since little was learnt, it is four times the largest of them. */
static const double LEAST_CHANGE = 0.02;

static float find_least(const md_builder *b, size_t templates)
{
    float largest = 0;
    for (size_t i = 0; i < b->learnt_count; i++)
        for (size_t k = 0; md_learnt_is_active(&b->learnt[i]) && k < b->learnt[i].size; k++)
            largest = fmaxf(largest, fabsf(b->learnt[i].values[k]));
    return (float)(LEAST_CHANGE / sqrt((double)templates) * fmin(1, 4 * (double)largest));
}

/* Blocks are in the order of their templates. */
medley_status md_builder_copy_arcs(md_builder *b)
{
    const medley_status created = md_parser_create(b->model, b->error);
    if (created < 0)
        return created;
    md_parser *parser = b->model->own;
    parser->tags = b->problem->tags;
    parser->bits = b->problem->arc_bits;
    b->model->token_columns = b->problem->train->token_columns;
    const medley_status status = copy_templates(b, parser);
    if (status < 0)
        return status;
    const medley_status allocated = md_parser_allocate(parser, b->error);
    if (allocated < 0)
        return allocated;
    const float least = find_least(b, md_arc_templates_count(parser->templates));
    uint16_t *to = parser->weights;
    size_t used = 0;
    for (size_t i = 0; i < b->learnt_count; i++) {
        const md_learnt *learnt = &b->learnt[i];
        if (!md_learnt_is_active(learnt))
            continue;
        parser->info[used++] = learnt->candidate;
        for (size_t k = 0; k < learnt->size; k++)
            to[k] = fabsf(learnt->values[k]) < least ? 0 : md_half_of_float(learnt->values[k]);
        to += learnt->size;
    }
    return MEDLEY_OK;
}
