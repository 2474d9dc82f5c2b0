/* SPDX-License-Identifier: BSD-3-Clause */
/* What the transforms of images share. */
#ifndef MD_TRANSFORM_IMAGE_H
#define MD_TRANSFORM_IMAGE_H

#include "param/param.h"
#include "view/transform.h"

/* The image from the first argument, or guessed if there is none, and key=value for the rest;
 * options is a table over md_step. */
medley_status md_step_find_options(md_step *step, md_row_shape *shape, const md_step_text *text,
                                   const md_param *options, medley_error *error);

/* 2 * *reach + 1 weights, normalised over all within three deviations; those that would reach past
 * an image of `side` pixels from any pixel are left out. sigma 0: a single 1. */
medley_status md_gaussian_weights(float **weights, size_t *reach, double sigma, size_t side,
                                  medley_error *error);

#endif
