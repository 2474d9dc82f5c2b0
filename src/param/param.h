/* SPDX-License-Identifier: BSD-3-Clause */
/* Self-describing options. Name, type, default, range and help of each option are written once, in
 * a table; the command line, --help, the manual, model files and bindings read the table.
 *
 * A *spec* is a name with options: `rbf(sigma2=5,norm=diag)@left`. */
#ifndef MD_PARAM_H
#define MD_PARAM_H

#include "base/text.h"

typedef enum md_param_type {
    MD_DOUBLE, /* double; NAN in the state means "not given" where the default is "" */
    MD_INT,    /* long long */
    MD_SIZE,   /* size_t bytes, "2G" */
    MD_FLAG,   /* bool: yes/no/true/false/1/0, a bare name means yes */
    MD_CHOICE, /* int: index into choices */
    MD_STRING, /* char *: owned by the state, NULL if not given */
    MD_LIST    /* char **: repeatable; owned, NULL-terminated, NULL if never given */
} md_param_type;

typedef struct md_param {
    const char *name;
    md_param_type type;
    size_t offset;              /* of the value in the state struct */
    const char *fallback;       /* default as text; "" = not given */
    double least, most;         /* inclusive range for numbers; least == most: no range */
    const char *const *choices; /* MD_CHOICE: NULL-terminated names */
    const char *argument;       /* placeholder in help: "X", "FILE" */
    const char *help;           /* one sentence */
    const char *brief;          /* a few words, of options of everyday work; NULL: none */
    const char *group;          /* of options that stand together in help; NULL: none */

    /* For the owner of the table; no function here but md_params_describe looks at them. */
    unsigned concerns;   /* bits of the owners that use it; 0: all */
    unsigned roles;      /* bits */
    const char *idle;    /* a value that asks for nothing and may be given to anybody */
    const char *needs;   /* another option, without which this one means nothing */
    const char *instead; /* what to do where it has no use; NULL: leave it out */
} md_param;

/* A table ends with a row whose name is NULL.
 *
 * The row of a number with a range: a field of a struct, or all of the state there is. */
#define MD_NUMBER_AT(place, key, standard, low, high, letter, sentence)                            \
    .name = (key), .type = MD_DOUBLE, .offset = (place), .fallback = (standard), .least = (low),   \
    .most = (high), .argument = (letter), .help = (sentence)
#define MD_NUMBER(owner, field, ...) MD_NUMBER_AT(offsetof(owner, field), #field, __VA_ARGS__)
#define MD_ONE_NUMBER(key, ...)                                                                    \
    {                                                                                              \
        {MD_NUMBER_AT(0, key, __VA_ARGS__)},                                                       \
        {                                                                                          \
            .name = NULL                                                                           \
        }                                                                                          \
    }

static inline double md_number(const void *state)
{
    return *(const double *)state;
}

/* A row for a number within a range, kept in a field of the state. */
#define MD_PARAM_NUMBER(key, kind, state, field, otherwise, low, high)                             \
    {                                                                                              \
        .name = (key), .type = (kind), .offset = offsetof(state, field), .fallback = (otherwise),  \
        .least = (low), .most = (high)                                                             \
    }

medley_status md_params_defaults(const md_param *table, void *state, medley_error *error);
void md_params_clear(const md_param *table, void *state); /* frees strings and lists */
const md_param *md_params_find(const md_param *table, const char *name);

/* what: the owner's name for messages, e.g. "kernel rbf"; NULL: an option of training. */
medley_status md_params_set(const md_param *table, void *state, const char *what, const char *name,
                            const char *value, medley_error *error);

/* Appends "key=value,key=value" for the values that differ from their defaults. Lists are left out:
 * they have no form inside a spec. */
void md_params_print(const md_param *table, const void *state, md_text *text);

/* Appends a line "name=value" for every value that differs from its default, lists item by item, of
 * the options whose roles, as far as they are in mask, are those given. */
void md_params_describe(const md_param *table, const void *state, unsigned mask, unsigned roles,
                        md_text *text);

/* A list is the default if it is empty, and has no single value. */
bool md_param_is_default(const md_param *param, const void *state);
bool md_param_has_value(const md_param *param, const void *state, const char *value);

/* Copies all values, strings and lists with what they hold. copy has values of its own, which are
 * freed; after a failure it can be cleared as always. */
medley_status md_params_copy(const md_param *table, void *copy, const void *state,
                             medley_error *error);

/* The one of a NULL-terminated list for what other programs call `name` (other_names.def), or else
 * the nearest in spelling, as md_text_nearest; NULL: none is near. */
const char *md_nearest_name(const char *name, const char *const *known);

/* "there is no KIND 'x'; did you mean 'y'? known: a, b, c", from a NULL-terminated list. */
medley_status md_fail_unknown(const char *kind, const char *name, const char *const *names,
                              medley_error *error);

/* ---- specs ---- */
typedef struct md_spec {
    char *name;
    char **keys, **values; /* [count]; a bare word has the value "" */
    size_t count;
    char *view; /* what follows '@', or NULL */
} md_spec;

void md_spec_clear(md_spec *spec);
medley_status md_spec_parse(md_spec *spec, const char *text, medley_error *error);

/* Sets the options of a spec. A number alone in front is the value of the table's first option, if
 * that is a number: epsilon(0.1) is epsilon(epsilon=0.1). */
medley_status md_params_set_spec(const md_param *table, void *state, const char *what,
                                 const md_spec *spec, medley_error *error);

/* Expands {a,b,c} and whole-number ranges a..b (also inside braces) into every combination, the
 * first one varying slowest: "poly(degree=1..3)" gives three strings. Dots without a digit beside
 * them, as in ../file, and ranges after the '@' stay. *texts is a NULL-terminated list that the
 * caller frees with md_texts_free. */
medley_status md_spec_expand(char ***texts, const char *text, medley_error *error);
void md_texts_free(char **texts);
MD_OWNER(md_texts_free, char *)
size_t md_texts_count(char *const *texts);

/* Appends a copy of text to a NULL-terminated list that may start as NULL. */
medley_status md_texts_add(char ***texts, const char *text, medley_error *error);

#endif
