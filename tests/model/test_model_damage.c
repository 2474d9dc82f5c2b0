/* SPDX-License-Identifier: BSD-3-Clause */
/* Damaged and forged model files. Every beginning of a file and every changed byte is refused, or
 * makes no difference; contents changed at random under correct checksums may give any answer, but
 * never reach outside their arrays (run this under AddressSanitizer). */
#include "model/model_cases.h"
#include "model/version2_file.h"

#include "model/file.h"
#include <fcntl.h>
#include <sys/stat.h>

enum { TRAINING = 7, NEW = 5, FORGERIES = 1500 };

/* A model file in memory, new data for it and what it scores them. */
struct sample {
    char path[PATH_SIZE];
    int descriptor;
    char *bytes;
    size_t length;
    medley_dataset *fresh;
    medley_prediction *right;
};

static void sample_open(struct sample *sample)
{
    temporary_path(sample->path);
    sample->descriptor = open(sample->path, O_RDWR);
    assert_true(sample->descriptor >= 0);
}

static void sample_make(struct sample *sample, const struct model_case *given)
{
    medley_model *model = case_model(given, TRAINING);
    sample_open(sample);
    sample->fresh = case_dataset(given->kind, TRAINING, NEW, TRAINING);
    sample->bytes = model_bytes(model, &sample->length);
    sample->right = predict(model, sample->fresh);
    medley_model_free(model);
}

static void sample_clear(struct sample *sample)
{
    close(sample->descriptor);
    unlink(sample->path);
    free(sample->bytes);
    medley_dataset_free(sample->fresh);
    medley_prediction_free(sample->right);
}

/* In place: thousands of new files would take long. */
static void set_file(const struct sample *sample, const char *bytes, size_t length)
{
    struct stat info;
    assert_int_equal(pwrite(sample->descriptor, bytes, length, 0), length);
    assert_int_equal(fstat(sample->descriptor, &info), 0);
    if ((size_t)info.st_size != length)
        assert_int_equal(ftruncate(sample->descriptor, (off_t)length), 0);
}

typedef enum outcome { REFUSED, SAME, DIFFERENT } outcome;

/* Loads these bytes and predicts with whatever comes out. */
static outcome try_bytes(const struct sample *sample, const char *bytes, size_t length)
{
    medley_model *model = NULL;
    medley_error error = {0};
    set_file(sample, bytes, length);
    const medley_status status = medley_model_load(&model, sample->path, &error);
    if (status < 0) {
        assert_null(model);
        assert_true(error.code == status && error.message[0] != '\0');
        if (strcmp(error.file, sample->path) != 0)
            fail_msg("'%s' does not name the file", error.message);
        return REFUSED;
    }
    medley_prediction *prediction = NULL;
    outcome result = REFUSED;
    if (medley_predict(&prediction, model, sample->fresh, 1, &error) == MEDLEY_OK) {
        result = same_predictions(prediction, sample->right) ? SAME : DIFFERENT;
        medley_prediction_free(prediction);
    }
    const medley_summary *summary = medley_model_summary(model);
    for (size_t m = 0; m < summary->block_count; m++)
        assert_non_null(summary->blocks[m].name);
    for (size_t l = 0; l < medley_model_label_count(model); l++)
        assert_non_null(medley_model_label_name(model, l));
    medley_model_free(model);
    return result;
}

typedef void sample_check(const struct sample *sample, md_random *random);

static void check_case(const struct model_case *given, sample_check *check, uint64_t seed)
{
    struct sample sample;
    md_random random;
    md_random_seed(&random, seed);
    sample_make(&sample, given);
    assert_int_equal(try_bytes(&sample, sample.bytes, sample.length), SAME);
    check(&sample, &random);
    sample_clear(&sample);
}

static medley_dataset *two_columns(void)
{
    medley_dataset *rows = NULL;
    medley_error error = {0};
    const double x[] = {0, 1, 1, 0, 0.5, 2};
    assert_int_equal(medley_dataset_from_dense(&rows, x, 3, 2, NULL, &error), MEDLEY_OK);
    return rows;
}

static void check_version_2(sample_check *check)
{
    struct sample sample = {.fresh = two_columns(), .length = sizeof version2_file};
    md_random random;
    medley_model *model = NULL;
    medley_error error = {0};
    md_random_seed(&random, 2);
    sample_open(&sample);
    sample.bytes = malloc(sample.length);
    assert_non_null(sample.bytes);
    memcpy(sample.bytes, version2_file, sample.length);
    set_file(&sample, sample.bytes, sample.length);
    assert_int_equal(medley_model_load(&model, sample.path, &error), MEDLEY_OK);
    sample.right = predict(model, sample.fresh);
    medley_model_free(model);
    check(&sample, &random);
    sample_clear(&sample);
}

static void for_every_case(sample_check *check, size_t step)
{
    for (size_t i = 0; i < MODEL_CASES; i += step)
        check_case(&model_cases[i], check, i);
}

/* ---- damage ---- */

static void cut_everywhere(const struct sample *sample, md_random *random)
{
    (void)random;
    for (size_t length = 0; length < sample->length; length++)
        assert_int_equal(try_bytes(sample, sample->bytes, length), REFUSED);
    char *longer = calloc(sample->length + 64, 1);
    assert_non_null(longer);
    memcpy(longer, sample->bytes, sample->length);
    assert_int_equal(try_bytes(sample, longer, sample->length + 1), REFUSED);
    assert_int_equal(try_bytes(sample, longer, sample->length + 64), REFUSED);
    free(longer);
}

static void every_truncated_file_is_refused(void **state)
{
    (void)state;
    for_every_case(cut_everywhere, 5);
    check_version_2(cut_everywhere);
}

static void flip_everywhere(const struct sample *sample, md_random *random)
{
    size_t harmless = 0;
    for (size_t at = 0; at < sample->length; at++)
        for (int all = 0; all < 2; all++) {
            const int mask = all ? 0xFF : 1 << md_random_below(random, 8);
            const char old = sample->bytes[at];
            sample->bytes[at] = (char)(old ^ mask);
            const outcome result = try_bytes(sample, sample->bytes, sample->length);
            sample->bytes[at] = old;
            assert_int_not_equal(result, DIFFERENT);
            harmless += result == SAME;
        }
    /* only the padding between header and sections is not under a checksum */
    assert_true(harmless <= 2 * (MD_SECTION_COUNT + 1) * MD_SECTION_ALIGN);
}

static void every_flipped_byte_is_refused_or_makes_no_difference(void **state)
{
    (void)state;
    for_every_case(flip_everywhere, 6);
}

/* ---- forgery ---- */

static uint64_t get(const char *bytes, size_t at)
{
    uint64_t value;
    memcpy(&value, bytes + at, sizeof value);
    return value; /* tests run on the machines that write the files */
}

static void put(char *bytes, size_t at, uint64_t value)
{
    memcpy(bytes + at, &value, sizeof value);
}

static void renew_checksums(char *bytes)
{
    for (size_t i = 0; i < MD_SECTION_COUNT; i++) {
        const size_t entry = 32 + 32 * i;
        put(bytes, entry + 24, md_crc32(bytes + get(bytes, entry + 8), get(bytes, entry + 16)));
    }
    const size_t end = MD_HEADER_BYTES(MD_SECTION_COUNT) - 8;
    put(bytes, end, md_crc32(bytes, end));
}

/* Bytes, whole numbers or fields copied from elsewhere, in one section or in all. */
static void change_something(char *bytes, md_random *random)
{
    static const uint64_t tempting[] = {0,
                                        1,
                                        2,
                                        3,
                                        7,
                                        8,
                                        1000,
                                        INT32_MAX,
                                        (uint64_t)UINT32_MAX + 1,
                                        INT64_MAX,
                                        UINT64_MAX,
                                        UINT64_MAX / 4,
                                        UINT64_MAX / 8 + 2};
    const size_t section = md_random_below(random, MD_SECTION_COUNT);
    const size_t start = get(bytes, 32 + 32 * section + 8);
    const size_t length = get(bytes, 32 + 32 * section + 16);
    const size_t word = start + md_random_below(random, length / 8) * 8;
    switch (md_random_below(random, 4)) {
    case 0:
        bytes[start + md_random_below(random, length)] = (char)md_random_bits(random);
        break;
    case 1:
        put(bytes, word, tempting[md_random_below(random, sizeof tempting / sizeof *tempting)]);
        break;
    case 2:
        put(bytes, word, get(bytes, word) + md_random_below(random, 5) - 2);
        break;
    default:
        put(bytes, word, get(bytes, start + md_random_below(random, length / 8) * 8));
        break;
    }
}

static void forge(const struct sample *sample, md_random *random)
{
    char *bytes = malloc(sample->length);
    size_t counts[3] = {0};
    assert_non_null(bytes);
    for (size_t trial = 0; trial < FORGERIES; trial++) {
        memcpy(bytes, sample->bytes, sample->length);
        for (size_t changes = 1 + md_random_below(random, 3); changes > 0; changes--)
            change_something(bytes, random);
        renew_checksums(bytes);
        counts[try_bytes(sample, bytes, sample->length)]++;
    }
    assert_true(counts[REFUSED] > 0 && counts[SAME] + counts[DIFFERENT] > 0);
    free(bytes);
}

static void forged_contents_never_reach_outside_their_arrays(void **state)
{
    (void)state;
    for_every_case(forge, 1);
    check_version_2(forge);
}

/* A section that claims another place or length, or the place of another section. */
static void forge_table(const struct sample *sample, md_random *random)
{
    char *bytes = malloc(sample->length);
    assert_non_null(bytes);
    for (size_t trial = 0; trial < FORGERIES; trial++) {
        memcpy(bytes, sample->bytes, sample->length);
        const size_t entry = 32 + 32 * md_random_below(random, MD_SECTION_COUNT);
        const size_t field = entry + 8 + 8 * md_random_below(random, 2);
        put(bytes, field,
            trial % 4 == 0 ? md_random_bits(random) : md_random_below(random, sample->length + 8));
        const uint64_t offset = get(bytes, entry + 8);
        const uint64_t length = get(bytes, entry + 16);
        if (offset <= sample->length && length <= sample->length - offset)
            put(bytes, entry + 24, md_crc32(bytes + offset, length));
        const size_t end = MD_HEADER_BYTES(MD_SECTION_COUNT) - 8;
        put(bytes, end, md_crc32(bytes, end));
        try_bytes(sample, bytes, sample->length);
    }
    free(bytes);
}

static void forged_section_tables_never_reach_outside_the_file(void **state)
{
    (void)state;
    for_every_case(forge_table, 9);
}

/* Matrix products look neither left nor right, and sanitizers do not see into them: what they are
 * given must have been checked before. */
static void lend_the_body_of_another_kernel(const struct sample *sample, md_random *random)
{
    (void)random;
    const size_t bodies = 32 + 32 * 3; /* two terms of kernel, body, factor end this section */
    const size_t terms = get(sample->bytes, bodies + 8) + get(sample->bytes, bodies + 16) - 2 * 24;
    assert_int_equal(get(sample->bytes, terms + 8), 0);
    assert_int_equal(get(sample->bytes, terms + 24 + 8), 1);
    for (uint64_t body = 0; body < 3; body++) {
        put(sample->bytes, terms + 8, body);
        put(sample->bytes, terms + 24 + 8, body);
        renew_checksums(sample->bytes);
        assert_int_equal(try_bytes(sample, sample->bytes, sample->length), REFUSED);
    }
}

static size_t skip_text(const char *bytes, size_t at)
{
    return at + 8 + (get(bytes, at) + 7) / 8 * 8;
}

static void point_behind_the_table(const struct sample *sample, md_random *random)
{
    (void)random;
    size_t at = get(sample->bytes, 32 + 32 * 1 + 8) + 16; /* first view of the kernels */
    for (int texts = 0; texts < 3; texts++)
        at = skip_text(sample->bytes, at);
    assert_int_equal(get(sample->bytes, at), CASE_COLUMNS); /* then sparse, count, has a list */
    assert_int_equal(get(sample->bytes, at + 24), 1);
    put(sample->bytes, at + 32, CASE_COLUMNS);
    renew_checksums(sample->bytes);
    assert_int_equal(try_bytes(sample, sample->bytes, sample->length), REFUSED);
}

static void indices_that_lead_astray_are_refused(void **state)
{
    (void)state;
    static const struct model_case two_bodies = {DENSE, "kernel=linear(explicit) kernel=rbf(auto)",
                                                 FITTED};
    static const struct model_case column_views = {DENSE, "kernel=rbf(auto) views=each", FITTED};
    check_case(&two_bodies, lend_the_body_of_another_kernel, 1);
    check_case(&column_views, point_behind_the_table, 1);
}

static void refuse(const struct sample *sample, const char *bytes, const char *phrase)
{
    medley_model *model = NULL;
    medley_error error = {0};
    set_file(sample, bytes, sample->length);
    assert_int_equal(medley_model_load(&model, sample->path, &error), MEDLEY_BAD_INPUT);
    if (strstr(error.message, phrase) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, phrase);
}

/* ---- outputs, bias and wide coefficients ---- */

/* One field of the section of coefficients is another. */
struct falsehood {
    case_origin origin;
    size_t field; /* of 8 bytes from the section's start */
    uint64_t value;
};

static const uint64_t NOT_A_NUMBER = 0x7ff8000000000000;
static const uint64_t INFINITE = 0x7ff0000000000000;

/* The section begins with outputs, link, number of biases, biases, number of bodies, rows of the
 * first, wide, its coefficients. */
static const struct falsehood falsehoods[] = {
    {NUMBERS, 0, 0},
    {NUMBERS, 0, 2},
    {NUMBERS, 0, UINT64_MAX},
    {NUMBERS, 1, 1},
    {NUMBERS, 1, MD_LINKS},
    {NUMBERS, 2, 0},
    {NUMBERS, 2, 2},
    {NUMBERS, 2, UINT64_MAX},
    {NUMBERS, 3, NOT_A_NUMBER},
    {NUMBERS, 3, INFINITE},
    {NUMBERS, 4, UINT64_MAX / 8},
    {NUMBERS, 5, 0},
    {NUMBERS, 5, UINT64_MAX / 8 + 2},
    {NUMBERS, 6, 0},
    {NUMBERS, 7, NOT_A_NUMBER},
    {NUMBERS, 8, INFINITE},
    {TWO_LABELS, 0, 2},
    {TWO_LABELS, 1, 1},
    {TWO_LABELS, 2, 2},
    {TWO_LABELS, 3, NOT_A_NUMBER},
    {EACH_LABEL, 0, 1},
    {EACH_LABEL, 0, 2},
    {EACH_LABEL, 0, 4},
    {EACH_LABEL, 1, 2},
    {EACH_LABEL, 2, 1},
    {EACH_LABEL, 5, INFINITE},
    {EACH_LABEL, 9, NOT_A_NUMBER},
};

static void false_outputs_and_biases_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof falsehoods / sizeof *falsehoods; i++) {
        const struct falsehood *told = &falsehoods[i];
        const struct model_case given = {DENSE, "kernel=linear kernel=rbf(auto)", told->origin};
        struct sample sample;
        sample_make(&sample, &given);
        const size_t section = get(sample.bytes, 32 + 32 * 3 + 8);
        put(sample.bytes, section + 8 * told->field, told->value);
        renew_checksums(sample.bytes);
        if (try_bytes(&sample, sample.bytes, sample.length) != REFUSED)
            fail_msg("falsehood %zu is believed", i);
        sample_clear(&sample);
    }
}

/* A regression has neither labels nor a structure, and only a regression has none. */
static void regressions_and_labels_exclude_each_other(void **state)
{
    (void)state;
    static const case_origin origins[] = {NUMBERS, TWO_LABELS};
    for (size_t i = 0; i < 2; i++) {
        const struct model_case given = {DENSE, "kernel=linear", origins[i]};
        struct sample sample;
        sample_make(&sample, &given);
        char *task = sample.bytes + get(sample.bytes, 32 + 8) + (i == 0 ? 32 : 48);
        assert_memory_equal(task + 8, i == 0 ? "regression" : "multiclass", 10);
        memcpy(task + 8, i == 0 ? "multiclass" : "regression", 10);
        renew_checksums(sample.bytes);
        refuse(&sample, sample.bytes, "damaged (labels)");
        sample_clear(&sample);
    }
}

/* Models that no method makes, written as they are. */
static void give_labels(medley_model *model)
{
    assert_int_equal(md_strings_add(&model->labels, "a", 1), 0);
    assert_int_equal(md_strings_add(&model->labels, "b", 1), 1);
}

static void take_labels(medley_model *model)
{
    md_strings_clear(&model->labels);
}

static void give_weights(medley_model *model)
{
    model->weights = calloc(1, sizeof *model->weights);
    assert_non_null(model->weights);
    model->weights_count = 1;
    *model->weights =
        (md_weights){.kind = MD_ROW_PARTS, .block = MD_CONSTANT, .rows = 1, .width = 2};
    model->weights->values = calloc(2, sizeof(float));
    assert_non_null(model->weights->values);
}

static void parts_that_do_not_belong_together_are_refused(void **state)
{
    (void)state;
    static const struct {
        case_origin origin;
        void (*change)(medley_model *model);
        const char *phrase;
    } cases[] = {{NUMBERS, give_labels, "damaged (labels)"},
                 {TWO_LABELS, take_labels, "damaged (labels)"},
                 {TWO_LABELS, give_weights, "damaged (weights)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct model_case given = {DENSE, "kernel=linear", cases[i].origin};
        struct sample sample = {0};
        medley_model *model = case_model(&given, TRAINING);
        cases[i].change(model);
        sample.bytes = model_bytes(model, &sample.length);
        sample_open(&sample);
        refuse(&sample, sample.bytes, cases[i].phrase);
        sample_clear(&sample);
        medley_model_free(model);
    }
}

/* ---- versions ---- */

static void change_version(const struct sample *sample, md_random *random)
{
    (void)random;
    char *bytes = malloc(sample->length);
    assert_non_null(bytes);
    memcpy(bytes, sample->bytes, sample->length);
    put(bytes, 8, MD_FILE_VERSION + 1);
    refuse(sample, bytes, "the model file is damaged (its header's checksum does not match)");
    renew_checksums(bytes);
    char sentence[128];
    snprintf(sentence, sizeof sentence,
             "the model has format version %d, this program reads versions %d to %d; use a newer "
             "medley",
             MD_FILE_VERSION + 1, MD_FILE_OLDEST, MD_FILE_VERSION);
    refuse(sample, bytes, sentence);
    put(bytes, 8, MD_FILE_OLDEST - 1); /* as long as what it says, so not damaged */
    renew_checksums(bytes);
    snprintf(sentence, sizeof sentence,
             "the model has format version %d, this program reads versions %d to %d; train it "
             "again",
             MD_FILE_OLDEST - 1, MD_FILE_OLDEST, MD_FILE_VERSION);
    refuse(sample, bytes, sentence);
    put(bytes, 8, MD_FILE_VERSION + 1);
    /* a later version with more sections is recognised by the header alone */
    put(bytes, 24, MD_SECTION_COUNT + 1);
    const size_t end = MD_HEADER_BYTES(MD_SECTION_COUNT + 1) - 8;
    put(bytes, end, md_crc32(bytes, end));
    refuse(sample, bytes, "use a newer medley");
    put(bytes, 8, MD_FILE_VERSION); /* this version has no more of them */
    put(bytes, end, md_crc32(bytes, end));
    refuse(sample, bytes, "unknown version");
    free(bytes);
}

static void newer_versions_are_told_from_damage(void **state)
{
    (void)state;
    for_every_case(change_version, MODEL_CASES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncated_file_is_refused),
        cmocka_unit_test(every_flipped_byte_is_refused_or_makes_no_difference),
        cmocka_unit_test(forged_contents_never_reach_outside_their_arrays),
        cmocka_unit_test(forged_section_tables_never_reach_outside_the_file),
        cmocka_unit_test(indices_that_lead_astray_are_refused),
        cmocka_unit_test(false_outputs_and_biases_are_refused),
        cmocka_unit_test(regressions_and_labels_exclude_each_other),
        cmocka_unit_test(parts_that_do_not_belong_together_are_refused),
        cmocka_unit_test(newer_versions_are_told_from_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
