/* SPDX-License-Identifier: BSD-3-Clause */
/* A cross-validation by several ranks: each has filled some cells, and all get them all. */
#include "select/tuner.h"

#include "base/text.h"

/* A cell on its way; the text of its failure follows. */
struct message {
    uint64_t cell, length;
    double score, active, seconds;
    int64_t code;
};

static medley_status take_message(md_tuner *tuner, const struct message *message, const char *text,
                                  medley_error *error)
{
    md_cell *cell = &tuner->cells[message->cell];
    if (cell->noted) /* by this rank too: what cannot be learnt is noted by all */
        return MEDLEY_OK;
    *cell = (md_cell){.score = message->score,
                      .active = message->active,
                      .seconds = message->seconds,
                      .code = (medley_status)message->code,
                      .noted = true};
    if (message->length == 0)
        return MEDLEY_OK;
    cell->failure = md_copy_text(text, message->length);
    return cell->failure != NULL ? MEDLEY_OK : md_fail_memory(error, message->length);
}

medley_status md_tuner_join(md_tuner *tuner, medley_error *error)
{
    const size_t size = medley_comm_size(tuner->comm);
    MD_CLEARED(md_text_clear) md_text own = {0};
    MD_OWNED(free) char *all = NULL;
    MD_OWNED(free) size_t *offset = NULL;
    size_t capacity = 0;
    if (size == 1)
        return MEDLEY_OK;
    MEDLEY_TRY(md_new(&offset, size + 1, sizeof *offset, error));
    for (size_t c = 0; c < tuner->grid->trial_count * tuner->folds; c++) {
        const md_cell *cell = &tuner->cells[c];
        if (!cell->noted)
            continue;
        const struct message message = {.cell = c,
                                        .length = cell->failure ? strlen(cell->failure) : 0,
                                        .score = cell->score,
                                        .active = cell->active,
                                        .seconds = cell->seconds,
                                        .code = cell->code};
        md_text_add(&own, (const char *)&message, sizeof message);
        md_text_add(&own, cell->failure, message.length);
    }
    MEDLEY_TRY(md_text_check(&own, error));
    MEDLEY_TRY(
        md_comm_gather_any(tuner->comm, own.data, own.length, &all, &capacity, offset, error));
    for (size_t at = 0; at < offset[size];) {
        struct message message;
        memcpy(&message, all + at, sizeof message);
        MEDLEY_TRY(take_message(tuner, &message, all + at + sizeof message, error));
        at += sizeof message + message.length;
    }
    return MEDLEY_OK;
}
