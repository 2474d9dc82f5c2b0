/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing models from fit to file and back: trees that are learnt and predicted, with and without
 * relations, how they are measured, and what a run can be told about them. */
#include "model/parser_case.h"

#include "data/projective.h"
#include "task/parser.h"

static const md_parser *parser_of(const medley_model *model)
{
    return model->own;
}

static medley_model *load(const char *path)
{
    medley_model *model = NULL;
    medley_error error = {0};
    if (medley_model_load(&model, path, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    return model;
}

/* Through a file and back. */
static medley_model *pass_through_file(const medley_model *model)
{
    char path[PATH_SIZE];
    medley_error error = {0};
    temporary_path(path);
    assert_int_equal(medley_model_save(model, path, &error), MEDLEY_OK);
    medley_model *loaded = load(path);
    unlink(path);
    return loaded;
}

static void assert_same_file(const medley_model *a, const medley_model *b)
{
    size_t length[2];
    char *bytes[2] = {model_bytes(a, &length[0]), model_bytes(b, &length[1])};
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(bytes[0], bytes[1], length[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* ---- what is learnt ---- */

static const char *const ways[] = {
    "unlabelled=yes",
    "",
    "unlabelled=yes loss=hinge average=yes",
    "loss=softmax-margin penalty=l1 lambda=0.001",
    "unlabelled=yes penalty=sparse-group lambda=0.001",
    "unlabelled=yes method=obscure eta0=auto epochs=0 epochs1=3 epochs2=3",
    "roots=many projective=yes",
    "unlabelled=yes eta0=auto average=yes average-from=0.5",
};
enum { WAYS = sizeof ways / sizeof *ways };

static void trees_are_learnt_and_survive_files(void **state)
{
    (void)state;
    medley_dataset *train = treebank(small_treebank);
    medley_dataset *fresh = treebank(other_treebank);
    for (size_t i = 0; i < WAYS; i++) {
        medley_model *model = fit_parser(train, NULL, ways[i]);
        medley_model *loaded = pass_through_file(model);
        const bool unlabelled = strstr(ways[i], "unlabelled") != NULL;
        const bool many = strstr(ways[i], "roots=many") != NULL;
        assert_true(medley_model_is_parser(loaded) && !medley_model_is_regression(loaded));
        assert_true(loaded->space.shape.many_roots == many);
        assert_true(loaded->space.shape.projective == (strstr(ways[i], "projective") != NULL));
        assert_int_equal(medley_model_label_count(loaded) == 0, unlabelled);
        for (size_t t = 0; t < md_arc_templates_count(parser_of(loaded)->templates); t++)
            assert_string_equal(md_arc_templates_name(parser_of(loaded)->templates, t),
                                loaded->summary.blocks[parser_of(loaded)->info[t]].name);
        for (int known = 0; known < 2; known++) {
            const medley_dataset *data = known ? train : fresh;
            medley_prediction *before = predict(model, data);
            medley_prediction *after = predict(loaded, data);
            assert_true(same_trees(before, after));
            assert_int_equal(before->label == NULL, unlabelled);
            assert_trees(data, before->head, many);
            assert_null(before->score);
            medley_prediction_free(before);
            medley_prediction_free(after);
        }
        if (accuracy_of(loaded, train) < 0.75)
            fail_msg("%s: %g", ways[i], accuracy_of(loaded, train));
        assert_same_file(model, loaded);
        medley_model_free(model);
        medley_model_free(loaded);
    }
    medley_dataset_free(train);
    medley_dataset_free(fresh);
}

static void one_seed_gives_one_model_whatever_threads_and_memory(void **state)
{
    (void)state;
    medley_dataset *train = treebank(small_treebank);
    for (size_t i = 0; i < WAYS; i++) {
        char one[128];
        char two[128];
        char little[128];
        snprintf(one, sizeof one, "%s batch=2", ways[i]);
        snprintf(two, sizeof two, "%s batch=2 threads=2", ways[i]);
        snprintf(little, sizeof little, "%s memory=1K batch=2", ways[i]);
        medley_model *model = fit_parser(train, NULL, one);
        medley_model *with_two = fit_parser(train, NULL, two);
        medley_model *again = fit_parser(train, NULL, one);
        medley_model *in_little_memory = fit_parser(train, NULL, little);
        assert_same_file(model, with_two);
        assert_same_file(model, again);
        assert_same_file(model, in_little_memory);
        medley_model_free(model);
        medley_model_free(with_two);
        medley_model_free(again);
        medley_model_free(in_little_memory);
    }
    medley_dataset_free(train);
}

/* A model that has nothing in it predicts trees all the same. */
static void a_model_without_blocks_still_predicts_trees(void **state)
{
    (void)state;
    medley_dataset *train = treebank(small_treebank);
    medley_model *model = fit_parser(train, NULL, "unlabelled=yes penalty=group-lasso lambda=1000");
    medley_model *loaded = pass_through_file(model);
    assert_int_equal(medley_model_summary(loaded)->active_blocks, 0);
    medley_prediction *prediction = predict(loaded, train);
    assert_trees(train, prediction->head, false);
    medley_prediction_free(prediction);
    medley_model_free(model);
    medley_model_free(loaded);
    medley_dataset_free(train);
}

static void projective_models_predict_projective_trees(void **state)
{
    (void)state;
    medley_dataset *train = treebank(small_treebank);
    medley_model *model = fit_parser(train, NULL, "unlabelled=yes projective=yes epochs=20");
    medley_model *any = fit_parser(train, NULL, "unlabelled=yes epochs=20");
    size_t crossing = 0;
    for (int projective = 0; projective < 2; projective++) {
        medley_prediction *prediction = predict(projective ? model : any, train);
        for (size_t s = 0; s < train->sequence_count; s++) {
            const size_t first = train->sequence_start[s];
            const bool is_projective =
                tree_is_projective(prediction->head + first, train->sequence_start[s + 1] - first);
            assert_true(is_projective || !projective);
            crossing += !is_projective;
        }
        medley_prediction_free(prediction);
    }
    assert_true(crossing > 0); /* of the one that may */
    medley_model_free(model);
    medley_model_free(any);
    medley_dataset_free(train);
}

/* ---- measures ---- */

/* Shares of words, counted one by one. */
struct count {
    double words, heads, arcs, sentences, whole;
};

static struct count count_by_hand(const medley_model *model, const medley_dataset *dataset,
                                  const medley_prediction *prediction, bool punctuation)
{
    struct count count = {0};
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        bool whole = true;
        for (size_t r = dataset->sequence_start[s]; r < dataset->sequence_start[s + 1]; r++) {
            const int32_t *token = dataset->token + r * dataset->token_columns;
            const char *tag = dataset->token_values[3].items[token[3]];
            const char *relation = dataset->token_values[7].items[token[7]];
            const bool head = prediction->head[r] == dataset->head[r];
            whole = whole && head;
            if (!punctuation && strcmp(tag, "PUNCT") == 0)
                continue;
            count.words += 1;
            count.heads += head;
            count.arcs +=
                head && prediction->label != NULL &&
                strcmp(relation, medley_model_label_name(model, (size_t)prediction->label[r])) == 0;
        }
        count.sentences += 1;
        count.whole += whole;
    }
    return count;
}

static void measure(const medley_model *model, const medley_dataset *dataset)
{
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_error error = {0};
    assert_int_equal(medley_evaluate(&evaluation, model, dataset, 1, &error), MEDLEY_OK);
    medley_prediction *prediction = predict(model, dataset);
    const struct count all = count_by_hand(model, dataset, prediction, true);
    const struct count words = count_by_hand(model, dataset, prediction, false);
    assert_true(evaluation.uas == all.heads / all.words && evaluation.accuracy == evaluation.uas);
    assert_true(evaluation.uas_no_punct == words.heads / words.words);
    assert_true(evaluation.exact_match == all.whole / all.sentences);
    assert_int_equal(evaluation.correct, all.heads);
    assert_int_equal(evaluation.parts, all.words);
    assert_int_equal(evaluation.examples, all.sentences);
    if (prediction->label != NULL)
        assert_true(evaluation.las == all.arcs / all.words &&
                    evaluation.las_no_punct == words.arcs / words.words);
    else
        assert_true(isnan(evaluation.las) && isnan(evaluation.las_no_punct));
    medley_prediction_free(prediction);
    medley_evaluation_clear(&evaluation);
}

static void measures_are_what_counting_gives(void **state)
{
    (void)state;
    static const char strange[] = "1 the DET DT 2 det:x/2 dog NOUN NN 3 nsubj/3 . PUNCT . 0 new/./"
                                  "1 ! PUNCT . 0 root/./";
    medley_dataset *train = treebank(small_treebank);
    medley_dataset *fresh = treebank(other_treebank);
    /* the right relations at words whose heads are said to be others */
    static const char moved[] = "1 the DET DT 3 det/2 dog NOUN NN 3 nsubj/3 barks VERB VB 0 root/"
                                "4 . PUNCT . 2 punct/./";
    medley_dataset *unknown = treebank(strange);
    medley_dataset *elsewhere = treebank(moved);
    for (size_t i = 0; i < 2; i++) {
        medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
        medley_error error = {0};
        medley_model *model =
            fit_parser(train, NULL, i == 0 ? "unlabelled=yes epochs=1" : "epochs=1");
        measure(model, train);
        measure(model, fresh);
        measure(model, unknown);
        measure(model, elsewhere);
        assert_int_equal(medley_evaluate(&evaluation, model, unknown, 1, &error), MEDLEY_OK);
        assert_int_equal(evaluation.unknown_labels, i == 0 ? 0 : 2);
        medley_evaluation_clear(&evaluation);
        medley_model_free(model);
    }
    medley_dataset_free(train);
    medley_dataset_free(fresh);
    medley_dataset_free(unknown);
    medley_dataset_free(elsewhere);
}

/* ---- what a run can be told ---- */

static void the_best_blocks_of_a_model_can_be_kept(void **state)
{
    (void)state;
    char path[PATH_SIZE];
    char text[PATH_SIZE + 64];
    medley_error error = {0};
    medley_dataset *train = treebank(small_treebank);
    medley_model *model = fit_parser(train, NULL, "unlabelled=yes");
    const medley_summary *all = medley_model_summary(model);
    double least = INFINITY;
    temporary_path(path);
    assert_int_equal(medley_model_save(model, path, &error), MEDLEY_OK);
    snprintf(text, sizeof text, "unlabelled=yes keep=3 from=%s", path);
    medley_model *few = fit_parser(train, NULL, text);
    const medley_summary *kept = medley_model_summary(few);
    assert_int_equal(kept->block_count, 3);
    for (size_t k = 0; k < 3; k++)
        for (size_t m = 0; m < all->block_count; m++)
            if (strcmp(all->blocks[m].name, kept->blocks[k].name) == 0)
                least = fmin(least, all->blocks[m].weight);
    size_t above = 0;
    for (size_t m = 0; m < all->block_count; m++)
        above += all->blocks[m].weight >= least;
    assert_int_equal(above, 3); /* the three with the largest weights */
    medley_prediction *prediction = predict(few, train);
    assert_trees(train, prediction->head, false);
    medley_prediction_free(prediction);
    unlink(path);
    medley_model_free(model);
    medley_model_free(few);
    medley_dataset_free(train);
}

/* The column of tags that training was told of is that of predictions, until these are told of
 * another one. */
static void tags_come_from_the_column_that_is_named(void **state)
{
    (void)state;
    static const char turned[] = "1 the X DET 2 det/2 dog X NOUN 3 nsubj/3 barks X VERB 0 root/"
                                 "4 . X PUNCT 3 punct/./";
    medley_dataset *train = treebank(small_treebank);
    medley_dataset *others = treebank(turned);
    medley_model *model = fit_parser(train, NULL, "unlabelled=yes epochs=10");
    medley_evaluate_options options = MEDLEY_EVALUATE_OPTIONS_INIT;
    medley_evaluation evaluation = MEDLEY_EVALUATION_INIT;
    medley_error error = {0};
    double uas[2];
    for (int i = 0; i < 2; i++) {
        options.tags = i == 0 ? NULL : "XPOS";
        assert_int_equal(medley_evaluate_with(&evaluation, model, others, &options, &error),
                         MEDLEY_OK);
        uas[i] = evaluation.uas;
        medley_evaluation_clear(&evaluation);
    }
    assert_true(uas[0] < 1 && uas[1] == 1);
    options.tags = "colour";
    assert_int_equal(medley_evaluate_with(&evaluation, model, others, &options, &error),
                     MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "colour"));
    medley_model *by_number = fit_parser(train, NULL, "unlabelled=yes epochs=10 tags=5");
    medley_model *loaded = pass_through_file(by_number);
    assert_int_equal(parser_of(loaded)->tags, 4);
    medley_model_free(loaded);
    medley_model_free(model);
    medley_model_free(by_number);
    medley_dataset_free(train);
    medley_dataset_free(others);
}

/* Asks for a stop once, and has nothing against going on if nobody listens. */
static bool stop_once(void *context, const medley_progress *progress)
{
    size_t *calls_left = context;
    (void)progress;
    *calls_left -= *calls_left > 0;
    return *calls_left != 1;
}

static void a_stopped_run_leaves_a_parser(void **state)
{
    (void)state;
    medley_dataset *train = treebank(small_treebank);
    medley_options *options = parser_options("");
    for (size_t calls = 2; calls < 12; calls += 3) { /* relations come first, then trees */
        size_t calls_left = calls;
        medley_model *model = NULL;
        medley_error error = {0};
        const medley_observer observer = {sizeof observer, .context = &calls_left,
                                          .progress = stop_once};
        assert_int_equal(medley_fit(&model, train, NULL, options, &observer, &error),
                         MEDLEY_STOPPED);
        assert_true(medley_model_is_parser(model) && medley_model_label_count(model) > 0);
        medley_prediction *prediction = predict(model, train);
        assert_trees(train, prediction->head, false);
        medley_prediction_free(prediction);
        medley_model_free(model);
    }
    medley_options_free(options);
    medley_dataset_free(train);
}

static void held_out_trees_choose_the_epoch(void **state)
{
    (void)state;
    medley_dataset *train = treebank(small_treebank);
    medley_dataset *dev = treebank(other_treebank);
    medley_model *model = fit_parser(train, dev, "unlabelled=yes epochs=6");
    const medley_summary *summary = medley_model_summary(model);
    double best = 0;
    for (size_t e = 0; e < summary->epoch_count; e++)
        best = fmax(best, summary->epochs[e].dev_accuracy);
    assert_true(best > 0.5 && accuracy_of(model, dev) == best);
    medley_model_free(model);
    medley_dataset_free(train);
    medley_dataset_free(dev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_learnt_and_survive_files),
        cmocka_unit_test(one_seed_gives_one_model_whatever_threads_and_memory),
        cmocka_unit_test(a_model_without_blocks_still_predicts_trees),
        cmocka_unit_test(projective_models_predict_projective_trees),
        cmocka_unit_test(measures_are_what_counting_gives),
        cmocka_unit_test(the_best_blocks_of_a_model_can_be_kept),
        cmocka_unit_test(tags_come_from_the_column_that_is_named),
        cmocka_unit_test(a_stopped_run_leaves_a_parser),
        cmocka_unit_test(held_out_trees_choose_the_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
