/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the deferred scores. */
#ifndef MD_DEFERRED_INTERNAL_H
#define MD_DEFERRED_INTERNAL_H

#include "gram/deferred.h"
#include "gram/gram_internal.h"
#include <stdatomic.h>

/* One kernel, or the mixture of all. */
typedef struct md_slot {
    md_pool pool;          /* of what follows */
    float *score;          /* [labels][n] flushed; NULL: nobody has the slot */
    bool live;             /* A may be something else than 0 */
    float *open_score;     /* [labels][open_most] scores of the open rows */
    float *entered;        /* [labels][open_most] changes since they were opened */
    float *due;            /* [labels][due_most] changes that are not flushed yet */
    float *values;         /* [open_most][open_most] kernel values, of the rows that are known */
    bool *is_known;        /* [open_most] */
    const float *replaced; /* [labels][n] A that replaces everything; NULL: none */
    float gain;            /* of replaced */

    /* on a card: */
    bool is_filled; /* it has scores other than 0 */
    bool is_stale;  /* it lacks scores that the owner has filled */
    bool is_unread; /* it has scores that are not here */
    bool was_read;  /* it has been asked whether score can be pinned: */
    bool is_pinned;
    /* [open_most][open_most] values, where the card has put them: one of the two */
    const float *card_values;
    const uint16_t *card_halves;
} md_slot;

/* Kernel rows that are kept. */
typedef struct md_kept_rows {
    md_pool pool;
    size_t capacity, count; /* rows */
    size_t kernels;         /* of a row */
    size_t *place;          /* [kernels of the bank] where each one's values are; SIZE_MAX: not */
    float **values;         /* [capacity] of [kernels][width]; NULL: not yet */
    float **slab;           /* [n] memory of some rows: one large array has large pages */
    size_t slabs, slab_rows;
    size_t width;     /* floats of a row of one kernel: those of the own columns */
    size_t *row;      /* [capacity] */
    size_t *position; /* [n] position + 1; 0: not kept */
    uint32_t *uses;   /* [n] how often a row was flushed */
} md_kept_rows;

/* Kernel values of some rows, on the left, against all rows or against the open ones, as columns.
 */
typedef enum md_purpose { MD_TO_FLUSH, MD_TO_ENTER, MD_TO_KNOW } md_purpose;
typedef struct md_pass {
    const md_deferred *deferred;
    md_purpose purpose;
    md_tile_job job;
    const size_t *left_row;  /* training row of each left row */
    const size_t *right_row; /* of each column; NULL: the same number */
    const size_t *position;  /* [n] column + 1 of a training row, where there is right_row */
    size_t rows, columns;
    size_t width; /* columns of an item */

    /* to flush: some of the due changes, whose values are computed or were kept */
    size_t first_due, due_rows;
} md_pass;

struct md_deferred {
    md_pool pool; /* of all arrays */
    md_gram *gram;
    size_t n, labels, count; /* rows, labels, kernels of the bank */
    md_slot *slots;          /* [count]; a mixture has the first one */
    size_t *range; /* [ranges + 1] kernels that share products, for the threads of open rows */
    size_t ranges;

    size_t open_most, open_count;
    size_t *open_row;      /* [open_most] */
    size_t first_needed;   /* scores of the open rows before it may be stale */
    size_t visited;        /* place of the row that was visited last; mostly the next one is next */
    size_t *position;      /* [n] position + 1 of an open row */
    atomic_bool *changed;  /* [open_most] some slot has an entry */
    size_t *changed_place; /* [open_most] scratch: those that have */
    atomic_size_t version; /* md_deferred_version */

    size_t due_most, due_count;
    size_t *due_row; /* [due_most] may have a row more than once */
    /* of changes that are flushed together, [MD_TILE]: */
    const float **found; /* where a change's values were kept; NULL: nowhere */
    size_t *fresh;       /* its number among the others */
    size_t *fresh_row;   /* row of each of these */
    float **keep;        /* where its values are to be kept; NULL: nowhere */

    bool *wanted;       /* [count] kernels of the changes that are flushed or entered */
    bool *known;        /* [count] kernels whose values the open rows need */
    size_t last_wanted; /* the last of these */
    float **sums;       /* [threads] of a mixture: [MD_TILE][MD_TILE] */
    md_span own;        /* rows whose scores this rank keeps up to date; the others' come when open
                         * rows need them, and all of them when everything is flushed */
    bool knows_all;  /* values of all open rows are computed when they are opened: many of the last
                      * ones have changed */
    size_t entered;  /* values that were computed to enter what is due, again and again */
    bool is_partial; /* something was flushed since all ranks had all scores */
    float *
        open_flushed; /* [open_most][slots][labels] of the open rows, those of each rank together */
    size_t *open_place; /* [open_most] where an open row is among these */
    size_t *own_row;    /* [open_most] open rows whose scores this rank keeps */
    size_t own_count;
    size_t *own_position; /* [n] position + 1 among these */
    md_prepared own_open; /* these */
    md_prepared open;     /* the open rows */
    md_prepared left;     /* rows of changes */
    size_t memory;        /* for kept rows; 0: no limit */
    md_kept_rows kept;
    md_deferred_counts counts;

    md_device_scores *card; /* NULL: the processor does all this */
    size_t card_slots, card_most;
    bool precisely;     /* what is flushed: all of A, for good */
    float *card_change; /* [card_slots][labels][card_most] */
};

static inline md_slot *md_deferred_slot(const md_deferred *deferred, size_t m)
{
    return &deferred->slots[deferred->gram->mix ? 0 : m];
}

/* Slots may be changed side by side: of two that count at once one may be lost, and it is another
 * number all the same. */
static inline void md_deferred_note_change(md_deferred *deferred)
{
    const size_t version = atomic_load_explicit(&deferred->version, memory_order_relaxed);
    atomic_store_explicit(&deferred->version, version + 1, memory_order_relaxed);
}

/* ---- deferred_pass.c ---- */

/* All rows of the pass against the columns of the range. */
void md_pass_compute(const md_pass *pass, md_tile_range range, size_t worker);
/* Values of one row, not many: no scratch memory but the caller's stack. */
void md_pass_compute_row(const md_pass *pass, size_t m, size_t position);
/* Columns of an item, so that there are so many items. Kernel values do not depend on it. */
size_t md_pass_width(size_t columns, size_t widest, size_t least, size_t items);
/* Kernels of slots, or of the live ones only; false: there are none. */
bool md_deferred_want(md_deferred *deferred, bool *wanted, bool live);
/* So many values of every kernel were computed. */
void md_deferred_note_work(const md_deferred *deferred, size_t values);
/* Rows of changes, to stand on the left. */
medley_status md_deferred_gather_changed(md_deferred *deferred, const size_t *rows, size_t count,
                                         medley_error *error);

/* ---- deferred_flush.c ---- */

/* Flushes the due changes of all live slots. */
medley_status md_deferred_flush(md_deferred *deferred, medley_error *error);

/* ---- deferred_open.c ---- */

/* Fills open_score and values of all slots for the open rows. */
medley_status md_deferred_fill_open(md_deferred *deferred, medley_error *error);

/* Computes the values of an open row for the others, for one slot. */
void md_deferred_learn_row(const md_deferred *deferred, size_t m, size_t position);

/* ---- deferred_card.c: the same on a card ---- */
medley_status md_deferred_card_create(md_deferred *deferred, medley_error *error);
medley_status md_deferred_card_flush(md_deferred *deferred, medley_error *error);
medley_status md_deferred_card_open(md_deferred *deferred, medley_error *error);
medley_status md_deferred_card_read(md_deferred *deferred, medley_error *error);
/* The scores of some labels; 0 clears them. */
void md_deferred_card_scale(md_deferred *deferred, size_t m, size_t first, size_t count,
                            float factor);

/* ---- deferred_ranks.c ---- */
enum { MD_OWN_UNIT = 16 }; /* columns that stay together: products have them side by side */

/* Lists the open rows that are this rank's own. */
void md_deferred_list_own(md_deferred *deferred);
/* The scores of the open rows to open_flushed, from the ranks that have them: as columns 0 ..
 * own_count - 1 of open_score. */
medley_status md_deferred_gather_open(md_deferred *deferred, medley_error *error);
/* The flushed scores of all rows. */
medley_status md_deferred_gather_all(md_deferred *deferred, medley_error *error);

/* ---- deferred_kept.c ---- */
void md_kept_rows_clear(md_kept_rows *kept);
medley_status md_kept_rows_init(md_kept_rows *kept, const md_deferred *deferred,
                                medley_error *error);
/* Starts anew where a wanted kernel is not among those of the kept rows. */
void md_kept_rows_prepare(md_deferred *deferred);
/* Room for a row: its values, or NULL if others are worth more. used[count]: values that must stay.
 */
float *md_kept_rows_take(md_deferred *deferred, size_t row, const float *const *used, size_t count);
/* [kernels][width], or NULL. */
const float *md_kept_rows_find(const md_deferred *deferred, size_t row);
/* Which of the due changes from `first` on have values that were kept; the others are numbered, and
 * their rows listed. How many these are. */
size_t md_kept_rows_list_fresh(md_deferred *deferred, size_t first, size_t count);
/* Where the values of fresh rows are to be kept. One that others need now stays where it is. */
void md_kept_rows_find_room(md_deferred *deferred, size_t fresh, size_t count);

#endif
