/*
 * greeting.c
 *		Connections that have not said anything yet (see greeting.h).
 *
 * A client sends its HELLO right after it has connected.  Until a whole message
 * is there a connection has no thread.  It is closed when none comes in time; when
 * there are too many silent connections, the oldest one is.  So a flood of them
 * leaves descriptors and threads for clients that greet.  Whatever is sent first
 * is for connection.c to answer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gpud/greeting.h"
#include "gpud/log.h"
#include "sort/clock.h"

/* Far longer than a client takes, which greets as soon as it has connected. */
#define GREETING_TIMEOUT_MS 10000

/*
 * The most silent connections, and the most as a part of all descriptors: many more
 * than there can be clients between connecting and sending at any moment.
 */
#define MOST_SILENT 1024
#define SILENT_PART 4

/* How often the log says that there are too many. */
#define COMPLAINT_MS 10000

/* A silent connection.  The list is in the order of arrival, which is that of deadlines. */
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

/*
 * Whether a whole message is there, or what can be none; *over: the peer has hung
 * up without.
 */
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

/* Takes the silent connection that link points to out of the list. */
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

/*
 * Looks whether a silent connection has spoken or is gone.  True: it is no longer in
 * the list.
 */
static bool
look_at(Greetings *g, struct Silent **link)
{
	int			fd = (*link)->fd;
	bool		over;
	bool		spoken = has_spoken(fd, &over);

	if (!spoken && !over)
		return false;
	epoll_ctl(g->service->epoll, EPOLL_CTL_DEL, fd, NULL);
	take_out(g, link);
	if (spoken)
		serve(g->service, fd);
	else
		close(fd);
	return true;
}

/* Closes the oldest one, unless it has spoken at the last moment. */
static void
close_oldest(Greetings *g)
{
	if (look_at(g, &g->first))
		return;
	close(g->first->fd);		/* epoll forgets it, too */
	take_out(g, &g->first);
}

void
greetings_init(Greetings *g, Service *service)
{
	g->service = service;
	g->first = NULL;
	g->end = &g->first;
	g->count = 0;
	g->last_id = GREETING_FIRST_ID;
	g->complained = sort_clock_ms() - COMPLAINT_MS;
}

void
greeting_await(Greetings *g, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET};
	struct Silent *s;
	bool		over;
	bool		spoken = has_spoken(fd, &over);
	uint32_t	most = most_silent();

	if (spoken)
	{
		serve(g->service, fd);
		return;
	}
	if (over)
	{
		close(fd);
		return;
	}
	while (g->count >= most)
	{
		if (sort_clock_ms() - g->complained >= COMPLAINT_MS)
		{
			g->complained = sort_clock_ms();
			log_line(LOG_WARNING, "too many connections that say nothing, closing the oldest");
		}
		close_oldest(g);
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
	s->deadline = sort_clock_ms() + GREETING_TIMEOUT_MS;
	*g->end = s;
	g->end = &s->next;
	g->count++;

	/* epoll also reports what has come since has_spoken. */
	event.data.u64 = s->id;
	if (epoll_ctl(g->service->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
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
greeting_look(Greetings *g, uint64_t id)
{
	struct Silent **link = &g->first;

	while (*link && (*link)->id != id)
		link = &(*link)->next;
	if (*link)
		(void) look_at(g, link);
}

int64_t
greetings_expire(Greetings *g)
{
	int64_t		now = sort_clock_ms();

	while (g->first && g->first->deadline <= now)
		close_oldest(g);
	return g->first ? g->first->deadline - now : -1;
}
