/*
 * faults.c
 *		Faults that the service commits on purpose (see faults.h).
 *
 *		SPEC		FAULT[,FAULT...]
 *		FAULT		KIND:POINT[:NTH[:ARG]]	the NTH time (1) POINT is reached;
 *											NTH 0: every time
 *					randomkill:SEED			killed at a random moment, about
 *											every sixtieth time a point is reached
 *		KIND		kill hang garbage short oversize version build uid oom
 *					sticky slow nochunks
 *		POINT		hello open chunk add keep extents rows finish read look
 *
 * For "slow" ARG is milliseconds (100).  The option is for developers: without
 * it no fault is ever committed, and with it the log says so at the start.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gpud/faults.h"
#include "gpud/log.h"

/* The most faults that one specification may have. */
#define MOST_FAULTS 32

typedef struct Fault
{
	FaultKind	kind;
	FaultPoint	point;
	unsigned	nth;
	unsigned	arg;
	atomic_uint times;			/* that the point was reached so far */
} Fault;

static Fault faults[MOST_FAULTS];
static int	nfaults;
static bool random_kill;
static bool armed;
static atomic_uint_fast64_t random_state;

static const char *const kind_names[] = {
	[FAULT_KILL] = "kill",
	[FAULT_HANG] = "hang",
	[FAULT_GARBAGE] = "garbage",
	[FAULT_SHORT] = "short",
	[FAULT_OVERSIZE] = "oversize",
	[FAULT_VERSION] = "version",
	[FAULT_BUILD] = "build",
	[FAULT_UID] = "uid",
	[FAULT_OOM] = "oom",
	[FAULT_STICKY] = "sticky",
	[FAULT_SLOW] = "slow",
	[FAULT_NO_CHUNKS] = "nochunks",
};

static const char *const point_names[FAULT_POINTS] = {
	[AT_HELLO] = "hello",
	[AT_OPEN] = "open",
	[AT_CHUNK] = "chunk",
	[AT_ADD] = "add",
	[AT_KEEP] = "keep",
	[AT_EXTENTS] = "extents",
	[AT_ROWS] = "rows",
	[AT_FINISH] = "finish",
	[AT_READ] = "read",
	[AT_LOOK] = "look",
};

static int
find_name(const char *const *names, int count, const char *name)
{
	int			i;

	for (i = 0; i < count; i++)
		if (names[i] && strcmp(names[i], name) == 0)
			return i;
	return -1;
}

static bool
parse_number(const char *text, unsigned *number)
{
	char	   *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || value > 1000000000)
		return false;
	*number = (unsigned) value;
	return true;
}

static bool
parse_one(char *text, const char **why)
{
	char	   *rest = text;
	char	   *kind = strsep(&rest, ":");
	char	   *point = strsep(&rest, ":");
	char	   *nth = strsep(&rest, ":");
	char	   *arg = strsep(&rest, ":");
	Fault	   *f = &faults[nfaults];
	unsigned	seed;
	int			found;

	*why = "a fault is KIND:POINT[:NTH[:ARG]] or randomkill:SEED";
	if (rest != NULL || point == NULL)
		return false;
	if (strcmp(kind, "randomkill") == 0)
	{
		if (nth != NULL || !parse_number(point, &seed))
			return false;
		random_kill = true;
		atomic_store(&random_state, seed);
		return true;
	}
	f->nth = 1;
	f->arg = 100;
	if ((nth && !parse_number(nth, &f->nth)) || (arg && !parse_number(arg, &f->arg)))
		return false;
	*why = "unknown kind of fault";
	found = find_name(kind_names, FAULT_NO_CHUNKS + 1, kind);
	if (found < 0)
		return false;
	f->kind = (FaultKind) found;
	*why = "unknown point for a fault";
	found = find_name(point_names, FAULT_POINTS, point);
	if (found < 0)
		return false;
	f->point = (FaultPoint) found;
	*why = "too many faults";
	return ++nfaults < MOST_FAULTS;
}

bool
faults_parse(const char *spec, const char **why)
{
	char	   *copy = strdup(spec);
	char	   *rest = copy;
	bool		good = copy != NULL;

	*why = "out of memory";
	while (good && rest != NULL)
		good = parse_one(strsep(&rest, ","), why);
	free(copy);
	return good;
}

void
faults_arm(void)
{
	armed = true;
}

/* splitmix64 */
static uint64_t
next_random(void)
{
	uint64_t	z = atomic_fetch_add(&random_state, UINT64_C(0x9E3779B97F4A7C15)) +
		UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static void
pause_us(unsigned us)
{
	struct timespec t = {.tv_sec = us / 1000000,.tv_nsec = (long) (us % 1000000) * 1000};

	nanosleep(&t, NULL);
}

/* A thread that kills the process within 2 ms: so that it also dies between points. */
static void *
kill_soon(void *arg)
{
	(void) arg;
	pause_us((unsigned) (next_random() % 2000));
	kill(getpid(), SIGKILL);
	return NULL;
}

FaultKind
faults_at(FaultPoint point, const atomic_int *over)
{
	FaultKind	kind = FAULT_NONE;
	int			i;

	if (!armed)
		return FAULT_NONE;
	if (random_kill && next_random() % 60 == 0)
	{
		pthread_t	thread;

		if (pthread_create(&thread, NULL, kill_soon, NULL) == 0)
			pthread_detach(thread);
	}
	for (i = 0; i < nfaults; i++)
	{
		Fault	   *f = &faults[i];

		if (f->point != point)
			continue;
		if (atomic_fetch_add(&f->times, 1) + 1 != f->nth && f->nth != 0)
			continue;
		log_line(LOG_WARNING, "committing fault \"%s\" at \"%s\"", kind_names[f->kind],
				 point_names[point]);
		switch (f->kind)
		{
			case FAULT_KILL:
				kill(getpid(), SIGKILL);
				break;
			case FAULT_SLOW:
				pause_us(f->arg * 1000);
				break;
			case FAULT_HANG:
				while (atomic_load(over) == 0)
					pause_us(10000);
				break;
			default:
				kind = f->kind;
				break;
		}
	}
	return kind;
}
