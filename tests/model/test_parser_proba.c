/* SPDX-License-Identifier: BSD-3-Clause */
/* Probabilities and best trees of parsing models: through files, with any number of threads,
 * calibrated or not, with relations or without; what is measured, and what is written. */
#include "model/parser_case.h"

#include "data/tree_columns.h"
#include "model/model.h"

static medley_prediction *predict_with(const medley_model *model, const medley_dataset *dataset,
                                       bool probabilities, size_t best, size_t threads)
{
    medley_prediction *prediction = NULL;
    medley_error error = {0};
    medley_predict_options options = MEDLEY_PREDICT_OPTIONS_INIT;
    options.probabilities = probabilities;
    options.best = best;
    options.threads = threads;
    if (medley_predict_with(&prediction, model, dataset, &options, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return prediction;
}

/* Twenty sentences, enough to hold some out. */
static medley_dataset *long_treebank(void)
{
    char lines[2048] = "";
    for (int i = 0; i < 10; i++) {
        const size_t used = strlen(lines);
        snprintf(lines + used, sizeof lines - used,
                 "1 %s DET DT 2 det/2 dog NOUN NN 3 nsubj/3 barks VERB VB 0 root/./"
                 "1 cats NOUN NN 2 nsubj/2 %s VERB VB 0 root/3 %s NOUN NN 2 obj/./",
                 i % 2 ? "the" : "a", i % 3 ? "see" : "sleep", i % 4 ? "dogs" : "boys");
    }
    return treebank(lines);
}

static medley_model *through_file(const medley_model *model)
{
    size_t length;
    char *bytes = model_bytes(model, &length);
    medley_model *back = NULL;
    medley_error error = {0};
    assert_int_equal(medley_model_read(&back, bytes, length, "model", &error), MEDLEY_OK);
    free(bytes);
    return back;
}

#define SAME(a, b, count) assert_memory_equal((a), (b), (count) * sizeof *(a))

static void assert_same(const medley_prediction *a, const medley_prediction *b)
{
    SAME(a->head, b->head, a->rows);
    SAME(a->head_probability, b->head_probability, a->rows);
    SAME(a->best_head, b->best_head, a->rows * a->best);
    SAME(a->best_score, b->best_score, a->sequences * a->best);
    SAME(a->best_probability, b->best_probability, a->sequences * a->best);
    assert_true((a->label == NULL) == (b->label == NULL));
    if (a->label == NULL)
        return;
    SAME(a->score, b->score, a->rows * a->labels);
    SAME(a->best_label, b->best_label, a->rows * a->best);
    SAME(a->best_label_probability, b->best_label_probability, a->rows * a->best);
}

static const char *const ways[] = {"",
                                   "calibrate=yes",
                                   "unlabelled=yes",
                                   "calibrate=yes projective=yes roots=many",
                                   "calibrate=yes memory=1K",
                                   "loss=logistic calibrate=yes"};

static void probabilities_survive_files_and_threads(void **state)
{
    (void)state;
    medley_dataset *train = long_treebank();
    medley_dataset *fresh = treebank(other_treebank);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        medley_model *model = fit_parser(train, NULL, ways[i]);
        medley_model *loaded = through_file(model);
        const bool calibrated = strstr(ways[i], "calibrate") != NULL;
        assert_true(calibrated == isfinite(medley_model_summary(loaded)->temperature));
        if (model->companion != NULL)
            assert_true(calibrated ==
                        isfinite(medley_model_summary(loaded->companion)->temperature));
        medley_prediction *one = predict_with(model, fresh, true, 3, 1);
        medley_prediction *two = predict_with(loaded, fresh, true, 3, 3);
        medley_prediction *plain = predict(model, fresh);
        assert_same(one, two);
        assert_true(same_trees(one, plain));
        assert_null(plain->score);
        for (size_t r = 0; r < one->rows; r++)
            assert_true(one->head_probability[r] >= 0 && one->head_probability[r] <= 1);
        medley_prediction_free(one);
        medley_prediction_free(two);
        medley_prediction_free(plain);
        medley_model_free(loaded);
        medley_model_free(model);
    }
    medley_dataset_free(train);
    medley_dataset_free(fresh);
}

/* The model and its trees are those that there are without it. */
static void calibration_changes_no_tree(void **state)
{
    (void)state;
    medley_dataset *train = long_treebank();
    medley_model *models[] = {fit_parser(train, NULL, ""), fit_parser(train, NULL, "calibrate=yes"),
                              fit_parser(train, NULL, "calibrate=yes memory=1K")};
    medley_prediction *said[3];
    for (size_t i = 0; i < 3; i++)
        said[i] = predict_with(models[i], train, true, 2, 1);
    assert_true(same_trees(said[0], said[1]));
    SAME(said[0]->best_score, said[1]->best_score, said[0]->sequences * 2);
    assert_same(said[1], said[2]); /* features that were there some at a time */
    for (size_t i = 0; i < 3; i++) {
        medley_prediction_free(said[i]);
        medley_model_free(models[i]);
    }
    medley_dataset_free(train);
}

/* Relations of each tree are what the companion says of it. */
static void relations_are_those_of_each_tree(void **state)
{
    (void)state;
    medley_dataset *train = treebank(small_treebank);
    medley_model *model = fit_parser(train, NULL, "");
    medley_prediction *p = predict_with(model, train, true, 4, 2);
    for (size_t k = 0; k < p->best; k++) {
        medley_dataset *columns = NULL;
        medley_error error = {0};
        int32_t *heads = calloc(p->rows, sizeof *heads);
        assert_non_null(heads);
        for (size_t r = 0; r < p->rows; r++)
            heads[r] =
                p->best_head[k * p->rows + r] < 0 ? p->head[r] : p->best_head[k * p->rows + r];
        assert_int_equal(md_tree_columns(&columns, train, heads, 3, &error), MEDLEY_OK);
        medley_prediction *labels = predict_with(model->companion, columns, true, 0, 1);
        for (size_t r = 0; r < p->rows; r++) {
            const size_t i = k * p->rows + r;
            if (p->best_head[i] < 0) {
                assert_true(p->best_label[i] == -1 && isnan(p->best_label_probability[i]));
                continue;
            }
            assert_int_equal(p->best_label[i], labels->label[r]);
            assert_true(p->best_label_probability[i] ==
                        labels->score[r * p->labels + (size_t)labels->label[r]]);
        }
        if (k == 0)
            SAME(p->score, labels->score, p->rows * p->labels);
        medley_prediction_free(labels);
        medley_dataset_free(columns);
        free(heads);
    }
    medley_prediction_free(p);
    medley_model_free(model);
    medley_dataset_free(train);
}

static void probabilities_are_measured_as_by_hand(void **state)
{
    (void)state;
    medley_dataset *train = treebank(small_treebank);
    medley_model *model = fit_parser(train, NULL, "");
    medley_prediction *p = predict_with(model, train, true, 0, 1);
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_evaluate_options options = MEDLEY_EVALUATE_OPTIONS_INIT;
    medley_error error = {0};
    double log_loss = 0;
    double brier = 0;
    const float *arcs = p->arc_probability;
    options.probabilities = true;
    assert_int_equal(medley_evaluate_with(&evaluation, model, train, &options, &error), MEDLEY_OK);
    for (size_t s = 0; s < train->sequence_count; s++) {
        const size_t first = train->sequence_start[s];
        const size_t end = train->sequence_start[s + 1];
        for (size_t r = first; r < end; r++, arcs += end - first + 1) {
            log_loss -= log((double)arcs[train->head[r]]);
            for (size_t h = 0; h <= end - first; h++)
                brier += pow((double)arcs[h] - ((size_t)train->head[r] == h), 2);
        }
    }
    assert_true(fabs(evaluation.log_loss - log_loss / (double)p->rows) < 1e-9);
    assert_true(fabs(evaluation.brier - brier / (double)p->rows) < 1e-9);
    assert_true(evaluation.calibration_error >= 0 && evaluation.calibration_error <= 1);
    medley_evaluation_clear(&evaluation);
    medley_prediction_free(p);
    medley_model_free(model);
    medley_dataset_free(train);
}

/* ---- files ---- */

static char *written(medley_status (*write)(const medley_prediction *, const medley_model *,
                                            const medley_dataset *, const char *, medley_error *),
                     const medley_prediction *prediction, const medley_model *model,
                     const medley_dataset *dataset)
{
    char path[PATH_SIZE];
    size_t length;
    medley_error error = {0};
    temporary_path(path);
    if (write(prediction, model, dataset, path, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    char *bytes = read_bytes(path, &length);
    bytes = realloc(bytes, length + 1);
    assert_non_null(bytes);
    bytes[length] = '\0';
    unlink(path);
    return bytes;
}

#define WORD(id, form, head, misc) id "\t" form "\t_\tNOUN\tNN\t_\t" head "\tx\t_\t" misc "\n"
#define OTHER(id)                  id "\tx\t_\t_\t_\t_\t_\t_\t1:y\t_\n"

/* Comments, lines that are no words, blank lines and MISC of the data, around the trees. */
static void best_trees_come_between_the_lines_of_the_data(void **state)
{
    (void)state;
    static const char text[] = "# top\n\n"
                               "# one\n" OTHER("1-2") WORD("1", "dogs", "2", "_")
                                   WORD("2", "cats", "0", "A=b|HeadProb=7|RelProb=8")
                                       OTHER("2.1") "\n\n# stray\n\n"
                                                    "# two\n" WORD("1", "boys", "0", "C=d") "\n";
    medley_dataset *train = treebank(small_treebank);
    medley_dataset *data = NULL;
    medley_read_options reading = MEDLEY_READ_OPTIONS_INIT;
    medley_error error = {0};
    reading.format = "conllu";
    assert_int_equal(read_text(&data, text, strlen(text), &reading, &error), MEDLEY_OK);
    medley_model *model = fit_parser(train, NULL, "unlabelled=yes");
    medley_prediction *p = predict_with(model, data, false, 3, 1);
    char *found = written(medley_prediction_write_best, p, model, data);
    char expected[2048];
    const int32_t *heads[] = {p->best_head, p->best_head + p->rows};
    char block[2][512];
    for (int k = 0; k < 2; k++)
        snprintf(block[k], sizeof block[k],
                 "# one\n# tree = %d\n# score = %.6g\n" OTHER("1-2") WORD("1", "dogs", "%d", "_")
                     WORD("2", "cats", "%d", "A=b|HeadProb=7|RelProb=8") OTHER("2.1") "\n",
                 k + 1, p->best_score[k], heads[k][0], heads[k][1]);
    snprintf(expected, sizeof expected,
             "# top\n\n%s%s\n# stray\n\n# two\n# tree = 1\n# score = %.6g\n" WORD("1", "boys", "0",
                                                                                  "C=d") "\n",
             block[0], block[1], p->best_score[3]);
    assert_string_equal(found, expected);
    free(found);
    medley_prediction_free(p);
    p = predict_with(model, data, true, 1, 1);
    found = written(medley_prediction_write_best, p, model, data);
    assert_non_null(strstr(found, "\n# probability = "));
    assert_non_null(strstr(found, "\tA=b|HeadProb=0."));
    assert_null(strstr(found, "HeadProb=7"));
    assert_null(strstr(found, "RelProb")); /* heads only */
    free(found);
    found = written(medley_prediction_write_scores, p, model, data);
    assert_non_null(strstr(found, "\tC=d|HeadProb=1\n"));
    free(found);
    medley_prediction_free(p);
    p = predict(model, data);
    assert_int_equal(medley_prediction_write_best(p, model, data, "nowhere", &error), MEDLEY_USAGE);
    assert_int_equal(medley_prediction_write_scores(p, model, data, "nowhere", &error),
                     MEDLEY_USAGE);
    medley_prediction_free(p);
    medley_model_free(model);
    medley_dataset_free(data);
    medley_dataset_free(train);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probabilities_survive_files_and_threads),
        cmocka_unit_test(calibration_changes_no_tree),
        cmocka_unit_test(relations_are_those_of_each_tree),
        cmocka_unit_test(probabilities_are_measured_as_by_hand),
        cmocka_unit_test(best_trees_come_between_the_lines_of_the_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
