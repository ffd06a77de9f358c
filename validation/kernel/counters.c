/* Prints the counters of TCP of the kernel that runs it, /proc/net/netstat, and ends.
 *
 * A run starts it in both kernels at the end (`client` of a flow that sends nothing): TCP_INFO of
 * Linux 6.1 has no count of timeouts, recoveries and undos, and these counters have.
 *
 * Static: cc -O2 -static -o counters counters.c
 */
#include <fcntl.h>
#include <unistd.h>

int main(void)
{
	static char text[1 << 16];
	int fd = open("/proc/net/netstat", O_RDONLY);
	ssize_t bytes, at = 0, put;

	if (fd < 0)
		return 1;
	while ((bytes = read(fd, text + at, sizeof text - (size_t)at)) > 0)
		at += bytes;
	for (ssize_t from = 0; from < at; from += put)
		if ((put = write(1, text + from, (size_t)(at - from))) <= 0)
			return 1;
	return 0;
}
