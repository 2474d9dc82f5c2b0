/* SPDX-License-Identifier: BSD-3-Clause */
/* Replays inputs without libFuzzer: the files and the files of folders that are named. */
#include "fuzz.h"

#include <dirent.h>
#include <sys/stat.h>

static size_t replayed;

/* Memory as long as the file, so that a sanitizer sees who reads beyond it. */
static void replay_file(const char *path)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fstat(fileno(file), &info) != 0) {
        perror(path);
        exit(2);
    }
    const size_t size = (size_t)info.st_size;
    uint8_t *bytes = malloc(size + (size == 0));
    if (bytes == NULL || fread(bytes, 1, size, file) != size) {
        perror(path);
        exit(2);
    }
    fclose(file);
    fprintf(stderr, "%s\n", path); /* the last one is at fault, if the program ends here */
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    replayed++;
}

static void replay_folder(const char *folder)
{
    struct dirent **names = NULL;
    const int count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            replay_file(path);
        free(names[i]);
    }
    free(names);
}

int main(int count, char **words)
{
    for (int i = 1; i < count; i++) {
        struct stat info;
        if (stat(words[i], &info) == 0 && S_ISDIR(info.st_mode))
            replay_folder(words[i]);
        else
            replay_file(words[i]);
    }
    printf("%zu inputs\n", replayed);
    return replayed == 0;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room)
{
    (void)data;
    (void)room;
    return size; /* nothing is mutated here */
}
