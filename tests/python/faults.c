/* Lets the n-th call of a kind fail, for files below one folder; loaded with LD_PRELOAD. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { WRITE, RENAME, FSYNC, FLOCK, MKDIR, KINDS };

static char folder[PATH_MAX];
static long seen[KINDS];
static int armed_kind = -1;
static long armed_at;
static int armed_errno;

void faults_watch(const char *path) { snprintf(folder, sizeof folder, "%s", path); }

/* The `at`-th call of `kind` from now on fails, counted from 1; 0: none. */
void faults_arm(int kind, long at, int number)
{
    memset(seen, 0, sizeof seen);
    armed_kind = kind;
    armed_at = at;
    armed_errno = number;
}

long faults_seen(int kind) { return seen[kind]; }

static int is_below(const char *path)
{
    return folder[0] && path && !strncmp(path, folder, strlen(folder));
}

static int is_open_below(int fd)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return is_below(path);
}

static int fails(int kind)
{
    long now = __atomic_add_fetch(&seen[kind], 1, __ATOMIC_SEQ_CST);
    if (kind != armed_kind || now != armed_at)
        return 0;
    errno = armed_errno;
    return 1;
}

#define REAL(name, ...) static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name); \
    return real(__VA_ARGS__)

ssize_t write(int fd, const void *data, size_t size)
{
    if (is_open_below(fd) && fails(WRITE)) return -1;
    REAL(write, fd, data, size);
}

int rename(const char *from, const char *to)
{
    if (is_below(to) && fails(RENAME)) return -1;
    REAL(rename, from, to);
}

int fsync(int fd)
{
    if (is_open_below(fd) && fails(FSYNC)) return -1;
    REAL(fsync, fd);
}

int flock(int fd, int operation)
{
    if (is_open_below(fd) && fails(FLOCK)) return -1;
    REAL(flock, fd, operation);
}

int mkdir(const char *path, mode_t mode)
{
    if (is_below(path) && fails(MKDIR)) return -1;
    REAL(mkdir, path, mode);
}
