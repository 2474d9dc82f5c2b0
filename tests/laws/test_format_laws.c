/* SPDX-License-Identifier: BSD-3-Clause */
/* Laws of every format in the registry, over the data of every generator: what is written reads
 * back as the same rows, and what was read writes the same bytes again; files that are cut short or
 * damaged are read or refused with a sentence, never anything else; and data that a format cannot
 * hold leave no file behind. */
#include "fit/fitting.h"
#include "io/io.h"
#include "io/reading.h"

enum { ROWS = 6, CUTS = 60 };

static char *slurp(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*length + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *length, file), *length);
    fclose(file);
    return bytes;
}

/* NULL: the format does not hold such data, and says so. */
static char *file_of(const medley_dataset *dataset, const char *format, size_t *length)
{
    char path[READING_PATH_SIZE];
    medley_error error = {0};
    close(reading_temporary(path, ""));
    unlink(path);
    const medley_status status = medley_dataset_write(dataset, path, format, &error);
    if (status < 0) {
        assert_true(error.message[0] != '\0');
        assert_int_not_equal(access(path, F_OK), 0);
        return NULL;
    }
    char *bytes = slurp(path, length);
    unlink(path);
    return bytes;
}

static medley_status parse(medley_dataset **dataset, const char *bytes, size_t length,
                           const char *format)
{
    medley_error error = {0};
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = format;
    *dataset = NULL;
    const medley_status status =
        medley_dataset_parse(dataset, bytes, length, "data", &options, &error);
    if (status < 0) {
        assert_null(*dataset);
        assert_true(error.message[0] != '\0');
    }
    return status;
}

static medley_dataset *check_rows(const char *format, const medley_dataset *dataset,
                                  const char *bytes, size_t length)
{
    medley_dataset *again = NULL;
    assert_int_equal(parse(&again, bytes, length, format), MEDLEY_OK);
    assert_int_equal(again->rows, dataset->rows);
    if (again->sequence_count > 0)
        assert_int_equal(again->sequence_count, /* rows that stand alone are sequences of one */
                         dataset->sequence_count > 0 ? dataset->sequence_count : dataset->rows);
    for (size_t r = 0; again->label != NULL && r < again->rows; r++)
        assert_string_equal(again->label_names.items[again->label[r]],
                            dataset->label_names.items[dataset->label[r]]);
    return again;
}

/* Columns that have names may change places once. */
static void check_round_trip(const char *format, const medley_dataset *dataset, const char *bytes,
                             size_t length)
{
    size_t lengths[2] = {0};
    medley_dataset *first = check_rows(format, dataset, bytes, length);
    char *second_file = file_of(first, format, &lengths[0]);
    assert_non_null(second_file);
    assert_int_equal(lengths[0], length);
    medley_dataset *second = check_rows(format, dataset, second_file, length);
    char *third_file = file_of(second, format, &lengths[1]);
    assert_non_null(third_file);
    assert_int_equal(lengths[1], length);
    assert_memory_equal(third_file, second_file, length);
    free(second_file);
    free(third_file);
    medley_dataset_free(first);
    medley_dataset_free(second);
}

static void check_damage(const char *format, const char *bytes, size_t length)
{
    char *damaged = malloc(length + 1);
    assert_non_null(damaged);
    for (size_t i = 0; i < CUTS; i++) {
        medley_dataset *dataset = NULL;
        const size_t place = i * length / CUTS;
        if (parse(&dataset, bytes, place, format) >= 0)
            medley_dataset_free(dataset);
        memcpy(damaged, bytes, length);
        damaged[place] = (char)(i % 3 == 0 ? 0xff : i % 3 == 1 ? '\n' : damaged[place] ^ 1);
        if (parse(&dataset, damaged, length, format) >= 0)
            medley_dataset_free(dataset);
    }
    free(damaged);
}

static void written_files_read_back_and_damage_does_no_harm(void **state)
{
    (void)state;
    medley_listing format = MEDLEY_LISTING_INIT;
    medley_listing generator = MEDLEY_LISTING_INIT;
    for (size_t f = 0; medley_list(&format, "formats", f); f++) {
        size_t held = 0;
        for (size_t g = 0; medley_list(&generator, "generators", g); g++) {
            size_t length = 0;
            medley_dataset *dataset = make_data(generator.name, ROWS, 3);
            char *bytes = file_of(dataset, format.name, &length);
            if (bytes != NULL) {
                held++;
                check_round_trip(format.name, dataset, bytes, length);
                check_damage(format.name, bytes, length);
            }
            free(bytes);
            medley_dataset_free(dataset);
        }
        if (md_format_find(format.name)->write != NULL && held == 0)
            fail_msg("%s is written, but holds the data of no generator", format.name);
    }
}

static void formats_are_complete_and_have_names_of_their_own(void **state)
{
    (void)state;
    for (size_t f = 0; md_formats[f] != NULL; f++) {
        assert_non_null(md_formats[f]->summary);
        assert_non_null(md_formats[f]->read);
        assert_ptr_equal(md_format_find(md_formats[f]->name), md_formats[f]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_complete_and_have_names_of_their_own),
        cmocka_unit_test(written_files_read_back_and_damage_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
