/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the plug-in for a card. The library links no CUDA, and a process that does not ask for a
 * card never looks for one. */
#include "device/open_device.h"

#include "base/plugin.h"
#include "base/text.h"
#include <dlfcn.h>
#include <stdatomic.h>

static const char PLUGIN[] = "libmedley-cuda.so";
static const char CUDA[] = "cuda";
enum { MOST_CARDS = 1024 };

struct md_device {
    md_device_functions functions;
};

struct md_device_bank {
    const md_device *device;
    void *bank;
};

struct md_device_matrices {
    const md_device *device;
    void *matrices;
};

struct md_device_scores {
    const md_device *device;
    void *scores;
    atomic_bool has_failed;          /* a call that could not tell, */
    char failure[MD_DEVICE_MESSAGE]; /* which says so here */
};

/* The number of a card in "cuda" or "cuda:N"; -1: it is neither. */
static int card_number(const char *description)
{
    const size_t length = sizeof CUDA - 1;
    double number = 0;
    if (strncmp(description, CUDA, length) != 0)
        return -1;
    if (description[length] == '\0')
        return 0;
    if (description[length] != ':' || !md_parse_double(description + length + 1, &number) ||
        !(number >= 0 && number < MOST_CARDS) || number != (int)number)
        return -1;
    return (int)number;
}

bool md_device_is_cpu(const char *description)
{
    return strcmp(description, "cpu") == 0;
}

bool md_device_is_auto(const char *description)
{
    return strcmp(description, "auto") == 0;
}

medley_status md_device_check(const char *description, medley_error *error)
{
    if (md_device_is_auto(description) || md_device_is_cpu(description) ||
        card_number(description) >= 0)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE,
                   "`device=%s` is none of auto, cpu, cuda and cuda:N with the number N of a card",
                   description);
}

/* 0, or why there is none; *present: there is a plug-in. */
static int open_card(md_device_functions *functions, int number, bool *present, char *message)
{
    char reason[MD_PLUGIN_REASON];
    md_device_entry *entry;
    void *plugin = md_plugin_load(PLUGIN, false, reason);
    *present = plugin != NULL || reason[0] != '\0';
    if (!*present) {
        snprintf(message, MD_DEVICE_MESSAGE,
                 "there is no %s; build Medley where nvcc is, or name its folder in MEDLEY_PLUGINS",
                 PLUGIN);
        return 1;
    }
    if (plugin == NULL) {
        snprintf(message, MD_DEVICE_MESSAGE, "%s cannot be loaded (%s)", PLUGIN, reason);
        return 1;
    }
    *(void **)&entry = dlsym(plugin, MD_DEVICE_ENTRY);
    if (entry != NULL)
        return entry(functions, number, MD_DEVICE_VERSION(MEDLEY_VERSION), message);
    snprintf(message, MD_DEVICE_MESSAGE, "%s is no plug-in of Medley", PLUGIN);
    return 1;
}

medley_status md_device_open(md_device **device, const char *description, char *reason,
                             medley_error *error)
{
    const bool automatic = md_device_is_auto(description);
    const int number = automatic ? 0 : card_number(description);
    bool present = false;
    char message[MD_DEVICE_MESSAGE] = "";
    MD_OWNED(md_device_close) md_device *made = NULL;
    *device = NULL;
    reason[0] = '\0';
    MEDLEY_TRY(md_device_check(description, error));
    if (number < 0)
        return MEDLEY_OK; /* cpu */
    MEDLEY_TRY(md_new(&made, 1, sizeof *made, error));
    if (open_card(&made->functions, number, &present, message) == 0) {
        *device = md_take(&made);
        return MEDLEY_OK;
    }
    if (!automatic)
        return md_fail(error, MEDLEY_NOT_SUPPORTED, "device %s: %s", description, message);
    if (present)
        memcpy(reason, message, sizeof message);
    return MEDLEY_OK;
}

void md_device_close(md_device *device)
{
    if (device != NULL && device->functions.close != NULL)
        device->functions.close(device->functions.context);
    free(device);
}

const char *md_device_name(const md_device *device)
{
    return device->functions.name;
}

static medley_status fail_on(const md_device *device, const char *message, medley_error *error)
{
    return md_fail(error, MEDLEY_FAILED, "%s: %s", device->functions.name, message);
}

/* While something is learnt. */
static medley_status fail_under_way(const md_device *device, const char *message,
                                    medley_error *error)
{
    return md_fail(error, MEDLEY_FAILED,
                   "%s: %s; `device=cpu` does without it, and goes on from a checkpoint if there "
                   "is one",
                   device->functions.name, message);
}

/* ---- banks ---- */

medley_status md_device_bank_create(md_device_bank **bank, const md_device *device,
                                    const md_device_layout *layout, const md_device_rows *rows,
                                    bool precise, medley_error *error)
{
    char message[MD_DEVICE_MESSAGE] = "";
    MD_OWNED(md_device_bank_free) md_device_bank *made = NULL;
    MEDLEY_TRY(md_new(&made, 1, sizeof *made, error));
    made->device = device;
    if (device->functions.bank_create(device->functions.context, &made->bank, layout, rows, precise,
                                      message) != 0)
        return fail_on(device, message, error);
    *bank = md_take(&made);
    return MEDLEY_OK;
}

void md_device_bank_free(md_device_bank *bank)
{
    if (bank != NULL)
        bank->device->functions.bank_free(bank->bank);
    free(bank);
}

void md_device_bank_count(const md_device_bank *bank, size_t *computed, size_t *found)
{
    bank->device->functions.count(bank->bank, computed, found);
}

/* ---- scores ---- */

medley_status md_device_scores_create(md_device_scores **scores, const md_device_bank *bank,
                                      const md_device_slots *slots, medley_error *error)
{
    char message[MD_DEVICE_MESSAGE] = "";
    MD_OWNED(md_device_scores_free) md_device_scores *made = NULL;
    MEDLEY_TRY(md_new(&made, 1, sizeof *made, error));
    made->device = bank->device;
    if (bank->device->functions.scores_create(bank->bank, &made->scores, slots, message) != 0)
        return fail_on(bank->device, message, error);
    *scores = md_take(&made);
    return MEDLEY_OK;
}

void md_device_scores_free(md_device_scores *scores)
{
    if (scores != NULL)
        scores->device->functions.scores_free(scores->scores);
    free(scores);
}

/* What a call has come to, or one before it that could not tell. */
static medley_status told(const md_device_scores *scores, int failed, const char *message,
                          medley_error *error)
{
    if (scores->has_failed)
        return fail_under_way(scores->device, scores->failure, error);
    return failed != 0 ? fail_under_way(scores->device, message, error) : MEDLEY_OK;
}

medley_status md_device_add(md_device_scores *scores, const size_t *rows, size_t count,
                            const float *change, bool precisely, medley_error *error)
{
    char message[MD_DEVICE_MESSAGE] = "";
    const int failed =
        scores->device->functions.add(scores->scores, rows, count, change, precisely, message);
    return told(scores, failed, message, error);
}

medley_status md_device_add_others(md_device_scores *scores, const md_device_rows *rows,
                                   const float *change, medley_error *error)
{
    char message[MD_DEVICE_MESSAGE] = "";
    if (scores->device->functions.add_others(scores->scores, rows, change, message) != 0)
        return fail_on(scores->device, message, error); /* nothing is learnt from others */
    return MEDLEY_OK;
}

medley_status md_device_expect(md_device_scores *scores, const size_t *rows, size_t count,
                               medley_error *error)
{
    char message[MD_DEVICE_MESSAGE] = "";
    const int failed = scores->device->functions.expect(scores->scores, rows, count, message);
    return told(scores, failed, message, error);
}

medley_status md_device_open_rows(md_device_scores *scores, const size_t *rows, size_t count,
                                  md_device_opened *opened, medley_error *error)
{
    char message[MD_DEVICE_MESSAGE] = "";
    const int failed = scores->device->functions.open(scores->scores, rows, count, opened, message);
    return told(scores, failed, message, error);
}

bool md_device_pin(const md_device_scores *scores, void *memory, size_t bytes)
{
    return scores->device->functions.pin(scores->device->functions.context, memory, bytes);
}

void md_device_unpin(const md_device_scores *scores, void *memory)
{
    scores->device->functions.unpin(scores->device->functions.context, memory);
}

medley_status md_device_read(md_device_scores *scores, size_t slot, float *out, medley_error *error)
{
    char message[MD_DEVICE_MESSAGE] = "";
    const int failed = scores->device->functions.read(scores->scores, slot, out, message);
    return told(scores, failed, message, error);
}

medley_status md_device_write(md_device_scores *scores, size_t slot, const float *in,
                              medley_error *error)
{
    char message[MD_DEVICE_MESSAGE] = "";
    const int failed = scores->device->functions.write(scores->scores, slot, in, message);
    return told(scores, failed, message, error);
}

void md_device_scale(md_device_scores *scores, size_t slot, size_t first, size_t count,
                     float factor)
{
    char message[MD_DEVICE_MESSAGE] = "";
    if (scores->device->functions.scale(scores->scores, slot, first, count, factor, message) != 0 &&
        !atomic_exchange(&scores->has_failed, true)) /* several threads may scale */
        memcpy(scores->failure, message, sizeof message);
}

/* ---- matrices ---- */

medley_status md_device_matrices_create(md_device_matrices **matrices, const md_device_bank *bank,
                                        medley_error *error)
{
    char message[MD_DEVICE_MESSAGE] = "";
    MD_OWNED(md_device_matrices_free) md_device_matrices *made = NULL;
    MEDLEY_TRY(md_new(&made, 1, sizeof *made, error));
    made->device = bank->device;
    if (bank->device->functions.matrices_create(bank->bank, &made->matrices, message) != 0)
        return fail_on(bank->device, message, error);
    *matrices = md_take(&made);
    return MEDLEY_OK;
}

void md_device_matrices_free(md_device_matrices *matrices)
{
    if (matrices != NULL)
        matrices->device->functions.matrices_free(matrices->matrices);
    free(matrices);
}

medley_status md_device_multiply(md_device_matrices *matrices, const size_t *kernels, size_t count,
                                 const double *x, size_t stride, double *norm2, double *y,
                                 medley_error *error)
{
    char message[MD_DEVICE_MESSAGE] = "";
    if (matrices->device->functions.multiply(matrices->matrices, kernels, count, x, stride, norm2,
                                             y, message) != 0)
        return fail_under_way(matrices->device, message, error);
    return MEDLEY_OK;
}

medley_status md_device_squares(md_device_matrices *matrices, double *square, medley_error *error)
{
    char message[MD_DEVICE_MESSAGE] = "";
    if (matrices->device->functions.squares(matrices->matrices, square, message) != 0)
        return fail_under_way(matrices->device, message, error);
    return MEDLEY_OK;
}

medley_status md_device_sum(md_device_matrices *matrices, const size_t *kernels, size_t count,
                            const double *weight, double *sum, medley_error *error)
{
    char message[MD_DEVICE_MESSAGE] = "";
    if (matrices->device->functions.sum(matrices->matrices, kernels, count, weight, sum, message) !=
        0)
        return fail_under_way(matrices->device, message, error);
    return MEDLEY_OK;
}

medley_status md_device_multiply_sum(md_device_matrices *matrices, const double *x, double *y,
                                     medley_error *error)
{
    char message[MD_DEVICE_MESSAGE] = "";
    if (matrices->device->functions.multiply_sum(matrices->matrices, x, y, message) != 0)
        return fail_under_way(matrices->device, message, error);
    return MEDLEY_OK;
}

medley_status md_device_column(md_device_matrices *matrices, size_t row, double *column,
                               medley_error *error)
{
    char message[MD_DEVICE_MESSAGE] = "";
    if (matrices->device->functions.column(matrices->matrices, row, column, message) != 0)
        return fail_under_way(matrices->device, message, error);
    return MEDLEY_OK;
}
