/* SPDX-License-Identifier: BSD-3-Clause */
/* From strings to numbers of values, and from those to what a macro sees at each row. */
#include "feature/values.h"

#include "base/parallel.h"

typedef struct value_job {
    md_values *values;
    const md_templates *templates;
    md_vocabularies vocabularies;
    bool *failed; /* [functions] out of memory */
} value_job;

typedef struct piece {
    const char *text;
    size_t length;
} piece;

static char fold(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

uint64_t md_value_hash(const char *text, size_t length, bool folds_case)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a, then mixed: its low bits are weak */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)(folds_case ? fold(text[i]) : text[i])) *
               UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return hash ^ hash >> 32;
}

/* What function makes of text; scratch holds it if it is not a part of text. */
static piece derive(const md_function *function, const char *text, md_text *scratch)
{
    piece result = {.text = text, .length = strlen(text)};
    if (function->pattern != NULL) {
        size_t start = 0, size = 0;
        const bool is_found =
            md_pattern_find(function->pattern, text, result.length, &start, &size);
        if (function->kind == 't')
            return is_found ? (piece){"true", 4} : (piece){"false", 5};
        result = (piece){text + start, is_found ? size : 0};
    }
    if (!function->folds_case)
        return result;
    scratch->length = 0;
    md_text_add(scratch, result.text, result.length);
    for (size_t i = 0; !scratch->failed && i < result.length; i++)
        scratch->data[i] = fold(scratch->data[i]);
    return (piece){scratch->failed ? "" : scratch->data, scratch->failed ? 0 : result.length};
}

/* Numbers one text; fresh is the number of a hashed space's next value. */
static int32_t number_text(value_job *job, size_t f, const char *text, int32_t fresh,
                           md_text *scratch)
{
    const piece value = derive(&job->templates->functions[f], text, scratch);
    md_strings *growing = job->vocabularies.growing;
    if (growing != NULL) {
        const int32_t id = md_strings_add(&growing[f], value.text, value.length);
        job->failed[f] |= id < 0;
        return id;
    }
    if (job->vocabularies.known != NULL)
        return md_strings_find(&job->vocabularies.known[f], value.text, value.length);
    job->values->column[f].hash[fresh] = md_value_hash(value.text, value.length, false);
    return fresh;
}

static void number_outside(value_job *job, size_t f, int32_t fresh, md_text *scratch)
{
    const md_function *function = &job->templates->functions[f];
    md_value_column *column = &job->values->column[f];
    MD_CLEARED(md_text_clear) md_text name = {0};
    for (size_t side = 0; side < 2; side++) {
        const size_t reach = side == 0 ? function->before : function->after;
        int32_t *to = side == 0 ? column->before : column->after;
        for (size_t distance = 1; distance <= reach; distance++) {
            name.length = 0;
            md_text_addf(&name, "_B%c%zu", side == 0 ? '-' : '+', distance);
            if (!name.failed)
                to[distance] = number_text(job, f, name.data, fresh++, scratch);
        }
    }
    job->failed[f] |= name.failed;
}

/* number[texts] -> the value at each row. */
static void spread(const value_job *job, size_t f, const int32_t *number, size_t texts)
{
    const medley_dataset *dataset = job->values->dataset;
    const int32_t *token = dataset->token + job->templates->functions[f].column;
    int32_t *at = job->values->column[f].at;
    for (size_t row = 0; row < dataset->rows; row++) {
        const int32_t id = token[row * dataset->token_columns];
        at[row] = id >= 0 && (size_t)id < texts ? number[id] : -1;
    }
}

static void make_column(void *context, size_t f, size_t worker)
{
    value_job *job = context;
    const medley_dataset *dataset = job->values->dataset;
    const md_function *function = &job->templates->functions[f];
    const md_strings *texts = &dataset->token_values[function->column];
    const bool is_hashed = job->vocabularies.growing == NULL && job->vocabularies.known == NULL;
    const size_t outside = function->before + function->after;
    md_value_column *column = &job->values->column[f];
    MD_CLEARED(md_text_clear) md_text scratch = {0};
    (void)worker;

    MD_OWNED(free) int32_t *number = md_calloc(texts->count, sizeof *number);
    column->at = md_alloc_aligned(dataset->rows, sizeof *column->at);
    column->before = md_calloc(function->before + 1, sizeof *column->before);
    column->after = md_calloc(function->after + 1, sizeof *column->after);
    if (is_hashed)
        column->hash = md_calloc(texts->count + outside, sizeof *column->hash);
    if (number == NULL || column->at == NULL || column->before == NULL || column->after == NULL ||
        (is_hashed && column->hash == NULL)) {
        job->failed[f] = true;
        return;
    }
    for (size_t i = 0; i < texts->count; i++)
        number[i] = number_text(job, f, texts->items[i], (int32_t)i, &scratch);
    number_outside(job, f, (int32_t)texts->count, &scratch);
    spread(job, f, number, texts->count);
    job->failed[f] |= scratch.failed;
}

medley_status md_values_make(md_values *values, const md_templates *templates,
                             const medley_dataset *dataset, md_vocabularies vocabularies,
                             size_t threads, medley_error *error)
{
    const size_t count = templates->function_count;
    MD_OWNED(free) bool *failed = NULL;
    *values = (md_values){.dataset = dataset, .count = count};
    MEDLEY_TRY(md_new(&values->column, count, sizeof *values->column, error));
    MEDLEY_TRY(md_new(&failed, count, sizeof *failed, error));
    value_job job = {values, templates, vocabularies, failed};
    md_parallel_for(threads, count, make_column, &job);
    if (memchr(failed, 1, count) != NULL)
        return md_fail_memory(error, count * dataset->rows * sizeof(int32_t));
    return MEDLEY_OK;
}

void md_values_clear(md_values *values)
{
    for (size_t f = 0; values->column != NULL && f < values->count; f++) {
        free(values->column[f].at);
        free(values->column[f].before);
        free(values->column[f].after);
        free(values->column[f].hash);
    }
    free(values->column);
    *values = (md_values){0};
}

typedef struct stretch {
    ptrdiff_t start, end; /* rows start .. end-1 */
} stretch;

/* The value at a place that may lie outside the sequence. */
static int32_t value_at(const md_value_column *column, ptrdiff_t place, stretch sequence)
{
    if (place < sequence.start)
        return column->before[sequence.start - place];
    return place < sequence.end ? column->at[place] : column->after[place - sequence.end + 1];
}

static ptrdiff_t nearest_in(ptrdiff_t x, ptrdiff_t low, ptrdiff_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* For rows of one sequence. */
static void fill_part(const md_value_column *column, const md_macro *macro, stretch sequence,
                      stretch rows, int32_t *out)
{
    if (macro->is_absolute) {
        const ptrdiff_t from = macro->row > 0 ? sequence.start - 1 : sequence.end;
        const int32_t value = value_at(column, from + macro->row, sequence);
        for (ptrdiff_t row = rows.start; row < rows.end; row++)
            *out++ = value;
        return;
    }
    const ptrdiff_t inside = nearest_in(sequence.start - macro->row, rows.start, rows.end);
    const ptrdiff_t outside = nearest_in(sequence.end - macro->row, inside, rows.end);
    for (ptrdiff_t row = rows.start; row < inside; row++)
        *out++ = value_at(column, row + macro->row, sequence);
    for (ptrdiff_t row = inside; row < outside; row++)
        *out++ = column->at[row + macro->row];
    for (ptrdiff_t row = outside; row < rows.end; row++)
        *out++ = value_at(column, row + macro->row, sequence);
}

void md_values_fill(const md_values *values, const md_macro *macro, size_t sequence, size_t first,
                    size_t count, int32_t out[MD_BATCH])
{
    const md_value_column *column = &values->column[macro->function];
    for (size_t done = 0; done < count; sequence++) {
        const stretch whole = {(ptrdiff_t)md_dataset_unit_start(values->dataset, sequence),
                               (ptrdiff_t)md_dataset_unit_start(values->dataset, sequence + 1)};
        const ptrdiff_t limit = (ptrdiff_t)(first + count);
        const stretch rows = {(ptrdiff_t)(first + done), whole.end < limit ? whole.end : limit};
        if (rows.end <= rows.start)
            continue; /* an empty sequence */
        fill_part(column, macro, whole, rows, out + done);
        done += (size_t)(rows.end - rows.start);
    }
}
