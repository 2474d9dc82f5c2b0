/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of deferred scores: slots and open rows. Changes of these: deferred_entries.c; what is
 * flushed and how: deferred_flush.c. */
#include "gram/deferred_internal.h"

/* Open rows and changes that are flushed together: enough for products at full speed, few
 * enough that looking at every example of an epoch with all of them costs little. */
enum { MOST_OPEN = 64, FEWEST_OPEN = 16, DUE = 128 };
enum {
    MOST_OPEN_ON_CARD = 496
};                      /* a card is waited for once for all of them; no power of two, since
                         * scores of a row's labels are so far apart in the cache */
enum { OPEN_UNIT = 8 }; /* rows that a card likes to have together */
/* Changes are added from a multiple of it on: whole vectors, so that no compiler's loop for what is
 * left over rounds a score in another way. */
enum { VECTOR = 16 };
enum { FIXED = 8 };                       /* rows */
enum { MANY = 8 };                        /* one changed row of so many */
static const double SHARE = 0.125;        /* of the memory for values of the open rows */
static const double ROOM_ON_CARD = 2.5e8; /* bytes for them; it has them four times */

/* ---- creation ---- */

static void clear_slot(md_slot *slot)
{
    md_pool_clear(&slot->pool);
    *slot = (md_slot){0};
}

static void leave_slot(const md_deferred *deferred, md_slot *slot)
{
    if (slot->is_pinned)
        md_device_unpin(deferred->card, slot->score);
    clear_slot(slot);
}

void md_deferred_free(md_deferred *deferred)
{
    if (deferred == NULL)
        return;
    for (size_t m = 0; deferred->slots != NULL && m < deferred->count; m++)
        leave_slot(deferred, &deferred->slots[m]);
    md_device_scores_free(deferred->card);
    md_kept_rows_clear(&deferred->kept);
    md_prepared_clear(&deferred->open);
    md_prepared_clear(&deferred->left);
    md_prepared_clear(&deferred->own_open);
    md_pool_clear(&deferred->pool);
    free(deferred);
}

/* Kernels that follow one another and share products: those of one view. */
static void find_ranges(md_deferred *deferred)
{
    const md_bank *bank = deferred->gram->bank;
    for (size_t m = 1; m < deferred->count && deferred->gram->mix == NULL; m++)
        if (bank->kernels[m].view != bank->kernels[m - 1].view || bank->kernels[m].class == NULL)
            deferred->range[++deferred->ranges] = m;
    deferred->range[++deferred->ranges] = deferred->count;
}

/* As many rows as values of all kernels fit a part of the memory. */
static size_t choose_open_most(const md_deferred *deferred, const md_deferred_options *options)
{
    size_t kernels = 0;
    for (size_t m = 0; m < deferred->count; m++)
        kernels += !md_gram_is_kept(deferred->gram, m);
    const bool on_card = deferred->gram->card != NULL;
    double room = options->memory > 0 ? SHARE * (double)options->memory : 1e9;
    if (on_card) /* whose models do not depend on the memory that happens to be free */
        room = ROOM_ON_CARD;
    size_t most = on_card ? MOST_OPEN_ON_CARD : MOST_OPEN;
    while (most > FEWEST_OPEN &&
           (double)most * (double)most * (double)kernels * sizeof(float) > room)
        most /= 2;
    most = md_max(most, options->longest);
    return on_card ? md_pieces(most, OPEN_UNIT) * OPEN_UNIT : most;
}

/* Room for everything but the slots' own; the sizes are known. */
static medley_status make_room(md_deferred *deferred, medley_error *error)
{
    md_pool *pool = &deferred->pool;
    const size_t most = deferred->open_most;
    const size_t threads = deferred->gram->threads;
    MEDLEY_TRY(md_pool_new(pool, &deferred->slots, deferred->count, sizeof(md_slot), error));
    MEDLEY_TRY(md_pool_new(pool, &deferred->range, deferred->count + 1, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(pool, &deferred->open_row, most, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(pool, &deferred->position, deferred->n, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(pool, &deferred->changed, most, sizeof(atomic_bool), error));
    MEDLEY_TRY(md_pool_new(pool, &deferred->changed_place, most, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(pool, &deferred->due_row, deferred->due_most, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(pool, &deferred->keep, MD_TILE, sizeof(float *), error));
    MEDLEY_TRY(md_pool_new(pool, &deferred->found, MD_TILE, sizeof(float *), error));
    MEDLEY_TRY(md_pool_new(pool, &deferred->fresh, MD_TILE, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(pool, &deferred->fresh_row, MD_TILE, sizeof(size_t), error));
    MEDLEY_TRY(md_pool_new(pool, &deferred->wanted, deferred->count, sizeof(bool), error));
    MEDLEY_TRY(md_pool_new(pool, &deferred->known, deferred->count, sizeof(bool), error));
    MEDLEY_TRY(md_pool_new(pool, &deferred->sums, threads, sizeof(float *), error));
    for (size_t t = 0; deferred->gram->mix != NULL && t < threads; t++)
        MEDLEY_TRY(
            md_pool_new_aligned(pool, &deferred->sums[t], MD_TILE, MD_TILE * sizeof(float), error));
    if (medley_comm_size(deferred->gram->comm) > 1) {
        MEDLEY_TRY(md_pool_new(pool, &deferred->open_flushed,
                               most * deferred->count * deferred->labels, sizeof(float), error));
        MEDLEY_TRY(md_pool_new(pool, &deferred->open_place, most, sizeof(size_t), error));
        MEDLEY_TRY(md_pool_new(pool, &deferred->own_row, most, sizeof(size_t), error));
        MEDLEY_TRY(md_pool_new(pool, &deferred->own_position, deferred->n, sizeof(size_t), error));
    }
    if (deferred->gram->card != NULL)
        return md_deferred_card_create(deferred, error);
    return md_kept_rows_init(&deferred->kept, deferred, error);
}

medley_status md_deferred_create(md_deferred **result, md_gram *gram,
                                 const md_deferred_options *options, medley_error *error)
{
    MD_OWNED(md_deferred_free) md_deferred *deferred = NULL;
    MEDLEY_TRY(md_new(&deferred, 1, sizeof *deferred, error));
    deferred->gram = gram;
    deferred->n = gram->n;
    deferred->labels = options->labels;
    deferred->count = gram->count;
    deferred->memory = options->memory - (size_t)(SHARE * (double)options->memory); /* 1 stays 1 */
    deferred->open_most = choose_open_most(deferred, options);
    deferred->due_most = md_max(deferred->open_most, DUE);
    deferred->own = md_comm_share(gram->comm, gram->n, MD_OWN_UNIT);
    MEDLEY_TRY(make_room(deferred, error));
    find_ranges(deferred);
    *result = md_take(&deferred);
    return MEDLEY_OK;
}

medley_status md_deferred_attach(md_deferred *deferred, size_t m, float *score, medley_error *error)
{
    md_slot *slot = md_deferred_slot(deferred, m);
    const size_t most = deferred->open_most;
    const size_t labels = deferred->labels;
    MD_CLEARED(clear_slot) md_slot made = {0};
    MEDLEY_TRY(md_pool_new(&made.pool, &made.open_score, labels * most, sizeof(float), error));
    MEDLEY_TRY(md_pool_new(&made.pool, &made.entered, labels * most, sizeof(float), error));
    MEDLEY_TRY(
        md_pool_new(&made.pool, &made.due, labels * deferred->due_most, sizeof(float), error));
    if (deferred->card == NULL)
        MEDLEY_TRY(
            md_pool_new_aligned(&made.pool, &made.values, most * most, sizeof(float), error));
    MEDLEY_TRY(md_pool_new(&made.pool, &made.is_known, most, sizeof(bool), error));
    made.score = score;
    *slot = md_take(&made);
    return MEDLEY_OK;
}

void md_deferred_detach(md_deferred *deferred, size_t m)
{
    if (deferred->card != NULL)
        md_deferred_forget(deferred, m);
    leave_slot(deferred, md_deferred_slot(deferred, m));
}

/* ---- open rows ---- */

size_t md_deferred_open_most(const md_deferred *deferred)
{
    return deferred->open_most;
}

md_deferred_counts md_deferred_count(const md_deferred *deferred)
{
    return deferred->counts;
}

/* The open rows that were changed come to changed_place, and their numbers to due_row; how many
 * they are. */
static size_t list_changed(md_deferred *deferred)
{
    size_t count = 0;
    for (size_t s = 0; s < deferred->open_count; s++) {
        if (!atomic_load_explicit(&deferred->changed[s], memory_order_relaxed))
            continue;
        deferred->changed_place[count] = s;
        deferred->due_row[deferred->due_count + count++] = deferred->open_row[s];
        atomic_store_explicit(&deferred->changed[s], false, memory_order_relaxed);
    }
    return count;
}

/* The changes that were entered for the open rows become due; there is room for them. Label by
 * label, as they lie in memory. */
static void take_entries(md_deferred *deferred)
{
    const size_t count = list_changed(deferred);
    const size_t *place = deferred->changed_place;
    for (size_t m = 0; m < deferred->count; m++) {
        const md_slot *slot = &deferred->slots[m];
        for (size_t l = 0; slot->score != NULL && l < deferred->labels; l++) {
            float *due = slot->due + l * deferred->due_most + deferred->due_count;
            float *entered = slot->entered + l * deferred->open_most;
            for (size_t c = 0; c < count; c++) {
                due[c] = entered[place[c]];
                entered[place[c]] = 0;
            }
        }
    }
    deferred->due_count += count;
}

static void drop_open_rows(md_deferred *deferred)
{
    for (size_t s = 0; s < deferred->open_count; s++)
        deferred->position[deferred->open_row[s]] = 0;
    deferred->open_count = deferred->first_needed = deferred->visited = 0;
    md_deferred_note_change(deferred);
}

/* What is due must be entered anew for all rows that are opened. Flushing it ends that, and takes
 * time of its own, as much as FIXED rows would: both are about the same then, and their sum least.
 */
static bool is_flush_due(const md_deferred *deferred, size_t changes)
{
    const size_t ranks = medley_comm_size(deferred->gram->comm);
    if (deferred->card != NULL)
        return deferred->due_count + changes > deferred->due_most;
    return deferred->due_count + changes > deferred->due_most ||
           deferred->entered > FIXED * deferred->n / ranks;
}

/* No row is open any more; their changes are due. */
static medley_status leave_open_rows(md_deferred *deferred, medley_error *error)
{
    size_t changes = 0;
    for (size_t s = 0; s < deferred->open_count; s++)
        changes += atomic_load_explicit(&deferred->changed[s], memory_order_relaxed);
    deferred->knows_all = MANY * changes >= deferred->open_count;
    if (is_flush_due(deferred, changes))
        MEDLEY_TRY(md_deferred_flush(deferred, error));
    take_entries(deferred);
    drop_open_rows(deferred);
    if (deferred->card != NULL)
        return md_deferred_card_flush(deferred, error);
    return MEDLEY_OK;
}

medley_status md_deferred_open(md_deferred *deferred, const size_t *rows, size_t count,
                               medley_error *error)
{
    MEDLEY_TRY(leave_open_rows(deferred, error));
    deferred->open_count = count;
    for (size_t s = 0; s < count; s++) {
        deferred->open_row[s] = rows[s];
        deferred->position[rows[s]] = s + 1;
    }
    if (deferred->card != NULL && count > 0)
        return md_deferred_card_open(deferred, error);
    return md_deferred_fill_open(deferred, error);
}

static bool is_at(const md_deferred *deferred, size_t place, size_t row)
{
    return place < deferred->open_count && deferred->open_row[place] == row;
}

/* Rows are visited in the order in which they were opened: what is known of all rows is far apart,
 * and seldom needed. */
size_t md_deferred_place(const md_deferred *deferred, size_t row)
{
    return is_at(deferred, deferred->visited, row) ? deferred->visited
                                                   : deferred->position[row] - 1;
}

void md_deferred_visit(md_deferred *deferred, size_t row)
{
    if (is_at(deferred, deferred->visited + 1, row))
        deferred->visited++;
    const size_t place = md_deferred_place(deferred, row);
    if (place != SIZE_MAX)
        deferred->visited = place;
    deferred->first_needed = place != SIZE_MAX ? place / VECTOR * VECTOR : 0;
}

medley_status md_deferred_expect(md_deferred *deferred, const size_t *rows, size_t count,
                                 medley_error *error)
{
    return deferred->card != NULL ? md_device_expect(deferred->card, rows, count, error)
                                  : MEDLEY_OK;
}

/* ---- replaced coefficients ---- */

/* Rows with a coefficient of any slot; arrays are gone through as they lie in memory. */
static void find_support(const md_deferred *deferred, bool *support)
{
    const size_t n = deferred->n;
    for (size_t m = 0; m < deferred->count; m++) {
        const float *replaced = deferred->slots[m].replaced;
        for (size_t l = 0; replaced != NULL && l < deferred->labels; l++)
            for (size_t row = 0; row < n; row++)
                support[row] |= replaced[l * n + row] != 0;
    }
}

/* The coefficients of the rows that are due. */
static void fill_due(const md_deferred *deferred)
{
    for (size_t m = 0; m < deferred->count; m++) {
        const md_slot *slot = &deferred->slots[m];
        for (size_t l = 0; slot->score != NULL && l < deferred->labels; l++) {
            const float *replaced =
                slot->replaced != NULL ? slot->replaced + l * deferred->n : NULL;
            float *due = slot->due + l * deferred->due_most;
            for (size_t d = 0; d < deferred->due_count; d++)
                due[d] = replaced != NULL ? slot->gain * replaced[deferred->due_row[d]] : 0;
        }
    }
}

static medley_status flush_support(md_deferred *deferred, medley_error *error)
{
    MD_OWNED(free) bool *support = NULL;
    MEDLEY_TRY(md_new(&support, deferred->n, sizeof *support, error));
    find_support(deferred, support);
    for (size_t row = 0; row < deferred->n; row++) {
        if (support[row])
            deferred->due_row[deferred->due_count++] = row;
        if (deferred->due_count < deferred->due_most && row + 1 < deferred->n)
            continue;
        fill_due(deferred);
        MEDLEY_TRY(md_deferred_flush(deferred, error));
    }
    return MEDLEY_OK;
}

/* Nothing is due when this begins. */
static medley_status flush_replaced(md_deferred *deferred, medley_error *error)
{
    bool any = false;
    deferred->precisely = true;
    for (size_t m = 0; m < deferred->count; m++) {
        const md_slot *slot = &deferred->slots[m];
        any = any || slot->replaced != NULL;
        if (slot->replaced == NULL)
            continue;
        memset(slot->score, 0, deferred->n * deferred->labels * sizeof(float));
        if (deferred->card != NULL)
            md_deferred_card_scale(deferred, m, 0, deferred->labels, 0);
    }
    if (any)
        MEDLEY_TRY(flush_support(deferred, error));
    for (size_t m = 0; m < deferred->count; m++)
        deferred->slots[m].replaced = NULL;
    deferred->is_partial = deferred->is_partial || any;
    return MEDLEY_OK;
}

void md_deferred_replace(md_deferred *deferred, size_t m, const float *coefficient, float gain)
{
    md_slot *slot = md_deferred_slot(deferred, m);
    md_deferred_forget(deferred, m);
    slot->live = true;
    slot->replaced = coefficient;
    slot->gain = gain;
}

void md_deferred_continue(md_deferred *deferred, size_t m)
{
    md_slot *slot = md_deferred_slot(deferred, m);
    slot->live = true;
    slot->is_stale = deferred->card != NULL;
}

medley_status md_deferred_close(md_deferred *deferred, medley_error *error)
{
    MEDLEY_TRY(leave_open_rows(deferred, error));
    MEDLEY_TRY(md_deferred_flush(deferred, error));
    const medley_status status = flush_replaced(deferred, error);
    deferred->precisely = false;
    if (status != MEDLEY_OK)
        return status;
    if (deferred->card != NULL)
        return md_deferred_card_read(deferred, error);
    return md_deferred_gather_all(deferred, error);
}

/* ---- entries ---- */

size_t md_deferred_version(const md_deferred *deferred)
{
    return atomic_load_explicit(&deferred->version, memory_order_relaxed);
}

const float *md_deferred_open_scores(const md_deferred *deferred, size_t m, size_t place,
                                     size_t *stride)
{
    *stride = deferred->open_most;
    return md_deferred_slot(deferred, m)->open_score + place;
}

const float *md_deferred_scores(const md_deferred *deferred, size_t m, size_t row, size_t *stride)
{
    const md_slot *slot = md_deferred_slot(deferred, m);
    const size_t place = md_deferred_place(deferred, row);
    *stride = place != SIZE_MAX ? deferred->open_most : deferred->n;
    return place != SIZE_MAX ? slot->open_score + place : slot->score + row;
}

void md_deferred_forget_label(md_deferred *deferred, size_t m, size_t label)
{
    md_slot *slot = md_deferred_slot(deferred, m);
    const size_t most = deferred->open_most;
    md_deferred_note_change(deferred);
    memset(slot->open_score + label * most, 0, most * sizeof(float));
    memset(slot->entered + label * most, 0, most * sizeof(float));
    memset(slot->due + label * deferred->due_most, 0, deferred->due_most * sizeof(float));
    if (deferred->card != NULL)
        md_deferred_card_scale(deferred, m, label, 1, 0);
}

void md_deferred_forget(md_deferred *deferred, size_t m)
{
    md_slot *slot = md_deferred_slot(deferred, m);
    slot->live = false;
    slot->replaced = NULL;
    if (deferred->card != NULL)
        md_deferred_card_scale(deferred, m, 0, deferred->labels, 0);
    for (size_t l = 0; l < deferred->labels; l++)
        md_deferred_forget_label(deferred, m, l);
}

void md_deferred_rescale(md_deferred *deferred, size_t m, float factor)
{
    md_slot *slot = md_deferred_slot(deferred, m);
    md_deferred_note_change(deferred);
    for (size_t i = 0; i < deferred->labels * deferred->open_most; i++) {
        slot->open_score[i] *= factor;
        slot->entered[i] *= factor;
    }
    for (size_t i = 0; i < deferred->labels * deferred->due_most; i++)
        slot->due[i] *= factor;
    if (deferred->card != NULL)
        md_deferred_card_scale(deferred, m, 0, deferred->labels, factor);
}
