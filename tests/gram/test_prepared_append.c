/* SPDX-License-Identifier: BSD-3-Clause */
/* Points that grew part by part are those that were made at once, to the bit, and stand on the
 * right as well; scores kept apart are those of each term alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gram/gram.h"
#include "gram_case.h"

enum { ROWS = 150, LEFT = 70, LABELS = 3 };

static const char *const norms[] = {"none", "diag", "trace", NULL};

/* Without bspline, which has a kink where rows are the same: K(x,x) by products is coarse there. */
static const char *const kernels[] = {"linear", "poly",         "rbf",  "laplace",
                                      "chi2",   "intersection", "bias", NULL};

static void open_random(gram_case *c, bool sparse, uint64_t seed)
{
    const case_choice choice = {.kind = {.rows = ROWS,
                                         .columns = sparse ? 11 : 5,
                                         .center = 1,
                                         .spread = 1,
                                         .zeros = sparse ? 0.7 : 0.05,
                                         .sparse = sparse},
                                .kernels = kernels,
                                .norms = norms,
                                .seed = seed};
    open_case(c, &choice);
}

static void assert_same_matrix(const md_matrix *one, const md_matrix *other)
{
    assert_int_equal(one->rows, other->rows);
    assert_int_equal(one->columns, other->columns);
    assert_int_equal(one->dense != NULL, other->dense != NULL);
    if (one->dense != NULL) {
        assert_memory_equal(one->dense, other->dense, one->rows * one->columns * sizeof(float));
    } else if (one->start != NULL) {
        const size_t entries = one->start[one->rows];
        assert_memory_equal(one->start, other->start, (one->rows + 1) * sizeof *one->start);
        assert_memory_equal(one->index, other->index, entries * sizeof *one->index);
        assert_memory_equal(one->value, other->value, entries * sizeof *one->value);
    }
}

static void assert_same_floats(const float *one, const float *other, size_t count)
{
    assert_int_equal(one != NULL, other != NULL);
    if (one != NULL)
        assert_memory_equal(one, other, count * sizeof *one);
}

static void assert_same_prepared(const md_prepared *one, const md_prepared *other)
{
    assert_int_equal(one->rows, other->rows);
    for (size_t v = 0; v < one->view_count; v++) {
        assert_int_equal(one->used[v], other->used[v]);
        assert_same_matrix(&one->views[v], &other->views[v]);
        if (md_matrix_is_sparse(&one->views[v]))
            assert_same_matrix(&one->transposed[v], &other->transposed[v]);
        assert_same_floats(one->norm2[v], other->norm2[v], one->rows);
        assert_same_floats(one->lift[v], other->lift[v], one->rows);
    }
    for (size_t m = 0; m < one->kernel_count; m++)
        assert_same_floats(one->inverse_root[m], other->inverse_root[m], one->rows);
}

/* Rows first .. first + count - 1. */
static md_prepared gathered(const md_prepared *prepared, size_t first, size_t count)
{
    md_prepared part;
    medley_error error = {0};
    size_t rows[ROWS];
    for (size_t i = 0; i < count; i++)
        rows[i] = first + i;
    check_ok(md_prepared_gather(&part, prepared, rows, count, &error), &error);
    part.precomputed_row = NULL;
    return part;
}

static void parts_add_up_to_the_whole(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        gram_case c;
        medley_error error = {0};
        md_random random;
        md_random_seed(&random, seed);
        open_random(&c, seed % 2, seed);
        const size_t begun = seed < 4 ? 0 : md_random_below(&random, ROWS);
        md_prepared prepared = gathered(&c.prepared, 0, begun);
        while (prepared.rows < ROWS) {
            const size_t left = ROWS - prepared.rows;
            md_prepared part =
                gathered(&c.prepared, prepared.rows, md_random_below(&random, left + 1));
            check_ok(md_prepared_append(&prepared, &part, &error), &error);
            md_prepared_clear(&part);
        }
        md_prepared none = gathered(&c.prepared, 0, 0);
        check_ok(md_prepared_append(&prepared, &none, &error), &error);
        assert_same_prepared(&prepared, &c.prepared);
        md_prepared_clear(&none);
        md_prepared_clear(&prepared);
        close_case(&c);
    }
}

/* The first rows know nothing of the last columns. */
static void columns_may_be_added(void **state)
{
    (void)state;
    gram_case c;
    medley_error error = {0};
    open_random(&c, true, 5);
    md_matrix *view = &c.prepared.views[0];
    for (size_t e = 0; e < view->start[40]; e++)
        if (view->index[e] >= 6)
            view->value[e] = 0;
    md_prepared prepared = gathered(&c.prepared, 0, 40);
    size_t used = 0;
    md_matrix *early = &prepared.views[0];
    for (size_t r = 0, e = 0; r < 40; r++) {
        for (; e < early->start[r + 1]; e++)
            if (early->index[e] < 6) {
                early->index[used] = early->index[e];
                early->value[used++] = early->value[e];
            }
        early->start[r + 1] = used;
    }
    early->columns = 6;
    md_prepared part = gathered(&c.prepared, 40, ROWS - 40);
    check_ok(md_prepared_append(&prepared, &part, &error), &error);
    assert_int_equal(prepared.views[0].columns, 11);
    float *whole = md_calloc((size_t)ROWS * ROWS, sizeof *whole);
    float *grown = md_calloc((size_t)ROWS * ROWS, sizeof *grown);
    assert_true(whole != NULL && grown != NULL);
    md_between between = {.bank = &c.bank, .left = &c.prepared, .right = &c.prepared, .threads = 1};
    for (size_t m = 0; m < c.bank.count; m++) {
        between.left = between.right = &c.prepared;
        check_ok(md_between_values(&between, m, whole, &error), &error);
        between.left = between.right = &prepared;
        check_ok(md_between_values(&between, m, grown, &error), &error);
        for (size_t i = 0; i < (size_t)ROWS * ROWS; i++)
            if (!(fabsf(whole[i] - grown[i]) <= 1e-5F * (1 + fabsf(whole[i]))))
                fail_msg("%s at %zu: %g and %g", c.bank.kernels[m].name, i, (double)whole[i],
                         (double)grown[i]);
    }
    free(whole);
    free(grown);
    md_prepared_clear(&part);
    md_prepared_clear(&prepared);
    close_case(&c);
}

/* ---- scores kept apart ---- */

/* Every second kernel, against md_between_scores with one term; left: LEFT rows, or the same
 * prepared rows.
 */
static void compare_apart(gram_case *c, const md_prepared *left, size_t threads)
{
    md_expansion terms[CASE_KERNELS];
    float *scores[CASE_KERNELS];
    medley_error error = {0};
    md_random random;
    md_random_seed(&random, 3);
    size_t count = 0;
    const size_t size = left->rows * LABELS;
    for (size_t m = 0; m < c->bank.count; m += 2) {
        float *body = md_calloc((size_t)ROWS * LABELS, sizeof *body);
        assert_non_null(body);
        for (size_t i = 0; i < (size_t)ROWS * LABELS; i++)
            body[i] = (float)md_random_normal(&random);
        scores[count] = md_calloc(size, sizeof(float));
        assert_non_null(scores[count]);
        for (size_t i = 0; i < size; i++)
            scores[count][i] = 2; /* they are added to */
        terms[count++] = (md_expansion){.kernel = m, .coefficient = body};
    }
    const md_between between = {
        .bank = &c->bank, .left = left, .right = &c->prepared, .threads = threads};
    check_ok(md_between_scores_apart(&between, terms, count, LABELS, scores, &error), &error);
    for (size_t t = 0; t < count; t++) {
        float *alone = md_calloc(size, sizeof *alone);
        assert_non_null(alone);
        check_ok(md_between_scores(&between, &terms[t], 1, LABELS, alone, &error), &error);
        const double scale = 20 * case_scale(c, terms[t].kernel);
        for (size_t i = 0; i < size; i++)
            if (!(fabs((double)scores[t][i] - (double)alone[i] - 2) <=
                  GRAM_TOLERANCE * (2 + scale)))
                fail_msg("%s: %g, alone %g", c->bank.kernels[terms[t].kernel].name,
                         (double)scores[t][i] - 2, (double)alone[i]);
        free(alone);
        free(scores[t]);
        free((void *)terms[t].coefficient);
    }
}

static void terms_are_kept_apart(void **state)
{
    (void)state;
    for (size_t sparse = 0; sparse < 2; sparse++)
        for (size_t threads = 1; threads <= 2; threads++) {
            gram_case c;
            open_random(&c, sparse, 20 + sparse);
            md_prepared left = gathered(&c.prepared, 30, LEFT);
            compare_apart(&c, &left, threads);
            compare_apart(&c, &c.prepared, threads);
            md_prepared_clear(&left);
            close_case(&c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_add_up_to_the_whole),
        cmocka_unit_test(columns_may_be_added),
        cmocka_unit_test(terms_are_kept_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
