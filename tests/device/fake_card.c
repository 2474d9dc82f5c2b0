/* SPDX-License-Identifier: BSD-3-Clause */
/* A card that is none: the functions of device/device.h by plain loops, in double precision, and
 * rounded as a card rounds. So everything above the seam is tested where there is no card. It is
 * strict: callers that break the contract end the program with a sentence, and what a contract
 * calls undefined is not a number.
 *
 * MEDLEY_FAKE_CARD in the environment makes it fail when it is opened (version, none, old), for
 * lack of memory (memory; scores: of memory for scores), or with the N-th call on a bank and all
 * that follow (lost:N). */
#include "fake_card.h"

/* ---- what goes wrong ---- */

void fake_demand(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fake card: %s\n", what);
    abort();
}

void *fake_array(size_t count, size_t size)
{
    void *made = calloc(count + 1, size);
    fake_demand(made != NULL, "there is no memory for the test");
    return made;
}

void *fake_copy(const void *from, size_t count, size_t size)
{
    if (from == NULL)
        return NULL;
    void *made = fake_array(count, size);
    memcpy(made, from, count * size);
    return made;
}

bool fake_is_lost(fake_card *card, char *message)
{
    const long before = atomic_fetch_add(&card->calls, 1);
    if (card->healthy_calls < 0 || before < card->healthy_calls)
        return false;
    snprintf(message, MD_DEVICE_MESSAGE, "unspecified launch failure while waiting for it");
    return true;
}

bool fake_fails(const fake_bank *bank, char *message)
{
    fake_demand(pthread_equal(bank->thread, pthread_self()), "called by another thread");
    return fake_is_lost(bank->card, message);
}

int fake_needs_memory(char *message)
{
    snprintf(message, MD_DEVICE_MESSAGE,
             "%.1f MB of its memory are needed, and %.1f of %.1f are free", 2048.0, 12.5, 1024.0);
    return 1;
}

/* ---- the card ---- */

/* Of memory that was pinned: each piece once, and given back. */
static bool pin(void *context, void *memory, size_t bytes)
{
    fake_card *card = context;
    fake_demand(memory != NULL && bytes > 0, "no memory is pinned");
    for (size_t i = 0; i < card->pinned_count; i++)
        fake_demand(card->pinned[i] != memory, "memory is pinned twice");
    if (card->pinned_count == FAKE_PINS)
        return false;
    card->pinned[card->pinned_count++] = memory;
    return true;
}

static void unpin(void *context, void *memory)
{
    fake_card *card = context;
    size_t i = 0;
    while (i < card->pinned_count && card->pinned[i] != memory)
        i++;
    fake_demand(i < card->pinned_count, "memory is given back that was not pinned");
    card->pinned[i] = card->pinned[--card->pinned_count];
}

static void close_card(void *context)
{
    const fake_card *card = context;
    fake_demand(card->pinned_count == 0, "pinned memory was not given back");
    free(context);
}

/* Why it cannot be opened; false: it can. */
static bool refuses(const char *fault, int number, const char *version, char *message)
{
    const bool is_other = strcmp(fault, "version") == 0;
    if (is_other || strcmp(version, MD_DEVICE_VERSION(MEDLEY_VERSION)) != 0)
        snprintf(message, MD_DEVICE_MESSAGE,
                 "libmedley-cuda.so belongs to Medley %s and this is %.60s; install both anew",
                 is_other ? "0.0.1" : MD_DEVICE_VERSION(MEDLEY_VERSION), version);
    else if (strcmp(fault, "none") == 0)
        snprintf(message, MD_DEVICE_MESSAGE,
                 "there is no card that CUDA can use (none is installed)");
    else if (number > 0)
        snprintf(message, MD_DEVICE_MESSAGE, "there is no card %d: the last one is 0", number);
    else if (strcmp(fault, "old") == 0)
        snprintf(message, MD_DEVICE_MESSAGE,
                 "fake card is too old: it has compute capability 7.0, and 8.0 is needed");
    else
        return false;
    return true;
}

__attribute__((visibility("default"))) md_device_entry medley_cuda_open;

int medley_cuda_open(md_device_functions *functions, int number, const char *version, char *message)
{
    const char *fault = getenv("MEDLEY_FAKE_CARD");
    fault = fault != NULL ? fault : "";
    if (refuses(fault, number, version, message))
        return 1;
    fake_card *card = fake_array(1, sizeof *card);
    card->lacks_memory = strcmp(fault, "memory") == 0;
    card->lacks_scores = strcmp(fault, "scores") == 0;
    card->healthy_calls = strncmp(fault, "lost:", 5) == 0 ? atol(fault + 5) - 1 : -1;
    *functions = (md_device_functions){
        .context = card, .name = "fake card", .close = close_card, .pin = pin, .unpin = unpin};
    fake_bank_functions(functions);
    fake_scores_functions(functions);
    fake_matrices_functions(functions);
    return 0;
}
