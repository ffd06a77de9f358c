/* The first program of a kernel in a simulated network: it sets up the only interface, and carries
 * out the lines of its job (crates/linux/src/job.rs):
 *
 *   sysctl PATH VALUE                     writes VALUE to /proc/sys/PATH
 *   address A.B.C.D                       of eth0, where 10.0.0.0/8 is on the link and there is no ARP
 *   listen PORT CONTROL                   takes connections over TCP and reads them to their end; their
 *                                         congestion control, or - for the kernel's
 *   send FLOW PORT ADDRESS PORT CONTROL BYTES START STOP FIRST EVERY
 *                                         connects at START and sends; 0 bytes are endless, and a STOP
 *                                         of 0 is never. From FIRST on it reports the state of the
 *                                         connection, EVERY nanoseconds; never if that is 0.
 *
 *   exec START<tab>PROGRAM<tab>ARGUMENT...   runs a program, whose output goes to the console
 *
 * Times are nanoseconds of CLOCK_REALTIME. It reports by lines that begin with @ on /dev/tty1, which
 * the simulator reads: "ready", "info FLOW ...", "failed FLOW ...", "error ...".
 *
 * Static: cc -O2 -static -o agent agent.c
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ULL
#define CONNECTIONS 4096

static int reports = 2;
static char data[1 << 18];

static void say(const char *format, ...)
{
	char line[512];
	va_list list;

	va_start(list, format);
	int bytes = vsnprintf(line, sizeof line, format, list);
	va_end(list);
	if (bytes > 0 && write(reports, line, (size_t)bytes < sizeof line ? (size_t)bytes : sizeof line - 1) < 0)
		_exit(1);
}

/* Ends the kernel's work; the simulator ends the run. */
static void fail(const char *what)
{
	say("@error %s: %s\n", what, strerror(errno));
	for (;;)
		pause();
}

static struct timespec time_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND) };
}

static void sleep_until(uint64_t ns)
{
	struct timespec at = time_of(ns);

	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static void set(const char *path, const char *value)
{
	char file[512], what[600];

	snprintf(file, sizeof file, "/proc/sys/%s", path);
	snprintf(what, sizeof what, "setting %s to %s", path, value);
	int fd = open(file, O_WRONLY);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		fail(what);
	close(fd);
}

/* One packet is one segment: sockets do not make larger ones for the device to cut. */
static void no_segmentation(unsigned index)
{
	struct {
		struct nlmsghdr header;
		struct ifinfomsg info;
		struct rtattr attribute;
		uint32_t segments;
	} request = {
		.header = { .nlmsg_len = sizeof request, .nlmsg_type = RTM_NEWLINK,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.info = { .ifi_family = AF_UNSPEC, .ifi_index = (int)index },
		.attribute = { .rta_len = RTA_LENGTH(4), .rta_type = IFLA_GSO_MAX_SEGS },
		.segments = 1,
	};
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[512];
	} answer;
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	if (fd < 0 || send(fd, &request, sizeof request, 0) < 0 || recv(fd, &answer, sizeof answer, 0) < 0)
		fail("limiting segments");
	if (answer.header.nlmsg_type == NLMSG_ERROR && answer.error.error) {
		errno = -answer.error.error;
		fail("limiting segments");
	}
	close(fd);
}

static void up(int fd, const char *name, short flags)
{
	struct ifreq request = { 0 };

	strcpy(request.ifr_name, name);
	request.ifr_flags = (short)(IFF_UP | IFF_RUNNING | flags);
	if (ioctl(fd, SIOCSIFFLAGS, &request))
		fail(name);
}

static void address(const char *text)
{
	struct ifreq request = { 0 };
	struct sockaddr_in *field = (struct sockaddr_in *)&request.ifr_addr;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	up(fd, "lo", 0);
	strcpy(request.ifr_name, "eth0");
	if (ioctl(fd, SIOCGIFINDEX, &request))
		fail("eth0");
	no_segmentation((unsigned)request.ifr_ifindex);
	up(fd, "eth0", IFF_NOARP);
	field->sin_family = AF_INET;
	inet_pton(AF_INET, text, &field->sin_addr);
	if (ioctl(fd, SIOCSIFADDR, &request))
		fail("the address of eth0");
	inet_pton(AF_INET, "255.0.0.0", &field->sin_addr);
	if (ioctl(fd, SIOCSIFNETMASK, &request))
		fail("the mask of eth0");
	close(fd);
}

static void use_control(int fd, const char *control)
{
	char what[80];

	if (!setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, (socklen_t)strlen(control)))
		return;
	snprintf(what, sizeof what, "congestion control %s", control);
	fail(what);
}

static void listen_on(unsigned short port, const char *control)
{
	static struct pollfd fds[CONNECTIONS];
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons(port) };
	int one = 1, count = 1, fd = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (*control != '-')
		use_control(fd, control);
	if (bind(fd, (void *)&own, sizeof own) || listen(fd, 1024))
		fail("listening");
	if (fork())
		return;
	fds[0] = (struct pollfd){ .fd = fd, .events = POLLIN };
	for (;;) {
		poll(fds, (nfds_t)count, -1);
		for (int i = count - 1; i > 0; i--) {
			if (!fds[i].revents)
				continue;
			ssize_t got = recv(fds[i].fd, data, sizeof data, MSG_DONTWAIT);
			if (got > 0 || (got < 0 && errno == EAGAIN))
				continue;
			close(fds[i].fd);
			fds[i] = fds[--count];
		}
		if (fds[0].revents && count < CONNECTIONS) {
			int connection = accept(fd, NULL, NULL);
			if (connection >= 0)
				fds[count++] = (struct pollfd){ .fd = connection, .events = POLLIN };
		}
	}
}

static void report(int fd, const char *flow)
{
	struct tcp_info info = { 0 };
	socklen_t bytes = sizeof info;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes))
		return;
	say("@info %s %u %u %u %u %u %u %u %u %u\n", flow, info.tcpi_snd_cwnd, info.tcpi_snd_ssthresh,
	    info.tcpi_rtt, info.tcpi_unacked, info.tcpi_sacked, info.tcpi_lost, info.tcpi_retrans,
	    info.tcpi_reordering, info.tcpi_dsack_dups);
}

struct transfer {
	char flow[16], to[64], control[32];
	unsigned from_port, to_port;
	unsigned long long bytes, start, stop, first, every;
};

static void lost(const struct transfer *job)
{
	say("@failed %s %s\n", job->flow, strerror(errno));
	_exit(0);
}

static void transfer(const struct transfer *job)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_port = htons((uint16_t)job->from_port) };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)job->to_port) };
	unsigned long long left = job->bytes ? job->bytes : ~0ULL, next = job->first;
	int one = 1, connected = 0, closed = 0, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int clock = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK), end = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);

	inet_pton(AF_INET, job->to, &to.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(fd, (void *)&own, sizeof own))
		fail("binding a source port");
	use_control(fd, job->control);
	sleep_until(job->start);
	if (connect(fd, (void *)&to, sizeof to) && errno != EINPROGRESS)
		lost(job);
	if (job->every) {
		while (next < job->start)
			next += job->every;
		struct itimerspec first = { .it_value = time_of(next), .it_interval = time_of(job->every) };
		timerfd_settime(clock, TFD_TIMER_ABSTIME, &first, NULL);
	}
	if (job->stop) {
		struct itimerspec at = { .it_value = time_of(job->stop) };
		timerfd_settime(end, TFD_TIMER_ABSTIME, &at, NULL);
	}
	for (;;) {
		struct pollfd fds[3] = {
			{ .fd = fd, .events = closed ? POLLIN : POLLIN | POLLOUT },
			{ .fd = clock, .events = POLLIN },
			{ .fd = end, .events = POLLIN },
		};
		uint64_t ticks;

		poll(fds, 3, -1);
		if (fds[1].revents && read(clock, &ticks, sizeof ticks) > 0 && connected)
			report(fd, job->flow);
		if (fds[2].revents && read(end, &ticks, sizeof ticks) > 0)
			left = 0;
		if (fds[0].revents & (POLLERR | POLLHUP) && !connected) {
			socklen_t bytes = sizeof errno;
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &errno, &bytes);
			lost(job);
		}
		if (fds[0].revents & POLLOUT)
			connected = 1;
		/* A full socket is written to again when it says so, not at the next sample. */
		while (fds[0].revents & POLLOUT && left && !closed) {
			ssize_t put = send(fd, data, left < sizeof data ? left : sizeof data, MSG_NOSIGNAL);
			if (put < 0 && errno == EAGAIN)
				break;
			if (put < 0)
				lost(job);
			if (job->bytes)
				left -= (unsigned long long)put;
		}
		if (!left && !closed) {
			shutdown(fd, SHUT_WR);
			closed = 1;
		}
		if (fds[0].revents & (POLLIN | POLLERR | POLLHUP)) {
			ssize_t got = recv(fd, data, sizeof data, MSG_DONTWAIT);
			if (got == 0 && closed)
				break;
			if (got < 0 && errno != EAGAIN)
				lost(job);
		}
	}
	_exit(0);
}

static void run(unsigned long long start, char *words)
{
	char *command[256] = { 0 };
	int count = 0;

	for (char *word; count < 255 && (word = strsep(&words, "\t"));)
		command[count++] = word;
	if (fork())
		return;
	sleep_until(start);
	execv(command[0], command);
	fail(command[0]);
}

static void work(char *line)
{
	struct transfer job = { 0 };
	char path[256];
	int at = 0;

	if (sscanf(line, "sysctl %255s %n", path, &at) == 1 && at) {
		set(path, line + at);
	} else if (sscanf(line, "address %255s", path) == 1) {
		address(path);
	} else if (sscanf(line, "listen %u %31s", &job.to_port, job.control) == 2) {
		listen_on((unsigned short)job.to_port, job.control);
	} else if (sscanf(line, "send %15s %u %63s %u %31s %llu %llu %llu %llu %llu", job.flow, &job.from_port,
			  job.to, &job.to_port, job.control, &job.bytes, &job.start, &job.stop, &job.first,
			  &job.every) == 10) {
		if (!fork())
			transfer(&job);
	} else if (sscanf(line, "exec %llu\t%n", &job.start, &at) == 1 && at) {
		run(job.start, line + at);
	} else if (*line) {
		errno = EINVAL;
		fail(line);
	}
}

int main(void)
{
	const char *name = getenv("JOB");
	static char text[1 << 20];

	mount("dev", "/dev", "devtmpfs", 0, NULL);
	mount("proc", "/proc", "proc", 0, NULL);
	mount("sys", "/sys", "sysfs", 0, NULL);
	mount("tmp", "/tmp", "tmpfs", 0, NULL);
	int fd = open("/dev/tty1", O_WRONLY | O_NOCTTY);
	if (fd >= 0)
		reports = fd;
	signal(SIGPIPE, SIG_IGN);
	fd = name ? open(name, O_RDONLY) : -1;
	ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (bytes < 0)
		fail("the job");
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		work(line);
	say("@ready\n");
	for (;;)
		if (wait(NULL) < 0)
			pause();
}
