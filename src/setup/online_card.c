/* SPDX-License-Identifier: BSD-3-Clause */
/* Online problems on a card. Linear kernels that would be kept as weights are kernels like the
 * others there: the card has their values for nothing, and products of rows with weights would take
 * the processor longer than all that is left to it. So is a run that goes on from a checkpoint of a
 * card, wherever it goes on. */
#include "setup/checkpoint_head.h"
#include "setup/setup.h"

/* Kernels with values, which are not constant. */
static size_t list_wanted(bool *wanted, const md_bank *bank)
{
    size_t count = 0;
    for (size_t m = 0; m < bank->count; m++) {
        const md_kernel *kernel = &bank->kernels[m];
        wanted[m] =
            !md_kernel_has_weights(kernel) && (kernel->class == NULL || !kernel->class->constant);
        count += wanted[m];
    }
    return count;
}

static medley_status make_kernels_of_weights(md_problem *problem, medley_error *error)
{
    md_online_side *side = problem->online;
    free(side->were_weights);
    MEDLEY_TRY(md_new(&side->were_weights, problem->bank.count, sizeof(bool), error));
    side->without_weights = true;
    for (size_t m = 0; m < problem->bank.count; m++) {
        md_kernel *kernel = &problem->bank.kernels[m];
        if (kernel->primal)
            problem->prepared.used[kernel->view] = true;
        side->were_weights[m] = kernel->primal;
        kernel->primal = false;
    }
    return MEDLEY_OK;
}

/* The processor learns after all, as it would have without a card. */
static medley_status make_weights_again(md_problem *problem, medley_error *error)
{
    md_online_side *side = problem->online;
    side->on_card = side->without_weights = false;
    for (size_t m = 0; m < problem->bank.count; m++) {
        problem->bank.kernels[m].primal = side->were_weights[m];
        md_matrix_clear(&problem->primal[m]);
    }
    free(problem->primal);
    problem->primal = NULL;
    return md_problem_find_primal(problem, error);
}

/* Where the run that is gone on with has been, by its checkpoint; one that cannot be read is found
 * out later. */
enum origin { NO_RUN, PROCESSOR, CARD };

static enum origin find_origin(const medley_options *options)
{
    md_checkpoint_head head = {0};
    if (!options->resume || options->checkpoint == NULL)
        return NO_RUN;
    FILE *file = fopen(options->checkpoint, "rb");
    if (file == NULL)
        return NO_RUN;
    const bool whole = fread(&head, sizeof head, 1, file) == 1;
    fclose(file);
    if (!whole || memcmp(head.magic, MD_CHECKPOINT_MAGIC, sizeof head.magic) != 0)
        return NO_RUN;
    return (head.key & MD_KEY_OF_CARD) != 0 ? CARD : PROCESSOR;
}

medley_status md_online_choose_device(md_problem *problem, medley_error *error)
{
    md_online_side *side = problem->online;
    const enum origin origin = find_origin(problem->options);
    const md_device *device = NULL;
    medley_error refusal = {0};
    MD_OWNED(free) bool *wanted = NULL;
    if (side->gram != NULL) /* that of the run before, wherever it is */
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&wanted, problem->bank.count, sizeof *wanted, error));
    const md_card_wish wish = {.bank = &problem->bank,
                               .rows = &problem->prepared,
                               .wanted = wanted,
                               .memory = (double)md_problem_memory(problem)};
    if (origin == PROCESSOR)
        (void)md_fail(&refusal, MEDLEY_USAGE,
                      "the checkpoint is of a run on the processor, which goes on there");
    if (list_wanted(wanted, &problem->bank) > 0)
        MEDLEY_TRY(md_problem_find_device(&device, problem, &wish, &refusal, error));
    side->on_card = device != NULL;
    if (device != NULL || origin == CARD)
        return make_kernels_of_weights(problem, error);
    return MEDLEY_OK;
}

/* Rounded values are those of other kernels, near by, whose solution is as near where data are not
 * fitted closely. With C K(x,x) = 2 objectives agree to 0.2 %, with 10 to 1 %, with 100 to 10 %. */
double md_online_device_rounds(const md_problem *problem)
{
    static const double MOST_STRENGTH = 2;
    switch (problem->options->device_storage) {
    case MD_DEVICE_FLOAT16:
        return INFINITY;
    case MD_DEVICE_FLOAT32:
        return -INFINITY;
    case MD_DEVICE_AUTO:
        if (problem->options->along_path) /* a path ends where data are fitted closely */
            return -INFINITY;
        break;
    }
    return MOST_STRENGTH * problem->lambda * (double)problem->example_count; /* 2 / C */
}

medley_status md_online_find_values_on_card(md_problem *problem, md_gram_options options,
                                            medley_error *error)
{
    md_online_side *side = problem->online;
    medley_error why = {0};
    char what[MD_DEVICE_NAME];
    md_deferred *deferred;
    MD_OWNED(free) bool *wanted = NULL;
    if (!side->on_card)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&wanted, problem->bank.count, sizeof *wanted, error));
    const size_t count = list_wanted(wanted, &problem->bank);
    options.device = problem->device;
    options.device_rounds = md_online_device_rounds(problem);
    if (md_gram_create(&side->gram, &problem->bank, &problem->prepared, &options, &why) !=
            MEDLEY_OK ||
        md_online_find_deferred(&deferred, problem, &why) != MEDLEY_OK) {
        md_gram_free(md_take(&side->gram));
        MEDLEY_TRY(md_problem_without_device(problem, &why, error));
    }
    if (side->gram == NULL)
        return find_origin(problem->options) == CARD ? MEDLEY_OK
                                                     : make_weights_again(problem, error);
    snprintf(what, sizeof what, "values and scores of %zu kernel%s", count, count == 1 ? "" : "s");
    md_problem_note_device(problem, what);
    return MEDLEY_OK;
}
