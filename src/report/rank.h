/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MD_RANK_H
#define MD_RANK_H

#include "base/status.h"

/* order[count] of values by falling size, equal ones in their order, those that are NaN last. The
 * caller frees it. */
medley_status md_rank(size_t **order, const double *values, size_t count, medley_error *error);

#endif
