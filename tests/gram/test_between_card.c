/* SPDX-License-Identifier: BSD-3-Clause */
/* Scores of new rows by a card are those of the processor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/test_device.h"
#include "gram_case.h"

/* Single precision, in another order of additions. */
#define CARD_TOLERANCE 8e-6

/* Support rows, new rows, and a term for every kernel. */
struct scoring_case {
    medley_dataset *train, *data;
    md_bank bank;
    md_prepared right, left;
    size_t labels;
    float *coefficient; /* [kernels][right rows][labels] */
    md_expansion terms[CASE_KERNELS];
    double *scale; /* [kernels] what rounding of a score is relative to */
};

typedef struct scoring_kind {
    size_t right, left, labels;
    size_t right_columns, left_columns; /* sparse rows may have other ones */
    bool sparse;
} scoring_kind;

static data_kind data_of(size_t rows, size_t columns, bool sparse)
{
    return (data_kind){.rows = rows,
                       .columns = columns,
                       .center = 1,
                       .spread = 1,
                       .zeros = sparse ? 0.6 : 0.05,
                       .sparse = sparse};
}

/* Every kernel with every normalisation, and the means that centred ones need. */
static void open_kernels(struct scoring_case *c, const scoring_kind *kind)
{
    naive drawn[CASE_KERNELS];
    char *specs[CASE_KERNELS + 1] = {NULL};
    md_gram *gram = NULL;
    medley_error error = {0};
    const data_kind train = data_of(kind->right, kind->right_columns, kind->sparse);
    const size_t count = draw_kernels(drawn, &(case_choice){.kind = train, .seed = 7});
    for (size_t i = 0; i < count; i++)
        specs[i] = drawn[i].spec;
    const md_bank_options options = {.kernels = specs, .views = "all", .seed = 1};
    c->train = make_data(&train, 21);
    check_ok(md_bank_make(&c->bank, c->train, &options, &error), &error);
    check_ok(md_prepared_make(&c->right, &c->bank, c->train, true, &error), &error);
    const md_gram_options on_the_fly = {.threads = 2, .memory = 1};
    check_ok(md_gram_create(&gram, &c->bank, &c->right, &on_the_fly, &error), &error);
    md_gram_free(gram);
}

static void open_left(struct scoring_case *c, const scoring_kind *kind)
{
    medley_error error = {0};
    size_t rows[1] = {0};
    md_prepared all;
    const data_kind fresh =
        data_of(kind->left > 0 ? kind->left : 1, kind->left_columns, kind->sparse);
    c->data = make_data(&fresh, 22);
    check_ok(md_prepared_make(&all, &c->bank, c->data, false, &error), &error);
    if (kind->left > 0) {
        c->left = all;
        return;
    }
    check_ok(md_prepared_gather(&c->left, &all, rows, 0, &error), &error);
    md_prepared_clear(&all);
}

static void open_terms(struct scoring_case *c, size_t labels)
{
    const size_t each = c->right.rows * labels;
    md_random random;
    md_random_seed(&random, 3);
    c->labels = labels;
    c->coefficient = md_calloc(c->bank.count * each, sizeof *c->coefficient);
    c->scale = md_calloc(c->bank.count, sizeof *c->scale);
    assert_true(c->coefficient != NULL && c->scale != NULL);
    for (size_t t = 0; t < c->bank.count; t++) {
        const size_t m = c->bank.count - 1 - t; /* in any order */
        const md_kernel *kernel = &c->bank.kernels[m];
        float *own = c->coefficient + t * each;
        double *self = md_calloc(c->right.rows, sizeof *self);
        assert_non_null(self);
        md_prepared_self(&c->right, &c->bank, m, self);
        for (size_t i = 0; i < each; i++)
            own[i] = (float)md_random_normal(&random);
        c->scale[t] =
            (kernel->norm == MD_NORM_DIAG ? 1 : largest_of(self, c->right.rows) * kernel->factor) *
            sqrt((double)c->right.rows);
        c->terms[t] = (md_expansion){.kernel = m, .coefficient = own};
        free(self);
    }
}

static void open_scoring(struct scoring_case *c, const scoring_kind *kind)
{
    *c = (struct scoring_case){0};
    open_kernels(c, kind);
    open_left(c, kind);
    open_terms(c, kind->labels);
}

static void close_scoring(struct scoring_case *c)
{
    free(c->coefficient);
    free(c->scale);
    md_prepared_clear(&c->left);
    md_prepared_clear(&c->right);
    md_bank_clear(&c->bank);
    medley_dataset_free(c->data);
    medley_dataset_free(c->train);
}

/* [terms][left rows][labels], each of them on top of 0.5, by the processor or by a card. */
static float *scores_apart(const struct scoring_case *c, const char *device, char *name)
{
    const size_t each = c->left.rows * c->labels;
    float *scores = md_calloc(c->bank.count * each, sizeof *scores);
    float *apart[CASE_KERNELS];
    medley_error error = {0};
    md_bank bank = c->bank;
    const md_between between = {.bank = &bank,
                                .left = &c->left,
                                .right = &c->right,
                                .threads = 2,
                                .device = device,
                                .device_name = name};
    assert_non_null(scores);
    for (size_t i = 0; i < c->bank.count * each; i++)
        scores[i] = 0.5F;
    for (size_t t = 0; t < c->bank.count; t++)
        apart[t] = scores + t * each;
    check_ok(md_between_scores_apart(&between, c->terms, c->bank.count, c->labels, apart, &error),
             &error);
    return scores;
}

/* The sum of the first `count` terms. */
static float *scores_together(const struct scoring_case *c, size_t count, const char *device)
{
    float *scores = md_calloc(c->left.rows * c->labels, sizeof *scores);
    medley_error error = {0};
    md_bank bank = c->bank;
    const md_between between = {
        .bank = &bank, .left = &c->left, .right = &c->right, .threads = 1, .device = device};
    assert_non_null(scores);
    for (size_t i = 0; i < c->left.rows * c->labels; i++)
        scores[i] = -2;
    check_ok(md_between_scores(&between, c->terms, count, c->labels, scores, &error), &error);
    return scores;
}

static void compare_apart(const struct scoring_case *c, const md_device *device)
{
    char name[MD_DEVICE_NAME] = "";
    const size_t each = c->left.rows * c->labels;
    float *here = scores_apart(c, "cpu", name);
    assert_string_equal(name, "");
    float *there = scores_apart(c, "cuda", name);
    assert_string_equal(name, md_device_name(device));
    for (size_t i = 0; i < c->bank.count * each; i++) {
        const size_t t = i / each;
        if (!(fabs((double)here[i] - (double)there[i]) <= CARD_TOLERANCE * (1 + c->scale[t])))
            fail_msg("%s, %zu rows against %zu%s, row %zu, label %zu: %.9g, and %.9g on a card",
                     c->bank.kernels[c->terms[t].kernel].name, c->left.rows, c->right.rows,
                     md_matrix_is_sparse(&c->left.views[0]) ? " (sparse)" : "",
                     i % each / c->labels, i % c->labels, (double)here[i], (double)there[i]);
    }
    free(here);
    free(there);
}

static void compare_together(const struct scoring_case *c)
{
    for (size_t count = 0; count <= c->bank.count; count += c->bank.count / 2) {
        double scale = 2;
        for (size_t t = 0; t < count; t++)
            scale += c->scale[t];
        float *here = scores_together(c, count, NULL);
        float *there = scores_together(c, count, "cuda");
        for (size_t i = 0; i < c->left.rows * c->labels; i++)
            assert_true(fabs((double)here[i] - (double)there[i]) <= CARD_TOLERANCE * scale);
        free(here);
        free(there);
    }
}

static void new_rows_get_the_same_scores(void **state)
{
    static const scoring_kind kinds[] = {
        {.right = 40, .left = 1, .labels = 1, .right_columns = 5, .left_columns = 5},
        {.right = 1, .left = 17, .labels = 2, .right_columns = 5, .left_columns = 5},
        {.right = 130, .left = 0, .labels = 3, .right_columns = 5, .left_columns = 5},
        {.right = 90, .left = 333, .labels = 17, .right_columns = 4, .left_columns = 4},
        {.right = 2100, .left = 33, .labels = 3, .right_columns = 7, .left_columns = 7},
        {.right = 60, .left = 50, .labels = 4, .right_columns = 9, .left_columns = 9, .sparse = 1},
        {.right = 60, .left = 50, .labels = 4, .right_columns = 9, .left_columns = 40, .sparse = 1},
        {.right = 60, .left = 50, .labels = 4, .right_columns = 40, .left_columns = 9, .sparse = 1},
    };
    MD_OWNED(md_device_close) md_device *device = open_card(state);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct scoring_case c;
        if (is_slow(*state) && kinds[i].right > 1000)
            continue;
        open_scoring(&c, &kinds[i]);
        compare_apart(&c, device);
        compare_together(&c);
        close_scoring(&c);
    }
}

/* ---- views of any size ---- */

enum { VIEWS = 4 };

/* Rows of several views, each with a Gaussian as wide as the view. */
static medley_dataset *make_views(md_bank *bank, md_prepared *rows, size_t count,
                                  const size_t columns[VIEWS])
{
    char specs[VIEWS][60];
    char *list[VIEWS + 1] = {NULL};
    medley_dataset *data = NULL;
    medley_error error = {0};
    for (size_t v = 0; v < VIEWS; v++) {
        char name[20];
        const data_kind kind = data_of(count, columns[v], false);
        snprintf(name, sizeof name, "v%zu", v);
        snprintf(specs[v], sizeof specs[v], "rbf(sigma2=%zu)@v%zu", columns[v], v);
        list[v] = specs[v];
        data = add_data(data, name, &kind, 30 + v);
    }
    const md_bank_options options = {.kernels = list, .views = "all", .seed = 1};
    check_ok(md_bank_make(bank, data, &options, &error), &error);
    check_ok(md_prepared_make(rows, bank, data, true, &error), &error);
    assert_int_equal(bank->count, VIEWS);
    return data;
}

/* Scores of all rows by the first one. */
static void score_views(md_bank *bank, const md_prepared *rows, const char *device, float *scores)
{
    const float one = 1;
    const size_t first = 0;
    float *apart[VIEWS];
    md_expansion terms[VIEWS];
    md_prepared support;
    medley_error error = {0};
    check_ok(md_prepared_gather(&support, rows, &first, 1, &error), &error);
    for (size_t v = 0; v < VIEWS; v++) {
        terms[v] = (md_expansion){.kernel = v, .coefficient = &one};
        apart[v] = scores + v * rows->rows;
    }
    const md_between between = {
        .bank = bank, .left = rows, .right = &support, .threads = 1, .device = device};
    check_ok(md_between_scores_apart(&between, terms, VIEWS, 1, apart, &error), &error);
    md_prepared_clear(&support);
}

/* Rows go to a card piece by piece, and large views by themselves. */
static void small_and_large_views_arrive_whole(void **state)
{
    static const struct {
        size_t rows, columns[VIEWS];
    } kinds[] = {{1100, {5, 1000, 3, 2}},
                 {1100, {5, 1001, 3, 1}},
                 {1300, {900, 7, 1100, 70}},
                 {2, {3, 20001, 2, 6}},
                 {2, {3, 4200001, 2, 6}}};
    use_card(state);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const size_t count = VIEWS * kinds[k].rows;
        if (is_slow(*state) && kinds[k].columns[1] > 1000000)
            continue;
        md_bank bank;
        md_prepared rows;
        medley_dataset *data = make_views(&bank, &rows, kinds[k].rows, kinds[k].columns);
        float *here = md_calloc(count, sizeof *here);
        float *there = md_calloc(count, sizeof *there);
        assert_true(here != NULL && there != NULL);
        score_views(&bank, &rows, "cpu", here);
        score_views(&bank, &rows, "cuda", there);
        for (size_t i = 0; i < count; i++) {
            const double columns = (double)kinds[k].columns[i / kinds[k].rows];
            const double tolerance = 1e-4 + 3e-9 * columns; /* of sums one by one */
            if (!(fabs((double)here[i] - (double)there[i]) <= tolerance))
                fail_msg("view of %zu columns, row %zu: %.9g, and %.9g on a card",
                         kinds[k].columns[i / kinds[k].rows], i % kinds[k].rows, (double)here[i],
                         (double)there[i]);
        }
        free(here);
        free(there);
        md_prepared_clear(&rows);
        md_bank_clear(&bank);
        medley_dataset_free(data);
    }
}

/* ---- which device ---- */

static medley_status score_with(const struct scoring_case *c, const char *device, char *name,
                                float *scores, medley_error *error)
{
    md_bank bank = c->bank;
    const md_between between = {.bank = &bank,
                                .left = &c->left,
                                .right = &c->right,
                                .threads = 1,
                                .device = device,
                                .device_name = name};
    return md_between_scores(&between, c->terms, c->bank.count, c->labels, scores, error);
}

/* auto: there is too little to do; cuda: an error, and nothing was added. */
static void a_card_that_fails_is_an_error_where_it_was_asked_for(void **state)
{
    (void)state;
    static const char *const faults[] = {"version", "none",   "old",    "memory",
                                         "lost:1",  "lost:2", "lost:3", "lost:10"};
    const scoring_kind kind = {
        .right = 20, .left = 8, .labels = 2, .right_columns = 3, .left_columns = 3};
    struct scoring_case c;
    open_scoring(&c, &kind);
    for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
        float scores[16] = {0};
        char name[MD_DEVICE_NAME] = "";
        medley_error error = {0};
        use_fake_card(faults[f]);
        assert_true(score_with(&c, "cuda", name, scores, &error) < 0);
        assert_memory_equal(error.message, "device cuda: ", 13);
        for (size_t i = 0; i < 16; i++)
            assert_true(scores[i] == 0);
        check_ok(score_with(&c, "auto", name, scores, NULL), NULL);
        assert_string_equal(name, "");
        assert_true(scores[0] != 0);
    }
    close_scoring(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_CARD(new_rows_get_the_same_scores),
        ON_EVERY_CARD(small_and_large_views_arrive_whole),
        cmocka_unit_test(a_card_that_fails_is_an_error_where_it_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
