/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting a card while something else is done: the first one who opens it in a process waits for a
 * fraction of a second, and reading data takes about as long. */
#include "device/open_device.h"
#include "medley/options.h"

#include <pthread.h>

struct medley_device_starting {
    pthread_t thread;
    char device[64];
};

static void *start(void *context)
{
    const medley_device_starting *starting = context;
    char reason[MD_DEVICE_MESSAGE];
    medley_error error = {0};
    md_device *device = NULL;
    /* what goes wrong will go wrong again, and be told then */
    (void)md_device_open(&device, starting->device, reason, &error);
    md_device_close(device);
    return NULL;
}

medley_device_starting *medley_device_start(const char *device)
{
    medley_device_starting *starting = md_calloc(1, sizeof *starting);
    device = device != NULL ? device : "auto";
    if (starting == NULL || md_device_is_cpu(device) || strlen(device) >= sizeof starting->device) {
        free(starting);
        return NULL;
    }
    snprintf(starting->device, sizeof starting->device, "%s", device);
    if (pthread_create(&starting->thread, NULL, start, starting) != 0) {
        free(starting);
        return NULL;
    }
    return starting;
}

void medley_device_started(medley_device_starting *starting)
{
    if (starting != NULL)
        (void)pthread_join(starting->thread, NULL);
    free(starting);
}
