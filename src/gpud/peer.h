/*
 * peer.h
 *		The client at the other end of a connection: the socket to it, and messages
 *		to and from it.
 *
 * Used by the connection's thread; only over is written by other threads.
 * Knows neither jobs nor chunks.
 */
#ifndef HPSORT_GPUD_PEER_H
#define HPSORT_GPUD_PEER_H

#include <stdatomic.h>

#include "gpu/protocol.h"

/* Why a connection ends; of several reasons the last one counts. */
enum
{
	CONNECTION_ALIVE = 0,
	CONNECTION_GONE,			/* the peer hung up */
	CONNECTION_STOP,			/* the service ends */
	CONNECTION_DEVICE_LOST		/* the service ends because its device is lost */
};

typedef struct Peer
{
	int			fd;
	uint64_t	id;				/* the connection's, for the log */
	atomic_int	over;			/* CONNECTION_... */
	GpuInput	in;				/* received and not handled yet */
} Peer;

/*
 * Functions that return bool return false when the connection is over: the
 * thread then leaves everything else, and ends it.
 */

/* Sends a message; waits a while for a peer that does not read. */
extern bool peer_send(Peer *peer, const GpuMessage *message);

/* Sends a message and a descriptor with it; -1: none. */
extern bool peer_send_with(Peer *peer, const GpuMessage *message, int fd);

/* Sends an ERROR that is the end of the connection.  Always false. */
extern bool peer_refuse(Peer *peer, GpuFailure failure, const char *text);

/* Answers a message that breaks the protocol; why is a phrase.  Always false. */
extern bool peer_bad_message(Peer *peer, const char *why);

/* Receives what is there into peer->in. */
extern bool peer_receive(Peer *peer);

/* Whether there is a message, or a part of one, that is not handled yet. */
static inline bool
peer_has_input(const Peer *peer)
{
	return peer->in.at != peer->in.len;
}

/* Whether peer_receive would find something: bytes, or the end. */
extern bool peer_has_sent(const Peer *peer);

#endif							/* HPSORT_GPUD_PEER_H */
