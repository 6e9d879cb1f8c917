/*
 * faults.c
 *		Faults that the stub commits on purpose (see faults.h).
 *
 *		SPEC		PART[,PART...]
 *		PART		KIND:POINT[:NTH[:ARG]]	the NTH time (1) POINT is reached;
 *											NTH 0: every time
 *					randomkill:SEED			killed at a random moment, about
 *											every sixtieth time a point is reached
 *					devices:N				there are N devices (1)
 *		KIND		kill hang garbage short oversize version build uid oom
 *					sticky wrong slow nochunks
 *		POINT		hello open chunk add keep rows finish read look
 *
 * For "slow" ARG is milliseconds (100).  SPEC is the environment's HPSORT_GPU_STUB, or else the
 * first line of the file gpu_stub in the current directory, which is the server's data
 * directory; without either no fault is ever committed.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "faults.h"
#include "gpu/gpu_types.h"
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
static int	ndevices = 1;
static bool random_kill;
static atomic_uint_fast64_t random_state;

_Thread_local FaultThread faults_thread = {.fd = -1};

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
	[FAULT_WRONG] = "wrong",
	[FAULT_SLOW] = "slow",
	[FAULT_NO_CHUNKS] = "nochunks",
};

static const char *const point_names[FAULT_POINTS] = {
	[AT_HELLO] = "hello",
	[AT_OPEN] = "open",
	[AT_CHUNK] = "chunk",
	[AT_ADD] = "add",
	[AT_KEEP] = "keep",
	[AT_ROWS] = "rows",
	[AT_FINISH] = "finish",
	[AT_READ] = "read",
	[AT_LOOK] = "look",
};

static int
find_name(const char *const *names, int count, const char *name)
{
	for (int i = 0; i < count; i++)
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
	if (strcmp(kind, "devices") == 0)
	{
		if (nth != NULL || !parse_number(point, &seed))
			return false;
		ndevices = (int) seed;
		return true;
	}
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

/* Takes faults before main() begins; ends the program if they are not valid. */
static void __attribute__((constructor))
take_spec(void)
{
	const char *spec = getenv("HPSORT_GPU_STUB");
	char		line[1024] = "";
	char	   *rest = line;
	const char *why;
	FILE	   *file = spec ? NULL : fopen("gpu_stub", "r");

	if (spec)
		snprintf(line, sizeof(line), "%s", spec);
	if (file)
	{
		if (fgets(line, sizeof(line), file))
			line[strcspn(line, "\n")] = '\0';
		fclose(file);
	}
	if (line[0] == '\0')
		return;
	log_line(LOG_WARNING, "faults will be committed: %s", line);
	while (rest != NULL)
		if (!parse_one(strsep(&rest, ","), &why))
		{
			log_line(LOG_ERROR, "invalid fault: %s", why);
			_exit(EXIT_USAGE);
		}
}

int
faults_devices(void)
{
	return ndevices;
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

/* Whether a fault has to be committed, now that its point is reached. */
static bool
is_due(Fault *f)
{
	if (atomic_fetch_add(&f->times, 1) + 1 != f->nth && f->nth != 0)
		return false;
	log_line(LOG_WARNING, "committing fault \"%s\" at \"%s\"", kind_names[f->kind],
			 point_names[f->point]);
	return true;
}

FaultKind
faults_at(FaultPoint point)
{
	struct pollfd peer = {.fd = faults_thread.fd,.events = POLLRDHUP};
	FaultKind	kind = FAULT_NONE;

	if (point == AT_FINISH)
		faults_thread.finished = true;
	if (!faults_thread.armed)
		return FAULT_NONE;
	if (random_kill && next_random() % 60 == 0)
	{
		pthread_t	thread;

		if (pthread_create(&thread, NULL, kill_soon, NULL) == 0)
			pthread_detach(thread);
	}
	for (int i = 0; i < nfaults; i++)
	{
		Fault	   *f = &faults[i];

		if (f->point != point || f->kind == FAULT_NO_CHUNKS || !is_due(f))
			continue;
		switch (f->kind)
		{
			case FAULT_KILL:
				kill(getpid(), SIGKILL);
				break;
			case FAULT_SLOW:
				pause_us(f->arg * 1000);
				break;
			case FAULT_HANG:
				while (poll(&peer, 1, -1) < 0)
					;
				break;
			case FAULT_UID:
			case FAULT_OOM:
			case FAULT_STICKY:
			case FAULT_WRONG:
				kind = f->kind;
				break;
			default:
				faults_thread.message = f->kind;
				break;
		}
	}
	return kind;
}

void
faults_at_chunk(void)
{
	FaultPoint	point = faults_thread.finished ? AT_READ : AT_CHUNK;

	if (!faults_thread.finished)
		(void) faults_at(AT_CHUNK);
	for (int i = 0; i < nfaults && faults_thread.armed; i++)
		if (faults[i].point == point && faults[i].kind == FAULT_NO_CHUNKS && is_due(&faults[i]))
			faults_thread.starving = true;
}
