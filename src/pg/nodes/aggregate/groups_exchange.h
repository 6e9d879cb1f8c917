/*
 * groups_exchange.h
 *		What a process knows of its groups, as bytes for another process of the same
 *		query.
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_GROUPS_EXCHANGE_H
#define HPSORT_PG_NODES_AGGREGATE_GROUPS_EXCHANGE_H

#include "postgres.h"

#include "pg/nodes/aggregate/aggregation.h"
#include "pg/nodes/aggregate/derived.h"

typedef struct GroupsSender GroupsSender;
typedef struct GroupsReceiver GroupsReceiver;

/*
 * Makes a sender of an opened aggregation in the current memory context.  group_derived
 * and source_derived say which groups and sources have the values of derived columns,
 * others have NULL there.
 */
extern GroupsSender *groups_sender_make(Aggregation *aggregation, int ngroups,
										const ValueSource *sources, int nsources,
										DerivedColumn *const *group_derived,
										DerivedColumn *const *source_derived);

/*
 * The next bytes, a bytea that is valid until the next call; false at the end.  Adds the
 * groups that begin in them to *groups.
 */
extern bool groups_send(GroupsSender *sender, Datum *bytes, int64 *groups);

/* Makes a receiver into an aggregation, in the current memory context. */
extern GroupsReceiver *groups_receiver_make(Aggregation *aggregation, int ngroups, int nsources,
											DerivedColumn *const *group_derived,
											DerivedColumn *const *source_derived);

/* Adds what bytes of a sender say. */
extern void groups_receive(GroupsReceiver *receiver, const bytea *bytes);

#endif							/* HPSORT_PG_NODES_AGGREGATE_GROUPS_EXCHANGE_H */
