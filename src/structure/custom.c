/* SPDX-License-Identifier: BSD-3-Clause */
/* A structure that a program has brought (medley/structure.h), as one of our own: row parts, then
 * shared parts. The program's functions are asked for outputs and
 * marginals; values are added up here, in double precision, from the parts of what comes back,
 * which is checked before anything relies on it.
 *
 * The workspace holds what was inferred ahead of time (look_ahead), the scores with costs, and the
 * workspace of the program's functions. */
#include "structure/structure.h"

#include "base/struct_size.h"

#include "medley/structure.h"

struct room {
    double *value; /* log-partition, or the cost of the output */
    int32_t *output;
    float *marginal;  /* [parts] */
    float *augmented; /* [parts] scores plus costs */
    uint32_t *parts;  /* [parts_per_output] */
    void *own;        /* of the program */
};

enum { ALIGN = 16 }; /* floats */

static size_t shared_parts(md_shape shape)
{
    const medley_structure *s = shape.custom;
    return s->shared_parts != NULL ? s->shared_parts(s->context, shape.labels) : 0;
}

static size_t part_count(md_shape shape, size_t length)
{
    return length * shape.labels + shared_parts(shape);
}

static md_groups groups(md_shape shape, size_t length, md_part_kind kind)
{
    if (kind == MD_ROW_PARTS)
        return (md_groups){.width = shape.labels, .count = length};
    if (kind == MD_SHARED_PARTS && shared_parts(shape) > 0)
        return (md_groups){
            .first = length * shape.labels, .width = shared_parts(shape), .count = 1};
    return (md_groups){0};
}

static size_t parts_per_output(md_shape shape, size_t length)
{
    const medley_structure *s = shape.custom;
    return length + (s->most_shared != NULL ? s->most_shared(s->context, length, shape.labels) : 0);
}

static size_t aligned(size_t floats)
{
    return (floats + ALIGN - 1) / ALIGN * ALIGN;
}

static size_t workspace_size(md_shape shape, size_t length)
{
    const medley_structure *s = shape.custom;
    const size_t own =
        s->workspace_bytes != NULL ? s->workspace_bytes(s->context, length, shape.labels) : 0;
    return 2 * ALIGN + aligned(length) + 2 * aligned(part_count(shape, length)) +
           aligned(parts_per_output(shape, length)) + own / sizeof(float) + 1;
}

static struct room room_of(md_shape shape, size_t length, const md_workspace *workspace)
{
    const size_t bytes = ALIGN * sizeof(float);
    const uintptr_t begin = ((uintptr_t)workspace->values + bytes - 1) / bytes * bytes;
    float *at = workspace->values + (begin - (uintptr_t)workspace->values) / sizeof(float);
    const size_t parts = aligned(part_count(shape, length));
    struct room room = {.value = (double *)(void *)at};
    room.output = (int32_t *)(void *)(at + ALIGN);
    room.marginal = at + ALIGN + aligned(length);
    room.augmented = room.marginal + parts;
    room.parts = (uint32_t *)(void *)(room.augmented + parts);
    room.own = room.parts + aligned(parts_per_output(shape, length));
    return room;
}

static medley_example example_of(md_shape shape, size_t length)
{
    return (medley_example){.length = length,
                            .labels = shape.labels,
                            .row = shape.row,
                            .info = shape.info ? shape.info + shape.row * shape.info_width : NULL,
                            .info_width = shape.info_width};
}

/* ---- parts ---- */

static size_t parts_of(md_shape shape, size_t length, const int32_t *y, uint32_t *parts)
{
    const medley_structure *s = shape.custom;
    const medley_example example = example_of(shape, length);
    for (size_t i = 0; i < length; i++)
        parts[i] = (uint32_t)(i * shape.labels + (size_t)y[i]);
    const size_t shared = s->shared_of != NULL && shared_parts(shape) > 0
                              ? s->shared_of(s->context, &example, y, parts + length)
                              : 0;
    for (size_t i = 0; i < shared; i++)
        parts[length + i] += (uint32_t)(length * shape.labels);
    return length + shared;
}

/* ---- outputs ---- */

static void fail(md_workspace *workspace, const char *what)
{
    if (workspace->failure == NULL)
        workspace->failure = what;
}

/* An output that does not exist must not reach what relies on it: y becomes label 0 everywhere. */
static bool is_possible(md_shape shape, size_t length, int32_t *y, md_workspace *workspace)
{
    bool possible = workspace->failure == NULL;
    for (size_t i = 0; i < length && possible; i++)
        possible = y[i] >= 0 && (size_t)y[i] < shape.labels;
    if (!possible) {
        fail(workspace, "its output has a label that does not exist");
        memset(y, 0, length * sizeof *y);
    }
    return possible;
}

/* f(y), of an output that is possible; NaN if its shared parts are not. */
static double score_of(md_shape shape, size_t length, const float *score, const int32_t *y,
                       md_workspace *workspace)
{
    const struct room room = room_of(shape, length, workspace);
    const size_t parts = part_count(shape, length);
    const size_t count = parts_of(shape, length, y, room.parts);
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (room.parts[i] >= parts) {
            fail(workspace, "it names a shared part that does not exist");
            return NAN;
        }
        sum += (double)score[room.parts[i]];
    }
    return sum;
}

static const char *check_output(md_shape shape, size_t length, const int32_t *y, uint32_t *parts)
{
    const size_t count = parts_of(shape, length, y, parts);
    if (count > parts_per_output(shape, length))
        return "the output has more shared parts than most_shared says";
    for (size_t i = 0; i < count; i++)
        if (parts[i] >= part_count(shape, length))
            return "the output has a shared part that does not exist";
    return NULL;
}

const char *md_space_name(md_space space)
{
    if (space.structure == NULL)
        return "";
    return space.shape.custom != NULL ? space.shape.custom->name : space.structure->name;
}

medley_status md_fail_structure(md_space space, const char *failure, medley_error *error)
{
    return md_fail(error, MEDLEY_FAILED, "the structure '%s' cannot be used: %s",
                   space.shape.custom->name, failure);
}

/* ---- neighbours ---- */

static size_t pair_count(void *context, size_t labels)
{
    (void)context;
    return labels * labels;
}

static size_t most_pairs(void *context, size_t length, size_t labels)
{
    (void)context;
    (void)labels;
    return length - 1;
}

static size_t pairs_of(void *context, const medley_example *example, const int32_t *output,
                       uint32_t *parts)
{
    (void)context;
    for (size_t i = 1; i < example->length; i++)
        parts[i - 1] = (uint32_t)((size_t)output[i - 1] * example->labels + (size_t)output[i]);
    return example->length - 1;
}

void medley_structure_neighbours(medley_structure *structure)
{
    if (!MD_STRUCT_HAS(structure, shared_of))
        return;
    structure->shared_parts = pair_count;
    structure->most_shared = most_pairs;
    structure->shared_of = pairs_of;
}

/* ---- inference, into the workspace ---- */

static void add_costs(const md_ahead *x, const struct room *room)
{
    memcpy(room->augmented, x->score, part_count(x->shape, x->length) * sizeof *x->score);
    md_add_hamming_cost(x->shape, x->length, x->gold, room->augmented);
}

/* By the functions for single examples. */
static int infer_alone(const md_ahead *x, bool marginals)
{
    const medley_structure *s = x->shape.custom;
    const medley_example example = example_of(x->shape, x->length);
    const struct room room = room_of(x->shape, x->length, x->workspace);
    if (marginals)
        return s->marginals(s->context, &example, x->score, room.marginal, room.value, room.own);
    if (x->gold == NULL)
        return s->decode(s->context, &example, x->score, room.output, room.own);
    if (s->decode_with_cost != NULL)
        return s->decode_with_cost(s->context, &example, x->score, x->gold, room.output, room.value,
                                   room.own);
    add_costs(x, &room);
    return s->decode(s->context, &example, room.augmented, room.output, room.own);
}

enum { TOGETHER = 64 }; /* examples of one call */

static int infer_together(const md_ahead *x, size_t count, bool marginals)
{
    const medley_structure *s = x->shape.custom;
    medley_inference wanted[TOGETHER];
    medley_inference *pointer[TOGETHER];
    for (size_t i = 0; i < count; i++) {
        const struct room room = room_of(x[i].shape, x[i].length, x[i].workspace);
        const bool augmented = marginals && x[i].gold != NULL;
        if (augmented)
            add_costs(&x[i], &room);
        wanted[i] = (medley_inference){.example = example_of(x[i].shape, x[i].length),
                                       .score = augmented ? room.augmented : x[i].score,
                                       .gold = marginals ? NULL : x[i].gold,
                                       .output = marginals ? NULL : room.output,
                                       .marginal = marginals ? room.marginal : NULL,
                                       .value = room.value};
        pointer[i] = &wanted[i];
    }
    return s->infer(s->context, pointer, count);
}

/* At most TOGETHER examples. */
static void infer(const md_ahead *x, size_t count, bool marginals)
{
    for (size_t i = 0; i < count; i++) {
        const struct room room = room_of(x[i].shape, x[i].length, x[i].workspace);
        const size_t parts = part_count(x[i].shape, x[i].length);
        *room.value = NAN;
        if (marginals)
            memset(room.marginal, 0, parts * sizeof *room.marginal);
    }
    const int failed = x->shape.custom->infer != NULL ? infer_together(x, count, marginals)
                                                      : infer_alone(x, marginals);
    for (size_t i = 0; i < count && failed != 0; i++)
        fail(x[i].workspace, "it reports a failure");
}

static bool looks_ahead(md_shape shape)
{
    return shape.custom->infer != NULL;
}

static void look_ahead(const md_ahead *x, size_t count, bool marginals)
{
    for (size_t first = 0; first < count; first += TOGETHER) {
        const size_t some = count - first < TOGETHER ? count - first : TOGETHER;
        infer(x + first, some, marginals);
        for (size_t i = first; i < first + some; i++)
            x[i].workspace->ready = true;
    }
}

/* The answer for one example, which may be there already; that holds for one question only. */
static struct room answer(md_ahead x, bool marginals)
{
    const struct room room = room_of(x.shape, x.length, x.workspace);
    if (!x.workspace->ready)
        infer(&x, 1, marginals);
    x.workspace->ready = false;
    return room;
}

static double decode(md_shape shape, size_t length, const float *score, const int32_t *given,
                     int32_t *best, md_workspace *workspace)
{
    (void)given; /* the task refuses them */
    const struct room room = answer((md_ahead){shape, length, score, NULL, workspace}, false);
    memcpy(best, room.output, length * sizeof *best);
    return is_possible(shape, length, best, workspace)
               ? score_of(shape, length, score, best, workspace)
               : NAN;
}

static double decode_with_cost(md_shape shape, size_t length, const float *score,
                               const int32_t *gold, int32_t *worst, md_workspace *workspace)
{
    const struct room room = answer((md_ahead){shape, length, score, gold, workspace}, false);
    memcpy(worst, room.output, length * sizeof *worst);
    if (!is_possible(shape, length, worst, workspace))
        return NAN;
    return score_of(shape, length, score, worst, workspace) +
           (isnan(*room.value) ? md_hamming_cost(shape, length, worst, gold) : *room.value);
}

static double log_partition(md_shape shape, size_t length, const float *score, float *marginal,
                            md_workspace *workspace)
{
    const struct room room = answer((md_ahead){shape, length, score, NULL, workspace}, true);
    memcpy(marginal, room.marginal, part_count(shape, length) * sizeof *marginal);
    if (!isfinite(*room.value))
        fail(workspace, "the logarithm of its sum over outputs is not a number");
    return *room.value;
}

static double most_cost(md_shape shape, size_t length)
{
    const medley_structure *s = shape.custom;
    return s->most_cost != NULL ? s->most_cost(s->context, length, shape.labels) : (double)length;
}

const md_structure md_structure_custom = {
    .name = "custom",
    .summary = "what a program brings (medley/structure.h)",
    MD_STRUCTURE_FUNCTIONS,
    MD_LABELLING,
    .parts_per_output = parts_per_output,
    .most_cost = most_cost,
    .check_output = check_output,
    .look_ahead = look_ahead,
    .looks_ahead = looks_ahead,
};
