/* SPDX-License-Identifier: BSD-3-Clause */
/* The two halves of the CRFsuite format: attributes_read.c reads, attributes.c does the rest. */
#ifndef MD_ATTRIBUTES_H
#define MD_ATTRIBUTES_H

#include "io/io.h"

medley_status md_attributes_read(medley_dataset *dataset, const md_input *input,
                                 const medley_read_options *options, medley_error *error);

#endif
