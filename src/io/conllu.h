/* SPDX-License-Identifier: BSD-3-Clause */
/* CoNLL-U, read (conllu.c) and written (conllu_write.c). */
#ifndef MD_CONLLU_H
#define MD_CONLLU_H

#include "io/io.h"

enum md_conllu_column {
    MD_CONLLU_ID = 0,
    MD_CONLLU_UPOS = 3,
    MD_CONLLU_HEAD = 6,
    MD_CONLLU_DEPREL = 7,
    MD_CONLLU_MISC = 9,
    MD_CONLLU_COLUMNS = 10
};

medley_status md_conllu_write(md_output *output, const medley_dataset *dataset,
                              medley_error *error);
medley_status md_conllu_write_labelled(md_output *output, const medley_dataset *dataset,
                                       const md_predicted *predicted, medley_error *error);
medley_status md_conllu_write_ranking(md_output *output, const medley_dataset *dataset,
                                      const md_ranking *ranking, medley_error *error);

#endif
