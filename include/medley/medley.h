/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Medley: multiple kernel learning. This header includes all the others; medley/error.h has the
 * conventions that hold for all functions.
 */
#ifndef MEDLEY_MEDLEY_H
#define MEDLEY_MEDLEY_H

#include "medley/comm.h"
#include "medley/dataset.h"
#include "medley/error.h"
#include "medley/generate.h"
#include "medley/learner.h"
#include "medley/model.h"
#include "medley/observer.h"
#include "medley/options.h"
#include "medley/report.h"
#include "medley/select.h"
#include "medley/structure.h"

#endif
