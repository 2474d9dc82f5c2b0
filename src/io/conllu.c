/* SPDX-License-Identifier: BSD-3-Clause */
/* CoNLL-U (universaldependencies.org/format.html): ten columns between tabs, one word a line, a
 * blank line after each sentence. All ten columns become token columns, and the lines that are no
 * words (comments, multiword tokens, empty nodes) are kept beside them, so that what is written is
 * what was read. The label is the UPOS column unless another is chosen; `_` is no label. HEAD must
 * name a word of the sentence, 0 or nothing; whether the heads form a tree is checked where one is
 * needed (data/trees.c). */
#include "io/tokens.h"

#include <inttypes.h>

enum { ID = 0, UPOS = 3, HEAD = 6, DEPREL = 7, MISC = 9, COLUMNS = 10, HEAD_BYTES = 16 };

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
    const char *label = options->label != NULL ? options->label : NAMES[UPOS];
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
    const md_field id = reader->field[ID];
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
    const md_field head = reader->field[HEAD];
    const md_field label = reader->field[reader->label < COLUMNS ? reader->label : ID];
    size_t id = 0;
    size_t governor = 0;
    if (!md_field_number(reader->field[ID], &id))
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
    dataset->label_column = has_labels ? reader.label : UPOS;
    return has_labels ? md_labels_finish(&labels, dataset, error) : MEDLEY_OK;
}

/* ---- writing ----
 *
 * As it was read, with predictions in their places: labels in the label's column, or trees in HEAD
 * and DEPREL. Everything else comes back byte for byte, but for line ends, which are newlines, and
 * a missing blank line after the last sentence. */

/* The lines kept for a row from *next on. A boundary between sentences needs a blank line unless
 * there is one among those kept. */
static void add_verbatim(md_text *text, const medley_dataset *dataset, size_t row, size_t *next,
                         bool is_boundary)
{
    size_t last = *next;
    bool has_blank = false;
    for (; last < dataset->verbatim_count && dataset->verbatim[last].row <= row; last++)
        has_blank = has_blank || dataset->verbatim[last].text[0] == '\0';
    if (is_boundary && !has_blank)
        md_text_add(text, "\n", 1);
    for (; *next < last; (*next)++) {
        const char *line = dataset->verbatim[*next].text;
        md_text_add(text, line, strlen(line));
        md_text_add(text, "\n", 1);
    }
}

static medley_status check_label(const char *label, medley_error *error)
{
    if (label == NULL || (label[0] != '\0' && label[strcspn(label, "\t\r\n")] == '\0'))
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_BAD_INPUT,
                   "the label '%.60s' cannot be written between tabs: it is empty or has tabs "
                   "in it; use another format",
                   label);
}

/* A label as part of MISC, where a bar ends an attribute: as \p, which treebanks write for it. */
static void add_escaped(md_text *text, const char *label)
{
    for (; *label != '\0'; label++) {
        if (*label == '|')
            md_text_add(text, "\\p", 2);
        else if (*label == ' ')
            md_text_add(text, "\\s", 2);
        else if (*label == '\\')
            md_text_add(text, "\\\\", 2);
        else
            md_text_add(text, label, 1);
    }
}

/* MISC with the numbers of all labels: SpaceAfter=No|Proba[NOUN]=0.98|Proba[VERB]=0.02. */
static void add_misc(md_text *text, const char *own, const md_predicted *predicted, size_t row)
{
    const size_t count = predicted->names->count;
    bool first = strcmp(own, "_") == 0;
    if (!first)
        md_text_add(text, own, strlen(own));
    for (size_t l = 0; l < count; l++, first = false) {
        md_text_addf(text, "%s%s[", first ? "" : "|", predicted->probabilities ? "Proba" : "Score");
        add_escaped(text, predicted->names->items[l]);
        md_text_addf(text, "]=%.6g", (double)predicted->score[row * count + l]);
    }
}

static medley_status add_word(md_text *text, const medley_dataset *dataset, size_t row,
                              const md_predicted *predicted, medley_error *error)
{
    const char *label = predicted->labels != NULL ? predicted->labels[row] : NULL;
    MEDLEY_TRY(check_label(label, error));
    /* with heads, labels are relations */
    const size_t label_column = predicted->head != NULL ? DEPREL : dataset->label_column;
    char head[HEAD_BYTES] = "_";
    if (predicted->head != NULL && predicted->head[row] >= 0)
        snprintf(head, sizeof head, "%" PRId32, predicted->head[row]);
    for (size_t c = 0; c < COLUMNS; c++) {
        const char *field = medley_dataset_word(dataset, row, c);
        if (label != NULL && c == label_column)
            field = label;
        else if (predicted->head != NULL && c == HEAD)
            field = head;
        if (c == MISC && predicted->score != NULL)
            add_misc(text, field, predicted, row);
        else
            md_text_add(text, field, strlen(field));
        md_text_add(text, c + 1 < COLUMNS ? "\t" : "\n", 1);
    }
    return MEDLEY_OK;
}

static medley_status check_heads(const medley_dataset *dataset, const int32_t *head,
                                 medley_error *error)
{
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        const size_t first = dataset->sequence_start[s];
        const size_t length = dataset->sequence_start[s + 1] - first;
        for (size_t i = 0; i < length; i++)
            if (head[first + i] < -1 || (head[first + i] >= 0 && (size_t)head[first + i] > length))
                return md_fail(error, MEDLEY_BAD_INPUT,
                               "the head of row %zu is %" PRId32 " but its sentence has %zu words; "
                               "one of them, 0 or -1 is expected",
                               first + i + 1, head[first + i], length);
    }
    return MEDLEY_OK;
}

static medley_status check_writable(const medley_dataset *dataset, const md_predicted *predicted,
                                    medley_error *error)
{
    if (dataset->token_columns != COLUMNS)
        return md_fail(error, MEDLEY_USAGE,
                       "the data have %zu columns of text and CoNLL-U has %d; use another format",
                       dataset->token_columns, COLUMNS);
    for (size_t l = 0; predicted->score != NULL && l < predicted->names->count; l++)
        MEDLEY_TRY(check_label(predicted->names->items[l], error));
    return predicted->head != NULL ? check_heads(dataset, predicted->head, error) : MEDLEY_OK;
}

static medley_status write_labelled(md_output *output, const medley_dataset *dataset,
                                    const md_predicted *predicted, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    size_t verbatim = 0;
    size_t sequence = 0;
    MEDLEY_TRY(check_writable(dataset, predicted, error));
    for (size_t row = 0; row <= dataset->rows; row++) {
        const bool is_start =
            sequence < dataset->sequence_count && dataset->sequence_start[sequence] == row;
        sequence += is_start;
        add_verbatim(&text, dataset, row, &verbatim, row > 0 && (is_start || row == dataset->rows));
        if (row < dataset->rows)
            MEDLEY_TRY(add_word(&text, dataset, row, predicted, error));
        MEDLEY_TRY(md_output_text(output, &text, row == dataset->rows, error));
    }
    return MEDLEY_OK;
}

static medley_status write_conllu(md_output *output, const medley_dataset *dataset,
                                  medley_error *error)
{
    const md_predicted nothing = {0};
    return write_labelled(output, dataset, &nothing, error);
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
               field[ID].length > 0 && *field[ID].text >= '0' && *field[ID].text <= '9';
    }
    return false;
}

const md_format md_format_conllu = {
    .name = "conllu",
    .summary = "CoNLL-U treebanks: ten columns between tabs, the label is UPOS",
    .extensions = (const char *const[]){".conllu", NULL},
    .sniff = sniff,
    .read = read_conllu,
    .write = write_conllu,
    .write_labelled = write_labelled,
    .holds_trees = true,
};
