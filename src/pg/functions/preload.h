/*
 * preload.h
 *		Whether hpsort's library is there when a session's first query is planned.
 *
 * Three settings list libraries that are loaded before that: shared_preload_libraries
 * with the server, session_preload_libraries and local_preload_libraries with the
 * session.  Otherwise the first call of one of hpsort's functions loads the library,
 * after the query with that call has been planned.
 */
#ifndef HPSORT_PG_FUNCTIONS_PRELOAD_H
#define HPSORT_PG_FUNCTIONS_PRELOAD_H

#include "postgres.h"

/* Called once, when the library is loaded. */
extern void preload_init(void);

#endif							/* HPSORT_PG_FUNCTIONS_PRELOAD_H */
