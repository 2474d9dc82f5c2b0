/* SPDX-License-Identifier: BSD-3-Clause */
/* Small files of settings that are read line by line. */
#include "setup/setup.h"

#include <ctype.h>
#include <errno.h>

/* What a line says, without comment and blanks around it. */
static char *trim(char *line)
{
    line[strcspn(line, "#\r\n")] = '\0';
    while (isspace((unsigned char)*line))
        line++;
    size_t length = strlen(line);
    while (length > 0 && isspace((unsigned char)line[length - 1]))
        line[--length] = '\0';
    return line;
}

static void close_file(FILE **file)
{
    if (*file != NULL)
        fclose(*file);
}

medley_status md_read_lines(const char *path, const char *what, md_line_taker take, void *context,
                            medley_error *error)
{
    MD_CLEARED(close_file) FILE *file = fopen(path, "r");
    MD_OWNED(free) char *line = NULL;
    size_t capacity = 0;
    if (file == NULL)
        return md_fail_at(error, MEDLEY_FAILED, path, 0, "cannot be read: %s; %s", strerror(errno),
                          what);
    for (size_t number = 1; getline(&line, &capacity, file) >= 0; number++) {
        char *text = trim(line);
        if (text[0] != '\0')
            MEDLEY_TRY(take(context, text, number, error));
        errno = 0;
    }
    if (!feof(file))
        return md_fail_at(error, MEDLEY_FAILED, path, 0, "cannot be read to its end: %s",
                          strerror(errno));
    return MEDLEY_OK;
}
