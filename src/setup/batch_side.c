/* SPDX-License-Identifier: BSD-3-Clause */
/* What methods on whole matrices have beside the problem: a loss of one number, and all values of
 * all kernels. */
#include "packed/mixture.h"
#include "setup/setup.h"

static medley_status begin(md_problem *problem, const char *text, medley_error *error)
{
    MD_CLEARED(md_spec_clear) md_spec spec = {0};
    MEDLEY_TRY(md_spec_parse(&spec, text, error));
    const md_margin_loss *loss = md_margin_loss_find(spec.name);
    if (loss == NULL && md_loss_find(spec.name) == NULL)
        return md_fail_unlisted("loss", "losses", spec.name, error);
    const bool numbers = problem->task->structure == NULL;
    if (loss == NULL || loss->classifies == numbers)
        return md_fail(error, MEDLEY_USAGE,
                       "`loss=%s` has no place in `task=%s` of `method=%s`; use %s", spec.name,
                       problem->task->about.name, problem->method->about->name,
                       numbers ? "squared or epsilon" : "hinge or logistic");
    MEDLEY_TRY(md_new(&problem->batch, 1, sizeof *problem->batch, error));
    MEDLEY_TRY(md_new(&problem->batch->loss_state, 1, loss->state_size + 1, error));
    char what[64];
    snprintf(what, sizeof what, "loss %s", loss->name);
    if (loss->params != NULL)
        MEDLEY_TRY(md_params_defaults(loss->params, problem->batch->loss_state, error));
    MEDLEY_TRY(md_params_set_spec(loss->params, problem->batch->loss_state, what, &spec, error));
    problem->batch->loss = loss;
    problem->loss = text;
    return MEDLEY_OK;
}

static medley_status know_blocks(md_problem *problem, medley_error *error)
{
    const char *method = problem->method->about->name;
    for (size_t m = 0; m < problem->bank.count; m++)
        if (md_kernel_has_weights(&problem->bank.kernels[m]))
            return md_fail(error, MEDLEY_NOT_SUPPORTED,
                           "`method=%s` learns coefficients of rows, not weights of columns as "
                           "kernel '%s' has them; leave out 'explicit', or use `method=spom`",
                           method, problem->bank.kernels[m].name);
    return MEDLEY_OK;
}

/* Newton steps on matrices of rows by rows need two of them; where these do not fit beside the
 * kernels, steps are by products, with the weighted sum of the kernels as values if that fits. */
static size_t plan(md_problem *problem, bool on_card)
{
    enum { LEAST = 64 << 20, MATRIX_SHARE = 4, MIXTURE_SHARE = 3, SCRATCH_SHARE = 8 };
    enum { FEW_ROWS = 1500 }; /* whose matrix comes from a card sooner than products with it */
    md_batch_side *side = problem->batch;
    const size_t memory = md_problem_memory(problem);
    const double n = (double)problem->prepared.rows;
    const double room = fmax(LEAST, (double)memory / MATRIX_SHARE);
    side->products_only = problem->method->products &&
                          (2 * n * n * sizeof(double) > room || (on_card && n > FEW_ROWS));
    const size_t bytes = md_mixture_bytes(problem->prepared.rows);
    side->mixture = side->products_only && bytes <= memory / MIXTURE_SHARE ? bytes : 0;
    return side->products_only ? memory - memory / SCRATCH_SHARE - side->mixture : memory;
}

static medley_status pack(md_problem *problem, bool float64, const md_device *device,
                          medley_error *error)
{
    const md_packed_options options = {.threads = problem->threads,
                                       .comm = problem->options->comm,
                                       .memory = plan(problem, device != NULL),
                                       .device = device,
                                       .float64 = float64,
                                       .by_rows = problem->batch->products_only,
                                       .ridge = problem->options->ridge,
                                       .weight = md_penalty_block_weights(problem->penalty),
                                       .observer = &problem->progress.watch};
    return md_packed_create(&problem->batch->packed, &problem->bank, &problem->prepared, &options,
                            error);
}

/* Kernels whose matrices a card would have: not those that are factors, which are the first to be
 * looked at. Others may turn out not to be positive semi-definite, which is found out here. */
static medley_status list_wanted(bool *wanted, size_t *count, const md_problem *problem,
                                 medley_error *error)
{
    for (size_t m = 0; m < problem->bank.count; m++) {
        const md_kernel_class *class = problem->bank.kernels[m].class;
        wanted[m] = class == NULL || (!class->constant && !class->has_primal_form);
        *count += wanted[m];
        if (class != NULL && !class->positive_definite)
            return md_fail(error, MEDLEY_NOT_SUPPORTED,
                           "kernel '%s' may not be positive semi-definite, which only the "
                           "processor checks",
                           class->name);
    }
    if (problem->options->storage == MD_STORAGE_FLOAT64)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "cards have values in single precision, and `storage` is float64");
    return MEDLEY_OK;
}

static medley_status pack_on_card(md_problem *problem, const md_device *device, size_t count,
                                  medley_error *error)
{
    char what[MD_DEVICE_NAME];
    medley_error why = {0};
    if (pack(problem, false, device, &why) != MEDLEY_OK) {
        md_packed_free(problem->batch->packed);
        problem->batch->packed = NULL;
        return problem->progress.stopped ? md_fail(error, why.code, "%s", why.message)
                                         : md_problem_without_device(problem, &why, error);
    }
    snprintf(what, sizeof what, "matrices of %zu kernel%s, products and sums", count,
             count == 1 ? "" : "s");
    md_problem_note_device(problem, what);
    return MEDLEY_OK;
}

static medley_status find_values_on_card(md_problem *problem, medley_error *error)
{
    const md_device *device = NULL;
    size_t count = 0;
    medley_error why = {0};
    MD_OWNED(free) bool *wanted = NULL;
    MEDLEY_TRY(md_new(&wanted, problem->bank.count, sizeof *wanted, error));
    if (md_device_is_cpu(problem->options->device))
        return MEDLEY_OK;
    const md_card_wish wish = {.bank = &problem->bank,
                               .rows = &problem->prepared,
                               .wanted = wanted,
                               .precise = true,
                               .memory = (double)md_problem_memory(problem)};
    (void)list_wanted(wanted, &count, problem, &why);
    if (count > 0)
        MEDLEY_TRY(md_problem_find_device(&device, problem, &wish, &why, error));
    return device != NULL ? pack_on_card(problem, device, count, error) : MEDLEY_OK;
}

static medley_status find_values(md_problem *problem, medley_error *error)
{
    MEDLEY_TRY(find_values_on_card(problem, error));
    if (problem->batch->packed != NULL)
        return MEDLEY_OK;
    return pack(problem, problem->options->storage == MD_STORAGE_FLOAT64, NULL, error);
}

medley_status md_batch_use_float64(md_problem *problem, medley_error *error)
{
    md_packed_free(problem->batch->packed);
    problem->batch->packed = NULL;
    char *what = problem->device_use.what;
    if (what[0] != '\0')
        snprintf(what + strlen(what), sizeof problem->device_use.what - strlen(what),
                 "; the last steps in double precision on the processor");
    return pack(problem, true, NULL, error);
}

static void drop_values(md_problem *problem)
{
    if (problem->batch == NULL)
        return;
    md_packed_free(problem->batch->packed);
    free(problem->batch->loss_state);
    *problem->batch = (md_batch_side){0};
}

size_t md_batch_outputs(const md_problem *problem)
{
    const size_t labels = problem->space.shape.labels;
    return problem->task->one_score || labels == 2 ? 1 : labels;
}

void md_batch_targets(double *y, const md_problem *problem, size_t output)
{
    const int32_t *gold = problem->gold;
    const int32_t label = md_batch_outputs(problem) == 1 ? 1 : (int32_t)output;
    for (size_t r = 0; r < problem->train->rows; r++)
        y[r] = gold == NULL ? problem->train->target[r] : gold[r] == label ? 1 : -1;
}

medley_status md_batch_check_kernels(const md_problem *problem, const char *remedy,
                                     medley_error *error)
{
    md_packed *packed = problem->batch->packed;
    md_packed_defect defect;
    MEDLEY_TRY(md_packed_find_defect(packed, &defect, error));
    if (defect.kernel == md_packed_count(packed))
        return MEDLEY_OK;
    const double diagonal = md_packed_trace(packed, defect.kernel) / (double)md_packed_rows(packed);
    const double ridge = problem->options->ridge;
    char enough[64] = " and its diagonal is not positive";
    if (diagonal > 0)
        md_print(enough, sizeof enough, "; `ridge=%.3g` would make it so",
                 ridge + 1.1 * -defect.least / diagonal * (1 + ridge));
    return md_fail_at(error, MEDLEY_BAD_INPUT, problem->train->source, 0,
                      "kernel '%s' is not positive semi-definite: its eigenvalues go from %.3g to "
                      "%.3g%s",
                      problem->bank.kernels[defect.kernel].name, defect.least, defect.most,
                      remedy != NULL ? remedy : enough);
}

medley_status md_mean_weights(double **weight, size_t count, medley_error *error)
{
    MEDLEY_TRY(md_new(weight, count, sizeof **weight, error));
    for (size_t m = 0; m < count; m++)
        (*weight)[m] = 1 / (double)count;
    return MEDLEY_OK;
}

const md_kind md_batch_kind = {
    .batch = true,
    .penalty = "group-lasso",
    .attribute_kernel = "linear",
    .begin = begin,
    .know_blocks = know_blocks,
    .find_values = find_values,
    .drop_values = drop_values,
};
