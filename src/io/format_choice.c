/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats, and which of them a file is in: as the user says, else by the file's extension, else
 * by its first bytes, asking the formats in the order of formats.def. */
#include "io/io.h"

#include "param/param.h"
#include <strings.h>

const md_format *const md_formats[] = {
#define MD_FORMAT(name) &md_format_##name,
#include "io/formats.def"
#undef MD_FORMAT
    NULL,
};

const md_format *md_format_find(const char *name)
{
    for (size_t i = 0; md_formats[i] != NULL; i++)
        if (strcmp(md_formats[i]->name, name) == 0)
            return md_formats[i];
    return NULL;
}

enum { HEAD_BYTES = 1 << 16 };

/* "npy, idx ...", cleared by the caller. */
static md_text list_formats(void)
{
    md_text list = {0};
    for (size_t i = 0; md_formats[i] != NULL; i++)
        md_text_addf(&list, "%s%s", i > 0 ? ", " : "", md_formats[i]->name);
    return list;
}

medley_status md_format_named(const md_format **format, const char *name, medley_error *error)
{
    *format = md_format_find(name);
    if (*format != NULL)
        return MEDLEY_OK;
    enum { MOST = 64 };
    const char *names[MOST + 1] = {NULL};
    for (size_t i = 0; i < MOST && md_formats[i] != NULL; i++)
        names[i] = md_formats[i]->name;
    return md_fail_unknown("format", name, names, error);
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    const size_t end_length = strlen(end);
    return length > end_length && strncasecmp(text + length - end_length, end, end_length) == 0;
}

const md_format *md_format_of_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    if (ends_with(name, length, ".gz"))
        length -= strlen(".gz");
    for (size_t i = 0; md_formats[i] != NULL; i++)
        for (const char *const *extension = md_formats[i]->extensions;
             extension != NULL && *extension != NULL; extension++)
            if (ends_with(name, length, *extension))
                return md_formats[i];
    return NULL;
}

medley_status md_format_of_input(const md_format **format, const md_input *input, const char *name,
                                 medley_error *error)
{
    if (name != NULL)
        return md_format_named(format, name, error);
    *format = md_format_of_path(input->path);
    const size_t head = input->length < HEAD_BYTES ? input->length : HEAD_BYTES;
    for (size_t i = 0; *format == NULL && md_formats[i] != NULL; i++)
        if (md_formats[i]->sniff != NULL && md_formats[i]->sniff(input->data, head))
            *format = md_formats[i];
    if (*format != NULL)
        return MEDLEY_OK;
    MD_CLEARED(md_text_clear) md_text list = list_formats();
    return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, 0,
                      "cannot tell the format of this file; name it with `format` (%s)",
                      md_text_string(&list));
}
