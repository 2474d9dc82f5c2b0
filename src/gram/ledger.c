/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a ledger: accounts, windows, entries. What is booked and how: ledger_book.c. */
#include "gram/ledger_internal.h"

#include "base/memory.h"
#include <stdlib.h>
#include <string.h>

/* Rows of a window and changes that are booked together: enough for products at full speed, few
 * enough that looking at every example of an epoch with all of them costs little. */
enum { WINDOW = 64, FEWEST_IN_WINDOW = 16, DUE = 128 };
static const double SHARE = 0.125; /* of the memory for values of the window */

/* ---- creation ---- */

static void free_account(md_account *account)
{
    free(account->window);
    free(account->entered);
    free(account->due);
    free(account->values);
    *account = (md_account){0};
}

void md_ledger_free(md_ledger *ledger)
{
    if (ledger == NULL)
        return;
    for (size_t m = 0; ledger->accounts != NULL && m < ledger->count; m++)
        free_account(&ledger->accounts[m]);
    free(ledger->accounts);
    free(ledger->range);
    free(ledger->window_row);
    free(ledger->slot);
    free(ledger->changed);
    free(ledger->due_row);
    free(ledger->keep);
    free(ledger->found);
    free(ledger->fresh);
    free(ledger->fresh_row);
    free(ledger->wanted);
    for (size_t t = 0; ledger->sums != NULL && t < ledger->gram->threads; t++)
        free(ledger->sums[t]);
    free(ledger->sums);
    md_kept_rows_clear(&ledger->kept);
    free(ledger);
}

/* Kernels that follow one another and share products: those of one view. */
static void find_ranges(md_ledger *ledger)
{
    const md_bank *bank = ledger->gram->bank;
    for (size_t m = 1; m < ledger->count && ledger->gram->mix == NULL; m++)
        if (bank->kernels[m].view != bank->kernels[m - 1].view || bank->kernels[m].class == NULL)
            ledger->range[++ledger->ranges] = m;
    ledger->range[++ledger->ranges] = ledger->count;
}

/* As many rows as values of all kernels fit a part of the memory. */
static size_t choose_window(const md_ledger *ledger, const md_ledger_options *options)
{
    size_t kernels = 0;
    for (size_t m = 0; m < ledger->count; m++)
        kernels += !md_gram_is_kept(ledger->gram, m);
    const double room = options->memory > 0 ? SHARE * (double)options->memory : 1e9;
    size_t window = WINDOW;
    while (window > FEWEST_IN_WINDOW &&
           (double)window * (double)window * (double)kernels * sizeof(float) > room)
        window /= 2;
    return window > options->longest ? window : options->longest;
}

medley_status md_ledger_create(md_ledger **result, md_gram *gram, const md_ledger_options *options,
                               medley_error *error)
{
    medley_status status = MEDLEY_OK;
    md_ledger *ledger = md_calloc(1, sizeof *ledger);
    if (ledger == NULL)
        return md_fail_memory(error, sizeof *ledger);
    ledger->gram = gram;
    ledger->n = gram->n;
    ledger->labels = options->labels;
    ledger->count = gram->count;
    ledger->memory = options->memory - (size_t)(SHARE * (double)options->memory); /* 1 stays 1 */
    ledger->window_most = choose_window(ledger, options);
    ledger->due_most = ledger->window_most > DUE ? ledger->window_most : DUE;
    ledger->accounts = md_calloc(ledger->count, sizeof *ledger->accounts);
    ledger->range = md_calloc(ledger->count + 1, sizeof *ledger->range);
    ledger->window_row = md_calloc(ledger->window_most, sizeof *ledger->window_row);
    ledger->slot = md_calloc(ledger->n, sizeof *ledger->slot);
    ledger->changed = md_calloc(ledger->window_most, sizeof *ledger->changed);
    ledger->due_row = md_calloc(ledger->due_most, sizeof *ledger->due_row);
    /* NOLINTBEGIN(bugprone-sizeof-expression): arrays of pointers are wanted */
    ledger->keep = md_calloc(MD_TILE, sizeof *ledger->keep);
    ledger->found = md_calloc(MD_TILE, sizeof *ledger->found);
    ledger->fresh = md_calloc(MD_TILE, sizeof *ledger->fresh);
    ledger->fresh_row = md_calloc(MD_TILE, sizeof *ledger->fresh_row);
    ledger->wanted = md_calloc(ledger->count, sizeof *ledger->wanted);
    ledger->sums = md_calloc(gram->threads, sizeof *ledger->sums);
    /* NOLINTEND(bugprone-sizeof-expression) */
    if (!ledger->accounts || !ledger->range || !ledger->window_row || !ledger->slot ||
        !ledger->changed || !ledger->due_row || !ledger->keep || !ledger->found || !ledger->fresh ||
        !ledger->fresh_row || !ledger->wanted || !ledger->sums) {
        status = md_fail_memory(error, ledger->n * sizeof *ledger->slot);
        goto done;
    }
    for (size_t t = 0; gram->mix != NULL && t < gram->threads; t++) {
        ledger->sums[t] = md_alloc_aligned((size_t)MD_TILE * MD_TILE, sizeof(float));
        if (ledger->sums[t] == NULL) {
            status = md_fail_memory(error, sizeof(float) * MD_TILE * MD_TILE);
            goto done;
        }
    }
    find_ranges(ledger);
    MEDLEY_TRY(md_kept_rows_init(&ledger->kept, ledger, error));
    *result = ledger;
    ledger = NULL;
done:
    md_ledger_free(ledger);
    return status;
}

medley_status md_ledger_attach(md_ledger *ledger, size_t m, float *score, medley_error *error)
{
    md_account *account = md_ledger_account(ledger, m);
    const size_t window = ledger->window_most;
    *account = (md_account){
        .window = md_calloc(ledger->labels * window, sizeof(float)),
        .entered = md_calloc(ledger->labels * window, sizeof(float)),
        .due = md_calloc(ledger->labels * ledger->due_most, sizeof(float)),
        .values = md_alloc_aligned(window * window, sizeof(float)),
    };
    if (!account->window || !account->entered || !account->due || !account->values) {
        free_account(account);
        return md_fail_memory(error, window * window * sizeof(float));
    }
    account->score = score;
    return MEDLEY_OK;
}

void md_ledger_detach(md_ledger *ledger, size_t m)
{
    free_account(md_ledger_account(ledger, m));
}

/* ---- windows ---- */

size_t md_ledger_window(const md_ledger *ledger)
{
    return ledger->window_most;
}

md_ledger_counts md_ledger_count(const md_ledger *ledger)
{
    return ledger->counts;
}

/* The changes that were entered in the window become due; there is room for them. */
static void take_entries(md_ledger *ledger)
{
    for (size_t s = 0; s < ledger->window_count; s++) {
        if (!atomic_load_explicit(&ledger->changed[s], memory_order_relaxed))
            continue;
        const size_t d = ledger->due_count++;
        ledger->due_row[d] = ledger->window_row[s];
        for (size_t m = 0; m < ledger->count; m++) {
            const md_account *account = &ledger->accounts[m];
            for (size_t l = 0; account->score != NULL && l < ledger->labels; l++) {
                account->due[l * ledger->due_most + d] =
                    account->entered[l * ledger->window_most + s];
                account->entered[l * ledger->window_most + s] = 0;
            }
        }
        atomic_store_explicit(&ledger->changed[s], false, memory_order_relaxed);
    }
}

static void drop_window(md_ledger *ledger)
{
    for (size_t s = 0; s < ledger->window_count; s++)
        ledger->slot[ledger->window_row[s]] = 0;
    ledger->window_count = 0;
}

/* Ends the window; its changes are due. */
static medley_status leave_window(md_ledger *ledger, medley_error *error)
{
    size_t changes = 0;
    for (size_t s = 0; s < ledger->window_count; s++)
        changes += atomic_load_explicit(&ledger->changed[s], memory_order_relaxed);
    medley_status status = MEDLEY_OK;
    if (ledger->due_count + changes > ledger->due_most)
        status = md_ledger_book(ledger, error);
    if (status < 0)
        return status;
    take_entries(ledger);
    drop_window(ledger);
    return MEDLEY_OK;
}

medley_status md_ledger_open(md_ledger *ledger, const size_t *rows, size_t count,
                             medley_error *error)
{
    const medley_status status = leave_window(ledger, error);
    if (status < 0)
        return status;
    ledger->window_count = count;
    for (size_t s = 0; s < count; s++) {
        ledger->window_row[s] = rows[s];
        ledger->slot[rows[s]] = s + 1;
    }
    return md_ledger_fill_window(ledger, error);
}

/* ---- replaced coefficients ---- */

static bool is_support(const md_ledger *ledger, size_t row)
{
    for (size_t m = 0; m < ledger->count; m++) {
        const float *restated = ledger->accounts[m].restated;
        for (size_t l = 0; restated != NULL && l < ledger->labels; l++)
            if (restated[l * ledger->n + row] != 0)
                return true;
    }
    return false;
}

static void make_due(md_ledger *ledger, size_t row)
{
    const size_t d = ledger->due_count++;
    ledger->due_row[d] = row;
    for (size_t m = 0; m < ledger->count; m++) {
        const md_account *account = &ledger->accounts[m];
        for (size_t l = 0; account->score != NULL && l < ledger->labels; l++)
            account->due[l * ledger->due_most + d] =
                account->restated ? account->gain * account->restated[l * ledger->n + row] : 0;
    }
}

/* Nothing is due when this begins. */
static medley_status book_restated(md_ledger *ledger, medley_error *error)
{
    medley_status status = MEDLEY_OK;
    for (size_t m = 0; m < ledger->count; m++)
        if (ledger->accounts[m].restated != NULL)
            memset(ledger->accounts[m].score, 0, ledger->n * ledger->labels * sizeof(float));
    for (size_t row = 0; row < ledger->n && status == MEDLEY_OK; row++) {
        if (!is_support(ledger, row))
            continue;
        if (ledger->due_count == ledger->due_most)
            status = md_ledger_book(ledger, error);
        if (status == MEDLEY_OK)
            make_due(ledger, row);
    }
    for (size_t m = 0; m < ledger->count; m++)
        ledger->accounts[m].restated = NULL;
    return status == MEDLEY_OK ? md_ledger_book(ledger, error) : status;
}

void md_ledger_restate(md_ledger *ledger, size_t m, const float *coefficient, float gain)
{
    md_account *account = md_ledger_account(ledger, m);
    md_ledger_forget(ledger, m);
    account->live = true;
    account->restated = coefficient;
    account->gain = gain;
}

void md_ledger_continue(md_ledger *ledger, size_t m)
{
    md_ledger_account(ledger, m)->live = true;
}

medley_status md_ledger_close(md_ledger *ledger, medley_error *error)
{
    medley_status status = leave_window(ledger, error);
    if (status == MEDLEY_OK)
        status = md_ledger_book(ledger, error);
    bool restated = false;
    for (size_t m = 0; m < ledger->count; m++)
        restated = restated || ledger->accounts[m].restated != NULL;
    return status == MEDLEY_OK && restated ? book_restated(ledger, error) : status;
}

/* ---- entries ---- */

const float *md_ledger_scores(const md_ledger *ledger, size_t m, size_t row, size_t *stride)
{
    const md_account *account = md_ledger_account(ledger, m);
    const size_t slot = ledger->slot[row];
    *stride = slot > 0 ? ledger->window_most : ledger->n;
    return slot > 0 ? account->window + slot - 1 : account->score + row;
}

void md_ledger_add(md_ledger *ledger, size_t m, size_t row, size_t label, float change)
{
    md_account *account = md_ledger_account(ledger, m);
    const size_t slot = ledger->slot[row] - 1;
    const size_t at = label * ledger->window_most;
    account->live = true;
    account->entered[at + slot] += change;
    atomic_store_explicit(&ledger->changed[slot], true, memory_order_relaxed);
    md_add_multiple(account->window + at, change, account->values + slot * ledger->window_most,
                    ledger->window_count);
}

float md_ledger_entry(const md_ledger *ledger, size_t m, size_t row, size_t other)
{
    const md_account *account = md_ledger_account(ledger, m);
    return account->values[(ledger->slot[row] - 1) * ledger->window_most + ledger->slot[other] - 1];
}

void md_ledger_forget_label(md_ledger *ledger, size_t m, size_t label)
{
    const md_account *account = md_ledger_account(ledger, m);
    const size_t window = ledger->window_most;
    memset(account->window + label * window, 0, window * sizeof(float));
    memset(account->entered + label * window, 0, window * sizeof(float));
    memset(account->due + label * ledger->due_most, 0, ledger->due_most * sizeof(float));
}

void md_ledger_forget(md_ledger *ledger, size_t m)
{
    md_account *account = md_ledger_account(ledger, m);
    account->live = false;
    account->restated = NULL;
    for (size_t l = 0; l < ledger->labels; l++)
        md_ledger_forget_label(ledger, m, l);
}

void md_ledger_rescale(md_ledger *ledger, size_t m, float factor)
{
    md_account *account = md_ledger_account(ledger, m);
    for (size_t i = 0; i < ledger->labels * ledger->window_most; i++) {
        account->window[i] *= factor;
        account->entered[i] *= factor;
    }
    for (size_t i = 0; i < ledger->labels * ledger->due_most; i++)
        account->due[i] *= factor;
}
