/* SPDX-License-Identifier: BSD-3-Clause */
/* medley kernel: compute and save Gram matrices. */
#include "cli.h"

static int run_kernel(cli_arguments *arguments)
{
    medley_error error = {0};
    medley_dataset *dataset = NULL;
    medley_options *options = NULL;
    size_t count = 0;
    const char *output = cli_value(arguments, "output");
    if (output == NULL)
        return cli_usage_error(arguments, "--output FILE.npy is missing");
    const double start = cli_clock();
    medley_status status = cli_training_options(arguments, &options, &error);
    if (status >= 0)
        status = cli_load_data(arguments, NULL, &dataset, &error);
    if (status >= 0)
        status = medley_write_kernels(&count, dataset, options, output, &error);
    int code = CLI_OK;
    if (status < 0) {
        code = cli_fail(arguments, &error);
    } else if (arguments->json) {
        json_open(stdout, NULL, '{');
        json_count(stdout, "kernels", count);
        json_count(stdout, "examples", medley_dataset_rows(dataset));
        json_number(stdout, "seconds", cli_clock() - start);
        json_end(stdout);
    } else if (!arguments->quiet) {
        fprintf(stderr, "%zu kernels of %zu rows written to %s\n", count,
                medley_dataset_rows(dataset), output);
    }
    medley_options_free(options);
    medley_dataset_free(dataset);
    return code;
}

static const cli_option options[] = {
    {"output", "FILE", "", "npy file: (N,N) for one kernel, (M,N,N) for several", false}, {0}};

static const char *const examples[] = {
    "a stack of three Gaussians with unit trace",
    "medley kernel --kernel 'rbf(sigma={1,2,4})' --normalize trace --output K.npy data.csv", NULL};

extern const cli_command cli_command_kernel;
const cli_command cli_command_kernel = {
    .name = "kernel",
    .usage = "--output FILE.npy [options] DATA",
    .summary = "compute and save Gram matrices",
    .description = "Computes the kernels of the training options on all rows of DATA and writes "
                   "them as float32 in NumPy's format.",
    .options = options,
    .groups = CLI_KERNELS | CLI_DATA | CLI_ROWS | CLI_RUN,
    .examples = examples,
    .run = run_kernel,
};
