/* SPDX-License-Identifier: BSD-3-Clause */
/* Model files: whatever is read predicts numbers, or says why not. */
#include "fuzz.h"

void fuzz_model(fuzz_input input)
{
    medley_model *model = NULL;
    medley_error error;
    if (fuzz_worked(medley_model_read(&model, input.data, input.size, "input", &error), &error))
        fuzz_use_model(model);
    medley_model_free(model);
}
