/*
 * faults.h
 *		Faults that the stub commits on purpose, for tests of what the service's clients and
 *		PostgreSQL do then.
 *
 * Each thread of the service has one connection, and so has what is to be committed there.
 */
#ifndef GPU_STUB_FAULTS_H
#define GPU_STUB_FAULTS_H

#include <stdbool.h>

/* Where in the life of a connection a fault can be committed. */
typedef enum FaultPoint
{
	AT_HELLO,
	AT_OPEN,
	AT_CHUNK,					/* before a chunk is granted for keys, extents or rows */
	AT_ADD,
	AT_KEEP,
	AT_ROWS,					/* before a list of rows is added, whether or not it has one */
	AT_FINISH,
	AT_READ,					/* before a part of a result is read */
	AT_LOOK,					/* before questions are answered */
	FAULT_POINTS
} FaultPoint;

typedef enum FaultKind
{
	FAULT_NONE = 0,
	FAULT_KILL,					/* SIGKILL to the service's own process */
	FAULT_HANG,					/* this connection answers no more */
	FAULT_GARBAGE,				/* random bytes instead of the next message, then the end */
	FAULT_SHORT,				/* half of it */
	FAULT_OVERSIZE,				/* a length beyond every limit */
	FAULT_VERSION,				/* another protocol version in the welcome */
	FAULT_BUILD,				/* another build in the welcome */
	FAULT_UID,					/* the peer counts as another user's process */
	FAULT_OOM,					/* the device's memory is full */
	FAULT_STICKY,				/* as after a CUDA error that stays */
	FAULT_WRONG,				/* answers that cannot be */
	FAULT_SLOW,					/* a pause of arg milliseconds */
	FAULT_NO_CHUNKS				/* no chunk is ever free */
} FaultKind;

/* What is known of this thread's connection. */
typedef struct FaultThread
{
	int			fd;				/* of the connection; a client is there */
	bool		armed;			/* the client is another process: not the one that measures costs */
	bool		finished;		/* its job has its keys */
	bool		starving;		/* its job gets no chunk */
	FaultKind	message;		/* of the next message that is sent */
	FaultKind	pieces;			/* of the next pieces that are added: OOM or STICKY */
} FaultThread;

extern _Thread_local FaultThread faults_thread;

/*
 * Counts that this thread's connection has reached point, and returns the fault that the
 * caller has to commit there, OOM, STICKY, WRONG or UID, if any.  All others are committed here, or
 * noted in faults_thread; HANG returns only once the client has hung up.
 */
extern FaultKind faults_at(FaultPoint point);

/* Counts that this thread's connection is about to get a chunk; sets starving if it gets none. */
extern void faults_at_chunk(void);

/* How many devices there are. */
extern int	faults_devices(void);

#endif							/* GPU_STUB_FAULTS_H */
