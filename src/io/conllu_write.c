/* SPDX-License-Identifier: BSD-3-Clause */
/* CoNLL-U as it was read, with predictions in their places: labels in the label's column, or trees
 * in HEAD and DEPREL. Everything else comes back byte for byte, but for line ends, which are
 * newlines, and a missing blank line after the last sentence. */
#include "io/conllu.h"

#include <inttypes.h>

enum { COLUMNS = MD_CONLLU_COLUMNS, HEAD_BYTES = 16 };

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

/* MISC without what an earlier prediction has put there, and with the probabilities of this one:
 * SpaceAfter=No|HeadProb=0.98|RelProb=0.9. */
static void add_tree_misc(md_text *text, const char *own, const md_predicted *predicted, size_t row)
{
    static const char *const names[] = {"HeadProb", "RelProb"};
    const float *const numbers[] = {predicted->head_probability, predicted->label_probability};
    const char *sign = "";
    while (*own != '\0') {
        const size_t length = strcspn(own, "|");
        const bool dropped = (length == 1 && *own == '_') || strncmp(own, "HeadProb=", 9) == 0 ||
                             strncmp(own, "RelProb=", 8) == 0;
        if (!dropped) {
            md_text_add(text, sign, strlen(sign));
            md_text_add(text, own, length);
            sign = "|";
        }
        own += length + (own[length] == '|');
    }
    for (size_t i = 0; i < 2; i++) {
        if (numbers[i] == NULL)
            continue;
        md_text_addf(text, "%s%s=%.6g", sign, names[i], (double)numbers[i][row]);
        sign = "|";
    }
}

static medley_status add_word(md_text *text, const medley_dataset *dataset, size_t row,
                              const md_predicted *predicted, medley_error *error)
{
    const char *label = predicted->labels != NULL ? predicted->labels[row] : NULL;
    MEDLEY_TRY(check_label(label, error));
    /* with heads, labels are relations */
    const size_t label_column = predicted->head != NULL ? MD_CONLLU_DEPREL : dataset->label_column;
    char head[HEAD_BYTES] = "_";
    if (predicted->head != NULL && predicted->head[row] >= 0)
        snprintf(head, sizeof head, "%" PRId32, predicted->head[row]);
    for (size_t c = 0; c < COLUMNS; c++) {
        const char *field = medley_dataset_word(dataset, row, c);
        if (label != NULL && c == label_column)
            field = label;
        else if (predicted->head != NULL && c == MD_CONLLU_HEAD)
            field = head;
        if (c == MD_CONLLU_MISC && predicted->head_probability != NULL)
            add_tree_misc(text, field, predicted, row);
        else if (c == MD_CONLLU_MISC && predicted->score != NULL)
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

medley_status md_conllu_write_labelled(md_output *output, const medley_dataset *dataset,
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

medley_status md_conllu_write(md_output *output, const medley_dataset *dataset, medley_error *error)
{
    const md_predicted nothing = {0};
    return md_conllu_write_labelled(output, dataset, &nothing, error);
}

/* ---- several trees of a sentence ---- */

/* The lines kept between two sentences, verbatim[from .. to-1]: those that belong to the sentence
 * before, a blank one (which need not be there where there are none of these), others up to the
 * last blank one, comments of the sentence behind, and what stands before its first word. */
struct between {
    size_t from, tail, others, comments, rest, to; /* where each of them begins, and the end */
};

static struct between find_between(const medley_dataset *dataset, size_t from, size_t row)
{
    const md_verbatim *lines = dataset->verbatim;
    struct between b = {.from = from, .tail = from, .others = from, .comments = from, .to = from};
    for (; b.to < dataset->verbatim_count && lines[b.to].row <= row; b.to++) {
        if (lines[b.to].text[0] != '\0')
            continue;
        if (b.comments == from && row > 0) { /* the first one, which is written in any case */
            b.tail = b.to;
            b.others = b.to + 1;
        }
        b.comments = b.to + 1;
    }
    b.rest = b.comments;
    while (b.rest < b.to && lines[b.rest].text[0] == '#')
        b.rest++;
    return b;
}

static void add_lines(md_text *text, const medley_dataset *dataset, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        md_text_addf(text, "%s\n", dataset->verbatim[i].text);
}

/* A sentence with one of its trees, between what is kept before and behind it. */
static medley_status add_ranked(md_text *text, const medley_dataset *dataset,
                                const md_ranking *ranking, size_t s, size_t k,
                                const struct between sides[2], medley_error *error)
{
    const size_t number = s * ranking->count + k;
    size_t next = sides[0].to;
    add_lines(text, dataset, sides[0].comments, sides[0].rest);
    md_text_addf(text, "# tree = %zu\n# score = %.6g\n", k + 1, ranking->score[number]);
    if (ranking->probability != NULL)
        md_text_addf(text, "# probability = %.6g\n", ranking->probability[number]);
    add_lines(text, dataset, sides[0].rest, sides[0].to);
    for (size_t row = dataset->sequence_start[s]; row < dataset->sequence_start[s + 1]; row++) {
        if (row > dataset->sequence_start[s])
            add_verbatim(text, dataset, row, &next, false);
        MEDLEY_TRY(add_word(text, dataset, row, &ranking->outputs[k], error));
    }
    add_lines(text, dataset, sides[1].from, sides[1].tail);
    md_text_add(text, "\n", 1);
    return MEDLEY_OK;
}

medley_status md_conllu_write_ranking(md_output *output, const medley_dataset *dataset,
                                      const md_ranking *ranking, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    struct between sides[2] = {find_between(dataset, 0, 0)};
    for (size_t k = 0; k < ranking->count; k++)
        MEDLEY_TRY(check_writable(dataset, &ranking->outputs[k], error));
    for (size_t s = 0; s < dataset->sequence_count; s++) {
        const size_t end = dataset->sequence_start[s + 1];
        size_t next = sides[0].to;
        while (next < dataset->verbatim_count && dataset->verbatim[next].row < end)
            next++;
        sides[1] = find_between(dataset, next, end);
        add_lines(&text, dataset, sides[0].others, sides[0].comments);
        for (size_t k = 0; k < ranking->count && !isnan(ranking->score[s * ranking->count + k]);
             k++)
            MEDLEY_TRY(add_ranked(&text, dataset, ranking, s, k, sides, error));
        sides[0] = sides[1];
        MEDLEY_TRY(md_output_text(output, &text, false, error));
    }
    add_lines(&text, dataset, sides[0].others, sides[0].to);
    return md_output_text(output, &text, true, error);
}
