/* SPDX-License-Identifier: BSD-3-Clause */
/* The beginning of a checkpoint (online/checkpoint.c), which is looked at before there is a run:
 * a run on a card has kernels where another one may have weights. */
#ifndef MD_CHECKPOINT_HEAD_H
#define MD_CHECKPOINT_HEAD_H

#include <stdint.h>

#define MD_CHECKPOINT_MAGIC "MEDLEYCP"

typedef struct md_checkpoint_head {
    char magic[sizeof MD_CHECKPOINT_MAGIC - 1];
    uint64_t version, key;
} md_checkpoint_head;

/* Of a key: the run had no kernels that are kept as weights by our choice. */
enum { MD_KEY_OF_CARD = 1 };

#endif
