/* SPDX-License-Identifier: BSD-3-Clause */
/* letter.data, the handwritten words of Kassel and Taskar: tabs between, and after the last, of
 *     id, letter, next_id (-1 at the end of a word), word_id, position, fold, p_0_0 .. p_15_7
 * with 128 binary pixels. The label is the letter ("?": not known), a word is a sequence. */
#include "io/tokens.h"

#include <ctype.h>

enum { HEIGHT = 16, WIDTH = 8, PIXELS = HEIGHT * WIDTH, LEADING = 6, FIELDS = LEADING + PIXELS };
enum { ID, LETTER, NEXT_ID, WORD_ID, POSITION, FOLD };

typedef struct character {
    size_t id, next_id, word_id, position, fold;
    bool is_last; /* of its word */
    md_field letter;
} character;

typedef struct letter_reader {
    const md_input *input;
    md_lines lines;
    medley_dataset *dataset;
    size_t start_capacity;
    bool keeps_labels;
    md_label_builder *labels;
    character last; /* the line before this one */
} letter_reader;

/* Pixels stand at every second byte. Returns whether all of them are 0 or 1 and a tab or the line's
 * end follows each; written so that the compiler can use vectors. */
static bool read_pixels(float *pixels, const char *text, size_t length)
{
    unsigned wrong = 0;
    if (length < 2 * PIXELS - 1 || length > 2 * PIXELS)
        return false;
    for (size_t p = 0; p < PIXELS; p++) {
        const unsigned value = (unsigned char)text[2 * p] ^ (unsigned)'0';
        pixels[p] = (float)value;
        wrong |= value & ~1u;
    }
    for (size_t p = 0; p < PIXELS - 1; p++)
        wrong |= (unsigned char)text[2 * p + 1] ^ (unsigned)'\t';
    return wrong == 0 && (length < 2 * PIXELS || text[2 * PIXELS - 1] == '\t');
}

/* Says what is wrong with a line whose pixels could not be read. */
static medley_status fail_pixels(const letter_reader *reader, medley_error *error)
{
    md_field field[FIELDS];
    const md_lines *lines = &reader->lines;
    const char *end = lines->end[-1] == '\t' ? lines->end - 1 : lines->end;
    const size_t count = md_split_tabs(lines->start, end, field, FIELDS);
    if (count != FIELDS)
        return md_fail_at(error, MEDLEY_BAD_INPUT, reader->input->path, lines->number,
                          "%zu fields between tabs, expected %d: six and %d pixels", count, FIELDS,
                          PIXELS);
    size_t wrong = LEADING;
    while (wrong + 1 < FIELDS && field[wrong].length == 1 && (*field[wrong].text | 1) == '1')
        wrong++;
    return md_lines_fail(lines, "the pixel is", field[wrong], "0 or 1", error);
}

static medley_status read_leading(character *read, const md_field *field,
                                  const letter_reader *reader, medley_error *error)
{
    static const char number[] = "a whole number";
    const md_lines *lines = &reader->lines;
    const md_field next = field[NEXT_ID];
    *read = (character){.letter = field[LETTER], .is_last = md_field_is(next, "-1")};
    if (!md_field_number(field[ID], &read->id))
        return md_lines_fail(lines, "the id is", field[ID], number, error);
    if (field[LETTER].length == 0)
        return md_lines_fail(lines, "the letter is", field[LETTER], "a letter", error);
    if (!read->is_last && !md_field_number(next, &read->next_id))
        return md_lines_fail(lines, "the next_id is", next, "a whole number or -1", error);
    if (!md_field_number(field[WORD_ID], &read->word_id))
        return md_lines_fail(lines, "the word_id is", field[WORD_ID], number, error);
    if (!md_field_number(field[POSITION], &read->position))
        return md_lines_fail(lines, "the position is", field[POSITION], number, error);
    if (!md_field_number(field[FOLD], &read->fold))
        return md_lines_fail(lines, "the fold is", field[FOLD], number, error);
    return MEDLEY_OK;
}

/* Within a word each line must be the one that the line before announced. */
static medley_status check_succession(const letter_reader *reader, const character *read,
                                      medley_error *error)
{
    const character *last = &reader->last;
    const char *path = reader->input->path;
    const size_t line = reader->lines.number;
    if (last->is_last)
        return MEDLEY_OK;
    if (read->id != last->next_id)
        return md_fail_at(error, MEDLEY_BAD_INPUT, path, line,
                          "the id is %zu, expected %zu: the next_id of the line before", read->id,
                          last->next_id);
    if (read->word_id != last->word_id)
        return md_fail_at(error, MEDLEY_BAD_INPUT, path, line,
                          "the word_id is %zu, expected %zu: the word before has no end (next_id "
                          "-1)",
                          read->word_id, last->word_id);
    if (read->position != last->position + 1)
        return md_fail_at(error, MEDLEY_BAD_INPUT, path, line,
                          "the position is %zu, expected %zu as it follows %zu", read->position,
                          last->position + 1, last->position);
    return MEDLEY_OK;
}

static medley_status read_line(letter_reader *reader, float *pixels, medley_error *error)
{
    medley_dataset *dataset = reader->dataset;
    const md_lines *lines = &reader->lines;
    md_field field[LEADING] = {{0}};
    character read;
    const char *p = lines->start;
    for (size_t f = 0; f < LEADING; f++) {
        const char *tab = memchr(p, '\t', (size_t)(lines->end - p));
        if (tab == NULL)
            return fail_pixels(reader, error);
        field[f] = (md_field){p, (size_t)(tab - p)};
        p = tab + 1;
    }
    MEDLEY_TRY(read_leading(&read, field, reader, error));
    if (!read_pixels(pixels, p, (size_t)(lines->end - p)))
        return fail_pixels(reader, error);
    MEDLEY_TRY(check_succession(reader, &read, error));
    if (reader->keeps_labels)
        MEDLEY_TRY(md_labels_add(reader->labels,
                                 md_field_is(read.letter, "?") ? NULL : read.letter.text,
                                 read.letter.length, error));
    if (reader->last.is_last)
        MEDLEY_TRY(md_sequence_begin(dataset, &reader->start_capacity, error));
    dataset->fold[dataset->rows++] = (int32_t)read.fold;
    dataset->sequence_start[dataset->sequence_count] = dataset->rows;
    reader->last = read;
    return MEDLEY_OK;
}

/* Lines with something on them. */
static size_t count_rows(md_lines lines)
{
    size_t rows = 0;
    while (md_lines_next(&lines))
        rows += lines.start < lines.end;
    return rows;
}

static medley_status read_lines(letter_reader *reader, medley_error *error)
{
    medley_dataset *dataset = reader->dataset;
    const size_t rows = count_rows(reader->lines);
    md_table *table;
    MEDLEY_TRY(md_dataset_new_table(&table, dataset, "", reader->input->path, error));
    MEDLEY_TRY(md_new(&dataset->fold, rows, sizeof *dataset->fold, error));
    MEDLEY_TRY(md_matrix_init_dense(&table->features, rows, PIXELS, error));
    table->height = HEIGHT;
    table->width = WIDTH;
    while (md_lines_next(&reader->lines))
        if (reader->lines.start < reader->lines.end)
            MEDLEY_TRY(read_line(reader, table->features.dense + dataset->rows * PIXELS, error));
    if (!reader->last.is_last)
        return md_fail_at(error, MEDLEY_BAD_INPUT, reader->input->path, reader->lines.number,
                          "the file ends inside a word: letter %zu should follow",
                          reader->last.next_id);
    return MEDLEY_OK;
}

static medley_status read_letter(medley_dataset *dataset, const md_input *input,
                                 const medley_read_options *options, medley_error *error)
{
    MD_CLEARED(md_labels_clear) md_label_builder labels = {0};
    letter_reader reader = {
        .input = input, .dataset = dataset, .labels = &labels, .last = {.is_last = true}};
    const bool wants_none = md_label_is(options, "none");
    if (options->label != NULL && !wants_none)
        return md_fail_at(error, MEDLEY_USAGE, input->path, 0,
                          "label column '%s': in this format the label is always the letter; "
                          "leave it out or say none",
                          options->label);
    reader.keeps_labels = !wants_none && !options->ignore_labels;
    MEDLEY_TRY(md_lines_begin(&reader.lines, input, error));
    MEDLEY_TRY(read_lines(&reader, error));
    return reader.keeps_labels ? md_labels_finish(&labels, dataset, error) : MEDLEY_OK;
}

/* ---- writing ---- */

static medley_status check_writable(const medley_dataset *dataset, medley_error *error)
{
    MEDLEY_TRY(md_format_needs_one_table("letter", dataset, error));
    if (medley_dataset_columns(dataset) != PIXELS)
        return md_fail(error, MEDLEY_USAGE,
                       "the data have %zu columns and letter files have the %d pixels of %d x %d "
                       "images; use another format",
                       medley_dataset_columns(dataset), PIXELS, HEIGHT, WIDTH);
    for (size_t i = 0; i < dataset->label_names.count; i++) {
        const char *name = dataset->label_names.items[i];
        if (name[0] == '\0' || name[strcspn(name, "\t\r\n")] != '\0')
            return md_fail(error, MEDLEY_USAGE,
                           "the label '%.60s' cannot be written between tabs; use another format",
                           name);
    }
    return MEDLEY_OK;
}

static medley_status add_pixels(md_text *text, const medley_dataset *dataset, size_t row,
                                medley_error *error)
{
    float pixels[PIXELS];
    char line[2 * PIXELS + 1];
    medley_dataset_row(pixels, dataset, row);
    for (size_t p = 0; p < PIXELS; p++) {
        if (pixels[p] != 0 && pixels[p] != 1)
            return md_fail(error, MEDLEY_USAGE,
                           "pixel %zu of row %zu is %g and letter files have only 0 and 1; use "
                           "another format",
                           p + 1, row + 1, (double)pixels[p]);
        line[2 * p] = pixels[p] == 0 ? '0' : '1';
        line[2 * p + 1] = '\t';
    }
    line[2 * PIXELS] = '\n';
    md_text_add(text, line, sizeof line);
    return MEDLEY_OK;
}

/* Rows that stand alone are words of one letter. */
static medley_status write_letter(md_output *output, const medley_dataset *dataset,
                                  medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    const size_t words = md_dataset_units(dataset);
    MEDLEY_TRY(check_writable(dataset, error));
    for (size_t word = 0; word < words; word++) {
        const size_t first = md_dataset_unit_start(dataset, word);
        const size_t last = md_dataset_unit_start(dataset, word + 1);
        for (size_t row = first; row < last; row++) {
            const int32_t label = medley_dataset_label(dataset, row);
            md_text_addf(&text, "%zu\t%s\t", row + 1,
                         label >= 0 ? dataset->label_names.items[label] : "?");
            if (row + 1 < last)
                md_text_addf(&text, "%zu", row + 2);
            else
                md_text_addf(&text, "-1");
            md_text_addf(&text, "\t%zu\t%zu\t%d\t", word + 1, row - first + 1,
                         dataset->fold ? (int)dataset->fold[row] : 0);
            MEDLEY_TRY(add_pixels(&text, dataset, row, error));
        }
        MEDLEY_TRY(md_output_text(output, &text, true, error));
    }
    return MEDLEY_OK;
}

static bool sniff(const char *head, size_t length)
{
    md_lines lines;
    md_field field[LEADING];
    size_t id;
    return md_lines_begin_head(&lines, head, length) && md_lines_next(&lines) &&
           md_split_tabs(lines.start, lines.end, field, LEADING) >= FIELDS &&
           md_field_number(field[ID], &id) && field[LETTER].length == 1 &&
           isalpha((unsigned char)*field[LETTER].text);
}

const md_format md_format_letter = {
    .name = "letter",
    .summary = "letter.data, handwritten words as 16x8 images of their letters",
    .extensions = (const char *const[]){NULL},
    .sniff = sniff,
    .read = read_letter,
    .write = write_letter,
};
