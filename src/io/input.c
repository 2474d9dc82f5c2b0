/* SPDX-License-Identifier: BSD-3-Clause */
/* Bringing a file whole into memory: plain, gzip (known by its first bytes, whatever the name; any
 * number of members one after the other), or standard input. Bytes that are in memory already are
 * copied, as formats use the input as scratch memory. */
#include "io/io.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#ifdef MEDLEY_WITH_LIBDEFLATE
#include <libdeflate.h>
#endif

enum {
    FIRST_PIECE = 1 << 16,
    LARGEST_PIECE = 1 << 30,
    MOST_PER_BYTE = 1032, /* that deflate makes of a compressed one */
    SENTINEL = 2          /* a line's end and a text's end, so that nothing reads on */
};

/* Room for more bytes and the sentinel after them. */
static medley_status reserve(md_text *bytes, size_t more, medley_error *error)
{
    size_t needed;
    if (__builtin_add_overflow(bytes->length + SENTINEL, more, &needed))
        return md_fail_memory(error, more);
    return md_grow(&bytes->data, &bytes->capacity, needed, 1, error);
}

static medley_status read_descriptor(md_text *bytes, int descriptor, const char *path,
                                     medley_error *error)
{
    struct stat info;
    if (fstat(descriptor, &info) != 0)
        return md_fail_at(error, MEDLEY_FAILED, path, 0, "cannot read: %s", strerror(errno));
    if (S_ISDIR(info.st_mode))
        return md_fail_at(error, MEDLEY_FAILED, path, 0,
                          "cannot read: it is a directory; name a file in it");
    /* one byte more than the size lets the last read see the end without growing the buffer */
    const bool sized = S_ISREG(info.st_mode) && info.st_size > 0;
    MEDLEY_TRY(reserve(bytes, sized ? (size_t)info.st_size + 1 : FIRST_PIECE, error));
    md_expect_large(bytes->data, bytes->capacity);
    for (;;) {
        const size_t room = bytes->capacity - SENTINEL - bytes->length;
        const ssize_t got = read(descriptor, bytes->data + bytes->length,
                                 room < LARGEST_PIECE ? room : LARGEST_PIECE);
        if (got == 0)
            return MEDLEY_OK;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return md_fail_at(error, MEDLEY_FAILED, path, 0, "cannot read: %s", strerror(errno));
        bytes->length += (size_t)got;
        if (bytes->capacity - SENTINEL - bytes->length == 0)
            MEDLEY_TRY(reserve(bytes, FIRST_PIECE, error));
    }
}

static medley_status read_file(md_text *bytes, const char *path, medley_error *error)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return md_fail_at(error, MEDLEY_FAILED, path, 0, "cannot open: %s; check the name",
                          strerror(errno));
    const medley_status status = read_descriptor(bytes, descriptor, path, error);
    close(descriptor);
    return status;
}

/* By its mark, method 8 (the only one) and flags, of which three are always 0. */
static bool is_gzip(const char *bytes, size_t length)
{
    return length >= 2 && (unsigned char)bytes[0] == 0x1f && (unsigned char)bytes[1] == 0x8b &&
           (length < 3 || bytes[2] == 8) && (length < 4 || (bytes[3] & 0xe0) == 0);
}

/* MemorySanitizer does not see what zlib writes. */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define WRITTEN(memory, bytes) __msan_unpoison(memory, bytes)
#endif
#endif
#ifndef WRITTEN
#define WRITTEN(memory, bytes) ((void)0)
#endif

/* Inflates one member at packed[*used]; moves *used past it. */
static medley_status inflate_member(md_text *bytes, z_stream *stream, const md_text *packed,
                                    size_t *used, medley_error *error)
{
    int result = Z_OK;
    while (result != Z_STREAM_END) {
        MEDLEY_TRY(reserve(bytes, FIRST_PIECE, error));
        const size_t left = packed->length - *used;
        const size_t room = bytes->capacity - SENTINEL - bytes->length;
        const uInt offered = left < LARGEST_PIECE ? (uInt)left : LARGEST_PIECE;
        const uInt space = room < LARGEST_PIECE ? (uInt)room : LARGEST_PIECE;
        stream->next_in = (Bytef *)packed->data + *used;
        stream->avail_in = offered;
        stream->next_out = (Bytef *)bytes->data + bytes->length;
        stream->avail_out = space;
        result = inflate(stream, Z_NO_FLUSH);
        WRITTEN(bytes->data + bytes->length, space - stream->avail_out);
        *used += offered - stream->avail_in;
        bytes->length += space - stream->avail_out;
        if (result == Z_BUF_ERROR)
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "the gzip data end too early; the file is cut off: copy it again");
        if (result == Z_MEM_ERROR)
            return md_fail_memory(error, FIRST_PIECE);
        if (result != Z_OK && result != Z_STREAM_END)
            return md_fail(error, MEDLEY_BAD_INPUT,
                           "the gzip data are damaged (%s); copy the file again",
                           stream->msg != NULL ? stream->msg : "bad data");
    }
    return MEDLEY_OK;
}

/* Room for as many bytes as the end of the file claims to be of its last member, mostly the only
 * one. The claim is a hint: it may be wrong, and more than there is memory for. */
static void expect_claimed(md_text *bytes, const md_text *packed)
{
    uint32_t claim;
    if (packed->length < sizeof claim)
        return;
    memcpy(&claim, packed->data + packed->length - sizeof claim, sizeof claim);
    claim = le32toh(claim);
    if (claim / MOST_PER_BYTE <= packed->length &&
        reserve(bytes, (size_t)claim + FIRST_PIECE, NULL) == MEDLEY_OK)
        md_expect_large(bytes->data, bytes->capacity);
}

/* Inflates one member at packed[*used] into the room there is, in half the time that zlib takes.
 * False: not done, for whatever reason, which zlib finds again and tells. */
static bool inflate_at_once(md_text *bytes, const md_text *packed, size_t *used)
{
#ifdef MEDLEY_WITH_LIBDEFLATE
    enum { FLAGS = 3, HAS_HEADER_SUM = 2 }; /* which libdeflate does not check */
    const char *member = packed->data + *used;
    const size_t length = packed->length - *used;
    size_t taken;
    size_t made;
    if (bytes->data == NULL || length <= FLAGS || member[FLAGS] & HAS_HEADER_SUM)
        return false;
    struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
    if (inflater == NULL)
        return false;
    char *to = bytes->data + bytes->length;
    const size_t room = bytes->capacity - SENTINEL - bytes->length;
    const bool done = libdeflate_gzip_decompress_ex(inflater, member, length, to, room, &taken,
                                                    &made) == LIBDEFLATE_SUCCESS;
    libdeflate_free_decompressor(inflater);
    if (done) {
        WRITTEN(to, made);
        *used += taken;
        bytes->length += made;
    }
    return done;
#else
    (void)bytes, (void)packed, (void)used;
    return false;
#endif
}

static bool only_zeros(const char *bytes, size_t length)
{
    while (length > 0 && bytes[length - 1] == '\0')
        length--;
    return length == 0;
}

static medley_status decompress(md_text *bytes, const md_text *packed, medley_error *error)
{
    MD_CLEARED(inflateEnd) z_stream stream = {0};
    if (inflateInit2(&stream, 15 + 16) != Z_OK) /* 32 KiB window, gzip header */
        return md_fail_memory(error, FIRST_PIECE);
    size_t used = 0;
    expect_claimed(bytes, packed);
    while (is_gzip(packed->data + used, packed->length - used)) {
        if (inflate_at_once(bytes, packed, &used))
            continue;
        inflateReset(&stream);
        MEDLEY_TRY(inflate_member(bytes, &stream, packed, &used, error));
    }
    /* tapes and some tools pad with zeros */
    if (!only_zeros(packed->data + used, packed->length - used))
        return md_fail(error, MEDLEY_BAD_INPUT,
                       "%zu bytes that are not gzip follow the compressed data; remove them",
                       packed->length - used);
    return MEDLEY_OK;
}

/* Fills in the file where a helper that does not know it reported bad data. */
static medley_status place_error(medley_status status, const char *path, medley_error *error)
{
    if (status == MEDLEY_BAD_INPUT && error != NULL && error->file[0] == '\0')
        snprintf(error->file, sizeof error->file, "%s", path);
    return status;
}

/* What was read, decompressed and with its sentinel. The bytes are taken out of read. */
static medley_status finish(md_input *input, md_text *read, const char *shown, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text unpacked = {0};
    md_text *bytes = read;
    if (is_gzip(read->data, read->length)) {
        MEDLEY_TRY(place_error(decompress(&unpacked, read, error), shown, error));
        bytes = &unpacked;
    }
    if (bytes->length == 0)
        return md_fail_at(error, MEDLEY_BAD_INPUT, shown, 0, "the file is empty");
    bytes->data[bytes->length] = '\n';
    bytes->data[bytes->length + 1] = '\0';
    *input = (md_input){shown, bytes->data, bytes->length};
    *bytes = (md_text){0};
    return MEDLEY_OK;
}

medley_status md_input_read(md_input *input, const char *path, medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text bytes = {0};
    const bool standard = strcmp(path, "-") == 0;
    const char *shown = standard ? "standard input" : path;
    MEDLEY_TRY(standard ? read_descriptor(&bytes, STDIN_FILENO, shown, error)
                        : read_file(&bytes, path, error));
    return finish(input, &bytes, shown, error);
}

medley_status md_input_copy(md_input *input, const char *bytes, size_t length, const char *path,
                            medley_error *error)
{
    MD_CLEARED(md_text_clear) md_text copy = {0};
    MEDLEY_TRY(reserve(&copy, length, error));
    if (length > 0)
        memcpy(copy.data, bytes, length);
    copy.length = length;
    return finish(input, &copy, path, error);
}

void md_input_clear(md_input *input)
{
    free(input->data);
    *input = (md_input){0};
}

size_t md_input_line(const md_input *input, const char *place)
{
    size_t line = 1;
    for (const char *p = input->data; p < place; p++)
        line += *p == '\n';
    return line;
}

medley_status md_input_text(const char **first, const md_input *input, medley_error *error)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    const char *nul = memchr(input->data, '\0', input->length);
    if (nul != NULL)
        return md_fail_at(error, MEDLEY_BAD_INPUT, input->path, md_input_line(input, nul),
                          "a NUL byte was found, so this is no text file; if it is UTF-16, save "
                          "it as UTF-8");
    const bool marked = input->length >= 3 && memcmp(input->data, byte_order_mark, 3) == 0;
    *first = input->data + (marked ? 3 : 0);
    return MEDLEY_OK;
}
