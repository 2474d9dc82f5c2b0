/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of rows that are images: Gaussian blur, and moves by whole pixels. Beyond its border
 * an image is zero. */
#include "view/transform.h"

#include "base/vector.h"
#include <ctype.h>

/* ---- the size of the image ---- */

/* "16x8" */
static bool parse_size(md_step *step, const char *text)
{
    char height[MD_STEP_ARGUMENT_SIZE];
    const char *cross = strchr(text, 'x');
    long long sides[2] = {0, 0};
    if (cross == NULL)
        return false;
    const size_t length = (size_t)(cross - text);
    memcpy(height, text, length);
    height[length] = '\0';
    if (!md_parse_int(height, &sides[0]) || !md_parse_int(cross + 1, &sides[1]) || sides[0] < 1 ||
        sides[1] < 1 || sides[0] > INT32_MAX || sides[1] > INT32_MAX / sides[0])
        return false;
    step->height = (size_t)sides[0];
    step->width = (size_t)sides[1];
    return true;
}

/* Without HxW: what the table knows, or a square. */
static medley_status guess_size(md_step *step, const md_row_shape *shape, const md_step_text *text,
                                medley_error *error)
{
    step->height = shape->height;
    step->width = shape->width;
    if (step->height > 0)
        return MEDLEY_OK;
    step->height = step->width = (size_t)lround(sqrt((double)shape->columns));
    if (!shape->composed && shape->columns > 0 && step->height * step->width == shape->columns)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE,
                   "views '%s': the size of the images is not known and %zu columns are no square "
                   "image; write %s",
                   text->whole, shape->columns, step->transform->usage);
}

/* The image from the first argument, or guessed if there are only `others` arguments. */
static medley_status find_image(md_step *step, md_row_shape *shape, const md_step_text *text,
                                size_t others, medley_error *error)
{
    if (text->count == others)
        MEDLEY_TRY(guess_size(step, shape, text, error));
    else if (text->count != others + 1 || !parse_size(step, text->arguments[0]))
        return md_fail(error, MEDLEY_USAGE, "views '%s': write %s", text->whole,
                       step->transform->usage);
    const size_t pixels = step->height * step->width;
    if (pixels < shape->columns || (pixels > shape->columns && !shape->may_grow))
        return md_fail(error, MEDLEY_USAGE,
                       "views '%s': images of %zux%zu have %zu pixels but the data have %zu "
                       "columns; write HEIGHTxWIDTH of the images",
                       text->whole, step->height, step->width, pixels, shape->columns);
    step->input_columns = pixels;
    *shape = (md_row_shape){.columns = pixels, .height = step->height, .width = step->width};
    return MEDLEY_OK;
}

/* ---- options ---- */

/* Cuts "pad = 2" in two, in its place; NULL: not of that form. */
static char *split_option(char *argument)
{
    char *equals = strchr(argument, '=');
    if (equals == NULL)
        return NULL;
    char *end = equals;
    while (end > argument && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    for (equals++; isspace((unsigned char)*equals);)
        equals++;
    return equals;
}

medley_status md_step_find_options(md_step *step, md_row_shape *shape, const md_step_text *text,
                                   const md_param *options, medley_error *error)
{
    md_step_text split = *text;
    char title[64];
    snprintf(title, sizeof title, "transform %s", step->transform->name);
    const bool has_size = text->count > 0 && strchr(text->arguments[0], '=') == NULL;
    MEDLEY_TRY(md_params_defaults(options, step, error));
    for (size_t i = has_size; i < text->count; i++) {
        const char *name = split.arguments[i];
        const char *value = split_option(split.arguments[i]);
        if (value == NULL)
            return md_fail(error, MEDLEY_USAGE, "views '%s': write %s", text->whole,
                           step->transform->usage);
        for (size_t j = has_size; j < i; j++)
            if (strcmp(split.arguments[j], name) == 0)
                return md_fail(error, MEDLEY_USAGE, "views '%s': '%s' is given twice", text->whole,
                               name);
        MEDLEY_TRY(md_params_set(options, step, title, name, value, error));
    }
    return find_image(step, shape, text, text->count - has_size, error);
}

/* ---- blur ---- */

static medley_status parse_blur(md_step *step, md_row_shape *shape, const md_step_text *text,
                                medley_error *error)
{
    MEDLEY_TRY(find_image(step, shape, text, 1, error));
    const size_t side = md_max(step->height, step->width);
    if (!md_parse_double(text->arguments[text->count - 1], &step->sigma) ||
        !(step->sigma > 0 && step->sigma <= (double)side))
        return md_fail(
            error, MEDLEY_USAGE,
            "views '%s': SIGMA is '%s' but must be a number above 0 and at most %zu, the "
            "side of the images",
            text->whole, text->arguments[text->count - 1], side);
    return MEDLEY_OK;
}

/* Both passes of a separable convolution, and room for one image with zeros around it. */
struct blur {
    size_t height, width, padded;    /* padded: a row with zeros on both sides */
    size_t reach_down, reach_across; /* weights on each side */
    float *down, *across;            /* weights */
    float *tall;                     /* the image with rows of zeros above and below */
    float *middle;                   /* after the first pass, with zeros on both sides */
    float *flat;                     /* either pass's result */
};

medley_status md_gaussian_weights(float **weights, size_t *reach, double sigma, size_t side,
                                  medley_error *error)
{
    const size_t full = sigma > 0 ? (size_t)fmax(1, ceil(3 * sigma)) : 0;
    double total = 1;
    for (size_t k = 1; k <= full; k++)
        total += 2 * exp(-0.5 * ((double)k / sigma) * ((double)k / sigma));
    *reach = full < side ? full : side - 1;
    MEDLEY_TRY(md_new(weights, 2 * *reach + 1, sizeof **weights, error));
    (*weights)[*reach] = (float)(1 / total);
    for (size_t k = 1; k <= *reach; k++) {
        const double weight = exp(-0.5 * ((double)k / sigma) * ((double)k / sigma)) / total;
        (*weights)[*reach + k] = (*weights)[*reach - k] = (float)weight;
    }
    return MEDLEY_OK;
}

/* output[i] = sum over k of weights[k] * input[i + k * stride]. Rows are not told apart: one long
 * loop over the whole image is faster, and what runs across a border is not looked at. */
MD_VECTOR_VOID(convolve,
               (float *restrict output, const float *restrict input, size_t count, size_t stride,
                const float *restrict weights, size_t taps),
               (output, input, count, stride, weights, taps))
{
    for (size_t i = 0; i < count; i++)
        output[i] = weights[0] * input[i];
    for (size_t k = 1; k < taps; k++) {
        const float *shifted = input + k * stride;
        const float weight = weights[k];
        for (size_t i = 0; i < count; i++)
            output[i] += weight * shifted[i];
    }
}

static void clear_blur(struct blur *blur)
{
    free(blur->down);
    free(blur->across);
    free(blur->tall);
    free(blur->middle);
    free(blur->flat);
}

static void blur_image(float *output, const struct blur *blur, const float *image)
{
    const size_t width = blur->width;
    const size_t pixels = blur->height * width;
    memcpy(blur->tall + blur->reach_down * width, image, pixels * sizeof *image);
    convolve(blur->flat, blur->tall, pixels, width, blur->down, 2 * blur->reach_down + 1);
    for (size_t y = 0; y < blur->height; y++)
        memcpy(blur->middle + y * blur->padded + blur->reach_across, blur->flat + y * width,
               width * sizeof *image);
    convolve(blur->flat, blur->middle, blur->height * blur->padded - 2 * blur->reach_across, 1,
             blur->across, 2 * blur->reach_across + 1);
    for (size_t y = 0; y < blur->height; y++)
        memcpy(output + y * width, blur->flat + y * blur->padded, width * sizeof *image);
}

static medley_status apply_blur(md_matrix *output, const md_step *step, const md_matrix *input,
                                const medley_dataset *dataset, medley_error *error)
{
    (void)dataset;
    MD_CLEARED(clear_blur) struct blur blur = {.height = step->height, .width = step->width};
    MEDLEY_TRY(md_gaussian_weights(&blur.down, &blur.reach_down, step->sigma, blur.height, error));
    MEDLEY_TRY(
        md_gaussian_weights(&blur.across, &blur.reach_across, step->sigma, blur.width, error));
    blur.padded = blur.width + 2 * blur.reach_across;
    const size_t tall = blur.height + 2 * blur.reach_down;
    MEDLEY_TRY(md_new(&blur.tall, tall * blur.width, sizeof(float), error));
    MEDLEY_TRY(md_new(&blur.middle, blur.height * blur.padded, sizeof(float), error));
    MEDLEY_TRY(md_new(&blur.flat, blur.height * blur.padded, sizeof(float), error));
    for (size_t r = 0; r < input->rows; r++)
        blur_image(output->dense + r * output->columns, &blur, input->dense + r * input->columns);
    return MEDLEY_OK;
}

const md_transform md_transform_blur = {.name = "blur",
                                        .usage = "blur(SIGMA) or blur(HxW,SIGMA)",
                                        .parse = parse_blur,
                                        .apply = apply_blur};

/* ---- shift ---- */

static bool parse_move(const char *text, size_t side, long long *move)
{
    return md_parse_int(text, move) && *move<(long long)side && * move> - (long long)side;
}

static medley_status parse_shift(md_step *step, md_row_shape *shape, const md_step_text *text,
                                 medley_error *error)
{
    step->fixed = text->count >= 2;
    MEDLEY_TRY(find_image(step, shape, text, step->fixed ? 2 : 0, error));
    if (!step->fixed)
        return MEDLEY_OK;
    if (!parse_move(text->arguments[text->count - 2], step->height, &step->down) ||
        !parse_move(text->arguments[text->count - 1], step->width, &step->right))
        return md_fail(error, MEDLEY_USAGE,
                       "views '%s': DOWN and RIGHT must be whole numbers of pixels that leave some "
                       "of the %zux%zu image, e.g. shift(1,-1)",
                       text->whole, step->height, step->width);
    return MEDLEY_OK;
}

/* The move that brings the centre of mass nearest to the middle. Images without mass stay, and
 * negative values cannot push the centre out of the image. */
static void find_move(long long move[2], const float *image, size_t height, size_t width)
{
    double total = 0;
    double moment[2] = {0, 0};
    for (size_t y = 0; y < height; y++) {
        double row = 0;
        for (size_t x = 0; x < width; x++) {
            row += (double)image[y * width + x];
            moment[1] += (double)image[y * width + x] * (double)x;
        }
        total += row;
        moment[0] += row * (double)y;
    }
    for (int i = 0; i < 2; i++) {
        const double last = (double)(i == 0 ? height : width) - 1;
        const double centre = total > 0 ? fmin(fmax(moment[i] / total, 0), last) : last / 2;
        move[i] = (long long)floor(last / 2 - centre + 0.5);
    }
}

/* output is zero before. */
static void move_image(float *output, const float *image, size_t height, size_t width,
                       const long long move[2])
{
    const size_t down = (size_t)llabs(move[0]);
    const size_t across = (size_t)llabs(move[1]);
    const size_t to_row = move[0] > 0 ? down : 0;
    const size_t from_row = move[0] > 0 ? 0 : down;
    const size_t to = move[1] > 0 ? across : 0;
    const size_t from = move[1] > 0 ? 0 : across;
    for (size_t y = 0; y < height - down; y++)
        memcpy(output + (to_row + y) * width + to, image + (from_row + y) * width + from,
               (width - across) * sizeof *output);
}

static medley_status apply_shift(md_matrix *output, const md_step *step, const md_matrix *input,
                                 const medley_dataset *dataset, medley_error *error)
{
    (void)dataset;
    (void)error;
    long long move[2] = {step->down, step->right};
    for (size_t r = 0; r < input->rows; r++) {
        const float *image = input->dense + r * input->columns;
        if (!step->fixed)
            find_move(move, image, step->height, step->width);
        move_image(output->dense + r * output->columns, image, step->height, step->width, move);
    }
    return MEDLEY_OK;
}

const md_transform md_transform_shift = {.name = "shift",
                                         .usage = "shift, shift(HxW) or shift(HxW,DOWN,RIGHT)",
                                         .parse = parse_shift,
                                         .apply = apply_shift};
