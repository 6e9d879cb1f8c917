/*
 * connections.h
 *		A session's connections to the GPU service.
 *
 * The first sort that may be worth it connects; a connection is kept for the
 * sorts to come.  Called by backend.c.  Nothing here raises an error: when there
 * is no connection, connections_failure() and connections_reason() return why.
 */
#ifndef HPSORT_PG_GPU_CONNECTIONS_H
#define HPSORT_PG_GPU_CONNECTIONS_H

#include "gpu/client.h"
#include "sort/device/device.h"
#include "utils/resowner.h"

/*
 * One connection for the job of a sort at its end, and one for keys that are sent
 * while the sorter fills: a query may do both at once.
 */
#define SORT_CONNECTIONS 2

/* And one for each further device that rows are divided among, from the second on. */
#define CONNECTIONS (SORT_CONNECTIONS + SORT_DEVICES_MOST - 1)

#define CONNECTIONS_IN_USE "all connections of the session to the GPU service are in use"

typedef struct Connection
{
	GpuClient  *client;			/* NULL: there is none */
	int			wait_timeout;	/* hpsort.gpu_wait_timeout when it was made */
	uint64		epoch;			/* of resident_epoch() when it was made */

	/* of the job that uses the connection, see backend.c */
	MemoryContext memory;		/* which it ends with; NULL: there is no job */
	ResourceOwner owner;		/* which it ends with, too */
	bool		stream;			/* opened before all keys were there */
} Connection;

/* All connections of the session; connections[0] is the one that is made first. */
extern Connection connections[CONNECTIONS];

/*
 * Makes a connection usable for a job, or notes why it is not.  Connects if need
 * be, and has a service started that does not run.  insist: also connects to a
 * service that failed lately, and waits longer for its greeting.  *wait is set when
 * the service is starting, so that another attempt may succeed soon.  A connection
 * that a job uses is left alone, whatever has become of it: the job holds its
 * client.
 */
extern bool connection_make_usable(Connection *connection, bool insist, bool *wait);

/* Does what connection_make_usable does with insist, and waits for a service that is starting. */
extern bool connection_wait_until_usable(Connection *connection);

/* Notes the kind of, and a phrase for, the last reason for having no GPU; the phrase is copied. */
extern void connections_note(GpuFailure failure, const char *text);

/* Return what was noted last, GPU_OK and "" at first; the phrase is valid until the next one. */
extern GpuFailure connections_failure(void);
extern const char *connections_reason(void);

#endif							/* HPSORT_PG_GPU_CONNECTIONS_H */
