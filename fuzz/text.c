/* SPDX-License-Identifier: BSD-3-Clause */
/* What people write: templates, kernels and views, penalties, options, choices. Inputs are lines,
 * where that is possible, so that those of the corpora can be read and written by hand. */
#include "fuzz.h"

#include "feature/arc.h"
#include "feature/feature.h"
#include "penalty/penalty.h"
#include "settings/options.h"

/* ---- templates ---- */

static void look_at_features(const md_features *features)
{
    const md_templates *templates = md_features_templates(features);
    for (size_t b = 0; b < md_templates_count(templates); b++) {
        MD_CLEARED(md_text_clear) md_text text = {0};
        if (md_features_count(features, b) > 0)
            md_feature_text(features, b, 0, &text);
    }
}

/* What was packed unpacks to the same bytes. */
static void pack_features(const md_features *features)
{
    MD_CLEARED(md_text_clear) md_text bytes = {0};
    MD_CLEARED(md_text_clear) md_text others = {0};
    MD_OWNED(md_features_free) md_features *again = NULL;
    medley_error error = {0};
    md_features_pack(&bytes, features);
    if (bytes.failed)
        return;
    md_unpack in = {.data = bytes.data, .length = bytes.length};
    if (!fuzz_must(md_features_unpack(&again, &in, &error), &error))
        return;
    md_features_pack(&others, again);
    FUZZ_REQUIRE(others.failed || (bytes.length == others.length &&
                                   memcmp(bytes.data, others.data, bytes.length) == 0));
}

/* A byte for hashing and counts, then a template file. */
void fuzz_template(fuzz_input input)
{
    MD_OWNED(md_templates_free) md_templates *templates = NULL;
    MD_OWNED(md_features_free) md_features *features = NULL;
    MD_CLEARED(md_feature_ids_free) md_feature_ids ids = {0};
    MD_CLEARED(md_feature_ids_free) md_feature_ids fresh = {0};
    medley_error error = {0};
    const unsigned how = fuzz_byte(&input);
    const md_features_options options = {
        .min_count = 1 + how / 16 % 4, .hash_bits = how % 16, .threads = 1};
    if (!fuzz_worked(
            md_templates_parse(&templates, (const char *)input.data, input.size, "input", &error),
            &error))
        return;
    for (size_t b = 0; b < md_templates_count(templates); b++)
        FUZZ_REQUIRE(md_templates_name(templates, b) != NULL);
    if (!fuzz_worked(
            md_features_create(&features, &ids, templates, fuzz_data(FUZZ_WORDS), &options, &error),
            &error))
        return;
    look_at_features(features);
    pack_features(features);
    (void)fuzz_worked(md_features_apply(features, &fresh, fuzz_data(FUZZ_TREES), 1, &error),
                      &error);
    md_feature_ids_free(&fresh);
    fresh = (md_feature_ids){0};
    if (fuzz_must(md_features_apply(features, &fresh, fuzz_data(FUZZ_WORDS), 1, &error), &error))
        for (size_t b = 0; b < ids.block_count; b++)
            FUZZ_REQUIRE(memcmp(ids.ids[b], fresh.ids[b], ids.rows * sizeof **ids.ids) == 0);
}

/* A file of arc templates. */
void fuzz_arc_template(fuzz_input input)
{
    MD_OWNED(md_arc_templates_free) md_arc_templates *templates = NULL;
    MD_OWNED(md_arc_templates_free) md_arc_templates *again = NULL;
    MD_OWNED(md_arcs_free) md_arcs *arcs = NULL;
    MD_CLEARED(md_text_clear) md_text bytes = {0};
    medley_error error = {0};
    char *text = fuzz_text(input);
    const medley_status status = md_arc_templates_parse(&templates, text, "input", &error);
    free(text);
    if (!fuzz_worked(status, &error))
        return;
    const size_t count = md_arc_templates_count(templates);
    md_arc_templates_pack(&bytes, templates);
    md_unpack in = {.data = bytes.data, .length = bytes.length};
    if (!bytes.failed && fuzz_must(md_arc_templates_unpack(&again, &in, &error), &error))
        FUZZ_REQUIRE(md_arc_templates_count(again) == count);
    const md_arc_source source = {
        .dataset = fuzz_data(FUZZ_TREES), .count = 3, .tags = MD_ARC_UPOS};
    if (!fuzz_worked(md_arcs_create(&arcs, templates, &source, 1, &error), &error))
        return;
    for (size_t t = 0; t < count; t++)
        FUZZ_REQUIRE(md_arcs_key(arcs, 0, t).length == 4);
}

/* ---- kernels, views and scalings ---- */

/* A byte for the data, lines of options, an empty one, a file of kernels. */
void fuzz_kernel(fuzz_input input)
{
    medley_error error;
    size_t count = 0;
    const fuzz_kind kind = (fuzz_kind)(fuzz_byte(&input) % FUZZ_KINDS);
    MD_OWNED(medley_options_free) medley_options *options = fuzz_options(&input);
    if (options == NULL)
        return;
    const char *path = fuzz_file(0, input.data, input.size);
    if (input.size > 0 &&
        !fuzz_worked(medley_options_set(options, "kernels", path, &error), &error))
        return;
    if (fuzz_worked(medley_write_kernels(&count, fuzz_data(kind), options, "/dev/null", &error),
                    &error))
        FUZZ_REQUIRE(count > 0);
}

/* ---- penalties ---- */

static void apply_penalty(const md_penalty *penalty, double tau)
{
    enum { COUNT = 5 };
    const double given[COUNT] = {0, 1e-3, 1, 1, 40};
    double b[COUNT];
    double beta[COUNT];
    double scratch[3 * COUNT];
    memcpy(b, given, sizeof b);
    FUZZ_REQUIRE(!isnan(md_penalty_value(penalty, b, COUNT)));
    md_penalty_prox(penalty, tau, b, COUNT, scratch);
    for (size_t m = 0; m < COUNT; m++)
        FUZZ_REQUIRE(b[m] >= 0 && b[m] <= given[m]);
    md_penalty_weights(penalty, b, COUNT, beta);
    for (size_t m = 0; m < COUNT; m++)
        FUZZ_REQUIRE(beta[m] >= 0 && beta[m] <= 1.001);
    FUZZ_REQUIRE(md_penalty_inner_threshold(penalty) >= 0);
    FUZZ_REQUIRE(md_penalty_strong_convexity(penalty) >= 0);
}

/* A penalty on each line. */
void fuzz_penalty(fuzz_input input)
{
    for (char *line; (line = fuzz_line(&input)) != NULL; free(line)) {
        MD_OWNED(md_penalty_free) md_penalty *penalty = NULL;
        MD_OWNED(md_penalty_free) md_penalty *again = NULL;
        medley_error error = {0};
        if (!fuzz_worked(md_penalty_create(&penalty, line, &error), &error))
            continue;
        for (double tau = 0; tau <= 10; tau = 10 * tau + 0.1)
            apply_penalty(penalty, tau);
        const char *text = md_penalty_text(penalty);
        if (fuzz_must(md_penalty_create(&again, text, &error), &error))
            FUZZ_REQUIRE(strcmp(md_penalty_text(again), text) == 0);
    }
}

/* ---- options and choices ---- */

/* name=value on each line, whatever the name is. */
void fuzz_settings(fuzz_input input)
{
    medley_error error;
    MD_OWNED(medley_options_free) medley_options *options = NULL;
    medley_learner *learner = NULL;
    if (!fuzz_worked(medley_options_create(&options, &error), &error))
        return;
    for (char *line; (line = fuzz_line(&input)) != NULL; free(line)) {
        char *equals = strchr(line, '=');
        if (equals != NULL)
            *equals = '\0';
        (void)fuzz_worked(
            medley_options_set(options, line, equals != NULL ? equals + 1 : "", &error), &error);
    }
    (void)fuzz_worked(medley_learner_create(&learner, options, &error), &error);
    medley_learner_free(learner);
}

/* Folds, then columns, then option=values on each line. */
void fuzz_choice(fuzz_input input)
{
    static const char table[] = "x,y,label\n1,2,a\n2,3,b\n3,1,a\n4,4,b\n";
    medley_error error;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    MD_OWNED(medley_dataset_free) medley_dataset *part = NULL;
    MD_OWNED(medley_dataset_free) medley_dataset *read = NULL;
    MD_OWNED(free) char *folds = fuzz_line(&input);
    MD_OWNED(free) char *columns = fuzz_line(&input);
    if (folds != NULL &&
        fuzz_worked(medley_dataset_folds(&part, fuzz_data(FUZZ_DENSE), folds, &error), &error))
        FUZZ_REQUIRE(medley_dataset_rows(part) > 0);
    options.columns = columns;
    if (fuzz_worked(medley_dataset_parse(&read, table, strlen(table), "t.csv", &options, &error),
                    &error))
        FUZZ_REQUIRE(medley_dataset_columns(read) <= 2);
    for (char *line; (line = fuzz_line(&input)) != NULL; free(line)) {
        char *equals = strchr(line, '=');
        size_t count = 0;
        if (equals == NULL)
            continue;
        *equals = '\0';
        const medley_choice choice = {line, equals + 1};
        if (fuzz_worked(medley_choice_count(&count, &choice, &error), &error))
            FUZZ_REQUIRE(count > 0);
    }
}
