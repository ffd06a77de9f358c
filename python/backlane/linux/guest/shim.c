/* Preloaded into a User Mode Linux kernel; it stands between the kernel and two calls of this machine.
 *
 * ptrace: Linux 6.1 and 6.12 know an XSAVE area of at most 2696 bytes, while processors with AMX have
 * 11 008, and PTRACE_SETREGSET takes the whole area or nothing ("ptrace set fp regs failed"). The area
 * is padded with zeros, and the features that it does not hold are marked as in their initial state.
 *
 * getrandom: the only randomness that such a kernel takes from its machine. With UML_SEED it comes from
 * splitmix64 of that seed, so that equal runs are equal.
 *
 *   cc -O2 -shared -fPIC -o shim.so shim.c
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define GETREGSET 0x4204
#define SETREGSET 0x4205
#define XSTATE 0x202L
#define AREA_BYTES 32768
/* Where the bits of the features in use stand, and those up to AVX-512 and PKRU. */
#define XSTATE_BV 512
#define KNOWN_FEATURES 0x3ffULL

static size_t machine_bytes;
static __thread unsigned char area[AREA_BYTES] __attribute__((aligned(64)));

long ptrace(enum __ptrace_request request, ...)
{
	va_list list;

	va_start(list, request);
	int pid = va_arg(list, int);
	void *address = va_arg(list, void *);
	void *data = va_arg(list, void *);
	va_end(list);

	if ((int)request == GETREGSET && (long)address == XSTATE && !machine_bytes) {
		struct iovec whole = { area, sizeof area };
		if (!syscall(SYS_ptrace, GETREGSET, pid, address, &whole))
			machine_bytes = whole.iov_len;
	}
	if ((int)request == SETREGSET && (long)address == XSTATE) {
		struct iovec *part = data, whole = { area, machine_bytes };
		if (machine_bytes > part->iov_len && part->iov_len > XSTATE_BV + 8) {
			uint64_t features;
			memcpy(area, part->iov_base, part->iov_len);
			memset(area + part->iov_len, 0, machine_bytes - part->iov_len);
			memcpy(&features, area + XSTATE_BV, 8);
			features &= KNOWN_FEATURES;
			memcpy(area + XSTATE_BV, &features, 8);
			return syscall(SYS_ptrace, request, pid, address, &whole);
		}
	}
	/* The system call stores what PTRACE_PEEK* of the C library return. */
	if ((int)request >= 1 && (int)request <= 3) {
		long word = 0;
		if (syscall(SYS_ptrace, request, pid, address, &word) < 0)
			return -1;
		errno = 0;
		return word;
	}
	return syscall(SYS_ptrace, request, pid, address, data);
}

ssize_t getrandom(void *buffer, size_t bytes, unsigned flags)
{
	static uint64_t state;
	static enum { UNKNOWN, SEEDED, OF_MACHINE } source;

	if (source == UNKNOWN) {
		const char *seed = getenv("UML_SEED");
		source = seed ? SEEDED : OF_MACHINE;
		if (seed)
			state = strtoull(seed, NULL, 0);
	}
	if (source == OF_MACHINE)
		return syscall(SYS_getrandom, buffer, bytes, flags);
	for (size_t at = 0; at < bytes; at += 8) {
		uint64_t word = state += 0x9e3779b97f4a7c15ULL;
		word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
		word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
		word ^= word >> 31;
		memcpy((char *)buffer + at, &word, bytes - at < 8 ? bytes - at : 8);
	}
	return (ssize_t)bytes;
}
