/*
 * memory.h
 *		Resident columns in shared memory: which there are, where their extents lie, and the worker
 *		that allocates memory for them.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	buffer_notes.h          where blocks of tables were found
 *	column_values.h         values of which extents have numbers
 *	fill_request.h          asking for the workers that fill extents
 *	kept.h                  which columns were declared resident
 *	resident.h              extents by table, column and block
 *	saved_extents.h         extents that outlive a clean shutdown
 *	worker.h                the background worker
 */
#ifndef HPSORT_PG_RESIDENT_MEMORY_MEMORY_H
#define HPSORT_PG_RESIDENT_MEMORY_MEMORY_H

#include "pg/resident/memory/buffer_notes.h"
#include "pg/resident/memory/column_values.h"
#include "pg/resident/memory/fill_request.h"
#include "pg/resident/memory/kept.h"
#include "pg/resident/memory/resident.h"
#include "pg/resident/memory/saved_extents.h"
#include "pg/resident/memory/worker.h"

#endif							/* HPSORT_PG_RESIDENT_MEMORY_MEMORY_H */
