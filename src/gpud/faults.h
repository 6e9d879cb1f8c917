/*
 * faults.h
 *		Faults that the service commits on purpose (--fault), for tests of what its
 *		clients and PostgreSQL do then.
 */
#ifndef HPSORT_GPUD_FAULTS_H
#define HPSORT_GPUD_FAULTS_H

#include <stdatomic.h>
#include <stdbool.h>

/* Where in the life of a connection a fault can be committed. */
typedef enum FaultPoint
{
	AT_HELLO,
	AT_OPEN,
	AT_CHUNK,					/* before a chunk is granted */
	AT_ADD,
	AT_KEEP,
	AT_EXTENTS,					/* before extents are added */
	AT_ROWS,					/* before rows are added */
	AT_FINISH,
	AT_READ,					/* before a part of a result is sent */
	AT_LOOK,					/* before questions are answered */
	FAULT_POINTS
} FaultPoint;

typedef enum FaultKind
{
	FAULT_NONE = 0,
	FAULT_KILL,					/* SIGKILL to the service's own process */
	FAULT_HANG,					/* this connection answers no more */
	FAULT_GARBAGE,				/* random bytes instead of a message */
	FAULT_SHORT,				/* half a message, then the end */
	FAULT_OVERSIZE,				/* a length beyond every limit */
	FAULT_VERSION,				/* another protocol version in the welcome */
	FAULT_BUILD,				/* another build in the welcome */
	FAULT_UID,					/* the peer counts as another user's process */
	FAULT_OOM,					/* the device's memory is full */
	FAULT_STICKY,				/* as after a CUDA error that stays */
	FAULT_SLOW,					/* a pause of arg milliseconds */
	FAULT_NO_CHUNKS				/* no chunk is ever free */
} FaultKind;

/*
 * Adds the faults of a specification (see faults.c).  False if it is not a
 * valid one, and *why is a phrase.
 */
extern bool faults_parse(const char *spec, const char **why);

/*
 * From now on faults are committed: called when the service has measured its
 * costs, which nothing may disturb.
 */
extern void faults_arm(void);

/*
 * Counts that a connection has reached point, and returns the fault that the
 * caller has to commit there, if any.  KILL, HANG and SLOW are committed here;
 * HANG returns only once *over is not 0, which is how the end of the connection
 * is told.
 */
extern FaultKind faults_at(FaultPoint point, const atomic_int *over);

#endif							/* HPSORT_GPUD_FAULTS_H */
