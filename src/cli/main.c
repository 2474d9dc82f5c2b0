/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

/* OpenBLAS starts a thread for every processor before main runs, and each waits by spinning. Medley
 * divides its work itself and calls BLAS from threads of its own, so that they would only take
 * processor time from it. The library leaves them alone: they may be its host's. */
extern void blas_thread_shutdown_(void) __attribute__((weak));

int main(int count, char **words)
{
    if (blas_thread_shutdown_ != NULL)
        blas_thread_shutdown_();
    return cli_main(count, words);
}
