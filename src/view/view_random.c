/* SPDX-License-Identifier: BSD-3-Clause */
/* Random views: sets of columns that hold each column by the toss of a fair coin, drawn again while
 * empty. Views follow one another in one stream of random bits, so random:50 begins with the views
 * of random:20, and a seed gives the same views on every machine. */
#include "base/random.h"
#include "view/view_internal.h"

enum { MOST_RANDOM_VIEWS = 1000000 };

/* "random:COUNT" or "random:COUNT:SEED". */
static medley_status parse_random(const char *spec, size_t *count, uint64_t *seed,
                                  medley_error *error)
{
    const char *rest = strchr(spec, ':') + 1;
    const size_t length = strcspn(rest, ":");
    char text[24] = "";
    long long views = 0;
    long long given_seed = 1;
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : 0), rest);
    if (!md_parse_int(text, &views))
        return md_fail(error, MEDLEY_USAGE,
                       "views '%s': '%.*s' is not a whole number; write random:COUNT or "
                       "random:COUNT:SEED, e.g. random:50",
                       spec, (int)(length < 80 ? length : 80), rest);
    if (views < 1 || views > MOST_RANDOM_VIEWS)
        return md_fail(error, MEDLEY_USAGE, "views '%s': ask for 1 to %d random views", spec,
                       MOST_RANDOM_VIEWS);
    if (rest[length] == ':' && (!md_parse_int(rest + length + 1, &given_seed) || given_seed < 0))
        return md_fail(error, MEDLEY_USAGE,
                       "views '%s': the seed '%s' is not a whole number from 0 on", spec,
                       rest + length + 1);
    *count = (size_t)views;
    *seed = (uint64_t)given_seed;
    return MEDLEY_OK;
}

/* The lists of columns alone may be more than there is memory, if the table is a wide sparse one.
 */
static medley_status check_memory(size_t count, size_t columns, medley_error *error)
{
    const size_t small = (size_t)1 << 24; /* not worth asking the system */
    const double bytes = (double)count * (double)columns * (double)sizeof(size_t) / 2;
    if (bytes < (double)small)
        return MEDLEY_OK;
    const size_t available = md_memory_available();
    return available > 0 && bytes > (double)available ? md_fail_memory(error, (size_t)bytes)
                                                      : MEDLEY_OK;
}

/* Marks each column by a coin; returns how many are in. */
static size_t toss_coins(bool *in, size_t columns, md_random *random)
{
    size_t kept = 0;
    uint64_t coins = 0;
    for (size_t c = 0; c < columns; c++) {
        if (c % 64 == 0)
            coins = md_random_bits(random);
        in[c] = coins >> (c % 64) & 1;
        kept += in[c];
    }
    return kept;
}

static medley_status add_view(md_view_maker *maker, const md_table *table, size_t number,
                              const bool *in, size_t kept)
{
    char name[32];
    md_view *view;
    snprintf(name, sizeof name, "random%zu", number);
    MEDLEY_TRY(md_view_new(&view, maker, table, "random", name, kept));
    for (size_t c = 0; c < table->features.columns; c++)
        if (in[c])
            view->columns[view->column_count++] = c;
    return MEDLEY_OK;
}

/* Two draws would share their names. */
static bool are_there(const md_view_maker *maker, const md_table *table)
{
    for (size_t v = 0; v < maker->count; v++)
        if (strcmp(maker->views[v].group, "random") == 0 &&
            strcmp(maker->views[v].table, table->name) == 0)
            return true;
    return false;
}

medley_status md_view_make_random(md_view_maker *maker, const md_table *table, const char *spec)
{
    const size_t columns = table->features.columns;
    size_t count = 0;
    uint64_t seed = 0;
    md_random random;
    MD_OWNED(free) bool *in = NULL;
    MEDLEY_TRY(parse_random(spec, &count, &seed, maker->error));
    if (are_there(maker, table))
        return md_fail(maker->error, MEDLEY_USAGE,
                       "views '%s': random views can be asked for once; give the number of all",
                       spec);
    if (columns == 0)
        return md_fail(maker->error, MEDLEY_USAGE, "views '%s': the data have no columns", spec);
    MEDLEY_TRY(check_memory(count, columns, maker->error));
    MEDLEY_TRY(md_new(&in, columns, sizeof *in, maker->error));
    md_random_seed(&random, seed);
    for (size_t number = 1; number <= count; number++) {
        size_t kept = 0;
        while (kept == 0)
            kept = toss_coins(in, columns, &random);
        MEDLEY_TRY(add_view(maker, table, number, in, kept));
    }
    return MEDLEY_OK;
}
