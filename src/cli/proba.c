/* SPDX-License-Identifier: BSD-3-Clause */
#include "proba.h"
#include "cli.h"

#include <math.h>

void cli_json_calibration(const medley_model *model)
{
    const medley_summary *s = medley_model_summary(model);
    if (!medley_task_about(s->task)->has_labels)
        return;
    if (isnan(s->temperature)) {
        json_number(stdout, "calibration", NAN);
        return;
    }
    json_open(stdout, "calibration", '{');
    json_number(stdout, "temperature", s->temperature);
    if (s->offsets != NULL)
        json_numbers(stdout, "offsets", s->offsets, medley_model_label_count(model));
    json_close(stdout, '}');
}

bool cli_print_calibration(FILE *file, const medley_model *model)
{
    const medley_summary *s = medley_model_summary(model);
    if (isnan(s->temperature))
        return false;
    fprintf(file, "calibrated probabilities: temperature %.4g", s->temperature);
    if (s->offsets != NULL) {
        double least = s->offsets[0];
        double most = s->offsets[0];
        for (size_t l = 1; l < medley_model_label_count(model); l++) {
            least = fmin(least, s->offsets[l]);
            most = fmax(most, s->offsets[l]);
        }
        fprintf(file, ", offsets %.3g to %.3g", least, most);
    }
    fprintf(file, "\n");
    return true;
}

void cli_json_probabilities(const medley_evaluation *evaluation)
{
    if (isnan(evaluation->log_loss))
        return;
    json_number(stdout, "log_loss", evaluation->log_loss);
    json_number(stdout, "brier", evaluation->brier);
    json_number(stdout, "calibration_error", evaluation->calibration_error);
}

void cli_print_probabilities(FILE *file, const medley_evaluation *evaluation)
{
    if (isnan(evaluation->log_loss))
        return;
    fprintf(file, "probabilities: log loss %.4f, Brier score %.4f, calibration error %.4f\n",
            evaluation->log_loss, evaluation->brier, evaluation->calibration_error);
}
