/*
 * greeting.c
 *		Connections that have not greeted yet, which cost the service a descriptor
 *		each and nothing else.
 *
 * Whoever is a client sends its HELLO right after it has connected.  Until a whole
 * message is there a connection has no thread; it is closed when none comes in
 * time, and the oldest one is when there are too many.  So a flood of silent
 * connections leaves descriptors and threads for those that greet, and whatever
 * they send first is for connection.c to answer.
 *
 * Runs in the main thread only.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gpud/gpud.h"

/* Nobody needs longer; a client gives up sooner. */
#define GREETING_TIMEOUT_MS 10000

/*
 * Silent connections at most, and at most this part of all descriptors.  Many more
 * than clients can be between connecting and sending at the same moment.
 */
#define MOST_SILENT 1024
#define SILENT_PART 4

/* How often it is worth a line in the log that there are too many. */
#define COMPLAINT_MS 10000

/* In the order of their coming, which is that of their deadlines. */
struct Silent
{
	struct Silent *next;
	uint64_t	id;
	int			fd;
	int64_t		deadline;
};

static uint32_t
most_silent(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / SILENT_PART > MOST_SILENT)
		return MOST_SILENT;
	return limit.rlim_cur < SILENT_PART ? 1 : (uint32_t) limit.rlim_cur / SILENT_PART;
}

/* Whether a message is there, right or wrong; *over: the peer has hung up without. */
static bool
has_spoken(int fd, bool *over)
{
	GpuInput	in = {0};
	GpuMessage	message;
	const char *why;
	ssize_t		n = recv(fd, in.bytes, sizeof(GpuHeader) + sizeof(GpuHello),
						 MSG_PEEK | MSG_DONTWAIT);

	*over = n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
	if (n <= 0)
		return false;
	in.len = (size_t) n;
	return gpu_input_next(&in, GPU_FROM_CLIENT, 0, 0, &message, &why) != GPU_PARSE_MORE;
}

static void
serve(Service *service, int fd)
{
	if (!connection_start(service, fd))
		log_line(LOG_WARNING, "could not serve a connection: no memory or descriptors");
}

/* Takes one out of the list; link points to it. */
static void
take_out(Greetings *g, struct Silent **link)
{
	struct Silent *s = *link;

	*link = s->next;
	if (g->end == &s->next)
		g->end = link;
	g->count--;
	free(s);
}

/* Looks at one: it may have spoken, or be gone. True: it is no longer in the list. */
static bool
look_at(Service *service, struct Silent **link)
{
	int			fd = (*link)->fd;
	bool		over;
	bool		spoken = has_spoken(fd, &over);

	if (!spoken && !over)
		return false;
	epoll_ctl(service->epoll, EPOLL_CTL_DEL, fd, NULL);
	take_out(&service->greetings, link);
	if (spoken)
		serve(service, fd);
	else
		close(fd);
	return true;
}

/* Closes the oldest one, unless it has spoken at the last moment. */
static void
close_oldest(Service *service)
{
	Greetings  *g = &service->greetings;

	if (look_at(service, &g->first))
		return;
	close(g->first->fd);		/* which is the end of watching it, too */
	take_out(g, &g->first);
}

void
greetings_init(Greetings *g)
{
	g->first = NULL;
	g->end = &g->first;
	g->count = 0;
	g->last_id = GREETING_FIRST_ID;
	g->complained = clock_ms() - COMPLAINT_MS;
}

void
greeting_await(Service *service, int fd)
{
	Greetings  *g = &service->greetings;
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET};
	struct Silent *s;
	bool		over;
	bool		spoken = has_spoken(fd, &over);
	uint32_t	most = most_silent();

	if (spoken)
	{
		serve(service, fd);
		return;
	}
	if (over)
	{
		close(fd);
		return;
	}
	while (g->count >= most)
	{
		if (clock_ms() - g->complained >= COMPLAINT_MS)
		{
			g->complained = clock_ms();
			log_line(LOG_WARNING, "too many connections that say nothing, closing the oldest");
		}
		close_oldest(service);
	}
	s = malloc(sizeof(*s));
	if (s == NULL)
	{
		close(fd);
		return;
	}
	s->next = NULL;
	s->id = g->last_id++;
	s->fd = fd;
	s->deadline = clock_ms() + GREETING_TIMEOUT_MS;
	*g->end = s;
	g->end = &s->next;
	g->count++;

	/* What has come meanwhile is reported, too. */
	event.data.u64 = s->id;
	if (epoll_ctl(service->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
	{
		struct Silent **link = &g->first;

		log_line(LOG_WARNING, "could not watch a connection: no memory");
		while (*link != s)
			link = &(*link)->next;
		take_out(g, link);
		close(fd);
	}
}

void
greeting_look(Service *service, uint64_t id)
{
	struct Silent **link = &service->greetings.first;

	while (*link && (*link)->id != id)
		link = &(*link)->next;
	if (*link)
		(void) look_at(service, link);
}

int64_t
greetings_expire(Service *service)
{
	Greetings  *g = &service->greetings;
	int64_t		now = clock_ms();

	while (g->first && g->first->deadline <= now)
		close_oldest(service);
	return g->first ? g->first->deadline - now : -1;
}
