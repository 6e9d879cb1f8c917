/*
 * saved_extents.h
 *		Extents in a file, from which the next server takes them back.
 *
 * docs/internals/resident.md has the rule by which the next server trusts the file, and why.
 */
#ifndef HPSORT_PG_RESIDENT_MEMORY_SAVED_EXTENTS_H
#define HPSORT_PG_RESIDENT_MEMORY_SAVED_EXTENTS_H

/*
 * Called while the server starts with hpsort preloaded: finds out whether the file is to be
 * trusted, and removes it if not.  The worker that allocates memory will write it.
 */
extern void saved_extents_preload(void);

/* For the first worker that fills: takes back what there is memory for. */
extern void saved_extents_read(void);

#endif							/* HPSORT_PG_RESIDENT_MEMORY_SAVED_EXTENTS_H */
