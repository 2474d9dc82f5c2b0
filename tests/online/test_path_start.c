/* SPDX-License-Identifier: BSD-3-Clause */
/* Where paths of online methods begin: the least lambda that leaves out all blocks is the one of
 * the formula, there everything is zero and just below it something is not; penalties that leave
 * nothing out begin where little is learnt. */
#include "online/walking.h"

static double first_lambda(const medley_dataset *train, const char *options, size_t *active)
{
    struct walked walked = {0};
    const medley_path_options path = grid(1, 0.5);
    walk_path(&walked, train, options, &path);
    assert_int_equal(walked.count, 1);
    const double lambda = told(&walked, 0)->lambda;
    *active = told(&walked, 0)->active_blocks;
    release_models(&walked);
    return lambda;
}

/* |mean of +-x| of the column where it is largest: each of two labels has it as its gradient. */
static double largest_mean(const medley_dataset *train)
{
    const size_t columns = medley_dataset_columns(train);
    const size_t rows = medley_dataset_rows(train);
    float *values = calloc(columns, sizeof *values);
    double *sum = calloc(columns, sizeof *sum);
    double most = 0;
    for (size_t r = 0; r < rows; r++) {
        medley_dataset_row(values, train, r);
        for (size_t c = 0; c < columns; c++)
            sum[c] += medley_dataset_label(train, r) == 0 ? (double)values[c] : -(double)values[c];
    }
    for (size_t c = 0; c < columns; c++)
        most = fmax(most, fabs(sum[c]) / (double)rows);
    free(values);
    free(sum);
    return most;
}

static void it_is_the_dual_norm_of_the_gradient(void **state)
{
    (void)state;
    const double two = sqrt(2);
    const struct {
        const char *penalty;
        double factor; /* of largest_mean, for the hinge; both labels make one block */
    } cases[] = {{"group-lasso", two},
                 {"0.5*group-lasso", 2 * two},
                 {"group-lasso+l2", two},
                 {"mkl+group-lasso", two},
                 {"elastic(t=0.25)", two / 0.75},
                 {"l1", 1},
                 {"sparse-group(s=0.5)", two / (0.5 * two + 0.5)}};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        medley_dataset *train = make_data("twonorm", 70, seed);
        const double mean = largest_mean(train);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            for (size_t logistic = 0; logistic < 2; logistic++) {
                char options[256];
                size_t active;
                snprintf(options, sizeof options,
                         "method=spom loss=%s penalty=%s views=each kernel=linear(explicit)",
                         logistic ? "logistic" : "hinge", cases[i].penalty);
                const double lambda = first_lambda(train, options, &active);
                const double expected = cases[i].factor * mean * (logistic ? 0.5 : 1);
                if (fabs(lambda - expected) > 1e-5 * expected)
                    fail_msg("%s: %g, expected %g", options, lambda, expected);
                assert_int_equal(active, 0);
            }
        medley_dataset_free(train);
    }
}

static void below_it_something_is_learnt(void **state)
{
    (void)state;
    static const char *const options[] = {
        "method=spom penalty=group-lasso loss=hinge views=all+each kernel=rbf epochs=30",
        "method=spom penalty=group-lasso loss=logistic views=all+each kernel=rbf epochs=30"};
    for (size_t o = 0; o < 2; o++) {
        medley_dataset *train = make_data(o == 0 ? "ringnorm" : "waveform", 80, 2);
        size_t active;
        const double largest = first_lambda(train, options[o], &active);
        assert_int_equal(active, 0);
        const double lambda[] = {2 * largest, 1.0001 * largest, 0.9 * largest};
        const medley_path_options path = {sizeof path, 3, lambda, 0};
        struct walked walked = {0};
        walk_path(&walked, train, options[o], &path);
        assert_int_equal(walked.count, 3);
        const double nothing = told(&walked, 0)->objective;
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(told(&walked, i)->active_blocks, 0);
            assert_true(fabs(told(&walked, i)->objective - (o == 0 ? 1 : log(3))) < 1e-6);
        }
        assert_true(told(&walked, 2)->active_blocks > 0);
        assert_true(told(&walked, 2)->objective < nothing);
        release_models(&walked);
        medley_dataset_free(train);
    }
}

static void others_begin_where_little_is_learnt(void **state)
{
    (void)state;
    static const char *const options[] = {
        "method=spom penalty=l2 kernel=rbf epochs=30",
        "method=spom penalty=absorbed-l2 kernel=rbf epochs=30",
        "method=spom penalty=mkl views=all+each kernel=rbf epochs=30",
        "method=spom penalty=block(q=1.5) kernel=rbf epochs=30",
        "method=spom penalty=squared-block(q=1.3) views=all+each kernel=rbf epochs=30",
        "method=pegasos kernel=rbf epochs=30"};
    medley_dataset *train = make_data("waveform", 80, 4);
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        struct walked walked = {0};
        const medley_path_options path = grid(2, 0.01);
        walk_path(&walked, train, options[o], &path);
        const medley_summary *first = told(&walked, 0);
        if (!(first->objective > 0.6 && first->objective < 0.999))
            fail_msg("%s: %g", options[o], first->objective);
        assert_true(first->active_blocks > 0);
        assert_true(told(&walked, 1)->objective < 0.8 * first->objective);
        assert_true(fabs(told(&walked, 1)->lambda / first->lambda - 0.01) < 1e-9);
        release_models(&walked);
    }
    medley_dataset_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_dual_norm_of_the_gradient),
        cmocka_unit_test(below_it_something_is_learnt),
        cmocka_unit_test(others_begin_where_little_is_learnt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
