/* SPDX-License-Identifier: BSD-3-Clause */
/* center and orient against their definitions in double, and what they are for. */
#include "view/view_data.h"

#include "base/memory.h"

enum { ROWS = 23, MOST = 40000 };

static const struct {
    long height, width;
} shapes[] = {{16, 8}, {1, 7}, {5, 1}, {1, 1}, {3, 9}, {11, 13}};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Compares the view's values, each raised to `power`, with what is expected. */
static void check_near(const medley_dataset *dataset, const char *spec, size_t columns,
                       const double *expected, double power)
{
    md_view view = view_of(dataset, spec);
    md_matrix matrix = {0};
    assert_int_equal(view.column_count, columns);
    assert_int_equal(md_view_extract(&matrix, &view, dataset, NULL), MEDLEY_OK);
    assert_int_equal(matrix.columns, columns);
    for (size_t i = 0; i < dataset->rows * columns; i++) {
        const double value = (double)matrix.dense[i];
        const double found = power == 1 ? value : pow(value, power);
        if (!(fabs(found - expected[i]) < 1e-5))
            fail_msg("%s: row %zu, column %zu: %g, expected %g", spec, i / columns, i % columns,
                     found, expected[i]);
    }
    md_matrix_clear(&matrix);
    md_view_clear(&view);
}

/* ---- definitions ---- */

struct moments {
    double total, y, x, slope;
};

static struct moments moments_of(const float *image, long height, long width)
{
    struct moments m = {0, 0, 0, 0};
    double variance = 0;
    double covariance = 0;
    for (long i = 0; i < height * width; i++) {
        const long y = i / width;
        m.total += (double)image[i];
        m.y += (double)image[i] * (double)y;
        m.x += (double)image[i] * (double)(i % width);
    }
    if (m.total <= 0)
        return (struct moments){0, (double)(height - 1) / 2, (double)(width - 1) / 2, 0};
    m.y /= m.total;
    m.x /= m.total;
    for (long i = 0; i < height * width; i++) {
        const long row = i / width;
        const double y = (double)row - m.y;
        variance += (double)image[i] * y * y / m.total;
        covariance += (double)image[i] * y * ((double)(i % width) - m.x) / m.total;
    }
    m.slope = fmin(fmax(covariance / fmax(variance, 0.5), -0.7), 0.7);
    m.y = fmin(fmax(m.y, 0), (double)(height - 1));
    m.x = fmin(fmax(m.x, 0), (double)(width - 1));
    return m;
}

/* Every pixel of the canvas: the image's pixels by how near they are. */
static void center_slowly(double *canvas, const float *image, long height, long width, long pad,
                          double slant)
{
    const struct moments m = moments_of(image, height, width);
    for (long y = -pad; y < height + pad; y++)
        for (long x = -pad; x < width + pad; x++) {
            const double up = (double)y - (double)(height - 1) / 2;
            const double from_y = m.y + up;
            const double from_x = m.x + (double)x - (double)(width - 1) / 2 + slant * m.slope * up;
            double sum = 0;
            for (long v = 0; v < height; v++)
                for (long u = 0; u < width; u++)
                    sum += (double)image[v * width + u] * fmax(0, 1 - fabs(from_y - (double)v)) *
                           fmax(0, 1 - fabs(from_x - (double)u));
            *canvas++ = sum;
        }
}

static double pixel(const double *image, long height, long width, long y, long x)
{
    return y >= 0 && y < height && x >= 0 && x < width ? image[y * width + x] : 0;
}

static double blurred(const double *image, long height, long width, long y, long x, double sigma)
{
    const long reach = sigma > 0 ? (long)fmax(1, ceil(3 * sigma)) : 0;
    double total = 0;
    double sum = 0;
    for (long k = -reach; k <= reach; k++)
        total += sigma > 0 ? exp(-(double)(k * k) / (2 * sigma * sigma)) : 1;
    for (long v = -reach; v <= reach; v++)
        for (long u = -reach; u <= reach; u++) {
            const double weight =
                sigma > 0 ? exp(-(double)(v * v + u * u) / (2 * sigma * sigma)) : 1;
            sum += weight * pixel(image, height, width, y + v, x + u);
        }
    return sum / (total * total);
}

/* What one direction gets of the gradient at (y, x). */
static double share_of(const double *image, long height, long width, long y, long x, int direction,
                       int directions)
{
    static const int smooth[] = {1, 2, 1};
    double gx = 0;
    double gy = 0;
    for (long k = -1; k <= 1; k++) {
        gx += smooth[k + 1] * (pixel(image, height, width, y + k, x + 1) -
                               pixel(image, height, width, y + k, x - 1));
        gy += smooth[k + 1] * (pixel(image, height, width, y + 1, x + k) -
                               pixel(image, height, width, y - 1, x + k));
    }
    const double turn = atan2(gy, gx) / (2 * acos(-1)) * directions;
    const double angle = turn < 0 ? turn + directions : turn;
    const int low = (int)floor(angle);
    const double part = angle - low;
    const double strength = sqrt(gx * gx + gy * gy) / 8;
    return strength * ((low % directions == direction ? 1 - part : 0) +
                       ((low + 1) % directions == direction ? part : 0));
}

/* Before the root is taken; returns the number of values. */
static size_t orient_slowly(double *output, const double *image, long height, long width,
                            int directions, double sigma, long stride)
{
    static double map[400];
    size_t count = 0;
    for (int d = 0; d < directions; d++) {
        for (long i = 0; i < height * width; i++)
            map[i] = share_of(image, height, width, i / width, i % width, d, directions);
        for (long y = stride / 2; y < height; y += stride)
            for (long x = stride / 2; x < width; x += stride)
                output[count++] = blurred(map, height, width, y, x, sigma);
    }
    return count;
}

/* ---- against the definitions ---- */

static float values[MOST];
static double expected[ROWS * MOST];

/* Images with an empty one, one pixel in a corner, and its negative. */
static medley_dataset *make_images(size_t shape, uint64_t seed)
{
    const size_t pixels = (size_t)(shapes[shape].height * shapes[shape].width);
    fill_images(values, ROWS, pixels, seed);
    memset(values + pixels, 0, 2 * pixels * sizeof *values);
    values[pixels] = 3;
    values[2 * pixels] = -3;
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", ROWS, pixels, values);
    return dataset;
}

static void center_moves_by_fractions(void **state)
{
    (void)state;
    static const long pads[] = {0, 1, 2, 7};
    static const double slants[] = {0, 1, 0.3};
    for (size_t s = 0; s < SHAPES; s++)
        for (size_t i = 0; i < 12; i++) {
            const long height = shapes[s].height;
            const long width = shapes[s].width;
            const long pad = pads[i % 4];
            const double slant = slants[i / 4];
            const size_t columns = (size_t)((height + 2 * pad) * (width + 2 * pad));
            medley_dataset *dataset = make_images(s, 20 * s + i);
            for (size_t r = 0; r < ROWS; r++)
                center_slowly(expected + r * columns, values + r * (size_t)(height * width), height,
                              width, pad, slant);
            char spec[64];
            snprintf(spec, sizeof spec, "center(%ldx%ld,pad=%ld,slant=%g)", height, width, pad,
                     slant);
            check_near(dataset, spec, columns, expected, 1);
            medley_dataset_free(dataset);
        }
}

static void orient_makes_blurred_maps_of_directions(void **state)
{
    (void)state;
    static const struct {
        int directions;
        double blur;
        long stride;
        double root;
    } cases[] = {{8, 1.3, 2, 0.5}, {8, 1.3, 1, 1}, {1, 0, 1, 1}, {2, 0.4, 3, 2},
                 {3, 2.5, 1, 0.3}, {64, 0, 1, 1},  {7, 9, 2, 1}, {12, 0.7, 8, 0.5}};
    for (size_t s = 0; s < SHAPES; s++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const long height = shapes[s].height;
            const long width = shapes[s].width;
            const size_t pixels = (size_t)(height * width);
            if (cases[i].stride > height || cases[i].stride > width)
                continue;
            medley_dataset *dataset = make_images(s, 300 + 20 * s + i);
            size_t columns = 0;
            for (size_t r = 0; r < ROWS; r++) {
                double image[400] = {0};
                for (size_t p = 0; p < pixels; p++)
                    image[p] = (double)values[r * pixels + p];
                columns = orient_slowly(expected + r * columns, image, height, width,
                                        cases[i].directions, cases[i].blur, cases[i].stride);
            }
            char spec[128];
            snprintf(spec, sizeof spec, "orient(%ldx%ld,directions=%d,blur=%g,stride=%ld,root=%g)",
                     height, width, cases[i].directions, cases[i].blur, cases[i].stride,
                     cases[i].root);
            check_near(dataset, spec, columns, expected, 1 / cases[i].root);
            medley_dataset_free(dataset);
        }
}

/* The steps as one would write them, with all defaults; the canvas is known to those that follow.
 */
static void steps_follow_each_other(void **state)
{
    (void)state;
    enum { HIGH = 20, WIDE = 12 };
    static double before[3 * ROWS * 480];
    medley_dataset *dataset = make_images(0, 9);
    for (size_t r = 0; r < ROWS; r++) {
        double canvas[HIGH * WIDE];
        double soft[HIGH * WIDE];
        center_slowly(canvas, values + r * 128, 16, 8, 2, 1);
        for (long i = 0; i < (long)HIGH * WIDE; i++)
            soft[i] = blurred(canvas, HIGH, WIDE, i / WIDE, i % WIDE, 0.5);
        memcpy(before + r * HIGH * WIDE, soft, sizeof soft);
        assert_int_equal(orient_slowly(expected + r * 480, soft, HIGH, WIDE, 8, 1.3, 2), 480);
    }
    check_near(dataset, "center(16x8,slant=1)/blur(0.5)", 240, before, 1);
    check_near(dataset, "center( 16x8 , slant = 1 )/blur(0.5)/orient", 480, expected, 2);
    check_near(dataset, "center(16x8,slant=1,pad=2)/blur(20x12,0.5)/orient(20x12)", 480, expected,
               2);
    dataset->tables[0].height = 16; /* a table that knows its images */
    dataset->tables[0].width = 8;
    check_near(dataset, "center(slant=1)/blur(0.5)/orient(root=0.5,blur=1.3)", 480, expected, 2);
    dataset->sequence_start = md_copy((size_t[]){0, ROWS}, 2 * sizeof(size_t));
    dataset->sequence_count = 1;
    memset(before, 0, sizeof before);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t k = 0; k < 3; k++)
            if (r + k >= 1 && r + k <= ROWS)
                memcpy(before + (3 * r + k) * 480, expected + (r + k - 1) * 480,
                       480 * sizeof *before);
    check_near(dataset, "center(slant=1)/blur(0.5)/orient/window:1", 1440, before, 2);
    medley_dataset_free(dataset);
}

/* ---- what they are for ---- */

/* A straight stroke is upright afterwards: the centre of every row is in the middle. */
static void slanted_strokes_are_set_upright(void **state)
{
    (void)state;
    enum { HIGH = 9, WIDE = 7, PIXELS = (HIGH + 4) * (WIDE + 4) };
    static const double slopes[] = {0.5, -0.5, 0.25, 0};
    float stroke[4 * HIGH * WIDE] = {0};
    for (size_t r = 0; r < 4; r++)
        for (size_t y = 0; y < HIGH; y++) {
            const double x = 3 + slopes[r] * ((double)y - 4);
            float *row = stroke + (r * HIGH + y) * WIDE;
            row[(size_t)x] = (float)(1 - (x - floor(x)));
            row[(size_t)x + 1] = (float)(x - floor(x));
        }
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", 4, (size_t)HIGH * WIDE, stroke);
    md_view view = view_of(dataset, "center(9x7,slant=1)");
    md_matrix matrix = {0};
    assert_int_equal(md_view_extract(&matrix, &view, dataset, NULL), MEDLEY_OK);
    for (size_t r = 0; r < 4; r++)
        for (size_t y = 2; y < HIGH + 2; y++) {
            const float *row = matrix.dense + r * PIXELS + y * (WIDE + 4);
            double total = 0;
            double moment = 0;
            for (size_t x = 0; x < WIDE + 4; x++) {
                total += (double)row[x];
                moment += (double)row[x] * ((double)x - 5);
            }
            assert_true(fabs(total - 1) < 1e-5 && fabs(moment) < 1e-5);
        }
    md_matrix_clear(&matrix);
    md_view_clear(&view);
    medley_dataset_free(dataset);
}

/* Slopes along the axes and diagonals belong to one of eight directions and to no other at all. */
static void ramps_have_one_direction(void **state)
{
    (void)state;
    static const int ways[8][2] = {{0, 1},  {1, 1},   {1, 0},  {1, -1}, /* down, right */
                                   {0, -1}, {-1, -1}, {-1, 0}, {-1, 1}};
    float ramps[8 * 25];
    for (int d = 0; d < 8; d++)
        for (int y = 0; y < 5; y++)
            for (int x = 0; x < 5; x++)
                ramps[d * 25 + y * 5 + x] = 0.3f * (float)(ways[d][0] * y + ways[d][1] * x);
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", 8, 25, ramps);
    md_view view = view_of(dataset, "orient(stride=1,blur=0,root=1)");
    md_matrix matrix = {0};
    assert_int_equal(md_view_extract(&matrix, &view, dataset, NULL), MEDLEY_OK);
    for (size_t r = 0; r < 8; r++)
        for (size_t d = 0; d < 8; d++) {
            const double length = r % 2 ? 0.3 * sqrt(2) : 0.3;
            const float value = element(&matrix, r, d * 25 + 12); /* the middle of a map */
            assert_true(fabs((double)value - (d == r ? length : 0)) < 1e-6);
        }
    md_matrix_clear(&matrix);
    md_view_clear(&view);
    medley_dataset_free(dataset);
}

/* Images are worked on side by side, which must not show: each alone gives the same bits. */
static void rows_do_not_depend_on_others(void **state)
{
    (void)state;
    static const char spec[] = "center(16x8,slant=0.5)/blur(0.5)/orient(root=0.7)";
    medley_dataset *dataset = make_images(0, 77);
    md_view view = view_of(dataset, spec);
    md_matrix all = {0};
    assert_int_equal(md_view_extract(&all, &view, dataset, NULL), MEDLEY_OK);
    for (size_t r = 0; r < ROWS; r++) {
        medley_dataset *one = NULL;
        md_matrix alone = {0};
        add_dense(&one, "", 1, 128, values + r * 128);
        assert_int_equal(md_view_extract(&alone, &view, one, NULL), MEDLEY_OK);
        assert_memory_equal(alone.dense, all.dense + r * 480, 480 * sizeof(float));
        md_matrix_clear(&alone);
        medley_dataset_free(one);
    }
    md_matrix_clear(&all);
    md_view_clear(&view);
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(center_moves_by_fractions),
        cmocka_unit_test(orient_makes_blurred_maps_of_directions),
        cmocka_unit_test(steps_follow_each_other),
        cmocka_unit_test(slanted_strokes_are_set_upright),
        cmocka_unit_test(ramps_have_one_direction),
        cmocka_unit_test(rows_do_not_depend_on_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
