/* SPDX-License-Identifier: BSD-3-Clause */
/* Learning piece by piece says what it cannot do, and a piece that was refused leaves no trace. */
#include "incremental/pieces.h"

static void assert_says(const medley_error *error, const char *words)
{
    if (strstr(error->message, words) == NULL)
        fail_msg("'%s' does not say '%s'", error->message, words);
}

static void options_without_a_place_are_refused(void **state)
{
    (void)state;
    static const char *const refused[][2] = {
        {"method=spom", "`method` has no place"},
        {"epochs=3", "`epochs` is about methods spom, pegasos"},
        {"epochs=1", "has no place in learning piece by piece"},
        {"epochs1=2", "or say 1"},
        {"epochs2=5", "or say 0"},
        {"batch=8", "`batch`"},
        {"average=yes", "`average`"},
        {"average-from=0.5", "`average-from`"},
        {"checkpoint=x", "`checkpoint`"},
        {"resume=yes", "`resume`"},
        {"calibrate=yes", "`calibrate`"},
        {"patience=2", "`patience` has no place"},
        {"template=chunk", "`template`"},
        {"hash-bits=4", "`hash-bits`"},
        {"eta0=1", "`eta0`"},
        {"schedule=sqrt", "`schedule`"},
        {"radius=none", "`radius`"},
        {"penalty=l2", "`penalty`"},
        {"lambda=1", "`lambda`"},
        {"C=1", "`C`"},
        {"spicy-C=1", "`spicy-C`"},
        {"gap=0.1", "`gap`"},
        {"ridge=0.1", "`ridge`"},
        {"storage=float64", "`storage`"},
        {"task=regression", "labels"},
        {"task=tree", "labels"},
        {"normalize=center", "`normalize=center`"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        medley_learner *learner = NULL;
        medley_error error = {0};
        medley_options *options = make_options(refused[i][0]);
        assert_int_equal(medley_learner_create(&learner, options, &error), MEDLEY_USAGE);
        assert_null(learner);
        assert_says(&error, refused[i][1]);
        medley_options_free(options);
    }
}

static void what_is_the_case_may_be_said(void **state)
{
    (void)state;
    medley_learner *learner = NULL;
    medley_learner_free(open_learner("method=obscure epochs1=1 epochs2=0 batch=1 task=multiclass"));
    medley_learner_free(open_learner("method=auto batch=0 task=chain"));
    assert_int_equal(medley_learner_create(&learner, NULL, NULL), MEDLEY_OK);
    medley_learner_free(learner);
    medley_learner_free(NULL);
}

/* ---- pieces ---- */

static void refuse(medley_learner *learner, const medley_dataset *piece, medley_status code,
                   const char *words)
{
    medley_error error = {0};
    assert_int_equal(medley_learner_partial_fit(learner, piece, &error), code);
    assert_says(&error, words);
}

static void a_learner_without_data_has_no_model(void **state)
{
    (void)state;
    medley_learner *learner = open_learner("");
    medley_model *model = NULL;
    medley_error error = {0};
    assert_int_equal(medley_learner_model(&model, learner, &error), MEDLEY_USAGE);
    assert_null(model);
    assert_says(&error, "seen no examples");
    medley_learner_free(learner);
}

static medley_dataset *draw(size_t rows, bool sequences)
{
    return draw_rows(
        (struct rows_kind){.rows = rows, .labels = 3, .sequences = sequences, .seed = 1});
}

/* A first piece that was refused is no first piece: the next one is. */
static void first_pieces_that_cannot_be_learnt_from(void **state)
{
    (void)state;
    medley_dataset *data = draw(30, false);
    medley_dataset *piece = cut(data, 0, 10);
    medley_dataset *empty = cut(data, 0, 0);
    medley_learner *learner = open_learner("kernel=rbf(auto)");
    medley_model *model = NULL;
    refuse(learner, empty, MEDLEY_BAD_INPUT, "no rows");
    for (size_t r = 0; r < 10; r++)
        piece->label[r] = 1;
    refuse(learner, piece, MEDLEY_BAD_INPUT, "have the label 'bee'; begin with a piece");
    piece->label[4] = -1;
    refuse(learner, piece, MEDLEY_BAD_INPUT, "row 5 has no label");
    piece->label[4] = 0;
    piece->tables[0].features.dense[3] = 1e30F;
    refuse(learner, piece, MEDLEY_BAD_INPUT, "too large");
    assert_int_equal(medley_learner_model(&model, learner, NULL), MEDLEY_USAGE);
    feed(learner, data);
    medley_learner *other = open_learner("kernel=rbf(auto)");
    feed(other, data);
    model = model_of(learner);
    medley_model *same = model_of(other);
    assert_same_bytes(model, same);
    medley_model_free(model);
    medley_model_free(same);
    medley_learner_free(learner);
    medley_learner_free(other);
    medley_dataset_free(empty);
    medley_dataset_free(piece);
    medley_dataset_free(data);
}

static void kernels_that_need_all_rows_are_refused(void **state)
{
    (void)state;
    medley_dataset *data = draw(12, false);
    medley_dataset *given = draw(12, false);
    medley_learner *learner = open_learner("kernel=linear(norm=center)");
    refuse(learner, data, MEDLEY_USAGE, "is centred");
    medley_learner_free(learner);
    learner = open_learner("");
    md_precomputed *gram = NULL;
    assert_int_equal(md_dataset_new_gram(&gram, given, "given", NULL), MEDLEY_OK);
    assert_int_equal(md_matrix_init_dense(&gram->values, 12, 12, NULL), MEDLEY_OK);
    refuse(learner, given, MEDLEY_USAGE, "precomputed");
    medley_learner_free(learner);
    medley_dataset_free(given);
    medley_dataset_free(data);
}

static void no_eta_can_be_chosen_by_zeros(void **state)
{
    (void)state;
    medley_dataset *data = draw(8, false);
    medley_learner *learner = open_learner("kernel=linear");
    memset(data->tables[0].features.dense, 0, sizeof(float) * 8 * PIECE_COLUMNS);
    refuse(learner, data, MEDLEY_BAD_INPUT, "give `eta`");
    medley_learner_free(learner);
    learner = open_learner("kernel=linear eta=1");
    feed(learner, data); /* nothing can be learnt, and nothing is */
    medley_model *model = model_of(learner);
    assert_int_equal(medley_model_summary(model)->active_blocks, 0);
    medley_prediction *prediction = predict(model, data);
    assert_true(largest_score(prediction) == 0);
    medley_prediction_free(prediction);
    medley_model_free(model);
    medley_learner_free(learner);
    medley_dataset_free(data);
}

/* What was learnt stays to the bit, and labels of a piece that was refused are not known. */
static void later_pieces_that_were_refused_leave_no_trace(void **state)
{
    (void)state;
    for (size_t sequences = 0; sequences < 2; sequences++) {
        medley_dataset *data = draw(40, sequences);
        medley_dataset *alone = draw(40, !sequences);
        medley_dataset *broken = draw(40, sequences);
        medley_dataset *narrow = NULL;
        const double x[4] = {1, 2, 3, 4};
        const char *const labels[] = {"ant", "zebra"};
        medley_learner *learner = open_learner("kernel=linear kernel=rbf(gamma=1)");
        feed(learner, data);
        medley_model *before = model_of(learner);
        refuse(learner, alone, MEDLEY_BAD_INPUT, sequences ? "stand alone" : "has sequences");
        assert_int_equal(medley_dataset_from_dense(&narrow, x, 2, 2, labels, NULL), MEDLEY_OK);
        refuse(learner, narrow, MEDLEY_BAD_INPUT, sequences ? "stand alone" : "2 feature columns");
        free(narrow->label);
        narrow->label = NULL;
        refuse(learner, narrow, MEDLEY_USAGE, "no labels");
        broken->tables[0].features.dense[7] = NAN;
        refuse(learner, broken, MEDLEY_BAD_INPUT, "too large");
        medley_model *after = model_of(learner);
        assert_same_bytes(before, after);
        medley_model_free(before);
        medley_model_free(after);
        medley_learner_free(learner);
        medley_dataset_free(narrow);
        medley_dataset_free(alone);
        medley_dataset_free(broken);
        medley_dataset_free(data);
    }
}

static void a_third_label_is_refused_where_two_were_asked_for(void **state)
{
    (void)state;
    medley_dataset *two = draw_rows((struct rows_kind){.rows = 20, .labels = 2, .seed = 1});
    medley_dataset *three = draw(20, false);
    medley_learner *learner = open_learner("kernel=linear task=binary");
    feed(learner, two);
    refuse(learner, three, MEDLEY_BAD_INPUT, "`task=binary` expects two");
    medley_model *model = model_of(learner);
    assert_int_equal(medley_model_label_count(model), 2);
    medley_model_free(model);
    medley_learner_free(learner);
    medley_dataset_free(two);
    medley_dataset_free(three);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_without_a_place_are_refused),
        cmocka_unit_test(what_is_the_case_may_be_said),
        cmocka_unit_test(a_learner_without_data_has_no_model),
        cmocka_unit_test(first_pieces_that_cannot_be_learnt_from),
        cmocka_unit_test(kernels_that_need_all_rows_are_refused),
        cmocka_unit_test(no_eta_can_be_chosen_by_zeros),
        cmocka_unit_test(later_pieces_that_were_refused_leave_no_trace),
        cmocka_unit_test(a_third_label_is_refused_where_two_were_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
