/* SPDX-License-Identifier: BSD-3-Clause */
#include "setup/setup.h"

#include "base/memory.h"
#include <stdlib.h>

enum { PARTS = 5 };

void md_division_clear(md_division *division)
{
    free(division->visit);
    free(division->held);
    *division = (md_division){0};
}

medley_status md_division_make(md_division *division, const medley_dataset *train,
                               const md_division_rule *rule, medley_error *error)
{
    const size_t count = rule->sequences ? train->sequence_count : train->rows;
    MD_OWNED(free) size_t *seen = NULL;
    *division = (md_division){0};
    MEDLEY_TRY(md_new(&seen, train->label_names.count + 1, sizeof *seen, error));
    MEDLEY_TRY(md_new(&division->visit, count, sizeof *division->visit, error));
    MEDLEY_TRY(md_new(&division->held, count, sizeof *division->held, error));
    for (size_t e = 0; e < count; e++) {
        const size_t row = rule->sequences ? train->sequence_start[e] : e;
        const size_t label = rule->by_label ? (size_t)train->label[row] : 0;
        if (++seen[label] % PARTS == rule->which % PARTS)
            division->held[division->held_count++] = e;
        else
            division->visit[division->visit_count++] = e;
    }
    return MEDLEY_OK;
}
