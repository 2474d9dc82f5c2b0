/* SPDX-License-Identifier: BSD-3-Clause */
/* orient: maps of where an image's edges run in which direction, the idea of histograms of
 * gradients. What is left out of an edge's place by blurring and subsampling is made up for by its
 * direction, which the kernels could not see in the pixels.
 *
 *   g         = Sobel's gradient / 8 of the image, zero outside
 *   map_d     = |g| shared, linearly in the angle, between the two directions d nearest to the
 *               angle atan2(gy, gx); directions are multiples of 360 degrees / directions
 *   output    = (map_d blurred, at rows and columns stride / 2 + i * stride) ^ root
 *
 * Rows hold all of the first map, all of the second, and so on. Images are worked on side by side,
 * LANES at a time, so that every loop runs over whole vectors whatever the size of the images. */
#include "view/transform.h"

#include "base/vector.h"
#include <float.h>

enum { LANES = 16 };

static const md_param options[] = {
    MD_PARAM_NUMBER("directions", MD_INT, md_step, directions, "8", 1, 64),
    MD_PARAM_NUMBER("blur", MD_DOUBLE, md_step, sigma, "1.3", 0, 100),
    MD_PARAM_NUMBER("stride", MD_INT, md_step, stride, "2", 1, INT32_MAX),
    MD_PARAM_NUMBER("root", MD_DOUBLE, md_step, root, "0.5", 0.01, 10),
    {0},
};

/* How many of stride / 2 + i * stride are below side. */
static size_t kept(size_t side, size_t stride)
{
    return md_pieces(side - stride / 2, stride);
}

static medley_status parse_orient(md_step *step, md_row_shape *shape, const md_step_text *text,
                                  medley_error *error)
{
    MEDLEY_TRY(md_step_find_options(step, shape, text, options, error));
    const size_t stride = (size_t)step->stride;
    if (stride > step->height || stride > step->width)
        return md_fail(error, MEDLEY_USAGE,
                       "views '%s': stride is %zu but images of %zux%zu need a stride of at most "
                       "%zu",
                       text->whole, stride, step->height, step->width,
                       md_min(step->height, step->width));
    const size_t pixels = kept(step->height, stride) * kept(step->width, stride);
    if (pixels > INT32_MAX / (size_t)step->directions)
        return md_fail(error, MEDLEY_USAGE,
                       "views '%s': %lld maps of %zu pixels are too many; choose fewer directions "
                       "or a larger stride",
                       text->whole, step->directions, pixels);
    *shape = (md_row_shape){.columns = pixels * (size_t)step->directions, .composed = true};
    return MEDLEY_OK;
}

/* LANES images side by side: [pixel][lane]. */
struct batch {
    size_t height, width;
    size_t stride, columns;  /* columns that are kept */
    float *image;            /* with a border of zeros, one pixel wide */
    float *strength, *angle; /* of the gradient; angles from 0 to 8, in eighths of a turn */
    float *map;              /* one direction */
    float *line;             /* a row of the map blurred downwards, with reach_across zeros on
                              * both sides */
    float *result;           /* [columns][LANES] that row blurred across as well */
    float *down, *across;    /* weights of the blur */
    size_t reach_down, reach_across;
};

/* ---- gradients ---- */

/* The angle whose tangent is t, from 0 to 1, in eighths of a turn, to 5e-8 and exactly at both
 * ends: edges along the axes and diagonals belong to one direction wholly. The factor of t (1 - t)
 * is the polynomial with the least largest error. */
static inline float eighths(float t)
{
    float p = -0.0272718575f;
    p = p * t + 0.139150843f;
    p = p * t - 0.272028357f;
    p = p * t + 0.200640187f;
    p = p * t + 0.073854655f;
    p = p * t - 0.145734802f;
    p = p * t - 0.15173772f;
    p = p * t + 0.273268104f;
    p = p * t + 0.273239046f;
    return t + t * (1.0f - t) * p;
}

/* One row of pixels; above is the first of three rows of the image with its border. */
MD_VECTOR_VOID(find_gradients,
               (float *restrict strength, float *restrict angle, const float *restrict above,
                size_t width),
               (strength, angle, above, width))
{
    const float *middle = above + (width + 2) * LANES;
    const float *below = middle + (width + 2) * LANES;
    for (size_t i = 0; i < width * LANES; i++) {
        const size_t right = i + (size_t)2 * LANES;
        const size_t centre = i + LANES;
        const float gx = (above[right] - above[i]) + 2.0f * (middle[right] - middle[i]) +
                         (below[right] - below[i]);
        const float gy = (below[i] - above[i]) + 2.0f * (below[centre] - above[centre]) +
                         (below[right] - above[right]);
        const float ax = fabsf(gx);
        const float ay = fabsf(gy);
        const float large = ax > ay ? ax : ay;
        const float small = ax > ay ? ay : ax;
        const float tangent = small / (large > FLT_MIN ? large : FLT_MIN);
        float a = eighths(tangent);
        a = ay > ax ? 2.0f - a : a;
        a = gx < 0.0f ? 4.0f - a : a;
        a = gy < 0.0f ? 8.0f - a : a;
        angle[i] = a;
        strength[i] = 0.125f * large * sqrtf(1.0f + tangent * tangent);
    }
}

/* ---- maps ---- */

/* A direction's share falls linearly to 0 at its neighbours; a single direction takes all. */
MD_VECTOR_VOID(fill_map, (const struct batch *batch, size_t direction, size_t directions),
               (batch, direction, directions))
{
    const size_t count = batch->height * batch->width * LANES;
    const float scale = directions > 1 ? (float)directions / 8.0f : 0.0f;
    const float turn = directions > 1 ? (float)directions : 1.0f;
    const float place = (float)direction;
    const float *restrict strength = batch->strength;
    const float *restrict angle = batch->angle;
    float *restrict map = batch->map;
    for (size_t i = 0; i < count; i++) {
        const float one_way = fabsf(angle[i] * scale - place);
        const float other_way = turn - one_way;
        const float share = 1.0f - (one_way < other_way ? one_way : other_way);
        map[i] = strength[i] * (share > 0.0f ? share : 0.0f);
    }
}

/* line = the sum of weight[k] * (row y + k - reach) over the rows that there are. */
MD_VECTOR_VOID(blur_down, (const struct batch *batch, size_t y), (batch, y))
{
    const size_t count = batch->width * LANES;
    const size_t reach = batch->reach_down;
    const size_t low = y > reach ? y - reach : 0;
    const size_t high = batch->height - 1 - y > reach ? y + reach : batch->height - 1;
    const float *restrict weights = batch->down;
    float *restrict line = batch->line + batch->reach_across * LANES;
    memset(line, 0, count * sizeof *line);
    for (size_t v = low; v <= high; v++) {
        const float *restrict row = batch->map + v * count;
        const float weight = weights[v + reach - y];
        for (size_t i = 0; i < count; i++)
            line[i] += weight * row[i];
    }
}

/* result = the same along the line, at the columns that are kept. */
MD_VECTOR_VOID(blur_across, (const struct batch *batch), (batch))
{
    float *restrict result = batch->result;
    memset(result, 0, batch->columns * LANES * sizeof *result);
    for (size_t k = 0; k < 2 * batch->reach_across + 1; k++) {
        const float *restrict line = batch->line + (batch->stride / 2 + k) * LANES;
        const float weight = batch->across[k];
        for (size_t c = 0; c < batch->columns; c++)
            for (size_t i = 0; i < LANES; i++)
                result[c * LANES + i] += weight * line[c * batch->stride * LANES + i];
    }
}

MD_VECTOR_VOID(take_root, (float *values, size_t count, double root), (values, count, root))
{
    if (root == 0.5)
        for (size_t i = 0; i < count; i++)
            values[i] = sqrtf(values[i]);
    else if (root != 1)
        for (size_t i = 0; i < count; i++)
            values[i] = powf(values[i], (float)root);
}

/* ---- all images ---- */

static void load_images(const struct batch *batch, const md_matrix *input, size_t first,
                        size_t count)
{
    for (size_t y = 0; y < batch->height; y++)
        for (size_t lane = 0; lane < count; lane++) {
            const float *row = input->dense + (first + lane) * input->columns + y * batch->width;
            float *to = batch->image + ((y + 1) * (batch->width + 2) + 1) * LANES + lane;
            for (size_t x = 0; x < batch->width; x++)
                to[x * LANES] = row[x];
        }
}

/* Rows first.. of the output, `count` of them. */
static void orient_batch(md_matrix *output, const struct batch *batch, const md_step *step,
                         size_t first, size_t count)
{
    const size_t width = batch->width;
    const size_t columns = batch->columns;
    float *to = output->dense + first * output->columns;
    for (size_t y = 0; y < batch->height; y++)
        find_gradients(batch->strength + y * width * LANES, batch->angle + y * width * LANES,
                       batch->image + y * (width + 2) * LANES, width);
    for (size_t d = 0; d < (size_t)step->directions; d++) {
        fill_map(batch, d, (size_t)step->directions);
        for (size_t y = batch->stride / 2; y < batch->height; y += batch->stride, to += columns) {
            blur_down(batch, y);
            blur_across(batch);
            take_root(batch->result, columns * LANES, step->root);
            for (size_t lane = 0; lane < count; lane++)
                for (size_t c = 0; c < columns; c++)
                    to[lane * output->columns + c] = batch->result[c * LANES + lane];
        }
    }
}

static medley_status make_batch(struct batch *batch, const md_step *step, medley_error *error)
{
    const size_t pixels = step->height * step->width;
    const size_t stride = (size_t)step->stride;
    const size_t size = LANES * sizeof(float);
    *batch = (struct batch){.height = step->height, .width = step->width, .stride = stride};
    batch->columns = kept(step->width, stride);
    MEDLEY_TRY(
        md_gaussian_weights(&batch->down, &batch->reach_down, step->sigma, step->height, error));
    MEDLEY_TRY(
        md_gaussian_weights(&batch->across, &batch->reach_across, step->sigma, step->width, error));
    MEDLEY_TRY(md_new(&batch->image, (step->height + 2) * (step->width + 2), size, error));
    MEDLEY_TRY(md_new(&batch->strength, pixels, size, error));
    MEDLEY_TRY(md_new(&batch->angle, pixels, size, error));
    MEDLEY_TRY(md_new(&batch->map, pixels, size, error));
    MEDLEY_TRY(md_new(&batch->line, step->width + 2 * batch->reach_across, size, error));
    return md_new(&batch->result, batch->columns, size, error);
}

static void clear_batch(struct batch *batch)
{
    free(batch->down);
    free(batch->across);
    free(batch->image);
    free(batch->strength);
    free(batch->angle);
    free(batch->map);
    free(batch->line);
    free(batch->result);
}

static medley_status apply_orient(md_matrix *output, const md_step *step, const md_matrix *input,
                                  const medley_dataset *dataset, medley_error *error)
{
    (void)dataset;
    MD_CLEARED(clear_batch) struct batch batch = {0};
    MEDLEY_TRY(make_batch(&batch, step, error));
    for (size_t first = 0; first < input->rows; first += LANES) {
        const size_t count = md_min(input->rows - first, LANES);
        load_images(&batch, input, first, count);
        orient_batch(output, &batch, step, first, count);
    }
    return MEDLEY_OK;
}

const md_transform md_transform_orient = {
    .name = "orient",
    .usage = "orient or orient(HxW,directions=8,blur=1.3,stride=2,root=0.5)",
    .parse = parse_orient,
    .apply = apply_orient};
