/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of a transformed view: how they are written, their table, running them, and windows. */
#include "view/transform.h"

#include <ctype.h>

enum { MOST_REACH = 50 };

/* ---- windows: a row with its neighbours in the sequence ---- */

static medley_status parse_window(md_step *step, md_row_shape *shape, const md_step_text *text,
                                  medley_error *error)
{
    long long reach = 0;
    if (text->count != 1 || !md_parse_int(text->arguments[0], &reach) || reach < 1 ||
        reach > MOST_REACH)
        return md_fail(error, MEDLEY_USAGE,
                       "views '%s': write window:K with K from 1 to %d, the number of rows on each "
                       "side",
                       text->whole, MOST_REACH);
    step->reach = (size_t)reach;
    const size_t copies = 2 * step->reach + 1;
    if (shape->columns > INT32_MAX / copies)
        return md_fail(error, MEDLEY_USAGE,
                       "views '%s': %zu windows of %zu columns are too many; choose a smaller K",
                       text->whole, copies, shape->columns);
    *shape = (md_row_shape){.columns = copies * shape->columns, .composed = true};
    return MEDLEY_OK;
}

/* Rows first..end-1 are one sequence; beyond its ends everything is zero. */
static void window_sequence(md_matrix *output, const md_step *step, const md_matrix *input,
                            size_t first, size_t end)
{
    const size_t width = input->columns;
    for (size_t r = first; r < end; r++) {
        const size_t low = r - first < step->reach ? first : r - step->reach;
        const size_t high = end - 1 - r < step->reach ? end - 1 : r + step->reach;
        const size_t skipped = step->reach - (r - low);
        memcpy(output->dense + r * output->columns + skipped * width, input->dense + low * width,
               (high - low + 1) * width * sizeof(float));
    }
}

static medley_status apply_window(md_matrix *output, const md_step *step, const md_matrix *input,
                                  const medley_dataset *dataset, medley_error *error)
{
    (void)error;
    for (size_t s = 0; s < dataset->sequence_count; s++)
        window_sequence(output, step, input, dataset->sequence_start[s],
                        dataset->sequence_start[s + 1]);
    for (size_t r = 0; dataset->sequence_count == 0 && r < input->rows; r++)
        window_sequence(output, step, input, r, r + 1);
    return MEDLEY_OK;
}

static const md_transform window = {
    .name = "window", .usage = "window:K", .parse = parse_window, .apply = apply_window};

/* ---- the table ---- */

static const md_transform *const transforms[] = {&window, &md_transform_blur, &md_transform_shift,
                                                 &md_transform_center, &md_transform_orient};

/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers is meant */
enum { TRANSFORMS = sizeof transforms / sizeof *transforms };

const md_transform *md_transform_find(const char *text)
{
    const size_t length = strcspn(text, ":(/");
    for (size_t i = 0; i < TRANSFORMS; i++)
        if (strlen(transforms[i]->name) == length &&
            strncmp(transforms[i]->name, text, length) == 0)
            return transforms[i];
    return NULL;
}

void md_transforms_list(md_text *list)
{
    for (size_t i = 0; i < TRANSFORMS; i++)
        md_text_addf(list, "%s%s", i ? "; " : "", transforms[i]->usage);
}

static medley_status fail_unknown(const char *start, size_t length, medley_error *error)
{
    const char *names[TRANSFORMS + 1] = {NULL};
    char name[64];
    for (size_t i = 0; i < TRANSFORMS; i++)
        names[i] = transforms[i]->name;
    const size_t kept = length < sizeof name ? length : sizeof name - 1;
    memcpy(name, start, kept);
    name[kept] = '\0';
    return md_fail_unknown("transform", name, names, error);
}

/* ---- reading steps ---- */

/* Copies an argument without the spaces around it. False if there is no room. */
static bool add_argument(md_step_text *text, const char *start, const char *end)
{
    while (start < end && isspace((unsigned char)*start))
        start++;
    while (end > start && isspace((unsigned char)end[-1]))
        end--;
    const size_t length = (size_t)(end - start);
    if (text->count == MD_STEP_ARGUMENTS || length >= MD_STEP_ARGUMENT_SIZE)
        return false;
    memcpy(text->arguments[text->count], start, length);
    text->arguments[text->count++][length] = '\0';
    return true;
}

/* What follows a step's name: nothing, ":ARGUMENT", or "(ARGUMENT,ARGUMENT,...)". */
static bool split_arguments(md_step_text *text, const char *start, const char *end)
{
    if (start == end)
        return true;
    if (*start == ':')
        return add_argument(text, start + 1, end);
    if (end - start < 3 || end[-1] != ')') /* the shortest is "(1)" */
        return false;
    end--;
    for (const char *comma = start; comma != NULL;) {
        const char *p = comma + 1;
        comma = memchr(p, ',', (size_t)(end - p));
        if (!add_argument(text, p, comma ? comma : end))
            return false;
    }
    return true;
}

static medley_status parse_step(md_step *step, md_row_shape *shape, const char *whole,
                                const char *start, size_t length, medley_error *error)
{
    const md_transform *transform = md_transform_find(start);
    const char *arguments = start + strcspn(start, ":(/");
    md_step_text text = {.whole = whole};
    if (transform == NULL)
        return fail_unknown(start, (size_t)(arguments - start), error);
    if (!split_arguments(&text, arguments, start + length))
        return md_fail(error, MEDLEY_USAGE, "views '%s': write %s", whole, transform->usage);
    *step = (md_step){.transform = transform, .input_columns = shape->columns};
    const medley_status status = transform->parse(step, shape, &text, error);
    step->columns = shape->columns;
    shape->may_grow = false;
    return status;
}

medley_status md_steps_parse(md_steps *steps, const char *text, md_row_shape *shape,
                             medley_error *error)
{
    steps->count = 0;
    for (const char *p = text; p != NULL;) {
        const char *slash = strchr(p, '/');
        if (steps->count == MD_STEPS_MOST)
            return md_fail(error, MEDLEY_USAGE, "views '%s': more than %d steps", text,
                           MD_STEPS_MOST);
        const size_t length = slash ? (size_t)(slash - p) : strlen(p);
        MEDLEY_TRY(parse_step(&steps->step[steps->count], shape, text, p, length, error));
        steps->count++;
        p = slash ? slash + 1 : NULL;
    }
    return MEDLEY_OK;
}

/* ---- running steps ---- */

size_t md_steps_bytes(const md_steps *steps, size_t rows)
{
    size_t most = 0;
    size_t bytes;
    for (size_t s = 0; s < steps->count; s++) {
        const size_t columns = steps->step[s].input_columns + steps->step[s].columns;
        most = columns > most ? columns : most;
    }
    return __builtin_mul_overflow(most * sizeof(float), rows, &bytes) ? SIZE_MAX : bytes;
}

medley_status md_steps_apply(md_matrix *output, const md_steps *steps, const md_matrix *input,
                             const medley_dataset *dataset, medley_error *error)
{
    MD_CLEARED(md_matrix_clear) md_matrix current = {0};
    MD_CLEARED(md_matrix_clear) md_matrix next = {0};
    for (size_t s = 0; s < steps->count; s++) {
        const md_step *step = &steps->step[s];
        MEDLEY_TRY(md_matrix_init_dense(&next, input->rows, step->columns, error));
        MEDLEY_TRY(step->transform->apply(&next, step, s > 0 ? &current : input, dataset, error));
        md_matrix_clear(&current);
        current = md_take(&next);
    }
    *output = md_take(&current);
    return MEDLEY_OK;
}
