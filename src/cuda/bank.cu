/* SPDX-License-Identifier: BSD-3-Clause */
/* Banks: rows that stay on the card, and the values of those of them that have changed. A row that
 * has changed will change again, so its values are kept when they are first computed, for as long
 * as memory goes. Whether they are kept or computed anew, they are the same bits. */
#include "cuda/bank.h"

static const size_t ROUNDED = 8; /* values: a thread reads eight of them at a time */
#ifndef CARD_SLAB                /* tests have small ones */
#define CARD_SLAB ((size_t)1 << 30)
#endif
static const size_t SLAB = CARD_SLAB;            /* bytes that are asked for at a time */
static const size_t LEFT_OVER = (size_t)1 << 29; /* bytes that are left to others */

size_t card_value_size(const card_bank *bank)
{
    return bank->precise ? sizeof(float) : sizeof(__half);
}

/* ---- rows ---- */

/* All arrays of some rows lie in one block, so that thousands of small ones can be copied together.
 */
#ifndef CARD_STAGED /* tests have less */
#define CARD_STAGED (1 << 21)
#endif
enum { STAGED = CARD_STAGED, APART = STAGED / 4, ALIGNED = 64 }; /* floats */

void card_room_free(card_room *room)
{
    free(room->view);
    free(room->norm2);
    free(room->lift);
    free(room->factor);
    free(room->shift);
    free(room->root);
    for (cudaEvent_t event : room->was_sent)
        if (event != NULL)
            (void)cudaEventDestroy(event);
    memset(room, 0, sizeof *room);
}

static float **new_pointers(size_t count)
{
    return (float **)calloc(count + 1, sizeof(float *));
}

static size_t aligned(size_t floats)
{
    return card_pieces(floats, ALIGNED) * ALIGNED;
}

/* The next array of the block: its place, once there is a block. */
static void take(card_room *room, float **place, size_t floats)
{
    if (room->block != NULL)
        *place = room->block + room->size;
    room->size += aligned(floats);
}

static void take_some(card_room *room, float **places, const bool *has, size_t count, size_t floats)
{
    for (size_t i = 0; i < count; i++)
        if (has == NULL || has[i])
            take(room, &places[i], floats);
}

static void take_all(card_room *room, const card_bank *bank, size_t rows)
{
    const size_t size = card_pieces(rows, ROUNDED) * ROUNDED; /* as they are read */
    room->size = 0;
    for (size_t v = 0; v < bank->views; v++)
        take(room, &room->view[v], rows * bank->padded[v]);
    take_some(room, room->norm2, NULL, bank->views, size);
    take_some(room, room->lift, bank->has_lift, bank->views, size);
    take_some(room, room->factor, bank->has_factor, bank->kernels, size);
    take_some(room, room->shift, bank->has_shift, bank->kernels, size);
    take_some(room, room->root, bank->has_root, bank->kernels, size);
}

static bool tell(card_bank *bank, card_pool *pool, float *const *arrays, size_t count,
                 const float *const **on_card, char *message)
{
    float **copy = NULL;
    if (card_put_new(bank->on, pool, &copy, arrays, count, message))
        return true;
    *on_card = copy;
    return false;
}

bool card_room_make(card_room *room, card_bank *bank, card_pool *pool, size_t rows, char *message)
{
    const size_t views = bank->views;
    const size_t kernels = bank->kernels;
    card_rows *there = &room->rows;
    memset(room, 0, sizeof *room);
    room->view = new_pointers(views);
    room->norm2 = new_pointers(views);
    room->lift = new_pointers(views);
    room->factor = new_pointers(kernels);
    room->shift = new_pointers(kernels);
    room->root = new_pointers(kernels);
    if (!room->view || !room->norm2 || !room->lift || !room->factor || !room->shift ||
        !room->root) {
        snprintf(message, MD_DEVICE_MESSAGE, "out of memory");
        return true;
    }
    take_all(room, bank, rows);
    for (unsigned t = 0; t < 2; t++)
        if (card_pin(pool, &room->staged[t], card_least(STAGED, room->size), message) ||
            card_failed(cudaEventCreateWithFlags(&room->was_sent[t], cudaEventDisableTiming),
                        "starting it", message))
            return true;
    if (card_allocate(pool, &room->block, room->size, message) ||
        card_failed(cudaMemsetAsync(room->block, 0, room->size * sizeof(float), bank->on->stream),
                    "clearing rows", message))
        return true;
    take_all(room, bank, rows);
    there->rows = (unsigned)rows;
    return tell(bank, pool, room->view, views, &there->view, message) ||
           tell(bank, pool, room->norm2, views, &there->norm2, message) ||
           tell(bank, pool, room->lift, views, &there->lift, message) ||
           tell(bank, pool, room->factor, kernels, &there->factor, message) ||
           tell(bank, pool, room->shift, kernels, &there->shift, message) ||
           tell(bank, pool, room->root, kernels, &there->root, message);
}

/* Rows of an array that stand at `to` of what is staged, after a gap. */
struct staged_rows {
    float *to;
    size_t gap;
    const float *from;
    size_t rows, width, padded;
};

/* Arrays that are on their way: what is staged goes to `to` when there is no room for more. */
enum { PIECES = 1024 };
struct staging {
    card_room *room;
    const card_bank *bank;
    float *to;
    size_t used;
    staged_rows piece[PIECES];
    size_t pieces;
};

static void copy_rows(const staged_rows *piece)
{
    memset(piece->to - piece->gap, 0, piece->gap * sizeof(float));
    if (piece->width == piece->padded) {
        memcpy(piece->to, piece->from, piece->rows * piece->width * sizeof(float));
        return;
    }
    for (size_t r = 0; r < piece->rows; r++) {
        float *to = piece->to + r * piece->padded;
        const float *from = piece->from + r * piece->width;
        for (size_t c = 0; c < piece->padded; c++) /* of few columns: no calls */
            to[c] = c < piece->width ? from[c] : 0;
    }
}

static void copy_piece(void *context, size_t i, size_t /*thread*/)
{
    copy_rows(&((const staging *)context)->piece[i]);
}

static float *staged(const staging *s)
{
    return s->room->staged[s->room->turn];
}

/* Then the next buffer, once what was sent from it has arrived. */
static bool flush(staging *s, char *message)
{
    card_room *room = s->room;
    cudaStream_t stream = s->bank->on->stream;
    const size_t used = s->used;
    if (used == 0)
        return false;
    /* the processor's memory is slower than the way to the card */
    s->bank->each(s->bank->threads, s->pieces, copy_piece, s);
    s->used = s->pieces = 0;
    if (card_failed(
            cudaMemcpyAsync(s->to, staged(s), used * sizeof(float), cudaMemcpyHostToDevice, stream),
            "copying rows to it", message) ||
        card_failed(cudaEventRecord(room->was_sent[room->turn], stream), "copying rows to it",
                    message))
        return true;
    room->turn = 1 - room->turn;
    return card_failed(cudaEventSynchronize(room->was_sent[room->turn]), "waiting for it", message);
}

/* Large arrays that need no padding go by themselves, and rows that are too wide to be staged. */
static bool put_directly(staging *s, float *to, const float *from, size_t rows, size_t width,
                         size_t padded, char *message)
{
    card *on = s->bank->on;
    if (width == padded)
        return card_put(on, to, from, rows * width * sizeof(float), message);
    return card_failed(cudaMemcpy2DAsync(to, padded * sizeof(float), from, width * sizeof(float),
                                         width * sizeof(float), rows, cudaMemcpyHostToDevice,
                                         on->stream),
                       "copying rows to it", message) ||
           card_wait_for_reading(on, message);
}

/* rows x width floats, which become rows x padded at `to`. */
static bool put_array(staging *s, float *to, const float *from, size_t rows, size_t width,
                      size_t padded, char *message)
{
    const size_t floats = rows * padded;
    if (floats == 0)
        return false;
    const size_t most = STAGED / padded; /* rows at a time */
    /* what is staged goes first: a gap in it is written as zeros, and this would be in one */
    if (most == 0 || (width == padded && floats > APART))
        return flush(s, message) || put_directly(s, to, from, rows, width, padded, message);
    for (size_t first = 0; first < rows; first += most) {
        const size_t some = card_least(rows - first, most);
        float *place = to + first * padded;
        const bool follows = s->used > 0 && s->pieces < PIECES && place >= s->to + s->used &&
                             (size_t)(place - s->to) + some * padded <= STAGED;
        if (!follows) {
            if (flush(s, message))
                return true;
            s->to = place;
        }
        const size_t at = (size_t)(place - s->to);
        s->piece[s->pieces++] = {staged(s) + at, at - s->used, from + first * width,
                                 some,           width,        padded};
        s->used = at + some * padded;
    }
    return false;
}

static bool put_arrays(staging *s, float *const *to, const float *const *from, size_t count,
                       size_t rows, char *message)
{
    for (size_t i = 0; i < count; i++)
        if (to[i] != NULL && put_array(s, to[i], from[i], 1, rows, rows, message))
            return true;
    return false;
}

struct copying {
    char *to;
    const char *from;
    size_t bytes;
};

enum { COPIED = 1 << 18 }; /* bytes that one thread takes at a time */

static void copy_some(void *context, size_t i, size_t /*thread*/)
{
    const copying *c = (const copying *)context;
    const size_t first = i * COPIED;
    memcpy(c->to + first, c->from + first, card_least(c->bytes - first, COPIED));
}

void card_copy(const card_bank *bank, void *to, const void *from, size_t bytes)
{
    copying c = {(char *)to, (const char *)from, bytes};
    bank->each(bank->threads, card_pieces(bytes, COPIED), copy_some, &c);
}

bool card_room_fill(card_room *room, const card_bank *bank, const md_device_rows *rows,
                    char *message)
{
    staging s;
    s.room = room;
    s.bank = bank;
    s.to = room->block;
    s.used = s.pieces = 0;
    for (size_t v = 0; v < bank->views; v++)
        if (put_array(&s, room->view[v], rows->view[v], rows->rows, bank->columns[v],
                      bank->padded[v], message))
            return true;
    return put_arrays(&s, room->norm2, rows->norm2, bank->views, rows->rows, message) ||
           put_arrays(&s, room->lift, rows->lift, bank->views, rows->rows, message) ||
           put_arrays(&s, room->factor, rows->factor, bank->kernels, rows->rows, message) ||
           put_arrays(&s, room->shift, rows->shift, bank->kernels, rows->rows, message) ||
           put_arrays(&s, room->root, rows->root, bank->kernels, rows->rows, message) ||
           flush(&s, message);
}

/* ---- banks ---- */

static void free_bank(void *context)
{
    card_bank *bank = (card_bank *)context;
    if (bank == NULL)
        return;
    card_room_free(&bank->own);
    card_pool_free(&bank->pool);
    free(bank->columns);
    free(bank->padded);
    free(bank->has_lift);
    free(bank->has_factor);
    free(bank->has_shift);
    free(bank->has_root);
    free(bank->kernel);
    free(bank->kept);
    free(bank);
}

static bool *which_are_there(const float *const *arrays, size_t count)
{
    bool *has = (bool *)calloc(count + 1, sizeof *has);
    for (size_t i = 0; has != NULL && i < count; i++)
        has[i] = arrays[i] != NULL;
    return has;
}

static bool are_plain(const float *const *roots, size_t kernels, size_t rows)
{
    for (size_t m = 0; m < kernels; m++)
        for (size_t i = 0; roots[m] != NULL && i < rows; i++)
            if (roots[m][i] != 0 && roots[m][i] != 1)
                return false;
    return true;
}

bool card_bank_has_halves(const card_bank *bank)
{
    return !bank->precise && bank->plain_roots;
}

/* What the processor has of a bank; NULL: no memory. */
static card_bank *new_bank(card *on, const md_device_layout *layout, const md_device_rows *rows)
{
    card_bank *bank = (card_bank *)calloc(1, sizeof *bank);
    if (bank == NULL)
        return NULL;
    bank->on = on;
    bank->views = (unsigned)layout->views;
    bank->kernels = (unsigned)layout->kernels;
    bank->rows = rows->rows;
    bank->each = layout->each;
    bank->threads = layout->threads;
    bank->is_unit = rows->is_unit;
    bank->plain_roots = are_plain(rows->root, layout->kernels, rows->rows);
    bank->stride = card_pieces(rows->rows, ROUNDED) * ROUNDED;
    bank->columns = (unsigned *)calloc(layout->views + 1, sizeof(unsigned));
    bank->padded = (unsigned *)calloc(layout->views + 1, sizeof(unsigned));
    bank->has_lift = which_are_there(rows->lift, layout->views);
    bank->has_factor = which_are_there(rows->factor, layout->kernels);
    bank->has_shift = which_are_there(rows->shift, layout->kernels);
    bank->has_root = which_are_there(rows->root, layout->kernels);
    bank->kernel = (md_device_kernel *)calloc(layout->kernels + 1, sizeof *bank->kernel);
    bank->kept = (void **)calloc(rows->rows + 1, sizeof(void *));
    if (!bank->columns || !bank->padded || !bank->has_lift || !bank->has_factor ||
        !bank->has_shift || !bank->has_root || !bank->kernel || !bank->kept) {
        free_bank(bank);
        return NULL;
    }
    for (size_t v = 0; v < layout->views; v++) {
        bank->columns[v] = (unsigned)layout->columns[v];
        bank->padded[v] = (unsigned)(card_pieces(layout->columns[v], 4) * 4);
    }
    if (layout->kernels > 0)
        memcpy(bank->kernel, layout->kernel, layout->kernels * sizeof *bank->kernel);
    return bank;
}

static int sum_of(md_device_quantity quantity)
{
    switch (quantity) {
    case MD_ON_L1:
        return SUM_L1;
    case MD_ON_CHI2:
        return SUM_CHI2;
    case MD_ON_MINIMA:
        return SUM_MINIMA;
    case MD_ON_PRODUCT:
    case MD_ON_DISTANCE2:
        break;
    }
    return SUM_PRODUCTS;
}

/* Kernels that follow one another with the same sum of the same view. */
static bool make_groups(card_bank *bank, char *message)
{
    card_group *on_card = NULL;
    md_device_kernel *kernels = NULL;
    card_group *groups = (card_group *)calloc(bank->kernels + 1, sizeof *groups);
    if (groups == NULL) {
        snprintf(message, MD_DEVICE_MESSAGE, "out of memory");
        return true;
    }
    for (unsigned m = 0; m < bank->kernels; m++) {
        card_group *last = groups + bank->groups - (bank->groups > 0);
        const unsigned view = (unsigned)bank->kernel[m].view;
        const int sum = sum_of(bank->kernel[m].form.quantity);
        if (bank->groups == 0 || last->view != view || last->sum != sum) {
            last = groups + bank->groups++;
            last->view = view;
            last->stride = bank->padded[view];
            last->first = m;
            last->sum = sum;
        }
        last->end = m + 1;
    }
    const bool failed =
        card_put_new(bank->on, &bank->pool, &on_card, groups, bank->groups, message) ||
        card_put_new(bank->on, &bank->pool, &kernels, bank->kernel, bank->kernels, message);
    free(groups);
    bank->group = on_card;
    bank->card_kernel = kernels;
    return failed;
}

static int create_bank(void *context, void **result, const md_device_layout *layout,
                       const md_device_rows *rows, bool precise, char *message)
{
    card *on = (card *)context;
    *result = NULL;
    if (card_failed(cudaSetDevice(on->number), "turning to it", message))
        return 1;
    card_bank *bank = new_bank(on, layout, rows);
    if (bank == NULL) {
        snprintf(message, MD_DEVICE_MESSAGE, "out of memory");
        return 1;
    }
    bank->precise = precise;
    if (make_groups(bank, message) ||
        card_room_make(&bank->own, bank, &bank->pool, rows->rows, message) ||
        card_room_fill(&bank->own, bank, rows, message)) {
        free_bank(bank);
        return 1;
    }
    *result = bank;
    return 0;
}

/* ---- kept rows ---- */

/* A new slab, if there is memory for one. */
static bool find_slab(card_bank *bank)
{
    size_t available = 0;
    size_t total = 0;
    void *slab = NULL;
    char message[MD_DEVICE_MESSAGE];
    const size_t bytes = card_row_bytes(bank);
    const bool told = cudaMemGetInfo(&available, &total) == cudaSuccess;
    const size_t fit = told && available > LEFT_OVER ? (available - LEFT_OVER) / bytes : 0;
    const size_t most = bytes < SLAB ? SLAB / bytes : 1;
    const size_t rows = card_least(card_least(most, fit), bank->rows - bank->kept_rows);
    bank->is_full = rows == 0 || card_allocate_bytes(&bank->pool, &slab, rows * bytes, message);
    bank->slab = (char *)slab;
    bank->slab_left = bank->is_full ? 0 : rows;
    return !bank->is_full;
}

void *card_bank_keep(card_bank *bank, size_t row)
{
    if (bank->slab_left == 0 && (bank->is_full || !find_slab(bank)))
        return NULL;
    bank->kept[row] = bank->slab;
    bank->slab += card_row_bytes(bank);
    bank->slab_left--;
    bank->kept_rows++;
    return bank->kept[row];
}

void card_bank_forget(card_bank *bank)
{
    memset(bank->kept, 0, bank->rows * sizeof(void *));
    bank->slab_left = 0;
    bank->is_full = true; /* its memory is still taken */
}

static void count_rows(const void *context, size_t *computed, size_t *found)
{
    const card_bank *bank = (const card_bank *)context;
    *computed = bank->computed;
    *found = bank->found;
}

void card_bank_functions(md_device_functions *functions)
{
    functions->bank_create = create_bank;
    functions->bank_free = free_bank;
    functions->count = count_rows;
}
