/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of a program, whose calls fail in children of its own (preload.c). It stops before each
 * of them and after it: before, its files are remembered; after, they are looked at and put back.
 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const kind_names[FAULT_KINDS] = {
#define X(kind, name, error) name,
    FAULTS_KINDS(X)
#undef X
};
const char *const mode_names[FAULT_MODES] = {"once", "forever", "short", "kill"};

/* ---- the folder ---- */

const char *in_box(char name[2 * NAME_BYTES], const struct session *s, const char *file)
{
    snprintf(name, 2 * NAME_BYTES, "%s/%s", s->box, file);
    return name;
}

const char *in_root(char name[2 * NAME_BYTES], const struct session *s, const char *file)
{
    snprintf(name, 2 * NAME_BYTES, "%s/%s", s->root, file);
    return name;
}

/* What was there before: in/old-NAME, or a line. */
static struct bytes old_bytes(const struct session *s, const char *output)
{
    char name[2 * NAME_BYTES];
    snprintf(name, sizeof name, "%s/in/old-%s", s->settings->work, output);
    struct bytes old = read_bytes(name);
    if (old.data == NULL) {
        old.data = strdup("what was there before\n");
        old.size = strlen(old.data);
    }
    return old;
}

static void prepare_box(struct session *s)
{
    char name[2 * NAME_BYTES];
    char target[2 * NAME_BYTES];
    remove_folder(s->box);
    remove_folder(s->root);
    if (mkdir(s->root, 0755) != 0 || mkdir(s->box, 0755) != 0) {
        perror(s->box);
        exit(2);
    }
    snprintf(target, sizeof target, "%s/in", s->settings->work);
    if (symlink(target, in_box(name, s, "in")) != 0)
        perror(name);
    for (size_t i = 0; i < s->c->output_count; i++) {
        struct bytes old = old_bytes(s, s->c->output[i].name);
        write_bytes(in_box(name, s, s->c->output[i].name), old);
        free(old.data);
    }
}

/* ---- starting the program ---- */

static void become_program(const struct session *s, int tell, int hear)
{
    char name[2 * NAME_BYTES];
    const int flags = O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(open(in_root(name, s, "stdout"), flags, 0644), STDOUT_FILENO);
    dup2(open(in_root(name, s, "stderr"), flags, 0644), STDERR_FILENO);
    dup2(tell, FAULTS_TELL);
    dup2(hear, FAULTS_HEAR);
    for (int f = 3; f < FAULTS_TELL; f++)
        close(f);
    setenv("LD_PRELOAD", s->settings->preload, 1);
    setenv(FAULTS_VARIABLE, in_root(name, s, "page"), 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("ASAN_OPTIONS",
           "detect_leaks=1:allocator_may_return_null=1:verify_asan_link_order=0:exitcode=86", 1);
    setenv("UBSAN_OPTIONS", "print_stacktrace=1:exitcode=86", 1);
    snprintf(name, sizeof name, "%s/%s", s->settings->build, s->c->program);
    if (chdir(s->box) == 0)
        execv(name, (char *const *)s->c->word);
    perror(name);
    _exit(97);
}

static void map_page(struct session *s)
{
    char name[2 * NAME_BYTES];
    const int file = open(in_root(name, s, "page"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0 || ftruncate(file, sizeof *s->page) != 0) {
        perror(name);
        exit(2);
    }
    s->page = mmap(NULL, sizeof *s->page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    s->page->only_kind = s->settings->only_kind;
    s->page->only_mode = s->settings->only_mode;
    s->page->only_k = s->settings->only_k;
}

static void start(struct session *s)
{
    int up[2];
    int down[2];
    fflush(stdout);
    if (pipe2(up, O_CLOEXEC) != 0 || pipe2(down, O_CLOEXEC) != 0 || (s->program = fork()) < 0) {
        perror("faults");
        exit(2);
    }
    if (s->program == 0)
        become_program(s, up[1], down[0]);
    close(up[1]);
    close(down[0]);
    s->hear = up[0];
    s->tell = down[1];
}

static struct session open_session(const struct settings *settings, struct fault_case *c,
                                   size_t job, struct tally *tally)
{
    struct session s = {.settings = settings, .c = c, .tally = tally};
    snprintf(s.root, sizeof s.root, "%s/job-%zu", settings->work, job);
    snprintf(s.box, sizeof s.box, "%s/job-%zu/box", settings->work, job);
    prepare_box(&s);
    map_page(&s);
    return s;
}

static int close_session(struct session *s)
{
    int status;
    close(s->hear);
    close(s->tell);
    waitpid(s->program, &status, 0);
    munmap(s->page, sizeof *s->page);
    for (size_t i = 0; i < s->c->output_count; i++)
        free(s->before[i].data);
    return status;
}

/* ---- before a fault ---- */

static void note_version(struct output *output, struct bytes bytes)
{
    if (!is_version(output, bytes) && output->versions < MOST_VERSIONS)
        output->version[output->versions++] = hash_bytes(bytes);
}

static void remember(struct session *s)
{
    char name[2 * NAME_BYTES];
    struct stat info;
    for (size_t i = 0; i < s->c->output_count; i++) {
        if (is_unchanged(s, i) && s->before[i].data != NULL)
            continue;
        free(s->before[i].data);
        s->before[i] = read_bytes(in_box(name, s, s->c->output[i].name));
        s->seen[i] = (struct stat){0};
        stat(name, &s->seen[i]);
        if (s->page->counting)
            note_version(&s->c->output[i], s->before[i]);
    }
    s->printed = stat(in_root(name, s, "stdout"), &info) == 0 ? info.st_size : 0;
    s->said = stat(in_root(name, s, "stderr"), &info) == 0 ? info.st_size : 0;
}

/* Until the program ends; one that says nothing for long is killed. */
static void attend(struct session *s)
{
    enum { LONGEST = 2000 }; /* seconds */
    struct pollfd heard = {.fd = s->hear, .events = POLLIN};
    for (char what;;) {
        if (poll(&heard, 1, LONGEST * 1000) == 0)
            kill(s->program, SIGKILL);
        if (read(s->hear, &what, 1) != 1)
            return;
        if (what == 'b')
            remember(s);
        else
            check_child(s);
        if (write(s->tell, "g", 1) != 1)
            return;
    }
}

/* ---- runs ---- */

size_t faults_stride(const struct settings *settings, const struct fault_case *c, int kind)
{
    const size_t count = c->count[kind];
    return settings->sample > 0 && count > settings->sample
               ? (count + settings->sample - 1) / settings->sample
               : 1;
}

void count_calls(const struct settings *settings, struct fault_case *c, struct tally *tally)
{
    char name[2 * NAME_BYTES];
    struct session s = open_session(settings, c, 0, tally);
    s.page->counting = 1;
    start(&s);
    attend(&s);
    c->printed = read_bytes(in_root(name, &s, "stdout"));
    for (size_t i = 0; i < c->output_count; i++) {
        c->written[i] = read_bytes(in_box(name, &s, c->output[i].name));
        note_version(&c->output[i], c->written[i]);
    }
    memcpy(c->count, s.page->count, sizeof c->count);
    const int status = close_session(&s);
    if (status == 0 && c->count[FAULT_ALLOCATION] > 0)
        return;
    struct bytes said = read_bytes(in_root(name, &s, "stderr"));
    printf("not ok - %s without a fault: wait status %d\n", c->name, status);
    show_text(stdout, said.data != NULL ? said.data : "");
    free(said.data);
    memset(c->count, 0, sizeof c->count);
    atomic_fetch_add(&tally->findings, 1);
}

void run_shard(const struct settings *settings, struct fault_case *c, size_t job, size_t shard,
               size_t shards, struct tally *tally)
{
    char name[2 * NAME_BYTES];
    struct session s = open_session(settings, c, job, tally);
    s.page->shard = shard;
    s.page->shards = shards;
    for (int kind = 0; kind < FAULT_KINDS; kind++) {
        s.page->stride[kind] = faults_stride(settings, c, kind);
        s.page->offset[kind] =
            hash_bytes((struct bytes){(char *)c->name, strlen(c->name)}) % s.page->stride[kind];
    }
    start(&s);
    attend(&s);
    bool same = same_bytes(read_bytes(in_root(name, &s, "stdout")), c->printed);
    for (size_t i = 0; i < c->output_count; i++)
        same = same && same_bytes(read_bytes(in_box(name, &s, c->output[i].name)), c->written[i]);
    if (close_session(&s) == 0 && same)
        return;
    printf("not ok - %s: faults in its children have changed the run\n", c->name);
    atomic_fetch_add(&tally->findings, 1);
}
