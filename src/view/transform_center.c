/* SPDX-License-Identifier: BSD-3-Clause */
/* center: the centre of mass goes to the middle of a larger canvas, by fractions of a pixel, and
 * the slant of what is drawn may be taken out, so that images that differ only in these become
 * alike.
 *
 * A pixel (y, x) of the canvas, counted from the middle, shows the image at (y, x + slope * y)
 * counted from the centre of mass, linearly between its four neighbours and zero outside. The
 * fraction of y is the same for all rows and that of x within a row, so whole rows are mixed. */
#include "view/transform.h"

#include "base/vector.h"

static const double least_variance = 0.5; /* a flat image has no slant worth the name */
static const double most_slope = 0.7;

static const md_param options[] = {
    MD_PARAM_NUMBER("pad", MD_INT, md_step, pad, "2", 0, 100),
    MD_PARAM_NUMBER("slant", MD_DOUBLE, md_step, slant, "0", 0, 1),
    {0},
};

static medley_status parse_center(md_step *step, md_row_shape *shape, const md_step_text *text,
                                  medley_error *error)
{
    MEDLEY_TRY(md_step_find_options(step, shape, text, options, error));
    shape->height += 2 * (size_t)step->pad;
    shape->width += 2 * (size_t)step->pad;
    shape->columns = shape->height * shape->width;
    if (shape->columns > INT32_MAX)
        return md_fail(error, MEDLEY_USAGE,
                       "views '%s': a canvas of %zux%zu has too many pixels; choose a smaller pad",
                       text->whole, shape->height, shape->width);
    return MEDLEY_OK;
}

/* Where the image is taken from. */
struct place {
    double down, across, slope; /* of the image's pixels to one of the canvas */
};

/* Values are weights. Negative ones cannot push the centre out of the image. */
static struct place find_place(const float *image, const md_step *step)
{
    const double last_row = (double)step->height - 1;
    const double last_column = (double)step->width - 1;
    double total = 0;
    double down = 0;
    double across = 0;
    double down2 = 0;       /* sum of value * y * y */
    double down_across = 0; /* sum of value * y * x */
    for (size_t y = 0; y < step->height; y++) {
        double row = 0;
        double moment = 0;
        for (size_t x = 0; x < step->width; x++) {
            row += (double)*image;
            moment += (double)*image++ * (double)x;
        }
        total += row;
        across += moment;
        down += row * (double)y;
        down2 += row * (double)y * (double)y;
        down_across += moment * (double)y;
    }
    if (!(total > 0))
        return (struct place){last_row / 2, last_column / 2, 0};
    down /= total;
    across /= total;
    const double slope =
        (down_across / total - down * across) / fmax(down2 / total - down * down, least_variance);
    return (struct place){.down = fmin(fmax(down, 0), last_row),
                          .across = fmin(fmax(across, 0), last_column),
                          .slope = step->slant * fmin(fmax(slope, -most_slope), most_slope)};
}

/* Room for one row of the image with zeros on both sides, as far as any place can reach. */
struct room {
    size_t margin;
    float *line;
    float *zeros; /* a row */
};

/* The canvas is zero before. */
MD_VECTOR_VOID(resample,
               (float *restrict canvas, const struct room *room, const md_step *step,
                const float *restrict image, struct place place),
               (canvas, room, step, image, place))
{
    const size_t width = step->width;
    const size_t wide = width + 2 * (size_t)step->pad;
    const size_t high = step->height + 2 * (size_t)step->pad;
    const double middle = ((double)high - 1) / 2;
    const double first = floor(place.down - middle); /* row of the image at the canvas's first */
    const float below = (float)(place.down - middle - first);
    float *restrict line = room->line + room->margin;
    for (size_t y = 0; y < high; y++) {
        const long long v = (long long)first + (long long)y;
        if (v < -1 || v >= (long long)step->height)
            continue;
        const float *upper = v >= 0 ? image + (size_t)v * width : room->zeros;
        const float *lower =
            v + 1 < (long long)step->height ? image + (size_t)(v + 1) * width : room->zeros;
        for (size_t x = 0; x < width; x++)
            line[x] = (1 - below) * upper[x] + below * lower[x];
        const double start =
            place.across - ((double)wide - 1) / 2 + place.slope * ((double)y - middle);
        const float right = (float)(start - floor(start));
        const float *from = line + (long long)floor(start);
        for (size_t x = 0; x < wide; x++)
            canvas[y * wide + x] = (1 - right) * from[x] + right * from[x + 1];
    }
}

static medley_status apply_center(md_matrix *output, const md_step *step, const md_matrix *input,
                                  const medley_dataset *dataset, medley_error *error)
{
    (void)dataset;
    const size_t pad = (size_t)step->pad;
    MD_OWNED(free) float *memory = NULL;
    struct room room = {.margin = pad + step->width / 2 + 3};
    room.margin += (size_t)(most_slope * ((double)pad + (double)step->height / 2));
    MEDLEY_TRY(md_new(&memory, 2 * (step->width + room.margin), sizeof *memory, error));
    room.line = memory;
    room.zeros = memory + step->width + 2 * room.margin;
    for (size_t r = 0; r < input->rows; r++) {
        const float *image = input->dense + r * input->columns;
        resample(output->dense + r * output->columns, &room, step, image, find_place(image, step));
    }
    return MEDLEY_OK;
}

const md_transform md_transform_center = {.name = "center",
                                          .usage = "center or center(HxW,pad=2,slant=0)",
                                          .parse = parse_center,
                                          .apply = apply_center};
