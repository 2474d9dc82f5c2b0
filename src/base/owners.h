/* SPDX-License-Identifier: BSD-3-Clause */
/* MD_OWNED for what the public functions create. */
#ifndef MD_OWNERS_H
#define MD_OWNERS_H

#include "base/base.h"
#include "base/memory.h"
#include "medley/medley.h"

MD_OWNER(medley_dataset_free, medley_dataset)
MD_OWNER(medley_learner_free, medley_learner)
MD_OWNER(medley_model_free, medley_model)
MD_OWNER(medley_options_free, medley_options)
MD_OWNER(medley_path_free, medley_path)
MD_OWNER(medley_prediction_free, medley_prediction)
MD_OWNER(medley_tuning_free, medley_tuning)

#endif
