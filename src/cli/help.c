/* SPDX-License-Identifier: BSD-3-Clause */
/* --help: what a command does, two examples, and the options of everyday work; --help=GROUP and
 * --help=all have the others. */
#include "cli.h"

enum { WIDTH = 80, INDENT = 30 };
enum { FEW = 18 }; /* options of a command that need no choosing */

const cli_group cli_groups[] = {{"tuning", "what is tried and how it is judged"},
                                {"path", "which strengths of the penalty"},
                                {"data", "files, columns and rows"},
                                {"kernels", "kernels and views"},
                                {"objective", "task, loss, penalty and method"},
                                {"sequences", "templates and pairs of labels"},
                                {"trees", "dependency parsing"},
                                {"online", "the online solvers"},
                                {"certified", "the solvers with a certificate"},
                                {"scale", "memory, processors, long runs"},
                                {"output", "what is written and printed"},
                                {0}};

const char cli_exit_codes[] = "0 fine, 1 failed, 2 wrong usage, 3 bad input, 130 interrupted";

/* Prints text from column `indent` on, broken at column WIDTH; the first line starts at `column`.
 */
static void print_wrapped(FILE *file, const char *text, int column, int indent)
{
    while (*text != '\0') {
        const size_t word = strcspn(text, " ");
        if (column > indent && column + (int)word + 1 > WIDTH) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', file);
            column++;
        }
        fprintf(file, "%.*s", (int)word, text);
        column += (int)word;
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', file);
}

static void print_option(FILE *file, const cli_option *option, bool briefly)
{
    char text[1024];
    const char letter = cli_letter(option->name);
    const bool is_brief = briefly && option->brief != NULL;
    int column = letter != '\0' ? fprintf(file, "  -%c, ", letter) : fprintf(file, "      ");
    column +=
        fprintf(file, "--%s%s%s", option->name, option->argument[0] ? " " : "", option->argument);
    if (column >= INDENT - 1) {
        fputc('\n', file);
        column = 0;
    }
    fprintf(file, "%*s", INDENT - column, "");
    const bool tells_default = !is_brief && option->fallback[0] != '\0';
    snprintf(text, sizeof text, "%s%s%s%s%s", is_brief ? option->brief : option->help,
             tells_default ? " (default " : "", tells_default ? option->fallback : "",
             tells_default ? ")" : "", option->repeatable && !is_brief ? "; repeatable" : "");
    print_wrapped(file, text, INDENT, INDENT);
}

static size_t count_options(const cli_command *command, const char *group)
{
    size_t count = 0;
    cli_option option;
    for (size_t i = 0; cli_option_at(command, i, &option); i++)
        count += group == NULL || strcmp(option.group, group) == 0;
    return count;
}

static void print_group(const cli_command *command, const cli_group *group, FILE *file)
{
    cli_option option;
    if (count_options(command, group->name) == 0)
        return;
    fprintf(file, "\n%s: %s\n", group->name, group->title);
    for (size_t i = 0; cli_option_at(command, i, &option); i++)
        if (strcmp(option.group, group->name) == 0)
            print_option(file, &option, false);
}

static void print_examples(const cli_command *command, size_t most, FILE *file)
{
    if (command->examples == NULL)
        return;
    fprintf(file, "\nexamples:\n");
    for (size_t i = 0; command->examples[i] != NULL && i / 2 < most; i += 2)
        fprintf(file, "  # %s\n  %s\n", command->examples[i], command->examples[i + 1]);
}

bool cli_has_group(const cli_command *command, const char *group)
{
    return count_options(command, group) > 0;
}

bool cli_print_options(const cli_command *command, const char *group, FILE *file)
{
    const bool all = strcmp(group, "all") == 0;
    const cli_group *g = cli_groups;
    while (!all && g->name != NULL &&
           (strcmp(g->name, group) != 0 || count_options(command, group) == 0))
        g++;
    if (g->name == NULL)
        return false;
    fprintf(file, "options of medley %s\n", command->name);
    for (; all && g->name != NULL; g++)
        print_group(command, g, file);
    if (all)
        print_examples(command, SIZE_MAX, file);
    else
        print_group(command, g, file);
    return true;
}

static void print_overview(FILE *file)
{
    fprintf(file,
            "Medley %s: multiple kernel learning. Bring many kernels or views of your data;\n"
            "it learns the predictor and which of them matter.\n\nusage: medley COMMAND "
            "[options]\n\n",
            medley_version());
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        fprintf(file, "  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fprintf(
        file,
        "\nStart with 'medley demo'. 'medley COMMAND --help' (or -h) explains each with examples,\n"
        "'medley --version' (or -V) tells the version.\n"
        "Exit codes: %s.\n",
        cli_exit_codes);
}

/* Which groups there are besides. */
static void print_groups(const cli_command *command, FILE *file)
{
    fprintf(file, "\nmore options: medley %s --help=GROUP (or =all)\n", command->name);
    for (const cli_group *g = cli_groups; g->name != NULL; g++)
        if (count_options(command, g->name) > 0)
            fprintf(file, "  %-10s %s\n", g->name, g->title);
}

void cli_print_help(const cli_command *command, FILE *file)
{
    enum { TWO = 2 };
    if (command == NULL) {
        print_overview(file);
        return;
    }
    const bool has_many = count_options(command, NULL) > FEW;
    size_t own = 0;
    cli_option option;
    while (command->options != NULL && command->options[own].name != NULL)
        own++;
    fprintf(file, "usage: medley %s %s\n\n", command->name, command->usage);
    print_wrapped(file, command->description, 0, 0);
    print_examples(command, has_many ? TWO : SIZE_MAX, file);
    for (size_t i = 0; cli_option_at(command, i, &option); i++) {
        if (i == 0)
            fprintf(file, "\noptions:\n");
        if (!has_many || i < own || option.brief != NULL)
            print_option(file, &option, has_many);
    }
    if (has_many)
        print_groups(command, file);
    fprintf(file, "\nalso: -h, --help; -V, --version\nexit codes: %s\n", cli_exit_codes);
}
