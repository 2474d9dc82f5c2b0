/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MD_SVMLIGHT_H
#define MD_SVMLIGHT_H

#include "io/io.h"

medley_status md_svmlight_read(medley_dataset *dataset, const md_input *input,
                               const medley_read_options *options, medley_error *error);

#endif
