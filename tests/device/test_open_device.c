/* SPDX-License-Identifier: BSD-3-Clause */
/* Which device a description stands for, and what is said where there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/test_device.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

static void only_devices_are_described(void **state)
{
    (void)state;
    static const char *const good[] = {"auto", "cpu", "cuda", "cuda:0", "cuda:1", "cuda:1023"};
    static const char *const bad[] = {"",         "gpu",    "CUDA",     "cuda:",    "cuda:-1",
                                      "cuda:1.5", "cuda:x", "cuda:1x",  "cuda1",    "cud",
                                      "cpu:0",    "auto ",  "cuda:nan", "cuda:1024"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(md_device_check(good[i], NULL), MEDLEY_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char reason[MD_DEVICE_MESSAGE];
        char expected[200];
        md_device *device = NULL;
        medley_error error = {0};
        snprintf(expected, sizeof expected,
                 "`device=%s` is none of auto, cpu, cuda and cuda:N with the number N of a card",
                 bad[i]);
        assert_int_equal(md_device_check(bad[i], &error), MEDLEY_USAGE);
        assert_string_equal(error.message, expected);
        error = (medley_error){0};
        assert_int_equal(md_device_open(&device, bad[i], reason, &error), MEDLEY_USAGE);
        assert_string_equal(error.message, expected);
        assert_null(device);
    }
    assert_true(md_device_is_cpu("cpu") && !md_device_is_cpu("auto") && !md_device_is_cpu("cuda"));
    assert_true(md_device_is_auto("auto") && !md_device_is_auto("cpu"));
}

static void the_processor_is_no_device(void **state)
{
    (void)state;
    char reason[MD_DEVICE_MESSAGE] = "left over";
    md_device *device = (md_device *)(void *)reason;
    use_fake_card("");
    assert_int_equal(md_device_open(&device, "cpu", reason, NULL), MEDLEY_OK);
    assert_null(device);
    assert_string_equal(reason, "");
}

static void a_card_says_what_it_is(void **state)
{
    MD_OWNED(md_device_close) md_device *device = open_card(state);
    const card_kind *kind = *state;
    assert_true(strcmp(md_device_name(device), "fake card") == 0 || kind != &fake_kind);
    char reason[MD_DEVICE_MESSAGE];
    MD_OWNED(md_device_close) md_device *again = NULL; /* beside the first one */
    assert_int_equal(md_device_open(&again, "auto", reason, NULL), MEDLEY_OK);
    assert_non_null(again);
    assert_string_equal(reason, "");
    MD_OWNED(md_device_close) md_device *third = NULL;
    assert_int_equal(md_device_open(&third, "cuda:0", reason, NULL), MEDLEY_OK);
    assert_string_equal(md_device_name(third), md_device_name(device));
}

/* ---- what goes wrong ---- */

/* cuda is an error of one sentence; auto does without, and says why if there is a plug-in. */
static void check_refused(const char *description, const char *says, bool has_plugin)
{
    char reason[MD_DEVICE_MESSAGE];
    md_device *device = NULL;
    medley_error error = {0};
    assert_int_equal(md_device_open(&device, description, reason, &error), MEDLEY_NOT_SUPPORTED);
    assert_null(device);
    if (strstr(error.message, says) == NULL || strncmp(error.message, "device cuda", 11) != 0 ||
        strchr(error.message, '\n') != NULL)
        fail_msg("%s", error.message);
    assert_int_equal(md_device_open(&device, "auto", reason, NULL), MEDLEY_OK);
    assert_true(device == NULL || strcmp(description, "cuda") != 0);
    if (device == NULL && (strstr(reason, says) != NULL) != has_plugin)
        fail_msg("%s", reason);
    md_device_close(device);
}

static void cards_that_cannot_be_used_are_refused(void **state)
{
    (void)state;
    use_fake_card("version");
    check_refused("cuda", "libmedley-cuda.so belongs to Medley 0.0.1 and this is ", true);
    use_fake_card("none");
    check_refused("cuda", "there is no card that CUDA can use (none is installed)", true);
    use_fake_card("old");
    check_refused("cuda", "is too old: it has compute capability 7.0, and 8.0 is needed", true);
    use_fake_card("");
    check_refused("cuda:1", "device cuda:1: there is no card 1: the last one is 0", true);
    check_refused("cuda:1023", "there is no card 1023", true);
}

/* A folder that has a link of the plug-in's name, or nothing; removed by remove_folder. */
static void make_folder(char folder[PATH_MAX], const char *plugin)
{
    char path[PATH_MAX + 40];
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, PATH_MAX, "%s/medley-test-XXXXXX", temporary != NULL ? temporary : "/tmp");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/libmedley-cuda.so", folder);
    if (plugin != NULL)
        assert_int_equal(symlink(plugin, path), 0);
    setenv("MEDLEY_PLUGINS", folder, 1);
}

static void remove_folder(const char *folder)
{
    char path[PATH_MAX + 40];
    snprintf(path, sizeof path, "%s/libmedley-cuda.so", folder);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

static void plugins_that_are_none_are_refused(void **state)
{
    (void)state;
    char folder[PATH_MAX];
    Dl_info other;
    assert_int_not_equal(dladdr((const void *)(uintptr_t)zlibVersion, &other), 0);
    make_folder(folder, other.dli_fname);
    check_refused("cuda", "libmedley-cuda.so is no plug-in of Medley", true);
    remove_folder(folder);
    make_folder(folder, "/dev/null"); /* others that may be found elsewhere are not looked for */
    check_refused("cuda", "libmedley-cuda.so cannot be loaded (", true);
    check_refused("cuda", folder, true);
    remove_folder(folder);
}

static void without_a_plugin_nobody_expects_a_card(void **state)
{
    (void)state;
    char folder[PATH_MAX];
    char reason[MD_DEVICE_MESSAGE];
    MD_OWNED(md_device_close) md_device *installed = NULL;
    medley_error error = {0};
    make_folder(folder, NULL);
    const medley_status status = md_device_open(&installed, "cuda", reason, &error);
    if (status == MEDLEY_OK || strstr(error.message, "there is no libmedley") == NULL) {
        remove_folder(folder);
        printf("a plug-in for cards is installed on this machine\n");
        skip();
    }
    check_refused("cuda", "build Medley where nvcc is, or name its folder in MEDLEY_PLUGINS",
                  false);
    remove_folder(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_devices_are_described),
        cmocka_unit_test(the_processor_is_no_device),
        ON_EVERY_CARD(a_card_says_what_it_is),
        cmocka_unit_test(cards_that_cannot_be_used_are_refused),
        cmocka_unit_test(plugins_that_are_none_are_refused),
        cmocka_unit_test(without_a_plugin_nobody_expects_a_card),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
