/*
 * pages.h
 *		Heap pages: the only room that knows heapam's formats.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	heap_format.h           heapam's structures and rules
 *	row.h                   values of a row where they lie on its page
 *	row_fetch.h             rows by their places, in any order
 *	row_filter.h            conditions of columns for the rows of a page
 */
#ifndef HPSORT_PG_PAGES_PAGES_H
#define HPSORT_PG_PAGES_PAGES_H

#include "pg/pages/heap_format.h"
#include "pg/pages/row.h"
#include "pg/pages/row_fetch.h"
#include "pg/pages/row_filter.h"

#endif							/* HPSORT_PG_PAGES_PAGES_H */
