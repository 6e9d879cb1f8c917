/*
 * hpsort.c
 *		The module: what PostgreSQL calls when it loads hpsort.
 */
#include "postgres.h"

#include "compat.h"
#include "fmgr.h"
#include "gather.h"
#include "miscadmin.h"
#include "order_planner.h"
#include "service_state.h"
#include "settings.h"
#include "supervisor.h"

PG_MODULE_MAGIC_EXT(.name = "hpsort", .version = "1.0");

void		_PG_init(void);

void
_PG_init(void)
{
	order_planner_init();
	settings_define();

	/* pg_upgrade's servers run nothing that is not asked for. */
	if (process_shared_preload_libraries_in_progress && !IsBinaryUpgrade)
	{
		service_state_preload();
		if (hpsort_gpu)
			supervisor_register();
	}

	gather_install();
}
