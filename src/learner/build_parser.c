/* SPDX-License-Identifier: BSD-3-Clause */
/* Arc templates on their way into a model: those without weights are left behind. */
#include "learner/build_model.h"

#include "base/memory.h"
#include "block/arc_weights.h"
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

/* Weights that cannot change a score by more than about this, all of an arc's taken together, are
 * left out: they are most of them. A loss of one, or a margin, is the unit of scores. */
static const double LEAST_CHANGE = 0.02;

/* Blocks are in the order of their templates. */
medley_status md_builder_copy_arcs(md_builder *b)
{
    md_parser *parser = b->model->parser = md_calloc(1, sizeof *parser);
    if (parser == NULL)
        return md_fail_memory(b->error, sizeof *parser);
    parser->tags = b->problem->tags;
    parser->bits = b->problem->arc_bits;
    b->model->token_columns = b->problem->train->token_columns;
    const medley_status status = copy_templates(b, parser);
    if (status < 0)
        return status;
    const medley_status allocated = md_parser_allocate(parser, b->error);
    if (allocated < 0)
        return allocated;
    const size_t count = md_arc_templates_count(parser->templates);
    const float least = (float)(LEAST_CHANGE / sqrt((double)count));
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
