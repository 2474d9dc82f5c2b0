/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of tagged words: text becomes a file, a file becomes data, and two tasks that
 * cannot be done without looking at neighbouring labels. */
#ifndef TESTS_LEARNER_TAGGING_H
#define TESTS_LEARNER_TAGGING_H

#include "base/random.h"
#include "base/text.h"
#include "fit/fitting.h"

/* Writes text to a new file, which the caller removes. */
static inline void write_file(char path[PATH_SIZE], const char *text)
{
    temporary_path(path);
    write_bytes(path, text, strlen(text));
}

static inline medley_dataset *read_tagged(const char *text)
{
    char path[PATH_SIZE];
    medley_dataset *dataset = NULL;
    medley_error error = {0};
    medley_read_options how = MEDLEY_READ_OPTIONS_INIT;
    how.format = "columns";
    how.text_columns = true;
    write_file(path, text);
    if (medley_dataset_read(&dataset, path, &how, &error) != MEDLEY_OK)
        fail_msg("%s", error.message);
    unlink(path);
    return dataset;
}

/* "name=value ... template=FILE" for a template file with this text, which the caller removes. */
static inline void with_template(char options[512], char path[PATH_SIZE], const char *text,
                                 const char *more)
{
    write_file(path, text);
    assert_in_range(snprintf(options, 512, "%s template=%s", more, path), 1, 511);
}

/* Fits with templates given as text. */
static inline medley_model *fit_tagged(const medley_dataset *train, const char *templates,
                                       const char *more)
{
    char options[512];
    char path[PATH_SIZE];
    with_template(options, path, templates, more);
    medley_model *model = fit(train, NULL, options);
    unlink(path);
    return model;
}

/* Labels take turns, X Y X Y ..., but only the first word tells where they begin: what follows are
 * words that say nothing. Neighbouring labels are all there is to go by. */
static inline medley_dataset *alternating_tags(size_t sequences, uint64_t seed)
{
    md_text text = {0};
    md_random random;
    md_random_seed(&random, seed);
    for (size_t s = 0; s < sequences; s++) {
        const size_t first = md_random_below(&random, 2);
        const size_t length = 1 + md_random_below(&random, 7);
        for (size_t i = 0; i < length; i++)
            md_text_addf(&text, "%s w%zu %s\n", i == 0 ? (first ? "left" : "right") : "and",
                         md_random_below(&random, 5), (first + i) % 2 ? "X" : "Y");
        md_text_addf(&text, "\n");
    }
    assert_false(text.failed);
    medley_dataset *dataset = read_tagged(text.data);
    md_text_clear(&text);
    return dataset;
}

/* A word says whether the label stays or changes: pairs of labels must look at words. */
static inline medley_dataset *switching_tags(size_t sequences, uint64_t seed)
{
    md_text text = {0};
    md_random random;
    md_random_seed(&random, seed);
    for (size_t s = 0; s < sequences; s++) {
        size_t tag = md_random_below(&random, 3);
        const size_t length = 1 + md_random_below(&random, 8);
        md_text_addf(&text, "be%zu T%zu\n", tag, tag);
        for (size_t i = 1; i < length; i++) {
            const size_t turn = md_random_below(&random, 3);
            tag = (tag + turn) % 3;
            md_text_addf(&text, "turn%zu T%zu\n", turn, tag);
        }
        md_text_addf(&text, "\n");
    }
    assert_false(text.failed);
    medley_dataset *dataset = read_tagged(text.data);
    md_text_clear(&text);
    return dataset;
}

#endif
