/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 512 };

/* The folder that path stands in; returns its last name, NULL if it is too long to look at. */
static const char *split_path(char folder[PATH_BYTES], const char *path)
{
    if (strlen(path) >= PATH_BYTES)
        return NULL;
    snprintf(folder, PATH_BYTES, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        snprintf(folder, PATH_BYTES, ".");
        return path;
    }
    const char *name = path + (slash - folder) + 1;
    slash[slash == folder] = '\0';
    return name;
}

/* Can a file be written there? It is better to know before an hour of work than after it. */
static medley_status can_write(const char *path, const char *what, medley_error *error)
{
    char folder[PATH_BYTES];
    if (split_path(folder, path) == NULL)
        return medley_check_writable(path, error);
    struct stat info;
    const bool exists = stat(path, &info) == 0;
    const bool special = exists && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
    const bool folder_fine = access(folder, W_OK | X_OK) == 0;
    if (special)
        return MEDLEY_OK;
    if (folder_fine && !(exists && S_ISDIR(info.st_mode)))
        return medley_check_writable(path, error);
    snprintf(error->file, sizeof error->file, "%s", path);
    if (folder_fine)
        return cli_error(error, MEDLEY_FAILED, "cannot write %s: it is a directory; name a file",
                         what);
    return cli_error(error, MEDLEY_FAILED,
                     "cannot write %s: the folder '%s' does not exist or may not be written to",
                     what, folder);
}

/* Renaming would replace even a file that may not be written to: a protected table is left alone.
 */
static medley_status can_replace(const char *path, const char *what, medley_error *error)
{
    if (access(path, F_OK) != 0 || access(path, W_OK) == 0)
        return MEDLEY_OK;
    snprintf(error->file, sizeof error->file, "%s", path);
    return cli_error(error, MEDLEY_FAILED,
                     "cannot write %s: the file is there and may not be written to", what);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Do both name one file, be it there or not? Devices may be named twice. */
static bool is_same_file(const char *a, const char *b)
{
    char folders[2][PATH_BYTES];
    struct stat info[2];
    const bool there[2] = {stat(a, &info[0]) == 0, stat(b, &info[1]) == 0};
    if (there[0] || there[1])
        return there[0] && there[1] && S_ISREG(info[0].st_mode) && is_same(&info[0], &info[1]);
    const char *names[2] = {split_path(folders[0], a), split_path(folders[1], b)};
    return names[0] != NULL && names[1] != NULL && strcmp(names[0], names[1]) == 0 &&
           stat(folders[0], &info[0]) == 0 && stat(folders[1], &info[1]) == 0 &&
           is_same(&info[0], &info[1]);
}

bool cli_is_standard_output(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", NULL};
    return cli_is_any(path, names);
}

/* value: FILE, NAME=FILE or NAME=FILE:COLUMNS. */
static bool names_file(const char *value, const char *path)
{
    const char *equals = strchr(value, '=');
    const char *file = equals != NULL ? equals + 1 : value;
    if (is_same_file(value, path) || is_same_file(file, path))
        return true;
    const char *colon = strrchr(file, ':');
    char *cut = colon != NULL ? strndup(file, (size_t)(colon - file)) : NULL;
    const bool same = cut != NULL && is_same_file(cut, path);
    free(cut);
    return same;
}

/* "-" is standard input, which may be a file. */
static bool reads_file(const char *word, const char *path)
{
    return is_same_file(strcmp(word, "-") == 0 ? "/dev/stdin" : word, path);
}

medley_status cli_check_output(const cli_arguments *arguments, const char *option, const char *path,
                               medley_error *error)
{
    static const char *const files[] = {
        "view",     "gram",    "distance",   "gram-diagonal", "labels", "dev",   "from",
        "template", "kernels", "checkpoint", "model",         "output", "report"};
    if (cli_is_standard_output(path))
        return MEDLEY_OK;
    for (size_t i = 0; i < arguments->word_count; i++)
        if (reads_file(arguments->words[i], path))
            return cli_refuse(error, "--%s would overwrite '%s', which is read; name another file",
                              option, arguments->words[i]);
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        const char *value;
        for (size_t i = 0;
             strcmp(files[f], option) != 0 && (value = cli_nth(arguments, files[f], i)) != NULL;
             i++)
            if (names_file(value, path))
                return cli_refuse(error, "--%s and --%s are the same file '%s'; name two", files[f],
                                  option, path);
    }
    return MEDLEY_OK;
}

/* What options write. --model is read by commands that do not train. */
static const char *const written[][2] = {{"model", "the model"},
                                         {"output", "the table"},
                                         {"report", "the report"},
                                         {"checkpoint", "the checkpoint"}};
enum { WRITTEN = sizeof written / sizeof *written };

/* The file that option i of them writes; NULL: none. */
static const char *written_by(const cli_arguments *arguments, size_t i)
{
    const bool reads =
        strcmp(written[i][0], "model") == 0 && !(arguments->command->groups & CLI_TRAINING);
    return reads ? NULL : cli_value(arguments, written[i][0]);
}

medley_status cli_check_outputs(const cli_arguments *arguments, medley_error *error)
{
    for (size_t i = 0; i < WRITTEN; i++) {
        const char *path = written_by(arguments, i);
        if (path == NULL)
            continue;
        if (strcmp(written[i][0], "report") == 0 && cli_is_standard_output(path))
            return cli_refuse(
                error, "--report %s: results are written to standard output; name a file", path);
        if (strcmp(written[i][0], "model") == 0 && cli_is_standard_output(path) &&
            (arguments->json || !arguments->quiet))
            return cli_refuse(error,
                              "--model %s: %s is written to standard output as well; %s, or name a "
                              "file",
                              path, arguments->json ? "the JSON" : "the summary",
                              arguments->json ? "leave out --json" : "add --quiet");
        CLI_TRY(cli_check_output(arguments, written[i][0], path, error));
    }
    return MEDLEY_OK;
}

medley_status cli_check_writable(const cli_arguments *arguments, medley_error *error)
{
    if (medley_comm_rank(arguments->comm) > 0)
        return MEDLEY_OK; /* it writes nothing */
    for (size_t i = 0; i < WRITTEN; i++) {
        const char *path = written_by(arguments, i);
        if (path == NULL)
            continue;
        CLI_TRY(can_write(path, written[i][1], error));
        if (strcmp(written[i][0], "output") == 0)
            CLI_TRY(can_replace(path, written[i][1], error));
    }
    return MEDLEY_OK;
}

bool cli_is_silent(const cli_arguments *arguments)
{
    bool any = false;
    for (size_t i = 0; i < WRITTEN; i++)
        any = any || written_by(arguments, i) != NULL;
    return any && arguments->quiet && !arguments->json && !arguments->interrupted;
}

/* What is printed, in memory of ours: open_memstream loses it where it cannot be made smaller. */
struct gathered {
    char *text;
    size_t size;
};

static ssize_t gather(void *context, const char *bytes, size_t count)
{
    struct gathered *gathered = context;
    char *text = realloc(gathered->text, gathered->size + count);
    if (text == NULL)
        return 0;
    memcpy(text + gathered->size, bytes, count);
    gathered->text = text;
    gathered->size += count;
    return (ssize_t)count;
}

static void clear_gathered(struct gathered *gathered)
{
    free(gathered->text);
}

medley_status cli_write_text(const char *path, cli_printer print, const void *context,
                             medley_error *error)
{
    CLI_CLEARED(clear_gathered) struct gathered gathered = {0};
    if (path == NULL || strcmp(path, "-") == 0) {
        print(stdout, context);
        return MEDLEY_OK; /* whether it arrived is asked at the end of every command */
    }
    FILE *file = fopencookie(&gathered, "w", (cookie_io_functions_t){.write = gather});
    if (file != NULL)
        print(file, context);
    const bool failed = file == NULL || ferror(file);
    if (file == NULL || fclose(file) != 0 || failed)
        return cli_error(error, MEDLEY_FAILED, "out of memory");
    return medley_write_file(path, gathered.text, gathered.size, error);
}

/* As much of text as fits into size bytes, whole characters of UTF-8. */
static void copy_name(char *name, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length >= size)
        for (length = size - 1; length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80;)
            length--;
    memcpy(name, text, length);
    name[length] = '\0';
}

const char *cli_report_name(char name[CLI_NAME_BYTES], const char *path)
{
    const char *slash = strrchr(path, '/');
    copy_name(name, CLI_NAME_BYTES, slash != NULL ? slash + 1 : path);
    char *ending = strstr(name, ".medley");
    if (ending != NULL && ending != name && ending[strlen(".medley")] == '\0')
        *ending = '\0';
    return name;
}

const char *cli_data_name(char name[CLI_NAME_BYTES], const cli_arguments *arguments)
{
    const bool named = arguments->word_count > 0 && strcmp(arguments->words[0], "-") != 0;
    return named ? cli_report_name(name, arguments->words[0]) : NULL;
}

const char *cli_held_out_name(char name[CLI_NAME_BYTES], const cli_arguments *arguments)
{
    char buffer[CLI_NAME_BYTES];
    const char *file = cli_data_name(buffer, arguments);
    const int length =
        snprintf(name, CLI_NAME_BYTES, "the held-out rows%s", file != NULL ? " of " : "");
    if (file != NULL)
        copy_name(name + length, CLI_NAME_BYTES - (size_t)length, file);
    return name;
}
