/* SPDX-License-Identifier: BSD-3-Clause */
/* What a fault has left behind: is it what the rules of driver.c allow? */
#include "session.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- findings ---- */

/* The library that a fault happened in: the first but for those that merely pass it on. */
static const char *culprit(const struct session *s)
{
    static const char *const passing[] = {"libfaults", "libc.so", "libasan",    "libubsan",
                                          "libstdc++", "libgcc",  "linux-vdso", NULL};
    for (size_t f = 0; f < s->page->frames; f++)
        for (size_t m = 0; m < s->page->modules; m++) {
            const struct faults_module *module = &s->page->module[m];
            if (s->page->frame[f] < module->base || s->page->frame[f] >= module->end)
                continue;
            bool passes = false;
            for (int i = 0; passing[i] != NULL; i++)
                passes = passes || strstr(module->name, passing[i]) != NULL;
            if (!passes)
                return module->name[0] == '\0' ? NULL : strrchr(module->name, '/') + 1;
        }
    return NULL;
}

static void print_frames(const struct session *s, FILE *file)
{
    const struct faults_page *page = s->page;
    for (size_t f = 0; f < page->frames; f++)
        for (size_t m = 0; m < page->modules; m++)
            if (page->frame[f] >= page->module[m].base && page->frame[f] < page->module[m].end) {
                const char *name = page->module[m].name;
                if (strstr(name, "libfaults") == NULL)
                    fprintf(file, " %s+0x%zx", name[0] ? strrchr(name, '/') + 1 : s->c->program,
                            (size_t)(page->frame[f] - page->module[m].base - 1));
                break;
            }
    fprintf(file, "\n");
}

void show_text(FILE *file, const char *text)
{
    int lines = 0;
    fprintf(file, "    | ");
    for (; *text != '\0' && lines < 40; text++) {
        fputc(*text, file);
        lines += *text == '\n';
        if (*text == '\n' && text[1] != '\0')
            fprintf(file, "    | ");
    }
    fprintf(file, "\n");
}

static void find_fault(struct session *s, const char *what, const char *said)
{
    const struct faults_page *page = s->page;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    atomic_fetch_add(&s->tally->findings, 1);
    fprintf(file, "not ok - %s:%s:%s:%zu: %s\n", s->c->name, kind_names[page->kind],
            mode_names[page->mode], page->k, what);
    if (page->files[0] != '\0')
        fprintf(file, "    file %.*s\n", (int)strcspn(page->files, "\n"), page->files);
    fprintf(file, "    at");
    print_frames(s, file);
    if (said != NULL && said[0] != '\0')
        show_text(file, said);
    fclose(file);
    if (write(STDOUT_FILENO, text, size) < 0)
        exit(2);
    free(text);
}

static void count_foreign(struct session *s, const char *library)
{
    for (int i = 0; i < MOST_FOREIGN; i++) {
        if (s->tally->foreign[i].name[0] == '\0')
            snprintf(s->tally->foreign[i].name, sizeof s->tally->foreign[i].name, "%s", library);
        if (strcmp(s->tally->foreign[i].name, library) == 0) {
            atomic_fetch_add(&s->tally->foreign[i].count, 1);
            return;
        }
    }
}

/* ---- looking at what a fault has left ---- */

static bool is_output(const struct session *s, const char *name)
{
    for (size_t i = 0; i < s->c->output_count; i++)
        if (strcmp(s->c->output[i].name, name) == 0)
            return true;
    return strcmp(name, "in") == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static void check_strays(struct session *s)
{
    char name[2 * NAME_BYTES];
    char what[NAME_BYTES + 64];
    DIR *folder = opendir(s->box);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        if (is_output(s, entry->d_name))
            continue;
        snprintf(what, sizeof what, "the file %s is left", entry->d_name);
        if (s->page->kind != FAULT_UNLINK && s->page->mode != FAULT_KILL) /* cannot be removed */
            find_fault(s, what, NULL);
        unlink(in_box(name, s, entry->d_name));
    }
    closedir(folder);
}

bool is_version(const struct output *output, struct bytes bytes)
{
    const uint64_t hash = hash_bytes(bytes);
    for (size_t v = 0; v < output->versions; v++)
        if (output->version[v] == hash)
            return true;
    return false;
}

bool is_unchanged(const struct session *s, size_t output)
{
    char name[2 * NAME_BYTES];
    struct stat now = {0};
    const struct stat *then = &s->seen[output];
    const bool there = stat(in_box(name, s, s->c->output[output].name), &now) == 0;
    return there ? now.st_ino == then->st_ino && now.st_size == then->st_size &&
                       now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
                       now.st_mtim.tv_nsec == then->st_mtim.tv_nsec
                 : s->before[output].data == NULL;
}

/* Files are as they were or new as a whole; after a success, as without a fault, unless something
 * has been told. Puts them back. */
static void check_outputs(struct session *s, bool succeeded, bool told)
{
    char name[2 * NAME_BYTES];
    char what[NAME_BYTES];
    for (size_t i = 0; i < s->c->output_count; i++) {
        const struct output *output = &s->c->output[i];
        const bool unchanged = is_unchanged(s, i);
        struct bytes now =
            unchanged ? (struct bytes){0} : read_bytes(in_box(name, s, output->name));
        const bool is_right =
            succeeded ? same_bytes(unchanged ? s->before[i] : now, s->c->written[i])
                      : unchanged || same_bytes(now, s->before[i]) || is_version(output, now);
        snprintf(what, sizeof what, "%s is %s", output->name,
                 succeeded ? "another than without a fault" : "neither the old one nor a new one");
        if (!is_right && !told)
            find_fault(s, what, NULL);
        free(now.data);
        if (unchanged)
            continue;
        write_bytes(in_box(name, s, output->name), s->before[i]);
        s->seen[i] = (struct stat){0};
        stat(in_box(name, s, output->name), &s->seen[i]);
    }
}

/* Does the message name the file? One that is on its way to another, or a folder, has that name. */
static bool names_one(const struct session *s, const char *path, const char *said)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    struct stat info;
    char full[2 * NAME_BYTES];
    const bool is_folder =
        stat(path[0] == '/' ? path : in_box(full, s, path), &info) == 0 && S_ISDIR(info.st_mode);
    if (strstr(name, ".tmp") == NULL && !is_folder && name[0] != '\0')
        return strstr(said, name) != NULL;
    for (size_t i = 0; i < s->c->output_count; i++)
        if (strstr(said, s->c->output[i].name) != NULL)
            return true;
    return false;
}

/* One of those that calls have failed for: the first may have been of no importance. */
static bool names_file(const struct session *s, const char *said)
{
    char files[sizeof s->page->files];
    char *rest = files;
    snprintf(files, sizeof files, "%s", s->page->files);
    for (char *path; (path = strsep(&rest, "\n")) != NULL;)
        if (path[0] != '\0' && names_one(s, path, said))
            return true;
    return false;
}

static bool says(const char *said, const char *word)
{
    return strcasestr(said, word) != NULL;
}

static bool is_of_memory(const struct session *s)
{
    return s->page->kind == FAULT_ALLOCATION || s->page->kind == FAULT_MMAP;
}

static bool tells(const struct session *s, const char *said)
{
    return is_of_memory(s) ? says(said, "memory") : names_file(s, said);
}

static void check_message(struct session *s, const char *said)
{
    if (says(said, "Sanitizer") || says(said, "runtime error:"))
        find_fault(s, "a word of a sanitizer", said);
    else if (!tells(s, said))
        find_fault(s,
                   is_of_memory(s) ? "the message does not speak of memory"
                                   : "the message does not name the file",
                   said);
}

/* What the child has printed, behind what its parent had before. */
static struct bytes take_text(struct session *s, const char *file, off_t before, bool whole)
{
    char name[2 * NAME_BYTES];
    struct bytes text = read_bytes(in_root(name, s, file));
    if (truncate(name, before) != 0)
        perror(name);
    if (!whole && text.size >= (size_t)before) {
        memmove(text.data, text.data + before, text.size - (size_t)before + 1);
        text.size -= (size_t)before;
    }
    return text;
}

void check_child(struct session *s)
{
    const int status = s->page->status;
    char what[64];
    struct bytes printed = take_text(s, "stdout", s->printed, true);
    struct bytes said = take_text(s, "stderr", s->said, false);
    const char *library = culprit(s);
    const bool succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const bool told =
        succeeded && s->c->tells &&
        (tells(s, said.data) || (!same_bytes(printed, s->c->printed) && tells(s, printed.data)));
    if (s->page->mode == FAULT_KILL) {
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
            find_fault(s, "is not killed", said.data);
    } else if (library != NULL && (WIFSIGNALED(status) || WEXITSTATUS(status) == SANITIZED)) {
        count_foreign(s, library);
    } else if (WIFSIGNALED(status)) {
        snprintf(what, sizeof what, "ended by signal %d", WTERMSIG(status));
        find_fault(s, what, said.data);
    } else if (succeeded && !told && !same_bytes(printed, s->c->printed)) {
        find_fault(s, "success, but something else is printed", printed.data);
    } else if (!succeeded && WEXITSTATUS(status) != 1) {
        snprintf(what, sizeof what, "exit code %d", WEXITSTATUS(status));
        find_fault(s, what, said.data);
    } else if (!succeeded && s->page->mode == FAULT_SHORT) {
        find_fault(s, "fewer bytes than asked for are no error", said.data);
    } else if (!succeeded) {
        check_message(s, said.data);
    }
    check_strays(s);
    check_outputs(s, succeeded, told);
    free(printed.data);
    free(said.data);
    atomic_fetch_add(&s->c->runs[s->page->kind], 1);
    atomic_fetch_add(&s->tally->runs, 1);
}
