/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the command, parses its options against its tables, runs it. */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>

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

bool cli_read_count(const char *text, size_t *value)
{
    char *end;
    errno = 0;
    *value = (size_t)strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

bool cli_read_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0';
}

medley_status cli_count(const cli_arguments *arguments, const char *name, size_t *value,
                        medley_error *error)
{
    const char *text = cli_value(arguments, name);
    if (text == NULL || cli_read_count(text, value))
        return MEDLEY_OK;
    return cli_refuse(error, "--%s='%s' is not a whole number%s", name, text,
                      errno == ERANGE ? " of a possible size" : "");
}

bool cli_is_any(const char *word, const char *const *names)
{
    while (*names != NULL && strcmp(word, *names) != 0)
        names++;
    return *names != NULL;
}

/* ---- errors ---- */

static int exit_code(medley_status status)
{
    if (status == MEDLEY_USAGE || status == MEDLEY_NOT_SUPPORTED)
        return CLI_USAGE;
    return status == MEDLEY_BAD_INPUT ? CLI_BAD_INPUT : CLI_FAILED;
}

static bool find_option(const cli_command *command, const char *name, size_t length,
                        cli_option *option)
{
    for (size_t i = 0; cli_option_at(command, i, option); i++)
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return true;
    return false;
}

/* The length of the name at the start of text if an option of some command is called so, else 0. */
static size_t option_length(const char *text)
{
    cli_option option;
    const size_t length = strcspn(text, "=`");
    for (size_t c = 0; cli_commands[c] != NULL; c++)
        if (find_option(cli_commands[c], text, length, &option))
            return length;
    return 0;
}

const char *cli_spoken(cli_sentence text, const char *message)
{
    snprintf(text, sizeof(cli_sentence), "%s", message);
    for (char *mark = strchr(text, '`'); mark != NULL; mark = strchr(mark + 1, '`')) {
        const size_t length = option_length(mark + 1);
        char *value = mark + 1 + length;
        char *end = strchr(value, '`');
        if (length == 0 || end == NULL)
            continue;
        if (*value == '=' && value[1] != '-' && value[1] != '\'')
            *value = ' ';
        memmove(mark + 2, mark + 1, (size_t)(end - mark) - 1);
        mark[0] = mark[1] = '-';
        mark = end;
    }
    return text;
}

void cli_json_error(const medley_error *error)
{
    cli_sentence text;
    json_open(stdout, "error", '{');
    json_count(stdout, "code", (size_t)exit_code(error->code));
    json_string(stdout, "message", cli_spoken(text, error->message));
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

/* Prints the error (JSON on stdout with --json) and returns the exit code. */
static int fail(const cli_arguments *arguments, const medley_error *error)
{
    cli_sentence text;
    cli_sentence spoken;
    medley_error_format(text, sizeof text, error);
    fprintf(stderr, "medley%s%s: ", arguments->command ? " " : "",
            arguments->command ? arguments->command->name : "");
    if (arguments->alone || medley_comm_rank(arguments->comm) > 0)
        fprintf(stderr, "rank %zu: ", medley_comm_rank(arguments->comm));
    fprintf(stderr, "%s\n", cli_spoken(spoken, text));
    if (arguments->json) {
        json_open(stdout, NULL, '{');
        cli_json_error(error);
        json_end(stdout);
    }
    return exit_code(error->code);
}

/* Results must have reached stdout: returns code, or CLI_FAILED with a message. */
static int finish(const cli_command *command, int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr,
            "medley%s%s: the result could not be written to standard output; is the disk full?\n",
            command ? " " : "", command ? command->name : "");
    return CLI_FAILED;
}

/* ---- parsing ---- */

/* How to give here what is an option of other programs; NULL: it is none that is known. */
static const char *other_place(const cli_command *command, const char *name)
{
    static const struct {
        const char *name, *place;
        const char *option; /* only commands that have it */
    } places[] = {
        {"data", "data files are plain arguments: medley COMMAND ... data.csv", "format"},
        {"input", "data files are plain arguments: medley COMMAND ... data.csv", "format"},
        {"file", "data files are plain arguments: medley COMMAND ... data.csv", "format"},
        {"gamma", "it is a parameter of the kernel: --kernel 'rbf(gamma=0.1)'", "kernel"},
        {"sigma", "it is a parameter of the kernel: --kernel 'rbf(sigma=2)'", "kernel"},
        {"degree", "it is a parameter of the kernel: --kernel 'poly(degree=3)'", "kernel"},
        {"coef0", "it is a parameter of the kernel: --kernel 'poly(degree=3,offset=1)'", "kernel"},
        {"verbose", "that is the default; --quiet says less", "quiet"},
    };
    cli_option option;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strcmp(places[i].name, name) == 0 &&
            find_option(command, places[i].option, strlen(places[i].option), &option))
            return places[i].place;
    return NULL;
}

static medley_status unknown_option(const cli_arguments *arguments, const char *name,
                                    medley_error *error)
{
    const char *place = other_place(arguments->command, name);
    if (place != NULL)
        return cli_refuse(error, "there is no option --%s; %s", name, place);
    const char *names[128];
    size_t count = 0;
    cli_option option;
    while (count < 127 && cli_option_at(arguments->command, count, &option))
        names[count++] = option.name;
    names[count] = NULL;
    const char *nearest = medley_nearest_name(name, names);
    if (nearest != NULL)
        return cli_refuse(error, "there is no option --%s; did you mean --%s?", name, nearest);
    return cli_refuse(error, "there is no option --%s; see 'medley %s --help'", name,
                      arguments->command->name);
}

static void give(cli_arguments *arguments, const char *name, const char *value)
{
    arguments->given[arguments->given_count].name = name;
    arguments->given[arguments->given_count++].value = value;
}

/* Options that were called otherwise once: scripts go on. */
static void use_new_name(const cli_command *command, const char **name, size_t *length)
{
    static const struct {
        const char *command, *old, *name;
    } renamed[] = {{"convert", "from", "format"}};
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strcmp(command->name, renamed[i].command) == 0 && strlen(renamed[i].old) == *length &&
            strncmp(renamed[i].old, *name, *length) == 0) {
            *name = renamed[i].name;
            *length = strlen(*name);
        }
}

/* One word that starts with "--"; *used counts how many words it took. */
static medley_status parse_option(cli_arguments *arguments, int count, char **words, int *used,
                                  medley_error *error)
{
    const char *name = words[0] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    cli_option option;
    *used = 1;
    use_new_name(arguments->command, &name, &length);
    if (!find_option(arguments->command, name, length, &option)) {
        char copy[64];
        snprintf(copy, sizeof copy, "%.*s", (int)length, name);
        return unknown_option(arguments, copy, error);
    }
    const char *value = equals ? equals + 1 : "";
    if (option.argument[0] == '\0' && equals != NULL)
        return cli_refuse(error, "--%s takes no value", option.name);
    if (option.argument[0] != '\0' && equals == NULL) {
        if (count < 2)
            return cli_refuse(error, "--%s needs a value: --%s %s", option.name, option.name,
                              option.argument);
        value = words[1];
        *used = 2;
    }
    give(arguments, option.name, value);
    return MEDLEY_OK;
}

/* A word such as -m; what follows the letter, or the next word, is its value. */
static medley_status parse_letter(cli_arguments *arguments, int count, char **words, int *used,
                                  medley_error *error)
{
    cli_option option;
    size_t i = 0;
    bool found = false;
    while (!found && cli_option_at(arguments->command, i++, &option))
        found = cli_letter(option.name) == words[0][1];
    if (!found && (words[0][1] == 'c' || words[0][1] == 'C') &&
        find_option(arguments->command, "C", 1, &option))
        return cli_refuse(error, "'%s' is not an option of medley %s; did you mean --C?", words[0],
                          arguments->command->name);
    if (!found)
        return cli_refuse(error, "'%s' is not an option of medley %s; see 'medley %s --help'",
                          words[0], arguments->command->name, arguments->command->name);
    const char *value = words[0] + 2;
    *used = 1;
    if (option.argument[0] == '\0' && value[0] != '\0')
        return cli_refuse(error, "-%c takes no value, and here is '%s'", words[0][1], words[0]);
    if (option.argument[0] != '\0' && value[0] == '\0') {
        if (count < 2)
            return cli_refuse(error, "-%c needs a value: -%c %s", words[0][1], words[0][1],
                              option.argument);
        value = words[1];
        *used = 2;
    }
    give(arguments, option.name, value);
    return MEDLEY_OK;
}

static medley_status parse(cli_arguments *arguments, int count, char **words, medley_error *error)
{
    bool options_end = false;
    for (int i = 0; i < count;) {
        if (!options_end && strcmp(words[i], "--") == 0) {
            options_end = true;
            i++;
        } else if (!options_end && strncmp(words[i], "--", 2) == 0) {
            int used = 1;
            CLI_TRY(parse_option(arguments, count - i, words + i, &used, error));
            i += used;
        } else if (!options_end && words[i][0] == '-' && words[i][1] != '\0') {
            int used = 1;
            CLI_TRY(parse_letter(arguments, count - i, words + i, &used, error));
            i += used;
        } else {
            arguments->words[arguments->word_count++] = words[i++];
        }
    }
    return MEDLEY_OK;
}

static bool is_called_model(const char *word)
{
    static const char ending[] = ".medley";
    const size_t length = strlen(word);
    return length > strlen(ending) && strcmp(word + length - strlen(ending), ending) == 0;
}

/* A model that is named as a word becomes the value of --model: the one that is called so, wherever
 * it stands, or the first of them. One that is written must be called so: another file may be
 * somebody's data. */
static void take_model(cli_arguments *arguments)
{
    const cli_model_use use = arguments->command->model;
    size_t place = 0;
    while (place < arguments->word_count && !is_called_model(arguments->words[place]))
        place++;
    if (place == arguments->word_count)
        place = use == CLI_READS_MODEL ? 0 : SIZE_MAX;
    if (use == CLI_NO_MODEL || cli_flag(arguments, "model") || place >= arguments->word_count)
        return;
    give(arguments, "model", arguments->words[place]);
    arguments->word_count--;
    for (size_t i = place; i < arguments->word_count; i++)
        arguments->words[i] = arguments->words[i + 1];
}

static bool asks_for(int count, char **words, const char *option)
{
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], option) == 0)
            return true;
    return false;
}

/* A card takes a while to start, and can do so while files are read; small ones are not worth it,
 * unless it was asked for. */
static medley_device_starting *start_device(const cli_arguments *arguments)
{
    enum { LARGE = 4 << 20 }; /* bytes */
    const char *device = cli_value(arguments, "device");
    struct stat info;
    bool large = false;
    if ((arguments->command->groups & (CLI_TRAINING | CLI_PREDICTION)) == 0)
        return NULL;
    device = device != NULL ? device : "auto";
    for (size_t i = 0; i < arguments->word_count; i++)
        large = large || (stat(arguments->words[i], &info) == 0 && info.st_size >= LARGE);
    return large || strcmp(device, "auto") != 0 ? medley_device_start(device) : NULL;
}

static medley_status parse_and_run(cli_arguments *arguments, int count, char **words,
                                   medley_error *error)
{
    if (arguments->given == NULL || arguments->words == NULL)
        return cli_error(error, MEDLEY_FAILED, "out of memory");
    CLI_TRY(cli_find_ranks(arguments, error));
    CLI_TRY(parse(arguments, count, words, error));
    take_model(arguments);
    arguments->quiet = cli_flag(arguments, "quiet");
    if (!arguments->command->together && medley_comm_rank(arguments->comm) > 0)
        return MEDLEY_OK;
    CLI_TRY(cli_check_outputs(arguments, error));
    if (arguments->command->together)
        CLI_TRY(cli_join_ranks(arguments, error));
    medley_device_starting *device = start_device(arguments);
    const medley_status status = arguments->command->run(arguments, error);
    medley_device_started(device);
    return status;
}

/* What follows --help= on the command line; NULL: nothing does. */
static const char *help_group(int count, char **words)
{
    static const char start[] = "--help=";
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        if (strncmp(words[i], start, strlen(start)) == 0)
            return words[i] + strlen(start);
    return NULL;
}

static int print_help_group(const cli_command *command, const char *group)
{
    enum { MOST_GROUPS = 15 };
    const cli_arguments arguments = {.command = command};
    medley_error error = {0};
    const char *names[MOST_GROUPS + 1] = {"all"};
    if (cli_print_options(command, group, stdout))
        return finish(command, CLI_OK);
    size_t count = 1;
    char known[256] = "";
    char *end = known;
    for (size_t g = 0; count < MOST_GROUPS && cli_groups[g].name != NULL; g++)
        if (cli_has_group(command, cli_groups[g].name)) {
            names[count++] = cli_groups[g].name;
            end = stpcpy(stpcpy(end, cli_groups[g].name), ", ");
        }
    const char *nearest = medley_nearest_name(group, names);
    cli_refuse(&error, "--help=%s: medley %s has no such group of options; %s%s%s", group,
               command->name, nearest != NULL ? "did you mean --help=" : "there are ",
               nearest != NULL ? nearest : known, nearest != NULL ? "?" : "and all");
    return fail(&arguments, &error);
}

static int print_version(void)
{
    printf("medley %s\nBLAS: %s\nvectors: %s\n", medley_version(), medley_blas(), medley_vectors());
    return finish(NULL, CLI_OK);
}

/* NOLINTBEGIN(clang-analyzer-unix.Malloc): the analyser does not follow cleanup */
static int run_command(const cli_command *command, int count, char **words)
{
    if (asks_for(count, words, "--version") || asks_for(count, words, "-V"))
        return print_version();
    if (asks_for(count, words, "--help") || asks_for(count, words, "-h")) {
        cli_print_help(command, stdout);
        return finish(command, CLI_OK);
    }
    const char *group = help_group(count, words);
    if (group != NULL)
        return print_help_group(command, group);
    cli_arguments arguments = {.command = command,
                               .json = asks_for(count, words, "--json"),
                               .typed = words,
                               .typed_count = (size_t)count};
    CLI_OWNED(free)
    struct cli_given *given = arguments.given = calloc((size_t)count + 1, sizeof *given);
    CLI_OWNED(free)
    const char **rest = arguments.words = calloc((size_t)count + 1, sizeof *rest);
    medley_error error = {0};
    const medley_status status = parse_and_run(&arguments, count, words, &error);
    int code = cli_settle_ranks(&arguments, status) ? fail(&arguments, &error) : CLI_OK;
    if (arguments.interrupted && medley_comm_rank(arguments.comm) == 0)
        code = CLI_INTERRUPTED;
    code = finish(command, code);
    cli_leave_ranks(&arguments, code);
    return code;
}
/* NOLINTEND(clang-analyzer-unix.Malloc) */

static int unknown_command(const char *name, const char *const *known)
{
    const cli_arguments none = {0};
    medley_error error = {.code = MEDLEY_USAGE};
    const char *nearest = medley_nearest_name(name, known);
    snprintf(error.message, sizeof error.message, "there is no command '%s'; %s '%s'%s", name,
             nearest != NULL ? "did you mean" : "see", nearest != NULL ? nearest : "medley --help",
             nearest != NULL ? "?" : "");
    return fail(&none, &error);
}

int cli_main(int count, char **words)
{
    enum { MOST_COMMANDS = 31 };
    static const char *const help[] = {"--help", "-h", "help", NULL};
    static const char *const version[] = {"--version", "-V", "version", NULL};
    const bool helps = count > 1 && cli_is_any(words[1], help);
    if (count < 2 || (helps && count < 3)) {
        cli_print_help(NULL, helps ? stdout : stderr);
        return finish(NULL, helps ? CLI_OK : CLI_USAGE);
    }
    const char *name = words[helps ? 2 : 1];
    if (cli_is_any(name, version))
        return print_version();
    char *ask_help[] = {(char[]){"--help"}};
    const char *names[MOST_COMMANDS + 1] = {NULL};
    for (size_t i = 0; i < MOST_COMMANDS && cli_commands[i] != NULL; i++) {
        names[i] = cli_commands[i]->name;
        if (strcmp(names[i], name) == 0)
            return helps ? run_command(cli_commands[i], 1, ask_help)
                         : run_command(cli_commands[i], count - 2, words + 2);
    }
    return unknown_command(name, names);
}
