/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MD_RANK_H
#define MD_RANK_H

#include "base/base.h"

/* What item i of a context is ranked by. */
typedef double (*md_rank_value)(const void *context, size_t i);

/* order[count] of items by falling value, equal ones in their order, those that are NaN last. The
 * caller frees it. */
medley_status md_rank(size_t **order, size_t count, md_rank_value value, const void *context,
                      medley_error *error);

/* Puts item among items[count], structs of `size` bytes that begin with the double they fall by;
 * the largest `most` stay, of equal ones the first. Returns how many there are. */
size_t md_keep_largest(void *items, size_t count, size_t most, size_t size, const void *item);

#endif
