/* SPDX-License-Identifier: BSD-3-Clause */
/* Multi-view blobs: C classes seen through V tables of features. The last view is pure noise. The
 * others share out the digits of the class number written to the base
 * b = ceil(C^(1/(V-1))): view v draws N(3 c_{v,digit}, noise^2 I) with c_{v,digit} a random unit
 * vector, so from three views on no single view can tell all classes apart and all of the
 * informative ones together can. (Two classes have one digit only: every view shows it.) */
#include "generate/generate.h"

enum { DEFAULT_VIEWS = 3, DEFAULT_CLASSES = 4, DEFAULT_DIMENSION = 10, MOST = 1000 };

static const double SEPARATION = 3; /* of each centre from the origin, in standard deviations */

static medley_status fill_options(medley_generate_options *filled,
                                  const medley_generate_options *options, medley_error *error)
{
    *filled = *options;
    if (filled->views == 0)
        filled->views = DEFAULT_VIEWS;
    if (filled->classes == 0)
        filled->classes = DEFAULT_CLASSES;
    if (filled->dimension == 0)
        filled->dimension = DEFAULT_DIMENSION;
    if (filled->views < 2 || filled->views > MOST)
        return md_fail(error, MEDLEY_USAGE,
                       "blobs with %zu views: expected 2 to %d (the last view is pure noise)",
                       filled->views, MOST);
    if (filled->classes < 2 || filled->classes > MOST)
        return md_fail(error, MEDLEY_USAGE, "blobs with %zu classes: expected 2 to %d",
                       filled->classes, MOST);
    return MEDLEY_OK;
}

/* The least b with b^views >= classes. */
static size_t digit_base(size_t classes, size_t views)
{
    size_t base = 2;
    while (pow((double)base, (double)views) < (double)classes)
        base++;
    return base;
}

static size_t digit_of(size_t class_index, size_t view, size_t base, size_t classes)
{
    if (classes == 2)
        return class_index;
    for (size_t v = 0; v < view; v++)
        class_index /= base;
    return class_index % base;
}

/* centres[base][dimension]: random directions of length SEPARATION, or zero for the noise view. */
static void draw_centres(double *centres, size_t base, size_t dimension, bool is_noise,
                         md_random *random)
{
    for (size_t b = 0; b < base; b++) {
        double *centre = centres + b * dimension;
        double norm2 = 0;
        for (size_t d = 0; d < dimension; d++) {
            centre[d] = md_random_normal(random);
            norm2 += centre[d] * centre[d];
        }
        const double factor = is_noise ? 0 : SEPARATION / sqrt(norm2);
        for (size_t d = 0; d < dimension; d++)
            centre[d] *= factor;
    }
}

static medley_status generate_view(medley_dataset *dataset, const medley_generate_options *options,
                                   size_t view, const size_t *class_of_row, md_random *random,
                                   medley_error *error)
{
    md_table *table;
    char name[32];
    const size_t dimension = options->dimension;
    const size_t base = digit_base(options->classes, options->views - 1);
    const bool is_noise = view + 1 == options->views;
    MD_OWNED(free) double *centres = NULL;
    MEDLEY_TRY(md_new(&centres, dimension, base * sizeof *centres, error));
    snprintf(name, sizeof name, "view%zu", view + 1);
    MEDLEY_TRY(md_generate_table(&table, dataset, name, dimension, error));
    draw_centres(centres, base, dimension, is_noise, random);
    for (size_t row = 0; row < dataset->rows; row++) {
        const size_t digit =
            is_noise ? 0 : digit_of(class_of_row[row], view, base, options->classes);
        float *values = table->features.dense + row * dimension;
        for (size_t d = 0; d < dimension; d++)
            values[d] =
                (float)(centres[digit * dimension + d] + options->noise * md_random_normal(random));
    }
    return MEDLEY_OK;
}

static medley_status generate(medley_dataset *dataset, const medley_generate_options *options,
                              md_random *random, medley_error *error)
{
    MD_CLEARED(md_labels_clear) md_label_builder labels = {0};
    medley_generate_options filled;
    MD_OWNED(free) size_t *class_of_row = NULL;

    MEDLEY_TRY(fill_options(&filled, options, error));
    dataset->rows = filled.rows;
    MEDLEY_TRY(md_new(&class_of_row, filled.rows, sizeof *class_of_row, error));
    for (size_t row = 0; row < filled.rows; row++)
        class_of_row[row] = row % filled.classes;
    md_random_shuffle(random, class_of_row, filled.rows);
    for (size_t row = 0; row < filled.rows; row++) {
        char name[32];
        const int length = snprintf(name, sizeof name, "%zu", class_of_row[row]);
        MEDLEY_TRY(md_labels_add(&labels, name, (size_t)length, error));
    }
    MEDLEY_TRY(md_labels_finish(&labels, dataset, error));
    for (size_t view = 0; view < filled.views; view++)
        MEDLEY_TRY(generate_view(dataset, &filled, view, class_of_row, random, error));
    return MEDLEY_OK;
}

const md_generator md_generator_blobs = {
    .name = "blobs",
    .summary = "Gaussian blobs in several views, none of which separates all classes",
    .format = "csv",
    .default_rows = 1000,
    .generate = generate,
};
