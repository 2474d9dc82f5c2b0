/* SPDX-License-Identifier: BSD-3-Clause */
/* Template files as a whole: reading, the built-in sets, subsets. */
#include "feature/templates.h"

#include "base/memory.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

medley_status md_templates_new(md_templates **templates, const char *source, medley_error *error)
{
    *templates = md_calloc(1, sizeof **templates);
    if (*templates != NULL)
        (*templates)->source = md_copy_text(source, strlen(source));
    if (*templates != NULL && (*templates)->source != NULL)
        return MEDLEY_OK;
    md_templates_free(*templates);
    *templates = NULL;
    return md_fail_memory(error, sizeof **templates);
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
    md_templates *made = NULL;
    medley_status status = MEDLEY_OK;
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
    if (made->block_count == 0) {
        status = md_fail_at(error, MEDLEY_BAD_INPUT, source, 0,
                            "there are no templates in it; expected lines such as U00:%%x[0,0]");
        goto done;
    }
    *templates = made;
    made = NULL;
done:
    md_templates_free(made);
    return status;
}

static medley_status read_stream(FILE *file, const char *path, md_text *text, medley_error *error)
{
    enum { PIECE = 1 << 16, LARGEST = 1 << 24 };
    char *piece = md_calloc(PIECE, 1);
    size_t got = 0;
    while (piece != NULL && !text->failed && text->length <= LARGEST &&
           (got = fread(piece, 1, PIECE, file)) > 0)
        md_text_add(text, piece, got);
    const bool has_memory = piece != NULL && !text->failed;
    free(piece);
    if (!has_memory)
        return md_fail_memory(error, text->length + PIECE);
    if (ferror(file) != 0)
        return md_fail_at(error, MEDLEY_FAILED, path, 0, "cannot read: %s", strerror(errno));
    if (text->length > LARGEST)
        return md_fail_at(error, MEDLEY_BAD_INPUT, path, 0,
                          "the file is larger than 16 MB; this is no template file");
    return MEDLEY_OK;
}

static medley_status read_file(md_templates **templates, const char *path, medley_error *error)
{
    md_text text = {0};
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return md_fail_at(error, MEDLEY_FAILED, path, 0, "cannot open: %s; check the name",
                          strerror(errno));
    medley_status status = read_stream(file, path, &text, error);
    fclose(file);
    if (status == MEDLEY_OK)
        status = md_templates_parse(templates, text.data != NULL ? text.data : "", text.length,
                                    path, error);
    md_text_clear(&text);
    return status;
}

static medley_status fail_unknown(const char *name, medley_error *error)
{
    md_text list = {0};
    for (size_t i = 0; md_template_sets[i].name != NULL; i++)
        md_text_addf(&list, "%s%s (%s)", i > 0 ? ", " : "", md_template_sets[i].name,
                     md_template_sets[i].summary);
    const medley_status status =
        md_fail_at(error, MEDLEY_FAILED, name, 0,
                   "there is neither such a template file nor a built-in set of that name; the "
                   "built-in sets are: %s",
                   list.data != NULL ? list.data : "");
    md_text_clear(&list);
    return status;
}

medley_status md_templates_read(md_templates **templates, const char *path_or_name,
                                medley_error *error)
{
    static const char mark[] = "built-in:"; /* no file is meant, even if there is one */
    const bool marked = strncmp(path_or_name, mark, sizeof mark - 1) == 0;
    const char *name = marked ? path_or_name + sizeof mark - 1 : path_or_name;
    struct stat info;
    const bool exists = !marked && stat(path_or_name, &info) == 0;
    if (!exists || S_ISDIR(info.st_mode))
        for (size_t i = 0; md_template_sets[i].name != NULL; i++)
            if (strcmp(md_template_sets[i].name, name) == 0)
                return md_templates_parse(templates, md_template_sets[i].text,
                                          strlen(md_template_sets[i].text), name, error);
    if (exists && S_ISDIR(info.st_mode))
        return md_fail_at(error, MEDLEY_FAILED, path_or_name, 0,
                          "cannot read: it is a directory; name a template file in it");
    return exists ? read_file(templates, path_or_name, error) : fail_unknown(path_or_name, error);
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
    md_templates *made = NULL;
    medley_status status = MEDLEY_OK;
    MEDLEY_TRY(md_templates_new(&made, templates->source, error));
    for (size_t b = 0; b < templates->block_count; b++) {
        const md_template *block = &templates->blocks[b];
        if (keep == NULL || keep[b])
            MEDLEY_TRY(
                md_templates_add_line(made, block->name, strlen(block->name), block->line, error));
    }
    *subset = made;
    made = NULL;
done:
    md_templates_free(made);
    return status;
}
