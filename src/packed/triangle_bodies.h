/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of triangle_loops.h for one type of values: included by triangle_loops.c for each,
 * after VALUE and PACKED(name), the name of a function for that type.
 *
 * Vectors are those of the compiler, one or more registers of what the processor has; they are
 * passed by address so that no calling convention comes into it. Rows end anywhere: their last
 * vector reads on into what follows, where x is 0 and y does not count. */

typedef double PACKED(lanes) __attribute__((vector_size(MD_TRIANGLE_LANES * sizeof(double))));

PACKED_INLINE void PACKED(widen)(PACKED(lanes) * to, const VALUE *from)
{
    *to = (PACKED(lanes)){(double)from[0], (double)from[1], (double)from[2], (double)from[3]};
}

PACKED_INLINE double PACKED(total)(const PACKED(lanes) * lanes)
{
    double sum = 0;
    for (size_t l = 0; l < MD_TRIANGLE_LANES; l++)
        sum += (*lanes)[l];
    return sum;
}

/* Rows i .. i+3, k at K(i,i): where their columns from i + 4 on begin. */
PACKED_INLINE void PACKED(four_rows)(const VALUE **rows, const VALUE *k, size_t width)
{
    for (size_t r = 0; r < ROWS; r++)
        rows[r] = k + md_triangle_row(width, r) + (ROWS - r);
}

/* Four rows lie side by side, and the next four right after them. So memory is fetched in its own
 * order, as much of it as is being used, at least four rows and some lines ahead. */
PACKED_INLINE void PACKED(fetch)(const VALUE *from)
{
    for (size_t r = 0; r < ROWS; r++)
        __builtin_prefetch(from + r * LINE_VALUES, 0, 2);
}

PACKED_INLINE void PACKED(fetch_rest)(const VALUE *from, const VALUE *end)
{
    for (; from < end; from += LINE_VALUES)
        __builtin_prefetch(from, 0, 2);
}

/* The part of x'Kx in rows i .. i+3 that lies in columns i .. i+3; k at K(i,i), x at x_i. */
PACKED_INLINE double PACKED(corner_norm2)(const VALUE *k, size_t width, const double *x)
{
    double sum = 0;
    for (size_t r = 0; r < ROWS; r++) {
        const VALUE *row = k + md_triangle_row(width, r);
        double beyond = 0;
        for (size_t c = r + 1; c < ROWS; c++)
            beyond += (double)row[c - r] * x[c];
        sum += x[r] * ((double)row[0] * x[r] + 2 * beyond);
    }
    return sum;
}

PACKED_INLINE void PACKED(corner_multiply)(const VALUE *k, size_t width, const double *x, double *y)
{
    for (size_t r = 0; r < ROWS; r++) {
        const VALUE *row = k + md_triangle_row(width, r);
        y[r] += (double)row[0] * x[r];
        for (size_t c = r + 1; c < ROWS; c++) {
            y[r] += (double)row[c - r] * x[c];
            y[c] += (double)row[c - r] * x[r];
        }
    }
}

/* beyond[r] += values of row r times those of x, from column j of rows and x on. */
PACKED_INLINE void PACKED(norm2_step)(const VALUE *const *rows, size_t j, const double *x,
                                      PACKED(lanes) * beyond)
{
    PACKED(lanes) other, value;
    memcpy(&other, x + j, sizeof other);
    for (size_t r = 0; r < ROWS; r++) {
        PACKED(widen)(&value, rows[r] + j);
        beyond[r] += value * other;
    }
}

MD_VECTOR(double, PACKED(packed_norm2),
          (const void *values, size_t n, size_t row, size_t end, const double *x),
          (values, n, row, end, x))
{
    const VALUE *k = (const VALUE *)values + md_triangle_row(n, row);
    PACKED(lanes) all = {0};
    double sum = 0;
    size_t i = row;
    for (; i + ROWS <= end; i += ROWS) {
        const size_t width = n - i;
        const size_t ahead = md_triangle_row(width, ROWS);
        const VALUE *next = k + (ahead > AHEAD_VALUES ? ahead : AHEAD_VALUES);
        const VALUE *const next_end = next + ahead;
        const VALUE *rows[ROWS];
        PACKED(lanes) beyond[ROWS] = {{0}};
        PACKED(four_rows)(rows, k, width);
        size_t j = 0;
        for (; j + LINE_VALUES <= width - ROWS; j += LINE_VALUES) {
            PACKED(fetch)(next);
            next += ROWS * LINE_VALUES;
            for (size_t l = 0; l < LINE_VALUES; l += MD_TRIANGLE_LANES)
                PACKED(norm2_step)(rows, j + l, x + i + ROWS, beyond);
        }
        PACKED(fetch_rest)(next, next_end);
        for (; j < width - ROWS; j += MD_TRIANGLE_LANES)
            PACKED(norm2_step)(rows, j, x + i + ROWS, beyond);
        for (size_t r = 0; r < ROWS; r++)
            all += beyond[r] * x[i + r];
        sum += PACKED(corner_norm2)(k, width, x + i);
        k += ahead;
    }
    for (; i < end; i++) {
        PACKED(lanes) beyond = {0};
        for (size_t j = i + 1; j < n; j += MD_TRIANGLE_LANES) {
            PACKED(lanes) other, value;
            memcpy(&other, x + j, sizeof other);
            PACKED(widen)(&value, k + (j - i));
            beyond += value * other;
        }
        all += beyond * x[i];
        sum += x[i] * (double)k[0] * x[i];
        k += n - i;
    }
    return sum + 2 * PACKED(total)(&all);
}

/* One row: y_i and what it adds to the others. */
PACKED_INLINE void PACKED(multiply_row)(const VALUE *k, size_t n, size_t i, const double *x,
                                        double *y)
{
    PACKED(lanes) own = {0};
    for (size_t j = i + 1; j < n; j += MD_TRIANGLE_LANES) {
        PACKED(lanes) other, value, result;
        memcpy(&other, x + j, sizeof other);
        memcpy(&result, y + j, sizeof result);
        PACKED(widen)(&value, k + (j - i));
        own += value * other;
        result += value * x[i];
        memcpy(y + j, &result, sizeof result);
    }
    y[i] += (double)k[0] * x[i] + PACKED(total)(&own);
}

/* The same for four rows, x and y at the first of them, in columns j and on of those after the
 * corner. */
PACKED_INLINE void PACKED(multiply_step)(const VALUE *const *rows, size_t j, const double *x,
                                         double *y, PACKED(lanes) * own)
{
    PACKED(lanes) other, value, result;
    memcpy(&other, x + ROWS + j, sizeof other);
    memcpy(&result, y + ROWS + j, sizeof result);
    for (size_t r = 0; r < ROWS; r++) {
        PACKED(widen)(&value, rows[r] + j);
        own[r] += value * other;
        result += value * x[r];
    }
    memcpy(y + ROWS + j, &result, sizeof result);
}

MD_VECTOR_VOID(PACKED(packed_multiply),
               (const void *values, size_t n, size_t row, size_t end, const double *restrict x,
                double *restrict y),
               (values, n, row, end, x, y))
{
    const VALUE *k = (const VALUE *)values + md_triangle_row(n, row);
    size_t i = row;
    for (; i + ROWS <= end; i += ROWS) {
        const size_t width = n - i;
        const size_t ahead = md_triangle_row(width, ROWS);
        const VALUE *next = k + (ahead > AHEAD_VALUES ? ahead : AHEAD_VALUES);
        const VALUE *const next_end = next + ahead;
        const VALUE *rows[ROWS];
        PACKED(lanes) own[ROWS] = {{0}};
        PACKED(four_rows)(rows, k, width);
        size_t j = 0;
        for (; j + LINE_VALUES <= width - ROWS; j += LINE_VALUES) {
            PACKED(fetch)(next);
            next += ROWS * LINE_VALUES;
            for (size_t l = 0; l < LINE_VALUES; l += MD_TRIANGLE_LANES)
                PACKED(multiply_step)(rows, j + l, x + i, y + i, own);
        }
        PACKED(fetch_rest)(next, next_end);
        for (; j < width - ROWS; j += MD_TRIANGLE_LANES)
            PACKED(multiply_step)(rows, j, x + i, y + i, own);
        for (size_t r = 0; r < ROWS; r++)
            y[i + r] += PACKED(total)(&own[r]);
        PACKED(corner_multiply)(k, width, x + i, y + i);
        k += ahead;
    }
    for (; i < end; i++) {
        PACKED(multiply_row)(k, n, i, x, y);
        k += n - i;
    }
}

/* sum += those of so many triangles, a constant where this is called. */
PACKED_INLINE void PACKED(add_some)(double *sum, const void *const *triangles, const double *weight,
                                    size_t together, size_t first, size_t count)
{
    const VALUE *k[MD_TRIANGLE_TOGETHER];
    for (size_t t = 0; t < together; t++)
        k[t] = (const VALUE *)triangles[t] + first;
    size_t j = 0;
    for (; j + LINE_VALUES <= count; j += LINE_VALUES) {
        for (size_t t = 0; t < together; t++)
            __builtin_prefetch(k[t] + j + SUM_AHEAD_VALUES, 0, 2);
        for (size_t l = j; l < j + LINE_VALUES; l += MD_TRIANGLE_LANES) {
            PACKED(lanes) result, value;
            memcpy(&result, sum + l, sizeof result);
            for (size_t t = 0; t < together; t++) {
                PACKED(widen)(&value, k[t] + l);
                result += value * weight[t];
            }
            memcpy(sum + l, &result, sizeof result);
        }
    }
    for (; j < count; j++)
        for (size_t t = 0; t < together; t++)
            sum[j] += weight[t] * (double)k[t][j];
}

MD_VECTOR_VOID(PACKED(packed_add),
               (double *restrict sum, const void *const *triangles, const double *weight,
                size_t together, size_t first, size_t count),
               (sum, triangles, weight, together, first, count))
{
    if (together == 8) {
        PACKED(add_some)(sum, triangles, weight, 8, first, count);
        return;
    }
    if (together >= 4) {
        PACKED(add_some)(sum, triangles, weight, 4, first, count);
        triangles += 4;
        weight += 4;
        together -= 4;
    }
    for (size_t t = 0; t < together; t++)
        PACKED(add_some)(sum, triangles + t, weight + t, 1, first, count);
}

MD_VECTOR(double, PACKED(packed_squares), (const void *values, size_t first, size_t count),
          (values, first, count))
{
    const VALUE *k = (const VALUE *)values + first;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < count; j++)
        sum += (double)k[j] * (double)k[j];
    return sum;
}

MD_VECTOR_VOID(PACKED(packed_scale), (void *values, double factor, size_t count),
               (values, factor, count))
{
    VALUE *restrict k = values;
#pragma omp simd
    for (size_t j = 0; j < count; j++)
        k[j] = (VALUE)(factor * (double)k[j]);
}

static double PACKED(packed_get)(const void *values, size_t place)
{
    return (double)((const VALUE *)values)[place];
}

static void PACKED(packed_set)(void *values, size_t place, double value)
{
    ((VALUE *)values)[place] = (VALUE)value;
}

static void PACKED(packed_column)(const void *values, size_t n, size_t column, double *out)
{
    const VALUE *k = values;
    for (size_t j = 0; j < column; j++)
        out[j] = (double)k[md_triangle_row(n, j) + column - j];
    k += md_triangle_row(n, column);
    for (size_t j = column; j < n; j++)
        out[j] = (double)k[j - column];
}

static void PACKED(packed_take)(void *values, size_t n, const md_tile_values *tile)
{
    for (size_t r = 0; r < tile->rows; r++) {
        const size_t i = tile->row + r;
        const size_t first = tile->column > i ? tile->column : i;
        const size_t end = tile->column + tile->columns;
        const float *from = tile->values + r * tile->stride + (first - tile->column);
        VALUE *to = (VALUE *)values + md_triangle_row(n, i) + (first - i);
        for (size_t j = 0; first + j < end; j++)
            to[j] = (VALUE)from[j];
    }
}

MD_VECTOR_VOID(PACKED(packed_center),
               (void *values, size_t n, size_t row, size_t end, const double *restrict mean,
                double grand),
               (values, n, row, end, mean, grand))
{
    VALUE *restrict k = (VALUE *)values + md_triangle_row(n, row);
    for (size_t i = row; i < end; i++) {
#pragma omp simd
        for (size_t j = i; j < n; j++)
            k[j - i] = (VALUE)((double)k[j - i] + (grand - (mean[i] + mean[j])));
        k += n - i;
    }
}

const md_triangle_loops PACKED(md_triangle) = {.value_bytes = sizeof(VALUE),
                                               .norm2 = PACKED(packed_norm2),
                                               .multiply = PACKED(packed_multiply),
                                               .add = PACKED(packed_add),
                                               .squares = PACKED(packed_squares),
                                               .scale = PACKED(packed_scale),
                                               .get = PACKED(packed_get),
                                               .set = PACKED(packed_set),
                                               .column = PACKED(packed_column),
                                               .take = PACKED(packed_take),
                                               .center = PACKED(packed_center)};

#undef VALUE
#undef PACKED
