/*
 * compat.h
 *		Differences between PostgreSQL 15 and 18, emulating the newer name.
 *
 * The only file with PG_VERSION_NUM in it.
 */
#ifndef HPSORT_COMPAT_H
#define HPSORT_COMPAT_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/pathnodes.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/wait_event.h"

#if PG_VERSION_NUM < 150000
#error "hpsort needs PostgreSQL 15 or later"
#endif

/* PG 18 shows a module's name and version in pg_get_loaded_modules(). */
#if PG_VERSION_NUM < 180000
#define PG_MODULE_MAGIC_EXT(...) PG_MODULE_MAGIC
#endif

/* PG 18 writes it before the declaration; pg_attribute_noreturn() is gone. */
#ifndef pg_noreturn
#define pg_noreturn __attribute__((noreturn))
#endif

/* PG 17 has transaction_timeout. */
#if PG_VERSION_NUM < 170000
#define TransactionTimeoutPending false
#endif

/* PG 17 names the wait events of extensions. */
static inline uint32
compat_wait_event_extension(const char *name)
{
#if PG_VERSION_NUM >= 170000
	return WaitEventExtensionNew(name);
#else
	(void) name;
	return PG_WAIT_EXTENSION;
#endif
}

/* PG 17 passes the planner's state, and returns a double. */
static inline double
compat_estimate_array_length(PlannerInfo *root, Node *arrayexpr)
{
#if PG_VERSION_NUM >= 170000
	return estimate_array_length(root, arrayexpr);
#else
	(void) root;
	return (double) estimate_array_length(arrayexpr);
#endif
}

/* PG 16 can enlarge a huge chunk without an error when there is no memory. */
static inline void *
compat_repalloc_no_oom(void *pointer, Size size)
{
#if PG_VERSION_NUM >= 160000
	return repalloc_extended(pointer, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
#else
	MemoryContext context = CurrentMemoryContext;
	void	   *volatile result = NULL;

	PG_TRY();
	{
		result = repalloc_huge(pointer, size);
	}
	PG_CATCH();
	{
		/* Out of memory is all that can be wrong; the old chunk is intact. */
		MemoryContextSwitchTo(context);
		FlushErrorState();
	}
	PG_END_TRY();
	return result;
#endif
}

#endif							/* HPSORT_COMPAT_H */
