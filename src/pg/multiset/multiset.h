/*
 * multiset.h
 *		What the nodes use of the type int4multiset.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	aggregates.h            the C functions of the aggregates, by which the planner knows them
 *	expanded.h              multisets as expanded objects
 *	value.h                 which types are read as integers, and how
 */
#ifndef HPSORT_PG_MULTISET_MULTISET_H
#define HPSORT_PG_MULTISET_MULTISET_H

#include "postgres.h"

#include "pg/multiset/aggregates.h"
#include "pg/multiset/expanded.h"
#include "pg/multiset/value.h"

#endif							/* HPSORT_PG_MULTISET_MULTISET_H */
