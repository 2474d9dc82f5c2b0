/* SPDX-License-Identifier: BSD-3-Clause */
#include "report_output.h"

#include "writable.h"
#include <stdlib.h>
#include <string.h>

bool cli_is_standard_output(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(path, names[i]) == 0)
            return true;
    return false;
}

/* value: FILE, NAME=FILE or NAME=FILE:COLUMNS. */
static bool names_file(const char *value, const char *path)
{
    const char *equals = strchr(value, '=');
    const char *file = equals != NULL ? equals + 1 : value;
    if (cli_same_file(value, path) || cli_same_file(file, path))
        return true;
    const char *colon = strrchr(file, ':');
    char *cut = colon != NULL ? strndup(file, (size_t)(colon - file)) : NULL;
    const bool same = cut != NULL && cli_same_file(cut, path);
    free(cut);
    return same;
}

bool cli_check_output(const cli_arguments *arguments, const char *option, const char *path)
{
    static const char *const files[] = {"view",     "gram",    "gram-diagonal", "labels", "dev",
                                        "template", "kernels", "model",         "output", "report"};
    if (cli_is_standard_output(path))
        return true;
    for (size_t i = 0; i < arguments->word_count; i++)
        if (cli_same_file(arguments->words[i], path))
            return cli_refuse(arguments,
                              "--%s would overwrite '%s', which is read; name another file", option,
                              arguments->words[i]);
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        const char *value;
        for (size_t i = 0;
             strcmp(files[f], option) != 0 && (value = cli_nth(arguments, files[f], i)) != NULL;
             i++)
            if (names_file(value, path))
                return cli_refuse(arguments, "--%s and --%s are the same file '%s'; name two",
                                  files[f], option, path);
    }
    return true;
}

bool cli_check_report(const cli_arguments *arguments, const char *path)
{
    if (path == NULL)
        return true;
    if (cli_is_standard_output(path))
        return cli_refuse(arguments,
                          "--report %s: results are written to standard output; name a file", path);
    return cli_check_output(arguments, "report", path);
}

bool cli_check_outputs(const cli_arguments *arguments)
{
    static const char *const written[] = {"model", "output"};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        const char *path = cli_value(arguments, written[i]);
        if (path != NULL && !cli_check_output(arguments, written[i], path))
            return false;
    }
    return cli_check_report(arguments, cli_value(arguments, "report"));
}

bool cli_can_write_all(const cli_arguments *arguments, bool in_place, medley_error *error)
{
    static const char *const written[][2] = {
        {"model", "the model"}, {"output", "the table"}, {"report", "the report"}};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        const char *path = cli_value(arguments, written[i][0]);
        const bool stays = in_place && strcmp(written[i][0], "output") == 0;
        if (path != NULL && (!cli_can_write(path, written[i][1], error) ||
                             (stays && !cli_can_write_in_place(path, written[i][1], error))))
            return false;
    }
    return true;
}
