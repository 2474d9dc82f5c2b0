/* SPDX-License-Identifier: BSD-3-Clause */
/* Scores on the fake card. */
#include "fake_card.h"

/* Values of some rows with each other. */
typedef struct fake_square {
    size_t *row; /* [most_open] */
    size_t count;
    float *values;    /* [slots][most_open][most_open]; not a number where there is none */
    uint16_t *halves; /* the same in half precision, where they are told so */
} fake_square;

typedef struct fake_scores {
    fake_bank *bank;
    md_device_slots slots; /* its own copy */
    float *scores;         /* [slots][labels][rows] */
    float *open_scores;    /* [slots][labels][most_open] */
    fake_square square[2]; /* of open rows, and of those that are expected */
    unsigned now;          /* which of them is open */
} fake_scores;

/* ---- scores ---- */

static void free_scores(void *context)
{
    fake_scores *s = context;
    if (s == NULL)
        return;
    for (size_t q = 0; q < 2; q++) {
        free(s->square[q].row);
        free(s->square[q].values);
        free(s->square[q].halves);
    }
    free((void *)(uintptr_t)s->slots.slot_of);
    free((void *)(uintptr_t)s->slots.weight);
    free(s->scores);
    free(s->open_scores);
    free(s);
}

static void make_square(fake_square *square, const md_device_slots *slots)
{
    const size_t size = slots->slots * slots->most_open * slots->most_open;
    square->row = fake_array(slots->most_open, sizeof *square->row);
    square->values = fake_array(size, sizeof *square->values);
    square->halves = fake_array(size, sizeof *square->halves);
    for (size_t i = 0; i < size; i++)
        square->values[i] = NAN;
}

static int create_scores(void *context, void **result, const md_device_slots *slots, char *message)
{
    fake_bank *bank = context;
    *result = NULL;
    if (fake_fails(bank, message))
        return 1;
    if (bank->card->lacks_scores)
        return fake_needs_memory(message);
    for (size_t m = 0; m < bank->kernels; m++)
        fake_demand(slots->slot_of[m] < slots->slots, "a slot that is none");
    fake_demand(slots->most > 0, "no row may ever change");
    fake_scores *s = fake_array(1, sizeof *s);
    const size_t lines = slots->slots * slots->labels;
    s->bank = bank;
    s->slots = *slots;
    s->slots.slot_of = fake_copy(slots->slot_of, bank->kernels, sizeof *slots->slot_of);
    s->slots.weight = fake_copy(slots->weight, bank->kernels, sizeof *slots->weight);
    s->scores = fake_array(lines * bank->own.rows, sizeof *s->scores);
    s->open_scores = fake_array(lines * slots->most_open, sizeof *s->open_scores);
    for (size_t q = 0; q < 2; q++)
        make_square(&s->square[q], &s->slots);
    *result = s;
    return 0;
}

static float *scores_of(const fake_scores *s, size_t slot, size_t label)
{
    return s->scores + (slot * s->slots.labels + label) * s->bank->own.rows;
}

/* The values of a row, [kernels][rows], times the changes [slots][labels][count] of place i. */
static void add_row(const fake_scores *s, const float *values, const md_device_rows *left,
                    size_t row, const float *change, size_t count, size_t i)
{
    const fake_bank *bank = s->bank;
    const size_t rows = bank->own.rows;
    for (size_t m = 0; m < bank->kernels; m++)
        for (size_t l = 0; l < s->slots.labels; l++) {
            const size_t slot = s->slots.slot_of[m];
            float *score = scores_of(s, slot, l);
            const double factor = (double)change[(slot * s->slots.labels + l) * count + i] *
                                  (double)s->slots.weight[m] * fake_value_at(left->root, m, row, 1);
            for (size_t j = 0; factor != 0 && j < rows; j++)
                score[j] = (float)((double)score[j] + factor * (double)values[m * rows + j] *
                                                          fake_value_at(bank->own.root, m, j, 1));
        }
}

/* By values that are not kept. */
static void add_precisely(fake_scores *s, size_t row, const float *change, size_t count, size_t i)
{
    fake_bank *bank = s->bank;
    float *values = fake_array(bank->kernels * bank->own.rows, sizeof *values);
    bank->precise = true;
    fake_fill_values(bank, &bank->own, row, true, values);
    bank->precise = false;
    bank->computed++;
    add_row(s, values, &bank->own, row, change, count, i);
    free(values);
}

static int add(void *context, const size_t *rows, size_t count, const float *change, bool precisely,
               char *message)
{
    fake_scores *s = context;
    fake_bank *bank = s->bank;
    if (fake_fails(bank, message))
        return 1;
    fake_demand(count <= s->slots.most, "more rows have changed than were announced");
    for (size_t i = 0; i < count; i++) {
        fake_demand(rows[i] < bank->own.rows, "a row has changed that is none");
        if (precisely && !bank->precise) {
            add_precisely(s, rows[i], change, count, i);
            continue;
        }
        const bool known = bank->kept[rows[i]] != NULL;
        bank->found += known;
        bank->computed += !known;
        add_row(s, fake_kept_row(bank, rows[i]), &bank->own, rows[i], change, count, i);
    }
    return 0;
}

static int add_others(void *context, const md_device_rows *rows, const float *change, char *message)
{
    fake_scores *s = context;
    if (fake_fails(s->bank, message))
        return 1;
    fake_demand(rows->rows <= s->slots.most, "more rows have changed than were announced");
    fake_check_others(s->bank, rows);
    float *values = fake_array(s->bank->kernels * s->bank->own.rows, sizeof *values);
    for (size_t i = 0; i < rows->rows; i++) {
        fake_fill_values(s->bank, rows, i, false, values);
        add_row(s, values, rows, i, change, rows->rows, i);
    }
    s->bank->computed += rows->rows;
    free(values);
    return 0;
}

/* ---- open rows ---- */

/* What was there is no number any more. */
static void forget_values(const fake_scores *s, fake_square *square)
{
    const size_t most = s->slots.most_open;
    for (size_t slot = 0; slot < s->slots.slots; slot++)
        for (size_t x = 0; x < square->count; x++)
            for (size_t z = 0; z < square->count; z++)
                square->values[(slot * most + x) * most + z] = NAN;
    square->count = 0;
}

/* Of a row x with the others; kernel[count]: those of the slot. */
static void fill_square_row(const fake_scores *s, const fake_square *square, size_t x,
                            const size_t *kernel, size_t kernels, float *out)
{
    const fake_bank *bank = s->bank;
    const size_t row = square->row[x];
    const float *values = fake_kept_row(bank, row);
    for (size_t z = 0; z < square->count; z++) {
        const size_t other = square->row[z];
        double sum = 0;
        for (size_t k = 0; k < kernels; k++)
            sum += (double)s->slots.weight[kernel[k]] *
                   fake_value_at(bank->own.root, kernel[k], row, 1) *
                   fake_value_at(bank->own.root, kernel[k], other, 1) *
                   (double)values[kernel[k] * bank->own.rows + other];
        out[z] = (float)sum;
    }
}

static void fill_square(const fake_scores *s, const fake_square *square)
{
    const size_t most = s->slots.most_open;
    size_t *kernel = fake_array(s->bank->kernels, sizeof *kernel);
    for (size_t slot = 0; slot < s->slots.slots; slot++) {
        size_t kernels = 0;
        for (size_t m = 0; m < s->bank->kernels; m++)
            if (s->slots.slot_of[m] == slot)
                kernel[kernels++] = m;
        for (size_t x = 0; x < square->count; x++)
            fill_square_row(s, square, x, kernel, kernels,
                            square->values + (slot * most + x) * most);
    }
    free(kernel);
}

static bool is_for(const fake_square *square, const size_t *rows, size_t count)
{
    return count == square->count &&
           (count == 0 || memcmp(rows, square->row, count * sizeof *rows) == 0);
}

/* The square that is not in use becomes that of these rows. */
static void begin_square(const fake_scores *s, fake_square *square, const size_t *rows,
                         size_t count)
{
    forget_values(s, square);
    for (size_t i = 0; i < count; i++) {
        fake_demand(rows[i] < s->bank->own.rows, "a row is opened that is none");
        for (size_t other = 0; other < i; other++)
            fake_demand(rows[other] != rows[i], "a row is opened twice");
        square->row[i] = rows[i];
    }
    square->count = count;
    fill_square(s, square);
}

static int expect(void *context, const size_t *rows, size_t count, char *message)
{
    fake_scores *s = context;
    if (fake_fails(s->bank, message))
        return 1;
    if (count > 0 && count <= s->slots.most_open)
        begin_square(s, &s->square[1 - s->now], rows, count);
    return 0;
}

/* Is nothing lost by half precision? Not if slots have one kernel each, whose weight is 1, and
 * roots are 0 or 1. */
static bool tells_halves(const fake_scores *s)
{
    const fake_bank *bank = s->bank;
    bool can = !bank->precise && s->slots.slots == bank->kernels;
    for (size_t m = 0; can && m < bank->kernels; m++) {
        can = s->slots.weight[m] == 1;
        for (size_t i = 0; can && i < bank->own.rows; i++) {
            const double root = fake_value_at(bank->own.root, m, i, 1);
            can = root == 0 || root == 1;
        }
    }
    return can;
}

/* Of numbers that have a half, and of what is none. */
static uint16_t half_of(float value)
{
    const uint16_t sign = value < 0 ? 0x8000 : 0;
    int exponent;
    if (isnan(value))
        return 0x7e00;
    const double digits = frexp(fabs((double)value), &exponent); /* 0.5 <= digits < 1, or 0 */
    const double units = exponent > -14 ? ldexp(digits, 11) : ldexp(digits, exponent + 24);
    fake_demand(units == floor(units), "a value that has no half");
    if (exponent <= -14 || units == 0)
        return (uint16_t)(sign | (uint16_t)units);
    return (uint16_t)(sign | ((unsigned)(exponent + 14) << 10) | ((unsigned)units - 1024));
}

static const uint16_t *halves_of(const fake_scores *s, const fake_square *square)
{
    const size_t size = s->slots.slots * s->slots.most_open * s->slots.most_open;
    for (size_t i = 0; i < size; i++)
        square->halves[i] = half_of(square->values[i]);
    return square->halves;
}

static int open_these(void *context, const size_t *rows, size_t count, md_device_opened *opened,
                      char *message)
{
    fake_scores *s = context;
    const size_t most = s->slots.most_open;
    if (fake_fails(s->bank, message))
        return 1;
    fake_demand(count <= most, "more rows are opened than were announced");
    if (!is_for(&s->square[1 - s->now], rows, count))
        begin_square(s, &s->square[1 - s->now], rows, count);
    forget_values(s, &s->square[s->now]);
    s->now = 1 - s->now;
    for (size_t line = 0; line < s->slots.slots * s->slots.labels; line++)
        for (size_t i = 0; i < most; i++)
            s->open_scores[line * most + i] =
                i < count ? s->scores[line * s->bank->own.rows + rows[i]] : NAN;
    *opened = (md_device_opened){.scores = s->open_scores};
    if (tells_halves(s))
        opened->halves = halves_of(s, &s->square[s->now]);
    else
        opened->values = s->square[s->now].values;
    return 0;
}

/* ---- whole scores ---- */

static int read_scores(void *context, size_t slot, float *out, char *message)
{
    const fake_scores *s = context;
    if (fake_fails(s->bank, message))
        return 1;
    fake_demand(slot < s->slots.slots, "a slot is read that is none");
    memcpy(out, scores_of(s, slot, 0), s->slots.labels * s->bank->own.rows * sizeof *out);
    return 0;
}

static int write_scores(void *context, size_t slot, const float *in, char *message)
{
    fake_scores *s = context;
    if (fake_fails(s->bank, message))
        return 1;
    fake_demand(slot < s->slots.slots, "a slot is written that is none");
    memcpy(scores_of(s, slot, 0), in, s->slots.labels * s->bank->own.rows * sizeof *in);
    return 0;
}

/* Slots are scaled side by side, by the threads that take steps. */
static int scale(void *context, size_t slot, size_t first, size_t count, float factor,
                 char *message)
{
    fake_scores *s = context;
    if (fake_is_lost(s->bank->card, message))
        return 1;
    fake_demand(slot < s->slots.slots && first + count <= s->slots.labels,
                "labels are scaled that are none");
    float *scores = scores_of(s, slot, first);
    for (size_t i = 0; i < count * s->bank->own.rows; i++)
        scores[i] = factor == 0 ? 0 : factor * scores[i];
    return 0;
}

void fake_scores_functions(md_device_functions *functions)
{
    functions->scores_create = create_scores;
    functions->scores_free = free_scores;
    functions->add = add;
    functions->add_others = add_others;
    functions->expect = expect;
    functions->open = open_these;
    functions->read = read_scores;
    functions->write = write_scores;
    functions->scale = scale;
}
