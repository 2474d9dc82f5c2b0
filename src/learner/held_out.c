/* SPDX-License-Identifier: BSD-3-Clause */
#include "learner/held_out.h"

#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

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
    size_t *seen = md_calloc(train->label_names.count + 1, sizeof *seen);
    *division = (md_division){.visit = md_calloc(count, sizeof *division->visit),
                              .held = md_calloc(count, sizeof *division->held)};
    if (seen == NULL || division->visit == NULL || division->held == NULL) {
        free(seen);
        md_division_clear(division);
        return md_fail_memory(error, count * sizeof *division->visit);
    }
    for (size_t e = 0; e < count; e++) {
        const size_t row = rule->sequences ? train->sequence_start[e] : e;
        const size_t label = rule->by_label ? (size_t)train->label[row] : 0;
        if (++seen[label] % PARTS == rule->which % PARTS)
            division->held[division->held_count++] = e;
        else
            division->visit[division->visit_count++] = e;
    }
    free(seen);
    return MEDLEY_OK;
}

void md_score_example(const md_problem *problem, const md_trained *trained, md_example example,
                      float *score)
{
    const md_space space = problem->space;
    memset(score, 0, space.structure->part_count(space.shape, example.length) * sizeof *score);
    for (size_t b = 0; b < trained->block_count; b++)
        trained->blocks[b]->class->score(trained->blocks[b], example, score);
}

medley_status md_held_out_accuracy(double *accuracy, const md_problem *problem,
                                   const md_trained *trained, const md_division *division,
                                   medley_error *error)
{
    const md_space space = problem->space;
    md_inference inference;
    const medley_status status = md_inference_init(&inference, space, problem->longest, error);
    if (status < 0)
        return status;
    size_t right = 0;
    size_t total = 0;
    for (size_t h = 0; h < division->held_count; h++) {
        const md_example example = problem->examples[division->held[h]];
        md_score_example(problem, trained, example, inference.score);
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
