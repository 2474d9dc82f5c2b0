/* SPDX-License-Identifier: BSD-3-Clause */
#include "learner/held_out.h"

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
    medley_status status = MEDLEY_OK;
    const size_t count = rule->sequences ? train->sequence_count : train->rows;
    size_t *seen = NULL;
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
done:
    free(seen);
    if (status < 0)
        md_division_clear(division);
    return status;
}

medley_status md_held_out_accuracy(double *accuracy, const md_problem *problem,
                                   const md_trained *trained, const md_division *division,
                                   medley_error *error)
{
    const md_space space = problem->space;
    const md_online_problem loop = md_problem_for_loop(problem, trained);
    md_inference inference;
    const medley_status status = md_inference_init(&inference, space, problem->longest, error);
    if (status < 0)
        return status;
    size_t right = 0;
    size_t total = 0;
    for (size_t h = 0; h < division->held_count; h++) {
        const md_example example = problem->examples[division->held[h]];
        md_online_score(&loop, example, inference.score);
        space.structure->decode(space.shape, example.length, inference.score, NULL,
                                inference.output, &inference.workspace);
        for (size_t i = 0; i < example.length; i++)
            right += inference.output[i] == problem->gold[example.row + i];
        total += example.length;
    }
    *accuracy = total ? (double)right / (double)total : 0;
    md_inference_clear(&inference);
    return MEDLEY_OK;
}
