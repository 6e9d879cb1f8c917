/*
 * source.h
 *		Resident columns as a source of batches, beside the pages of blocks that are not resident.
 *
 * Other rooms include this header, and no other of this room:
 *
 *	fill.h                  making the missing extents of a table's columns
 *	resident_check.h        comparing extents with pages
 *	resident_estimate.h     what the planner expects of a table's resident columns
 *	resident_size.h         what memory columns would take
 *	resident_scans.h        several scans whose resident rows a GPU answers together
 *	resident_source.h       batches of resident columns
 */
#ifndef HPSORT_PG_RESIDENT_SOURCE_SOURCE_H
#define HPSORT_PG_RESIDENT_SOURCE_SOURCE_H

#include "postgres.h"

#include "pg/resident/source/fill.h"
#include "pg/resident/source/resident_check.h"
#include "pg/resident/source/resident_estimate.h"
#include "pg/resident/source/resident_size.h"
#include "pg/resident/source/resident_scans.h"
#include "pg/resident/source/resident_source.h"

#endif							/* HPSORT_PG_RESIDENT_SOURCE_SOURCE_H */
