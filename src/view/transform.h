/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of rows. A view may pass its columns through steps such as center(16x8)/blur(0.7),
 * from left to right; every kind of step is one row of the table in transform.c. */
#ifndef MD_TRANSFORM_H
#define MD_TRANSFORM_H

#include "data/dataset.h"
#include "param/param.h"

/* What the rows between two steps look like. */
typedef struct md_row_shape {
    size_t columns;
    size_t height, width; /* of the image each row is; 0: not known */
    bool may_grow;        /* sparse rows may end before their image does */
    bool composed;        /* of several rows: a square number of columns is no image */
} md_row_shape;

typedef struct md_transform md_transform;

typedef struct md_step {
    const md_transform *transform;
    size_t input_columns, columns; /* of the rows that go in and come out */
    size_t height, width;          /* of the image that goes in; not of windows */
    double sigma;                  /* blur, orient */
    bool fixed;                    /* shift: by down and right, else to the centre of mass */
    long long down, right;
    size_t reach;                 /* window: rows on each side */
    long long pad;                /* center: pixels added on every side */
    double slant;                 /* center: how much of it is taken out, 0 to 1 */
    long long directions, stride; /* orient: maps, and pixels from one that is kept to the next */
    double root;                  /* orient: what values are raised to */
} md_step;

enum { MD_STEP_ARGUMENTS = 5, MD_STEP_ARGUMENT_SIZE = 32, MD_STEPS_MOST = 8 };

/* One step as it was written. */
typedef struct md_step_text {
    const char *whole; /* all steps, for messages */
    char arguments[MD_STEP_ARGUMENTS][MD_STEP_ARGUMENT_SIZE];
    size_t count;
} md_step_text;

struct md_transform {
    const char *name;
    const char *usage; /* "blur(SIGMA) or blur(HxW,SIGMA)" */
    /* Fills step from its arguments and moves shape on to what comes out. */
    medley_status (*parse)(md_step *step, md_row_shape *shape, const md_step_text *text,
                           medley_error *error);
    /* Dense rows in, dense rows out (zeroed before); dataset tells the sequences. */
    medley_status (*apply)(md_matrix *output, const md_step *step, const md_matrix *input,
                           const medley_dataset *dataset, medley_error *error);
};

extern const md_transform md_transform_blur, md_transform_shift; /* transform_image.c */
extern const md_transform md_transform_center, md_transform_orient;

typedef struct md_steps {
    md_step step[MD_STEPS_MOST];
    size_t count;
} md_steps;

/* The transform that the first step of text names, or NULL. */
const md_transform *md_transform_find(const char *text);

/* "window:K; blur(SIGMA) or ...; ...": how each transform is written. */
void md_transforms_list(md_text *list);

/* Reads steps for rows of the given shape, which becomes that of the rows that come out. */
medley_status md_steps_parse(md_steps *steps, const char *text, md_row_shape *shape,
                             medley_error *error);

/* Most bytes that md_steps_apply holds at one time for so many rows; SIZE_MAX: too many. */
size_t md_steps_bytes(const md_steps *steps, size_t rows);

/* input: dense, with the columns of the first step. */
medley_status md_steps_apply(md_matrix *output, const md_steps *steps, const md_matrix *input,
                             const medley_dataset *dataset, medley_error *error);

/* ---- what the transforms of images share (transform_image.c) ---- */

/* The image from the first argument, or guessed if there is none, and key=value for the rest;
 * options is a table over md_step. */
medley_status md_step_find_options(md_step *step, md_row_shape *shape, const md_step_text *text,
                                   const md_param *options, medley_error *error);

/* 2 * *reach + 1 weights, normalised over all within three deviations; those that would reach past
 * an image of `side` pixels from any pixel are left out. sigma 0: a single 1. */
medley_status md_gaussian_weights(float **weights, size_t *reach, double sigma, size_t side,
                                  medley_error *error);

#endif
