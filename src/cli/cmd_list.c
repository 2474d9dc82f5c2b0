/* SPDX-License-Identifier: BSD-3-Clause */
/* medley list: what can be chosen by name. */
#include "cli.h"

static int longest_name(const char *kind)
{
    medley_listing listing = MEDLEY_LISTING_INIT;
    size_t longest = 0;
    for (size_t i = 0; medley_list(&listing, kind, i); i++)
        longest = strlen(listing.name) > longest ? strlen(listing.name) : longest;
    return (int)longest;
}

static void print_kind(const char *kind, bool json)
{
    medley_listing listing = MEDLEY_LISTING_INIT;
    const int width = longest_name(kind);
    if (json)
        json_open(stdout, kind, '[');
    else
        printf("%s\n", kind);
    for (size_t i = 0; medley_list(&listing, kind, i); i++) {
        if (!json) {
            printf("  %-*s  %s%s%s\n", width, listing.name, listing.summary,
                   listing.formula ? ": " : "", listing.formula ? listing.formula : "");
            if (listing.parameters[0] != '\0')
                printf("  %-*s  options: %s\n", width, "", listing.parameters);
            continue;
        }
        json_open(stdout, NULL, '{');
        json_string(stdout, "name", listing.name);
        json_string(stdout, "summary", listing.summary);
        json_string(stdout, "formula", listing.formula);
        json_string(stdout, "parameters", listing.parameters);
        json_close(stdout, '}');
    }
    if (json)
        json_close(stdout, ']');
}

static medley_status check_kind(const char *wanted, const char *const *kinds, medley_error *error)
{
    if (cli_is_any(wanted, kinds))
        return MEDLEY_OK;
    const char *nearest = medley_nearest_name(wanted, kinds);
    return cli_refuse(error,
                      "there is no list of '%s'; %s%s%sthere are kernels, penalties, losses, "
                      "methods, formats, generators, structures, templates and tasks",
                      wanted, nearest ? "did you mean '" : "", nearest ? nearest : "",
                      nearest ? "'? " : "");
}

static bool is_wanted(const cli_arguments *arguments, const char *kind)
{
    for (size_t w = 0; w < arguments->word_count; w++)
        if (strcmp(arguments->words[w], kind) == 0)
            return true;
    return arguments->word_count == 0;
}

static medley_status run_list(cli_arguments *arguments, medley_error *error)
{
    const char *const *kinds = medley_list_kinds();
    for (size_t w = 0; w < arguments->word_count; w++)
        CLI_TRY(check_kind(arguments->words[w], kinds, error));
    if (arguments->json)
        json_open(stdout, NULL, '{');
    for (size_t i = 0; kinds[i] != NULL; i++)
        if (is_wanted(arguments, kinds[i]))
            print_kind(kinds[i], arguments->json);
    if (arguments->json)
        json_end(stdout);
    else if (is_wanted(arguments, "kernels"))
        printf("\nEvery kernel also takes norm=none|diag|trace|center, and @VIEW after it.\n");
    return MEDLEY_OK;
}

static const char *const examples[] = {"all kernels with their options", "medley list kernels",
                                       NULL};

const cli_command cli_command_list = {
    .name = "list",
    .usage = "[KIND...]",
    .summary = "list kernels, penalties, losses, methods, formats, generators",
    .description =
        "Lists what can be chosen by name, with formulas, options and their defaults. KIND is "
        "kernels, penalties, losses, methods, formats, generators, structures, templates or tasks; "
        "without it, everything is listed.",
    .groups = CLI_RUN,
    .examples = examples,
    .run = run_list,
};
