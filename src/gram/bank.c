/* SPDX-License-Identifier: BSD-3-Clause */
/* From specs such as `rbf(sigma={1,2},norm=diag)@each` to a bank of kernels. */
#include "gram/bank.h"

#include "base/parallel.h"
#include "gram/prepared_rows.h"
#include "gram/view_index.h"

const char *const md_norm_names[] = {"none", "diag", "trace", "center", NULL};

static const md_param no_params[] = {{0}};

/* The options that every kernel has. */
struct common {
    int norm; /* md_norm */
    bool explicit_weights;
};

static const md_param common_params[] = {{.name = "norm",
                                          .type = MD_CHOICE,
                                          .offset = offsetof(struct common, norm),
                                          .fallback = "none",
                                          .choices = md_norm_names,
                                          .argument = "NORM",
                                          .help = "how the values are normalised"},
                                         {.name = "explicit",
                                          .type = MD_FLAG,
                                          .offset = offsetof(struct common, explicit_weights),
                                          .fallback = "no",
                                          .argument = "",
                                          .help = "linear only: one weight per feature"},
                                         {0}};

static const char *const default_kernels[] = {"linear(norm=diag)", "poly(degree=2,norm=diag)",
                                              "rbf(auto)", "bias", NULL};

static const md_param *params_of(const md_kernel_class *class)
{
    return class->params ? class->params : no_params;
}

void md_kernel_clear(md_kernel *kernel)
{
    free(kernel->state);
    free(kernel->name);
    free(kernel->column_mean);
    *kernel = (md_kernel){0};
}

void md_bank_clear(md_bank *bank)
{
    for (size_t m = 0; bank->kernels != NULL && m < bank->count; m++)
        md_kernel_clear(&bank->kernels[m]);
    free(bank->kernels);
    for (size_t v = 0; bank->origin != NULL && v < bank->view_count; v++)
        free(bank->origin[v]);
    free(bank->origin);
    md_views_free(bank->views, bank->view_count);
    md_known_tables_clear(&bank->tables);
    *bank = (md_bank){0};
}

/* ---- one spec ---- */

static medley_status fail_unknown_kernel(const char *name, medley_error *error)
{
    const char *names[64] = {NULL};
    for (size_t i = 0; i < 63 && md_kernels[i] != NULL; i++)
        names[i] = md_kernels[i]->name;
    return md_fail_unknown("kernel", name, names, error);
}

static medley_status check_explicit(const md_kernel *kernel, medley_error *error)
{
    if (!kernel->explicit_weights)
        return MEDLEY_OK;
    if (!kernel->class->has_primal_form)
        return md_fail(error, MEDLEY_USAGE, "kernel %s cannot be explicit; only linear can",
                       kernel->class->name);
    if (kernel->norm == MD_NORM_DIAG || kernel->norm == MD_NORM_CENTER)
        return md_fail(error, MEDLEY_USAGE,
                       "kernel linear(explicit) cannot have norm=%s; use `scale` instead",
                       md_norm_names[kernel->norm]);
    return MEDLEY_OK;
}

static medley_status init_from_spec(md_kernel *kernel, const md_spec *spec, md_norm normalize,
                                    medley_error *error)
{
    const md_kernel_class *class = md_kernel_find(spec->name);
    if (class == NULL)
        return fail_unknown_kernel(spec->name, error);
    struct common common = {.norm = (int)normalize};
    char what[64];
    snprintf(what, sizeof what, "kernel %s", class->name);
    *kernel = (md_kernel){.class = class, .factor = 1};
    MEDLEY_TRY(md_new(&kernel->state, 1, class->state_size, error));
    MEDLEY_TRY(md_params_defaults(params_of(class), kernel->state, error));
    for (size_t i = 0; i < spec->count; i++) {
        const bool shared = md_params_find(common_params, spec->keys[i]) != NULL;
        MEDLEY_TRY(md_params_set(shared ? common_params : params_of(class),
                                 shared ? (void *)&common : kernel->state, what, spec->keys[i],
                                 spec->values[i], error));
    }
    kernel->norm = (md_norm)common.norm;
    kernel->explicit_weights = common.explicit_weights;
    return check_explicit(kernel, error);
}

/* Rewrites the name from the parameters as they stand, so that it reads back the same. */
static medley_status name_kernel(md_kernel *kernel, const char *view, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text text = {0};
    md_text_addf(&text, "%s(", kernel->class->name);
    md_params_print(params_of(kernel->class), kernel->state, &text);
    const char *separator = text.length > 0 && text.data[text.length - 1] != '(' ? "," : "";
    if (kernel->norm != MD_NORM_NONE) {
        md_text_addf(&text, "%snorm=%s", separator, md_norm_names[kernel->norm]);
        separator = ",";
    }
    if (kernel->explicit_weights)
        md_text_addf(&text, "%sexplicit", separator);
    if (text.length > 0 && text.data[text.length - 1] == '(')
        text.data[--text.length] = '\0';
    else
        md_text_addf(&text, ")");
    if (!kernel->class->constant)
        md_text_addf(&text, "@%s", view);
    if (text.failed)
        return md_fail_memory(error, 256);
    free(kernel->name);
    kernel->name = text.data;
    text = (md_text){0};
    return MEDLEY_OK;
}

/* ---- the bank ---- */

struct builder {
    md_bank bank;
    md_view_index index;
    size_t capacity;
    const md_bank_options *options;
    medley_error *error;
};

static medley_status new_kernel(md_kernel **kernel, struct builder *builder)
{
    md_bank *bank = &builder->bank;
    MEDLEY_TRY(md_grow(&bank->kernels, &builder->capacity, bank->count + 1, sizeof *bank->kernels,
                       builder->error));
    *kernel = &bank->kernels[bank->count++];
    **kernel = (md_kernel){.factor = 1};
    return MEDLEY_OK;
}

static medley_status fail_unknown_view(const md_bank *bank, const char *name, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text known = {0};
    for (size_t v = 0; v < bank->view_count && v < 12; v++)
        md_text_addf(&known, "%s%s", v ? ", " : "", bank->views[v].name);
    return md_fail(error, MEDLEY_USAGE, "there is no view '%s'; the views are: %s%s", name,
                   known.data ? known.data : "(none)", bank->view_count > 12 ? ", ..." : "");
}

/* Another kernel like prototype, on view v. */
static medley_status add_copy(struct builder *builder, const md_kernel *prototype, size_t v)
{
    md_kernel *kernel;
    void *state;
    MEDLEY_TRY(new_kernel(&kernel, builder));
    MEDLEY_TRY(md_new_copy(&state, prototype->state, prototype->class->state_size, builder->error));
    *kernel = *prototype;
    kernel->state = state;
    kernel->view = v;
    return MEDLEY_OK;
}

/* Adds the kernel that text describes (already expanded) on every view it names. */
static medley_status add_kernel(struct builder *builder, const char *text)
{
    MD_CLEARED(md_spec_clear) md_spec spec = {0};
    MD_CLEARED(md_kernel_clear) md_kernel prototype = {0};
    MEDLEY_TRY(md_spec_parse(&spec, text, builder->error));
    const md_view_list chosen = md_view_index_find(&builder->index, spec.view);
    if (chosen.count == 0)
        return fail_unknown_view(&builder->bank, spec.view ? spec.view : "all", builder->error);
    MEDLEY_TRY(init_from_spec(&prototype, &spec, builder->options->normalize, builder->error));
    const size_t count = prototype.class->constant ? 1 : chosen.count;
    for (size_t i = 0; i < count; i++)
        MEDLEY_TRY(add_copy(builder, &prototype, chosen.views[i]));
    return MEDLEY_OK;
}

static medley_status add_precomputed(struct builder *builder, const medley_dataset *dataset)
{
    for (size_t g = 0; g < dataset->gram_count; g++) {
        md_kernel *kernel;
        const char *name = dataset->grams[g].name;
        MEDLEY_TRY(new_kernel(&kernel, builder));
        MEDLEY_TRY(md_new_text(&kernel->name, name, strlen(name), builder->error));
        kernel->view = g;
        kernel->norm = dataset->grams[g].norm > 0 ? (md_norm)(dataset->grams[g].norm - 1)
                                                  : builder->options->normalize;
        kernel->sound = dataset->grams[g].sound;
        kernel->is_distance = dataset->grams[g].is_distance;
        if (kernel->is_distance)
            kernel->gamma = md_distance_gamma(&dataset->grams[g]);
    }
    return MEDLEY_OK;
}

/* One 'KIND' or 'VIEW=KIND' of the option scale. */
static medley_status set_scale(const struct builder *builder, md_scale *scales, const char *text)
{
    const char *equals = strrchr(text, '=');
    const int kind = md_text_index(equals ? equals + 1 : text, md_scale_names);
    if (kind < 0)
        return md_fail_unknown("scale", equals ? equals + 1 : text, md_scale_names, builder->error);
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - text : 0), text);
    const md_view_list chosen = md_view_index_find(&builder->index, equals ? name : NULL);
    for (size_t i = 0; i < chosen.count; i++)
        scales[chosen.views[i]] = (md_scale)kind;
    if (chosen.count == 0 && equals != NULL)
        return fail_unknown_view(&builder->bank, name, builder->error);
    return MEDLEY_OK;
}

static medley_status read_scales(const struct builder *builder, md_scale *scales)
{
    char *const *texts = builder->options->scale;
    for (size_t v = 0; v < builder->bank.view_count; v++)
        scales[v] = builder->options->usual_scale;
    for (size_t i = 0; texts != NULL && texts[i] != NULL; i++)
        MEDLEY_TRY(set_scale(builder, scales, texts[i]));
    return MEDLEY_OK;
}

/* Views with kernels of histograms stay as they are, if that is left to us. */
static void find_histograms(bool *as_is, const md_bank *bank)
{
    for (size_t m = 0; m < bank->count; m++)
        if (bank->kernels[m].class != NULL && bank->kernels[m].class->nonnegative_data)
            as_is[bank->kernels[m].view] = true;
}

struct scaling {
    md_bank *bank;
    const md_scale *scales;
    const medley_dataset *dataset;
};

static medley_status scale_view(void *context, size_t v, medley_error *error)
{
    const struct scaling *scaling = context;
    return md_view_fit_scale(&scaling->bank->views[v], scaling->scales[v], scaling->dataset, error);
}

static medley_status scale_views(struct builder *builder, const medley_dataset *dataset)
{
    md_bank *bank = &builder->bank;
    const size_t count = bank->view_count;
    MD_CLEARED(md_pool_clear) md_pool pool = {0};
    md_scale *asked = NULL;
    md_scale *scales = NULL;
    bool *as_is = NULL;
    MEDLEY_TRY(md_pool_new(&pool, &asked, count, sizeof *asked, builder->error));
    MEDLEY_TRY(md_pool_new(&pool, &scales, count, sizeof *scales, builder->error));
    MEDLEY_TRY(md_pool_new(&pool, &as_is, count, sizeof *as_is, builder->error));
    MEDLEY_TRY(read_scales(builder, asked));
    find_histograms(as_is, bank);
    for (size_t v = 0; v < count; v++)
        scales[v] = asked[v];
    const md_scale otherwise = builder->options->kernels == NULL ? MD_SCALE_CENTER : MD_SCALE_NONE;
    MEDLEY_TRY(
        md_views_auto_scale(scales, bank->views, count, as_is, otherwise, dataset, builder->error));
    for (size_t v = 0; v < count; v++)
        bank->views[v].chosen = asked[v] == MD_SCALE_AUTO;
    struct scaling scaling = {bank, scales, dataset};
    return md_parallel_try(bank->threads, count, scale_view, &scaling, builder->error);
}

/* Kernels of one view stand together, and among them those that share pair sums, so that a tile
 * computes each matrix of products once. Otherwise the order stays as it was given. */
struct order_key {
    size_t view, sums, place;
};

static int compare_keys(const void *a, const void *b)
{
    const struct order_key *x = a;
    const struct order_key *y = b;
    if (x->view != y->view)
        return x->view < y->view ? -1 : 1;
    if (x->sums != y->sums)
        return x->sums < y->sums ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static size_t sums_number(const md_kernel_class *class)
{
    size_t number = 0;
    if (class->quantity != MD_PAIRED)
        return 0;
    while (md_kernels[number] != class)
        number++;
    return number + 1;
}

static medley_status order_kernels(md_bank *bank, medley_error *error)
{
    if (bank->count == 0)
        return MEDLEY_OK; /* precomputed kernels only */
    MD_OWNED(free) struct order_key *keys = NULL;
    MD_OWNED(free) md_kernel *sorted = NULL;
    MEDLEY_TRY(md_new(&keys, bank->count, sizeof *keys, error));
    MEDLEY_TRY(md_new(&sorted, bank->count, sizeof *sorted, error));
    for (size_t m = 0; m < bank->count; m++)
        keys[m] = (struct order_key){
            .view = bank->kernels[m].view, .sums = sums_number(bank->kernels[m].class), .place = m};
    qsort(keys, bank->count, sizeof *keys, compare_keys);
    for (size_t m = 0; m < bank->count; m++)
        sorted[m] = bank->kernels[keys[m].place];
    memcpy(bank->kernels, sorted, bank->count * sizeof *sorted);
    return MEDLEY_OK;
}

/* The kernels that a spec with its lists expanded stands for. */
static medley_status add_spec(struct builder *builder, const char *spec)
{
    MD_OWNED(md_texts_free) char **texts = NULL;
    MEDLEY_TRY(md_spec_expand(&texts, spec, builder->error));
    for (size_t j = 0; texts[j] != NULL; j++)
        MEDLEY_TRY(add_kernel(builder, texts[j]));
    return MEDLEY_OK;
}

static medley_status add_all_kernels(struct builder *builder, const medley_dataset *dataset)
{
    const char *const *specs = (const char *const *)builder->options->kernels;
    if (specs == NULL && dataset->table_count > 0)
        specs = default_kernels;
    for (size_t i = 0; specs != NULL && specs[i] != NULL; i++)
        MEDLEY_TRY(add_spec(builder, specs[i]));
    MEDLEY_TRY(order_kernels(&builder->bank, builder->error));
    MEDLEY_TRY(add_precomputed(builder, dataset));
    if (builder->bank.count == 0)
        return md_fail(builder->error, MEDLEY_USAGE,
                       "there are no kernels: the data have no numeric columns and no `gram` "
                       "is given");
    return MEDLEY_OK;
}

/* A linear kernel of few columns is cheaper as weights: a step costs its columns instead of all
 * rows, and there are no kernel values to compute and keep. The norms are the same. */
static void choose_primal(md_bank *bank)
{
    enum { ROWS_PER_COLUMN = 4 };
    for (size_t m = 0; m < bank->count; m++) {
        md_kernel *kernel = &bank->kernels[m];
        if (kernel->class == NULL || kernel->explicit_weights || kernel->norm == MD_NORM_CENTER ||
            !kernel->class->has_primal_form)
            continue;
        const md_view *view = &bank->views[kernel->view];
        kernel->primal =
            !view->sparse && ROWS_PER_COLUMN * view->column_count <= bank->training_rows;
    }
}

static void clear_builder(struct builder *builder)
{
    md_view_index_clear(&builder->index);
    md_bank_clear(&builder->bank);
}

medley_status md_bank_make(md_bank *bank, const medley_dataset *dataset,
                           const md_bank_options *options, medley_error *error)
{
    MD_CLEARED(clear_builder)
    struct builder builder = {.bank = {.training_rows = dataset->rows, .threads = options->threads},
                              .options = options,
                              .error = error};
    md_bank *made = &builder.bank;
    *bank = (md_bank){0};
    MEDLEY_TRY(md_known_tables_make(&made->tables, dataset, error));
    if (dataset->table_count > 0)
        MEDLEY_TRY(md_views_make(&made->views, &made->view_count, dataset, options->views, error));
    MEDLEY_TRY(md_view_index_make(&builder.index, made->views, made->view_count, error));
    MEDLEY_TRY(add_all_kernels(&builder, dataset));
    MEDLEY_TRY(scale_views(&builder, dataset));
    for (size_t m = 0; m < made->count; m++)
        if (made->kernels[m].explicit_weights)
            MEDLEY_TRY(md_view_check_width(&made->views[made->kernels[m].view], dataset,
                                           "linear(explicit)", error));
    MEDLEY_TRY(md_bank_choose(made, dataset, options->seed, error));
    if (options->primal)
        choose_primal(made);
    for (size_t m = 0; m < made->count; m++)
        if (made->kernels[m].class != NULL)
            MEDLEY_TRY(
                name_kernel(&made->kernels[m], made->views[made->kernels[m].view].name, error));
    *bank = *made;
    *made = (md_bank){0};
    return MEDLEY_OK;
}

medley_status md_kernel_from_name(md_kernel *kernel, const char *name, medley_error *error)
{
    MD_CLEARED(md_spec_clear) md_spec spec = {0};
    MD_CLEARED(md_kernel_clear) md_kernel made = {0};
    bool needs_data = false;
    *kernel = made;
    MEDLEY_TRY(md_spec_parse(&spec, name, error));
    MEDLEY_TRY(init_from_spec(&made, &spec, MD_NORM_NONE, error));
    if (made.class != NULL && made.class->prepare != NULL)
        MEDLEY_TRY(made.class->prepare(made.state, &needs_data, error));
    if (needs_data)
        return md_fail(error, MEDLEY_BAD_INPUT, "kernel '%s' leaves a parameter open", name);
    MEDLEY_TRY(md_new_text(&made.name, name, strlen(name), error));
    *kernel = md_take(&made);
    return MEDLEY_OK;
}

/* ---- subset ---- */

static medley_status copy_kernel(md_kernel *copy, const md_kernel *kernel, size_t training_rows,
                                 medley_error *error)
{
    *copy = *kernel;
    copy->state = NULL;
    copy->name = NULL;
    copy->column_mean = NULL;
    MEDLEY_TRY(md_new_text(&copy->name, kernel->name, strlen(kernel->name), error));
    if (kernel->class != NULL)
        MEDLEY_TRY(md_new_copy(&copy->state, kernel->state, kernel->class->state_size, error));
    if (kernel->column_mean != NULL)
        MEDLEY_TRY(md_new_copy(&copy->column_mean, kernel->column_mean,
                               training_rows * sizeof(float), error));
    return MEDLEY_OK;
}

/* The place of view v in the subset, adding it if it is not there yet. */
static medley_status take_view(md_bank *subset, const md_bank *bank, size_t v, size_t *place,
                               medley_error *error)
{
    if (place[v] != 0)
        return MEDLEY_OK;
    const size_t next = subset->view_count++;
    MEDLEY_TRY(md_view_copy(&subset->views[next], &bank->views[v], error));
    if (bank->origin != NULL && bank->origin[v] != NULL)
        MEDLEY_TRY(md_new_copy(&subset->origin[next], bank->origin[v],
                               bank->views[v].column_count * sizeof(float), error));
    place[v] = next + 1;
    return MEDLEY_OK;
}

medley_status md_bank_subset(md_bank *subset, const md_bank *bank, const size_t *keep, size_t count,
                             medley_error *error)
{
    MD_CLEARED(md_bank_clear) md_bank made = {.training_rows = bank->training_rows};
    MD_OWNED(free) size_t *place = NULL; /* index + 1, 0: not taken */
    *subset = (md_bank){0};
    MEDLEY_TRY(md_known_tables_copy(&made.tables, &bank->tables, error));
    MEDLEY_TRY(md_new(&place, bank->view_count, sizeof *place, error));
    MEDLEY_TRY(md_new(&made.views, bank->view_count, sizeof *made.views, error));
    MEDLEY_TRY(md_new(&made.origin, bank->view_count, sizeof(float *), error));
    MEDLEY_TRY(md_new(&made.kernels, count, sizeof *made.kernels, error));
    for (size_t k = 0; k < count; k++) {
        md_kernel *copy = &made.kernels[made.count++];
        const md_kernel *kernel = &bank->kernels[keep[k]];
        MEDLEY_TRY(copy_kernel(copy, kernel, bank->training_rows, error));
        if (kernel->class == NULL)
            continue;
        MEDLEY_TRY(take_view(&made, bank, kernel->view, place, error));
        copy->view = place[kernel->view] - 1;
    }
    *subset = md_take(&made);
    return MEDLEY_OK;
}
