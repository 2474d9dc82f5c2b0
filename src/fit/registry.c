/* SPDX-License-Identifier: BSD-3-Clause */
/* What can be chosen by name, for `medley list`, help and bindings: read off the registries. */
#include "generate/generate.h"

#include "base/struct_size.h"
#include "io/io.h"
#include "kernel/kernel.h"
#include "setup/setup.h"

static const char *const kinds[] = {"kernels",    "penalties",  "losses",    "methods", "formats",
                                    "generators", "structures", "templates", "tasks",   NULL};

const char *const *medley_list_kinds(void)
{
    return kinds;
}

static void describe_params(medley_listing *listing, const md_param *params)
{
    size_t used = 0;
    for (const md_param *p = params; p != NULL && p->name != NULL; p++) {
        const char *value = p->fallback[0] != '\0' ? p->fallback : p->argument;
        const int length =
            snprintf(listing->parameters + used, sizeof listing->parameters - used, "%s%s%s%s",
                     used ? ", " : "", p->name, value[0] != '\0' ? "=" : "", value);
        used += length > 0 ? (size_t)length : 0;
        if (used >= sizeof listing->parameters)
            break;
    }
}

/* One function per registry: fills name, summary and what else there is; false after the end. */
#define LISTER(function, registry, ABOUT, EXTRA)                                                   \
    static bool function(medley_listing *listing, size_t index)                                    \
    {                                                                                              \
        if ((registry)[index] == NULL)                                                             \
            return false;                                                                          \
        listing->name = (registry)[index]->ABOUT name;                                             \
        listing->summary = (registry)[index]->ABOUT summary;                                       \
        EXTRA;                                                                                     \
        return true;                                                                               \
    }

LISTER(list_kernels, md_kernels, , listing->formula = md_kernels[index]->formula;
       describe_params(listing, md_kernels[index]->params))
LISTER(list_penalties, md_penalties, , listing->formula = md_penalties[index]->formula;
       listing->weights = md_penalties[index]->weights;
       describe_params(listing, md_penalties[index]->params))
LISTER(list_methods, md_methods, about->, listing->weights = md_methods[index]->weights)
LISTER(list_formats, md_formats, , )
LISTER(list_generators, md_generators, , listing->format = md_generators[index]->format)
LISTER(list_structures, md_structures, , )
LISTER(list_tasks, md_tasks, about., )

/* Losses of structures, then those of numbers that are not among them. */
static bool list_losses(medley_listing *listing, size_t index)
{
    size_t count = 0;
    while (md_losses[count] != NULL)
        count++;
    if (index < count) {
        listing->name = md_losses[index]->name;
        listing->summary = md_losses[index]->summary;
        listing->formula = md_losses[index]->formula;
        return true;
    }
    for (size_t i = 0; md_margin_losses[i] != NULL; i++) {
        const md_margin_loss *loss = md_margin_losses[i];
        if (md_loss_find(loss->name) != NULL || count++ != index)
            continue;
        listing->name = loss->name;
        listing->summary = loss->summary;
        listing->formula = loss->formula;
        describe_params(listing, loss->params);
        return true;
    }
    return false;
}

/* Of words, then of arcs. */
static bool list_templates(medley_listing *listing, size_t index)
{
    size_t sets = 0;
    while (md_template_sets[sets].name != NULL)
        sets++;
    const bool words = index < sets;
    listing->name = words ? md_template_sets[index].name : md_arc_sets[index - sets].name;
    listing->summary = words ? md_template_sets[index].summary : md_arc_sets[index - sets].summary;
    return listing->name != NULL;
}

static bool (*const listers[])(medley_listing *, size_t) = {
    list_kernels,    list_penalties,  list_losses,    list_methods, list_formats,
    list_generators, list_structures, list_templates, list_tasks};

bool medley_list(medley_listing *listing, const char *kind, size_t index)
{
    medley_listing found = MEDLEY_LISTING_INIT;
    const int number = md_text_index(kind, kinds);
    if (number < 0 || !listers[number](&found, index))
        return false;
    md_fill_struct(listing, &found, sizeof found);
    return md_check_struct(listing, "", NULL) == MEDLEY_OK;
}

const char *medley_nearest_name(const char *text, const char *const *names)
{
    return md_nearest_name(text, names);
}

medley_status md_fail_unlisted(const char *kind, const char *in, const char *name,
                               medley_error *error)
{
    enum { MOST = 64 };
    const char *names[MOST + 1] = {NULL};
    medley_listing listing = MEDLEY_LISTING_INIT;
    for (size_t i = 0; i < MOST && medley_list(&listing, in, i); i++)
        names[i] = listing.name;
    return md_fail_unknown(kind, name, names, error);
}

const char *medley_version(void)
{
    return MEDLEY_VERSION;
}
