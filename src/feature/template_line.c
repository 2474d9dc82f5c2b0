/* SPDX-License-Identifier: BSD-3-Clause */
/* One line of a template file. Equal macros, and equal functions of a column's text, are numbered
 * once for all lines. */
#include "feature/templates.h"

typedef struct line_parser {
    md_templates *templates;
    const char *start, *at, *end;
    size_t line;
    medley_error *error;
} line_parser;

/* A macro while it is read. */
typedef struct macro_parts {
    char kind;
    bool folds_case, is_absolute;
    long row, column;
    const char *pattern; /* NULL: none */
    size_t pattern_length;
} macro_parts;

static medley_status fail_macro(const line_parser *parser, const char *macro, const char *problem)
{
    char shown[MD_SHOWN_MOST + 1];
    return md_fail_at(parser->error, MEDLEY_BAD_INPUT, parser->templates->source, parser->line,
                      "in '%s': %s", md_template_show(shown, macro, (size_t)(parser->end - macro)),
                      problem);
}

static void skip_blanks(line_parser *parser)
{
    while (parser->at < parser->end && (*parser->at == ' ' || *parser->at == '\t'))
        parser->at++;
}

/* Passes over c and blanks around it. */
static bool accept(line_parser *parser, char c)
{
    skip_blanks(parser);
    if (parser->at == parser->end || *parser->at != c)
        return false;
    parser->at++;
    skip_blanks(parser);
    return true;
}

/* Digits, and one more than any limit for a number of too many. */
static bool read_digits(line_parser *parser, long *number)
{
    const char *first = parser->at;
    for (*number = 0; parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9';
         parser->at++)
        if (*number <= MD_COLUMN_LARGEST)
            *number = *number * 10 + (*parser->at - '0');
    return parser->at > first;
}

static medley_status read_row(line_parser *parser, macro_parts *parts, const char *macro)
{
    parts->is_absolute = accept(parser, '@');
    const bool is_negative = parser->at < parser->end && *parser->at == '-';
    if (parser->at < parser->end && (*parser->at == '-' || *parser->at == '+'))
        parser->at++;
    if (!read_digits(parser, &parts->row))
        return fail_macro(parser, macro,
                          "expected a row number such as -1, 0, +2 or @1 behind the bracket");
    if (parts->row > MD_ROW_FARTHEST)
        return fail_macro(parser, macro, "the row is farther away than 1000; use a nearer one");
    if (parts->is_absolute && parts->row == 0)
        return fail_macro(parser, macro,
                          "there is no row @0; @1 is the first of a sequence and @-1 the last");
    parts->row = is_negative ? -parts->row : parts->row;
    return MEDLEY_OK;
}

/* From the opening quote to the closing one; \" does not close. */
static medley_status read_pattern(line_parser *parser, macro_parts *parts, const char *macro)
{
    if (parser->at == parser->end || *parser->at != '"')
        return fail_macro(parser, macro, "expected a pattern in double quotes behind the comma");
    const char *from = ++parser->at;
    while (parser->at < parser->end && *parser->at != '"')
        parser->at += *parser->at == '\\' && parser->at + 1 < parser->end ? 2 : 1;
    if (parser->at == parser->end)
        return fail_macro(parser, macro, "the pattern has no closing quote");
    parts->pattern = from;
    parts->pattern_length = (size_t)(parser->at++ - from);
    return MEDLEY_OK;
}

/* From the letter after % up to the closing bracket. */
static medley_status read_macro(line_parser *parser, macro_parts *parts)
{
    const char *macro = parser->at++;
    const char letter = (char)(parser->at < parser->end ? *parser->at++ : '\0');
    *parts = (macro_parts){.folds_case = letter == 'X' || letter == 'T' || letter == 'M',
                           .kind = (char)(letter | ('a' ^ 'A'))};
    if (parts->kind != 'x' && parts->kind != 't' && parts->kind != 'm')
        return fail_macro(parser, macro,
                          "unknown macro; expected %x[row,column], %t[row,column,\"pattern\"] or "
                          "%m[row,column,\"pattern\"]");
    if (!accept(parser, '['))
        return fail_macro(parser, macro, "expected a [ behind the macro's letter");
    MEDLEY_TRY(read_row(parser, parts, macro));
    if (!accept(parser, ','))
        return fail_macro(parser, macro, "expected a comma and a column number behind the row");
    if (!read_digits(parser, &parts->column))
        return fail_macro(parser, macro, "expected a column number such as 0 behind the comma");
    if (parts->column > MD_COLUMN_LARGEST)
        return fail_macro(parser, macro,
                          "the column number is larger than 9999; columns are "
                          "numbered from 0");
    if (accept(parser, ',')) {
        if (parts->kind == 'x')
            return fail_macro(parser, macro, "%x takes no pattern; use %t to test or %m to match");
        MEDLEY_TRY(read_pattern(parser, parts, macro));
    } else if (parts->kind != 'x') {
        return fail_macro(parser, macro,
                          "the pattern is missing; write %t[row,column,\"pattern\"]");
    }
    if (!accept(parser, ']'))
        return fail_macro(parser, macro, "expected a closing ] here or earlier");
    while (parser->at[-1] != ']') /* blanks after it belong to the line */
        parser->at--;
    return MEDLEY_OK;
}

static medley_status add_function(line_parser *parser, const macro_parts *parts, size_t place,
                                  size_t *id)
{
    md_templates *templates = parser->templates;
    MD_CLEARED(md_text_clear) md_text key = {0};
    int32_t number = 0;
    md_text_addf(&key, "%c%d[%ld,%.*s]", parts->kind, parts->folds_case, parts->column,
                 (int)parts->pattern_length, parts->pattern != NULL ? parts->pattern : "");
    const size_t known = templates->function_count;
    MEDLEY_TRY(md_text_check(&key, parser->error));
    MEDLEY_TRY(
        md_strings_put(&templates->function_keys, key.data, key.length, &number, parser->error));
    MEDLEY_TRY(md_grow(&templates->functions, &templates->function_capacity, known + 1,
                       sizeof *templates->functions, parser->error));
    *id = (size_t)number;
    if (*id < known)
        return MEDLEY_OK;
    md_pattern *pattern = NULL;
    if (parts->pattern != NULL)
        MEDLEY_TRY(md_new(&pattern, 1, sizeof *pattern, parser->error));
    templates->functions[templates->function_count++] =
        (md_function){.kind = parts->kind,
                      .folds_case = parts->folds_case,
                      .column = (size_t)parts->column,
                      .pattern = pattern,
                      .block = templates->block_count - 1,
                      .place = place};
    const char *wrong =
        pattern ? md_pattern_compile(pattern, parts->pattern, parts->pattern_length) : NULL;
    char shown[MD_SHOWN_MOST + 1];
    if (wrong != NULL)
        return md_fail_at(parser->error, MEDLEY_BAD_INPUT, templates->source, parser->line,
                          "the pattern \"%s\" %s",
                          md_template_show(shown, parts->pattern, parts->pattern_length), wrong);
    return MEDLEY_OK;
}

/* An absolute row n of a short sequence lies up to n - 1 rows outside it. */
static void note_reach(md_function *function, const macro_parts *parts)
{
    const size_t distance = (size_t)labs(parts->row) - parts->is_absolute;
    size_t *farthest = parts->row < 0 ? &function->before : &function->after;
    *farthest = distance > *farthest ? distance : *farthest;
}

static medley_status add_macro(line_parser *parser, const macro_parts *parts, size_t place,
                               size_t *id)
{
    md_templates *templates = parser->templates;
    size_t function = 0;
    MEDLEY_TRY(add_function(parser, parts, place, &function));
    MD_CLEARED(md_text_clear) md_text key = {0};
    int32_t number = 0;
    md_text_addf(&key, "%s%ld:%zu", parts->is_absolute ? "@" : "", parts->row, function);
    const size_t known = templates->macro_count;
    MEDLEY_TRY(md_text_check(&key, parser->error));
    MEDLEY_TRY(
        md_strings_put(&templates->macro_keys, key.data, key.length, &number, parser->error));
    MEDLEY_TRY(md_grow(&templates->macros, &templates->macro_capacity, known + 1,
                       sizeof *templates->macros, parser->error));
    *id = (size_t)number;
    if (*id == known) {
        templates->macros[templates->macro_count++] =
            (md_macro){.function = function, .row = parts->row, .is_absolute = parts->is_absolute};
        note_reach(&templates->functions[function], parts);
    }
    return MEDLEY_OK;
}

/* One block whose name is the parser's line; letter replaces its first one. */
static medley_status add_block(line_parser *parser, char letter)
{
    md_templates *templates = parser->templates;
    MEDLEY_TRY(md_grow(&templates->blocks, &templates->block_capacity, templates->block_count + 1,
                       sizeof *templates->blocks, parser->error));
    const size_t length = (size_t)(parser->end - parser->start);
    md_template *block = &templates->blocks[templates->block_count++];
    *block = (md_template){.line = parser->line, .is_pair = letter == 'B' || letter == 'b'};
    MEDLEY_TRY(md_new_text(&block->name, parser->start, length, parser->error));
    MEDLEY_TRY(md_new(&block->macro, MD_MACROS_MOST, sizeof *block->macro, parser->error));
    MEDLEY_TRY(md_new(&block->span, MD_MACROS_MOST, sizeof *block->span, parser->error));
    block->name[0] = letter;
    parser->at = parser->start + 1;
    while ((parser->at = memchr(parser->at, '%', (size_t)(parser->end - parser->at))) != NULL) {
        const size_t m = block->macro_count;
        macro_parts parts;
        if (m == MD_MACROS_MOST)
            return md_fail_at(parser->error, MEDLEY_BAD_INPUT, templates->source, parser->line,
                              "the template has more than %d macros; divide it into several",
                              MD_MACROS_MOST);
        block->span[m].start = (size_t)(parser->at - parser->start);
        MEDLEY_TRY(read_macro(parser, &parts));
        block->span[m].end = (size_t)(parser->at - parser->start);
        MEDLEY_TRY(add_macro(parser, &parts, m, &block->macro[m]));
        block->macro_count++;
    }
    return MEDLEY_OK;
}

/* The end of the line without a comment (# after a blank, outside quotes) and without blanks. */
static const char *line_end(const char *start, const char *end)
{
    bool is_quoted = false;
    const char *stop = end;
    for (const char *p = start; p < end && stop == end; p++) {
        if (*p == '\\' && is_quoted)
            p++;
        else if (*p == '"')
            is_quoted = !is_quoted;
        else if (*p == '#' && !is_quoted && (p[-1] == ' ' || p[-1] == '\t'))
            stop = p;
    }
    while (stop > start && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r'))
        stop--;
    return stop;
}

medley_status md_templates_add_line(md_templates *templates, const char *text, size_t length,
                                    size_t line, medley_error *error)
{
    line_parser parser = {
        .templates = templates, .at = text, .end = text + length, .line = line, .error = error};
    if (length > MD_LINE_MOST)
        return md_fail_at(error, MEDLEY_BAD_INPUT, templates->source, line,
                          "the line has %zu bytes, at most %d are possible; is this a template "
                          "file?",
                          length, MD_LINE_MOST);
    if (memchr(text, '\0', length) != NULL)
        return md_fail_at(error, MEDLEY_BAD_INPUT, templates->source, line,
                          "the line contains a zero byte; this is not a text file");
    skip_blanks(&parser);
    if (parser.at == parser.end || *parser.at == '#' || *parser.at == '\r')
        return MEDLEY_OK;
    parser.start = parser.at;
    parser.end = line_end(parser.start + 1, parser.end);
    const char letter = *parser.start;
    if (strchr("UuBb*", letter) == NULL) {
        char shown[MD_SHOWN_MOST + 1];
        return md_fail_at(
            error, MEDLEY_BAD_INPUT, templates->source, line,
            "the line '%s' starts with none of U (features of a label), B (of a pair "
            "of labels), * (both) and # (a comment); arc templates want `task=tree`",
            md_template_show(shown, parser.start, (size_t)(parser.end - parser.start)));
    }
    MEDLEY_TRY(add_block(&parser, (char)(letter == '*' ? 'U' : letter)));
    return letter == '*' ? add_block(&parser, 'B') : MEDLEY_OK;
}
