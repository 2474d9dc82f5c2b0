/* SPDX-License-Identifier: BSD-3-Clause */
/* Temporary files beside a target, on their way to its name. Whose owner was killed is removed by
 * the next run that writes to the folder. */
#ifndef MD_TEMPORARY_H
#define MD_TEMPORARY_H

#include "base/base.h"

/* The folder that path stands in, with its slash ("" for the present one), and then name; or NULL.
 */
char *md_path_beside(const char *path, const char *name);

/* A new file beside the target, whose name is returned too (free it). It is locked for as long as
 * it is open, which tells others that it has an owner: rename it before it is closed. -1: errno
 * says why. */
int md_temporary_open(char **name, const char *target);

/* Removes temporary files beside the target that this user's processes on this machine have left.
 */
void md_temporary_clean(const char *target);

#endif
