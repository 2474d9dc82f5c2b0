/* SPDX-License-Identifier: BSD-3-Clause */
/* Readers of data files. The first bytes choose how the rest is wrapped and read. */
#include "fuzz.h"

#include "io/io.h"

/* By the first two bytes; nothing is asked for where they are 0. */
static medley_read_options take_options(fuzz_input *input, size_t *members)
{
    static const char *const labels[] = {NULL, "last", "none", "1", "2", "label", "3", "9999999"};
    static const char *const columns[] = {NULL,  "1",      "1-2", "2,1", "x,y", "x,x",
                                          "3-1", "1-9999", "0",   "",    "y",   "1,"};
    static const char *const names[] = {"x", "y", "z"};
    static const char *const label_names[] = {NULL, "label"};
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    const unsigned how = fuzz_byte(input);
    const unsigned which = fuzz_byte(input);
    *members = how % 4 % 3; /* 0: plain */
    options.header = (int)(how / 4 % 4 % 3);
    options.header = options.header == 0 ? -1 : options.header - 1;
    options.ignore_labels = how & 16;
    options.text_columns = how & 32;
    options.feature_count = how & 64 ? 3 : 0;
    if (how & 128) {
        options.feature_count = 3;
        options.feature_names = names;
        options.label_name = label_names[which % 2];
    }
    options.label = labels[which % 8];
    options.columns = columns[which / 8 % 12];
    return options;
}

static void read_as(const char *format, fuzz_input input)
{
    size_t members;
    medley_dataset *dataset = NULL;
    medley_error error;
    medley_read_options options = take_options(&input, &members);
    options.format = format;
    uint8_t *packed = NULL;
    if (members > 0) {
        size_t size;
        packed = fuzz_gzip(input, members, &size);
        input = (fuzz_input){packed, size};
    }
    if (fuzz_worked(medley_dataset_parse(&dataset, (const char *)input.data, input.size, "input",
                                         &options, &error),
                    &error))
        fuzz_use_dataset(dataset);
    medley_dataset_free(dataset);
    free(packed);
}

void fuzz_read_any(fuzz_input input)
{
    read_as(NULL, input);
}

#define MD_FORMAT(name)                                                                            \
    void fuzz_read_##name(fuzz_input input)                                                        \
    {                                                                                              \
        read_as(#name, input);                                                                     \
    }
#include "io/formats.def"
#undef MD_FORMAT

/* ---- what goes with data: kernel values with their diagonals, labels ---- */

/* A byte says how long the first file is, in sixteenths; the second is the diagonals. */
void fuzz_read_gram(fuzz_input input)
{
    medley_dataset *dataset = NULL;
    medley_error error;
    const unsigned share = fuzz_byte(&input) % 17;
    const size_t first = share == 0 ? input.size : input.size * share / 16;
    const char *values = fuzz_file(0, input.data, first);
    const char *diagonals = fuzz_file(1, input.data + first, input.size - first);
    if (!fuzz_worked(medley_dataset_create(&dataset, &error), &error))
        return;
    medley_dataset_keep_wide(dataset);
    if (fuzz_worked(medley_dataset_add_gram(dataset, "k", values, &error), &error)) {
        (void)fuzz_worked(medley_dataset_add_gram_diagonal(dataset, diagonals, &error), &error);
        medley_dataset *half = NULL;
        if (fuzz_worked(medley_dataset_folds(&half, dataset, "0/2", &error), &error))
            FUZZ_REQUIRE(medley_dataset_rows(half) <= medley_dataset_rows(dataset));
        medley_dataset_free(half);
    }
    medley_dataset_free(dataset);
}

void fuzz_read_labels(fuzz_input input)
{
    static const double zeros[8];
    medley_dataset *dataset = NULL;
    medley_error error;
    const size_t rows = 1 + fuzz_byte(&input) % 8;
    if (!fuzz_worked(medley_dataset_from_dense(&dataset, zeros, rows, 1, NULL, &error), &error))
        return;
    const char *path = fuzz_file(0, input.data, input.size);
    if (fuzz_worked(medley_dataset_read_labels(dataset, path, &error), &error))
        for (size_t row = 0; row < rows; row++)
            FUZZ_REQUIRE(medley_dataset_label(dataset, row) <
                         (int32_t)medley_dataset_label_count(dataset));
    medley_dataset_free(dataset);
}
