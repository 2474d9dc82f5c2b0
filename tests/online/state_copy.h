/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of the whole state of an online run, out and in again. */
#ifndef TESTS_ONLINE_STATE_COPY_H
#define TESTS_ONLINE_STATE_COPY_H

#include "online/online.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct copy {
    char *bytes;
    size_t length, position;
    bool back;
};

static inline void copy_visit(void *context, void *data, size_t bytes)
{
    struct copy *copy = context;
    if (!copy->back) {
        copy->bytes = realloc(copy->bytes, copy->length + bytes);
        assert_non_null(copy->bytes);
        memcpy(copy->bytes + copy->length, data, bytes);
        copy->length += bytes;
        return;
    }
    assert_true(copy->position + bytes <= copy->length);
    memcpy(data, copy->bytes + copy->position, bytes);
    copy->position += bytes;
}

static inline void assert_same_copy(const struct copy *a, const struct copy *b)
{
    assert_int_equal(a->length, b->length);
    assert_memory_equal(a->bytes, b->bytes, a->length);
}

#endif
