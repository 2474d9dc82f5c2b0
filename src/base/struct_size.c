/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of two versions of a struct. */
#include "base/struct_size.h"

enum { LARGEST = 4096 }; /* bytes: whoever has more has not set the size */

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

static bool is_size(size_t size)
{
    return size > sizeof(size_t) && size <= LARGEST;
}

medley_status md_check_struct(const void *given, const char *init, medley_error *error)
{
    if (is_size(size_of(given)))
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_USAGE,
                   "found a struct with struct_size %zu, which cannot be; start it with %s",
                   size_of(given), init);
}

medley_status md_take_struct(void *whole, size_t size, const void *given, const char *init,
                             medley_error *error)
{
    if (given == NULL)
        return MEDLEY_OK;
    MEDLEY_TRY(md_check_struct(given, init, error));
    const size_t told = size_of(given);
    for (size_t i = size; i < told; i++)
        if (((const unsigned char *)given)[i] != 0)
            return md_fail(error, MEDLEY_NOT_SUPPORTED,
                           "the program sets a field, %zu bytes into a struct of %s, that this "
                           "version of the library does not know; leave it zero, or use a newer "
                           "library",
                           i, init);
    memcpy(whole, given, told < size ? told : size);
    memcpy(whole, &size, sizeof size);
    return MEDLEY_OK;
}

void md_fill_struct(void *given, const void *whole, size_t size)
{
    const size_t told = size_of(given);
    if (!is_size(told))
        return;
    const size_t common = told < size ? told : size;
    memcpy((char *)given + sizeof told, (const char *)whole + sizeof told, common - sizeof told);
    memset((char *)given + common, 0, told - common);
}
