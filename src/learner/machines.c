/* SPDX-License-Identifier: BSD-3-Clause */
#include "learner/machines.h"

#include "base/memory.h"
#include "batch/certificate.h"
#include <stdlib.h>
#include <string.h>

static medley_status refuse_others(const md_problem *problem, const char *penalty,
                                   medley_error *error)
{
    const char *method = problem->method->about->name;
    const char *asked = problem->options->penalty;
    if (!problem->batch->loss->svm)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "--method %s is made of support vector machines, whose loss is hinge; leave "
                       "out --loss %s or use --method spicy",
                       method, problem->batch->loss->name);
    if (strcmp(asked, "auto") != 0 && strcmp(asked, penalty) != 0)
        return md_fail(
            error, MEDLEY_NOT_SUPPORTED,
            "--method %s is made of support vector machines and has their penalty; leave "
            "out --penalty %s or use --method spicy",
            method, asked);
    return MEDLEY_OK;
}

static medley_status check_kernels(const md_problem *problem, medley_error *error)
{
    md_store_defect defect;
    const medley_status status = md_store_find_defect(problem->batch->store, &defect, error);
    if (status < 0 || defect.kernel == md_store_count(problem->batch->store))
        return status;
    return md_fail_at(error, MEDLEY_BAD_INPUT, problem->train->source, 0,
                      "kernel '%s' is not positive semi-definite: its eigenvalues go from %.3g to "
                      "%.3g; --ridge adds to its diagonal",
                      problem->bank.kernels[defect.kernel].name, defect.least, defect.most);
}

medley_status md_machines_init(md_machines *machines, md_problem *problem, const char *penalty,
                               medley_error *error)
{
    const medley_dataset *train = problem->train;
    const size_t n = train->rows;
    const size_t labels = problem->space.shape.labels;
    const size_t outputs = labels == 2 ? 1 : labels;
    *machines = (md_machines){.problem = problem, .outputs = outputs};
    medley_status status = refuse_others(problem, penalty, error);
    if (status == MEDLEY_OK)
        status = check_kernels(problem, error);
    if (status < 0)
        return status;
    machines->target = md_calloc(outputs * n, sizeof *machines->target);
    machines->kernel = md_alloc_aligned(n * n, sizeof *machines->kernel);
    if (machines->target == NULL || machines->kernel == NULL)
        return md_fail_memory(error, (n + outputs) * n * sizeof *machines->kernel);
    for (size_t o = 0; o < outputs; o++) {
        const int32_t label = outputs == 1 ? 1 : (int32_t)o;
        for (size_t r = 0; r < n; r++)
            machines->target[o * n + r] = train->label[r] == label ? 1 : -1;
    }
    return MEDLEY_OK;
}

void md_machines_clear(md_machines *machines)
{
    free(machines->target);
    free(machines->kernel);
    *machines = (md_machines){0};
}

void md_machines_list(const md_machines *machines, const size_t *rows, size_t count, md_svm *list)
{
    const size_t n = machines->problem->train->rows;
    for (size_t o = 0; o < machines->outputs; o++)
        list[o] = (md_svm){.y = machines->target + o * n, .rows = rows, .count = count};
}

void md_machines_add(md_machine_sums *sums, const md_svm *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sums->primal += list[i].primal;
        sums->dual += list[i].dual;
        sums->difference += md_certified_gap(list[i].primal, list[i].dual) * list[i].primal;
        sums->solved = sums->solved && list[i].solved;
    }
}
