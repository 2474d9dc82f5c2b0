/* SPDX-License-Identifier: BSD-3-Clause */
/* Which method a run uses: the named one, or the one that suits the data and the other options. */
#include "setup/setup.h"

enum { MOST_BATCH_ROWS = 5000 };
/* Beyond these rows times outputs an optimum takes many times as long as an SVM of one kernel, and
 * is not found unless something is said that only it can give. */
enum { MOST_CERTIFIED = 1000 };

/* ---- when batch methods suit ---- */

enum { NAME_BYTES = 64 };

/* The name of a spec without its options; false: it is no single spec. Takes no memory, whose lack
 * must not choose another method. */
static bool read_name(char name[NAME_BYTES], const char *text)
{
    static const char blanks[] = " \t\n";
    const char *start = text + strspn(text, blanks);
    const size_t length = strcspn(start, " \t\n(+@");
    const char *rest = start + length + strspn(start + length, blanks);
    const char *close = *rest == '(' ? strchr(rest, ')') : NULL;
    rest = close != NULL ? close + 1 + strspn(close + 1, blanks) : rest;
    if (length == 0 || length >= NAME_BYTES || *rest != '\0')
        return false;
    memcpy(name, start, length);
    name[length] = '\0';
    return true;
}

static bool has_batch_loss(const char *loss)
{
    char name[NAME_BYTES];
    return strcmp(loss, "auto") == 0 ||
           (read_name(name, loss) && md_margin_loss_find(name) != NULL);
}

/* Is the penalty a sum over kernels? uniform: also one that treats all of them alike. */
static bool has_batch_penalty(const char *penalty, bool uniform)
{
    char name[NAME_BYTES];
    const md_penalty_class *class = read_name(name, penalty) ? md_penalty_find(name) : NULL;
    return strcmp(penalty, "auto") == 0 ||
           (class != NULL && class->scalar != NULL && (uniform || !class->uniform));
}

/* Are there words or sparse rows, whose weights are better learnt one by one? */
static bool has_many_features(const md_run *run)
{
    char *const *kernels = run->options->kernels;
    bool many = run->train->token_columns > 0;
    for (size_t t = 0; t < run->train->table_count; t++)
        many = many || md_matrix_is_sparse(&run->train->tables[t].features);
    for (size_t k = 0; kernels != NULL && kernels[k] != NULL; k++)
        many =
            many || strstr(kernels[k], "explicit") != NULL; /* maybe in braces: not expanded yet */
    return many;
}

/* Is the option left to us? */
static bool is_auto(const char *text)
{
    return strcmp(text, "auto") == 0;
}

static bool suits(const md_method *method, const md_method *other, const md_run *run, bool uniform)
{
    return run->dev == NULL && !has_many_features(run) && has_batch_loss(run->options->loss) &&
           has_batch_penalty(run->options->penalty, uniform) &&
           !md_options_favour(run->options, other->about->takes, method->about->takes);
}

bool md_batch_suits(const md_method *method, const md_method *other, const md_run *run)
{
    const md_task *task = run->task;
    return task->structure == NULL /* numbers, which no online method learns */ ||
           (task->one_score && run->train->rows <= MOST_BATCH_ROWS &&
            suits(method, other, run, true));
}

bool md_sparse_batch_suits(const md_method *method, const md_method *other, const md_run *run)
{
    const md_task *task = run->task;
    const medley_options *options = run->options;
    const size_t labels = run->train->label_names.count;
    const size_t outputs = task->one_score || labels <= 2 ? 1 : labels;
    const bool plain = is_auto(options->loss) && is_auto(options->penalty) && !run->path;
    const bool speed = plain && !md_options_favour(options, MD_TAKES_CERTIFICATE, 0);
    const size_t most = (speed ? MOST_CERTIFIED : MOST_BATCH_ROWS) / outputs;
    if (task->structure == NULL)
        return true;
    return !task->by_sequence && (task->one_score || plain) && run->train->rows <= most &&
           suits(method, other, run, false);
}

bool md_dual_suits(const md_method *method, const md_method *other, const md_run *run)
{
    const md_task *task = run->task;
    const medley_options *options = run->options;
    const unsigned own =
        method->about->takes & ~(unsigned)(MD_ALL_BLOCKS | MD_TAKES_ROUNDS | MD_TAKES_PENALTY);
    return task->structure != NULL && !task->by_sequence && !run->path && run->dev == NULL &&
           !has_many_features(run) && is_auto(options->loss) &&
           !md_options_favour(options, other->about->takes, own);
}

/* ---- the choice ---- */

static const md_method *find_method(const char *name)
{
    for (size_t i = 0; md_methods[i] != NULL; i++)
        if (strcmp(md_methods[i]->about->name, name) == 0)
            return md_methods[i];
    return NULL;
}

static const md_method *better(const md_method *method, const md_method *other, const md_run *run)
{
    if (other == NULL)
        return method;
    const bool by_rule = other->traits != NULL && other->traits->suits != NULL;
    const bool suits_more = by_rule                ? other->traits->suits(other, method, run)
                            : other->suits != NULL ? other->suits(other, method, run)
                                                   : false;
    return suits_more ? other : method;
}

static medley_status choose(const md_method **method, const md_run *run, medley_error *error)
{
    const bool named = !is_auto(run->options->method);
    const md_method *chosen = named ? find_method(run->options->method) : md_methods[0];
    if (chosen == NULL)
        return md_fail_unlisted("method", "methods", run->options->method, error);
    for (size_t i = 1; !named && md_methods[i] != NULL; i++)
        chosen = better(chosen, md_methods[i], run);
    *method = better(chosen, chosen->batch_form, run);
    return MEDLEY_OK;
}

medley_status md_method_choose(const md_method **method, const medley_options *options,
                               const medley_dataset *train, const medley_dataset *dev,
                               medley_error *error)
{
    const md_run run = {
        .options = options, .train = train, .dev = dev, .task = md_task_of(options, train)};
    return choose(method, &run, error);
}

medley_status md_method_choose_for_path(const md_method **method, const medley_options *options,
                                        const medley_dataset *train, medley_error *error)
{
    const md_run run = {
        .options = options, .train = train, .task = md_task_of(options, train), .path = true};
    return choose(method, &run, error);
}
