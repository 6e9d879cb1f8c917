/*
 * gpud.h
 *		What the parts of hpsort-gpud share: options, log, faults, chunks,
 *		devices and connections.
 *
 * hpsort-gpud owns the GPU so that no PostgreSQL process has to: one process a
 * cluster, one thread a connection, and the main thread, which accepts, watches
 * every connection for its end, and decides when to stop (main.c).  Knows
 * nothing of PostgreSQL.
 */
#ifndef HPSORT_GPUD_GPUD_H
#define HPSORT_GPUD_GPUD_H

#include <pthread.h>
#include <stdatomic.h>

#include "gpu/protocol.h"
#include "gpud/engine.h"

/* Exit codes, for whoever started the service. */
enum
{
	EXIT_ORDERLY = 0,
	EXIT_INTERNAL = 1,
	EXIT_USAGE = 2,
	EXIT_NO_DEVICE = 3,
	EXIT_DEVICE_LOST = 4,
	EXIT_OCCUPIED = 5
};

typedef enum LogLevel
{
	LOG_DEBUG,
	LOG_INFO,
	LOG_WARNING,
	LOG_ERROR
} LogLevel;

/* One line on stderr, whole. */
extern LogLevel log_level;
extern void log_line(LogLevel level, const char *format,...)
			__attribute__((format(printf, 2, 3)));

/* ------------------------------------------------------------------------
 * Faults, on purpose (faults.c)
 * ------------------------------------------------------------------------
 */
typedef enum FaultPoint
{
	AT_HELLO,
	AT_OPEN,
	AT_CHUNK,					/* before a chunk is granted */
	AT_ADD,
	AT_FINISH,
	AT_READ,					/* before a part of a result is sent */
	FAULT_POINTS
} FaultPoint;

typedef enum FaultKind
{
	FAULT_NONE = 0,
	FAULT_KILL,					/* SIGKILL to ourselves */
	FAULT_HANG,					/* this connection answers no more */
	FAULT_GARBAGE,				/* random bytes instead of a message */
	FAULT_SHORT,				/* half a message, then the end */
	FAULT_OVERSIZE,				/* a length beyond every limit */
	FAULT_VERSION,				/* another protocol version in the welcome */
	FAULT_BUILD,				/* another build in the welcome */
	FAULT_UID,					/* the peer counts as a stranger */
	FAULT_OOM,					/* the device's memory is full */
	FAULT_STICKY,				/* as after a CUDA error that stays */
	FAULT_SLOW,					/* a pause of arg milliseconds */
	FAULT_NO_CHUNKS				/* no chunk is ever free */
} FaultKind;

/* False: not a valid specification, and *why says so. */
extern bool faults_parse(const char *spec, const char **why);

/* From now on: nothing goes wrong while the service measures itself. */
extern void faults_arm(void);

/*
 * The fault to commit now, if any.  KILL, HANG and SLOW are committed here;
 * HANG returns only when the connection is over.
 */
extern FaultKind faults_at(FaultPoint point, const atomic_int *over);

/* ------------------------------------------------------------------------
 * Chunks (chunks.c)
 * ------------------------------------------------------------------------
 */

/*
 * Whoever may hold chunks: a connection with a job.  wake is an eventfd, which
 * becomes readable when a chunk that was waited for is there.
 */
typedef struct ChunkHolder
{
	int			wake;
	uint32_t	held;
	bool		active;			/* counts in the sharing */
	bool		waiting;		/* in the queue */
	int64_t		given;			/* chunk given while waiting, -1: none */
	unsigned char *seen;		/* chunks that the peer has touched before */
	struct ChunkHolder *next;	/* in the queue */
} ChunkHolder;

typedef struct Chunks
{
	int			fd;				/* the sealed memfd */
	char	   *memory;
	uint64_t	bytes;			/* of a chunk */
	uint32_t	count;
	pthread_mutex_t lock;
	uint32_t   *free;			/* a stack: the last one freed is the warmest */
	uint32_t	nfree;
	uint32_t	active;			/* holders that share */
	ChunkHolder *first;			/* the queue of those who hold none */
	ChunkHolder *last;
} Chunks;

/* Fills text (GPU_TEXT_SIZE) on failure. */
extern bool chunks_create(Chunks *chunks, uint64_t total, uint64_t bytes, char *text);

extern bool chunks_holder_init(Chunks *chunks, ChunkHolder *holder);
extern void chunks_holder_release(Chunks *chunks, ChunkHolder *holder);

/* While active, a holder has its share of the chunks. */
extern void chunks_activate(Chunks *chunks, ChunkHolder *holder, bool active);

/*
 * A chunk if one is free and this holder's share, at most most, allows; else
 * -1.  Never waits, and goes before nobody who does.
 */
extern int64_t chunks_take(Chunks *chunks, ChunkHolder *holder, uint32_t most);

/* Queues for one; holder->wake tells. */
extern void chunks_queue(Chunks *chunks, ChunkHolder *holder);

/* The chunk given meanwhile, or -1. */
extern int64_t chunks_given(Chunks *chunks, ChunkHolder *holder);

/* Leaves the queue, and gives back what came at the last moment. */
extern void chunks_leave(Chunks *chunks, ChunkHolder *holder);

extern void chunks_put(Chunks *chunks, ChunkHolder *holder, uint32_t chunk);

/* Whether somebody waits, or holders are many for the chunks there are. */
extern bool chunks_scarce(Chunks *chunks);

static inline void *
chunks_at(const Chunks *chunks, uint32_t chunk)
{
	return chunks->memory + (size_t) chunk * chunks->bytes;
}

/* ------------------------------------------------------------------------
 * Devices (devices.c)
 * ------------------------------------------------------------------------
 */
typedef struct Device
{
	const Engine *engine;
	void	   *handle;			/* the engine's */
	EngineInfo	info;
	pthread_mutex_t lock;		/* of what follows */
	uint32_t	jobs_running;
	uint64_t	jobs_done;
	bool		failed;
	char		last_error[GPU_TEXT_SIZE];
} Device;

typedef struct Devices
{
	Device	   *list;
	int			count;
	uint64_t	memory_limit;
	SortDeviceCosts costs;
	pthread_mutex_t lock;
	uint32_t	jobs;			/* running on all */
	int64_t		idle_since;		/* ms; when the last one ended */
	atomic_int	lost;			/* a device needs a new process */
	int			wake;			/* eventfd that tells so */
} Devices;

/* Opens what "auto", "cpu" or a list of ordinals says. */
extern int	devices_open(Devices *devices, const char *which, uint64_t memory_limit, char *text);
extern bool devices_pin(Devices *devices, void *memory, size_t bytes, char *text);
extern void devices_close(Devices *devices);

/* The least loaded device, with one more job on it; NULL if all have failed. */
extern Device *devices_take(Devices *devices);

/*
 * The handles of the others that can be used, at most DEVICES_MAX: for a job that
 * its own device alone counts.
 */
#define DEVICES_MAX 64
extern int	devices_others(Devices *devices, const Device *device, void **handles);

/* The job is over; error (may be NULL) is what ended it. */
extern void devices_put(Devices *devices, Device *device, const EngineError *error);

extern void devices_status(Devices *devices, int index, GpuDeviceStatus *status);

/* Milliseconds without any job; 0 while there is one. */
extern int64_t devices_idle_ms(Devices *devices);
extern void devices_trim(Devices *devices);

/* One line a device on stdout; the exit code. */
extern int	devices_probe(void);

extern int64_t clock_ms(void);
extern double clock_ns(void);

/* ------------------------------------------------------------------------
 * Connections (greeting.c, then connection.c)
 * ------------------------------------------------------------------------
 */

/* Connections that have not said anything yet; the main thread's. */
typedef struct Greetings
{
	struct Silent *first;		/* the oldest */
	struct Silent **end;
	uint32_t	count;
	uint64_t	last_id;
	int64_t		complained;		/* ms; when the log last said that they are too many */
} Greetings;

typedef struct Service
{
	Devices		devices;
	Chunks		chunks;
	Greetings	greetings;
	pthread_mutex_t lock;		/* of the connections */
	pthread_cond_t ended;		/* one of them did; on the monotonic clock */
	struct Connection *connections;
	uint32_t	nconnections;
	uint64_t	last_id;
	int			epoll;
} Service;

/* All but devices and chunks; false, with errno, if that is not possible. */
extern bool service_init(Service *service);

/* What epoll says of a silent connection is numbered from here, of others from 1. */
#define GREETING_FIRST_ID (UINT64_C(1) << 62)

extern void greetings_init(Greetings *g);

/* Takes over fd, until a message has come. */
extern void greeting_await(Service *service, int fd);

/* Something has happened to that one. */
extern void greeting_look(Service *service, uint64_t id);

/* Closes those whose time is over; milliseconds until that of the next, -1: none. */
extern int64_t greetings_expire(Service *service);

/* Why a connection must end; in the order of what overrides what. */
enum
{
	CONNECTION_ALIVE = 0,
	CONNECTION_GONE,			/* the peer hung up */
	CONNECTION_STOP,			/* the service ends */
	CONNECTION_DEVICE_LOST		/* ... because its device is lost */
};

/* Takes over fd.  False: no memory, no thread; fd is closed. */
extern bool connection_start(Service *service, int fd);

/* The peer of the connection with that id hung up. */
extern void connection_gone(Service *service, uint64_t id);

/* Ends all, and waits for their threads, at most some milliseconds. */
extern bool connections_end(Service *service, int why, int timeout_ms);

/* Measures what work costs (costs.c); once, before anybody is served. */
extern void costs_measure(Service *service);

#endif							/* HPSORT_GPUD_GPUD_H */
