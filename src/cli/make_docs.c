/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the manual pages (medley.1, medley-COMMAND.1) and the completions of bash, zsh and fish
 * (medley.bash, medley.zsh, medley.fish) from the tables of the command line into a folder. Runs
 * during the build. */
#include "cli.h"

/* roff: a backslash and a leading dot or quote are special, '-' must be written \-. */
static void print_roff(FILE *file, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", file);
    for (; *text != '\0'; text++) {
        if (*text == '-')
            fputs("\\-", file);
        else if (*text == '\\')
            fputs("\\e", file);
        else
            fputc(*text, file);
    }
}

static void print_exit_status(FILE *file)
{
    fprintf(file, ".SH EXIT STATUS\n%s.\n", cli_exit_codes);
}

static void print_title(FILE *file, const char *name, const char *summary)
{
    fprintf(file, ".TH \"%s\" 1 \"\" \"Medley %s\" \"Medley manual\"\n.SH NAME\n", name,
            medley_version());
    print_roff(file, name);
    fprintf(file, " \\- ");
    print_roff(file, summary);
    fprintf(file, "\n");
}

static void print_option(FILE *file, const cli_option *option)
{
    const char letter = cli_letter(option->name);
    fprintf(file, ".TP\n.B ");
    if (letter != '\0')
        fprintf(file, "\\-%c, ", letter);
    fprintf(file, "\\-\\-");
    print_roff(file, option->name);
    if (option->argument[0] != '\0') {
        fprintf(file, " ");
        print_roff(file, option->argument);
    }
    fprintf(file, "\n");
    print_roff(file, option->help);
    fprintf(file, ".%s%s%s\n", option->fallback[0] ? " Default: " : "", option->fallback,
            option->fallback[0]  ? "."
            : option->repeatable ? " May be repeated."
                                 : "");
}

/* Group by group, as --help=all has them. */
static void print_options(FILE *file, const cli_command *command)
{
    fprintf(file, ".SH OPTIONS\n");
    for (const cli_group *group = cli_groups; group->name != NULL; group++) {
        cli_option option;
        bool is_first = true;
        for (size_t i = 0; cli_option_at(command, i, &option); i++) {
            if (strcmp(option.group, group->name) != 0)
                continue;
            if (is_first)
                fprintf(file, ".SS %s: %s\n", group->name, group->title);
            is_first = false;
            print_option(file, &option);
        }
    }
}

static void print_command_page(FILE *file, const cli_command *command)
{
    char name[64];
    snprintf(name, sizeof name, "medley-%s", command->name);
    print_title(file, name, command->summary);
    fprintf(file, ".SH SYNOPSIS\n.B medley %s\n", command->name);
    print_roff(file, command->usage);
    fprintf(file, "\n.SH DESCRIPTION\n");
    print_roff(file, command->description);
    fprintf(file, "\n");
    print_options(file, command);
    if (command->examples != NULL)
        fprintf(file, ".SH EXAMPLES\n");
    for (size_t i = 0; command->examples != NULL && command->examples[i] != NULL; i += 2) {
        fprintf(file, ".PP\n");
        print_roff(file, command->examples[i]);
        fprintf(file, ":\n.PP\n.nf\n    ");
        print_roff(file, command->examples[i + 1]);
        fprintf(file, "\n.fi\n");
    }
    print_exit_status(file);
    fprintf(file, ".SH SEE ALSO\n.BR medley (1)\n");
}

static void print_overview_page(FILE *file)
{
    print_title(file, "medley", "multiple kernel learning");
    fprintf(file, ".SH SYNOPSIS\n.B medley\n.I COMMAND\n[options]\n.SH DESCRIPTION\n"
                  "Medley learns a predictor from many kernels or views of the data, and which of "
                  "them matter.\n.B medley \\-\\-version\nnames the BLAS in use, too.\n"
                  ".SH COMMANDS\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        fprintf(file, ".TP\n.BR medley\\-%s (1)\n", cli_commands[i]->name);
        print_roff(file, cli_commands[i]->summary);
        fprintf(file, "\n");
    }
    const char *const *kinds = medley_list_kinds();
    for (size_t k = 0; kinds[k] != NULL; k++) {
        medley_listing listing = MEDLEY_LISTING_INIT;
        fprintf(file, ".SH %s\n", kinds[k]);
        for (size_t i = 0; medley_list(&listing, kinds[k], i); i++) {
            fprintf(file, ".TP\n.B ");
            print_roff(file, listing.name);
            fprintf(file, "\n");
            print_roff(file, listing.summary);
            if (listing.formula != NULL) {
                fprintf(file, ": ");
                print_roff(file, listing.formula);
            }
            if (listing.parameters[0] != '\0') {
                fprintf(file, ". Options: ");
                print_roff(file, listing.parameters);
            }
            fprintf(file, "\n");
        }
    }
    print_exit_status(file);
}

/* ---- completions ---- */

/* Word number `index` that a command takes beside options and files; NULL: no more. */
static const char *word_at(const cli_command *command, size_t index)
{
    medley_listing listing = MEDLEY_LISTING_INIT;
    if (strcmp(command->name, "list") == 0)
        return medley_list_kinds()[index];
    if (strcmp(command->name, "generate") == 0 && medley_list(&listing, "generators", index))
        return listing.name;
    return NULL;
}

/* Inside of single quotes. special: characters that the shell's completion wants a backslash
 * before. */
static void print_quoted(FILE *file, const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", file); /* ends the quotes, a quote, begins them again */
            continue;
        }
        if (strchr(special, *text) != NULL)
            fputc('\\', file);
        fputc(*text, file);
    }
}

static void print_bash(FILE *file)
{
    fprintf(file, "# bash completion for medley\n_medley()\n{\n"
                  "    local current=${COMP_WORDS[COMP_CWORD]} options=\n"
                  "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        fprintf(file, "%s%s", i ? " " : "", cli_commands[i]->name);
    fprintf(file, "\" -- \"$current\"))\n        return\n    fi\n"
                  "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        cli_option option;
        fprintf(file, "    %s) options=\"--help --version", cli_commands[i]->name);
        for (size_t j = 0; cli_option_at(cli_commands[i], j, &option); j++)
            fprintf(file, " --%s", option.name);
        for (size_t k = 0; word_at(cli_commands[i], k) != NULL; k++)
            fprintf(file, " %s", word_at(cli_commands[i], k));
        fprintf(file, "\" ;;\n");
    }
    fprintf(file, "    esac\n    case $current in\n"
                  "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")) ;;\n"
                  "    *) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")\n"
                  "        $(compgen -f -- \"$current\")) ;;\n"
                  "    esac\n}\ncomplete -o filenames -F _medley medley\n");
}

/* The arguments of zsh's _arguments for one command. */
static void print_zsh_arguments(FILE *file, const cli_command *command)
{
    cli_option option;
    fprintf(file, " \\\n            '(-h --help)'{-h,--help}'[show the options]'"
                  " \\\n            '(-V --version)'{-V,--version}'[show the version]'");
    for (size_t j = 0; cli_option_at(command, j, &option); j++) {
        const char letter = cli_letter(option.name);
        const char *value = option.argument[0] ? "=" : "";
        fprintf(file, " \\\n            ");
        if (letter != '\0') /* -m FILE, -mFILE, --model FILE or --model=FILE */
            fprintf(file, "'(-%c --%s)'{-%c%s,--%s%s}'[", letter, option.name, letter,
                    value[0] ? "+" : "", option.name, value);
        else
            fprintf(file, "'%s--%s%s[", option.repeatable ? "*" : "", option.name, value);
        print_quoted(file, option.help, "[]:\\");
        fprintf(file, "]");
        if (option.argument[0] != '\0') {
            fprintf(file, ":");
            print_quoted(file, option.argument, ":\\");
            fprintf(file, ":_files");
        }
        fprintf(file, "'");
    }
    if (word_at(command, 0) == NULL) {
        fprintf(file, " \\\n            '*:file:_files'");
        return;
    }
    fprintf(file, " \\\n            '*:word:(");
    for (size_t k = 0; word_at(command, k) != NULL; k++)
        fprintf(file, "%s%s", k ? " " : "", word_at(command, k));
    fprintf(file, ")'");
}

static void print_zsh(FILE *file)
{
    fprintf(file, "#compdef medley\n_medley()\n{\n    local -a commands=(\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        fprintf(file, "        '%s:", cli_commands[i]->name);
        print_quoted(file, cli_commands[i]->summary, ":\\");
        fprintf(file, "'\n");
    }
    fprintf(file, "    )\n    if (( CURRENT == 2 )); then\n"
                  "        _describe command commands\n        return\n    fi\n"
                  "    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        fprintf(file, "    %s)\n        _arguments", cli_commands[i]->name);
        print_zsh_arguments(file, cli_commands[i]);
        fprintf(file, "\n        ;;\n");
    }
    fprintf(file, "    esac\n}\n_medley \"$@\"\n");
}

static void print_fish_line(FILE *file, const char *command, const char *option, char letter,
                            const char *needs, const char *help)
{
    const char short_option[] = {' ', '-', 's', ' ', letter, '\0'};
    fprintf(file, "complete -c medley -n '__fish_seen_subcommand_from %s' -l %s%s%s -d '", command,
            option, letter != '\0' ? short_option : "", needs);
    print_quoted(file, help, "\\");
    fprintf(file, "'\n");
}

static void print_fish(FILE *file)
{
    fprintf(file, "# fish completion for medley\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const cli_command *command = cli_commands[i];
        cli_option option;
        fprintf(file, "complete -c medley -n __fish_use_subcommand -f -a %s -d '", command->name);
        print_quoted(file, command->summary, "\\");
        fprintf(file, "'\n");
        print_fish_line(file, command->name, "help", 'h', "", "show the options");
        print_fish_line(file, command->name, "version", 'V', "", "show the version");
        for (size_t j = 0; cli_option_at(command, j, &option); j++)
            print_fish_line(file, command->name, option.name, cli_letter(option.name),
                            option.argument[0] ? " -r" : "", option.help);
        for (size_t k = 0; word_at(command, k) != NULL; k++)
            fprintf(file, "complete -c medley -n '__fish_seen_subcommand_from %s' -f -a %s\n",
                    command->name, word_at(command, k));
    }
}

/* ---- files ---- */

static const struct page {
    const char *ending;
    void (*print)(FILE *file);
} pages[] = {
    {".1", print_overview_page}, /* the first: pages of single commands end like it */
    {".bash", print_bash},
    {".zsh", print_zsh},
    {".fish", print_fish},
};
enum { PAGES = sizeof pages / sizeof pages[0] };

/* Writes medley-COMMAND.1, or, where command is NULL, a page for all commands. */
static bool write_file(const char *folder, const cli_command *command, const struct page *page)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/medley%s%s%s", folder, command ? "-" : "",
             command ? command->name : "", page->ending);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        fprintf(stderr, "make_docs: cannot write %s\n", path);
        return false;
    }
    if (command != NULL)
        print_command_page(file, command);
    else
        page->print(file);
    return fclose(file) == 0;
}

int main(int count, char **words)
{
    if (count != 2) {
        fprintf(stderr, "usage: make_docs FOLDER\n");
        return 2;
    }
    bool fine = true;
    for (size_t i = 0; fine && i < PAGES; i++)
        fine = write_file(words[1], NULL, &pages[i]);
    for (size_t i = 0; fine && cli_commands[i] != NULL; i++)
        fine = write_file(words[1], cli_commands[i], &pages[0]);
    return !fine;
}
