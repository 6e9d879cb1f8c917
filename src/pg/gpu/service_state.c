/*
 * service_state.c
 *		The GPU service's state in shared memory (see service_state.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/spin.h"
#include "utils/timestamp.h"

#include "pg/gpu/service_state.h"
#include "pg/shared_memory.h"

/*
 * A start that was requested, and that no supervisor has begun for so long, may be
 * requested again: the postmaster could not fork, or was shutting down.
 */
#define START_LOST_MS 10000

/* mutex protects status and supervisor; counters are atomic. */
typedef struct ServiceShared
{
	slock_t		mutex;
	ServiceStatus status;
	Latch	   *supervisor;		/* valid while status.supervisor_pid is set */
	ConditionVariable changed;	/* see service_prepare_wait */
	pg_atomic_uint64 counters[SERVICE_COUNTERS];
	pg_atomic_uint64 reset_at;	/* a TimestampTz: when counters were last reset */
} ServiceShared;

static ServiceShared *shared;

void
service_state_preload(void)
{
	shared_memory_request(sizeof(ServiceShared));
}

/* Initializes the shared struct, once, in the process that makes it. */
static void
init(void *data)
{
	ServiceShared *s = (ServiceShared *) data;

	memset(s, 0, sizeof(*s));
	SpinLockInit(&s->mutex);
	s->status.since = GetCurrentTimestamp();
	ConditionVariableInit(&s->changed);
	for (int i = 0; i < SERVICE_COUNTERS; i++)
		pg_atomic_init_u64(&s->counters[i], 0);
	pg_atomic_init_u64(&s->reset_at, (uint64) s->status.since);
}

/* Returns the shared struct, or NULL: without it there is no GPU, and no error. */
static ServiceShared *
attach(void)
{
	if (shared == NULL)
		shared = (ServiceShared *) shared_memory_attach("hpsort GPU service",
														sizeof(ServiceShared), init);
	return shared;
}

bool
service_status(ServiceStatus *status)
{
	ServiceShared *s = attach();

	memset(status, 0, sizeof(*status));
	if (s == NULL)
		return false;
	SpinLockAcquire(&s->mutex);
	*status = s->status;
	SpinLockRelease(&s->mutex);
	return true;
}

const char *
service_state_name(ServiceState state)
{
	static const char *const names[] = {
		"stopped", "starting", "running", "restarting", "no device", "failed"
	};

	return names[state];
}

bool
service_may_start(const ServiceStatus *status)
{
	switch (status->state)
	{
		case SERVICE_STOPPED:
			return true;
		case SERVICE_STARTING:
			return status->supervisor_pid == 0 &&
				TimestampDifferenceExceeds(status->since, GetCurrentTimestamp(), START_LOST_MS);
		case SERVICE_NO_DEVICE:
		case SERVICE_FAILED:
			return PgReloadTime > status->since;
		default:
			return false;
	}
}

/*
 * Sets the state, and since when; suspicions of the process before are forgotten.  Called with the
 * mutex; now was read before the mutex was taken, because nothing that may take long is done under
 * a spinlock.
 */
static void
change_state(ServiceShared *s, ServiceState state, int service_pid, const char *text,
			 TimestampTz now)
{
	s->status.state = state;
	s->status.since = now;
	s->status.service_pid = service_pid;
	s->status.suspect_pid = 0;
	strlcpy(s->status.text, text, sizeof(s->status.text));
}

/* The state is judged on a copy; the start is claimed only if the state is still that one. */
bool
service_claim_start(void)
{
	ServiceShared *s = attach();
	ServiceStatus seen;
	TimestampTz now = GetCurrentTimestamp();
	bool		mine;

	if (s == NULL || !service_status(&seen) || !service_may_start(&seen))
		return false;
	SpinLockAcquire(&s->mutex);
	mine = s->status.state == seen.state && s->status.since == seen.since &&
		s->status.supervisor_pid == 0;
	if (mine)
		change_state(s, SERVICE_STARTING, 0, "", now);
	SpinLockRelease(&s->mutex);
	return mine;
}

bool
service_claim_supervision(void)
{
	ServiceShared *s = attach();
	TimestampTz now = GetCurrentTimestamp();
	bool		mine;

	if (s == NULL)
		return false;
	SpinLockAcquire(&s->mutex);
	mine = s->status.supervisor_pid == 0;
	if (mine)
	{
		s->status.supervisor_pid = MyProcPid;
		s->supervisor = MyLatch;
		change_state(s, SERVICE_STARTING, 0, "", now);
	}
	SpinLockRelease(&s->mutex);
	return mine;
}

void
service_release_supervision(void)
{
	ServiceShared *s = attach();
	TimestampTz now = GetCurrentTimestamp();

	if (s == NULL)
		return;
	SpinLockAcquire(&s->mutex);
	s->status.supervisor_pid = 0;
	s->supervisor = NULL;
	/* The supervisor may have set the state that it ends with; else it is stopped. */
	if (s->status.state != SERVICE_NO_DEVICE && s->status.state != SERVICE_FAILED &&
		s->status.state != SERVICE_STOPPED)
		change_state(s, SERVICE_STOPPED, 0, "", now);
	SpinLockRelease(&s->mutex);
	ConditionVariableBroadcast(&s->changed);
}

void
service_set_state(ServiceState state, int service_pid, const char *text)
{
	ServiceShared *s = attach();
	TimestampTz now = GetCurrentTimestamp();

	if (s == NULL)
		return;
	SpinLockAcquire(&s->mutex);
	change_state(s, state, service_pid, text, now);
	SpinLockRelease(&s->mutex);
	ConditionVariableBroadcast(&s->changed);
}

void
service_suspect(int service_pid)
{
	ServiceShared *s = attach();
	Latch	   *latch = NULL;

	if (s == NULL)
		return;
	SpinLockAcquire(&s->mutex);
	if (s->status.service_pid == service_pid)
	{
		s->status.suspect_pid = service_pid;
		latch = s->supervisor;
	}
	SpinLockRelease(&s->mutex);

	/* If the supervisor has exited, its latch is still valid shared memory. */
	if (latch)
		SetLatch(latch);
}

void
service_prepare_wait(void)
{
	if (attach())
		ConditionVariablePrepareToSleep(&shared->changed);
}

void
service_count(ServiceCounter counter, uint64 n)
{
	ServiceShared *s = attach();

	if (s)
		pg_atomic_fetch_add_u64(&s->counters[counter], n);
}

void
service_counters(uint64 *counters, TimestampTz *since)
{
	ServiceShared *s = attach();

	for (int i = 0; i < SERVICE_COUNTERS; i++)
		counters[i] = s ? pg_atomic_read_u64(&s->counters[i]) : 0;
	*since = s ? (TimestampTz) pg_atomic_read_u64(&s->reset_at) : 0;
}

void
service_reset_counters(void)
{
	ServiceShared *s = attach();

	if (s == NULL)
		return;
	for (int i = 0; i < SERVICE_COUNTERS; i++)
		pg_atomic_write_u64(&s->counters[i], 0);
	pg_atomic_write_u64(&s->reset_at, (uint64) GetCurrentTimestamp());
}
