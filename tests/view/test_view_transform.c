/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of a view's rows against their definitions, alone and one after another. */
#include "view/view_data.h"

#include "base/memory.h"

enum { ROWS = 23, MOST = 4000 };

static void set_sequences(medley_dataset *dataset, const size_t *starts, size_t count)
{
    dataset->sequence_start = md_copy(starts, (count + 1) * sizeof *starts);
    assert_non_null(dataset->sequence_start);
    dataset->sequence_count = count;
}

static void check_spec(const medley_dataset *dataset, const char *spec, size_t columns,
                       const float *expected)
{
    md_view view = view_of(dataset, spec);
    assert_int_equal(view.column_count, columns);
    assert_false(view.sparse);
    check_extracted(&view, dataset, columns, expected);
    md_view_clear(&view);
}

/* ---- definitions ---- */

/* The sum over all pixels within the cut, weights divided by the sum of all of them. */
static void blur_slowly(float *output, const float *image, long height, long width, double sigma)
{
    const long reach = (long)fmax(1, ceil(3 * sigma));
    double total = 0;
    for (long k = -reach; k <= reach; k++)
        total += exp(-(double)(k * k) / (2 * sigma * sigma));
    for (long y = 0; y < height; y++)
        for (long x = 0; x < width; x++) {
            double sum = 0;
            for (long v = 0; v < height; v++)
                for (long u = 0; u < width; u++) {
                    const double d2 = (double)((y - v) * (y - v) + (x - u) * (x - u));
                    if (labs(y - v) <= reach && labs(x - u) <= reach)
                        sum += (double)image[v * width + u] * exp(-d2 / (2 * sigma * sigma));
                }
            output[y * width + x] = (float)(sum / (total * total));
        }
}

static void move_slowly(float *output, const float *image, long height, long width, long down,
                        long right)
{
    for (long y = 0; y < height; y++)
        for (long x = 0; x < width; x++) {
            const long v = y - down;
            const long u = x - right;
            const int inside = v >= 0 && v < height && u >= 0 && u < width;
            output[y * width + x] = inside ? image[v * width + u] : 0;
        }
}

static double centre_of(const float *image, long height, long width, bool across)
{
    double total = 0;
    double moment = 0;
    for (long i = 0; i < height * width; i++) {
        total += (double)image[i];
        moment += (double)image[i] * (double)(across ? i % width : i / width);
    }
    const double last = (double)(across ? width : height) - 1;
    if (total <= 0)
        return last / 2;
    return fmin(fmax(moment / total, 0), last);
}

/* Every row with its neighbours, one value at a time; sequence[r] tells which rows belong
 * together. */
static void window_slowly(float *output, const float *values, size_t columns, long reach,
                          const size_t *sequence)
{
    for (long r = 0; r < ROWS; r++)
        for (long k = -reach; k <= reach; k++)
            for (size_t c = 0; c < columns; c++) {
                const long from = r + k;
                const int inside = from >= 0 && from < ROWS && sequence[from] == sequence[r];
                *output++ = inside ? values[(size_t)from * columns + c] : 0;
            }
}

/* ---- the transforms ---- */

static const struct {
    long height, width;
} shapes[] = {{16, 8}, {1, 7}, {5, 1}, {1, 1}, {3, 9}};

enum { SHAPES = sizeof shapes / sizeof *shapes };

static void blur_is_a_gaussian_convolution(void **state)
{
    (void)state;
    static const double sigmas[] = {0.01, 0.3, 0.7, 1, 2.5, 8.5};
    static float values[MOST];
    static float expected[MOST];
    for (size_t s = 0; s < SHAPES; s++)
        for (size_t i = 0; i < sizeof sigmas / sizeof *sigmas; i++) {
            const size_t pixels = (size_t)(shapes[s].height * shapes[s].width);
            if (sigmas[i] > fmax((double)shapes[s].height, (double)shapes[s].width))
                continue;
            fill_images(values, ROWS, pixels, 10 * s + i);
            medley_dataset *dataset = NULL;
            add_dense(&dataset, "", ROWS, pixels, values);
            for (size_t r = 0; r < ROWS; r++)
                blur_slowly(expected + r * pixels, values + r * pixels, shapes[s].height,
                            shapes[s].width, sigmas[i]);
            char spec[64];
            snprintf(spec, sizeof spec, "blur(%ldx%ld,%g)", shapes[s].height, shapes[s].width,
                     sigmas[i]);
            check_spec(dataset, spec, pixels, expected);
            medley_dataset_free(dataset);
        }
}

static void shift_moves_the_centre_to_the_middle(void **state)
{
    (void)state;
    static float values[MOST];
    static float expected[MOST];
    for (size_t s = 0; s < SHAPES; s++) {
        const long height = shapes[s].height;
        const long width = shapes[s].width;
        const size_t pixels = (size_t)(height * width);
        fill_images(values, ROWS, pixels, s);
        memset(values + pixels, 0, 2 * pixels * sizeof *values);
        values[pixels] = 3; /* one pixel in a corner, and its negative */
        values[2 * pixels] = -3;
        for (size_t r = 0; r < ROWS; r++) {
            const float *image = values + r * pixels;
            const double down =
                (double)(height - 1) / 2 - centre_of(image, height, width, false) + 0.5;
            const double right =
                (double)(width - 1) / 2 - centre_of(image, height, width, true) + 0.5;
            move_slowly(expected + r * pixels, image, height, width, (long)floor(down),
                        (long)floor(right));
        }
        assert_true(expected[pixels + (size_t)(height / 2 * width + width / 2)] == 3);
        medley_dataset *dataset = NULL;
        add_dense(&dataset, "", ROWS, pixels, values);
        char spec[64];
        snprintf(spec, sizeof spec, "shift(%ldx%ld)", height, width);
        check_spec(dataset, spec, pixels, expected);
        medley_dataset_free(dataset);
    }
}

static void shift_moves_by_given_pixels(void **state)
{
    (void)state;
    static const long moves[][2] = {{0, 0}, {1, 0}, {0, -1}, {-3, 2}, {15, 7}, {-15, -7}};
    static float values[ROWS * 128];
    static float expected[ROWS * 128];
    fill_images(values, ROWS, 128, 5);
    medley_dataset *dataset = NULL;
    add_dense(&dataset, "", ROWS, 128, values);
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        for (size_t r = 0; r < ROWS; r++)
            move_slowly(expected + r * 128, values + r * 128, 16, 8, moves[i][0], moves[i][1]);
        char spec[64];
        snprintf(spec, sizeof spec, "shift(16x8,%+ld,%ld)", moves[i][0], moves[i][1]);
        check_spec(dataset, spec, 128, expected);
    }
    medley_dataset_free(dataset);
}

static void windows_stay_within_their_sequence(void **state)
{
    (void)state;
    enum { COLUMNS = 3 };
    static const size_t starts[] = {0, 1, 1, 6, 8, 23}; /* one of them is empty */
    static float values[ROWS * COLUMNS];
    static float expected[ROWS * COLUMNS * 101];
    size_t sequence[ROWS];
    fill_images(values, ROWS, COLUMNS, 6);
    for (int with_sequences = 0; with_sequences < 2; with_sequences++) {
        medley_dataset *dataset = NULL;
        add_dense(&dataset, "", ROWS, COLUMNS, values);
        if (with_sequences)
            set_sequences(dataset, starts, 5);
        for (size_t r = 0; r < ROWS; r++) {
            sequence[r] = with_sequences ? 0 : r;
            while (with_sequences && starts[sequence[r] + 1] <= r)
                sequence[r]++;
        }
        static const long reaches[] = {1, 2, 5, 50};
        for (size_t i = 0; i < 4; i++) {
            window_slowly(expected, values, COLUMNS, reaches[i], sequence);
            char spec[64];
            snprintf(spec, sizeof spec, "window:%ld", reaches[i]);
            check_spec(dataset, spec, COLUMNS * (2 * (size_t)reaches[i] + 1), expected);
        }
        medley_dataset_free(dataset);
    }
}

static void steps_follow_each_other(void **state)
{
    (void)state;
    static const size_t starts[] = {0, 9, 23};
    static float values[ROWS * 128];
    static float blurred[ROWS * 128];
    static float windows[ROWS * 384];
    size_t sequence[ROWS];
    fill_images(values, ROWS, 128, 7);
    medley_dataset *dataset = NULL;
    md_table *table = add_dense(&dataset, "", ROWS, 128, values);
    set_sequences(dataset, starts, 2);
    for (size_t r = 0; r < ROWS; r++) {
        float moved[128];
        sequence[r] = r >= 9;
        move_slowly(moved, values + r * 128, 16, 8, 1, -2);
        blur_slowly(blurred + r * 128, moved, 16, 8, 0.7);
    }
    window_slowly(windows, blurred, 128, 1, sequence);
    check_spec(dataset, "shift(16x8,1,-2)/blur(16x8,0.7)", 128, blurred);
    check_spec(dataset, "shift( 16x8 , 1,-2)/blur(0.7)/window:1", 384, windows);
    check_spec(dataset, "window:1/shift(48x8,0,0)", 384,
               (window_slowly(windows, values, 128, 1, sequence), windows));
    table->height = 16; /* a table that knows its images */
    table->width = 8;
    check_spec(dataset, "shift(1,-2)/blur(0.7)", 128, blurred);
    medley_dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blur_is_a_gaussian_convolution),
        cmocka_unit_test(shift_moves_the_centre_to_the_middle),
        cmocka_unit_test(shift_moves_by_given_pixels),
        cmocka_unit_test(windows_stay_within_their_sequence),
        cmocka_unit_test(steps_follow_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
