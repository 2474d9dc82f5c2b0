/* SPDX-License-Identifier: BSD-3-Clause */
/* Damaged and forged files of parsing models. Cut and changed files are refused, or make no
 * difference; contents changed at random under correct checksums, those of the model within the
 * model too, may give any trees, but never reach outside their arrays (run this under
 * AddressSanitizer). */
#include "model/damage.h"
#include "model/parser_case.h"

#include <pthread.h>

enum { FORGERIES = 1500, TREES_SECTION = 6, STORY_SECTION = 0 };

static void parser_make(struct sample *sample, const char *options)
{
    medley_dataset *train = treebank(small_treebank);
    medley_model *model = fit_parser(train, NULL, options);
    sample_open(sample);
    sample->fresh = treebank(other_treebank);
    sample->bytes = model_bytes(model, &sample->length);
    sample->right = predict(model, sample->fresh);
    medley_model_free(model);
    medley_dataset_free(train);
}

/* Loads these bytes and parses with whatever comes out. */
static outcome try_parser(const struct sample *sample, const char *bytes, size_t length)
{
    medley_model *model = NULL;
    medley_prediction *prediction = NULL;
    medley_error error = {0};
    set_file(sample, bytes, length);
    const medley_status status = medley_model_load(&model, sample->path, &error);
    if (status < 0) {
        assert_null(model);
        assert_true(error.code == status && error.message[0] != '\0');
        if (strcmp(error.file, sample->path) != 0)
            fail_msg("'%s: %s' does not name the file", error.file, error.message);
        return REFUSED;
    }
    outcome result = REFUSED;
    if (medley_predict(&prediction, model, sample->fresh, 1, &error) == MEDLEY_OK) {
        const bool same = prediction->head != NULL && same_trees(prediction, sample->right);
        const bool many = model->space.shape.many_roots;
        result = same ? SAME : DIFFERENT;
        if (prediction->head != NULL)
            assert_trees(sample->fresh, prediction->head, many);
        for (size_t r = 0; prediction->label != NULL && r < prediction->rows; r++)
            assert_non_null(medley_model_label_name(model, (size_t)prediction->label[r]));
        medley_prediction_free(prediction);
    }
    medley_model_free(model);
    return result;
}

/* ---- damage ---- */

static void cut(const struct sample *sample)
{
    for (size_t length = 0; length < sample->length; length += length < 500 ? 1 : 17)
        assert_int_equal(try_parser(sample, sample->bytes, length), REFUSED);
    assert_int_equal(try_parser(sample, sample->bytes, sample->length - 1), REFUSED);
}

static void flip(const struct sample *sample)
{
    md_random random;
    size_t harmless = 0;
    md_random_seed(&random, 3);
    for (size_t at = 0; at < sample->length; at += at < 500 ? 1 : 5) {
        const char old = sample->bytes[at];
        sample->bytes[at] = (char)(old ^ 1 << md_random_below(&random, 8));
        const outcome result = try_parser(sample, sample->bytes, sample->length);
        sample->bytes[at] = old;
        assert_int_not_equal(result, DIFFERENT);
        harmless += result == SAME;
    }
    /* only the padding between header and sections is not under a checksum */
    assert_true(harmless <= (size_t)(MD_SECTIONS_KNOWN + 1) * MD_SECTION_ALIGN);
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    static const char *const ways[] = {"unlabelled=yes", ""};
    for (size_t i = 0; i < 2; i++) {
        struct sample sample;
        parser_make(&sample, ways[i]);
        assert_int_equal(try_parser(&sample, sample.bytes, sample.length), SAME);
        cut(&sample);
        flip(&sample);
        sample_clear(&sample);
    }
}

/* ---- forgery ---- */

/* The sections of a file in memory; that of trees is the last. */
static size_t section_count(const char *bytes)
{
    return get(bytes, 24);
}

static size_t entry_of(const char *bytes, size_t section)
{
    static const char trees[8] = "trees";
    if (section != TREES_SECTION)
        return 32 + 32 * section;
    const size_t entry = 32 + 32 * (section_count(bytes) - 1);
    assert_memory_equal(bytes + entry, trees, sizeof trees);
    return entry;
}

static void renew_all_checksums(char *bytes)
{
    for (size_t i = 0; i < section_count(bytes); i++) {
        const size_t entry = 32 + 32 * i;
        put(bytes, entry + 24, md_crc32(bytes + get(bytes, entry + 8), get(bytes, entry + 16)));
    }
    const size_t end = MD_HEADER_BYTES(section_count(bytes)) - 8;
    put(bytes, end, md_crc32(bytes, end));
}

/* Where the file within the file begins; 0: there is none. */
static size_t find_labeller(const char *bytes)
{
    const size_t entry = entry_of(bytes, TREES_SECTION);
    const size_t start = get(bytes, entry + 8);
    for (size_t at = start; at + 8 <= start + get(bytes, entry + 16); at++)
        if (memcmp(bytes + at, MD_FILE_MAGIC, 8) == 0)
            return at;
    return 0;
}

static void change_section(char *bytes, size_t section, md_random *random)
{
    static const uint64_t tempting[] = {
        0, 1, 2, 4, 5, 7, 28, 31, 60, 1000, INT32_MAX, INT64_MAX, UINT64_MAX, UINT64_MAX / 8 + 2};
    const size_t entry = entry_of(bytes, section);
    const size_t start = get(bytes, entry + 8);
    const size_t length = get(bytes, entry + 16);
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
    }
}

/* Returns how many were read and predict something else. */
static size_t forge(const struct sample *sample, md_random *random)
{
    char *bytes = malloc(sample->length);
    size_t counts[3] = {0};
    assert_non_null(bytes);
    for (size_t trial = 0; trial < FORGERIES; trial++) {
        memcpy(bytes, sample->bytes, sample->length);
        const size_t inner = find_labeller(bytes);
        for (size_t changes = 1 + md_random_below(random, 3); changes > 0; changes--)
            change_section(bytes, md_random_below(random, 4) ? TREES_SECTION : STORY_SECTION,
                           random);
        if (inner > 0 && trial % 3 == 0) {
            memcpy(bytes + inner, sample->bytes + inner, sample->length - inner);
            change_section(bytes + inner, md_random_below(random, MD_SECTION_INPUT + 1), random);
            renew_all_checksums(bytes + inner);
        }
        renew_all_checksums(bytes);
        counts[try_parser(sample, bytes, sample->length)]++;
    }
    assert_true(counts[REFUSED] > 0 && counts[SAME] > 0);
    free(bytes);
    return counts[DIFFERENT];
}

static void forged_contents_never_reach_outside_their_arrays(void **state)
{
    (void)state;
    static const char *const ways[] = {"unlabelled=yes", "", "projective=yes roots=many"};
    size_t different = 0; /* most of a labelled model is the labeller, which has checksums inside */
    for (size_t i = 0; i < 3; i++) {
        struct sample sample;
        md_random random;
        md_random_seed(&random, i);
        parser_make(&sample, ways[i]);
        different += forge(&sample, &random);
        sample_clear(&sample);
    }
    assert_true(different > 0);
}

/* Where tables of weights are so large that the file cannot hold them. */
static void tables_must_fit_the_file(void **state)
{
    (void)state;
    struct sample sample;
    parser_make(&sample, "unlabelled=yes");
    const size_t bits = get(sample.bytes, entry_of(sample.bytes, TREES_SECTION) + 8) + 8;
    assert_int_equal(get(sample.bytes, bits), 6);
    for (uint64_t value = 0; value < 70; value++) {
        put(sample.bytes, bits, value);
        renew_all_checksums(sample.bytes);
        assert_int_equal(try_parser(&sample, sample.bytes, sample.length),
                         value == 6 ? SAME : REFUSED);
    }
    sample_clear(&sample);
}

/* Numbers that contradict others in the same section. */
static void contradictions_are_refused(void **state)
{
    (void)state;
    struct sample sample;
    md_arc_templates *templates = NULL;
    medley_error error = {0};
    parser_make(&sample, "unlabelled=yes");
    const size_t entry = entry_of(sample.bytes, TREES_SECTION);
    const size_t section = get(sample.bytes, entry + 8);
    md_unpack in = {
        .data = sample.bytes + section, .length = get(sample.bytes, entry + 16), .position = 16};
    assert_int_equal(md_arc_templates_unpack(&templates, &in, &error), MEDLEY_OK);
    md_arc_templates_free(templates);
    const size_t block = section + in.position; /* of the first table: its place in the summary, */
    const size_t used = block + 16;             /* a count, 64 bits for its slots, and values */
    const uint64_t count = get(sample.bytes, block + 8);
    assert_true(count > 4 && count < 64);
    const struct {
        size_t place;
        uint64_t value;
    } lies[] = {{section, MD_ARC_COLUMNS},
                {section, UINT64_MAX},
                {block, 1000},
                {block + 8, count + 1},
                {block + 8, count - 1},
                {used, get(sample.bytes, used) & (get(sample.bytes, used) - 1)},
                {used, get(sample.bytes, used) | (get(sample.bytes, used) + 1)},
                {used + 8, UINT64_C(0x7f80)},  /* infinite */
                {used + 8, UINT64_C(0xffc0)}}; /* no number */
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        const uint64_t right = get(sample.bytes, lies[i].place);
        put(sample.bytes, lies[i].place, lies[i].value);
        renew_all_checksums(sample.bytes);
        if (try_parser(&sample, sample.bytes, sample.length) != REFUSED)
            fail_msg("lie %zu is believed", i);
        put(sample.bytes, lies[i].place, right);
    }
    renew_all_checksums(sample.bytes);
    assert_int_equal(try_parser(&sample, sample.bytes, sample.length), SAME);
    sample_clear(&sample);
}

/* A parser that labels by a parser that labels by a parser ...: whoever went down to the last would
 * run out of stack. */
enum { DEPTH = 300, STACK = 256 * 1024 };

static void *load_and_refuse(void *context)
{
    const struct sample *sample = context;
    medley_model *model = NULL;
    medley_error error = {0};
    const medley_status status = medley_model_load(&model, sample->path, &error);
    medley_model_free(model);
    return (void *)(intptr_t)status;
}

static void parsers_within_parsers_are_refused(void **state)
{
    (void)state;
    struct sample sample;
    parser_make(&sample, "");
    const size_t inner = find_labeller(sample.bytes);
    const size_t entry = entry_of(sample.bytes, TREES_SECTION);
    size_t length = sample.length - inner; /* the labeller itself comes first */
    char *nested = malloc(length);
    assert_non_null(nested);
    memcpy(nested, sample.bytes + inner, length);
    for (size_t depth = 0; depth < DEPTH; depth++) {
        char *outer = malloc(inner + length);
        assert_non_null(outer);
        memcpy(outer, sample.bytes, inner);
        memcpy(outer + inner, nested, length);
        free(nested);
        put(outer, inner - 8, length);
        put(outer, entry + 16, inner + length - get(outer, entry + 8));
        put(outer, 16, inner + length);
        renew_all_checksums(outer);
        nested = outer;
        length += inner;
        if (depth < 2)
            assert_int_equal(try_parser(&sample, nested, length), depth == 0 ? SAME : REFUSED);
    }
    set_file(&sample, nested, length);
    pthread_t thread;
    pthread_attr_t attributes;
    void *status = NULL;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, load_and_refuse, &sample), 0);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_int_equal((intptr_t)status, MEDLEY_BAD_INPUT);
    pthread_attr_destroy(&attributes);
    free(nested);
    sample_clear(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(forged_contents_never_reach_outside_their_arrays),
        cmocka_unit_test(tables_must_fit_the_file),
        cmocka_unit_test(contradictions_are_refused),
        cmocka_unit_test(parsers_within_parsers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
