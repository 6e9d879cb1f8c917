/*
 * message_times.c
 *		When a session and the GPU service send and receive messages: what a query by the GPU
 *		takes, step by step.
 *
 *	cc -O2 -shared -fPIC -Isrc -o message_times.so bench/gpu/message_times.c
 *	LD_PRELOAD=$PWD/message_times.so MESSAGE_TIMES=/tmp/times bench/resident_gpu_bench.sh ...
 *	bench/gpu/message_times.pl /tmp/times.*
 *
 * Preloaded by the server and, as it inherits the environment, by the service.  Each process has
 * a file, named by its number, with a line for each message: nanoseconds of a clock that all
 * processes share, process, descriptor, + (sent) or - (received), type, job, chunk and count.
 * A session's lines with types query and answer are those of its client.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "gpu/protocol.h"

static __thread char lines[1 << 16];
static __thread size_t nlines;

/* Writes what has gathered: where a query or a job ends, so that no step takes longer by it. */
static void
write_lines(void)
{
	char		name[4096];
	FILE	   *file;

	snprintf(name, sizeof(name), "%s.%d", getenv("MESSAGE_TIMES") ? getenv("MESSAGE_TIMES") : "/tmp/message_times", (int) getpid());
	if (nlines > 0 && (file = fopen(name, "a")) != NULL)
	{
		fwrite(lines, 1, nlines, file);
		fclose(file);
	}
	nlines = 0;
}

static void
note(int fd, char way, const char *type, unsigned long long job, unsigned chunk, unsigned count)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	if (nlines + 200 > sizeof(lines))
		write_lines();
	nlines += (size_t) snprintf(lines + nlines, sizeof(lines) - nlines, "%lld %d %d %c %s %llu %u %u\n", (long long) t.tv_sec * 1000000000 + t.tv_nsec,
								(int) getpid(), fd, way, type, job, chunk, count);
}

/* Whole messages of the protocol; a part of one, and other programs' bytes, are passed over. */
static void
note_all(int fd, char way, const char *at, ssize_t size)
{
	char		type[16];

	/* PostgreSQL's own protocol */
	if (way == '-' && size > 5 && at[0] == 'Q')
		note(fd, way, "query", 0, 0, 0);
	else if (way == '+' && size > 5 && at[size - 6] == 'Z')
	{
		note(fd, way, "answer", 0, 0, 0);
		write_lines();
	}
	while (size >= (ssize_t) sizeof(GpuHeader))
	{
		GpuMessage	m;

		memcpy(&m.header, at, sizeof(GpuHeader));
		if (m.header.type == 0 || m.header.type > GPU_MSG_ERROR || m.header.length > sizeof(m.body) ||
			size < (ssize_t) (sizeof(GpuHeader) + m.header.length))
			break;
		memcpy(&m.body, at + sizeof(GpuHeader), m.header.length);
		snprintf(type, sizeof(type), "%u", m.header.type);
		note(fd, way, type, m.header.job, m.header.length == sizeof(GpuChunk) ? m.body.chunk.chunk : 0, m.header.length == sizeof(GpuChunk) ? m.body.chunk.count : 0);
		if (way == '-' && m.header.type == GPU_MSG_CLOSE)
			write_lines();
		at += sizeof(GpuHeader) + m.header.length;
		size -= (ssize_t) (sizeof(GpuHeader) + m.header.length);
	}
}

#define REAL(function) \
	static __typeof__(&function) real; \
	if (real == NULL) \
		real = (__typeof__(&function)) dlsym(RTLD_NEXT, #function)

ssize_t
send(int fd, const void *bytes, size_t size, int flags)
{
	REAL(send);
	/* before the other side may have received it */
	note_all(fd, '+', bytes, (ssize_t) size);
	return real(fd, bytes, size, flags);
}

ssize_t
sendmsg(int fd, const struct msghdr *message, int flags)
{
	REAL(sendmsg);
	if (message->msg_iovlen == 1)
		note_all(fd, '+', message->msg_iov[0].iov_base, (ssize_t) message->msg_iov[0].iov_len);
	return real(fd, message, flags);
}

ssize_t
recv(int fd, void *bytes, size_t size, int flags)
{
	ssize_t		n;

	REAL(recv);
	n = real(fd, bytes, size, flags);
	note_all(fd, '-', bytes, n);
	return n;
}

ssize_t
recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t		n;

	REAL(recvmsg);
	n = real(fd, message, flags);
	if (message->msg_iovlen == 1)
		note_all(fd, '-', message->msg_iov[0].iov_base, n);
	return n;
}
