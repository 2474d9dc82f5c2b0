/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the command, parses its options against its tables, runs it. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define CLI_COMMAND(name) extern const cli_command cli_command_##name;
#include "commands.def"
#undef CLI_COMMAND

const cli_command *const cli_commands[] = {
#define CLI_COMMAND(name) &cli_command_##name,
#include "commands.def"
#undef CLI_COMMAND
    NULL};

/* ---- values ---- */

const char *cli_nth(const cli_arguments *arguments, const char *name, size_t i)
{
    for (size_t g = 0; g < arguments->given_count; g++)
        if (strcmp(arguments->given[g].name, name) == 0 && i-- == 0)
            return arguments->given[g].value;
    return NULL;
}

const char *cli_value(const cli_arguments *arguments, const char *name)
{
    const char *last = NULL;
    for (size_t g = 0; g < arguments->given_count; g++)
        if (strcmp(arguments->given[g].name, name) == 0)
            last = arguments->given[g].value;
    return last;
}

bool cli_flag(const cli_arguments *arguments, const char *name)
{
    return cli_value(arguments, name) != NULL;
}

bool cli_count(const cli_arguments *arguments, const char *name, size_t fallback, size_t *value)
{
    const char *text = cli_value(arguments, name);
    *value = fallback;
    if (text == NULL)
        return true;
    char *end;
    errno = 0;
    *value = (size_t)strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0)
        return true;
    return cli_refuse(arguments, "--%s='%s' is not a whole number%s", name, text,
                      errno == ERANGE ? " of a possible size" : "");
}

/* ---- errors ---- */

static int exit_code(medley_status status)
{
    if (status == MEDLEY_USAGE || status == MEDLEY_NOT_SUPPORTED)
        return CLI_USAGE;
    return status == MEDLEY_BAD_INPUT ? CLI_BAD_INPUT : CLI_FAILED;
}

void cli_json_error(const medley_error *error)
{
    json_open(stdout, "error", '{');
    json_count(stdout, "code", (size_t)exit_code(error->code));
    json_string(stdout, "message", error->message);
    json_string(stdout, "file", error->file[0] ? error->file : NULL);
    json_number(stdout, "line", error->line > 0 ? (double)error->line : (double)NAN);
    json_close(stdout, '}');
}

medley_status cli_error(medley_error *error, medley_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(error->message, sizeof error->message, format, list);
    va_end(list);
    error->code = status;
    return status;
}

int cli_fail(const cli_arguments *arguments, const medley_error *error)
{
    char text[1200];
    medley_error_format(text, sizeof text, error);
    fprintf(stderr, "medley%s%s: %s\n", arguments->command ? " " : "",
            arguments->command ? arguments->command->name : "", text);
    if (arguments->json) {
        json_open(stdout, NULL, '{');
        cli_json_error(error);
        json_end(stdout);
    }
    return exit_code(error->code);
}

int cli_usage_error(const cli_arguments *arguments, const char *format, ...)
{
    medley_error error = {.code = MEDLEY_USAGE};
    va_list list;
    va_start(list, format);
    vsnprintf(error.message, sizeof error.message, format, list);
    va_end(list);
    return cli_fail(arguments, &error);
}

/* Results must have reached stdout: returns code, or CLI_FAILED with a message. */
static int finish(const cli_arguments *arguments, int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr,
            "medley %s: the result could not be written to standard output; is the disk full?\n",
            arguments->command->name);
    return CLI_FAILED;
}

/* ---- parsing ---- */

static bool find_option(const cli_command *command, const char *name, size_t length,
                        cli_option *option)
{
    for (size_t i = 0; cli_option_at(command, i, option); i++)
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return true;
    return false;
}

static int unknown_option(const cli_arguments *arguments, const char *name)
{
    const char *names[128];
    size_t count = 0;
    cli_option option;
    while (count < 127 && cli_option_at(arguments->command, count, &option))
        names[count++] = option.name;
    names[count] = NULL;
    const char *nearest = medley_nearest_name(name, names);
    if (nearest != NULL)
        return cli_usage_error(arguments, "there is no option --%s; did you mean --%s?", name,
                               nearest);
    return cli_usage_error(arguments, "there is no option --%s; see 'medley %s --help'", name,
                           arguments->command->name);
}

/* One word that starts with "--"; *used counts how many words it took. */
static int parse_option(cli_arguments *arguments, int count, char **words, int *used)
{
    const char *name = words[0] + 2;
    const char *equals = strchr(name, '=');
    const size_t length = equals ? (size_t)(equals - name) : strlen(name);
    cli_option option;
    *used = 1;
    if (!find_option(arguments->command, name, length, &option)) {
        char copy[64];
        snprintf(copy, sizeof copy, "%.*s", (int)length, name);
        return unknown_option(arguments, copy);
    }
    const char *value = equals ? equals + 1 : "";
    if (option.argument[0] == '\0' && equals != NULL)
        return cli_usage_error(arguments, "--%s takes no value", option.name);
    if (option.argument[0] != '\0' && equals == NULL) {
        if (count < 2)
            return cli_usage_error(arguments, "--%s needs a value: --%s %s", option.name,
                                   option.name, option.argument);
        value = words[1];
        *used = 2;
    }
    arguments->given[arguments->given_count].name = option.name;
    arguments->given[arguments->given_count++].value = value;
    return CLI_OK;
}

static int parse(cli_arguments *arguments, int count, char **words)
{
    bool options_end = false;
    for (int i = 0; i < count;) {
        if (!options_end && strcmp(words[i], "--") == 0) {
            options_end = true;
            i++;
        } else if (!options_end && strncmp(words[i], "--", 2) == 0) {
            int used;
            const int code = parse_option(arguments, count - i, words + i, &used);
            if (code != CLI_OK)
                return code;
            i += used;
        } else if (!options_end && words[i][0] == '-' && words[i][1] != '\0') {
            return cli_usage_error(arguments,
                                   "'%s' is not an option; options are written in full, "
                                   "as in --help",
                                   words[i]);
        } else {
            arguments->words[arguments->word_count++] = words[i++];
        }
    }
    return CLI_OK;
}

static bool asks_for(int count, char **words, const char *option)
{
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], option) == 0)
            return true;
    return false;
}

static int run_command(const cli_command *command, int count, char **words)
{
    if (asks_for(count, words, "--help") || asks_for(count, words, "-h")) {
        cli_print_help(command, stdout);
        return CLI_OK;
    }
    cli_arguments arguments = {.command = command, .json = asks_for(count, words, "--json")};
    arguments.given = calloc((size_t)count + 1, sizeof *arguments.given);
    arguments.words = calloc((size_t)count + 1, sizeof *arguments.words);
    int code = CLI_FAILED;
    if (arguments.given != NULL && arguments.words != NULL)
        code = parse(&arguments, count, words);
    if (code == CLI_OK) {
        arguments.quiet = cli_flag(&arguments, "quiet");
        code = finish(&arguments, command->run(&arguments));
    }
    free(arguments.given);
    free(arguments.words);
    return code;
}

int cli_main(int count, char **words)
{
    const cli_arguments nothing = {0};
    if (count < 2) {
        cli_print_help(NULL, stderr);
        return CLI_USAGE;
    }
    const char *name = words[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        if (count < 3) {
            cli_print_help(NULL, stdout);
            return CLI_OK;
        }
        name = words[2];
        char *help[] = {(char[]){"--help"}};
        for (size_t i = 0; cli_commands[i] != NULL; i++)
            if (strcmp(cli_commands[i]->name, name) == 0)
                return run_command(cli_commands[i], 1, help);
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        printf("medley %s\nBLAS: %s\n", medley_version(), medley_blas());
        return CLI_OK;
    }
    const char *names[32];
    size_t known = 0;
    for (; cli_commands[known] != NULL && known < 31; known++) {
        names[known] = cli_commands[known]->name;
        if (strcmp(names[known], name) == 0)
            return run_command(cli_commands[known], count - 2, words + 2);
    }
    names[known] = NULL;
    const char *nearest = medley_nearest_name(name, names);
    if (nearest != NULL)
        return cli_usage_error(&nothing, "there is no command '%s'; did you mean '%s'?", name,
                               nearest);
    return cli_usage_error(&nothing, "there is no command '%s'; see 'medley --help'", name);
}
