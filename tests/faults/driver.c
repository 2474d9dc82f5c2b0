/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs commands in which every allocation, and every call that opens, reads, writes, renames and so
 * on, fails in turn (preload.c), and looks at what is left behind:
 *
 *   - no signal, no word of a sanitizer, an exit code of 0 or 1;
 *   - 0 only with the output of a run without a fault;
 *   - otherwise a message that speaks of memory, or of the file that the call was about;
 *   - files that were there are as they were, or wholly new; no other file is left (but by a
 * process that is killed at the call).
 *
 *   driver --work DIR --preload LIBRARY --cases FILE --build DIR [--jobs N] [--sample N] [--only
 * CASE[:KIND[:MODE[:K]]]]
 *
 * A case is a line "name | program | files it writes | arguments". A star before the name: a part
 * may fail, be told of, and the rest be done; a plus: too slow for a sample. The inputs are in
 * DIR/in, which the command finds as in/. scripts/faults makes them and calls this. */
#include "driver.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct settings settings = {.jobs = 1, .only_kind = -1, .only_mode = -1};

/* ---- the command line ---- */

static void stop(const char *what, const char *about)
{
    fprintf(stderr, "faults: %s%s\n", what, about);
    exit(2);
}

static int find_name(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    stop("there is no such kind or mode: ", name);
    return -1;
}

static void read_only(char *text)
{
    char *part[4] = {NULL};
    for (int i = 0; i < 4 && text != NULL; i++)
        part[i] = strsep(&text, ":");
    settings.only_case = part[0];
    if (part[1] != NULL)
        settings.only_kind = find_name(part[1], kind_names, FAULT_KINDS);
    if (part[2] != NULL)
        settings.only_mode = find_name(part[2], mode_names, FAULT_MODES);
    if (part[3] != NULL)
        settings.only_k = strtoul(part[3], NULL, 10);
}

static void read_arguments(int count, char **words)
{
    for (int i = 1; i + 1 < count; i += 2) {
        char *value = words[i + 1];
        if (strcmp(words[i], "--work") == 0)
            settings.work = value;
        else if (strcmp(words[i], "--preload") == 0)
            settings.preload = value;
        else if (strcmp(words[i], "--cases") == 0)
            settings.cases = value;
        else if (strcmp(words[i], "--build") == 0)
            settings.build = value;
        else if (strcmp(words[i], "--jobs") == 0)
            settings.jobs = strtoul(value, NULL, 10);
        else if (strcmp(words[i], "--sample") == 0)
            settings.sample = strtoul(value, NULL, 10);
        else if (strcmp(words[i], "--only") == 0)
            read_only(value);
        else
            stop("there is no option ", words[i]);
    }
    if (settings.work == NULL || settings.preload == NULL || settings.cases == NULL ||
        settings.build == NULL)
        stop("--work, --preload, --cases and --build are needed", "");
}

/* ---- cases ---- */

static struct fault_case *cases;
static size_t case_count;

static char *trimmed(char *text)
{
    while (*text == ' ')
        text++;
    for (size_t n = strlen(text); n > 0 && strchr(" \n", text[n - 1]) != NULL; n--)
        text[n - 1] = '\0';
    return text;
}

/* Is name among those of a list with commas? */
static bool is_listed(const char *name, const char *list)
{
    const size_t length = strlen(name);
    for (const char *p = list; (p = strstr(p, name)) != NULL; p += length)
        if ((p == list || p[-1] == ',') && (p[length] == ',' || p[length] == '\0'))
            return true;
    return false;
}

static void add_case(char *line)
{
    char *field[4];
    for (int i = 0; i < 4; i++)
        if ((field[i] = strsep(&line, "|")) == NULL)
            stop("a case has four fields; found ", field[0]);
    struct fault_case c = {.program = strdup(trimmed(field[1]))};
    const char *name = trimmed(field[0]);
    const size_t marks = strspn(name, "*+");
    c.name = strdup(name + marks);
    c.tells = memchr(name, '*', marks) != NULL;
    if ((settings.only_case != NULL && !is_listed(c.name, settings.only_case)) ||
        (settings.only_case == NULL && settings.sample > 0 && memchr(name, '+', marks) != NULL))
        return;
    for (char *word, *rest = strdup(trimmed(field[2])); (word = strsep(&rest, " ")) != NULL;)
        if (*word != '\0' && c.output_count < MOST_OUTPUTS)
            c.output[c.output_count++].name = word;
    c.word[c.words++] = c.program;
    for (char *word, *rest = strdup(trimmed(field[3])); (word = strsep(&rest, " ")) != NULL;)
        if (*word != '\0' && c.words < MOST_WORDS)
            c.word[c.words++] = word;
    cases = realloc(cases, (case_count + 1) * sizeof *cases);
    cases[case_count++] = c;
}

static void read_cases(void)
{
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fopen(settings.cases, "r");
    if (file == NULL)
        stop("cannot read ", settings.cases);
    while (getline(&line, &capacity, file) >= 0)
        if (line[0] != '#' && trimmed(line)[0] != '\0')
            add_case(line);
    fclose(file);
    free(line);
    if (case_count == 0)
        stop("there is no such case: ", settings.only_case ? settings.only_case : "");
}

/* ---- sharing out the work ---- */

enum {
    TASK_RUNS = 4000
}; /* about as many in a run of the program, which may take a while itself */

static struct totals {
    atomic_size_t next, done;
    struct tally tally;
} * totals;

struct task {
    struct fault_case *c;
    size_t shard, shards;
};

static struct task *tasks;
static size_t task_count;

static size_t make_tasks(void)
{
    size_t runs = 0;
    for (size_t i = 0; i < case_count; i++) {
        size_t own = 0;
        for (int kind = 0; kind < FAULT_KINDS; kind++)
            own += 2 * cases[i].count[kind] / faults_stride(&settings, &cases[i], kind);
        const size_t shards = settings.only_k > 0 ? 1 : own / TASK_RUNS + 1;
        runs += own;
        tasks = realloc(tasks, (task_count + shards) * sizeof *tasks);
        for (size_t s = 0; s < shards; s++)
            tasks[task_count++] = (struct task){&cases[i], s, shards};
    }
    return runs;
}

static void work(size_t number)
{
    for (size_t t; (t = atomic_fetch_add(&totals->next, 1)) < task_count;) {
        const struct task *task = &tasks[t];
        run_shard(&settings, task->c, number, task->shard, task->shards, &totals->tally);
        atomic_fetch_add(&totals->done, 1);
    }
}

static void show_progress(size_t expected)
{
    fprintf(stderr, "%zu of about %zu runs, %zu findings\n", atomic_load(&totals->tally.runs),
            expected, atomic_load(&totals->tally.findings));
}

static void run_all(size_t expected)
{
    size_t living = 0;
    for (size_t j = 0; j < settings.jobs && j < task_count; j++, living++)
        if (fork() == 0) {
            work(j);
            exit(0);
        }
    time_t told = time(NULL);
    while (living > 0) {
        int status;
        if (waitpid(-1, &status, WNOHANG) > 0) {
            living--;
            if (status != 0)
                atomic_fetch_add(&totals->tally.findings, 1);
            continue;
        }
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        if (time(NULL) - told >= 20) {
            told = time(NULL);
            show_progress(expected);
        }
    }
}

/* ---- what was found ---- */

static void print_totals(void)
{
    size_t all = 0;
    printf("%-20s", settings.jobs > 0 ? "runs" : "calls");
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        printf(" %10s", kind_names[kind]);
    printf("\n");
    for (size_t i = 0; i < case_count; i++) {
        printf("%-20s", cases[i].name);
        for (int kind = 0; kind < FAULT_KINDS; kind++) {
            const size_t runs =
                settings.jobs > 0 ? atomic_load(&cases[i].runs[kind]) : cases[i].count[kind];
            printf(" %10zu", runs);
            all += runs;
        }
        printf("\n");
    }
    for (size_t i = 0; i < MOST_FOREIGN && totals->tally.foreign[i].count > 0; i++)
        printf("%zu runs ended inside %s, which does not survive a lack of memory\n",
               (size_t)totals->tally.foreign[i].count, totals->tally.foreign[i].name);
    printf("%zu cases, %zu %s, %zu findings\n", case_count, all,
           settings.jobs > 0 ? "runs" : "calls", (size_t)atomic_load(&totals->tally.findings));
}

static void *shared(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        stop("no memory", "");
    return memory;
}

int main(int count, char **words)
{
    read_arguments(count, words);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOLBF, 0);
    read_cases();
    totals = shared(sizeof *totals);
    for (size_t i = 0; i < case_count; i++) {
        cases[i].runs = shared(FAULT_KINDS * sizeof *cases[i].runs);
        count_calls(&settings, &cases[i], &totals->tally);
    }
    const size_t expected = make_tasks();
    if (settings.only_k == 0)
        fprintf(stderr, "%zu cases, about %zu runs\n", case_count, expected);
    run_all(expected);
    print_totals();
    return atomic_load(&totals->tally.findings) > 0;
}
