/* SPDX-License-Identifier: BSD-3-Clause */
/* Scores on the card: shared by adding.cu, which adds changes to them, opening.cu, which tells
 * those of the rows that are looked at next, and scores.cu, their life. */
#ifndef MD_CUDA_SCORES_H
#define MD_CUDA_SCORES_H

#include "cuda/bank.h"
#include <pthread.h>

enum { CARD_SENT = 2 };      /* buffers that take turns */
enum { CARD_ENTERED = 512 }; /* changes that open rows get before others: a window of them */

struct card_open_rows {
    unsigned *index, *sent_index; /* [most_open] on the card, pinned */
    void *values, *sent_values;   /* [slots][most_open][most_open] on the card, pinned */
    unsigned count;
    cudaEvent_t done;
};

/* Rows first .. first + count - 1 of a call, whose fresh ones come first among those of them. */
struct card_portion {
    unsigned first, count, fresh_first, fresh;
};

/* Changes on their way: portion by portion, as many as scratch memory can take. */
struct card_waiting {
    size_t rows; /* 0: there are none */
    card_rows left;
    bool own, precise;
    size_t count; /* of portions */
};

struct card_scores {
    card_bank *bank;
    card_pool pool;
    unsigned slots, labels, most, most_open;
    bool mixed, plain_weights; /* a slot has several kernels; all weights are 1 */
    unsigned *slot_of;         /* [kernels] */
    unsigned *slot_start;      /* [slots + 1] of each slot's kernels: */
    unsigned *slot_kernel;     /* [kernels] */
    float *weight;             /* [kernels] */
    float *scores;             /* [slots][labels][stride of the bank] */
    char *scratch;             /* values that are not kept, in any precision */
    unsigned scratch_rows;
    card_room others;
    bool has_others;

    /* what goes with a call: pointers, indices, changes, side by side */
    char *received;
    char *sent[CARD_SENT];
    cudaEvent_t was_sent[CARD_SENT];
    unsigned turn;

    card_open_rows open[2];
    bool halves;  /* their values are in half precision */
    unsigned now; /* of these: what is open; the other one is expected */
    bool expects;
    float *open_scores; /* [slots][labels][most_open] pinned */
    cudaEvent_t opened;
    card_waiting changes;     /* that were sent and have not been added yet */
    card_portion *portions;   /* [most] of them, of the processor */
    pthread_mutex_t settling; /* threads that scale side by side may find changes to settle */

    /* to enter changes for open rows before all others */
    const unsigned *entered_index; /* [most_open] of the rows that are opened */
    float *entered_scores;         /* [slots][labels][most_open] */
    char *entered_values;          /* [CARD_ENTERED][kernels][most_open] */
    void **entered_place;          /* [CARD_ENTERED] */
};

/* The card is a thread's own choice, and threads that take steps side by side scale scores. */
bool card_scores_turn(const card_scores *s, char *message);

/* ---- adding.cu ---- */

/* Bytes of a call with so many rows. */
size_t card_parcel_bytes(const card_scores *s, size_t rows);
/* Changes are sent, and added when they are settled, which everything else that is done to scores
 * waits for. rows: of the bank, NULL: others. precise: by values in single precision. */
bool card_send(card_scores *s, const size_t *rows, size_t count, const float *change,
               card_rows left, bool precise, char *message);
bool card_settle(card_scores *s, char *message);
/* Adds the changes that are waiting to s->entered_scores, of so many rows s->entered_index. */
bool card_enter(card_scores *s, unsigned count, char *message);
bool card_can_enter(const card_scores *s);

/* ---- opening.cu ---- */
bool card_open_make(card_scores *s, char *message);
int card_expect(void *context, const size_t *rows, size_t count, char *message);
int card_open(void *context, const size_t *rows, size_t count, md_device_opened *opened,
              char *message);

#endif
