/*
 * hpsort.c
 *		The module: what PostgreSQL calls when it loads hpsort.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "pg/compat.h"
#include "pg/functions/functions.h"
#include "pg/gpu/gpu.h"
#include "pg/guc.h"
#include "pg/last_sort.h"
#include "pg/nodes/hooks.h"
#include "pg/resident/memory/memory.h"

PG_MODULE_MAGIC_EXT(.name = "hpsort",.version = HPSORT_VERSION);

void		_PG_init(void);

void
_PG_init(void)
{
	preload_init();
	guc_define();
	gpu_backend_install();

	/* The servers that pg_upgrade starts run nothing that is not asked for. */
	if (process_shared_preload_libraries_in_progress && !IsBinaryUpgrade)
	{
		service_state_preload();
		resident_worker_preload();
		saved_extents_preload();
		if (hpsort_gpu)
			supervisor_register();
	}

	resident_init();
	nodes_init();
	last_sort_init();
}
