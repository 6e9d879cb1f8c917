/*
 * service_state.h
 *		What every process of the cluster knows of the GPU service: whether it
 *		runs, why not, and how much it did.
 *
 * Written by the supervisor (state) and by backends (counters, requests to
 * start); knows PostgreSQL, but neither sockets nor GPUs.
 *
 * The state is some 400 bytes of PostgreSQL's shared memory, which are reserved
 * where hpsort is preloaded, else taken on first use from what the server
 * keeps spare.  Shared memory lives exactly as long as the cluster's processes: no
 * file can outlive a crash, and no full disk can take a page away.
 */
#ifndef HPSORT_PG_GPU_SERVICE_STATE_H
#define HPSORT_PG_GPU_SERVICE_STATE_H

#include "datatype/timestamp.h"
#include "gpu/gpu_types.h"

/* Relative to the data directory; base backups leave out what is in pg_stat_tmp. */
#define SERVICE_SOCKET "pg_stat_tmp/hpsort_gpu.sock"

typedef enum ServiceState
{
	SERVICE_STOPPED = 0,		/* may be started by any session that needs it */
	SERVICE_STARTING,			/* asked for, or not listening yet */
	SERVICE_RUNNING,
	SERVICE_RESTARTING,			/* failed; the supervisor waits a while */
	SERVICE_NO_DEVICE,			/* there is no GPU: not started before a reload */
	SERVICE_FAILED				/* cannot be started: not tried before a reload */
} ServiceState;

/* The state of the service, as all processes see it. */
typedef struct ServiceStatus
{
	ServiceState state;
	TimestampTz since;			/* when state was set */
	int			supervisor_pid; /* 0: none */
	int			service_pid;	/* 0: none */
	int			suspect_pid;	/* service_pid if a session waited for it in vain */
	char text[	160];			/* why state is so, a phrase; may be empty */
} ServiceStatus;

/* What is counted for hpsort_stat_gpu. */
typedef enum ServiceCounter
{
	SERVICE_JOBS,
	SERVICE_KEYS,
	SERVICE_BYTES_SENT,
	SERVICE_BYTES_RECEIVED,
	SERVICE_RESTARTS,
	SERVICE_FALLBACKS,			/* for a GpuFailure: this + the failure */
	SERVICE_COUNTERS = SERVICE_FALLBACKS + GPU_FAILURES
} ServiceCounter;

/* Reserves the shared memory.  Called by _PG_init while shared_preload_libraries are loaded. */
extern void service_state_preload(void);

/* A copy of the state; false when there is no shared memory for it. */
extern bool service_status(ServiceStatus *status);

/* "running", as hpsort_stat_gpu() shows it. */
extern const char *service_state_name(ServiceState state);

/*
 * Whether the state allows a start to be requested now.  A service that cannot be
 * started is tried again once the configuration was reloaded.
 */
extern bool service_may_start(const ServiceStatus *status);

/* Claims the right to start the service: true for one of all processes that try. */
extern bool service_claim_start(void);

/*
 * Makes this process the supervisor, with the state SERVICE_STARTING; false if there is one
 * already, or no shared memory.  The supervisor releases the claim when it exits: then the state
 * is the one that it has set last, or SERVICE_STOPPED.
 */
extern bool service_claim_supervision(void);
extern void service_release_supervision(void);

/*
 * Sets the state, the pid of the service (0: none) and the reason for the state, a phrase that is
 * copied, and wakes up all processes that wait for a change.  Called by the supervisor, and by a
 * process that has claimed a start and cannot have one.
 */
extern void service_set_state(ServiceState state, int service_pid, const char *text);

/* Has the supervisor find out whether the service still answers, unless it was replaced. */
extern void service_suspect(int service_pid);

/*
 * To wait for a change of state: prepare, look at the state, wait on MyLatch, and
 * call ConditionVariableCancelSleep at the end.
 */
extern void service_prepare_wait(void);

/* Adds n to a counter; without shared memory it is lost. */
extern void service_count(ServiceCounter counter, uint64 n);

/* The counters (SERVICE_COUNTERS), and when they were last reset; 0 without shared memory. */
extern void service_counters(uint64 *counters, TimestampTz *since);

/* Sets all counters to 0; what other processes count at this moment may be lost. */
extern void service_reset_counters(void);

#endif							/* HPSORT_PG_GPU_SERVICE_STATE_H */
