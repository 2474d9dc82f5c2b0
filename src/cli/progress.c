/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress on stderr (a bar on a terminal, plain lines otherwise) and the two-stage Ctrl-C: the
 * first finishes the step and saves, the second kills. */
#include "cli.h"

#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_bool interrupted; /* by the handler, and read by any thread that tells progress */

static void on_interrupt(int signal_number)
{
    interrupted = true;
    signal(signal_number, SIG_DFL); /* the next one kills */
}

void cli_catch_interrupt(const cli_arguments *arguments)
{
    signal(SIGINT, on_interrupt);
    if (arguments->comm !=
        NULL) { /* what mpirun and batch systems send on Ctrl-C or before a limit */
        signal(SIGTERM, on_interrupt);
        signal(SIGUSR1, on_interrupt);
    }
}

static void describe(char *text, size_t size, const medley_progress *p)
{
    int used = p->total > 0 ? snprintf(text, size, "%s %zu/%zu", p->stage, p->done, p->total)
                            : snprintf(text, size, "%s", p->stage);
    if (!isnan(p->objective))
        used += snprintf(text + used, size - (size_t)used, "  objective %.6g", p->objective);
    if (p->gap > 0)
        used += snprintf(text + used, size - (size_t)used, "  gap %.3g %%", 100 * p->gap);
    if (!isnan(p->dev_accuracy))
        used += snprintf(text + used, size - (size_t)used, "  held-out accuracy %.2f %%",
                         100 * p->dev_accuracy);
    snprintf(text + used, size - (size_t)used, "  %.1f s", p->seconds);
}

static void show_bar(const medley_progress *p)
{
    char text[160];
    char bar[128];
    const double share = p->total ? (double)p->done / (double)p->total : 0;
    describe(text, sizeof text, p);
    const double left = share > 0 ? p->seconds * (1 - share) / share : 0;
    fprintf(stderr, "\r%s %s, %.0f s left\033[K", cli_bar(bar, share, 20), text, left);
    fflush(stderr);
}

static bool on_progress(void *context, const medley_progress *p)
{
    cli_progress *progress = context;
    const double now = cli_clock();
    const bool last = p->total > 0 && p->done >= p->total;
    const bool fresh_stage = strcmp(progress->stage, p->stage) != 0;
    if (!progress->quiet && progress->terminal && (last || now - progress->last > 0.1)) {
        show_bar(p);
        progress->shown = true;
        progress->last = now;
    } else if (!progress->quiet && !progress->terminal &&
               (fresh_stage || last || now - progress->last > 2)) {
        char text[160];
        describe(text, sizeof text, p);
        fprintf(stderr, "%s\n", text);
        progress->last = now;
    }
    snprintf(progress->stage, sizeof progress->stage, "%s", p->stage);
    if (interrupted && !progress->quiet)
        fprintf(stderr, "%sinterrupted: finishing; press Ctrl-C again to quit at once\n",
                progress->shown ? "\n" : "");
    return !interrupted;
}

medley_observer cli_observe(cli_progress *progress, const cli_arguments *arguments)
{
    *progress = (cli_progress){.quiet = arguments->quiet, .terminal = isatty(STDERR_FILENO) != 0};
    return (medley_observer){sizeof(medley_observer), .context = progress, .progress = on_progress};
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r\033[K");
    progress->shown = false;
}
