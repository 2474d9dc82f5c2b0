/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that is loaded into a program (LD_PRELOAD) and makes its calls fail. From main on,
 * calls are counted by kind (faults.h): allocations by functions of the same names that stand
 * before those of the C library, or of AddressSanitizer; everything that the kernel does by a
 * seccomp filter, which hands the call to a signal handler, so that what the C library does inside
 * is seen as well.
 *
 * At a call whose turn it is the process forks. In the child the call fails, and the child goes on
 * to its end; the parent waits for it, lets the driver look at what was left behind, puts its own
 * open files back to where they were, and goes on without a fault. So one run of the program meets
 * a fault at every call, and none of them costs more than what follows it. The program must have
 * one thread only. */
#include "filter.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum {
    LIMIT = 900
}; /* seconds for what follows a fault; the demo takes its time with sanitizers */
enum { FIRST_FILE = 3, LAST_FILE = 40 };
enum outcome { PASS, FAIL, SHORTEN };

static const int error_of[FAULT_KINDS] = {
#define X(kind, name, error) error,
    FAULTS_KINDS(X)
#undef X
};

static struct faults_page *page; /* NULL: nothing is to fail */
static bool armed;               /* main is running */
static bool busy;                /* what happens is ours */
static bool is_child;            /* the fault has happened */
static int forever = -1;         /* the kind that fails from now on */

/* ---- system calls that the filter lets pass ---- */

#define CALL(number, a, b, c) faults_call(number, (long)(a), (long)(b), (long)(c), 0, 0, 0)

/* ---- talking to the driver ---- */

static void tell(char what)
{
    char answer;
    if (CALL(SYS_write, FAULTS_TELL, &what, 1) != 1 || CALL(SYS_read, FAULTS_HEAR, &answer, 1) != 1)
        CALL(SYS_exit_group, 99, 0, 0); /* the driver is gone */
}

/* The file behind a descriptor; "" if that has none. */
static void find_path(char *path, size_t size, int descriptor)
{
    static const char mark[] = " (deleted)"; /* by a child, and put back */
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const long length = CALL(SYS_readlink, link, path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    char *end = strstr(path, mark);
    if (end != NULL)
        *end = '\0';
    if (descriptor == STDOUT_FILENO)
        snprintf(path, size, "standard output");
}

/* A line more in the list of files whose calls have failed. */
static void tell_file(const char *path, int descriptor)
{
    char found[512] = "";
    const size_t length = strlen(page->files);
    if (path == NULL && descriptor >= 0) {
        find_path(found, sizeof found, descriptor);
        path = found;
    }
    if (path != NULL)
        snprintf(page->files + length, sizeof page->files - length, "%s\n", path);
}

/* ---- files of the parent, which the child shares ---- */

static long offset_of[LAST_FILE + 1]; /* of open files */
static long size_of[LAST_FILE + 1];   /* -1: not open, or no file */
static char temporary[512];           /* the last one that was opened, which a child may remove */

static const char *spare_name(char name[64])
{
    snprintf(name, 64, "../kept-%d", getpid());
    return name;
}

static void keep_files(void)
{
    char spare[64];
    CALL(SYS_unlink, spare_name(spare), 0, 0);
    if (temporary[0] != '\0')
        CALL(SYS_link, temporary, spare, 0);
    for (int f = FIRST_FILE; f <= LAST_FILE; f++) {
        struct stat info;
        const bool is_file = CALL(SYS_fstat, f, &info, 0) == 0 && S_ISREG(info.st_mode);
        size_of[f] = is_file ? (long)info.st_size : -1;
        offset_of[f] = is_file ? CALL(SYS_lseek, f, 0, SEEK_CUR) : 0;
    }
}

static void put_files_back(void)
{
    char spare[64];
    if (temporary[0] != '\0')
        CALL(SYS_link, spare_name(spare), temporary, 0);
    CALL(SYS_unlink, spare_name(spare), 0, 0);
    for (int f = FIRST_FILE; f <= LAST_FILE; f++) {
        if (size_of[f] < 0)
            continue;
        CALL(SYS_ftruncate, f, size_of[f], 0); /* refused if it is only read */
        CALL(SYS_lseek, f, offset_of[f], SEEK_SET);
    }
}

/* ---- calls ---- */

static bool is_chosen(int kind, int mode, size_t k)
{
    if ((page->only_kind >= 0 && page->only_kind != kind) ||
        (page->only_mode >= 0 && page->only_mode != mode))
        return false;
    if (page->only_k > 0)
        return page->only_k == k;
    const size_t stride = page->stride[kind];
    return k % stride == page->offset[kind] && k / stride % page->shards == page->shard;
}

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *unused)
{
    (void)unused;
    if (page->frames == FAULTS_FRAMES)
        return _URC_END_OF_STACK;
    page->frame[page->frames++] = (uintptr_t)_Unwind_GetIP(context);
    return _URC_NO_REASON;
}

/* Forks; in the child true, in the parent false, when the child has ended. */
static bool try_fault(int kind, int mode, size_t k, const char *path, int descriptor)
{
    page->kind = kind;
    page->mode = mode;
    page->k = k;
    page->frames = 0;
    page->files[0] = '\0';
    tell_file(path, descriptor);
    keep_files();
    tell('b');
    const pid_t child = kind == FAULT_MMAP ? (pid_t)CALL(SYS_fork, 0, 0, 0) : fork();
    if (child == 0) {
        is_child = true;
        forever = mode == FAULT_FOREVER ? kind : -1;
        alarm(LIMIT);
        _Unwind_Backtrace(note_frame, NULL);
        if (mode == FAULT_KILL)
            CALL(SYS_kill, getpid(), SIGKILL, 0);
        return true;
    }
    page->status = -1;
    if (child > 0)
        CALL(SYS_wait4, child, &page->status, 0);
    tell('d');
    put_files_back();
    return false;
}

static enum outcome meet(int kind, const char *path, int descriptor, size_t bytes)
{
    if (!armed || busy)
        return PASS;
    const int saved = errno;
    if (is_child && forever == kind)
        tell_file(path, descriptor);
    errno = saved;
    if (is_child)
        return forever == kind ? FAIL : PASS;
    enum outcome outcome = PASS;
    busy = true;
    const size_t k = ++page->count[kind];
    if (page->counting && kind != FAULT_ALLOCATION)
        tell('b');
    for (int mode = 0; mode < FAULT_MODES && !page->counting && outcome == PASS; mode++)
        if (is_chosen(kind, mode, k) && (mode != FAULT_SHORT || bytes > 1) &&
            (mode != FAULT_KILL || kind != FAULT_ALLOCATION) &&
            try_fault(kind, mode, k, path, descriptor))
            outcome = mode == FAULT_SHORT ? SHORTEN : FAIL;
    busy = false;
    errno = saved;
    return outcome;
}

/* ---- allocations ---- */

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void *(*next_aligned_alloc)(size_t, size_t);
static void *(*next_memalign)(size_t, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);
static char *(*next_strdup)(const char *);
static char *(*next_strndup)(const char *, size_t);

static void find(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

static void find_all(void)
{
    static bool looking;
    if (looking || next_strndup != NULL)
        return;
    looking = true;
    find(&next_malloc, "malloc");
    find(&next_calloc, "calloc");
    find(&next_realloc, "realloc");
    find(&next_aligned_alloc, "aligned_alloc");
    find(&next_memalign, "memalign");
    find(&next_posix_memalign, "posix_memalign");
    find(&next_strdup, "strdup");
    find(&next_strndup, "strndup");
    looking = false;
}

static bool is_refused(void)
{
    find_all();
    if (meet(FAULT_ALLOCATION, NULL, -1, 0) == PASS)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return is_refused() || next_malloc == NULL ? NULL : next_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return is_refused() || next_calloc == NULL ? NULL : next_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return is_refused() || next_realloc == NULL ? NULL : next_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return is_refused() ? NULL : next_aligned_alloc(alignment, size);
}

void *memalign(size_t alignment, size_t size)
{
    return is_refused() ? NULL : next_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    return is_refused() ? ENOMEM : next_posix_memalign(memory, alignment, size);
}

/* Some copies allocate by malloc, some on their own: they count once. */
char *strdup(const char *text)
{
    if (is_refused())
        return NULL;
    const bool was_busy = busy;
    busy = true;
    char *copy = next_strdup(text);
    busy = was_busy;
    return copy;
}

char *strndup(const char *text, size_t length)
{
    if (is_refused())
        return NULL;
    const bool was_busy = busy;
    busy = true;
    char *copy = next_strndup(text, length);
    busy = was_busy;
    return copy;
}

/* ---- time: a millisecond goes by with every look, so that all runs tell the same ---- */

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static long looks;
    if (page == NULL)
        return (int)syscall(SYS_clock_gettime, clock, now);
    looks++;
    *now = (struct timespec){.tv_sec = 1000000 + looks / 1000, .tv_nsec = looks % 1000 * 1000000};
    return 0;
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
    if (page == NULL)
        return (int)syscall(SYS_getrusage, who, usage);
    *usage = (struct rusage){0};
    return 0;
}

/* ---- one processor, so that nothing has a reason to start threads ---- */

int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set)
{
    (void)process;
    CPU_ZERO_S(size, set);
    CPU_SET_S(0, size, set);
    return 0;
}

/* ---- calls of the kernel ---- */

static const struct trapped {
    int number, kind;
    int path; /* argument with the name of the file, or -1: argument 0 is a descriptor */
} trapped[] = {
    {SYS_open, FAULT_OPEN, 0},        {SYS_openat, FAULT_OPEN, 1},
    {SYS_dup, FAULT_OPEN, -1},        {SYS_read, FAULT_READ, -1},
    {SYS_pread64, FAULT_READ, -1},    {SYS_write, FAULT_WRITE, -1},
    {SYS_pwrite64, FAULT_WRITE, -1},  {SYS_fsync, FAULT_FSYNC, -1},
    {SYS_fdatasync, FAULT_FSYNC, -1}, {SYS_rename, FAULT_RENAME, 1},
    {SYS_renameat, FAULT_RENAME, 3},  {SYS_renameat2, FAULT_RENAME, 3},
    {SYS_close, FAULT_CLOSE, -1},     {SYS_unlink, FAULT_UNLINK, 0},
    {SYS_unlinkat, FAULT_UNLINK, 1},  {SYS_ftruncate, FAULT_TRUNCATE, -1},
    {SYS_flock, FAULT_LOCK, -1},      {SYS_mmap, FAULT_MMAP, -1},
};
enum { TRAPPED = sizeof trapped / sizeof *trapped };

static long answer(const struct trapped *call, long argument[6])
{
    const int descriptor = call->path < 0 ? (int)argument[0] : -1;
    const char *path = call->path >= 0 ? (const char *)argument[call->path] : NULL;
    const bool transfers = call->kind == FAULT_READ || call->kind == FAULT_WRITE;
    enum outcome outcome = PASS;
    if (descriptor != STDERR_FILENO || call->kind == FAULT_MMAP) /* where faults are told of */
        outcome = meet(call->kind, path, call->kind == FAULT_MMAP ? -1 : descriptor,
                       transfers ? (size_t)argument[2] : 0);
    if (outcome == FAIL && call->kind == FAULT_CLOSE)
        CALL(SYS_close, argument[0], 0, 0); /* is closed nevertheless */
    if (outcome == FAIL)
        return -error_of[call->kind];
    if (outcome == SHORTEN)
        argument[2] /= 2;
    if (call->kind == FAULT_OPEN && path != NULL && strstr(path, ".tmp") != NULL)
        snprintf(temporary, sizeof temporary, "%s", path);
    return faults_call(call->number, argument[0], argument[1], argument[2], argument[3],
                       argument[4], argument[5]);
}

static void on_call(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const int saved = errno;
    long argument[6] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                        registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
    for (int i = 0; i < TRAPPED; i++)
        if (trapped[i].number == info->si_syscall)
            registers[REG_RAX] = answer(&trapped[i], argument);
    errno = saved;
}

static void install_filter(void)
{
    int numbers[TRAPPED];
    for (int i = 0; i < TRAPPED; i++)
        numbers[i] = trapped[i].number;
    faults_filter(numbers, TRAPPED, page, on_call);
}

/* ---- from the first line of main to its last ---- */

static int list_module(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    struct faults_module *module = &page->module[page->modules];
    if (page->modules == FAULTS_MODULES)
        return 0;
    page->modules++;
    module->base = info->dlpi_addr;
    module->end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            const uintptr_t end =
                info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
            module->end = end > module->end ? end : module->end;
        }
    snprintf(module->name, sizeof module->name, "%s", info->dlpi_name);
    return 0;
}

static int (*program_main)(int, char **, char **);

static int watched_main(int count, char **words, char **environment)
{
    const char *path = getenv(FAULTS_VARIABLE);
    const int file = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return program_main(count, words, environment);
    void *mapped = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED)
        return 98;
    page = mapped;
    page->modules = 0;
    dl_iterate_phdr(list_module, NULL);
    find_all();
    install_filter();
    armed = true;
    const int result = program_main(count, words, environment);
    armed = false;
    return result;
}

int __libc_start_main(int (*entry)(int, char **, char **), int count, char **words,
                      void (*first)(void), void (*last)(void), void (*loader)(void), void *stack);
int __libc_start_main(int (*entry)(int, char **, char **), int count, char **words,
                      void (*first)(void), void (*last)(void), void (*loader)(void), void *stack)
{
    int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                void (*)(void), void *);
    find(&next, "__libc_start_main");
    program_main = entry;
    return next(watched_main, count, words, first, last, loader, stack);
}
