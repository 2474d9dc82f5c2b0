/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the generator of a name, checks what holds for all of them, and runs it from a seed. Also
 * the one loop that draws independent rows of equally likely classes, which the classic
 * benchmarks share. */
#include "generate/generate.h"

#include "base/struct_size.h"
#include "param/param.h"

const md_generator *const md_generators[] = {
#define MD_GENERATOR(name) &md_generator_##name,
#include "generate/generators.def"
#undef MD_GENERATOR
    NULL};

enum { GENERATOR_COUNT = sizeof md_generators / sizeof(void *) - 1 };

static medley_status find(const md_generator **generator, const char *name, medley_error *error)
{
    const char *names[GENERATOR_COUNT + 1] = {NULL};
    for (size_t i = 0; i < GENERATOR_COUNT; i++)
        names[i] = md_generators[i]->name;
    const int found = md_text_index(name, names);
    if (found >= 0) {
        *generator = md_generators[found];
        return MEDLEY_OK;
    }
    return md_fail_unknown("generator", name, names, error);
}

static medley_status check(const medley_generate_options *options, medley_error *error)
{
    if (!isfinite(options->noise) || options->noise < 0)
        return md_fail(error, MEDLEY_USAGE,
                       "noise is %g, expected a finite number that is not negative (1 is the "
                       "usual amount, 0 none)",
                       options->noise);
    return MEDLEY_OK;
}

static medley_status generate_rows(medley_dataset *dataset, const medley_generate_options *options,
                                   md_random *random, const md_row_source *source,
                                   medley_error *error)
{
    MD_CLEARED(md_labels_clear) md_label_builder labels = {0};
    md_table *table;
    const size_t dimension = options->dimension ? options->dimension : source->dimension;

    MEDLEY_TRY(md_generate_refuse_views(options, error));
    if (!source->has_free_dimension)
        MEDLEY_TRY(md_generate_refuse_dimension(options, source->dimension, error));
    dataset->rows = options->rows;
    MEDLEY_TRY(md_generate_table(&table, dataset, "", dimension, error));
    for (size_t row = 0; row < options->rows; row++) {
        const size_t class_index = md_random_below(random, source->class_count);
        const char *label = source->class_names[class_index];
        source->draw(table->features.dense + row * dimension, dimension, class_index,
                     options->noise, random);
        MEDLEY_TRY(md_labels_add(&labels, label, strlen(label), error));
    }
    return md_labels_finish(&labels, dataset, error);
}

medley_status medley_generate(medley_dataset **dataset, const char *name,
                              const medley_generate_options *options, medley_error *error)
{
    md_begin(error);
    MD_OWNED(medley_dataset_free) medley_dataset *made = NULL;
    const md_generator *generator = NULL;
    medley_generate_options chosen = MEDLEY_GENERATE_OPTIONS_INIT;
    md_random random;

    MEDLEY_TRY(MD_TAKE_STRUCT(&chosen, options, MEDLEY_GENERATE_OPTIONS_INIT, error));
    MEDLEY_TRY(check(&chosen, error));
    MEDLEY_TRY(find(&generator, name, error));
    if (chosen.rows == 0)
        chosen.rows = generator->default_rows;
    MEDLEY_TRY(medley_dataset_create(&made, error));
    MEDLEY_TRY(md_new_text(&made->source, generator->name, strlen(generator->name), error));
    md_random_seed(&random, chosen.seed);
    if (generator->rows != NULL)
        MEDLEY_TRY(generate_rows(made, &chosen, &random, generator->rows, error));
    else
        MEDLEY_TRY(generator->generate(made, &chosen, &random, error));
    *dataset = md_take(&made);
    return MEDLEY_OK;
}

medley_status md_generate_table(md_table **table, medley_dataset *dataset, const char *name,
                                size_t columns, medley_error *error)
{
    MEDLEY_TRY(md_dataset_new_table(table, dataset, name, dataset->source, error));
    return md_matrix_init_dense(&(*table)->features, dataset->rows, columns, error);
}

medley_status md_generate_refuse_dimension(const medley_generate_options *options, size_t fixed,
                                           medley_error *error)
{
    if (options->dimension == 0 || options->dimension == fixed)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE,
                   "dimension is %zu but these data always have %zu features; leave it out",
                   options->dimension, fixed);
}

medley_status md_generate_refuse_views(const medley_generate_options *options, medley_error *error)
{
    if (options->views == 0 && options->classes == 0)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE,
                   "the numbers of views and classes can be chosen for blobs only; leave them out");
}
