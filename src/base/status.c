/* SPDX-License-Identifier: BSD-3-Clause */
/* Filling and printing the caller's medley_error. */
#include "base/text.h"

#undef md_fail_at /* macros for the analyser */
#undef md_fail_memory

void md_begin(medley_error *error)
{
    if (error == NULL)
        return;
    error->code = MEDLEY_OK;
    error->message[0] = '\0';
    error->file[0] = '\0';
    error->line = 0;
}

medley_status md_fail_at(medley_error *error, medley_status code, const char *file, size_t line,
                         const char *format, ...)
{
    if (error == NULL || error->code < 0)
        return code; /* first error wins */
    va_list arguments;
    va_start(arguments, format);
    error->code = code;
    md_vprint(error->message, sizeof error->message, format, arguments);
    snprintf(error->file, sizeof error->file, "%s", file ? file : "");
    error->line = (long)line;
    va_end(arguments);
    return code;
}

medley_status md_fail_memory(medley_error *error, size_t bytes)
{
    return md_fail(error, MEDLEY_FAILED,
                   "out of memory (%.1f MB asked for); use a smaller `memory` or less data",
                   (double)bytes / 1e6);
}

void medley_error_format(char *text, size_t size, const medley_error *error)
{
    if (error->file[0] != '\0' && error->line > 0)
        snprintf(text, size, "%s:%ld: %s", error->file, error->line, error->message);
    else if (error->file[0] != '\0')
        snprintf(text, size, "%s: %s", error->file, error->message);
    else
        snprintf(text, size, "%s", error->message);
}
