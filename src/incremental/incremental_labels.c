/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels that were never seen before. Names stay sorted, as they are in any model, so old labels
 * may get new numbers, and with them everything that was learnt of labels, pairs and triples of
 * them. */
#include "incremental/incremental.h"

void md_label_union_clear(md_label_union *both)
{
    medley_dataset_free(both->all);
    *both = (md_label_union){0};
}

static medley_status add_names(md_label_builder *builder, const md_strings *names,
                               medley_error *error)
{
    for (size_t i = 0; i < names->count; i++)
        MEDLEY_TRY(md_labels_add(builder, names->items[i], strlen(names->items[i]), error));
    return MEDLEY_OK;
}

/* Every name counts as the label of a row, so that labels are put in order by what puts them in
 * order elsewhere. */
medley_status md_label_union_make(md_label_union *both, const md_strings *known,
                                  const md_strings *more, medley_error *error)
{
    MD_CLEARED(md_labels_clear) md_label_builder builder = {0};
    *both = (md_label_union){.known = known->count};
    MEDLEY_TRY(medley_dataset_create(&both->all, error));
    both->all->rows = known->count + more->count;
    MEDLEY_TRY(add_names(&builder, known, error));
    MEDLEY_TRY(add_names(&builder, more, error));
    return md_labels_finish(&builder, both->all, error);
}

void md_knowledge_clear(md_knowledge *known)
{
    md_strings_clear(&known->labels);
    for (size_t c = 0; known->theta != NULL && c < known->count; c++)
        free(known->theta[c].body);
    free(known->theta);
    *known = (md_knowledge){0};
}

/* Where a part of a group goes when label l becomes place[l]. */
static size_t moved(md_part_kind kind, size_t part, const int32_t *place, size_t labels_before,
                    size_t labels)
{
    if (kind == MD_END_PARTS)
        return part / labels_before * labels + (size_t)place[part % labels_before];
    const int digits = kind == MD_ROW_PARTS ? 1 : kind == MD_PAIR_PARTS ? 2 : 3;
    size_t target = 0;
    size_t factor = 1;
    for (int d = 0; d < digits; d++) {
        target += factor * (size_t)place[part % labels_before];
        part /= labels_before;
        factor *= labels;
    }
    return target;
}

static medley_status relabel_theta(md_theta *next, const md_theta *theta, md_part_kind kind,
                                   const md_label_union *both, medley_error *error)
{
    const size_t labels = both->all->label_names.count;
    next->capacity = theta->rows * next->width;
    MEDLEY_TRY(md_new(&next->body, next->capacity, sizeof *next->body, error));
    for (size_t p = 0; p < theta->width; p++) {
        const size_t target = moved(kind, p, both->all->label, both->known, labels);
        for (size_t r = 0; r < theta->rows; r++)
            next->body[r * next->width + target] = theta->body[r * theta->width + p];
    }
    return MEDLEY_OK;
}

medley_status md_knowledge_relabel(md_knowledge *next, const md_knowledge *known,
                                   const md_label_union *both, const md_problem *problem,
                                   medley_error *error)
{
    const md_strings *labels = &both->all->label_names;
    const md_space *space = &problem->space;
    *next = (md_knowledge){.count = problem->candidate_count};
    MEDLEY_TRY(md_new(&next->theta, next->count, sizeof *next->theta, error));
    MEDLEY_TRY(md_strings_copy(&next->labels, labels, error));
    for (size_t c = 0; c < next->count; c++) {
        const md_part_kind kind = problem->candidates[c].kind;
        const md_theta nothing = {0};
        const md_theta *theta = known->count > 0 ? &known->theta[c] : &nothing;
        next->theta[c] = *theta;
        next->theta[c].body = NULL;
        next->theta[c].width = space->structure->groups(space->shape, 3, kind).width;
        MEDLEY_TRY(relabel_theta(&next->theta[c], theta, kind, both, error));
    }
    return MEDLEY_OK;
}
