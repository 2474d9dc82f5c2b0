/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests on cards: on the fake one (fake_card.c), which is everywhere; on one whose plug-in is the
 * real one's code, compiled for the processor (cuda/cuda_runtime.h), where there is a C++ compiler;
 * and on a real one, where there is one. For cmocka tests:
 *
 *     static void a_sentence(void **state)
 *     {
 *         MD_OWNED(md_device_close) md_device *device = open_card(state);
 *     ...
 *         ON_EVERY_CARD(a_sentence),
 *
 * The plug-in of a real one is looked for in MEDLEY_REAL_PLUGINS, or in the build folder. */
#ifndef TESTS_DEVICE_TEST_DEVICE_H
#define TESTS_DEVICE_TEST_DEVICE_H

#include "device/open_device.h"
#include <libgen.h>
#include <limits.h>
#include <unistd.h>

typedef struct card_kind {
    const char *folder; /* of its plug-in, from build/tests */
    const char *lacks;  /* what is missing where it is not there; NULL: it is everywhere */
} card_kind;

static card_kind fake_kind = {"fake_card", NULL};
static card_kind processor_kind = {"cuda_on_processor", "no plug-in of src/cuda on the processor"};
static card_kind real_kind = {"..", "no card"};

#define ON_EVERY_CARD(test)                                                                        \
    {#test "_on_the_fake_card", test, NULL, NULL, &fake_kind},                                     \
        {#test "_with_cuda_on_the_processor", test, NULL, NULL, &processor_kind},                  \
    {                                                                                              \
#test "_on_a_real_card", test, NULL, NULL, &real_kind                                      \
    }

/* The folder of this program, build/tests, and what follows from there. */
static inline void find_folder(char path[PATH_MAX], const char *below)
{
    char own[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    assert_true(length > 0);
    own[length] = '\0';
    assert_in_range(snprintf(path, PATH_MAX, "%s/%s", dirname(own), below), 1, PATH_MAX - 1);
}

static inline void use_plugin(const card_kind *kind)
{
    char folder[PATH_MAX];
    const char *given = kind == &real_kind ? getenv("MEDLEY_REAL_PLUGINS") : NULL;
    find_folder(folder, kind->folder);
    setenv("MEDLEY_PLUGINS", given != NULL ? given : folder, 1);
}

/* From here on plug-ins are those of the fake card; fault: what it is to suffer from, or "". */
static inline void use_fake_card(const char *fault)
{
    use_plugin(&fake_kind);
    setenv("MEDLEY_FAKE_CARD", fault, 1);
}

/* A plug-in that was built for tests has to work. */
static inline bool is_built(const card_kind *kind)
{
    char plugin[PATH_MAX];
    char below[64];
    snprintf(below, sizeof below, "%s/libmedley-cuda.so", kind->folder);
    find_folder(plugin, below);
    return kind == &processor_kind && access(plugin, F_OK) == 0;
}

/* Threads of a kernel take turns there: tests do with less. */
static inline bool is_slow(const card_kind *kind)
{
    return kind == &processor_kind;
}

/* The card that the test is about, from here on what option `device=cuda` means; the test is
 * skipped where it is not there. */
static inline md_device *open_card(void **state)
{
    const card_kind *kind = *state;
    char reason[MD_DEVICE_MESSAGE];
    md_device *device = NULL;
    medley_error error = {0};
    use_fake_card("");
    use_plugin(kind);
    if (md_device_open(&device, "cuda", reason, &error) == MEDLEY_OK)
        return device;
    if (kind->lacks == NULL || is_built(kind))
        fail_msg("%s", error.message);
    printf("there is %s here: %s\n", kind->lacks, error.message);
    skip();
    return NULL;
}

/* The same where option `device=cuda` is all that is needed. */
static inline void use_card(void **state)
{
    md_device_close(open_card(state));
}

#endif
