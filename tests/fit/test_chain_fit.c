/* SPDX-License-Identifier: BSD-3-Clause */
/* Training on sequences with kernels: the optimum of the objective is reached and reported as it
 * is, whatever the label context; every penalty, loss and schedule runs; the number of threads
 * changes nothing; what is saved predicts as what was learnt. */
#include "fit/fitting.h"
#include "fit/tiny_model.h"

/* ---- the optimum ---- */

/* The penalties of these tests: factors of sum b, 1/2 sum b^2 and 1/2 (sum b)^2. */
struct terms {
    const char *penalty;
    double group, half_square, half_square_of_sum;
};

struct objective {
    const struct tiny_data *data;
    const char *loss;
    struct terms terms;
    size_t penalised; /* groups; the others have an l2 term each */
    double lambda;
};

static double length_of_group(const struct tiny_data *data, const double *theta, size_t g)
{
    double square = 0;
    for (size_t j = data->group[g]; j < data->group[g + 1]; j++)
        square += theta[j] * theta[j];
    return sqrt(square);
}

/* The value at theta, and a subgradient if it is wanted. */
static double objective_at(const struct objective *o, const double *theta, double *gradient)
{
    const struct tiny_data *data = o->data;
    const double n = (double)data->kind.examples;
    double value = 0;
    double sum = 0;
    memset(gradient, 0, MOST_WEIGHTS * sizeof *gradient);
    for (size_t e = 0; e < data->kind.examples; e++)
        value += add_loss(data, o->loss, theta, e, gradient) / n;
    for (size_t j = 0; j < data->weights; j++)
        gradient[j] /= n;
    for (size_t g = 0; g < o->penalised; g++)
        sum += length_of_group(data, theta, g);
    value += o->lambda * o->terms.half_square_of_sum * sum * sum / 2;
    for (size_t g = 0; g < data->group_count; g++) {
        const double b = length_of_group(data, theta, g);
        const bool own = g >= o->penalised;
        const double half_square = own ? 1 : o->terms.half_square;
        const double linear = own ? 0 : o->terms.group + o->terms.half_square_of_sum * sum;
        value += o->lambda * (half_square * b * b / 2 + (own ? 0 : o->terms.group) * b);
        for (size_t j = data->group[g]; j < data->group[g + 1]; j++)
            gradient[j] += o->lambda * (half_square + (b > 0 ? linear / b : 0)) * theta[j];
    }
    return value;
}

/* Plain subgradient descent, started off the ties at 0. It returns the least value it has seen:
 * never below the optimum. */
static double descend(const struct objective *o, size_t rounds)
{
    double theta[MOST_WEIGHTS] = {0};
    double gradient[MOST_WEIGHTS] = {0};
    double least = INFINITY;
    md_random random;
    md_random_seed(&random, 5);
    for (size_t j = 0; j < o->data->weights; j++)
        theta[j] = 0.1 * md_random_normal(&random);
    for (size_t t = 0; t < rounds; t++) {
        least = fmin(least, objective_at(o, theta, gradient));
        for (size_t j = 0; j < o->data->weights; j++)
            theta[j] -= 1 / sqrt(1 + (double)t) * gradient[j];
    }
    return least;
}

struct optimum_case {
    struct tiny_kind kind;
    const char *bigram, *loss;
    struct terms terms;
    double lambda;
};

static void check_optimum(const struct optimum_case *c, const char *kernel)
{
    const double close = 0.01; /* of the objective: what an online run promises */
    struct tiny_data data;
    char text[512];
    draw_tiny_data(&data, &c->kind, 21);
    data.any_maximum = true;
    const struct objective objective = {
        .data = &data,
        .loss = c->loss,
        .terms = c->terms,
        .penalised = strcmp(c->bigram, "fixed") == 0 ? TABLES : data.group_count,
        .lambda = c->lambda};
    medley_dataset *dataset = tiny_dataset(&data);
    snprintf(text, sizeof text,
             "kernel=%s bigram=%s loss=%s penalty=%s lambda=%g order=%d bigram-ends=%s "
             "bigram-scale=%g epochs=1500 eta0=0.5 threads=1",
             kernel, c->bigram, c->loss, c->terms.penalty, c->lambda, c->kind.order == 2 ? 2 : 1,
             c->kind.ends ? "yes" : "no", c->kind.bigram_scale);
    medley_model *model = fit(dataset, NULL, text);
    double theta[MOST_WEIGHTS];
    double gradient[MOST_WEIGHTS];
    read_model(model, &data, theta);
    const double reported = medley_model_summary(model)->objective;
    const double value = objective_at(&objective, theta, gradient);
    const double least = descend(&objective, 1500);
    if (!(fabs(reported - value) < 1e-5 * (1 + value)))
        fail_msg("%s: objective %g reported, it is %g", text, reported, value);
    if (!(value < least + close * (1 + least)) || !(value > least - close * (1 + least)))
        fail_msg("%s: objective %g, optimum about %g", text, value, least);
    medley_model_free(model);
    medley_dataset_free(dataset);
}

static void the_optimum_is_reached_and_reported(void **state)
{
    (void)state;
    static const struct terms mkl = {"mkl", 0, 0, 1};
    static const struct terms l2 = {"l2", 0, 1, 0};
    static const struct terms absorbed = {"absorbed-l2", 0, 1, 0};
    static const struct terms lasso = {"group-lasso", 1, 0, 0};
    const struct tiny_kind pairs = {
        .labels = 3, .examples = 6, .chain = true, .order = 1, .bigram_scale = 1};
    const struct tiny_kind alone = {
        .labels = 3, .examples = 6, .chain = true, .order = 0, .bigram_scale = 1};
    const struct tiny_kind wide = {
        .labels = 3, .examples = 6, .chain = true, .order = 1, .bigram_scale = 2};
    const struct tiny_kind triples = {
        .labels = 3, .examples = 6, .chain = true, .ends = true, .order = 2, .bigram_scale = 0.7};
    const struct optimum_case cases[] = {
        {pairs, "fixed", "logistic", mkl, 0.05},     {pairs, "learned", "logistic", mkl, 0.05},
        {alone, "none", "logistic", mkl, 0.05},      {wide, "fixed", "logistic", l2, 0.05},
        {triples, "fixed", "logistic", l2, 0.05},    {triples, "learned", "logistic", lasso, 0.05},
        {pairs, "fixed", "hinge", mkl, 0.1},         {pairs, "learned", "hinge", lasso, 0.1},
        {triples, "fixed", "hinge", l2, 0.1},        {alone, "none", "hinge", l2, 0.1},
        {wide, "learned", "logistic", absorbed, 0.1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_optimum(&cases[i], i % 3 == 2 ? "linear" : "poly(degree=1,offset=0)");
}

/* Weights and kernel expansions of one view, beside a Gaussian on it, are the same model. */
static void explicit_weights_learn_what_the_kernel_learns(void **state)
{
    (void)state;
    static const char *const both = "kernel=rbf(sigma=2) epochs=5 eta0=0.3 lambda=0.05 threads=1 "
                                    "loss=logistic kernel=";
    const struct tiny_kind kind = {
        .labels = 3, .examples = 10, .chain = true, .order = 1, .bigram_scale = 1};
    struct tiny_data data;
    char text[256];
    draw_tiny_data(&data, &kind, 8);
    for (size_t r = 0; r < data.rows; r++)
        data.x[r][0][0] += 3; /* far from the origin */
    medley_dataset *dataset = tiny_dataset(&data);
    snprintf(text, sizeof text, "%spoly(degree=1,offset=0)", both);
    medley_model *expansion = fit(dataset, NULL, text);
    snprintf(text, sizeof text, "%slinear(explicit)", both);
    medley_model *weights = fit(dataset, NULL, text);
    medley_prediction *a = predict(expansion, dataset);
    medley_prediction *b = predict(weights, dataset);
    for (size_t i = 0; i < a->rows * a->labels; i++)
        if (!(fabsf(a->score[i] - b->score[i]) <= 1e-3f * (1 + fabsf(a->score[i]))))
            fail_msg("score %zu: kernel %g, weights %g", i, (double)a->score[i],
                     (double)b->score[i]);
    medley_prediction_free(a);
    medley_prediction_free(b);
    medley_model_free(expansion);
    medley_model_free(weights);
    medley_dataset_free(dataset);
}

/* ---- words ---- */

static void assert_sound(const medley_model *model, const medley_dataset *dataset, const char *text)
{
    const medley_summary *summary = medley_model_summary(model);
    medley_prediction *prediction = predict(model, dataset);
    double weights = 0;
    bool sound = isfinite(summary->objective) && strcmp(summary->task, "chain") == 0;
    for (size_t m = 0; m < summary->block_count; m++) {
        weights += summary->blocks[m].weight;
        sound = sound && isfinite(summary->blocks[m].norm) && summary->blocks[m].weight >= 0;
    }
    for (size_t i = 0; i < prediction->rows * prediction->labels; i++)
        sound = sound && isfinite(prediction->score[i]);
    for (size_t r = 0; r < prediction->rows; r++)
        sound =
            sound && prediction->label[r] >= 0 && (size_t)prediction->label[r] < prediction->labels;
    if (!sound || !(fabs(weights - 1) < 1e-9))
        fail_msg("%s: objective %g, weights sum to %g", text, summary->objective, weights);
    medley_prediction_free(prediction);
}

static void every_penalty_runs_on_sequences(void **state)
{
    (void)state;
    medley_dataset *words = make_data("handwriting", 25, 1);
    medley_listing listing = MEDLEY_LISTING_INIT;
    for (size_t i = 0; medley_list(&listing, "penalties", i); i++)
        for (size_t j = 0; j < 8; j++) {
            static const char *const bigrams[] = {"fixed", "learned"};
            char text[256];
            const bool inside =
                strcmp(listing.name, "l1") == 0 || strcmp(listing.name, "sparse-group") == 0;
            snprintf(text, sizeof text,
                     "penalty=%s loss=%s bigram=%s epochs=2 eta0=0.1 average=%s "
                     "kernel=linear%s kernel=%s threads=1",
                     listing.name, j % 2 ? "hinge" : "logistic", bigrams[j / 2 % 2],
                     j / 4 ? "yes" : "no", inside || j % 4 == 0 ? "(explicit)" : "",
                     inside ? "linear(explicit,norm=trace)" : "rbf(sigma2=5)");
            medley_model *model = fit(words, NULL, text);
            assert_sound(model, words, text);
            medley_model_free(model);
        }
    medley_dataset_free(words);
}

static void words_are_learnt_with_any_options(void **state)
{
    (void)state;
    const double good = 0.4; /* 26 letters, few words; the worst of these has 0.46 */
    static const char *const cases[] = {
        "",
        "loss=logistic eta0=10",
        "average=yes",
        "schedule=inverse penalty=l2 C=1 eta0=1",
        "schedule=constant eta0=0.3",
        "bigram=none",
        "bigram=learned",
        "bigram-scale=3 bigram-ends=yes",
        "order=2 bigram-scale=2",
        "order=2 bigram=learned bigram-ends=yes loss=logistic eta0=10",
        "batch=8",
        "batch=8 loss=logistic penalty=l2 eta0=10",
        "method=average",
        "method=best",
        "task=multiclass",
        "views=all+window:1",
    };
    medley_dataset *train = make_data("handwriting", 80, 1);
    medley_dataset *test = make_data("handwriting", 60, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "epochs=6 kernel=rbf(sigma2=5) kernel=linear(norm=diag) threads=1 %s%s",
                 strstr(cases[i], "eta0") ? "" : "eta0=1 ", cases[i]);
        medley_model *model = fit(train, NULL, text);
        const double accuracy = accuracy_of(model, test);
        if (!(accuracy > good))
            fail_msg("%s: accuracy %g", text, accuracy);
        medley_model_free(model);
    }
    medley_dataset_free(train);
    medley_dataset_free(test);
}

static void neighbouring_letters_help(void **state)
{
    (void)state;
    medley_dataset *train = make_data("handwriting", 150, 3);
    medley_dataset *test = make_data("handwriting", 100, 4);
    const char *options = "epochs=10 eta0=1 kernel=linear(norm=diag) bigram-scale=2 threads=1";
    char text[256];
    snprintf(text, sizeof text, "%s bigram=none", options);
    medley_model *alone = fit(train, NULL, text);
    medley_model *pairs = fit(train, NULL, options);
    assert_true(accuracy_of(pairs, test) > accuracy_of(alone, test) + 0.02);
    medley_model_free(alone);
    medley_model_free(pairs);
    medley_dataset_free(train);
    medley_dataset_free(test);
}

/* ---- one model ---- */

static void assert_same_bytes(const medley_model *a, const medley_model *b, const char *what)
{
    size_t lengths[2];
    char *bytes_a = model_bytes(a, &lengths[0]);
    char *bytes_b = model_bytes(b, &lengths[1]);
    if (lengths[0] != lengths[1] || memcmp(bytes_a, bytes_b, lengths[0]) != 0)
        fail_msg("%s: files differ", what);
    free(bytes_a);
    free(bytes_b);
}

static void the_number_of_threads_changes_nothing(void **state)
{
    (void)state;
    static const char *const runs[] = {"epochs=3 eta0=1",
                                       "epochs=1 eta0=1 loss=logistic order=2 batch=8",
                                       "epochs=2 loss=logistic average=yes bigram=learned",
                                       "epochs=2 eta0=1 batch=4 kernel=linear(explicit)"};
    medley_dataset *words = make_data("handwriting", 90, 5);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s threads=1", runs[i]);
        medley_model *one = fit(words, NULL, text);
        snprintf(text, sizeof text, "%s threads=2", runs[i]);
        medley_model *two = fit(words, NULL, text);
        assert_same_bytes(one, two, runs[i]);
        medley_model_free(one);
        medley_model_free(two);
    }
    medley_dataset_free(words);
}

static void what_is_saved_predicts_as_what_was_learnt(void **state)
{
    (void)state;
    static const char *const runs[] = {
        "order=2 bigram-ends=yes", "bigram=none", "method=average bigram-ends=yes",
        "kernel=linear(explicit) bigram=learned loss=logistic penalty=l1 lambda=0.001"};
    medley_dataset *train = make_data("handwriting", 40, 6);
    medley_dataset *test = make_data("handwriting", 30, 7);
    medley_error error = {0};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char text[128];
        char path[PATH_SIZE];
        snprintf(text, sizeof text, "%s epochs=3 eta0=0.3 threads=1", runs[i]);
        medley_model *model = fit(train, NULL, text);
        medley_model *loaded = NULL;
        temporary_path(path);
        assert_int_equal(medley_model_save(model, path, &error), MEDLEY_OK);
        assert_int_equal(medley_model_load(&loaded, path, &error), MEDLEY_OK);
        unlink(path);
        assert_same_bytes(model, loaded, runs[i]);
        medley_prediction *a = predict(model, test);
        medley_prediction *b = predict(loaded, test);
        assert_memory_equal(a->label, b->label, a->rows * sizeof *a->label);
        assert_memory_equal(a->score, b->score, a->rows * a->labels * sizeof *a->score);
        medley_prediction_free(a);
        medley_prediction_free(b);
        medley_model_free(model);
        medley_model_free(loaded);
    }
    medley_dataset_free(train);
    medley_dataset_free(test);
}

/* Kernels that do not fit the budget are computed on the fly: nothing else changes. */
static void a_tiny_memory_budget_gives_the_same_predictions(void **state)
{
    (void)state;
    static const char *const runs[] = {"eta0=1", "eta0=1 loss=logistic", "eta0=1 batch=8",
                                       "eta0=1 average=yes order=2"};
    medley_dataset *train = make_data("handwriting", 40, 10);
    medley_dataset *test = make_data("handwriting", 20, 11);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s epochs=3 kernel=rbf(sigma2=5) threads=1", runs[i]);
        medley_model *full = fit(train, NULL, text);
        snprintf(text, sizeof text, "%s epochs=3 kernel=rbf(sigma2=5) threads=1 memory=20K",
                 runs[i]);
        medley_model *streamed = fit(train, NULL, text);
        medley_prediction *a = predict(full, test);
        medley_prediction *b = predict(streamed, test);
        for (size_t j = 0; j < a->rows * a->labels; j++)
            if (!(fabsf(a->score[j] - b->score[j]) <= 1e-3f * (1 + fabsf(a->score[j]))))
                fail_msg("%s: score %g instead of %g", text, (double)b->score[j],
                         (double)a->score[j]);
        medley_prediction_free(a);
        medley_prediction_free(b);
        medley_model_free(full);
        medley_model_free(streamed);
    }
    medley_dataset_free(train);
    medley_dataset_free(test);
}

/* A kernel times 9 and features times 3 are the same thing, whether the kernel is kept as values or
 * as weights; precomputed kernels are multiplied by hand. */
static void a_block_scale_is_a_factor_of_the_kernel(void **state)
{
    (void)state;
    medley_dataset *train = make_data("handwriting", 40, 3);
    static const char *const pairs[][2] = {
        {"kernel=poly(degree=1,offset=0,scale=9)",
         "kernel=poly(degree=1,offset=0) block-scale=poly*=3"},
        {"kernel=poly(degree=1,offset=0,scale=9)", "kernel=linear block-scale=linear*=3"},
        {"kernel=poly(degree=1,offset=0,scale=9) loss=logistic average=yes",
         "kernel=poly(degree=1,offset=0) loss=logistic average=yes block-scale=poly*=3"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[256];
        snprintf(text, sizeof text, "epochs=3 eta0=0.01 %s", pairs[i][0]);
        medley_model *a = fit(train, NULL, text);
        snprintf(text, sizeof text, "epochs=3 eta0=0.01 %s", pairs[i][1]);
        medley_model *b = fit(train, NULL, text);
        const double expected = medley_model_summary(a)->objective;
        if (fabs(medley_model_summary(b)->objective - expected) > 1e-3 * expected)
            fail_msg("%s: objective %g instead of %g", text, medley_model_summary(b)->objective,
                     expected);
        medley_prediction *of_a = predict(a, train);
        medley_prediction *of_b = predict(b, train);
        for (size_t j = 0; j < of_a->rows * of_a->labels; j++)
            assert_true(fabsf(of_a->score[j] - of_b->score[j]) <=
                        1e-2f * (1 + fabsf(of_a->score[j])));
        medley_prediction_free(of_a);
        medley_prediction_free(of_b);
        medley_model_free(a);
        medley_model_free(b);
    }
    medley_dataset_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_scale_is_a_factor_of_the_kernel),
        cmocka_unit_test(the_optimum_is_reached_and_reported),
        cmocka_unit_test(explicit_weights_learn_what_the_kernel_learns),
        cmocka_unit_test(every_penalty_runs_on_sequences),
        cmocka_unit_test(words_are_learnt_with_any_options),
        cmocka_unit_test(neighbouring_letters_help),
        cmocka_unit_test(the_number_of_threads_changes_nothing),
        cmocka_unit_test(what_is_saved_predicts_as_what_was_learnt),
        cmocka_unit_test(a_tiny_memory_budget_gives_the_same_predictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
