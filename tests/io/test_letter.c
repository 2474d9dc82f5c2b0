/* SPDX-License-Identifier: BSD-3-Clause */
/* letter.data: words of 16x8 letters. */
#include "format_checks.h"
#include "medley/generate.h"

enum { PIXELS = 128, FILE_SIZE = 4096 };

/* Appends one line; its pixels are all 0 but the first `black`. */
static void add_line(char *file, const char *leading, size_t black)
{
    char *end = file + strlen(file);
    const size_t length = strlen(leading);
    memcpy(end, leading, length);
    end += length;
    for (size_t p = 0; p < PIXELS; p++) {
        *end++ = p < black ? '1' : '0';
        *end++ = '\t';
    }
    *end++ = '\n';
    *end = '\0';
}

/* The words "ab" and "a". */
static void make_file(char file[FILE_SIZE])
{
    file[0] = '\0';
    add_line(file, "1\ta\t2\t1\t1\t0\t", 3);
    add_line(file, "2\tb\t-1\t1\t2\t0\t", 0);
    add_line(file, "3\ta\t-1\t2\t1\t9\t", 128);
}

static void words_letters_folds_and_pixels_are_read(void **state)
{
    (void)state;
    char file[FILE_SIZE];
    size_t height;
    size_t width;
    float row[PIXELS];
    make_file(file);
    medley_dataset *dataset = read_good(file, strlen(file), NULL);
    assert_int_equal(dataset->rows, 3);
    assert_int_equal(dataset->sequence_count, 2);
    assert_int_equal(dataset->sequence_start[0], 0);
    assert_int_equal(dataset->sequence_start[1], 2);
    assert_int_equal(dataset->sequence_start[2], 3);
    assert_int_equal(dataset->fold[1], 0);
    assert_int_equal(dataset->fold[2], 9);
    assert_int_equal(medley_dataset_label_count(dataset), 2);
    assert_int_equal(medley_dataset_label(dataset, 1), 1);
    assert_true(medley_dataset_image_shape(&height, &width, dataset));
    assert_int_equal(height, 16);
    assert_int_equal(width, 8);
    for (size_t r = 0; r < 3; r++) {
        static const size_t black[] = {3, 0, 128};
        medley_dataset_row(row, dataset, r);
        for (size_t p = 0; p < PIXELS; p++)
            assert_true(row[p] == (p < black[r] ? 1 : 0));
    }
    check_round_trip(dataset, "letter", file, strlen(file));
    medley_dataset_free(dataset);
}

static void labels_may_be_left_out(void **state)
{
    (void)state;
    char file[FILE_SIZE] = "";
    add_line(file, "1\t?\t-1\t1\t1\t0\t", 3);
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = "letter";
    medley_dataset *dataset = read_good(file, strlen(file), &options);
    assert_null(dataset->label);
    check_round_trip(dataset, "letter", file, strlen(file));
    medley_dataset_free(dataset);
    make_file(file);
    options.label = "none";
    dataset = read_good(file, strlen(file), &options);
    assert_null(dataset->label);
    medley_dataset_free(dataset);
    options.label = "fold";
    medley_error error = {0};
    assert_int_equal(read_text(&dataset, file, strlen(file), &options, &error), MEDLEY_USAGE);
}

static void bad_lines_are_refused(void **state)
{
    (void)state;
    static const bad_file second[] = {
        {"x\tb\t-1\t1\t2\t0\t", 2, "the id is 'x'"},
        {"2\t\t-1\t1\t2\t0\t", 2, "the letter is ''"},
        {"2\tb\t-2\t1\t2\t0\t", 2, "the next_id is '-2'"},
        {"2\tb\t-1\t\t2\t0\t", 2, "the word_id is ''"},
        {"2\tb\t-1\t1\t2.5\t0\t", 2, "the position is '2.5'"},
        {"2\tb\t-1\t1\t2\t-1\t", 2, "the fold is '-1'"},
        {"3\tb\t-1\t1\t2\t0\t", 2, "the id is 3, expected 2"},
        {"2\tb\t-1\t7\t2\t0\t", 2, "the word_id is 7, expected 1"},
        {"2\tb\t-1\t1\t1\t0\t", 2, "the position is 1, expected 2"},
        {"2\tb\t3\t1\t2\t0\t", 2, "ends inside a word"},
        {"2\tb\t-1\t1\t2\t", 2, "133 fields"},
        {"2\tb\t-1\t1\t2\t0\t0\t", 2, "135 fields"},
    };
    char file[FILE_SIZE];
    for (size_t i = 0; i < sizeof second / sizeof *second; i++) {
        file[0] = '\0';
        add_line(file, "1\ta\t2\t1\t1\t0\t", 3);
        add_line(file, second[i].text, 5);
        check_refused("letter", file, strlen(file), second[i].line, second[i].phrase);
    }
    check_refused("letter", "a\tb\n", 4, 1, "2 fields");
    check_refused("letter", "\n\n", 2, 0, "no rows");
}

static void bad_pixels_are_refused(void **state)
{
    (void)state;
    char file[FILE_SIZE];
    make_file(file);
    const size_t first = strlen("1\ta\t2\t1\t1\t0\t");
    for (size_t place = first; place < first + 2 * PIXELS; place++) {
        const char kept = file[place];
        file[place] = '2';
        check_refused("letter", file, strlen(file), 1, "expected");
        file[place] = kept;
    }
    file[first + 2 * PIXELS - 2] = '7'; /* the last one */
    check_refused("letter", file, strlen(file), 1, "the pixel is '7', expected 0 or 1");
}

static void cut_off_files_never_crash(void **state)
{
    (void)state;
    char file[FILE_SIZE];
    make_file(file);
    check_truncations("letter", file, strlen(file));
}

static void generated_handwriting_survives_a_round_trip(void **state)
{
    (void)state;
    medley_generate_options options = MEDLEY_GENERATE_OPTIONS_INIT;
    options.rows = 40;
    medley_dataset *made = NULL;
    assert_int_equal(medley_generate(&made, "handwriting", &options, NULL), MEDLEY_OK);
    size_t length;
    char *bytes = written(made, "letter", &length);
    medley_dataset *dataset = read_good(bytes, length, NULL);
    assert_int_equal(dataset->rows, made->rows);
    assert_int_equal(dataset->sequence_count, 40);
    assert_memory_equal(dataset->sequence_start, made->sequence_start, 41 * sizeof(size_t));
    assert_memory_equal(dataset->fold, made->fold, made->rows * sizeof *made->fold);
    assert_memory_equal(dataset->label, made->label, made->rows * sizeof *made->label);
    assert_memory_equal(dataset->tables[0].features.dense, made->tables[0].features.dense,
                        made->rows * PIXELS * sizeof(float));
    free(bytes);
    medley_dataset_free(dataset);
    medley_dataset_free(made);
}

static void other_data_are_not_written(void **state)
{
    (void)state;
    double values[PIXELS] = {0};
    char path[READING_PATH_SIZE];
    reading_write(path, "", "", 0);
    for (size_t columns = PIXELS - 1; columns <= PIXELS; columns++) {
        medley_dataset *dataset = NULL;
        medley_error error = {0};
        values[3] = 0.5;
        assert_int_equal(medley_dataset_from_dense(&dataset, values, 1, columns, NULL, &error),
                         MEDLEY_OK);
        assert_int_equal(medley_dataset_write(dataset, path, "letter", &error), MEDLEY_USAGE);
        assert_non_null(strstr(error.message, columns == PIXELS ? "0.5" : "127 columns"));
        medley_dataset_free(dataset);
    }
    unlink(path);
}

static void the_ocr_data_have_the_known_counts(void **state)
{
    (void)state;
    char path[READING_PATH_SIZE];
    if (!real_data(path, "ocr/letter.data.gz"))
        skip();
    medley_dataset *dataset = read_real(path);
    assert_int_equal(medley_dataset_rows(dataset), 52152);
    assert_int_equal(medley_dataset_sequences(dataset), 6877);
    assert_int_equal(medley_dataset_label_count(dataset), 26);
    size_t words[10] = {0};
    static const size_t known[10] = {626, 704, 684, 698, 693, 651, 739, 717, 690, 675};
    for (size_t w = 0; w < dataset->sequence_count; w++)
        words[dataset->fold[dataset->sequence_start[w]]]++;
    assert_memory_equal(words, known, sizeof known);
    md_input input = {0};
    medley_error error = {0};
    assert_int_equal(md_input_read(&input, path, &error), MEDLEY_OK);
    check_round_trip(dataset, "letter", input.data, input.length);
    md_input_clear(&input);
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_letters_folds_and_pixels_are_read),
        cmocka_unit_test(labels_may_be_left_out),
        cmocka_unit_test(bad_lines_are_refused),
        cmocka_unit_test(bad_pixels_are_refused),
        cmocka_unit_test(cut_off_files_never_crash),
        cmocka_unit_test(generated_handwriting_survives_a_round_trip),
        cmocka_unit_test(other_data_are_not_written),
        cmocka_unit_test(the_ocr_data_have_the_known_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
