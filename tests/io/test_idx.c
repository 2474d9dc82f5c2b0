/* SPDX-License-Identifier: BSD-3-Clause */
/* idx arrays: every type, images with their labels beside them, and damaged headers. */
#include "format_checks.h"

#include <sys/stat.h>

/* Two images of 1 x 3 bytes. */
static const char IMAGES[] = {0, 0, 8, 3, 0, 0, 0, 2,    0, 0, 0,
                              1, 0, 0, 0, 3, 0, 1, '\2', 3, 4, (char)255};

static void images_are_read_as_they_are(void **state)
{
    (void)state;
    medley_dataset *dataset = read_good(IMAGES, sizeof IMAGES, NULL);
    size_t height;
    size_t width;
    float row[3];
    assert_int_equal(dataset->rows, 2);
    assert_int_equal(medley_dataset_columns(dataset), 3);
    assert_true(medley_dataset_image_shape(&height, &width, dataset));
    assert_int_equal(height, 1);
    assert_int_equal(width, 3);
    assert_null(dataset->label);
    medley_dataset_row(row, dataset, 1);
    assert_true(row[0] == 3 && row[1] == 4 && row[2] == 255);
    medley_dataset_free(dataset);
}

static void every_type_is_read(void **state)
{
    (void)state;
    /* each file is the 1 x 2 matrix (1, -2); unsigned bytes have 254 for -2 */
    static const struct {
        const char *values;
        size_t size;
        char type;
    } cases[] = {
        {"\x01\xfe", 1, 0x08},
        {"\x01\xfe", 1, 0x09},
        {"\0\1\xff\xfe", 2, 0x0b},
        {"\0\0\0\1\xff\xff\xff\xfe", 4, 0x0c},
        {"\x3f\x80\0\0\xc0\0\0\0", 4, 0x0d},
        {"\x3f\xf0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", 8, 0x0e},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[12 + 16] = {0, 0, cases[i].type, 2, 0, 0, 0, 1, 0, 0, 0, 2};
        memcpy(file + 12, cases[i].values, 2 * cases[i].size);
        medley_dataset *dataset = read_good(file, 12 + 2 * cases[i].size, NULL);
        float row[2];
        size_t height;
        size_t width;
        medley_dataset_row(row, dataset, 0);
        assert_true(row[0] == 1);
        assert_true(row[1] == (cases[i].type == 0x08 ? 254 : -2));
        assert_false(medley_dataset_image_shape(&height, &width, dataset));
        medley_dataset_free(dataset);
    }
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    char file[sizeof IMAGES + 1];
    memcpy(file, IMAGES, sizeof IMAGES);
    file[sizeof IMAGES] = 0;
    check_refused("idx", file, sizeof IMAGES - 1, 0, "cut off");
    check_refused("idx", file, sizeof IMAGES + 1, 0, "too long");
    check_refused("idx", file, 10, 0, "header is cut off");
    file[3] = 1;
    check_refused("idx", file, sizeof IMAGES, 0, "1 dimensions");
    file[3] = 4;
    check_refused("idx", file, sizeof IMAGES, 0, "4 dimensions");
    file[3] = 3;
    file[2] = 0x0a;
    check_refused("idx", file, sizeof IMAGES, 0, "no idx file");
    file[2] = 8;
    file[7] = 0;
    check_refused("idx", file, sizeof IMAGES - 6, 0, "empty");
    memset(file + 4, 0xff, 12);
    check_refused("idx", file, sizeof IMAGES, 0, "impossibly large");
    static const char infinite[] = {0, 0, 0x0d, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0x7f, (char)0x80, 0, 0};
    check_refused("idx", infinite, sizeof infinite, 0, "finite");
}

static void cut_off_files_never_crash(void **state)
{
    (void)state;
    check_truncations("idx", IMAGES, sizeof IMAGES);
}

static void put(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void labels_come_from_the_file_beside_the_images(void **state)
{
    (void)state;
    static const char good[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 5};
    static const char three[] = {0, 0, 8, 1, 0, 0, 0, 3, 7, 5, 1};
    char folder[READING_PATH_SIZE];
    char images[READING_PATH_SIZE + 32];
    char labels[READING_PATH_SIZE + 32];
    close(reading_temporary(folder, ""));
    unlink(folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(images, sizeof images, "%s/t-images-idx3-ubyte", folder);
    snprintf(labels, sizeof labels, "%s/t-labels-idx1-ubyte", folder);
    put(images, IMAGES, sizeof IMAGES);

    medley_dataset *dataset = read_real(images); /* no labels yet */
    assert_null(dataset->label);
    medley_dataset_free(dataset);

    put(labels, good, sizeof good);
    dataset = read_real(images);
    assert_int_equal(medley_dataset_label_count(dataset), 2);
    assert_string_equal(medley_dataset_label_name(dataset, 1), "7");
    assert_int_equal(medley_dataset_label(dataset, 0), 1);
    medley_dataset_free(dataset);

    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    medley_error error = {0};
    options.label = "none";
    assert_int_equal(medley_dataset_read(&dataset, images, &options, &error), MEDLEY_OK);
    assert_null(dataset->label);
    medley_dataset_free(dataset);
    options.label = "3";
    assert_int_equal(medley_dataset_read(&dataset, images, &options, &error), MEDLEY_USAGE);

    put(labels, three, sizeof three);
    error = (medley_error){0};
    assert_int_equal(medley_dataset_read(&dataset, images, NULL, &error), MEDLEY_BAD_INPUT);
    assert_non_null(strstr(error.message, "3 labels"));
    assert_non_null(strstr(error.file, "labels-idx1"));
    unlink(images);
    unlink(labels);
    rmdir(folder);
}

static void mnist_has_the_known_counts(void **state)
{
    (void)state;
    char path[READING_PATH_SIZE];
    if (!real_data(path, "mnist/t10k-images-idx3-ubyte.gz"))
        skip();
    medley_dataset *dataset = read_real(path);
    assert_int_equal(medley_dataset_rows(dataset), 10000);
    assert_int_equal(medley_dataset_columns(dataset), 784);
    assert_int_equal(medley_dataset_label_count(dataset), 10);
    assert_int_equal(medley_dataset_label(dataset, 0), 7);
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_read_as_they_are),
        cmocka_unit_test(every_type_is_read),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(cut_off_files_never_crash),
        cmocka_unit_test(labels_come_from_the_file_beside_the_images),
        cmocka_unit_test(mnist_has_the_known_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
