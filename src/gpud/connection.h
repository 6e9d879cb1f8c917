/*
 * connection.h
 *		The service's connections: one thread each, which speaks the protocol with
 *		one client and drives its job.
 *
 * Used by the main thread (main.c) and by costs.c, which is a client in the service's own process.
 */
#ifndef HPSORT_GPUD_CONNECTION_H
#define HPSORT_GPUD_CONNECTION_H

#include <pthread.h>
#include <stdatomic.h>

#include "gpud/chunks.h"
#include "gpud/devices.h"
#include "gpud/peer.h"

/* What all connections share, and the list of them. */
typedef struct Service
{
	Devices		devices;
	Chunks		chunks;
	int			epoll;			/* reports a peer's end to the main thread */
	atomic_uint nconnections;	/* whose thread has not ended */
	pthread_mutex_t lock;		/* of what follows */
	struct Connection *connections; /* the newest first */
	uint64_t	last_id;
	int64_t		complain_after; /* ms; when the log may say again that clients are silent */
} Service;

/* Prepares all but devices and chunks; false, with errno, if that is not possible. */
extern bool service_init(Service *service);

/*
 * Takes over fd, whose connection ends unless the client greets within 10 s.  When too many
 * connections have not greeted, the oldest of them ends.  False: no memory, no descriptor, no
 * thread; fd is closed.
 */
extern bool connection_start(Service *service, int fd);

/* The peer of the connection with that id hung up: cancels its job. */
extern void connection_gone(Service *service, uint64_t id);

/*
 * Ends all connections, for a reason (CONNECTION_...), and waits for their
 * threads at most timeout_ms.  False: some have not ended.
 */
extern bool connections_end(Service *service, int why, int timeout_ms);

#endif							/* HPSORT_GPUD_CONNECTION_H */
