/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the command reference of the documents' site into a folder, from the tables of the command
 * line: a page for each command (train.md), one of everything that is chosen by name (choices.md)
 * and one that leads to them (index.md). Markdown with the directives of Sphinx, so that every
 * option has an anchor of its own and is found by the search. Runs during the build. */
#include "cli.h"

/* Markdown: what would be markup is written as it is. */
static void print_text(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("\\`*_{}[]<>#|~$", *text) != NULL)
            fputc('\\', file);
        fputc(*text, file);
    }
}

static void print_option(FILE *file, const cli_option *option)
{
    const char letter = cli_letter(option->name);
    fprintf(file, "\n```{option} ");
    if (letter != '\0')
        fprintf(file, "-%c, ", letter);
    fprintf(file, "--%s%s%s\n\n", option->name, option->argument[0] ? " " : "", option->argument);
    print_text(file, option->help);
    const size_t length = strlen(option->help);
    fprintf(file, "%s", length > 0 && option->help[length - 1] == '?' ? "" : ".");
    if (option->fallback[0] != '\0')
        fprintf(file, " Default: `%s`.", option->fallback);
    if (option->repeatable)
        fprintf(file, " May be repeated.");
    fprintf(file, "\n```\n");
}

static void print_group(FILE *file, const cli_command *command, const cli_group *group)
{
    cli_option option;
    bool found = false;
    for (size_t i = 0; cli_option_at(command, i, &option); i++) {
        if (strcmp(option.group, group->name) != 0)
            continue;
        if (!found)
            fprintf(file, "\n## Options: %s\n\n%c%s.\n", group->name, group->title[0] - 'a' + 'A',
                    group->title + 1);
        found = true;
        print_option(file, &option);
    }
}

static void print_command(FILE *file, const cli_command *command)
{
    fprintf(file, "# medley %s\n\n", command->name);
    print_text(file, command->description);
    fprintf(file, "\n\n```text\nmedley %s %s\n```\n", command->name, command->usage);
    if (command->examples != NULL)
        fprintf(file, "\n## Examples\n\n```sh\n");
    for (size_t i = 0; command->examples != NULL && command->examples[i] != NULL; i += 2)
        fprintf(file, "%s# %s\n%s\n", i ? "\n" : "", command->examples[i],
                command->examples[i + 1]);
    fprintf(file, "%s\n```{program} medley %s\n```\n", command->examples ? "```\n" : "",
            command->name);
    for (const cli_group *group = cli_groups; group->name != NULL; group++)
        print_group(file, command, group);
    fprintf(file, "\n## Exit codes\n\n%s.\n", cli_exit_codes);
}

static void print_index(FILE *file)
{
    fprintf(file,
            "# The command\n\n`medley COMMAND [options]`. These pages are made from the tables "
            "that parse the command line; `medley COMMAND --help` and the manual pages say "
            "the same.\n\n| command | |\n|---|---|\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        fprintf(file, "| [`medley %s`](%s.md) | ", cli_commands[i]->name, cli_commands[i]->name);
        print_text(file, cli_commands[i]->summary);
        fprintf(file, " |\n");
    }
    fprintf(file, "\n[What can be chosen by name](choices.md): kernels, penalties, losses, methods "
                  "and more.\n\n```{toctree}\n:hidden:\n\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        fprintf(file, "medley %s <%s>\n", cli_commands[i]->name, cli_commands[i]->name);
    fprintf(file, "choices\n```\n");
}

static void print_choices(FILE *file)
{
    fprintf(file, "# What can be chosen by name\n\nAs `medley list` prints it.\n");
    const char *const *kinds = medley_list_kinds();
    for (size_t k = 0; kinds[k] != NULL; k++) {
        medley_listing listing = MEDLEY_LISTING_INIT;
        fprintf(file, "\n## %c%s\n", kinds[k][0] - 'a' + 'A', kinds[k] + 1);
        for (size_t i = 0; medley_list(&listing, kinds[k], i); i++) {
            fprintf(file, "\n(%s-%s)=\n**`%s`**: ", kinds[k], listing.name, listing.name);
            print_text(file, listing.summary);
            fprintf(file, ".\n");
            if (listing.formula != NULL)
                fprintf(file, "\n> `%s`\n", listing.formula);
            if (listing.parameters[0] != '\0')
                fprintf(file, "\n> Options: `%s`\n", listing.parameters);
        }
    }
}

/* Writes one page: that of a command, or, where it is NULL, the one of this name. */
static bool write_page(const char *folder, const char *name, const cli_command *command)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.md", folder, name);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        fprintf(stderr, "make_pages: cannot write %s\n", path);
        return false;
    }
    if (command != NULL)
        print_command(file, command);
    else if (strcmp(name, "index") == 0)
        print_index(file);
    else
        print_choices(file);
    return fclose(file) == 0;
}

int main(int count, char **words)
{
    if (count != 2) {
        fprintf(stderr, "usage: make_pages FOLDER\n");
        return 2;
    }
    bool fine = write_page(words[1], "index", NULL) && write_page(words[1], "choices", NULL);
    for (size_t i = 0; fine && cli_commands[i] != NULL; i++)
        fine = write_page(words[1], cli_commands[i]->name, cli_commands[i]);
    return !fine;
}
