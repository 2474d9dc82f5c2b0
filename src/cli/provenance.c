/* SPDX-License-Identifier: BSD-3-Clause */
/* How a report came about, for those who want to repeat it: the command line, quoted for a shell,
 * and the date. */
#include "cli.h"

#include <time.h>

/* Does the word need no quotes in a shell? */
static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:@%^";
    return word[0] != '\0' && word[strspn(word, plain)] == '\0';
}

/* Appends a space and the word; returns the end. There is room for four times its length. */
static char *add_word(char *end, const char *word)
{
    const bool plain = is_plain(word);
    *end++ = ' ';
    if (!plain)
        *end++ = '\'';
    for (; *word != '\0'; word++) {
        const size_t length = *word == '\'' ? 4 : 1;
        memcpy(end, *word == '\'' ? "'\\''" : word, length);
        end += length;
    }
    if (!plain)
        *end++ = '\'';
    *end = '\0';
    return end;
}

/* How many of the words are the option of this name (--output FILE, -o FILE, --output=FILE). */
static size_t option_words(const char *word, const char *name)
{
    const size_t length = strlen(name);
    if (strncmp(word, "--", 2) == 0 && strncmp(word + 2, name, length) == 0)
        return word[2 + length] == '=' ? 1 : word[2 + length] == '\0' ? 2 : 0;
    const bool is_letter = word[0] == '-' && word[1] != '\0' && word[1] == cli_letter(name);
    return !is_letter ? 0 : word[2] == '\0' ? 2 : 1;
}

/* SOURCE_DATE_EPOCH stands for the clock where files must come out the same. */
static void tell_date(char date[CLI_DATE_BYTES])
{
    const char *given = getenv("SOURCE_DATE_EPOCH");
    size_t seconds = 0;
    time_t now = time(NULL);
    struct tm parts = {0};
    if (given != NULL && cli_read_count(given, &seconds))
        now = (time_t)seconds;
    date[0] = '\0';
    if (gmtime_r(&now, &parts) != NULL)
        strftime(date, CLI_DATE_BYTES, "%Y-%m-%d %H:%M UTC", &parts);
}

medley_status cli_tell_provenance(medley_report_options *options, cli_provenance *provenance,
                                  const cli_arguments *arguments, const char *left_out,
                                  medley_error *error)
{
    size_t size = sizeof "medley" + strlen(arguments->command->name) + 1;
    for (size_t i = 0; i < arguments->typed_count; i++)
        size += 4 * strlen(arguments->typed[i]) + 3;
    char *end = provenance->command = malloc(size);
    if (end == NULL)
        return cli_error(error, MEDLEY_FAILED, "out of memory (%zu bytes)", size);
    end += snprintf(end, size, "medley %s", arguments->command->name);
    for (size_t i = 0; i < arguments->typed_count;) {
        const size_t skipped = left_out != NULL ? option_words(arguments->typed[i], left_out) : 0;
        if (skipped == 0)
            end = add_word(end, arguments->typed[i]);
        i += skipped > 0 ? skipped : 1;
    }
    tell_date(provenance->date);
    options->command = provenance->command;
    options->date = provenance->date;
    return MEDLEY_OK;
}

void cli_provenance_clear(cli_provenance *provenance)
{
    free(provenance->command);
}
