/* SPDX-License-Identifier: BSD-3-Clause */
/* The generators: deterministic, with the moments their definitions promise, and letters that can
 * be told apart. */
#include "generate/generate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOMENT_ROWS = 6000 };

/* Five standard errors of a mean over at least LEAST_ROWS rows, in standard deviations, and of a
 * variance relative to its size (normal data). The seed is fixed, so what holds once holds. */
enum { LEAST_ROWS = 1800 };
static const double MEAN_TOLERANCE = 5 / 42.4;
static const double VARIANCE_TOLERANCE = 5 * 1.4143 / 42.4;

static medley_dataset *generate(const char *name, size_t rows, uint64_t seed, double noise)
{
    medley_generate_options options = MEDLEY_GENERATE_OPTIONS_INIT;
    options.rows = rows;
    options.seed = seed;
    options.noise = noise;
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    const medley_status status = medley_generate(&dataset, name, &options, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(status, MEDLEY_OK);
    return dataset;
}

static bool tables_are_equal(const md_table *a, const md_table *b)
{
    const md_matrix *left = &a->features;
    const md_matrix *right = &b->features;
    return strcmp(a->name, b->name) == 0 && left->rows == right->rows &&
           left->columns == right->columns &&
           memcmp(left->dense, right->dense, left->rows * left->columns * sizeof *left->dense) == 0;
}

static void same_seed_gives_same_bytes_and_another_seed_other_data(void **state)
{
    (void)state;
    for (size_t g = 0; md_generators[g] != NULL; g++) {
        const char *name = md_generators[g]->name;
        medley_dataset *first = generate(name, 50, 7, 1);
        medley_dataset *again = generate(name, 50, 7, 1);
        medley_dataset *other = generate(name, 50, 8, 1);
        assert_int_equal(first->rows, again->rows);
        assert_memory_equal(first->label, again->label, first->rows * sizeof *first->label);
        assert_int_equal(first->table_count, again->table_count);
        for (size_t t = 0; t < first->table_count; t++) {
            assert_true(tables_are_equal(&first->tables[t], &again->tables[t]));
            assert_false(tables_are_equal(&first->tables[t], &other->tables[t]));
        }
        medley_dataset_free(first);
        medley_dataset_free(again);
        medley_dataset_free(other);
    }
}

static void every_generator_fills_a_whole_dataset(void **state)
{
    (void)state;
    for (size_t g = 0; md_generators[g] != NULL; g++) {
        medley_dataset *dataset = generate(md_generators[g]->name, 0, 1, 1);
        const bool has_words = dataset->sequence_count > 0;
        assert_int_equal(has_words ? dataset->sequence_count : dataset->rows,
                         md_generators[g]->default_rows);
        assert_non_null(dataset->label);
        for (size_t t = 0; t < dataset->table_count; t++) {
            const md_matrix *features = &dataset->tables[t].features;
            assert_int_equal(features->rows, dataset->rows);
            for (size_t i = 0; i < features->rows * features->columns; i++)
                assert_true(isfinite(features->dense[i]));
        }
        medley_dataset_free(dataset);
    }
}

/* Mean and variance of one column over the rows of one class. */
static void moments(const medley_dataset *dataset, const char *label, size_t column, double *mean,
                    double *variance)
{
    const md_matrix *features = &dataset->tables[0].features;
    const int32_t wanted = md_strings_find(&dataset->label_names, label, strlen(label));
    double count = 0;
    double sum = 0;
    double sum2 = 0;
    for (size_t r = 0; r < dataset->rows; r++) {
        if (dataset->label[r] != wanted)
            continue;
        const double value = (double)features->dense[r * features->columns + column];
        count++;
        sum += value;
        sum2 += value * value;
    }
    assert_true(count > LEAST_ROWS);
    *mean = sum / count;
    *variance = sum2 / count - *mean * *mean;
}

static void assert_moments(const medley_dataset *dataset, const char *label, size_t column,
                           double mean, double variance)
{
    double found_mean;
    double found_variance;
    moments(dataset, label, column, &found_mean, &found_variance);
    assert_true(fabs(found_mean - mean) < MEAN_TOLERANCE * sqrt(variance));
    assert_true(fabs(found_variance / variance - 1) < VARIANCE_TOLERANCE);
}

static void ringnorm_and_twonorm_have_breimans_moments(void **state)
{
    (void)state;
    const double a = 2 / sqrt(20);
    medley_dataset *ring = generate("ringnorm", MOMENT_ROWS, 3, 1);
    medley_dataset *two = generate("twonorm", MOMENT_ROWS, 3, 1);
    assert_int_equal(medley_dataset_columns(ring), 20);
    assert_int_equal(medley_dataset_columns(two), 20);
    for (size_t column = 0; column < 20; column++) {
        assert_moments(ring, "1", column, 0, 4);
        assert_moments(ring, "-1", column, a, 1);
        assert_moments(two, "1", column, a, 1);
        assert_moments(two, "-1", column, -a, 1);
    }
    medley_dataset_free(ring);
    medley_dataset_free(two);
}

static void waveform_has_breimans_moments(void **state)
{
    (void)state;
    static const double peaks[3][2] = {{11, 15}, {11, 7}, {15, 7}};
    static const char *const names[3] = {"0", "1", "2"};
    medley_dataset *dataset = generate("waveform", MOMENT_ROWS, 3, 1);
    assert_int_equal(medley_dataset_columns(dataset), 21);
    for (size_t c = 0; c < 3; c++) {
        for (size_t i = 0; i < 21; i++) {
            const double x = (double)i + 1;
            const double first = fmax(6 - fabs(x - peaks[c][0]), 0);
            const double second = fmax(6 - fabs(x - peaks[c][1]), 0);
            /* u is uniform: E u = 1/2, Var u = 1/12, and the noise adds 1 */
            const double slope = first - second;
            assert_moments(dataset, names[c], i, (first + second) / 2, 1 + slope * slope / 12);
        }
    }
    medley_dataset_free(dataset);
}

static void noise_scales_the_deviations(void **state)
{
    (void)state;
    medley_dataset *none = generate("twonorm", 20, 3, 0);
    const double a = 2 / sqrt(20);
    for (size_t r = 0; r < none->rows; r++) {
        const double sign = medley_dataset_label(none, r) == 1 ? 1 : -1;
        for (size_t d = 0; d < 20; d++)
            assert_true(fabs((double)none->tables[0].features.dense[r * 20 + d] - sign * a) < 1e-6);
    }
    medley_dataset_free(none);
    medley_dataset *loud = generate("twonorm", MOMENT_ROWS, 3, 2);
    assert_moments(loud, "1", 0, a, 4);
    medley_dataset_free(loud);
}

/* Share of the rows from `from` on whose nearest class mean, taken over the rows before, is that
 * of their own class; columns of one table. */
static double nearest_mean_accuracy(const medley_dataset *dataset, size_t table, size_t from)
{
    const md_matrix *features = &dataset->tables[table].features;
    const size_t columns = features->columns;
    const size_t classes = dataset->label_names.count;
    double *mean = calloc(classes * columns, sizeof *mean);
    double *count = calloc(classes, sizeof *count);
    assert_non_null(mean);
    assert_non_null(count);
    for (size_t r = 0; r < from; r++) {
        const size_t label = (size_t)dataset->label[r];
        count[label]++;
        for (size_t d = 0; d < columns; d++)
            mean[label * columns + d] += (double)features->dense[r * columns + d];
    }
    size_t right = 0;
    for (size_t r = from; r < dataset->rows; r++) {
        size_t best = 0;
        double nearest = INFINITY;
        for (size_t c = 0; c < classes; c++) {
            double distance = 0;
            for (size_t d = 0; d < columns; d++) {
                const double gap = (double)features->dense[r * columns + d] -
                                   mean[c * columns + d] / fmax(count[c], 1);
                distance += gap * gap;
            }
            if (distance < nearest) {
                nearest = distance;
                best = c;
            }
        }
        right += best == (size_t)dataset->label[r];
    }
    free(mean);
    free(count);
    return (double)right / (double)(dataset->rows - from);
}

static void no_single_view_of_blobs_tells_all_classes_apart(void **state)
{
    (void)state;
    medley_dataset *dataset = generate("blobs", 2000, 5, 1);
    assert_int_equal(dataset->table_count, 3);
    assert_string_equal(dataset->tables[0].name, "view1");
    assert_string_equal(dataset->tables[2].name, "view3");
    size_t count[4] = {0};
    for (size_t r = 0; r < dataset->rows; r++)
        count[dataset->label[r]]++;
    for (size_t c = 0; c < 4; c++)
        assert_int_equal(count[c], 500);
    /* two classes of each informative view look alike: one in two is right by chance */
    for (size_t view = 0; view < 2; view++) {
        const double accuracy = nearest_mean_accuracy(dataset, view, 1000);
        assert_true(accuracy > 0.4 && accuracy < 0.6);
    }
    const double chance = nearest_mean_accuracy(dataset, 2, 1000);
    assert_true(chance > 0.15 && chance < 0.35);

    /* seen together, the two informative views give nearly everything away */
    medley_dataset *joined = generate("blobs", 2000, 5, 1);
    md_matrix *wide = &joined->tables[0].features;
    md_matrix_clear(wide);
    medley_error error = {0};
    assert_int_equal(md_matrix_init_dense(wide, 2000, 20, &error), MEDLEY_OK);
    for (size_t r = 0; r < 2000; r++)
        for (size_t view = 0; view < 2; view++)
            memcpy(wide->dense + r * 20 + view * 10, dataset->tables[view].features.dense + r * 10,
                   10 * sizeof(float));
    assert_true(nearest_mean_accuracy(joined, 0, 1000) > 0.9);
    medley_dataset_free(joined);
    medley_dataset_free(dataset);
}

static void blobs_take_other_numbers_of_views_and_classes(void **state)
{
    (void)state;
    for (size_t views = 2; views < 6; views++) {
        for (size_t classes = 2; classes < 12; classes++) {
            medley_generate_options options = MEDLEY_GENERATE_OPTIONS_INIT;
            options.rows = 60;
            options.views = views;
            options.classes = classes;
            options.dimension = 3;
            medley_dataset *dataset = NULL;
            assert_int_equal(medley_generate(&dataset, "blobs", &options, NULL), MEDLEY_OK);
            assert_int_equal(dataset->table_count, views);
            assert_int_equal(medley_dataset_label_count(dataset), classes);
            assert_int_equal(medley_dataset_columns(dataset), 3);
            medley_dataset_free(dataset);
        }
    }
}

static void handwriting_has_words_folds_and_every_letter(void **state)
{
    (void)state;
    medley_dataset *dataset = generate("handwriting", 0, 1, 1);
    size_t height;
    size_t width;
    assert_true(medley_dataset_image_shape(&height, &width, dataset));
    assert_int_equal(height, 16);
    assert_int_equal(width, 8);
    assert_int_equal(medley_dataset_sequences(dataset), 700);
    assert_int_equal(medley_dataset_label_count(dataset), 26);
    assert_int_equal(dataset->sequence_start[700], dataset->rows);
    for (size_t w = 0; w < 700; w++) {
        const size_t first = dataset->sequence_start[w];
        const size_t last = dataset->sequence_start[w + 1];
        assert_in_range(last - first, 4, 10);
        for (size_t r = first; r < last; r++)
            assert_int_equal(dataset->fold[r], w % 10);
    }
    for (size_t r = 0; r < dataset->rows; r++) {
        size_t black = 0;
        for (size_t p = 0; p < 128; p++) {
            const float value = dataset->tables[0].features.dense[r * 128 + p];
            assert_true(value == 0 || value == 1);
            black += value == 1;
        }
        assert_in_range(black, 4, 100);
    }
    medley_dataset_free(dataset);
}

static double squared_distance(const float *a, const float *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)((a[i] - b[i]) * (a[i] - b[i]));
    return sum;
}

static void the_same_letter_looks_more_alike_than_two_letters(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        medley_dataset *dataset = generate("handwriting", 150, seed, 1);
        const float *images = dataset->tables[0].features.dense;
        double sum[2] = {0};
        double count[2] = {0};
        for (size_t r = 0; r < dataset->rows; r++) {
            for (size_t s = r + 1; s < dataset->rows; s++) {
                const int differ = dataset->label[r] != dataset->label[s];
                sum[differ] += squared_distance(images + r * 128, images + s * 128, 128);
                count[differ]++;
            }
        }
        assert_true(sum[0] / count[0] < 0.9 * sum[1] / count[1]);
        medley_dataset_free(dataset);
    }
}

static void letters_can_be_recognised(void **state)
{
    (void)state;
    medley_dataset *dataset = generate("handwriting", 0, 4, 1);
    const double accuracy = nearest_mean_accuracy(dataset, 0, dataset->rows / 2);
    assert_true(accuracy > 0.4);
    medley_dataset_free(dataset);
    /* without noise every letter is one image, different from all others */
    dataset = generate("handwriting", 300, 4, 0);
    assert_true(nearest_mean_accuracy(dataset, 0, dataset->rows / 2) == 1);
    medley_dataset_free(dataset);
}

static void assert_usage(const char *name, const medley_generate_options *options,
                         const char *phrase)
{
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    assert_int_equal(medley_generate(&dataset, name, options, &error), MEDLEY_USAGE);
    assert_null(dataset);
    assert_non_null(strstr(error.message, phrase));
}

static void bad_options_are_usage_errors(void **state)
{
    (void)state;
    const medley_generate_options good = MEDLEY_GENERATE_OPTIONS_INIT;
    medley_generate_options bad = good;
    bad.struct_size = 3;
    assert_usage("ringnorm", &bad, "struct_size");
    const double noises[] = {-1, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < 3; i++) {
        bad = good;
        bad.noise = noises[i];
        assert_usage("ringnorm", &bad, "noise");
    }
    assert_usage("ringnrom", &good, "did you mean 'ringnorm'");
    assert_usage("zzzzzz", &good, "ringnorm, twonorm, waveform, blobs, handwriting");
    assert_usage("", &good, "known: ");
    bad = good;
    bad.views = 2;
    assert_usage("twonorm", &bad, "views");
    assert_usage("handwriting", &bad, "views");
    bad = good;
    bad.dimension = 20;
    assert_usage("waveform", &bad, "21 features");
    assert_usage("handwriting", &bad, "128 features");
    bad = good;
    bad.views = 1;
    assert_usage("blobs", &bad, "1 views");
    bad = good;
    bad.classes = 1;
    assert_usage("blobs", &bad, "1 classes");
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
#ifdef MEDLEY_SANITIZED
    skip(); /* the sanitizer ends the program where malloc would return NULL */
#endif
    for (size_t g = 0; md_generators[g] != NULL; g++) {
        medley_generate_options options = MEDLEY_GENERATE_OPTIONS_INIT;
        options.rows = SIZE_MAX / 2;
        medley_dataset *dataset = NULL;
        medley_error error = {0};
        assert_int_equal(medley_generate(&dataset, md_generators[g]->name, &options, &error),
                         MEDLEY_FAILED);
        assert_null(dataset);
        assert_non_null(strstr(error.message, "memory"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_seed_gives_same_bytes_and_another_seed_other_data),
        cmocka_unit_test(every_generator_fills_a_whole_dataset),
        cmocka_unit_test(ringnorm_and_twonorm_have_breimans_moments),
        cmocka_unit_test(waveform_has_breimans_moments),
        cmocka_unit_test(noise_scales_the_deviations),
        cmocka_unit_test(no_single_view_of_blobs_tells_all_classes_apart),
        cmocka_unit_test(blobs_take_other_numbers_of_views_and_classes),
        cmocka_unit_test(handwriting_has_words_folds_and_every_letter),
        cmocka_unit_test(the_same_letter_looks_more_alike_than_two_letters),
        cmocka_unit_test(letters_can_be_recognised),
        cmocka_unit_test(bad_options_are_usage_errors),
        cmocka_unit_test(impossible_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
