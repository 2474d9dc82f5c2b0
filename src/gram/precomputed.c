/* SPDX-License-Identifier: BSD-3-Clause */
/* What training asks of kernel values that came ready made: square, finite, symmetric up to
 * rounding, and nothing negative on the diagonal. */
#include "gram/prepared_rows.h"

enum { PATCH = 64 }; /* rows and columns compared at a time: an element and its mirror stay near */

/* What messages call the values, and a matrix of them. */
static const char *kind_of(const md_precomputed *gram)
{
    return gram->is_distance ? "matrix of distances" : "kernel";
}

static const char *letter_of(const md_precomputed *gram)
{
    return gram->is_distance ? "D" : "K";
}

static medley_status check_values(const md_precomputed *gram, size_t rows, double *largest,
                                  medley_error *error)
{
    const float *values = gram->values.dense;
    *largest = 0;
    for (size_t i = 0; i < rows * rows; i++) {
        if (!isfinite(values[i]))
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "%s '%s': row %zu, column %zu is %g; %s must be finite numbers",
                           kind_of(gram), gram->name, i / rows + 1, i % rows + 1, (double)values[i],
                           gram->is_distance ? "distances" : "kernel values");
        *largest = fmax(*largest, fabs((double)values[i]));
    }
    for (size_t i = 0; i < rows; i++)
        if (values[i * rows + i] < 0)
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "kernel '%s' is not positive semi-definite: row %zu, column %zu is %g; "
                           "a kernel of a point with itself cannot be negative",
                           gram->name, i + 1, i + 1, (double)values[i * rows + i]);
    return MEDLEY_OK;
}

/* Values computed in single precision, in whatever order, differ by some rounding of what they are
 * sums of. That is at most sqrt(K(x,x) K(z,z)), or of the order of the largest value where K was
 * centred. */
static bool are_near(const float *values, size_t rows, size_t i, size_t j, double largest)
{
    const double above = (double)values[j * rows + i];
    const double below = (double)values[i * rows + j];
    const double scale = sqrt((double)values[i * rows + i] * (double)values[j * rows + j]);
    return fabs(below - above) <=
           1e-4 * fmax(scale, fmax(fabs(below), fabs(above))) + 1e-6 * largest;
}

/* Rows first_row .. and columns first_column .. below the diagonal. */
static medley_status check_patch(const md_precomputed *gram, size_t first_row, size_t first_column,
                                 double largest, medley_error *error)
{
    const float *values = gram->values.dense;
    const size_t rows = gram->values.rows;
    for (size_t i = first_row; i < rows && i < first_row + PATCH; i++)
        for (size_t j = first_column; j < i && j < first_column + PATCH; j++)
            if (values[i * rows + j] != values[j * rows + i] &&
                !are_near(values, rows, i, j, largest))
                return md_fail(error, MEDLEY_BAD_INPUT,
                               "%s '%s' is not symmetric: row %zu, column %zu is %g but row %zu, "
                               "column %zu is %g; give (%s + %s')/2",
                               kind_of(gram), gram->name, i + 1, j + 1,
                               (double)values[i * rows + j], j + 1, i + 1,
                               (double)values[j * rows + i], letter_of(gram), letter_of(gram));
    return MEDLEY_OK;
}

medley_status md_precomputed_check(const md_precomputed *gram, size_t rows, medley_error *error)
{
    const md_matrix *k = &gram->values;
    double largest;
    if (k->columns != rows)
        return md_fail(error, MEDLEY_BAD_INPUT,
                       "%s '%s' is not square: %zu x %zu; training needs one row and one column "
                       "for each of the %zu examples",
                       kind_of(gram), gram->name, k->rows, k->columns, rows);
    MEDLEY_TRY(check_values(gram, rows, &largest, error));
    for (size_t i = 0; i < rows; i += PATCH)
        for (size_t j = 0; j <= i; j += PATCH)
            MEDLEY_TRY(check_patch(gram, i, j, largest, error));
    return MEDLEY_OK;
}
