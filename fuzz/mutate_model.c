/* SPDX-License-Identifier: BSD-3-Clause */
/* Mutations of model files that stay model files: one section is changed, or taken from another
 * file, and the container is put together anew. Sections are numbers of 8 bytes and texts that fill
 * up 8 bytes, so that changes are mostly of such. */
#include "container.h"

size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second,
                                 size_t second_size, uint8_t *out, size_t room, unsigned int seed);

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

/* A number that breaks things, or one from elsewhere in the section. */
static uint64_t choose_number(uint64_t *state, const fuzz_section *section, uint64_t old)
{
    static const uint64_t odd[] = {0,
                                   1,
                                   2,
                                   UINT64_MAX,
                                   UINT64_MAX / 2,
                                   UINT64_MAX / 4 + 1,
                                   UINT64_MAX / 8 + 1,
                                   1ULL << 31,
                                   1ULL << 32,
                                   1ULL << 40,
                                   0x7ff0000000000000, /* infinity */
                                   0x7fefffffffffffff, /* the largest double */
                                   0x0000000000000001, /* the least */
                                   0xc3e0000000000000, /* -2^63 */
                                   0x7f7fffff7f7fffff /* two of the largest float */};
    switch (next(state) % 4) {
    case 0:
        return odd[next(state) % (sizeof odd / sizeof *odd)];
    case 1:
        return old + 1 - next(state) % 3;
    case 2:
        return next(state) % 64;
    default:
        break;
    }
    memcpy(&old, section->data + next(state) % (section->size / 8) * 8, sizeof old);
    return old;
}

/* Numbers at places of 8 bytes are changed, a part is left out or doubled, or anything happens. */
static void change_section(fuzz_section *section, uint64_t *state)
{
    enum { MORE = 512 };
    uint8_t *bytes = fuzz_allocate(section->size + MORE);
    memcpy(bytes, section->data, section->size);
    free(section->data);
    section->data = bytes;
    const size_t numbers = section->size / 8;
    const uint64_t way = numbers == 0 ? 7 : next(state) % 8;
    uint8_t *place = bytes + (numbers > 0 ? next(state) % numbers * 8 : 0);
    if (way < 5) {
        uint64_t value;
        memcpy(&value, place, sizeof value);
        value = choose_number(state, section, value);
        memcpy(place, &value, sizeof value);
    } else if (way < 6) {
        const size_t left = section->size - (size_t)(place - bytes);
        const size_t cut = (1 + next(state) % 8) * 8 < left ? (1 + next(state) % 8) * 8 : 8;
        const size_t gone = cut < left ? cut : left;
        memmove(place, place + gone, left - gone);
        section->size -= gone;
    } else {
        section->size = LLVMFuzzerMutate(bytes, section->size, section->size + MORE);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned int seed)
{
    fuzz_container container;
    uint64_t state = seed;
    if (!fuzz_container_open(&container, (fuzz_input){data, size}) || container.count == 0) {
        fuzz_container_close(&container);
        return LLVMFuzzerMutate(data, size, room);
    }
    for (uint64_t times = 1 + next(&state) % 3; times > 0; times--)
        change_section(&container.section[next(&state) % container.count], &state);
    if (next(&state) % 64 == 0)
        container.version = next(&state) % 8;
    if (next(&state) % 64 == 0 && container.count > 1)
        free(container.section[--container.count].data);
    const size_t written = fuzz_container_write(&container, data, room);
    fuzz_container_close(&container);
    return written > 0 ? written : size;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second,
                                 size_t second_size, uint8_t *out, size_t room, unsigned int seed)
{
    fuzz_container one;
    fuzz_container other;
    size_t written = 0;
    uint64_t state = seed;
    const bool good = fuzz_container_open(&one, (fuzz_input){first, first_size});
    if (fuzz_container_open(&other, (fuzz_input){second, second_size}) && good && one.count > 0 &&
        other.count > 0) {
        fuzz_section *a = &one.section[next(&state) % one.count];
        fuzz_section *b = &other.section[next(&state) % other.count];
        for (size_t s = 0; s < other.count; s++) /* mostly the one of the same name */
            if (next(&state) % 4 > 0 && memcmp(a->name, other.section[s].name, sizeof a->name) == 0)
                b = &other.section[s];
        uint8_t *bytes = a->data;
        const size_t size = a->size;
        a->data = b->data;
        a->size = b->size;
        b->data = bytes;
        b->size = size;
        written = fuzz_container_write(&one, out, room);
    }
    fuzz_container_close(&one);
    fuzz_container_close(&other);
    return written;
}
