/* SPDX-License-Identifier: BSD-3-Clause */
/* medley kernel: compute and save Gram matrices. */
#include "cli.h"

static medley_status run_kernel(cli_arguments *arguments, medley_error *error)
{
    CLI_OWNED(medley_dataset_free) medley_dataset *dataset = NULL;
    CLI_OWNED(medley_options_free) medley_options *options = NULL;
    size_t count = 0;
    const char *output = cli_value(arguments, "output");
    if (output == NULL)
        return cli_refuse(error, "--output FILE.npy is missing");
    if (arguments->json && cli_is_standard_output(output))
        return cli_refuse(error,
                          "--output %s: the JSON is written to standard output as well; name a "
                          "file, or leave out --json",
                          output);
    const double start = cli_clock();
    CLI_TRY(cli_training_options(arguments, &options, error));
    CLI_TRY(cli_load_data(arguments, NULL, &dataset, error));
    CLI_TRY(medley_write_kernels(&count, dataset, options, output, error));
    if (arguments->json) {
        json_open(stdout, NULL, '{');
        json_count(stdout, "kernels", count);
        json_count(stdout, "examples", medley_dataset_rows(dataset));
        json_number(stdout, "seconds", cli_clock() - start);
        json_end(stdout);
    } else if (!arguments->quiet) {
        fprintf(stderr, "%zu kernel%s of %zu rows written to %s%s\n", count, count == 1 ? "" : "s",
                medley_dataset_rows(dataset), output,
                medley_dataset_label_count(dataset) > 0
                    ? "; the column of labels is no part of them (--label none: there is none)"
                    : "");
    }
    return MEDLEY_OK;
}

static const cli_option options[] = {{"output", "FILE", "",
                                      "npy file: (N,N) for one kernel, (M,N,N) for several",
                                      .group = "output"},
                                     {0}};

static const char *const examples[] = {
    "a stack of three Gaussians with unit trace",
    "medley kernel --kernel 'rbf(sigma={1,2,4})' --normalize trace --output K.npy data.csv", NULL};

const cli_command cli_command_kernel = {
    .name = "kernel",
    .usage = "--output FILE.npy [options] DATA",
    .summary = "compute and save Gram matrices",
    .description = "Computes the kernels of the training options on all rows of DATA and writes "
                   "them as float32 in NumPy's format. Columns are scaled as train scales them "
                   "(--scale).",
    .options = options,
    .groups = CLI_KERNELS | CLI_DATA | CLI_ROWS | CLI_RUN,
    .together = true,
    .examples = examples,
    .run = run_kernel,
};
