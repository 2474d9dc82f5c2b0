/* SPDX-License-Identifier: BSD-3-Clause */
#include "feature/template_source.h"
#include "feature/arc.h"
#include "feature/feature.h"

#include <errno.h>
#include <sys/stat.h>

const char *md_template_show(char shown[MD_SHOWN_MOST + 1], const char *text, size_t length)
{
    length = length < MD_SHOWN_MOST ? length : MD_SHOWN_MOST;
    for (size_t i = 0; i < length; i++)
        shown[i] = (char)((unsigned char)text[i] < ' ' || text[i] == 127 ? '?' : text[i]);
    shown[length] = '\0';
    return shown;
}

medley_status md_template_damaged(md_unpack *in, const char *what, medley_error *error)
{
    in->bad = true;
    if (in->no_memory)
        return md_fail_memory(error, in->length);
    return md_fail(error, MEDLEY_BAD_INPUT, "the %s are damaged; train again or restore a copy",
                   what);
}

static medley_status read_stream(FILE *file, const char *path, md_text *text, const char *what,
                                 medley_error *error)
{
    enum { PIECE = 1 << 16, LARGEST = 1 << 24 };
    MD_OWNED(free) char *piece = NULL;
    size_t got = 0;
    MEDLEY_TRY(md_new(&piece, PIECE, 1, error));
    while (!text->failed && text->length <= LARGEST && (got = fread(piece, 1, PIECE, file)) > 0)
        md_text_add(text, piece, got);
    MEDLEY_TRY(md_text_check(text, error));
    if (ferror(file) != 0)
        return md_fail_at(error, MEDLEY_FAILED, path, 0, "cannot read: %s", strerror(errno));
    if (text->length > LARGEST)
        return md_fail_at(error, MEDLEY_BAD_INPUT, path, 0,
                          "the file is larger than 16 MB; this is no %s", what);
    return MEDLEY_OK;
}

static bool has_set(const md_template_set *sets, const char *name)
{
    while (sets->name != NULL && strcmp(sets->name, name) != 0)
        sets++;
    return sets->name != NULL;
}

static medley_status fail_unknown(const char *name, const md_template_set *sets, const char *what,
                                  medley_error *error)
{
    if (sets != md_arc_sets && has_set(md_arc_sets, name))
        return md_fail(error, MEDLEY_USAGE,
                       "'%s' is a set of arc templates, for dependency trees; give a CoNLL-U file "
                       "and `task=tree`, or templates of words, such as chunk",
                       name);
    if (sets == md_arc_sets && has_set(md_template_sets, name))
        return md_fail(error, MEDLEY_USAGE,
                       "'%s' is a set of templates of words, and dependency trees need arc "
                       "templates, such as arc-507; leave `template` out, or learn tags by "
                       "`task=chain`",
                       name);
    MD_CLEARED(md_text_clear) md_text list = {0};
    for (size_t i = 0; sets[i].name != NULL; i++)
        md_text_addf(&list, "%s%s (%s)", i > 0 ? ", " : "", sets[i].name, sets[i].summary);
    return md_fail_at(error, MEDLEY_FAILED, name, 0,
                      "there is neither such a %s nor a built-in set of that name; the built-in "
                      "sets are: %s",
                      what, md_text_string(&list));
}

medley_status md_template_source(md_text *text, const char **name, const char *path_or_name,
                                 const md_template_set *sets, const char *what, medley_error *error)
{
    static const char mark[] = "built-in:";
    const bool marked = strncmp(path_or_name, mark, sizeof mark - 1) == 0;
    *name = marked ? path_or_name + sizeof mark - 1 : path_or_name;
    struct stat info;
    const bool exists = !marked && stat(path_or_name, &info) == 0;
    const bool is_folder = exists && S_ISDIR(info.st_mode);
    if (!exists || is_folder)
        for (size_t i = 0; sets[i].name != NULL; i++)
            if (strcmp(sets[i].name, *name) == 0) {
                md_text_add(text, sets[i].text, strlen(sets[i].text));
                return md_text_check(text, error);
            }
    if (!exists)
        return fail_unknown(*name, sets, what, error);
    if (is_folder)
        return md_fail_at(error, MEDLEY_FAILED, path_or_name, 0,
                          "cannot read: it is a directory; name a %s in it", what);
    FILE *file = fopen(path_or_name, "rb");
    if (file == NULL)
        return md_fail_at(error, MEDLEY_FAILED, path_or_name, 0, "cannot open: %s; check the name",
                          strerror(errno));
    const medley_status status = read_stream(file, path_or_name, text, what, error);
    fclose(file);
    return status;
}
