/*
 * store.h
 *		Rows and their keys: in memory, in order, and in a temporary file.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	abbreviation.h          abbreviated keys of long values
 *	bound.h                 the first rows of all
 *	external_sort.h         rows beyond work_mem
 *	group_bound.h           the first rows of each group
 *	key_numbers.h           numbers of values that repeat, and their ranks
 *	keys.h                  sort keys: which types are mapped, and how
 *	row.h                   a row and its mapped keys
 *	row_store.h             rows in memory, their keys beside them
 *	sort.h                  sorting rows in memory
 *	tape.h                  rows in order in a temporary file
 */
#ifndef HPSORT_PG_NODES_SORT_STORE_STORE_H
#define HPSORT_PG_NODES_SORT_STORE_STORE_H

#include "pg/nodes/sort/store/abbreviation.h"
#include "pg/nodes/sort/store/bound.h"
#include "pg/nodes/sort/store/external_sort.h"
#include "pg/nodes/sort/store/group_bound.h"
#include "pg/nodes/sort/store/key_numbers.h"
#include "pg/nodes/sort/store/keys.h"
#include "pg/nodes/sort/store/row.h"
#include "pg/nodes/sort/store/row_store.h"
#include "pg/nodes/sort/store/sort.h"
#include "pg/nodes/sort/store/tape.h"

#endif							/* HPSORT_PG_NODES_SORT_STORE_STORE_H */
