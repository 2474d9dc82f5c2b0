/* SPDX-License-Identifier: BSD-3-Clause */
/* Collecting labels. They arrive as strings in file order and are numbered as they come; at the end
 * the names are sorted (numbers by value, otherwise by byte order), so that the numbering does not
 * depend on the order of the rows. */
#include "data/dataset.h"

/* Whole numbers above this are not told apart by a double: their text stays as it is. */
#define EXACT_WHOLE_NUMBERS 9007199254740992.0

enum { LONGEST_NUMBER = 64 };

/* The value of a label that is a finite number, else NaN. */
static double number_of(const char *text, size_t length)
{
    const char *cursor = text;
    double value;
    if (length == 0 || length > LONGEST_NUMBER || !md_read_number(&cursor, text + length, &value) ||
        cursor != text + length || !isfinite(value))
        return (double)NAN;
    return value + 0.0; /* -0 and 0 are one label */
}

const char *md_label_canonical(const char *text, size_t *length, double *number, char buffer[32])
{
    *number = number_of(text, *length);
    if (!(fabs(*number) < EXACT_WHOLE_NUMBERS))
        return text;
    text = md_format_double(buffer, *number);
    *length = strlen(text);
    return text;
}

/* The number of a label's name, new or known. */
static medley_status find_or_add(int32_t *id, md_label_builder *builder, const char *text,
                                 size_t length, medley_error *error)
{
    *id = md_strings_find(&builder->names, text, length);
    if (*id >= 0)
        return MEDLEY_OK;
    char buffer[32];
    double number;
    text = md_label_canonical(text, &length, &number, buffer);
    MEDLEY_TRY(md_grow(&builder->number, &builder->number_capacity, builder->names.count + 1,
                       sizeof *builder->number, error));
    MEDLEY_TRY(md_strings_put(&builder->names, text, length, id, error));
    builder->number[*id] = number;
    return MEDLEY_OK;
}

medley_status md_labels_add(md_label_builder *builder, const char *text, size_t length,
                            medley_error *error)
{
    int32_t id = -1;
    MEDLEY_TRY(md_grow(&builder->label, &builder->capacity, builder->count + 1,
                       sizeof *builder->label, error));
    if (text != NULL && memchr(text, '\0', length) != NULL)
        return md_fail(error, MEDLEY_BAD_INPUT, "the label of row %zu holds a NUL byte",
                       builder->count + 1);
    if (text != NULL)
        MEDLEY_TRY(find_or_add(&id, builder, text, length, error));
    builder->label[builder->count++] = id;
    return MEDLEY_OK;
}

typedef struct named_label {
    const char *name;
    double number;
    int32_t arrival;
} named_label;

static int compare_names(const void *left, const void *right)
{
    return strcmp(((const named_label *)left)->name, ((const named_label *)right)->name);
}

static int compare_numbers(const void *left, const void *right)
{
    const named_label *a = left;
    const named_label *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Sorts the names into *sorted; place[arrival] is the new number of each. */
static medley_status sort_names(md_strings *sorted, int32_t *place, const md_label_builder *builder,
                                bool all_numbers, medley_error *error)
{
    const size_t count = builder->names.count;
    MD_OWNED(free) named_label *labels = NULL;
    MEDLEY_TRY(md_new(&labels, count, sizeof *labels, error));
    for (size_t i = 0; i < count; i++)
        labels[i] = (named_label){builder->names.items[i], builder->number[i], (int32_t)i};
    qsort(labels, count, sizeof *labels, all_numbers ? compare_numbers : compare_names);
    for (size_t i = 0; i < count; i++) {
        place[labels[i].arrival] = (int32_t)i;
        MEDLEY_TRY(md_strings_put(sorted, labels[i].name, strlen(labels[i].name), NULL, error));
    }
    return MEDLEY_OK;
}

medley_status md_labels_as_targets(double **target, const double *number, size_t names,
                                   const int32_t *label, size_t rows, medley_error *error)
{
    *target = NULL;
    for (size_t i = 0; i < names; i++)
        if (isnan(number[i]))
            return MEDLEY_OK;
    MEDLEY_TRY(md_new(target, rows, sizeof **target, error));
    for (size_t row = 0; row < rows; row++)
        (*target)[row] = label[row] >= 0 ? number[label[row]] : (double)NAN;
    return MEDLEY_OK;
}

medley_status md_labels_finish(md_label_builder *builder, medley_dataset *dataset,
                               medley_error *error)
{
    MD_CLEARED(md_strings_clear) md_strings sorted = {0};
    MD_OWNED(free) int32_t *place = NULL;
    MD_OWNED(free) double *target = NULL;
    if (builder->count != dataset->rows)
        return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source, 0,
                          "%zu labels for %zu rows; every row needs one label", builder->count,
                          dataset->rows);
    if (builder->names.count == 0) {
        md_labels_clear(builder);
        return MEDLEY_OK;
    }
    MEDLEY_TRY(md_new(&place, builder->names.count, sizeof *place, error));
    MEDLEY_TRY(md_labels_as_targets(&target, builder->number, builder->names.count, builder->label,
                                    builder->count, error));
    MEDLEY_TRY(sort_names(&sorted, place, builder, target != NULL, error));
    for (size_t row = 0; row < builder->count; row++)
        if (builder->label[row] >= 0)
            builder->label[row] = place[builder->label[row]];
    md_dataset_replace_labels(dataset, md_take(&sorted), md_take(&builder->label),
                              md_take(&target));
    md_labels_clear(builder);
    return MEDLEY_OK;
}

void md_dataset_replace_labels(medley_dataset *dataset, md_strings names, int32_t *label,
                               double *target)
{
    md_strings_clear(&dataset->label_names);
    free(dataset->label);
    free(dataset->target);
    dataset->label_names = names;
    dataset->label = label;
    dataset->target = target;
}

void md_labels_clear(md_label_builder *builder)
{
    md_strings_clear(&builder->names);
    free(builder->label);
    free(builder->number);
    *builder = (md_label_builder){0};
}

const char *md_dataset_label_text(const medley_dataset *dataset, size_t row, char buffer[32])
{
    if (dataset->label != NULL)
        return dataset->label[row] >= 0 ? dataset->label_names.items[dataset->label[row]] : NULL;
    return dataset->target != NULL ? md_format_double(buffer, dataset->target[row]) : NULL;
}

medley_status md_dataset_map_labels(int32_t **mapped, const medley_dataset *dataset,
                                    const md_strings *names, medley_error *error)
{
    MD_OWNED(free) int32_t *translation = NULL;
    MEDLEY_TRY(md_new(&translation, dataset->label_names.count, sizeof *translation, error));
    MEDLEY_TRY(md_new(mapped, dataset->rows, sizeof **mapped, error));
    for (size_t i = 0; i < dataset->label_names.count; i++) {
        const char *name = dataset->label_names.items[i];
        translation[i] = md_strings_find(names, name, strlen(name));
    }
    for (size_t row = 0; row < dataset->rows; row++) {
        const int32_t label = dataset->label != NULL ? dataset->label[row] : -1;
        (*mapped)[row] = label >= 0 ? translation[label] : -1;
    }
    return MEDLEY_OK;
}
