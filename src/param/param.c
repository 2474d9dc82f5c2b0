/* SPDX-License-Identifier: BSD-3-Clause */
/* Option tables: setting values from text with checks, defaults, and printing them back. */
#include "param/param.h"

#include <float.h>

/* Bytes of a value, by md_param_type. */
static const size_t SIZES[] = {
    [MD_DOUBLE] = sizeof(double), [MD_INT] = sizeof(long long), [MD_SIZE] = sizeof(size_t),
    [MD_FLAG] = sizeof(bool),     [MD_CHOICE] = sizeof(int),    [MD_STRING] = sizeof(char *),
    [MD_LIST] = sizeof(char **)};

static void *slot(const md_param *param, void *state)
{
    return (char *)state + param->offset;
}

static const void *const_slot(const md_param *param, const void *state)
{
    return (const char *)state + param->offset;
}

const md_param *md_params_find(const md_param *table, const char *name)
{
    for (const md_param *p = table; p->name != NULL; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

enum { GIVEN_SIZE = 512 };

/* How a message says what was given: "kernel rbf: sigma=-1"; where there is no owner it is an
 * option of training, marked as md_fail wants it: "`epochs='x'`". */
static const char *given(char text[GIVEN_SIZE], const char *what, const md_param *param,
                         const char *value, bool quoted)
{
    const char *quote = quoted ? "'" : "";
    snprintf(text, GIVEN_SIZE, "%s%s%s=%s%.400s%s%s", what ? what : "", what ? ": " : "`",
             param->name, quote, value, quote, what ? "" : "`");
    return text;
}

static medley_status fail_value(const md_param *param, const char *what, const char *value,
                                const char *expected, medley_error *error)
{
    char text[GIVEN_SIZE];
    return md_fail(error, MEDLEY_USAGE, "%s is not %s", given(text, what, param, value, true),
                   expected);
}

static medley_status fail_choice(const md_param *param, const char *what, const char *value,
                                 medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    const char *nearest = md_nearest_name(value, param->choices);
    for (size_t i = 0; param->choices[i] != NULL; i++)
        md_text_addf(&text, "%s%s", i ? ", " : "one of ", param->choices[i]);
    if (nearest != NULL)
        md_text_addf(&text, "; did you mean %s?", nearest);
    return fail_value(param, what, value, text.data ? text.data : "known", error);
}

static medley_status check_range(const md_param *param, const char *what, const char *value,
                                 double number, medley_error *error)
{
    char low[32];
    char high[32];
    char text[GIVEN_SIZE];
    if (param->least == param->most || (number >= param->least && number <= param->most))
        return MEDLEY_OK;
    given(text, what, param, value, false);
    if (param->most >= 1e300 && param->least > 0 && param->least <= 1e-300)
        return md_fail(error, MEDLEY_USAGE, "%s is out of range; give more than 0", text);
    if (param->most == INFINITY)
        return md_fail(error, MEDLEY_USAGE, "%s is out of range; give %s or more", text,
                       md_format_double(low, param->least));
    if (param->least == -INFINITY)
        return md_fail(error, MEDLEY_USAGE, "%s is out of range; give %s or less", text,
                       md_format_double(high, param->most));
    return md_fail(error, MEDLEY_USAGE, "%s is out of range; give %s to %s", text,
                   md_format_double(low, param->least), md_format_double(high, param->most));
}

static medley_status set_number(const md_param *param, void *target, const char *what,
                                const char *value, medley_error *error)
{
    const bool is_whole = param->type == MD_INT;
    long long whole = 0;
    double number = 0;
    if (is_whole && !md_parse_int(value, &whole))
        return fail_value(param, what, value, "a whole number", error);
    if (!is_whole && (!md_parse_double(value, &number) || !isfinite(number)))
        return fail_value(param, what, value, "a number", error);
    MEDLEY_TRY(check_range(param, what, value, is_whole ? (double)whole : number, error));
    memcpy(target, is_whole ? (const void *)&whole : &number, SIZES[param->type]);
    return MEDLEY_OK;
}

static medley_status set_flag(const md_param *param, bool *target, const char *what,
                              const char *value, medley_error *error)
{
    static const char *const yes[] = {"", "yes", "true", "1", NULL};
    static const char *const no[] = {"no", "false", "0", NULL};
    if (md_text_index(value, yes) >= 0)
        *target = true;
    else if (md_text_index(value, no) >= 0)
        *target = false;
    else
        return fail_value(param, what, value, "yes or no", error);
    return MEDLEY_OK;
}

static medley_status set_string(char **target, const char *value, medley_error *error)
{
    char *copy;
    MEDLEY_TRY(md_new_text(&copy, value, strlen(value), error));
    free(*target);
    *target = copy;
    return MEDLEY_OK;
}

/* "a, b, c", cleared by the caller. */
static md_text join(const char *const *names)
{
    md_text text = {0};
    for (size_t i = 0; names[i] != NULL; i++)
        md_text_addf(&text, "%s%s", i ? ", " : "", names[i]);
    return text;
}

medley_status md_fail_unknown(const char *kind, const char *name, const char *const *names,
                              medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text known = join(names);
    const char *nearest = md_nearest_name(name, names);
    return md_fail(error, MEDLEY_USAGE, "there is no %s '%s'; %s%s%sknown: %s", kind, name,
                   nearest ? "did you mean '" : "", nearest ? nearest : "", nearest ? "'? " : "",
                   md_text_string(&known));
}

static medley_status fail_unknown(const md_param *table, const char *what, const char *name,
                                  medley_error *error)
{
    const char *names[128] = {NULL};
    for (size_t i = 0; i < 127 && table[i].name != NULL; i++)
        names[i] = table[i].name;
    const char *nearest = md_nearest_name(name, names);
    what = what != NULL ? what : "the training";
    if (names[0] == NULL)
        return md_fail(error, MEDLEY_USAGE, "%s has no option '%s'; it takes none", what, name);
    if (nearest != NULL)
        return md_fail(error, MEDLEY_USAGE, "%s has no option '%s'; did you mean '%s'?", what, name,
                       nearest);
    MD_CLEARED(md_text_clear) md_text known = join(names);
    return md_fail(error, MEDLEY_USAGE, "%s has no option '%s'; known: %s", what, name,
                   md_text_string(&known));
}

medley_status md_params_set(const md_param *table, void *state, const char *what, const char *name,
                            const char *value, medley_error *error)
{
    const md_param *param = md_params_find(table, name);
    if (param == NULL)
        return fail_unknown(table, what, name, error);
    void *target = slot(param, state);
    switch (param->type) {
    case MD_DOUBLE:
    case MD_INT:
        return set_number(param, target, what, value, error);
    case MD_SIZE:
        if (!md_parse_size(value, target))
            return fail_value(param, what, value, "a size such as 512M or 2G", error);
        return MEDLEY_OK;
    case MD_FLAG:
        return set_flag(param, target, what, value, error);
    case MD_CHOICE: {
        const int choice = md_text_index(value, param->choices);
        if (choice < 0)
            return fail_choice(param, what, value, error);
        *(int *)target = choice;
        return MEDLEY_OK;
    }
    case MD_STRING:
        return set_string(target, value, error);
    case MD_LIST:
        return md_texts_add(target, value, error);
    }
    return MEDLEY_USAGE;
}

/* The first thing in a spec's parentheses is a bare number for the table's first option. */
static bool starts_with_value(const md_param *table, const md_spec *spec)
{
    double number;
    return spec->count > 0 && spec->values[0][0] == '\0' && table->name != NULL &&
           (table->type == MD_DOUBLE || table->type == MD_INT) &&
           md_params_find(table, spec->keys[0]) == NULL && md_parse_double(spec->keys[0], &number);
}

medley_status md_params_set_spec(const md_param *table, void *state, const char *what,
                                 const md_spec *spec, medley_error *error)
{
    const bool has_value = starts_with_value(table, spec);
    if (has_value)
        MEDLEY_TRY(md_params_set(table, state, what, table->name, spec->keys[0], error));
    for (size_t i = has_value; i < spec->count; i++) {
        if (has_value && strcmp(spec->keys[i], table->name) == 0)
            return md_fail(error, MEDLEY_USAGE, "%s: '%s' is given twice, as %s and as %s", what,
                           table->name, spec->keys[0], spec->values[i]);
        MEDLEY_TRY(md_params_set(table, state, what, spec->keys[i], spec->values[i], error));
    }
    return MEDLEY_OK;
}

medley_status md_params_defaults(const md_param *table, void *state, medley_error *error)
{
    for (const md_param *p = table; p->name != NULL; p++) {
        memset(slot(p, state), 0, SIZES[p->type]);
        if (p->type == MD_DOUBLE)
            *(double *)slot(p, state) = NAN;
    }
    for (const md_param *p = table; p->name != NULL; p++)
        if (p->fallback[0] != '\0')
            MEDLEY_TRY(md_params_set(table, state, "default", p->name, p->fallback, error));
    return MEDLEY_OK;
}

void md_params_clear(const md_param *table, void *state)
{
    for (const md_param *p = table; p->name != NULL; p++) {
        if (p->type == MD_STRING) {
            free(*(char **)slot(p, state));
            *(char **)slot(p, state) = NULL;
        } else if (p->type == MD_LIST) {
            md_texts_free(*(char ***)slot(p, state));
            *(char ***)slot(p, state) = NULL;
        }
    }
}

/* The value as text that reads back the same; lists and unset values give "". */
static const char *value_text(const md_param *param, const void *state, char buffer[32])
{
    const void *source = const_slot(param, state);
    switch (param->type) {
    case MD_DOUBLE:
        return isnan(*(const double *)source) ? ""
                                              : md_format_double(buffer, *(const double *)source);
    case MD_INT:
        snprintf(buffer, 32, "%lld", *(const long long *)source);
        return buffer;
    case MD_SIZE:
        snprintf(buffer, 32, "%zu", *(const size_t *)source);
        return buffer;
    case MD_FLAG:
        return *(const bool *)source ? "yes" : "no";
    case MD_CHOICE:
        return param->choices[*(const int *)source];
    case MD_STRING:
        return *(char *const *)source ? *(char *const *)source : "";
    case MD_LIST:
        break;
    }
    return "";
}

bool md_param_has_value(const md_param *param, const void *state, const char *value)
{
    char buffer[32];
    return param->type != MD_LIST && strcmp(value_text(param, state, buffer), value) == 0;
}

bool md_param_is_default(const md_param *param, const void *state)
{
    union {
        double number;
        long long whole;
        size_t size;
        bool flag;
        int choice;
    } fallback = {0};
    md_param table[] = {*param, {0}};
    char buffer[32];
    if (param->type == MD_LIST)
        return md_texts_count(*(char **const *)const_slot(param, state)) == 0;
    if (param->type == MD_STRING)
        return md_param_has_value(param, state, param->fallback);
    table[0].offset = 0;
    return md_params_defaults(table, &fallback, NULL) == MEDLEY_OK &&
           md_param_has_value(param, state, value_text(table, &fallback, buffer));
}

void md_params_print(const md_param *table, const void *state, md_text *text)
{
    bool first = true;
    for (const md_param *p = table; p->name != NULL; p++) {
        char buffer[32];
        if (p->type == MD_LIST || md_param_is_default(p, state))
            continue;
        md_text_addf(text, "%s%s=%s", first ? "" : ",", p->name, value_text(p, state, buffer));
        first = false;
    }
}

void md_params_describe(const md_param *table, const void *state, unsigned mask, unsigned roles,
                        md_text *text)
{
    for (const md_param *p = table; p->name != NULL; p++) {
        char buffer[32];
        if ((p->roles & mask) != roles || md_param_is_default(p, state))
            continue;
        char **const list = p->type == MD_LIST ? *(char **const *)const_slot(p, state) : NULL;
        for (size_t i = 0; list != NULL && list[i] != NULL; i++)
            md_text_addf(text, "%s=%s\n", p->name, list[i]);
        if (list == NULL)
            md_text_addf(text, "%s=%s\n", p->name, value_text(p, state, buffer));
    }
}

static medley_status copy_value(const md_param *param, void *copy, const void *state,
                                medley_error *error)
{
    void *target = slot(param, copy);
    const void *source = const_slot(param, state);
    if (param->type == MD_LIST) {
        for (char *const *item = *(char **const *)source; item != NULL && *item != NULL; item++)
            MEDLEY_TRY(md_texts_add(target, *item, error));
        return MEDLEY_OK;
    }
    if (param->type == MD_STRING) {
        const char *text = *(char *const *)source;
        return text != NULL ? set_string(target, text, error) : MEDLEY_OK;
    }
    memcpy(target, source, SIZES[param->type]);
    return MEDLEY_OK;
}

medley_status md_params_copy(const md_param *table, void *copy, const void *state,
                             medley_error *error)
{
    md_params_clear(table, copy);
    for (const md_param *p = table; p->name != NULL; p++)
        MEDLEY_TRY(copy_value(p, copy, state, error));
    return MEDLEY_OK;
}
