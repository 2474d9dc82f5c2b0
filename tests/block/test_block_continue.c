/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel block over some rows that sets out from coefficients of other rows does what a block
 * over all rows does, whether its values are kept or deferred scores has them computed. */
#include "base/random.h"
#include "block/block.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EARLY = 9, LATE = 21, ALL = EARLY + LATE, COLUMNS = 3, LABELS = 3, WINDOW_LONGEST = 1 };

struct rows {
    medley_dataset *dataset;
    md_bank bank;
    md_prepared prepared;
    md_gram *gram;
    md_deferred *deferred; /* NULL: values are kept */
    md_block *block;
};

static void open_rows(struct rows *rows, const double *x, size_t count, size_t memory)
{
    static char *const kernels[] = {"poly(degree=2)", NULL};
    const md_bank_options options = {.kernels = kernels, .views = "all"};
    const md_gram_options gram_options = {.threads = 1, .memory = memory};
    const md_deferred_options deferred_options = {
        .labels = LABELS, .longest = WINDOW_LONGEST, .memory = 1};
    *rows = (struct rows){0};
    assert_int_equal(medley_dataset_from_dense(&rows->dataset, x, count, COLUMNS, NULL, NULL),
                     MEDLEY_OK);
    assert_int_equal(md_bank_make(&rows->bank, rows->dataset, &options, NULL), MEDLEY_OK);
    assert_int_equal(md_prepared_make(&rows->prepared, &rows->bank, rows->dataset, true, NULL),
                     MEDLEY_OK);
    assert_int_equal(md_gram_create(&rows->gram, &rows->bank, &rows->prepared, &gram_options, NULL),
                     MEDLEY_OK);
    if (!md_gram_is_kept(rows->gram, 0))
        assert_int_equal(md_deferred_create(&rows->deferred, rows->gram, &deferred_options, NULL),
                         MEDLEY_OK);
    const md_kernel_source source = {
        .gram = rows->gram, .deferred = rows->deferred, .name = "k", .labels = LABELS};
    assert_int_equal(md_kernel_block_create(&rows->block, &source, NULL), MEDLEY_OK);
    md_kernel_block_set_gain(rows->block, 0.7);
}

static void close_rows(struct rows *rows)
{
    md_block_free(rows->block);
    md_deferred_free(rows->deferred);
    md_gram_free(rows->gram);
    md_prepared_clear(&rows->prepared);
    md_bank_clear(&rows->bank);
    medley_dataset_free(rows->dataset);
}

/* One label up, another down; the window is this row. Scores are looked at before and behind. */
static void step(struct rows *rows, size_t row, size_t up, size_t down, double scores[2][LABELS])
{
    uint32_t parts[2] = {(uint32_t)up, (uint32_t)down};
    float coefficients[2] = {-1, 1};
    uint32_t first_row = 0;
    uint32_t start[2] = {0, 2};
    float dense[LABELS] = {0};
    dense[up] = -1;
    dense[down] = 1;
    const md_delta delta = {.part = parts,
                            .coefficient = coefficients,
                            .count = 2,
                            .row = &first_row,
                            .start = start,
                            .row_count = 1,
                            .dense = dense};
    const md_gradient gradient = {.example = {.row = row, .length = 1}, .delta = &delta};
    const md_step taken = {.gradients = &gradient, .count = 1, .eta = 0.3};
    md_block *block = rows->block;
    if (rows->deferred != NULL)
        assert_int_equal(md_deferred_open(rows->deferred, &row, 1, NULL), MEDLEY_OK);
    for (size_t i = 0; i < 2; i++) {
        float seen[LABELS] = {0};
        block->class->score(block, gradient.example, seen);
        for (size_t l = 0; l < LABELS; l++)
            scores[i][l] = (double)seen[l];
        if (i == 1)
            break;
        block->norm = block->class->step(block, &taken);
        md_block_finish(block, &taken);
    }
}

static double *draw(uint64_t seed)
{
    md_random random;
    md_random_seed(&random, seed);
    double *x = calloc((size_t)ALL * COLUMNS, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < (size_t)ALL * COLUMNS; i++)
        x[i] = md_random_normal(&random);
    return x;
}

static void settle(struct rows *rows)
{
    if (rows->deferred != NULL)
        assert_int_equal(md_deferred_close(rows->deferred, NULL), MEDLEY_OK);
}

/* The scores that early rows give late ones. */
static void hand_over(struct rows *all, struct rows *late)
{
    float scores[LATE * LABELS] = {0};
    settle(all);
    for (size_t r = 0; r < LATE; r++)
        all->block->class->score(all->block, (md_example){.row = EARLY + r, .length = 1},
                                 scores + r * LABELS);
    md_kernel_block_continue(late->block, scores, all->block->norm);
    assert_true(md_kernel_block_continues(late->block));
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-4 * (1 + fabs(expected))))
        fail_msg("%.9g, expected %.9g", value, expected);
}

static void a_block_goes_on_from_rows_that_are_gone(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct rows all;
        struct rows late;
        double *x = draw(seed);
        double before[2][LABELS];
        double after[2][LABELS];
        open_rows(&all, x, ALL, 0);
        open_rows(&late, x + (size_t)EARLY * COLUMNS, LATE, seed % 2 ? 0 : 1);
        assert_int_equal(late.deferred != NULL, seed % 2 == 0);
        assert_near(md_kernel_block_gain2(late.block), 0.49);
        for (size_t r = 0; r < EARLY; r++)
            step(&all, r, r % LABELS, (r + 1) % LABELS, before);
        hand_over(&all, &late);
        for (size_t r = 0; r < LATE; r++) {
            step(&all, EARLY + r, (r + seed) % LABELS, (r + seed + 2) % LABELS, before);
            step(&late, r, (r + seed) % LABELS, (r + seed + 2) % LABELS, after);
            assert_near(late.block->norm, all.block->norm);
            for (size_t i = 0; i < 2 * LABELS; i++)
                assert_near(after[i / LABELS][i % LABELS], before[i / LABELS][i % LABELS]);
        }
        float body[ALL * LABELS];
        float late_body[LATE * LABELS];
        settle(&late);
        all.block->class->export_body(all.block, body);
        late.block->class->export_body(late.block, late_body);
        for (size_t i = 0; i < (size_t)LATE * LABELS; i++)
            assert_near((double)late_body[i], (double)body[(size_t)EARLY * LABELS + i]);
        late.block->class->clear(late.block);
        assert_false(md_kernel_block_continues(late.block));
        close_rows(&all);
        close_rows(&late);
        free(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_goes_on_from_rows_that_are_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
