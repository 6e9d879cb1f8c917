/*
 * messages.c
 *		Faults in what the service says to its clients (see faults.h): the linker leads the
 *		service's calls of some functions here (-Wl,--wrap, see stub.mk).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "faults.h"
#include "gpu/protocol.h"
#include "gpud/chunks.h"
#include "gpud/job.h"
#include "sort/clock.h"

extern int	__real_getsockopt(int fd, int level, int name, void *value, socklen_t *size);
extern int	__wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size);
extern ssize_t __real_sendmsg(int fd, const struct msghdr *message, int flags);
extern ssize_t __wrap_sendmsg(int fd, const struct msghdr *message, int flags);
extern bool __real_job_add_rows(Job *job, const GpuMessage *m);
extern bool __wrap_job_add_rows(Job *job, const GpuMessage *m);
extern int64_t __real_chunks_take(ChunkHolder *holder, bool must);
extern int64_t __wrap_chunks_take(ChunkHolder *holder, bool must);

/* The service asks for the peer's user once, when its HELLO has come. */
int
__wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
	int			rc = __real_getsockopt(fd, level, name, value, size);
	struct ucred *peer = value;

	if (rc != 0 || level != SOL_SOCKET || name != SO_PEERCRED)
		return rc;
	faults_thread = (FaultThread) {.fd = fd,.armed = peer->pid != getpid()};
	if (faults_at(AT_HELLO) == FAULT_UID)
		peer->uid++;
	return rc;
}

/* Sends what no service would send, and fails, which ends the connection. */
static ssize_t
send_nonsense(int fd, FaultKind fault)
{
	unsigned char bytes[sizeof(GpuHeader) + 200];
	GpuHeader	header = {.type = GPU_MSG_GRANT,.length = UINT32_MAX,.job = 1};
	size_t		size = sizeof(bytes);

	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char) (i * 167 + 13);
	if (fault == FAULT_SHORT)
	{
		header.length = sizeof(GpuChunk);
		size = sizeof(header) + 2;
	}
	if (fault != FAULT_GARBAGE)
		memcpy(bytes, &header, sizeof(header));
	(void) send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	errno = EPIPE;
	return -1;
}

ssize_t
__wrap_sendmsg(int fd, const struct msghdr *message, int flags)
{
	FaultKind	fault = faults_thread.message;
	GpuMessage *m = message->msg_iov[0].iov_base;

	faults_thread.message = FAULT_NONE;
	switch (fault)
	{
		case FAULT_NONE:
			break;
		case FAULT_VERSION:
			m->body.welcome.version = 0;
			break;
		case FAULT_BUILD:
			strcpy(m->body.welcome.build, "none");
			break;
		default:
			return send_nonsense(fd, fault);
	}
	return __real_sendmsg(fd, message, flags);
}

bool
__wrap_job_add_rows(Job *job, const GpuMessage *m)
{
	FaultKind	fault = faults_at(AT_ROWS);

	/* Until pieces are added: of the first list the device may have none. */
	if (fault != FAULT_NONE)
		faults_thread.pieces = fault;
	return __real_job_add_rows(job, m);
}

/*
 * A chunk that the connection has got may not stay with it: it is given back, and the connection
 * waits in no queue but as if it did.
 */
int64_t
__wrap_chunks_take(ChunkHolder *holder, bool must)
{
	int64_t		chunk = -1;

	if (!faults_thread.starving)
		chunk = __real_chunks_take(holder, must);
	if (chunk >= 0)
	{
		faults_at_chunk();
		if (!faults_thread.starving)
			return chunk;
		chunks_put(holder, (uint32_t) chunk);
		chunk = -1;
	}
	if (faults_thread.starving && must && !holder->queued)
	{
		holder->queued = true;
		holder->queued_since = sort_clock_ms();
	}
	return chunk;
}
