/* SPDX-License-Identifier: BSD-3-Clause */
/* Files are written whole or not at all; every way to fail is told and leaves nothing behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/output.h"
#include "base/random.h"
#include "base/temporary.h"
#include "medley/dataset.h"
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* An empty folder for one test; *state is its path. */
static int make_folder(void **state)
{
    const char *base = getenv("TMPDIR");
    char *folder = malloc(4096);
    if (folder == NULL)
        return -1;
    snprintf(folder, 4096, "%s/medley-output-XXXXXX", base ? base : "/tmp");
    if (mkdtemp(folder) == NULL) {
        free(folder);
        return -1;
    }
    *state = folder;
    return 0;
}

static size_t count_files(const char *folder)
{
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return count;
}

static int remove_folder(void **state)
{
    char path[4096];
    DIR *listing = opendir(*state);
    if (listing == NULL)
        return -1;
    for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", (char *)*state, entry->d_name);
        if (entry->d_name[0] != '.')
            remove(path);
    }
    closedir(listing);
    const int result = rmdir(*state);
    free(*state);
    return result;
}

static const char *in_folder(void *const *state, const char *name)
{
    static char path[4200];
    snprintf(path, sizeof path, "%s/%s", (char *)*state, name);
    return path;
}

static void write_file(const char *path, const char *content)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void assert_content(const char *path, const char *expected)
{
    char found[256];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t length = fread(found, 1, sizeof found - 1, file);
    fclose(file);
    found[length] = '\0';
    assert_string_equal(found, expected);
}

static void committed_files_hold_everything_under_their_name(void **state)
{
    const char *path = in_folder(state, "model");
    md_output output;
    medley_error error = {0};
    write_file(path, "old");
    assert_int_equal(md_output_open(&output, path, &error), MEDLEY_OK);
    assert_int_equal(md_output_write(&output, "new ", 4, &error), MEDLEY_OK);
    assert_int_equal(md_output_write(&output, "", 0, &error), MEDLEY_OK);
    assert_int_equal(md_output_write(&output, "content", 7, &error), MEDLEY_OK);
    assert_content(path, "old"); /* until it is complete */
    assert_int_equal(md_output_commit(&output, &error), MEDLEY_OK);
    assert_content(path, "new content");
    assert_int_equal(count_files(*state), 1);
    md_output_abandon(&output);
    assert_content(path, "new content");
}

static void texts_that_begin_with_a_byte_order_mark_keep_it(void **state)
{
    const char *path = in_folder(state, "text");
    MD_CLEARED(md_text_clear) md_text text = {0};
    md_output output;
    assert_int_equal(md_output_open(&output, path, NULL), MEDLEY_OK);
    for (int line = 0; line < 2; line++) {
        md_text_add(&text, "\xef\xbb\xbfx\n", 5);
        assert_int_equal(md_output_text(&output, &text, true, NULL), MEDLEY_OK);
    }
    assert_int_equal(md_output_commit(&output, NULL), MEDLEY_OK);
    assert_content(path, "\xef\xbb\xbf\xef\xbb\xbfx\n\xef\xbb\xbfx\n");
}

static void abandoned_files_leave_the_target_and_no_trace(void **state)
{
    const char *path = in_folder(state, "model");
    md_output output;
    write_file(path, "old");
    assert_int_equal(md_output_open(&output, path, NULL), MEDLEY_OK);
    assert_int_equal(md_output_write(&output, "half", 4, NULL), MEDLEY_OK);
    md_output_abandon(&output);
    assert_content(path, "old");
    assert_int_equal(count_files(*state), 1);

    path = in_folder(state, "other.gz");
    assert_int_equal(md_output_open(&output, path, NULL), MEDLEY_OK);
    assert_int_equal(md_output_write(&output, "half", 4, NULL), MEDLEY_OK);
    md_output_abandon(&output);
    assert_int_equal(count_files(*state), 1);
}

static void new_files_have_the_usual_permissions(void **state)
{
    const char *path = in_folder(state, "model");
    const mode_t mask = umask(027);
    md_output output;
    struct stat info;
    assert_int_equal(md_output_open(&output, path, NULL), MEDLEY_OK);
    assert_int_equal(md_output_commit(&output, NULL), MEDLEY_OK);
    umask(mask);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
}

static void symbolic_links_stay_and_their_target_is_replaced(void **state)
{
    char target[4200];
    snprintf(target, sizeof target, "%s", in_folder(state, "target"));
    const char *link = in_folder(state, "link");
    md_output output;
    struct stat info;
    write_file(target, "old");
    assert_int_equal(symlink("target", link), 0);
    assert_int_equal(md_output_open(&output, link, NULL), MEDLEY_OK);
    assert_int_equal(md_output_write(&output, "new", 3, NULL), MEDLEY_OK);
    assert_int_equal(md_output_commit(&output, NULL), MEDLEY_OK);
    assert_content(target, "new");
    assert_true(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
    assert_int_equal(count_files(*state), 2);
}

static void replaced_files_keep_their_mode(void **state)
{
    const char *path = in_folder(state, "model");
    static const mode_t modes[] = {0600, 0640, 0755, 0444};
    struct stat info;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        unlink(path);
        write_file(path, "old");
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(medley_write_file(path, "new", 3, NULL), MEDLEY_OK);
        assert_content(path, "new");
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 0777, modes[i]);
    }
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 65534, 65534), 0);
        assert_int_equal(medley_write_file(path, "his", 3, NULL), MEDLEY_OK);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_uid, 65534);
    }
}

static void links_to_nothing_stay_and_their_target_appears(void **state)
{
    char absolute[4200];
    struct stat info;
    snprintf(absolute, sizeof absolute, "%s", in_folder(state, "second"));
    assert_int_equal(symlink(absolute, in_folder(state, "first")), 0);
    assert_int_equal(symlink("target", in_folder(state, "second")), 0);
    assert_int_equal(medley_write_file(in_folder(state, "first"), "new", 3, NULL), MEDLEY_OK);
    assert_content(in_folder(state, "target"), "new");
    assert_true(lstat(in_folder(state, "first"), &info) == 0 && S_ISLNK(info.st_mode));
    assert_true(lstat(in_folder(state, "second"), &info) == 0 && S_ISLNK(info.st_mode));
    assert_int_equal(count_files(*state), 3);
    assert_int_equal(symlink("endless", in_folder(state, "endless")), 0);
    const medley_status status = medley_check_writable(in_folder(state, "endless"), NULL);
    assert_true(status == MEDLEY_OK || status == MEDLEY_FAILED); /* it comes to an end */
}

static void names_may_be_as_long_as_names_can_be(void **state)
{
    char name[300];
    memset(name, 'n', sizeof name);
    name[255] = '\0';
    assert_int_equal(medley_check_writable(in_folder(state, name), NULL), MEDLEY_OK);
    assert_int_equal(count_files(*state), 0);
    assert_int_equal(medley_write_file(in_folder(state, name), "new", 3, NULL), MEDLEY_OK);
    assert_content(in_folder(state, name), "new");
    name[255] = 'n';
    name[256] = '\0';
    medley_error error = {0};
    assert_int_equal(medley_check_writable(in_folder(state, name), &error), MEDLEY_FAILED);
    assert_non_null(strstr(error.message, "too long"));
    assert_int_equal(count_files(*state), 1);
}

static void files_of_others_in_a_sticky_folder_are_refused_at_once(void **state)
{
    if (geteuid() != 0) {
        print_message("only root can make files of another user\n");
        skip();
    }
    char folder[] = "/tmp/medley-sticky-XXXXXX"; /* TMPDIR may be out of the other's reach */
    char path[64];
    char fresh[64];
    medley_error error = {0};
    struct stat info;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/model", folder);
    snprintf(fresh, sizeof fresh, "%s/other", folder);
    write_file(path, "old");
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(chmod(folder, 01777), 0);
    const bool changed = seteuid(65534) == 0;
    const bool reached = changed && stat(path, &info) == 0;
    const medley_status status = reached ? medley_check_writable(path, &error) : MEDLEY_OK;
    const medley_status other = reached ? medley_check_writable(fresh, NULL) : MEDLEY_OK;
    assert_true(!changed || seteuid(0) == 0);
    const size_t files = count_files(folder);
    unlink(path);
    rmdir(folder);
    if (!reached) {
        print_message("there is no other user with a way to /tmp\n");
        skip();
    }
    assert_int_equal(status, MEDLEY_FAILED);
    assert_non_null(strstr(error.message, "another user"));
    assert_int_equal(other, MEDLEY_OK);
    assert_int_equal(files, 1);
}

static size_t forced_files, forced_folders;

/* In place of the system's: remembers what was forced to disk. */
int fsync(int descriptor)
{
    struct stat info;
    assert_int_equal(fstat(descriptor, &info), 0);
    *(S_ISDIR(info.st_mode) ? &forced_folders : &forced_files) += 1;
    return 0;
}

static void file_and_folder_are_forced_to_disk(void **state)
{
    forced_files = forced_folders = 0;
    assert_int_equal(medley_write_file(in_folder(state, "model"), "new", 3, NULL), MEDLEY_OK);
    assert_int_equal(forced_files, 1);
    assert_int_equal(forced_folders, 1);
}

static void write_new(const char *path)
{
    md_output output;
    assert_int_equal(md_output_open(&output, path, NULL), MEDLEY_OK);
    assert_int_equal(md_output_write(&output, "new", 3, NULL), MEDLEY_OK);
    assert_int_equal(md_output_commit(&output, NULL), MEDLEY_OK);
    assert_content(path, "new");
}

/* A killed process closes its files and so gives up their locks. */
static void leftovers_of_the_dead_are_removed_and_those_of_the_living_are_not(void **state)
{
    const char *path = in_folder(state, "model");
    char *leftover = NULL;
    const int descriptor = md_temporary_open(&leftover, path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, "left", 4), 4);
    write_new(path); /* not under the same temporary name */
    assert_content(leftover, "left");
    close(descriptor);
    write_new(path);
    assert_int_equal(access(leftover, F_OK), -1);
    assert_int_equal(count_files(*state), 1);
    free(leftover);
}

static void what_only_looks_like_a_leftover_stays(void **state)
{
    const char *path = in_folder(state, "model");
    static const char *const others[] = {"medley-1-0.tmp", "medley-00000000-1-0.tmp", "x.tmp"};
    char name[4300];
    char *leftover = NULL;
    close(md_temporary_open(&leftover, path));
    assert_int_equal(unlink(leftover), 0);
    assert_int_equal(symlink(path, leftover), 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(name, sizeof name, "%s/%s", (char *)*state, others[i]);
        write_file(name, "mine");
    }
    write_new(path);
    assert_int_equal(count_files(*state), 5);
    assert_content(leftover, "new"); /* the link leads to the model */
    free(leftover);
}

static void assert_open_fails(const char *path, const char *reason)
{
    md_output output;
    medley_error error = {0};
    assert_int_equal(md_output_open(&output, path, &error), MEDLEY_FAILED);
    assert_int_equal(error.code, MEDLEY_FAILED);
    assert_string_equal(error.file, path);
    assert_non_null(strstr(error.message, reason));
    md_output_abandon(&output); /* harmless */
}

static void targets_that_cannot_be_written_are_refused_at_once(void **state)
{
    assert_open_fails(*state, "directory");
    assert_open_fails(in_folder(state, "no/such/folder"), "No such file");
    write_file(in_folder(state, "file"), "x");
    assert_open_fails(in_folder(state, "file/inside"), "Not a directory");
    assert_int_equal(count_files(*state), 1);
    assert_content(in_folder(state, "file"), "x");
}

static void folders_without_permission_are_refused(void **state)
{
    const uid_t user = geteuid();
    assert_int_equal(chmod(*state, 0555), 0);
    if (user == 0 && seteuid(65534) != 0) { /* root may write everywhere: be nobody for a moment */
        print_message("root cannot become another user here\n");
        skip();
    }
    assert_open_fails(in_folder(state, "model"), "Permission denied");
    assert_int_equal(seteuid(user), 0);
    assert_int_equal(chmod(*state, 0755), 0);
}

/* Writes `size` bytes; the failure may show while writing or at the end, but must show. */
static void assert_full_disk_is_told(const char *path, size_t size)
{
    md_output output;
    medley_error error = {0};
    char *bytes = calloc(size, 1);
    md_random random;
    md_random_seed(&random, 1);
    for (size_t i = 0; i < size; i++) /* not compressible */
        bytes[i] = (char)md_random_bits(&random);
    medley_status status = md_output_open(&output, path, &error);
    assert_int_equal(status, MEDLEY_OK);
    status = md_output_write(&output, bytes, size, &error);
    if (status == MEDLEY_OK)
        status = md_output_commit(&output, &error);
    md_output_abandon(&output);
    free(bytes);
    assert_int_equal(status, MEDLEY_FAILED);
    assert_non_null(strstr(error.message, "No space left"));
}

static void a_full_disk_is_told_whenever_it_shows(void **state)
{
    if (access("/dev/full", W_OK) != 0) {
        print_message("there is no /dev/full here\n");
        skip();
    }
    assert_full_disk_is_told("/dev/full", 10);      /* at the end */
    assert_full_disk_is_told("/dev/full", 1 << 20); /* while writing */
    assert_int_equal(symlink("/dev/full", in_folder(state, "full.gz")), 0);
    assert_full_disk_is_told(in_folder(state, "full.gz"), 10);
    assert_full_disk_is_told(in_folder(state, "full.gz"), 1 << 20);
    assert_int_equal(count_files(*state), 1);
}

static void devices_are_written_directly(void **state)
{
    md_output output;
    assert_int_equal(md_output_open(&output, "/dev/null", NULL), MEDLEY_OK);
    assert_null(output.temporary);
    assert_int_equal(md_output_write(&output, "x", 1, NULL), MEDLEY_OK);
    assert_int_equal(md_output_commit(&output, NULL), MEDLEY_OK);
    assert_int_equal(count_files(*state), 0);
    struct stat info;
    assert_true(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
}

/* Where standard output is a regular file, /dev/stdout leads to it and must not be replaced. */
static void the_name_dev_stdout_is_never_replaced(void **state)
{
    if (access("/dev/stdout", F_OK) != 0)
        skip();
    const char *path = in_folder(state, "redirected");
    md_output output;
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    write_file(path, "old");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
    const medley_status status = md_output_open(&output, "/dev/stdout", NULL);
    const bool direct = status == MEDLEY_OK && output.temporary == NULL;
    const medley_status written =
        direct ? md_output_write(&output, "text", 4, NULL) : MEDLEY_FAILED;
    const medley_status committed = direct ? md_output_commit(&output, NULL) : MEDLEY_FAILED;
    assert_true(dup2(kept, STDOUT_FILENO) >= 0);
    close(kept);
    fclose(file);
    if (!direct)
        md_output_abandon(&output);
    assert_true(direct);
    assert_int_equal(written, MEDLEY_OK);
    assert_int_equal(committed, MEDLEY_OK);
    assert_content(path, "text");
    assert_int_equal(count_files(*state), 1);
}

static void compressed_output_reads_back(void **state)
{
    enum { SIZE = 300000 };
    const char *path = in_folder(state, "data.gz");
    unsigned char *bytes = malloc(SIZE);
    unsigned char *back = malloc(SIZE + 1);
    md_random random;
    md_random_seed(&random, 2);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)md_random_below(&random, 4);
    md_output output;
    assert_int_equal(md_output_open(&output, path, NULL), MEDLEY_OK);
    for (size_t done = 0; done < SIZE;) {
        size_t piece = md_random_below(&random, 5000);
        piece = piece < SIZE - done ? piece : SIZE - done;
        assert_int_equal(md_output_write(&output, bytes + done, piece, NULL), MEDLEY_OK);
        done += piece;
    }
    assert_int_equal(md_output_commit(&output, NULL), MEDLEY_OK);

    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_true(info.st_size < SIZE / 3); /* two bits of eight, plus a little */
    gzFile file = gzopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(gzread(file, back, SIZE + 1), SIZE);
    assert_int_equal(gzdirect(file), 0);
    assert_int_equal(gzclose(file), Z_OK);
    assert_memory_equal(bytes, back, SIZE);
    free(back);
    free(bytes);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(committed_files_hold_everything_under_their_name),
        IN_FOLDER(texts_that_begin_with_a_byte_order_mark_keep_it),
        IN_FOLDER(abandoned_files_leave_the_target_and_no_trace),
        IN_FOLDER(new_files_have_the_usual_permissions),
        IN_FOLDER(symbolic_links_stay_and_their_target_is_replaced),
        IN_FOLDER(replaced_files_keep_their_mode),
        IN_FOLDER(links_to_nothing_stay_and_their_target_appears),
        IN_FOLDER(names_may_be_as_long_as_names_can_be),
        IN_FOLDER(files_of_others_in_a_sticky_folder_are_refused_at_once),
        IN_FOLDER(file_and_folder_are_forced_to_disk),
        IN_FOLDER(leftovers_of_the_dead_are_removed_and_those_of_the_living_are_not),
        IN_FOLDER(what_only_looks_like_a_leftover_stays),
        IN_FOLDER(targets_that_cannot_be_written_are_refused_at_once),
        IN_FOLDER(folders_without_permission_are_refused),
        IN_FOLDER(a_full_disk_is_told_whenever_it_shows),
        IN_FOLDER(devices_are_written_directly),
        IN_FOLDER(the_name_dev_stdout_is_never_replaced),
        IN_FOLDER(compressed_output_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
