/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast text becomes data: svmlight and CSV files of about 100 MB, one thread, best of three,
 * beside what merely reading the file and merely looking for its line ends cost.
 *
 *     bench_read [MEGABYTES] */
#include "base/random.h"
#include "medley/dataset.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPEATS = 3, FEATURES_PER_ROW = 100, COLUMNS = 2000, CSV_COLUMNS = 50 };

typedef struct workload {
    const char *name, *format;
    size_t (*write_row)(char *to, md_random *random);
} workload;

/* "label index:value ..." with the values that write_value makes. */
static size_t write_sparse_row(char *to, md_random *random,
                               int (*write_value)(char *to, md_random *random))
{
    char *p = to + sprintf(to, "%c1", md_random_below(random, 2) ? '+' : '-');
    size_t column = 0;
    for (int i = 0; i < FEATURES_PER_ROW; i++) {
        column += 1 + md_random_below(random, 2 * COLUMNS / FEATURES_PER_ROW - 1);
        p += sprintf(p, " %zu:", column);
        p += write_value(p, random);
    }
    *p++ = '\n';
    return (size_t)(p - to);
}

static int write_fraction(char *to, md_random *random)
{
    return sprintf(to, "0.%04zu", md_random_below(random, 10000));
}

static int write_integer(char *to, md_random *random)
{
    return sprintf(to, "%zu", md_random_below(random, 256));
}

static int write_double(char *to, md_random *random)
{
    return sprintf(to, "%.17g", md_random_uniform(random));
}

static size_t fraction_row(char *to, md_random *random)
{
    return write_sparse_row(to, random, write_fraction);
}

static size_t integer_row(char *to, md_random *random)
{
    return write_sparse_row(to, random, write_integer);
}

static size_t double_row(char *to, md_random *random)
{
    return write_sparse_row(to, random, write_double);
}

static size_t csv_row(char *to, md_random *random)
{
    char *p = to;
    for (int i = 0; i < CSV_COLUMNS; i++)
        p += sprintf(p, "%s%.5f,", md_random_below(random, 2) ? "" : "-",
                     10 * md_random_uniform(random));
    p += sprintf(p, "%zu\n", md_random_below(random, 10));
    return (size_t)(p - to);
}

static size_t make_file(char *path, const workload *work, size_t size)
{
    char row[8192];
    md_random random;
    size_t written = 0;
    const int descriptor = mkstemp(path);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    md_random_seed(&random, 1);
    while (written < size) {
        const size_t length = work->write_row(row, &random);
        if (fwrite(row, 1, length, file) != length)
            break;
        written += length;
    }
    if (fclose(file) != 0 || written < size) {
        perror(path);
        unlink(path);
        exit(1);
    }
    return written;
}

/* Seconds to read the file into fresh memory, and to find its line ends there. */
static void time_floor(const char *path, size_t length, double *reading, double *scanning)
{
    double begin = md_clock_seconds();
    const int descriptor = open(path, O_RDONLY);
    char *data = malloc(length);
    size_t got = 0;
    ssize_t piece = 0;
    while (data != NULL && got < length && (piece = read(descriptor, data + got, length - got)) > 0)
        got += (size_t)piece;
    *reading = md_clock_seconds() - begin;
    begin = md_clock_seconds();
    size_t lines = 0;
    for (const char *p = data; p != NULL && (p = memchr(p, '\n', (size_t)(data + got - p))); p++)
        lines++;
    *scanning = md_clock_seconds() - begin;
    if (lines == 0)
        fprintf(stderr, "%s: no lines\n", path);
    free(data);
    close(descriptor);
}

static double time_dataset(const char *path, const char *format)
{
    medley_error error = {0};
    medley_dataset *dataset = NULL;
    medley_read_options options = MEDLEY_READ_OPTIONS_INIT;
    options.format = format;
    const double begin = md_clock_seconds();
    if (medley_dataset_read(&dataset, path, &options, &error) < 0) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    const double seconds = md_clock_seconds() - begin;
    medley_dataset_free(dataset);
    return seconds;
}

static void run(const workload *work, size_t size)
{
    const char *folder = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/medley-bench-XXXXXX", folder != NULL ? folder : "/tmp");
    const double length = (double)make_file(path, work, size);
    double best[3] = {1e30, 1e30, 1e30};
    for (int i = 0; i < REPEATS; i++) {
        double seconds[3];
        time_floor(path, (size_t)length, &seconds[1], &seconds[2]);
        seconds[0] = time_dataset(path, work->format);
        for (int k = 0; k < 3; k++)
            best[k] = seconds[k] < best[k] ? seconds[k] : best[k];
    }
    unlink(path);
    const double speed = length / 1e6 / best[0];
    const double read_speed = length / 1e6 / best[1];
    const double scan_speed = length / 1e6 / best[2];
    printf("%-18s %6.0f MB/s; read() alone %6.0f MB/s (%.2f of it), line ends alone %6.0f MB/s "
           "(%.2f of it)\n",
           work->name, speed, read_speed, speed / read_speed, scan_speed, speed / scan_speed);
    printf("{\"bench\":\"read\",\"case\":\"%s\",\"megabytes\":%.1f,\"mb_per_s\":%.1f,"
           "\"read_mb_per_s\":%.1f,\"newline_scan_mb_per_s\":%.1f,\"ratio_to_read\":%.4f,"
           "\"ratio_to_scan\":%.4f}\n",
           work->name, length / 1e6, speed, read_speed, scan_speed, speed / read_speed,
           speed / scan_speed);
}

int main(int argc, char **argv)
{
    static const workload workloads[] = {{"svmlight-fractions", "svmlight", fraction_row},
                                         {"svmlight-integers", "svmlight", integer_row},
                                         {"svmlight-doubles", "svmlight", double_row},
                                         {"csv", "csv", csv_row}};
    const double megabytes = argc > 1 ? strtod(argv[1], NULL) : 100;
    if (!(megabytes > 0)) {
        fprintf(stderr, "usage: bench_read [MEGABYTES]\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        run(&workloads[i], (size_t)(megabytes * 1e6));
    return 0;
}
