/* SPDX-License-Identifier: BSD-3-Clause */
/* Scores of open rows that are summed for several rows at a time: whatever happens to blocks
 * between two looks, they are what the blocks say one by one. */
#include "chain_problem.h"
#include "online/row_sums.h"

enum { KERNELS = 3, LABELS = 3, LENGTH = 2 };

struct summed {
    struct chain_problem data;
    md_deferred *deferred;
    md_block *blocks[KERNELS];
    md_online_problem problem;
    md_pool pool;
    md_row_sums *sums;
    size_t *order; /* [rows] */
};

static void make_kernels(struct summed *s)
{
    medley_error error = {0};
    char *const kernels[] = {"poly(degree=1,offset=0)", "rbf(sigma=1)", "poly(degree=2)", NULL};
    const md_bank_options bank = {.kernels = kernels, .views = "all"};
    const md_gram_options gram = {.threads = 1, .memory = 4 * s->data.rows * sizeof(float)};
    const md_deferred_options options = {
        .labels = LABELS, .longest = LENGTH, .memory = 5 * s->data.rows * sizeof(float)};
    struct chain_problem *p = &s->data;
    assert_int_equal(md_bank_make(&p->bank, p->dataset, &bank, &error), MEDLEY_OK);
    assert_int_equal(md_prepared_make(&p->prepared, &p->bank, p->dataset, true, &error), MEDLEY_OK);
    assert_int_equal(md_gram_create(&p->gram, &p->bank, &p->prepared, &gram, &error), MEDLEY_OK);
    assert_int_equal(md_deferred_create(&s->deferred, p->gram, &options, &error), MEDLEY_OK);
    for (size_t m = 0; m < KERNELS; m++) {
        const md_kernel_source from = {
            .gram = p->gram, .deferred = s->deferred, .m = m, .name = "k", .labels = LABELS};
        assert_int_equal(md_kernel_block_create(&s->blocks[m], &from, &error), MEDLEY_OK);
    }
}

static void open_summed(struct summed *s, uint64_t seed)
{
    medley_error error = {0};
    const struct chain_size size = {.labels = LABELS, .examples = 70, .longest = LENGTH + 2};
    *s = (struct summed){0};
    chain_problem_make(&s->data, size, AS_WEIGHTS, seed);
    make_kernels(s);
    s->order = calloc(s->data.rows, sizeof *s->order);
    assert_non_null(s->order);
    for (size_t i = 0; i < s->data.rows; i++)
        s->order[i] = i;
    s->problem = (md_online_problem){
        .blocks = s->blocks,
        .block_count = KERNELS,
        .gram = s->data.gram,
        .deferred = s->deferred,
        .space = {.structure = md_structure_find("multiclass"), .shape = {.labels = LABELS}}};
    assert_int_equal(md_row_sums_new(&s->sums, &s->pool, &s->problem, &error), MEDLEY_OK);
}

static void close_summed(struct summed *s)
{
    md_pool_clear(&s->pool);
    for (size_t m = 0; m < KERNELS; m++)
        md_block_free(s->blocks[m]);
    md_deferred_free(s->deferred);
    free(s->order);
    chain_problem_clear(&s->data);
}

/* Takes from one label of the row, and gives to another. */
static void step_at(struct summed *s, size_t row, md_random *random)
{
    const size_t label = md_random_below(random, LABELS);
    const float size = (float)md_random_normal(random);
    uint32_t part[] = {(uint32_t)label, (uint32_t)((label + 1) % LABELS)};
    float coefficient[] = {size, -size};
    float dense[LABELS] = {0};
    uint32_t first = 0;
    uint32_t start[] = {0, 2};
    const md_delta delta = {.part = part,
                            .coefficient = coefficient,
                            .dense = dense,
                            .row = &first,
                            .start = start,
                            .count = 2,
                            .row_count = 1};
    const md_gradient gradient = {.example = {row, 1}, .delta = &delta};
    const md_step step = {.gradients = &gradient, .count = 1, .eta = 0.5};
    for (size_t m = 0; m < KERNELS; m++) {
        const double norm = s->blocks[m]->class->step(s->blocks[m], &step);
        md_block_finish(s->blocks[m], &step);
        s->blocks[m]->norm = norm;
    }
}

/* What rules do to blocks: nothing most of the time. */
static void do_something(struct summed *s, size_t row, md_random *random)
{
    md_block *any = s->blocks[md_random_below(random, KERNELS)];
    switch (md_random_below(random, 12)) {
    case 0:
        step_at(s, row, random);
        break;
    case 1:
    case 2:
        for (size_t m = 0; m < KERNELS; m++)
            md_block_rescale(s->blocks[m], 0.9);
        break;
    case 3:
        any->dual_scale = 0.5 + md_random_uniform(random);
        break;
    case 4:
        md_block_rescale(any, 1e-7); /* its next step folds the scale */
        break;
    case 5:
        if (md_random_below(random, 8) == 0)
            any->class->clear(any);
        break;
    default:
        break;
    }
}

static void check_example(struct summed *s, md_example example)
{
    float each[LENGTH * LABELS];
    float summed[LENGTH * LABELS];
    md_online_score(&s->problem, example, each);
    assert_true(md_row_sums_score(s->sums, &s->problem, example, summed));
    for (size_t i = 0; i < example.length * LABELS; i++)
        assert_true(fabsf(each[i] - summed[i]) <= 1e-5f * (1 + fabsf(each[i])));
}

/* A window of the order, from `from` on; its examples have one or two rows that stand side by side.
 */
static void meet_window(struct summed *s, size_t from, size_t count, md_random *random)
{
    medley_error error = {0};
    assert_int_equal(md_deferred_open(s->deferred, s->order + from, count, &error), MEDLEY_OK);
    for (size_t i = 0; i < count;) {
        const size_t row = s->order[from + i];
        const bool two = i + 1 < count && s->order[from + i + 1] == row + 1;
        const md_example example = {row, two ? 2 : 1};
        md_deferred_visit(s->deferred, row);
        do_something(s, row, random);
        check_example(s, example);
        do_something(s, row, random);
        check_example(s, example);
        i += example.length;
    }
}

static void sums_are_those_of_blocks(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct summed s;
        md_random random;
        open_summed(&s, seed);
        assert_non_null(s.sums);
        md_random_seed(&random, seed);
        for (size_t epoch = 0; epoch < 4; epoch++) {
            if (epoch > 1)
                md_random_shuffle(&random, s.order, s.data.rows);
            const size_t most = md_deferred_open_most(s.deferred);
            for (size_t from = 0; from < s.data.rows;) {
                const size_t left = s.data.rows - from;
                const size_t count = 1 + md_random_below(&random, md_min(left, most));
                meet_window(&s, from, count, &random);
                from += count;
            }
        }
        close_summed(&s);
    }
}

static void rows_that_are_not_open_are_left_to_others(void **state)
{
    (void)state;
    struct summed s;
    medley_error error = {0};
    float score[LABELS];
    open_summed(&s, 1);
    assert_int_equal(md_deferred_open(s.deferred, s.order, 2, &error), MEDLEY_OK);
    assert_true(md_row_sums_score(s.sums, &s.problem, (md_example){0, 1}, score));
    assert_false(md_row_sums_score(s.sums, &s.problem, (md_example){5, 1}, score));
    assert_int_equal(md_deferred_close(s.deferred, &error), MEDLEY_OK);
    assert_false(md_row_sums_score(s.sums, &s.problem, (md_example){0, 1}, score));
    close_summed(&s);
}

/* Other parts than those of rows, or blocks that are not deferred. */
static void other_problems_have_none(void **state)
{
    (void)state;
    struct summed s;
    medley_error error = {0};
    md_row_sums *sums;
    open_summed(&s, 2);
    md_online_problem other = s.problem;
    other.space = s.data.space; /* a chain */
    assert_int_equal(md_row_sums_new(&sums, &s.pool, &other, &error), MEDLEY_OK);
    assert_null(sums);
    other = s.problem;
    other.deferred = NULL;
    assert_int_equal(md_row_sums_new(&sums, &s.pool, &other, &error), MEDLEY_OK);
    assert_null(sums);
    md_block *block;
    const md_explicit what = chain_explicit(&s.data, 0);
    assert_int_equal(md_explicit_block_create(&block, &what, &error), MEDLEY_OK);
    other = s.problem;
    other.blocks = &block;
    other.block_count = 1;
    assert_int_equal(md_row_sums_new(&sums, &s.pool, &other, &error), MEDLEY_OK);
    assert_null(sums);
    md_block_free(block);
    close_summed(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_blocks),
        cmocka_unit_test(rows_that_are_not_open_are_left_to_others),
        cmocka_unit_test(other_problems_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
