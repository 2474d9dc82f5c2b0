/* SPDX-License-Identifier: BSD-3-Clause */
/* Model files as sections, for forgeries: checksums, places and lengths are made right, so that a
 * change inside a section is not refused at the door. */
#ifndef FUZZ_CONTAINER_H
#define FUZZ_CONTAINER_H

#include "fuzz.h"

enum { FUZZ_SECTIONS = 16 };

typedef struct fuzz_section {
    char name[8];
    uint8_t *data;
    size_t size;
} fuzz_section;

/* A file taken apart; sections own their bytes. */
typedef struct fuzz_container {
    uint64_t version;
    size_t count;
    fuzz_section section[FUZZ_SECTIONS];
} fuzz_container;

/* false: the bytes are none. */
bool fuzz_container_open(fuzz_container *container, fuzz_input input);
void fuzz_container_close(fuzz_container *container);

/* Bytes of the file put together; 0: there is not enough room. Checksums of files inside sections
 * are made right as well. */
size_t fuzz_container_write(const fuzz_container *container, uint8_t *data, size_t room);

#endif
