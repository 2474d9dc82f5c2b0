/* SPDX-License-Identifier: BSD-3-Clause */
/* Support vector machines of one kernel, many at a time: one for each label, and for each set of
 * rows that is held out. Each of them minimises
 *
 *     P = sum_i max(0, 1 - y_i (f_i + b)) + strength/2 ||f||_K^2,   f = K a
 *
 * over the rows it learns from, which libsvm calls C-SVC with C = 1 / strength. They
 * share the matrix and run in parallel. libsvm solves them where it is there and the
 * wanted gap is not too small for its single precision, the batch solver otherwise; which of them
 * is no part of the result, which comes with a certificate. */
#ifndef MD_SVM_SET_H
#define MD_SVM_SET_H

#include "batch/batch.h"

typedef struct md_svm {
    const double *y;    /* [n] -1 or +1, of all rows */
    const size_t *rows; /* [count] those that it learns from, increasing; NULL: all of them */
    size_t count;
    bool rough; /* the accuracy that people use libsvm with will do, whatever the gap is then */

    /* What is found. Rows of one label only have nothing but a bias. */
    double bias, primal, dual;
    double loss; /* share of primal */
    bool solved; /* to the wanted gap, or roughly */
} md_svm;

typedef struct md_svm_set {
    double *kernel; /* [n][n] upper triangle; comes back with the lower one filled in */
    size_t n;
    double strength, gap;
    bool precise; /* not by libsvm, which computes in single precision */
    size_t threads;
    md_svm *machines; /* [count] */
    size_t count;
    double *coefficient; /* [n][count] a, 0 where a machine does not learn */
    double *score;       /* [n][count] f + b of all rows */
    /* From time to time, with the number of machines that are done; false: stop. Those that are
     * not done then have a bias only. May be NULL. */
    bool (*watch)(void *context, size_t done);
    void *context;
    bool stopped;
} md_svm_set;

medley_status md_svm_solve(md_svm_set *set, medley_error *error);

/* Will libsvm solve them? Otherwise dual values are those of the batch solver. */
bool md_svm_has_libsvm(const md_svm_set *set);

/* Tells anew what was found by a machine of all rows, from its column a of set->coefficient and the
 * scores f[n] without bias that these have with the true kernel. dual: a value that holds for that
 * kernel; NaN: that of the coefficients. scratch: [n] */
void md_svm_certify(md_svm *machine, const md_svm_set *set, const double *a, const double *f,
                    double dual, double *scratch);

#endif
