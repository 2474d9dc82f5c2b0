/* SPDX-License-Identifier: BSD-3-Clause */
/* Outputs of a structure that a program has brought (medley/structure.h): sequences of rows with
 * labels, as far as everything but the structure is concerned. */
#include "task/predicting.h"
#include "task/problem.h"

#include "base/struct_size.h"
#include "medley/structure.h"

enum { LONGEST_NAME = 63 };

/* ---- the structure ---- */

static medley_status check_structure(const medley_structure *s, medley_error *error)
{
    const char *missing = NULL;
    if (s->name == NULL || *s->name == '\0' || strlen(s->name) > LONGEST_NAME)
        return md_fail(error, MEDLEY_USAGE,
                       "a structure needs a name of at most %d characters: models name the "
                       "structure they need",
                       LONGEST_NAME);
    if (s->decode == NULL && s->infer == NULL)
        missing = "decode or infer";
    else if (s->shared_parts != NULL && (s->shared_of == NULL || s->most_shared == NULL))
        missing = "shared_of and most_shared, since it has shared_parts";
    if (missing == NULL)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE, "the structure '%s' lacks the function %s", s->name,
                   missing);
}

medley_status medley_options_set_structure(medley_options *options,
                                           const medley_structure *structure, medley_error *error)
{
    md_begin(error);
    MD_OWNED(free) medley_structure *copy = NULL;
    MEDLEY_TRY(md_new(&copy, 1, sizeof *copy, error));
    MEDLEY_TRY(MD_TAKE_STRUCT(copy, structure, MEDLEY_STRUCTURE_INIT, error));
    MEDLEY_TRY(check_structure(copy, error));
    free(options->structure);
    options->structure = md_take(&copy);
    return MEDLEY_OK;
}

const char *medley_model_structure(const medley_model *model)
{
    return model->space.shape.custom != NULL ? model->space.shape.custom->name : NULL;
}

static bool has_marginals(const medley_structure *s)
{
    return s->infer != NULL ? s->can_infer_marginals : s->marginals != NULL;
}

/* What a model keeps: a copy of the structure, and how many numbers it wants beside a row. */
typedef struct custom {
    medley_structure structure;
    size_t info_width;
} custom;

static medley_status keep_structure(medley_model *model, const medley_structure *structure,
                                    size_t info_width, medley_error *error)
{
    custom *own = NULL;
    MEDLEY_TRY(md_new(&own, 1, sizeof *own, error));
    *own = (custom){.structure = *structure, .info_width = info_width};
    model->own = own;
    model->free_own = free;
    model->space.structure = &md_structure_custom;
    model->space.shape.custom = &own->structure;
    return MEDLEY_OK;
}

static medley_status bind(medley_model *model, const char *name, const medley_structure *given,
                          medley_error *error)
{
    medley_structure whole = {0};
    if (given == NULL)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "the model needs the structure '%.63s', which a program brings; load it "
                       "there, with medley_model_load_with or structure=",
                       name);
    MEDLEY_TRY(MD_TAKE_STRUCT(&whole, given, MEDLEY_STRUCTURE_INIT, error));
    MEDLEY_TRY(check_structure(&whole, error));
    if (strcmp(name, whole.name) != 0)
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "the model needs the structure '%.63s', and '%s' was given", name,
                       whole.name);
    return keep_structure(model, &whole, 0, error);
}

static void pack(md_text *out, const void *own)
{
    md_pack_u64(out, ((const custom *)own)->info_width);
}

static medley_status unpack(medley_model *model, md_unpack *in, medley_error *error)
{
    (void)error;
    ((custom *)model->own)->info_width = md_unpack_u64(in);
    return MEDLEY_OK;
}

static bool has_no_companion(const medley_model *model)
{
    return model->companion == NULL;
}

/* ---- learning ---- */

static bool fits(const medley_options *options, const medley_dataset *data)
{
    (void)data;
    return options->structure != NULL;
}

/* Every right output must be one, or its parts would be looked for in the wrong places. */
static medley_status check_outputs(const md_problem *problem, medley_error *error)
{
    const medley_dataset *train = problem->train;
    md_shape shape = {.labels = train->label_names.count,
                      .custom = problem->options->structure,
                      .info = train->info,
                      .info_width = train->info_width};
    MD_OWNED(free) uint32_t *parts = NULL;
    size_t most = 0;
    for (size_t s = 0; s < train->sequence_count; s++) {
        const size_t first = train->sequence_start[s];
        const size_t length = train->sequence_start[s + 1] - first;
        const size_t room = 2 * md_structure_custom.parts_per_output(shape, length);
        if (room > most) {
            free(parts);
            parts = NULL;
            MEDLEY_TRY(md_new(&parts, most = room, sizeof *parts, error));
        }
        shape.row = first;
        const char *wrong =
            md_structure_custom.check_output(shape, length, train->label + first, parts);
        if (wrong != NULL)
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "the structure '%s' does not understand the labels of sequence %zu: %s",
                           shape.custom->name, s + 1, wrong);
    }
    return MEDLEY_OK;
}

static medley_status check(const md_problem *problem, medley_error *error)
{
    const medley_structure *structure = problem->options->structure;
    const md_loss *loss = md_loss_find(problem->options->loss); /* NULL: auto, which is the hinge */
    if (structure == NULL)
        return md_fail(error, MEDLEY_USAGE,
                       "`task=custom` is for programs that bring a structure "
                       "(medley_options_set_structure, or structure= in Python)");
    MEDLEY_TRY(md_labels_check(problem, error));
    if (problem->train->sequence_count == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, problem->train->source, 0,
                          "an example of a structure is a sequence of rows, and these rows stand "
                          "alone; give the lengths of sequences");
    if (loss != NULL && loss->by_marginals && !has_marginals(structure))
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "`loss=%s` needs marginals, which the structure '%s' does not give; use "
                       "`loss=hinge`",
                       loss->name, structure->name);
    return check_outputs(problem, error);
}

static void describe(md_problem *problem)
{
    md_labels_describe(problem);
    problem->space.shape.custom = problem->options->structure;
    problem->space.shape.info = problem->train->info;
    problem->space.shape.info_width = problem->train->info_width;
}

static bool shares_parts(const md_problem *problem)
{
    return md_structure_custom.groups(problem->space.shape, 1, MD_SHARED_PARTS).count > 0;
}

static medley_status build(medley_model *model, const md_draft *draft, medley_error *error)
{
    MEDLEY_TRY(md_labels_build(model, draft, error));
    return keep_structure(model, draft->problem->options->structure,
                          draft->problem->train->info_width, error);
}

/* ---- predicting ---- */

/* The functions of the structure rely on both. */
static medley_status check_data(const md_request *request, medley_error *error)
{
    const medley_dataset *dataset = request->dataset;
    const custom *own = request->model->own;
    if (dataset->sequence_count == 0 && dataset->rows > 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source, 0,
                          "an example of the structure '%s' is a sequence of rows, and these rows "
                          "stand alone; give the lengths of sequences",
                          own->structure.name);
    if (dataset->info_width == own->info_width)
        return MEDLEY_OK;
    return md_fail_at(error, MEDLEY_BAD_INPUT, dataset->source, 0,
                      "the structure '%s' was trained with %zu whole numbers beside each row and "
                      "these data have %zu; give them with medley_dataset_put_info, or info=",
                      own->structure.name, own->info_width, dataset->info_width);
}

static medley_status check_request(const medley_predict_options *options, medley_error *error)
{
    MEDLEY_TRY(md_refuse_tags(options, error));
    if (options->best == 0 && !options->keep_labels)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_NOT_SUPPORTED,
                   "models with a structure of the program's own give the best output only");
}

static medley_status predict(medley_prediction *prediction, const md_request *request,
                             medley_error *error)
{
    const medley_structure *structure = request->model->space.shape.custom;
    if (request->options.probabilities && !has_marginals(structure))
        return md_fail(error, MEDLEY_NOT_SUPPORTED,
                       "probabilities need marginals, which the structure '%s' does not give",
                       structure->name);
    MEDLEY_TRY(check_data(request, error));
    return md_labels_predict(prediction, request, error);
}

const md_task md_task_custom = {
    .about = {.name = "custom",
              .summary = "outputs of a structure that a C or Python program brings",
              .takes = MD_TAKES_KERNELS | MD_TAKES_WORDS | MD_TAKES_SHARED},
    .structure = &md_structure_custom,
    .by_sequence = true,
    .shares_parts = shares_parts,
    MD_WITH_LABELS,
    .describe = describe,
    .build = build,
    .check_request = check_request,
    .predict = predict,
    .bind = bind,
    .section = "custom",
    .pack = pack,
    .unpack = unpack,
    .companion_fits = has_no_companion,
    .fits = fits,
    .check = check,
    .info.does = "gives each row of an example one of LABELS",
    .info.example = "example",
    .info.examples = "examples",
    .info.parts = "rows",
    .most_labels = MD_MOST_LABELS,
};
