/* SPDX-License-Identifier: BSD-3-Clause */
/* Learning piece by piece against a direct computation in double precision (OBSCURE, Alg. 1), with
 * all labels known from the first piece on, and with labels that come late. */
#include "incremental/pieces.h"

enum { PLAIN_ROWS = 60, PLAIN_KERNELS = 3, PLAIN_LABELS = 3 };

struct plain {
    double k[PLAIN_KERNELS][PLAIN_ROWS][PLAIN_ROWS];
    double a[PLAIN_ROWS][PLAIN_LABELS]; /* coefficients, the same for all kernels */
    double link[PLAIN_KERNELS];
};

static void plain_links(struct plain *plain, double p)
{
    const double q = p / (p - 1);
    double norm[PLAIN_KERNELS];
    double sum = 0;
    for (size_t m = 0; m < PLAIN_KERNELS; m++) {
        double square = 0;
        for (size_t i = 0; i < PLAIN_ROWS; i++)
            for (size_t j = 0; j < PLAIN_ROWS; j++)
                for (size_t l = 0; l < PLAIN_LABELS; l++)
                    square += plain->a[i][l] * plain->a[j][l] * plain->k[m][i][j];
        norm[m] = sqrt(fmax(0, square));
        sum += pow(norm[m], q);
    }
    for (size_t m = 0; m < PLAIN_KERNELS; m++)
        plain->link[m] = sum > 0 ? pow(norm[m] / pow(sum, 1 / q), q - 2) / q : 0;
}

static double plain_score(const struct plain *plain, size_t row, size_t l)
{
    double sum = 0;
    for (size_t m = 0; m < PLAIN_KERNELS; m++)
        for (size_t i = 0; i < PLAIN_ROWS; i++)
            sum += plain->link[m] * plain->a[i][l] * plain->k[m][i][row];
    return sum;
}

/* Alg. 1 of OBSCURE, one pass. known[r]: labels there are when row r is met. */
static void plain_learn(struct plain *plain, const int32_t *label,
                        const bool (*known)[PLAIN_LABELS], double eta, double p)
{
    for (size_t r = 0; r < PLAIN_ROWS; r++) {
        const size_t right = (size_t)label[r];
        size_t worst = right;
        double most = plain_score(plain, r, right);
        const double own = most;
        for (size_t l = 0; l < PLAIN_LABELS; l++) {
            const double value = plain_score(plain, r, l) + 1;
            if (l != right && known[r][l] && value > most) {
                most = value;
                worst = l;
            }
        }
        if (!(most > own))
            continue;
        plain->a[r][right] += eta;
        plain->a[r][worst] -= eta;
        plain_links(plain, p);
    }
}

static void compare_with_plain(const medley_model *model, const struct plain *plain,
                               const medley_dataset *data)
{
    medley_prediction *prediction = predict(model, data);
    const double scale = largest_score(prediction);
    assert_int_equal(prediction->labels, PLAIN_LABELS);
    for (size_t r = 0; r < PLAIN_ROWS; r++)
        for (size_t l = 0; l < PLAIN_LABELS; l++) {
            const double score = (double)prediction->score[r * PLAIN_LABELS + l];
            const double expected = plain_score(plain, r, l);
            if (!(fabs(score - expected) <= 1e-4 * scale))
                fail_msg("row %zu, label %zu: %g, expected %g", r, l, score, expected);
        }
    medley_prediction_free(prediction);
}

static double plain_kernel(size_t m, const float *x, const float *z)
{
    double dot = 0;
    double square = 0;
    for (size_t c = 0; c < PIECE_COLUMNS; c++) {
        const double difference = (double)x[c] - (double)z[c];
        dot += (double)x[c] * (double)z[c];
        square += difference * difference;
    }
    return m == 0 ? dot : m == 1 ? (dot + 1) * (dot + 1) : exp(-0.5 * square);
}

static struct plain *plain_open(const medley_dataset *data)
{
    struct plain *plain = calloc(1, sizeof *plain);
    const float *x = data->tables[0].features.dense;
    assert_non_null(plain);
    for (size_t m = 0; m < PLAIN_KERNELS; m++)
        for (size_t i = 0; i < PLAIN_ROWS; i++)
            for (size_t j = 0; j < PLAIN_ROWS; j++)
                plain->k[m][i][j] = plain_kernel(m, x + i * PIECE_COLUMNS, x + j * PIECE_COLUMNS);
    return plain;
}

static const char plain_options[] = "kernel=linear kernel=poly(degree=2) kernel=rbf(gamma=0.5) "
                                    "eta=0.4 p=1.4";

static void the_model_is_that_of_the_formulas(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        medley_dataset *data = draw_rows(
            (struct rows_kind){.rows = PLAIN_ROWS, .labels = PLAIN_LABELS, .seed = 100 + seed});
        struct plain *plain = plain_open(data);
        bool known[PLAIN_ROWS][PLAIN_LABELS];
        memset(known, true, sizeof known);
        plain_learn(plain, data->label, (const bool(*)[PLAIN_LABELS])known, 0.4, 1.4);
        medley_model *model = learn_in_pieces(data, plain_options, 5 * seed, seed);
        compare_with_plain(model, plain, data);
        medley_model_free(model);
        medley_dataset_free(data);
        free(plain);
    }
}

/* Rows of a data set as one that knows only the names of their labels. */
static medley_dataset *without_other_names(const medley_dataset *data, size_t first, size_t count)
{
    medley_dataset *piece = NULL;
    const char *names[PLAIN_ROWS];
    double x[PLAIN_ROWS * PIECE_COLUMNS];
    for (size_t i = 0; i < count; i++)
        names[i] = data->label_names.items[data->label[first + i]];
    for (size_t i = 0; i < count * PIECE_COLUMNS; i++)
        x[i] = (double)data->tables[0].features.dense[first * PIECE_COLUMNS + i];
    assert_int_equal(medley_dataset_from_dense(&piece, x, count, PIECE_COLUMNS, names, NULL),
                     MEDLEY_OK);
    return piece;
}

/* Each label is the late one in turn: it goes before, between or behind the others. */
static void labels_may_come_late(void **state)
{
    (void)state;
    for (size_t late = 0; late < PLAIN_LABELS; late++) {
        enum { FIRST = 25 };
        medley_dataset *data = draw_rows(
            (struct rows_kind){.rows = PLAIN_ROWS, .labels = PLAIN_LABELS, .seed = 7 + late});
        struct plain *plain = plain_open(data);
        bool known[PLAIN_ROWS][PLAIN_LABELS];
        medley_learner *learner = open_learner(plain_options);
        for (size_t r = 0; r < FIRST; r++)
            if (data->label[r] == (int32_t)late)
                data->label[r] = (data->label[r] + 1) % PLAIN_LABELS;
        for (size_t first = 0; first < PLAIN_ROWS; first += first == 0 ? FIRST : 7) {
            const size_t count = first == 0 ? FIRST : 7;
            medley_dataset *piece = without_other_names(data, first, count);
            feed(learner, piece);
            medley_model *model = model_of(learner); /* learning goes on */
            for (size_t r = first; r < first + count; r++)
                for (size_t l = 0; l < PLAIN_LABELS; l++) {
                    known[r][l] = false;
                    for (size_t i = 0; i < medley_model_label_count(model); i++)
                        known[r][l] |= strcmp(medley_model_label_name(model, i),
                                              data->label_names.items[l]) == 0;
                }
            assert_int_equal(medley_model_label_count(model), first == 0 ? 2 : 3);
            assert_string_equal(medley_model_summary(model)->task,
                                first == 0 ? "binary" : "multiclass");
            medley_model_free(model);
            medley_dataset_free(piece);
        }
        plain_learn(plain, data->label, (const bool(*)[PLAIN_LABELS])known, 0.4, 1.4);
        medley_model *model = model_of(learner);
        compare_with_plain(model, plain, data);
        medley_model_free(model);
        medley_learner_free(learner);
        medley_dataset_free(data);
        free(plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_is_that_of_the_formulas),
        cmocka_unit_test(labels_may_come_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
