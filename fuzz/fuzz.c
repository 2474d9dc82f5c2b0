/* SPDX-License-Identifier: BSD-3-Clause */
/* Input, files in memory and failing allocations for all targets. */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

/* ---- failures ---- */

fuzz_failing fuzz_failures;

bool fuzz_allocation_fails(void)
{
    fuzz_failing *failing = &fuzz_failures;
    if (failing->countdown == 0)
        return false;
    const bool now = failing->countdown == 1;
    failing->countdown -= now && failing->forever ? 0 : 1;
    failing->happened = failing->happened || now;
    return now;
}

_Noreturn void fuzz_broken(const char *file, int line, const char *promise)
{
    fuzz_pause();
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, promise);
    abort();
}

fuzz_failing fuzz_pause(void)
{
    const fuzz_failing before = fuzz_failures;
    fuzz_failures = (fuzz_failing){0};
    return before;
}

void fuzz_resume(fuzz_failing before)
{
    fuzz_failures = before;
}

bool fuzz_worked(medley_status status, const medley_error *error)
{
    FUZZ_REQUIRE(status >= 0 || (error->code == status && error->message[0] != '\0'));
    FUZZ_REQUIRE(memchr(error->message, '\0', sizeof error->message) != NULL);
    FUZZ_REQUIRE(memchr(error->file, '\0', sizeof error->file) != NULL);
    return status >= 0;
}

bool fuzz_must(medley_status status, const medley_error *error)
{
    if (status < 0 && !fuzz_failures.happened)
        fprintf(stderr, "%s:%ld: %s\n", error->file, error->line, error->message);
    FUZZ_REQUIRE(status >= 0 || fuzz_failures.happened);
    return fuzz_worked(status, error);
}

void *fuzz_allocate(size_t bytes)
{
    const fuzz_failing before = fuzz_pause();
    void *memory = malloc(bytes + (bytes == 0));
    fuzz_resume(before);
    FUZZ_REQUIRE(memory != NULL);
    return memory;
}

/* ---- input ---- */

uint8_t fuzz_byte(fuzz_input *input)
{
    if (input->size == 0)
        return 0;
    input->size--;
    return *input->data++;
}

char *fuzz_text(fuzz_input input)
{
    char *text = fuzz_allocate(input.size + 1);
    if (input.size > 0)
        memcpy(text, input.data, input.size);
    text[input.size] = '\0';
    return text;
}

char *fuzz_line(fuzz_input *input)
{
    if (input->size == 0)
        return NULL;
    const uint8_t *end = memchr(input->data, '\n', input->size);
    const size_t length = end != NULL ? (size_t)(end - input->data) : input->size;
    char *line = fuzz_text((fuzz_input){input->data, length});
    input->data += length + (end != NULL);
    input->size -= length + (end != NULL);
    return line;
}

/* ---- files ---- */

const char *fuzz_file(size_t slot, const void *bytes, size_t size)
{
    static int descriptor[FUZZ_SLOTS];
    static char path[FUZZ_SLOTS][64];
    FUZZ_REQUIRE(slot < FUZZ_SLOTS);
    if (path[slot][0] == '\0') {
        descriptor[slot] = memfd_create("fuzz", MFD_CLOEXEC);
        FUZZ_REQUIRE(descriptor[slot] >= 0);
        snprintf(path[slot], sizeof path[slot], "/proc/self/fd/%d", descriptor[slot]);
    }
    FUZZ_REQUIRE(ftruncate(descriptor[slot], 0) == 0);
    FUZZ_REQUIRE(pwrite(descriptor[slot], bytes, size, 0) == (ssize_t)size);
    return path[slot];
}

static uint8_t *put(uint8_t *to, uint32_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        *to++ = (uint8_t)(value >> 8 * i);
    return to;
}

/* One member: a header, stored blocks, checksum and length. */
static uint8_t *put_member(uint8_t *to, fuzz_input bytes)
{
    enum { BLOCK = 0xffff };
    static const uint8_t header[10] = {0x1f, 0x8b, 8, [9] = 3};
    const uint32_t sum = (uint32_t)crc32(0, bytes.data, (uInt)bytes.size);
    const uint32_t length = (uint32_t)bytes.size;
    memcpy(to, header, sizeof header);
    to += sizeof header;
    do {
        const size_t piece = bytes.size < BLOCK ? bytes.size : BLOCK;
        *to++ = piece == bytes.size; /* the last one */
        to = put(to, (uint32_t)piece, 2);
        to = put(to, ~(uint32_t)piece, 2);
        if (piece > 0)
            memcpy(to, bytes.data, piece);
        to += piece;
        bytes.data += piece;
        bytes.size -= piece;
    } while (bytes.size > 0);
    return put(put(to, sum, 4), length, 4);
}

uint8_t *fuzz_gzip(fuzz_input bytes, size_t members, size_t *size)
{
    uint8_t *packed = fuzz_allocate(bytes.size + (bytes.size >> 12) + 64);
    uint8_t *end = packed;
    if (members > 1) {
        const fuzz_input first = {bytes.data, bytes.size / 2};
        end = put_member(end, first);
        bytes.data += first.size;
        bytes.size -= first.size;
    }
    end = put_member(end, bytes);
    *size = (size_t)(end - packed);
    return packed;
}
