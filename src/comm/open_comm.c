/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the plug-in that speaks MPI. The library itself links no MPI: a process that was not
 * started by mpirun never looks for one. */
#include "comm/comm_internal.h"

#include "base/plugin.h"
#include <dlfcn.h>

/* What a plug-in has: fills functions, which begins with its defaults. communicator: the address of
 * an MPI_Comm, or NULL for all processes. 0: done; else message says what went wrong. */
typedef int plugin_entry(medley_comm_functions *functions, void *communicator, const char *version,
                         char *message, size_t size);

/* Two families of MPI do not understand each other, and each has a plug-in. */
struct family {
    const char *name, *plugin;
    const char *size;   /* variable in which its mpirun tells how many processes there are */
    const char *symbol; /* that only its library has */
};
static const struct family families[] = {
    {"Open MPI", "libmedley-mpi.so", "OMPI_COMM_WORLD_SIZE", "ompi_mpi_comm_world"},
    {"MPICH", "libmedley-mpich.so", "PMI_SIZE", "MPIR_Err_return_comm"},
};
enum { FAMILIES = sizeof families / sizeof families[0] };

/* Processes that mpirun says it has started; 1: it has not. */
static size_t launched_size(const struct family *family)
{
    const char *text = getenv(family->size);
    const unsigned long long size = text != NULL ? strtoull(text, NULL, 10) : 1;
    return size > 0 ? (size_t)size : 1;
}

/* The family that started this process, or whose communicator it has; NULL: none. */
static const struct family *find_family(bool has_communicator)
{
    for (size_t f = 0; has_communicator && f < FAMILIES; f++)
        if (dlsym(RTLD_DEFAULT, families[f].symbol) != NULL)
            return &families[f];
    for (size_t f = 0; f < FAMILIES; f++)
        if (launched_size(&families[f]) > 1)
            return &families[f];
    return has_communicator ? &families[0] : NULL;
}

/* ---- loading ---- */

static medley_status load_plugin(void **plugin, const struct family *family, medley_error *error)
{
    char reason[MD_PLUGIN_REASON];
    *plugin = md_plugin_load(family->plugin, true, reason);
    if (*plugin != NULL)
        return MEDLEY_OK;
    return md_fail(error, MEDLEY_NOT_SUPPORTED,
                   "this process was started by %s, and its plug-in cannot be loaded (%s); "
                   "build Medley where mpicc is (Debian: libopenmpi-dev or libmpich-dev), name the "
                   "folder of %s in MEDLEY_PLUGINS, or start without mpirun",
                   family->name, reason[0] != '\0' ? reason : "it is nowhere", family->plugin);
}

static medley_status call_plugin(medley_comm_functions *functions, void *plugin,
                                 const struct family *family, void *communicator,
                                 medley_error *error)
{
    char message[400] = "";
    plugin_entry *entry;
    *(void **)&entry = dlsym(plugin, "medley_mpi_open");
    if (entry == NULL)
        return md_fail(error, MEDLEY_NOT_SUPPORTED, "%s is no plug-in of Medley", family->plugin);
    if (entry(functions, communicator, MEDLEY_VERSION, message, sizeof message) != 0)
        return md_fail(error, MEDLEY_FAILED, "%s: %s", family->plugin, message);
    if (communicator == NULL && functions->size != launched_size(family))
        return md_fail(error, MEDLEY_FAILED,
                       "mpirun has started %zu processes and %s finds %zu: it was built for "
                       "another MPI; build Medley again",
                       launched_size(family), family->plugin, functions->size);
    return MEDLEY_OK;
}

medley_status medley_comm_open(medley_comm **comm, void *communicator, medley_error *error)
{
    md_begin(error);
    medley_comm_functions functions = MEDLEY_COMM_FUNCTIONS_INIT;
    void *plugin = NULL;
    const struct family *family = find_family(communicator != NULL);
    if (family == NULL) {
        *comm = NULL;
        return MEDLEY_OK;
    }
    MEDLEY_TRY(load_plugin(&plugin, family, error));
    MEDLEY_TRY(call_plugin(&functions, plugin, family, communicator, error));
    return medley_comm_create(comm, &functions, error);
    /* the plug-in stays loaded: MPI cannot be started twice */
}
