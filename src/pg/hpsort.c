/*
 * hpsort.c
 *		The module: what PostgreSQL calls when it loads hpsort.
 */
#include "postgres.h"

#include "compat.h"
#include "fmgr.h"
#include "order_planner.h"
#include "settings.h"

PG_MODULE_MAGIC_EXT(.name = "hpsort", .version = "1.0");

void		_PG_init(void);

void
_PG_init(void)
{
	order_planner_init();
	settings_define();
}
