/* SPDX-License-Identifier: BSD-3-Clause */
/* What every file needs: standard headers, failing (status.h), memory and ownership (memory.h). All
 * headers of the library include it, so that nobody else has to. */
#ifndef MD_BASE_H
#define MD_BASE_H

#include "base/memory.h"
#include "base/status.h"
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#endif
