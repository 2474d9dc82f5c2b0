/* SPDX-License-Identifier: BSD-3-Clause */
/* Files as such: gzip, standard input, what cannot be read, how a format is chosen, further tables
 * and label files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "data/dataset.h"
#include "io/io.h"
#include "io/reading.h"
#include <fcntl.h>

static medley_status read_file(md_input *input, const void *bytes, size_t length,
                               medley_error *error)
{
    char path[READING_PATH_SIZE];
    reading_write(path, ".any", bytes, length);
    memset(error, 0, sizeof *error);
    *input = (md_input){0};
    const medley_status status = md_input_read(input, path, error);
    unlink(path);
    return status;
}

static void compressed_files_are_read_whatever_their_name(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 100, 65535, 65536, 65537, 500000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *bytes = malloc(lengths[i]);
        md_random random;
        md_random_seed(&random, i);
        for (size_t k = 0; k < lengths[i]; k++)
            bytes[k] = (char)('a' + md_random_below(&random, 4));
        size_t packed_length;
        char *packed = reading_gzip(bytes, lengths[i], &packed_length);
        /* two members and the zeros that tapes add */
        char *twice = calloc(2, packed_length + 16);
        memcpy(twice, packed, packed_length);
        memcpy(twice + packed_length, packed, packed_length);
        md_input input;
        medley_error error;
        assert_int_equal(read_file(&input, twice, 2 * packed_length + 16, &error), MEDLEY_OK);
        assert_int_equal(input.length, 2 * lengths[i]);
        assert_memory_equal(input.data, bytes, lengths[i]);
        assert_memory_equal(input.data + lengths[i], bytes, lengths[i]);
        assert_int_equal(input.data[input.length], '\n');
        md_input_clear(&input);
        free(twice);
        free(packed);
        free(bytes);
    }
}

static void damaged_compressed_files_are_refused(void **state)
{
    (void)state;
    static const char text[] = "some text that is compressed, and compressed, and compressed";
    size_t length;
    md_input input;
    medley_error error;
    char *packed = reading_gzip(text, sizeof text, &length);
    for (size_t cut = 2; cut < length; cut++) {
        assert_int_equal(read_file(&input, packed, cut, &error), MEDLEY_BAD_INPUT);
        assert_non_null(strstr(error.message, "end too early"));
        assert_true(error.file[0] != '\0');
    }
    packed[length - 6] ^= 1; /* the checksum */
    assert_int_equal(read_file(&input, packed, length, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "damaged"));
    packed[length - 6] ^= 1;
    packed = realloc(packed, length + 3);
    memset(packed + length, 'x', 3);
    assert_int_equal(read_file(&input, packed, length + 3, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "3 bytes that are not gzip"));
    free(packed);
}

/* As block compression writes them: small members of any size, the last one empty. */
static void many_members_are_one_file(void **state)
{
    (void)state;
    enum { MEMBERS = 60, MOST = 100000 };
    MD_CLEARED(md_text_clear) md_text packed = {0};
    MD_CLEARED(md_text_clear) md_text plain = {0};
    md_random random;
    md_random_seed(&random, 12);
    for (size_t i = 0; i < MEMBERS; i++) {
        const size_t before = plain.length;
        const size_t count = i + 1 < MEMBERS ? md_random_below(&random, MOST) : 0;
        for (size_t k = 0; k < count; k++)
            md_text_add(&plain, md_random_below(&random, 4) ? "0" : "1", 1);
        size_t length;
        char *member = reading_gzip(plain.data + before, count, &length);
        md_text_add(&packed, member, length);
        free(member);
    }
    md_input input;
    medley_error error;
    assert_int_equal(read_file(&input, packed.data, packed.length, &error), MEDLEY_OK);
    assert_int_equal(input.length, plain.length);
    assert_memory_equal(input.data, plain.data, plain.length);
    md_input_clear(&input);
}

/* The length at the end of a file is known before the file is read, and may be a lie. */
static void claimed_lengths_are_not_believed(void **state)
{
    (void)state;
    static const unsigned char claims[][4] = {{0, 0, 0, 0}, {1, 0, 0, 0},  {0, 1, 0, 0},
                                              {0, 0, 1, 0}, {1, 0, 16, 0}, {255, 255, 255, 255}};
    char *bytes = calloc(1, 1 << 20);
    size_t length;
    char *packed = reading_gzip(bytes, 1 << 20, &length);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        md_input input;
        medley_error error;
        memcpy(packed + length - 4, claims[i], 4);
        assert_int_equal(read_file(&input, packed, length, &error), MEDLEY_BAD_INPUT);
        assert_non_null(strstr(error.message, "damaged (incorrect length check)"));
    }
    free(packed);
    free(bytes);
}

static void checksums_of_headers_are_looked_at(void **state)
{
    (void)state;
    enum { HEADER = 10, FLAGS = 3, HAS_SUM = 2 };
    size_t length;
    md_input input;
    medley_error error;
    char *packed = reading_gzip("text", 4, &length);
    packed[FLAGS] |= HAS_SUM;
    packed = realloc(packed, length + 2);
    memmove(packed + HEADER + 2, packed + HEADER, length - HEADER);
    const uint32_t sum = md_crc32(packed, HEADER);
    packed[HEADER] = (char)(sum & 255);
    packed[HEADER + 1] = (char)(sum >> 8 & 255);
    assert_int_equal(read_file(&input, packed, length + 2, &error), MEDLEY_OK);
    assert_int_equal(input.length, 4);
    md_input_clear(&input);
    packed[HEADER] ^= 1;
    assert_int_equal(read_file(&input, packed, length + 2, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "damaged (header crc mismatch)"));
    free(packed);
}

static void what_is_no_readable_file_is_refused(void **state)
{
    (void)state;
    md_input input = {0};
    medley_error error = {0};
    assert_int_equal(md_input_read(&input, "/nonexistent/file", &error), MEDLEY_FAILED);
    assert_string_equal(error.file, "/nonexistent/file");
    memset(&error, 0, sizeof error);
    assert_int_equal(md_input_read(&input, "/", &error), MEDLEY_FAILED);
    assert_non_null(strstr(error.message, "directory"));
    assert_int_equal(read_file(&input, "", 0, &error), MEDLEY_BAD_INPUT);
    assert_string_equal(error.message, "the file is empty");
    size_t length;
    char *packed = reading_gzip("", 0, &length);
    assert_int_equal(read_file(&input, packed, length, &error), MEDLEY_BAD_INPUT);
    assert_string_equal(error.message, "the file is empty");
    free(packed);
}

static void standard_input_is_read(void **state)
{
    (void)state;
    char path[READING_PATH_SIZE];
    reading_write(path, "", "1 1:2\n", 6);
    const int kept = dup(STDIN_FILENO);
    const int file = open(path, O_RDONLY);
    assert_true(file >= 0 && dup2(file, STDIN_FILENO) >= 0);
    md_input input;
    assert_int_equal(md_input_read(&input, "-", NULL), MEDLEY_OK);
    assert_string_equal(input.path, "standard input");
    assert_int_equal(input.length, 6);
    md_input_clear(&input);
    if (kept >= 0) {
        dup2(kept, STDIN_FILENO);
        close(kept);
    }
    close(file);
    unlink(path);
}

static void formats_are_told_by_name_extension_and_content(void **state)
{
    (void)state;
    static const struct {
        const char *suffix, *text;
        size_t columns, labels;
    } cases[] = {
        {"", "+1 3:4\n-1 1:2\n", 3, 2},       {"", "# c\n\na\nb 1:2 3:1\n", 3, 2},
        {"", "a,b,c\n1,2,3\n", 2, 1},         {"", "1;2;x\n3;4;y\n", 2, 2},
        {".txt", "1\t2\tx\n3\t4\ty\n", 2, 2}, {".csv", "5\n6\n", 1, 0},
        {".CSV", "1,2\n3,4\n", 1, 2},         {".libsvm", "x 1:1\ny\n", 1, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[READING_PATH_SIZE];
        medley_dataset *dataset;
        medley_error error = {0};
        reading_write(path, cases[i].suffix, cases[i].text, strlen(cases[i].text));
        if (medley_dataset_read(&dataset, path, NULL, &error) < 0)
            fail_msg("%s: %s", cases[i].text, error.message);
        unlink(path);
        assert_int_equal(medley_dataset_columns(dataset), cases[i].columns);
        assert_int_equal(medley_dataset_label_count(dataset), cases[i].labels);
        medley_dataset_free(dataset);
    }
    medley_dataset *dataset;
    medley_error error;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = "cvs";
    assert_int_equal(read_text(&dataset, "1,2\n", 4, &options, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "no format 'cvs'"));
    assert_non_null(strstr(error.message, "svmlight, csv"));
    assert_int_equal(read_text(&dataset, "\1\2\3\0\5", 5, NULL, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "cannot tell the format"));
}

/* Adds text as a table. */
static medley_status add_text(medley_dataset *dataset, const char *name, const char *text,
                              medley_error *error)
{
    char path[READING_PATH_SIZE];
    reading_write(path, ".csv", text, strlen(text));
    memset(error, 0, sizeof *error);
    const medley_status status = medley_dataset_add_table(dataset, name, path, NULL, error);
    unlink(path);
    return status;
}

static void further_tables_must_have_the_same_rows(void **state)
{
    (void)state;
    medley_dataset *dataset;
    medley_error error;
    assert_int_equal(medley_dataset_create(&dataset, NULL), MEDLEY_OK);
    assert_int_equal(add_text(dataset, "first", "1,2,a\n3,4,b\n", &error), MEDLEY_OK);
    assert_int_equal(dataset->rows, 2);
    assert_int_equal(medley_dataset_label_count(dataset), 2);
    assert_non_null(dataset->source);
    assert_int_equal(add_text(dataset, "second", "7,a\n8,b\n", &error), MEDLEY_OK);
    assert_int_equal(dataset->table_count, 2);
    assert_string_equal(dataset->tables[0].name, "first");
    assert_string_equal(dataset->tables[1].name, "second");
    assert_int_equal(dataset->tables[1].features.columns, 1);
    assert_true(dataset->tables[1].features.dense[1] == 8.0f);
    assert_int_equal(add_text(dataset, "third", "7,a\n", &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "view 'third' has 1 rows, expected 2 as in "));
    assert_int_equal(add_text(dataset, "third", "7,a\n8,a\n", &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "row 2 is 'a'"));
    assert_non_null(strstr(error.message, "not aligned"));
    assert_int_equal(add_text(dataset, "second", "7,a\n8,b\n", &error), MEDLEY_USAGE);
    assert_int_equal(dataset->table_count, 2);
    medley_dataset_free(dataset);
}

static void the_first_table_brings_its_sequences(void **state)
{
    (void)state;
    static const char text[] = "a qid:1 1:1\nb qid:1 2:1\na qid:2 1:1\n";
    char path[READING_PATH_SIZE];
    medley_dataset *dataset;
    reading_write(path, ".svm", text, strlen(text));
    assert_int_equal(medley_dataset_create(&dataset, NULL), MEDLEY_OK);
    assert_int_equal(medley_dataset_add_table(dataset, "v", path, NULL, NULL), MEDLEY_OK);
    unlink(path);
    assert_int_equal(medley_dataset_sequences(dataset), 2);
    assert_int_equal(dataset->sequence_start[1], 2);
    medley_dataset_free(dataset);
}

/* Reads labels from a file of the given bytes. */
static medley_status read_labels(medley_dataset *dataset, const char *bytes, size_t length,
                                 medley_error *error)
{
    char path[READING_PATH_SIZE];
    reading_write(path, "", bytes, length);
    memset(error, 0, sizeof *error);
    const medley_status status = medley_dataset_read_labels(dataset, path, error);
    unlink(path);
    return status;
}

static void labels_come_from_text_or_idx_files(void **state)
{
    (void)state;
    static const double values[] = {1, 2, 3};
    static const char *const old[] = {"x", "y", "z"};
    medley_dataset *dataset;
    medley_error error;
    assert_int_equal(medley_dataset_from_dense(&dataset, values, 3, 1, old, NULL), MEDLEY_OK);
    assert_int_equal(read_labels(dataset, "b\r\n a\nb\n\n", 9, &error), MEDLEY_OK);
    assert_int_equal(medley_dataset_label_count(dataset), 2);
    assert_int_equal(medley_dataset_label(dataset, 0), 1);
    assert_int_equal(read_labels(dataset, "\0\0\10\1\0\0\0\3\12\2\12", 11, &error), MEDLEY_OK);
    assert_string_equal(medley_dataset_label_name(dataset, 0), "2");
    assert_string_equal(medley_dataset_label_name(dataset, 1), "10");
    assert_int_equal(medley_dataset_label(dataset, 2), 1);
    assert_int_equal(read_labels(dataset, "a\n\nb\nc\n", 7, &error), MEDLEY_BAD_INPUT);
    assert_int_equal(error.line, 2);
    assert_int_equal(read_labels(dataset, "a\nb\n", 4, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "2 labels were found, expected 3"));
    assert_int_equal(read_labels(dataset, "\0\0\10\1\0\0\0\3\1\2", 10, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "2 bytes of labels"));
    assert_int_equal(read_labels(dataset, "\0\0\10\1\0\0", 6, &error), MEDLEY_BAD_INPUT);
    assert_int_equal(medley_dataset_label_count(dataset), 2); /* untouched by failures */
    medley_dataset_free(dataset);
}

static void writing_needs_a_known_format(void **state)
{
    (void)state;
    const double value = 1;
    medley_dataset *dataset;
    medley_error error = {0};
    assert_int_equal(medley_dataset_from_dense(&dataset, &value, 1, 1, NULL, NULL), MEDLEY_OK);
    assert_int_equal(medley_dataset_write(dataset, "/nonexistent/x", NULL, &error), MEDLEY_USAGE);
    assert_non_null(strstr(error.message, "name the format"));
    memset(&error, 0, sizeof error);
    assert_int_equal(medley_dataset_write(dataset, "x", "excel", &error), MEDLEY_USAGE);
    memset(&error, 0, sizeof error);
    assert_int_equal(medley_dataset_write(dataset, "/nonexistent/x.csv", NULL, &error),
                     MEDLEY_FAILED);
    medley_dataset_free(dataset);
}

/* Replaces, removes or copies a few bytes; returns the new length. */
static size_t mutate(char *bytes, size_t length, md_random *random)
{
    static const char telling[] = ",;\"\n\r\t 0123456789.:eE+-#()'";
    for (size_t count = 1 + md_random_below(random, 5); count > 0; count--) {
        const size_t place = md_random_below(random, length);
        switch (md_random_below(random, 4)) {
        case 0:
            bytes[place] = (char)md_random_bits(random);
            break;
        case 1:
            bytes[place] = telling[md_random_below(random, sizeof telling - 1)];
            break;
        case 2:
            bytes[place] = bytes[md_random_below(random, length)];
            break;
        default:
            memmove(bytes + place, bytes + place + 1, --length - place);
        }
    }
    return length;
}

/* The bytes and their '\n' are allocated exactly, so that the address sanitizer sees an overrun. */
static void damaged_inputs_are_read_or_refused_within_their_bytes(void **state)
{
    (void)state;
    static const char svmlight[] = "# c\n+1 qid:1 1:0.5 3:-2.25e-1 12:7\n"
                                   "-1 qid:1 2:123456789012345678 # r\r\nword qid:2 1:.5 40:3\n";
    static const char csv[] = "w,\"the, \"\"h\"\"\",label\r\n1.25,-3e-2,\"a\nb\"\n"
                              " 4 ,\"5\",c\n\n0.1234567890123,7,c\n";
    static const char npy[] = "\x93NUMPY\1\0\73\0{'descr': '<f4', 'fortran_order': True, "
                              "'shape': (2, 3), }\nabcdabcdabcdabcdabcdabcd";
    static const struct {
        const char *format, *bytes;
        size_t length;
    } seeds[] = {{"svmlight", svmlight, sizeof svmlight - 1},
                 {"csv", csv, sizeof csv - 1},
                 {"npy", npy, sizeof npy - 1}};
    md_random random;
    md_random_seed(&random, 11);
    size_t good = 0;
    enum { TRIES = 20000 };
    for (size_t i = 0; i < TRIES; i++) {
        const size_t which = i % 3;
        char *bytes = malloc(seeds[which].length + 1);
        memcpy(bytes, seeds[which].bytes, seeds[which].length);
        const size_t length =
            i < 3 ? seeds[which].length : mutate(bytes, seeds[which].length, &random);
        bytes = realloc(bytes, length + 1);
        bytes[length] = '\n';
        const md_input input = {"input", bytes, length};
        medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
        options.ignore_labels = i % 2 == 1;
        medley_dataset *dataset;
        medley_error error = {0};
        assert_int_equal(medley_dataset_create(&dataset, NULL), MEDLEY_OK);
        const medley_status status =
            md_format_find(seeds[which].format)->read(dataset, &input, &options, &error);
        assert_true(status == MEDLEY_OK || status == MEDLEY_BAD_INPUT || status == MEDLEY_USAGE);
        assert_true(status == MEDLEY_OK || error.message[0] != '\0');
        assert_true(i >= 3 || status == MEDLEY_OK);
        good += status == MEDLEY_OK;
        medley_dataset_free(dataset);
        free(bytes);
    }
    assert_in_range(good, TRIES / 50, TRIES / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compressed_files_are_read_whatever_their_name),
        cmocka_unit_test(damaged_compressed_files_are_refused),
        cmocka_unit_test(many_members_are_one_file),
        cmocka_unit_test(claimed_lengths_are_not_believed),
        cmocka_unit_test(checksums_of_headers_are_looked_at),
        cmocka_unit_test(what_is_no_readable_file_is_refused),
        cmocka_unit_test(standard_input_is_read),
        cmocka_unit_test(formats_are_told_by_name_extension_and_content),
        cmocka_unit_test(further_tables_must_have_the_same_rows),
        cmocka_unit_test(the_first_table_brings_its_sequences),
        cmocka_unit_test(labels_come_from_text_or_idx_files),
        cmocka_unit_test(writing_needs_a_known_format),
        cmocka_unit_test(damaged_inputs_are_read_or_refused_within_their_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
