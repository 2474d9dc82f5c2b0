/* SPDX-License-Identifier: BSD-3-Clause */
/* The one check of options against the parties of a run. It knows the table and what the
 * parties say of themselves, nothing of tasks and methods. */
#include "settings/about.h"

enum { MOST_NAMES = 10 }; /* longer lists of names help nobody */

struct run {
    const medley_options *options;
    const md_party *parties;
    size_t count;
};

bool md_options_favour(const medley_options *options, unsigned one, unsigned other)
{
    for (const md_param *p = md_option_table; p->name != NULL; p++)
        if ((p->concerns & one) != 0 && (p->concerns & other) == 0 &&
            !md_param_is_default(p, options))
            return true;
    return false;
}

/* The value that an option has anyway in this run, or NULL. */
static const char *held_value(const struct run *run, const char *option)
{
    for (size_t i = 0; i < run->count; i++)
        for (const md_held *h = run->parties[i].about.holds; h != NULL && h->option != NULL; h++)
            if (strcmp(h->option, option) == 0)
                return h->value;
    return NULL;
}

static bool is_taken(const struct run *run, const md_param *param)
{
    const char *held = held_value(run, param->name);
    bool taken = param->concerns == 0 && held == NULL;
    for (size_t i = 0; i < run->count; i++)
        taken = taken || (run->parties[i].about.takes & param->concerns) != 0;
    return taken || (held != NULL && md_param_has_value(param, run->options, held)) ||
           (param->idle != NULL && md_param_has_value(param, run->options, param->idle));
}

/* ---- the sentence ---- */

/* A method may have two forms of one name, and only the other form take the option. */
static bool is_other_taker(const md_party *party, const md_about *about, unsigned concerns)
{
    const char *name = party->about.name;
    return (about->takes & concerns) != 0 && (name == NULL || strcmp(about->name, name) != 0);
}

static size_t count_takers(const md_party *party, unsigned concerns, size_t *all)
{
    size_t takers = 0;
    *all = 0;
    for (md_about about; party->list && (about = party->list(*all)).name != NULL; ++*all)
        takers += is_other_taker(party, &about, concerns);
    return takers;
}

/* "is about methods obscure and pegasos and ", or nothing where that says little. */
static void add_takers(md_text *text, const md_party *party, unsigned concerns)
{
    size_t all;
    const size_t takers = count_takers(party, concerns, &all);
    if (takers == 0 || takers == all || takers > MOST_NAMES)
        return;
    md_text_addf(text, "is about %s%s ", party->kind, takers > 1 ? "s" : "");
    size_t named = 0;
    for (size_t i = 0; i < all; i++) {
        const md_about about = party->list(i);
        if (!is_other_taker(party, &about, concerns))
            continue;
        named++;
        md_text_addf(text, "%s%s", about.name, named + 1 >= takers ? " and " : ", ");
    }
}

static medley_status refuse(const struct run *run, const md_param *param, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    const md_party *where = run->parties;
    for (size_t i = 0; i < run->count; i++) {
        size_t all;
        const md_party *party = &run->parties[i];
        add_takers(&text, party, param->concerns);
        if (party->about.name != NULL && (where->about.name == NULL || party->list == NULL ||
                                          count_takers(party, param->concerns, &all) > 0))
            where = party;
    }
    md_text_addf(&text, "has no place in ");
    md_text_addf(&text, where->kind ? "`%s=%s`; " : "%s%s; ", where->kind ? where->kind : "",
                 where->about.name);
    md_text_addf(&text, param->instead ? "%s" : "leave out `%s`",
                 param->instead ? param->instead : param->name);
    if (held_value(run, param->name) != NULL)
        md_text_addf(&text, ", or say %s", held_value(run, param->name));
    return text.failed ? md_fail_memory(error, text.length)
                       : md_fail(error, MEDLEY_USAGE, "`%s` %s", param->name, text.data);
}

static medley_status check_need(const struct run *run, const md_param *param, medley_error *error)
{
    const md_param *needed = md_params_find(md_option_table, param->needs);
    bool met = !md_param_is_default(needed, run->options) || held_value(run, needed->name) != NULL;
    for (size_t i = 0; i < run->count; i++) /* a party that is not known yet may bring it along */
        met = met || (run->parties[i].list != NULL && run->parties[i].about.name == NULL);
    if (met)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE, "`%s` needs `%s%s%s`; give both, or leave out `%s`",
                   param->name, needed->name, needed->argument[0] ? "=" : "", needed->argument,
                   param->name);
}

medley_status md_options_check(const medley_options *options, const md_party *parties, size_t count,
                               medley_error *error)
{
    const struct run run = {.options = options, .parties = parties, .count = count};
    for (const md_param *p = md_option_table; p->name != NULL; p++) {
        if (md_param_is_default(p, options))
            continue;
        if (!is_taken(&run, p))
            return refuse(&run, p, error);
        if (p->needs != NULL)
            MEDLEY_TRY(check_need(&run, p, error));
    }
    return MEDLEY_OK;
}
