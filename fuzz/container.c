/* SPDX-License-Identifier: BSD-3-Clause */
#include "container.h"

#include "file/file.h"

static uint64_t get(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value; /* of this machine, which has written the file */
}

static uint8_t *put(uint8_t *to, uint64_t value)
{
    memcpy(to, &value, sizeof value);
    return to + sizeof value;
}

bool fuzz_container_open(fuzz_container *container, fuzz_input input)
{
    *container = (fuzz_container){0};
    if (input.size < 32 || memcmp(input.data, MD_FILE_MAGIC, 8) != 0)
        return false;
    const uint64_t count = get(input.data + 24);
    if (count > FUZZ_SECTIONS || MD_HEADER_BYTES(count) > input.size)
        return false;
    container->version = get(input.data + 8);
    for (size_t s = 0; s < count; s++) {
        const uint8_t *entry = input.data + 32 + 32 * s;
        const uint64_t offset = get(entry + 8);
        const uint64_t size = get(entry + 16);
        fuzz_section *section = &container->section[s];
        if (offset > input.size || size > input.size - offset)
            break;
        memcpy(section->name, entry, sizeof section->name);
        section->data = fuzz_allocate(size);
        section->size = size;
        memcpy(section->data, input.data + offset, size);
        container->count = s + 1;
    }
    return container->count == count;
}

void fuzz_container_close(fuzz_container *container)
{
    for (size_t s = 0; s < container->count; s++)
        free(container->section[s].data);
    *container = (fuzz_container){0};
}

static void renew_sums(uint8_t *data, size_t size)
{
    const size_t count = get(data + 24);
    put(data + 16, size);
    for (size_t s = 0; s < count; s++) {
        uint8_t *entry = data + 32 + 32 * s;
        put(entry + 24, md_crc32((const char *)data + get(entry + 8), get(entry + 16)));
    }
    const size_t end = MD_HEADER_BYTES(count) - 8;
    put(data + end, md_crc32((const char *)data, end));
}

/* Within a section there may be a whole file: its length stands before it. */
static void renew_inner(uint8_t *data, size_t size)
{
    for (size_t at = 8; at + 32 < size; at += 8) {
        fuzz_container inner;
        const uint64_t length = get(data + at - 8);
        if (memcmp(data + at, MD_FILE_MAGIC, 8) != 0 || length > size - at)
            continue;
        if (fuzz_container_open(&inner, (fuzz_input){data + at, length}))
            renew_sums(data + at, length);
        fuzz_container_close(&inner);
        return;
    }
}

size_t fuzz_container_write(const fuzz_container *container, uint8_t *data, size_t room)
{
    const size_t header = MD_HEADER_BYTES(container->count);
    size_t end = (header + MD_SECTION_ALIGN - 1) / MD_SECTION_ALIGN * MD_SECTION_ALIGN;
    for (size_t s = 0; s < container->count; s++)
        end += container->section[s].size + MD_SECTION_ALIGN;
    if (end > room)
        return 0;
    memset(data, 0, end);
    memcpy(data, MD_FILE_MAGIC, 8);
    put(put(put(data + 8, container->version), 0), container->count);
    size_t at = header;
    for (size_t s = 0; s < container->count; s++) {
        const fuzz_section *section = &container->section[s];
        uint8_t *entry = data + 32 + 32 * s;
        at = (at + MD_SECTION_ALIGN - 1) / MD_SECTION_ALIGN * MD_SECTION_ALIGN;
        memcpy(entry, section->name, sizeof section->name);
        put(put(entry + 8, at), section->size);
        if (section->size > 0)
            memcpy(data + at, section->data, section->size);
        renew_inner(data + at, section->size);
        at += section->size;
    }
    renew_sums(data, at);
    return at;
}
