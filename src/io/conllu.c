/* SPDX-License-Identifier: BSD-3-Clause */
/* CoNLL-U (universaldependencies.org/format.html): ten columns between tabs, one word a line, a
 * blank line after each sentence. All ten columns become token columns, and the lines that are no
 * words (comments, multiword tokens, empty nodes) are kept beside them, so that what is written is
 * what was read. The label is the UPOS column unless another is chosen; `_` is no label. HEAD must
 * name a word of the sentence, 0 or nothing; whether the heads form a tree is checked where one is
 * needed (data/trees.c). */
#include "io/conllu.h"
#include "io/tokens.h"

enum { COLUMNS = MD_CONLLU_COLUMNS };

static char *const NAMES[COLUMNS] = {"ID",    "FORM", "LEMMA",  "UPOS", "XPOS",
                                     "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"};

/* The farthest word that a line of the current sentence refers to, checked when its length is
 * known. */
typedef struct reference {
    size_t word, line;
} reference;

typedef struct conllu_reader {
    const md_input *input;
    md_lines lines;
    md_field field[COLUMNS]; /* of the current line */
    medley_dataset *dataset;
    md_token_builder tokens;
    md_label_builder *labels;
    size_t label; /* COLUMNS: none */
    size_t words; /* of the current sentence, so far */
    reference head, range;
    size_t head_capacity, line_capacity;
    size_t boundary; /* number of verbatim lines when the last word was read */
} conllu_reader;

static medley_status choose_label(conllu_reader *reader, const medley_read_options *options,
                                  medley_error *error)
{
    const char *label = options->label != NULL ? options->label : NAMES[MD_CONLLU_UPOS];
    reader->label = COLUMNS;
    if (md_label_is(options, "none"))
        return MEDLEY_OK;
    if (md_label_is(options, "last"))
        label = NAMES[COLUMNS - 1];
    reader->label = md_column_find(label, strlen(label), COLUMNS, NAMES);
    if (reader->label == COLUMNS)
        return md_fail(error, MEDLEY_USAGE,
                       "there is no column '%s' to take the label from; choose ID, FORM, LEMMA, "
                       "UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC or none",
                       label);
    return MEDLEY_OK;
}

static medley_status keep_verbatim(conllu_reader *reader, medley_error *error)
{
    return md_dataset_add_verbatim(reader->dataset, reader->dataset->rows, reader->lines.start,
                                   (size_t)(reader->lines.end - reader->lines.start), error);
}

static bool is_empty_line(const md_verbatim *verbatim)
{
    return verbatim->text[0] == '\0';
}

/* Between two sentences: where the blank line comes first and is the only one, it need not be kept,
 * as the writer puts one there anyway. */
static void drop_usual_blank_line(conllu_reader *reader)
{
    medley_dataset *dataset = reader->dataset;
    const size_t count = dataset->verbatim_count - reader->boundary;
    if (dataset->rows == 0 || count == 0)
        return;
    md_verbatim *first = dataset->verbatim + reader->boundary;
    if (!is_empty_line(first))
        return;
    for (size_t i = 1; i < count; i++)
        if (is_empty_line(&first[i]))
            return;
    free(first->text);
    memmove(first, first + 1, (count - 1) * sizeof *first);
    dataset->verbatim_count--;
}

/* Lines after the last word belong to its sentence where no blank line came in between: without
 * the one that is missing they would be written after its end. */
static medley_status add_missing_blank_line(conllu_reader *reader, medley_error *error)
{
    if (reader->words == 0 || reader->boundary == reader->dataset->verbatim_count)
        return MEDLEY_OK;
    return md_dataset_add_verbatim(reader->dataset, reader->dataset->rows, "", 0, error);
}

/* A multiword token a-b or an empty node a.b: both parts, and the sign between. */
static bool split_id(md_field id, size_t *first, size_t *second, char *sign)
{
    const size_t digits = strspn(id.text, "0123456789"); /* a tab or line end stops it */
    if (digits >= id.length)
        return false;
    *sign = id.text[digits];
    return (*sign == '-' || *sign == '.') && md_field_number((md_field){id.text, digits}, first) &&
           md_field_number((md_field){id.text + digits + 1, id.length - digits - 1}, second);
}

static medley_status read_no_word(conllu_reader *reader, medley_error *error)
{
    const md_field id = reader->field[MD_CONLLU_ID];
    size_t first;
    size_t second;
    char sign;
    if (!split_id(id, &first, &second, &sign))
        return md_lines_fail(&reader->lines, "the ID is", id,
                             "a whole number, a range such as 1-2 or an empty node such as 1.1",
                             error);
    if (sign == '-' && (first != reader->words + 1 || second < first))
        return md_lines_fail(&reader->lines, "the multiword token is", id,
                             "a range that starts with the next word", error);
    if (sign == '.' && first != reader->words)
        return md_lines_fail(&reader->lines, "the empty node is", id,
                             "the number of the word before it and a count", error);
    if (sign == '-' && second > reader->range.word)
        reader->range = (reference){second, reader->lines.number};
    return keep_verbatim(reader, error);
}

/* governor -1: not given. The row is the next one. */
static medley_status add_head(conllu_reader *reader, int32_t governor, medley_error *error)
{
    medley_dataset *dataset = reader->dataset;
    const size_t row = dataset->rows;
    const size_t line = reader->lines.number;
    MEDLEY_TRY(md_grow(&dataset->head, &reader->head_capacity, row + 1, sizeof(int32_t), error));
    MEDLEY_TRY(md_grow(&dataset->line, &reader->line_capacity, row + 1, sizeof(uint32_t), error));
    dataset->head[row] = governor;
    dataset->line[row] = line <= UINT32_MAX ? (uint32_t)line : 0;
    return MEDLEY_OK;
}

static medley_status read_word(conllu_reader *reader, medley_error *error)
{
    const md_field head = reader->field[MD_CONLLU_HEAD];
    const md_field label = reader->field[reader->label < COLUMNS ? reader->label : MD_CONLLU_ID];
    size_t id = 0;
    size_t governor = 0;
    if (!md_field_number(reader->field[MD_CONLLU_ID], &id))
        return read_no_word(reader, error);
    if (id != reader->words + 1)
        return md_fail_at(error, MEDLEY_BAD_INPUT, reader->input->path, reader->lines.number,
                          "the ID is %zu, expected %zu: words count from 1 in each sentence, and a "
                          "blank line ends it",
                          id, reader->words + 1);
    const bool is_given = !md_field_is(head, "_");
    if (is_given && !md_field_number(head, &governor))
        return md_lines_fail(&reader->lines, "the HEAD is", head, "the number of a word, 0 or _",
                             error);
    if (governor > reader->head.word)
        reader->head = (reference){governor, reader->lines.number};
    if (reader->words == 0)
        drop_usual_blank_line(reader);
    reader->words = id;
    MEDLEY_TRY(add_head(reader, is_given ? (int32_t)governor : -1, error));
    MEDLEY_TRY(md_tokens_add_row(&reader->tokens, reader->field, error));
    if (reader->label < COLUMNS)
        MEDLEY_TRY(md_labels_add(reader->labels, md_field_is(label, "_") ? NULL : label.text,
                                 label.length, error));
    reader->boundary = reader->dataset->verbatim_count;
    return MEDLEY_OK;
}

static medley_status read_fields(conllu_reader *reader, medley_error *error)
{
    const size_t count =
        md_split_tabs(reader->lines.start, reader->lines.end, reader->field, COLUMNS);
    if (count != COLUMNS)
        return md_fail_at(error, MEDLEY_BAD_INPUT, reader->input->path, reader->lines.number,
                          "%zu columns between tabs, expected %d", count, COLUMNS);
    for (size_t c = 0; c < COLUMNS; c++)
        if (reader->field[c].length == 0)
            return md_fail_at(error, MEDLEY_BAD_INPUT, reader->input->path, reader->lines.number,
                              "the column %s is empty; write _ for what is not known", NAMES[c]);
    return read_word(reader, error);
}

static medley_status end_sentence(conllu_reader *reader, medley_error *error)
{
    const size_t words = reader->words;
    if (reader->head.word > words)
        return md_fail_at(error, MEDLEY_BAD_INPUT, reader->input->path, reader->head.line,
                          "the HEAD is %zu but the sentence has %zu words", reader->head.word,
                          words);
    if (reader->range.word > words)
        return md_fail_at(error, MEDLEY_BAD_INPUT, reader->input->path, reader->range.line,
                          "the multiword token reaches word %zu but the sentence has %zu words",
                          reader->range.word, words);
    reader->tokens.is_in_sequence = false;
    reader->words = 0;
    reader->head = reader->range = (reference){0};
    return MEDLEY_OK;
}

static medley_status read_line(conllu_reader *reader, medley_error *error)
{
    const md_lines *lines = &reader->lines;
    const bool is_blank = lines->start == lines->end;
    if (is_blank)
        MEDLEY_TRY(end_sentence(reader, error));
    return is_blank || *lines->start == '#' ? keep_verbatim(reader, error)
                                            : read_fields(reader, error);
}

static medley_status read_conllu(medley_dataset *dataset, const md_input *input,
                                 const medley_read_options *options, medley_error *error)
{
    MD_CLEARED(md_labels_clear) md_label_builder labels = {0};
    conllu_reader reader = {.input = input, .dataset = dataset, .labels = &labels};
    MEDLEY_TRY(choose_label(&reader, options, error));
    MEDLEY_TRY(md_lines_begin(&reader.lines, input, error));
    MEDLEY_TRY(md_tokens_begin(&reader.tokens, dataset, COLUMNS, error));
    while (md_lines_next(&reader.lines))
        MEDLEY_TRY(read_line(&reader, error));
    MEDLEY_TRY(add_missing_blank_line(&reader, error));
    MEDLEY_TRY(end_sentence(&reader, error));
    drop_usual_blank_line(&reader);
    md_tokens_finish(&reader.tokens);
    MEDLEY_TRY(md_tokens_refuse_choice(dataset, options, error));
    const bool has_labels = reader.label < COLUMNS;
    dataset->label_column = has_labels ? reader.label : MD_CONLLU_UPOS;
    return has_labels ? md_labels_finish(&labels, dataset, error) : MEDLEY_OK;
}

/* The first line that is neither a comment nor blank has ten columns and starts with a number. */
static bool sniff(const char *head, size_t length)
{
    md_lines lines;
    md_field field[COLUMNS];
    if (!md_lines_begin_head(&lines, head, length))
        return false;
    while (md_lines_next(&lines)) {
        if (lines.start == lines.end || *lines.start == '#')
            continue;
        return md_split_tabs(lines.start, lines.end, field, COLUMNS) == COLUMNS &&
               field[MD_CONLLU_ID].length > 0 && *field[MD_CONLLU_ID].text >= '0' &&
               *field[MD_CONLLU_ID].text <= '9';
    }
    return false;
}

const md_format md_format_conllu = {
    .name = "conllu",
    .summary = "CoNLL-U treebanks: ten columns between tabs, the label is UPOS",
    .extensions = (const char *const[]){".conllu", NULL},
    .sniff = sniff,
    .read = read_conllu,
    .write = md_conllu_write,
    .write_labelled = md_conllu_write_labelled,
    .holds_trees = true,
    .write_ranking = md_conllu_write_ranking,
};
