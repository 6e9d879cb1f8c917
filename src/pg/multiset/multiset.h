/*
 * multiset.h
 *		What the nodes use of the type int4multiset.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	expanded.h              multisets as expanded objects, and the functions of their aggregate
 *	value.h                 which types are read as integers, and how
 */
#ifndef HPSORT_PG_MULTISET_MULTISET_H
#define HPSORT_PG_MULTISET_MULTISET_H

#include "pg/multiset/expanded.h"
#include "pg/multiset/value.h"

#endif							/* HPSORT_PG_MULTISET_MULTISET_H */
