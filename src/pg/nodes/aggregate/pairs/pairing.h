/*
 * pairing.h
 *		Pairs of group and value, in order, and the segments in which they are stored and exchanged.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	pairs.h                 pairs of group and value, in order
 *	segments.h              sorted runs of codes in blocks, and their merge
 */
#ifndef HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIRING_H
#define HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIRING_H

#include "postgres.h"

#include "pg/nodes/aggregate/pairs/pairs.h"
#include "pg/nodes/aggregate/pairs/segments.h"

#endif							/* HPSORT_PG_NODES_AGGREGATE_PAIRS_PAIRING_H */
