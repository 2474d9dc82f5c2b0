/* SPDX-License-Identifier: BSD-3-Clause */
/* Damaged and forged model files. Every beginning of a file and every changed byte is refused, or
 * makes no difference; contents changed at random under correct checksums may give any answer, but
 * never reach outside their arrays (run this under AddressSanitizer). */
#include "model/damage.h"
#include "model/version2_file.h"

enum { FORGERIES = 1500 };

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
    assert_true(harmless <= 2 * (MD_SECTION_INPUT + 2) * MD_SECTION_ALIGN);
}

static void every_flipped_byte_is_refused_or_makes_no_difference(void **state)
{
    (void)state;
    for_every_case(flip_everywhere, 6);
}

/* ---- forgery ---- */

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
    const size_t section = md_random_below(random, get(bytes, 24));
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
        const size_t entry = 32 + 32 * md_random_below(random, get(bytes, 24));
        const size_t field = entry + 8 + 8 * md_random_below(random, 2);
        put(bytes, field,
            trial % 4 == 0 ? md_random_bits(random) : md_random_below(random, sample->length + 8));
        const uint64_t offset = get(bytes, entry + 8);
        const uint64_t length = get(bytes, entry + 16);
        if (offset <= sample->length && length <= sample->length - offset)
            put(bytes, entry + 24, md_crc32(bytes + offset, length));
        const size_t end = MD_HEADER_BYTES(get(bytes, 24)) - 8;
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
    put(bytes, 24, MD_SECTIONS_KNOWN + 1);
    const size_t end = MD_HEADER_BYTES(MD_SECTIONS_KNOWN + 1) - 8;
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
        cmocka_unit_test(newer_versions_are_told_from_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
