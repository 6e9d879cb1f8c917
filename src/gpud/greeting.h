/*
 * greeting.h
 *		Connections that have not said anything yet, which cost the service a
 *		descriptor each and nothing else.
 *
 * Used by the main thread only.
 */
#ifndef HPSORT_GPUD_GREETING_H
#define HPSORT_GPUD_GREETING_H

#include "gpud/connection.h"

/* epoll knows silent connections by numbers from here on, others by their id from 1. */
#define GREETING_FIRST_ID (UINT64_C(1) << 62)

typedef struct Greetings
{
	Service    *service;		/* serves connections that have greeted */
	struct Silent *first;		/* the oldest */
	struct Silent **end;
	uint32_t	count;
	uint64_t	last_id;
	int64_t		complained;		/* ms; when the log last said that there are too many */
} Greetings;

extern void greetings_init(Greetings *g, Service *service);

/* Takes over fd: starts a connection once a message has come, or closes it. */
extern void greeting_await(Greetings *g, int fd);

/* epoll has reported the silent connection with that number. */
extern void greeting_look(Greetings *g, uint64_t id);

/* Closes connections whose time is over; milliseconds until the next one's is, -1: none. */
extern int64_t greetings_expire(Greetings *g);

#endif							/* HPSORT_GPUD_GREETING_H */
