/* SPDX-License-Identifier: BSD-3-Clause */
#include "driver.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

struct bytes read_bytes(const char *path)
{
    struct bytes bytes = {0};
    struct stat info;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return bytes;
    if (fstat(file, &info) == 0 && (bytes.data = malloc((size_t)info.st_size + 1)) != NULL) {
        const ssize_t got = read(file, bytes.data, (size_t)info.st_size);
        bytes.size = got > 0 ? (size_t)got : 0;
        bytes.data[bytes.size] = '\0';
    }
    close(file);
    return bytes;
}

void write_bytes(const char *path, struct bytes bytes)
{
    unlink(path); /* the file may have another name, too */
    if (bytes.data == NULL)
        return;
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0 || write(file, bytes.data, bytes.size) != (ssize_t)bytes.size) {
        perror(path);
        exit(2);
    }
    close(file);
}

bool same_bytes(struct bytes a, struct bytes b)
{
    return (a.data == NULL) == (b.data == NULL) && a.size == b.size &&
           (a.data == NULL || memcmp(a.data, b.data, a.size) == 0);
}

uint64_t hash_bytes(struct bytes bytes)
{
    uint64_t hash = bytes.data == NULL ? 1 : 14695981039346656037u;
    for (size_t i = 0; i < bytes.size; i++)
        hash = (hash ^ (unsigned char)bytes.data[i]) * 1099511628211u;
    return hash;
}

void remove_folder(const char *path)
{
    char name[NAME_BYTES];
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlink(name);
    }
    if (folder != NULL)
        closedir(folder);
    rmdir(path);
}
