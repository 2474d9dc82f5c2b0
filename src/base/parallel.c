/* SPDX-License-Identifier: BSD-3-Clause */
/* Items are handed out one by one, so that uneven ones balance. The calling thread never waits for
 * help: it takes items itself until none is left, and then waits only for those that a helper has
 * begun. On a busy machine, where helpers do not get to run, it simply does everything; a barrier
 * that all threads must reach would cost a time slice each time instead (OpenMP's made training
 * with small batches ten times slower there).
 *
 * The helpers are the library's only state of its own: they belong to the process and sleep between
 * jobs. A job wakes no more of them than it has items for, and each that wakes wakes two others, so
 * that many do not queue up for one lock. Where jobs follow one another soon, helpers stay awake
 * longer. One job runs at a time; a call from inside a job, or from another thread while one is
 * running, is done by its caller alone. A fork leaves helpers behind; the child starts its own. */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MOST_HELPERS = 255 };
enum {
    SPINS = 1000,
    MOST_SPINS = 4000
};                  /* looks for the next job before falling asleep; a look
                     * takes 10 to 50 nanoseconds */
enum { WAKES = 2 }; /* helpers that one thread wakes */

static struct {
    pthread_mutex_t owner;     /* held by the caller whose job is running */
    atomic_uint_fast64_t turn; /* odd while a job is open */
    atomic_size_t inside;      /* helpers that may be looking at the job */

    md_parallel_body body;
    void *context;
    size_t count, threads;
    atomic_size_t next;
    atomic_size_t joined; /* helpers that have come: the next one's number */

    pthread_mutex_t bed;
    pthread_cond_t wake;
    atomic_size_t sleepers;
    size_t wanted;  /* sleepers that the job has use for, guarded by `bed` */
    size_t helpers; /* started so far */
} pool = {.owner = PTHREAD_MUTEX_INITIALIZER,
          .bed = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER};

static void pause_shortly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

static void take_items(size_t worker)
{
    for (;;) {
        const size_t item = atomic_fetch_add_explicit(&pool.next, 1, memory_order_relaxed);
        if (item >= pool.count)
            return;
        pool.body(pool.context, item, worker);
    }
}

static bool is_open(uint_fast64_t turn)
{
    return turn % 2 == 1;
}

/* Wakes some of the sleepers that are wanted; the caller holds `bed`. */
static void wake_some(void)
{
    for (size_t i = 0; i < WAKES && pool.wanted > 0; i++) {
        pool.wanted--;
        pthread_cond_signal(&pool.wake);
    }
}

/* The next open job after `seen`: awake for a while, then asleep. *spins: how long, longer where
 * the last job was met awake. */
static uint_fast64_t await_job(uint_fast64_t seen, int *spins)
{
    uint_fast64_t turn;
    for (int i = 0; i < *spins; i++) {
        turn = atomic_load_explicit(&pool.turn, memory_order_acquire);
        if (is_open(turn) && turn != seen) {
            *spins = *spins < MOST_SPINS / 2 ? 2 * *spins : MOST_SPINS;
            return turn;
        }
        pause_shortly();
    }
    *spins = SPINS;
    pthread_mutex_lock(&pool.bed);
    atomic_fetch_add(&pool.sleepers, 1);
    while (turn = atomic_load(&pool.turn), !is_open(turn) || turn == seen)
        pthread_cond_wait(&pool.wake, &pool.bed);
    atomic_fetch_sub(&pool.sleepers, 1);
    wake_some();
    pthread_mutex_unlock(&pool.bed);
    return turn;
}

static void *help(void *unused)
{
    (void)unused;
    int spins = SPINS;
    for (uint_fast64_t turn = 0;;) {
        turn = await_job(turn, &spins);
        /* A helper that is counted and then finds the job still open may look at it: the owner
         * closes the job first and then waits until no helper is counted. */
        atomic_fetch_add(&pool.inside, 1);
        if (atomic_load(&pool.turn) == turn) {
            const size_t worker = atomic_fetch_add(&pool.joined, 1) + 1;
            if (worker < pool.threads)
                take_items(worker);
        }
        atomic_fetch_sub(&pool.inside, 1);
    }
    return NULL;
}

/* In the child of a fork there is one thread and no job. */
static void forget_helpers(void)
{
    pthread_mutex_init(&pool.owner, NULL);
    pthread_mutex_init(&pool.bed, NULL);
    pthread_cond_init(&pool.wake, NULL);
    atomic_store(&pool.turn, 0);
    atomic_store(&pool.inside, 0);
    atomic_store(&pool.sleepers, 0);
    pool.helpers = pool.wanted = 0;
}

static void mind_forks(void)
{
    pthread_atfork(NULL, NULL, forget_helpers);
}

static void start_helpers(size_t wanted)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_attr_t detached;
    pthread_once(&once, mind_forks);
    if (pool.helpers >= wanted || pthread_attr_init(&detached) != 0)
        return;
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    while (pool.helpers < wanted) {
        pthread_t thread;
        if (pthread_create(&thread, &detached, help, NULL) != 0)
            break; /* then there is less help */
        pool.helpers++;
    }
    pthread_attr_destroy(&detached);
}

/* For `most` threads. Helpers that are awake come by themselves. */
static void open_job(size_t most)
{
    atomic_store(&pool.next, 0);
    atomic_store(&pool.joined, 0);
    atomic_fetch_add(&pool.turn, 1);
    const size_t sleepers = atomic_load(&pool.sleepers);
    const size_t awake = pool.helpers - md_min(sleepers, pool.helpers);
    if (sleepers == 0 || awake >= most - 1)
        return;
    pthread_mutex_lock(&pool.bed);
    pool.wanted = md_min(most - 1 - awake, sleepers);
    wake_some();
    pthread_mutex_unlock(&pool.bed);
}

static void close_job(void)
{
    atomic_fetch_add(&pool.turn, 1);
    for (int i = 0; atomic_load(&pool.inside) > 0; i++) {
        if (i < MOST_SPINS)
            pause_shortly();
        else
            sched_yield(); /* let a helper that was pushed aside come back */
    }
}

void md_parallel_for(size_t threads, size_t count, md_parallel_body body, void *context)
{
    const size_t most = threads < count ? threads : count;
    if (most <= 1 || pthread_mutex_trylock(&pool.owner) != 0) {
        for (size_t item = 0; item < count; item++)
            body(context, item, 0);
        return;
    }
    start_helpers(most - 1 < MOST_HELPERS ? most - 1 : MOST_HELPERS);
    pool.body = body;
    pool.context = context;
    pool.count = count;
    pool.threads = threads;
    open_job(most);
    take_items(0);
    close_job();
    pthread_mutex_unlock(&pool.owner);
}

size_t md_processor_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    const int count = CPU_COUNT(&set);
    return count > 0 ? (size_t)count : 1;
}

/* ---- items that may fail ---- */

struct trying {
    md_parallel_attempt attempt;
    void *context;
    pthread_mutex_t lock; /* of what follows */
    size_t item;          /* the first one that has failed; SIZE_MAX: none */
    medley_status status;
    medley_error error;
};

static void try_item(void *context, size_t item, size_t worker)
{
    struct trying *trying = context;
    medley_error error = {0};
    (void)worker;
    const medley_status status = trying->attempt(trying->context, item, &error);
    if (status == MEDLEY_OK)
        return;
    pthread_mutex_lock(&trying->lock);
    if (item < trying->item) {
        trying->item = item;
        trying->status = status;
        trying->error = error;
    }
    pthread_mutex_unlock(&trying->lock);
}

medley_status md_parallel_try(size_t threads, size_t count, md_parallel_attempt attempt,
                              void *context, medley_error *error)
{
    struct trying trying = {.attempt = attempt,
                            .context = context,
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .item = SIZE_MAX};
    if (threads <= 1) {
        for (size_t i = 0; i < count; i++)
            MEDLEY_TRY(attempt(context, i, error));
        return MEDLEY_OK;
    }
    md_parallel_for(threads, count, try_item, &trying);
    if (trying.item == SIZE_MAX)
        return MEDLEY_OK;
    return md_fail_at(error, trying.status, trying.error.file, (size_t)trying.error.line, "%s",
                      trying.error.message);
}
