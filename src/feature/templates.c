/* SPDX-License-Identifier: BSD-3-Clause */
/* Template files as a whole: reading, the built-in sets, subsets. */
#include "feature/templates.h"

medley_status md_templates_new(md_templates **templates, const char *source, medley_error *error)
{
    MD_OWNED(md_templates_free) md_templates *made = NULL;
    MEDLEY_TRY(md_new(&made, 1, sizeof *made, error));
    MEDLEY_TRY(md_new_text(&made->source, source, strlen(source), error));
    *templates = md_take(&made);
    return MEDLEY_OK;
}

void md_templates_free(md_templates *templates)
{
    if (templates == NULL)
        return;
    for (size_t b = 0; b < templates->block_count; b++) {
        free(templates->blocks[b].name);
        free(templates->blocks[b].macro);
        free(templates->blocks[b].span);
    }
    for (size_t f = 0; f < templates->function_count; f++)
        free(templates->functions[f].pattern);
    md_strings_clear(&templates->function_keys);
    md_strings_clear(&templates->macro_keys);
    free(templates->blocks);
    free(templates->functions);
    free(templates->macros);
    free(templates->source);
    free(templates);
}

medley_status md_templates_parse(md_templates **templates, const char *text, size_t length,
                                 const char *source, medley_error *error)
{
    static const char mark[] = "\xef\xbb\xbf"; /* byte order mark */
    MD_OWNED(md_templates_free) md_templates *made = NULL;
    const char *end = text + length;
    MEDLEY_TRY(md_templates_new(&made, source, error));
    if (length >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0)
        text += sizeof mark - 1;
    for (size_t line = 1; text < end; line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop != NULL ? stop : end;
        MEDLEY_TRY(md_templates_add_line(made, text, (size_t)(stop - text), line, error));
        text = stop < end ? stop + 1 : end;
    }
    if (made->block_count == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, source, 0,
                          "there are no templates in it; expected lines such as U00:%%x[0,0]");
    *templates = md_take(&made);
    return MEDLEY_OK;
}

medley_status md_templates_read(md_templates **templates, const char *path_or_name,
                                medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    const char *name;
    MEDLEY_TRY(
        md_template_source(&text, &name, path_or_name, md_template_sets, "template file", error));
    return md_templates_parse(templates, md_text_string(&text), text.length, name, error);
}

size_t md_templates_count(const md_templates *templates)
{
    return templates->block_count;
}

const char *md_templates_name(const md_templates *templates, size_t block)
{
    return templates->blocks[block].name;
}

bool md_templates_is_pair(const md_templates *templates, size_t block)
{
    return templates->blocks[block].is_pair;
}

bool md_templates_is_constant(const md_templates *templates, size_t block)
{
    return templates->blocks[block].macro_count == 0;
}

medley_status md_templates_subset(md_templates **subset, const md_templates *templates,
                                  const bool *keep, medley_error *error)
{
    MD_OWNED(md_templates_free) md_templates *made = NULL;
    MEDLEY_TRY(md_templates_new(&made, templates->source, error));
    for (size_t b = 0; b < templates->block_count; b++) {
        const md_template *block = &templates->blocks[b];
        if (keep == NULL || keep[b])
            MEDLEY_TRY(
                md_templates_add_line(made, block->name, strlen(block->name), block->line, error));
    }
    *subset = md_take(&made);
    return MEDLEY_OK;
}
