/*
 * buffer_notes.h
 *		Notes of the buffers in which blocks of tables with resident columns were last found.
 *
 * With hpsort in shared_preload_libraries all processes share them, so that a new session finds
 * what others have noted.  A note may be wrong about anything: it may be another block's, and
 * another block may be in the buffer.  So nobody waits for anybody to write one.
 */
#ifndef HPSORT_PG_RESIDENT_MEMORY_BUFFER_NOTES_H
#define HPSORT_PG_RESIDENT_MEMORY_BUFFER_NOTES_H

#include "postgres.h"

#include "port/atomics.h"
#include "storage/block.h"
#include "storage/buf.h"

/* The notes as those of one file. */
typedef struct BufferNotes
{
	pg_atomic_uint32 *notes;	/* mask + 1, of blocks in their order */
	uint32		mask;
	uint32		start;			/* where block 0 has its note */
} BufferNotes;

/* Called while the server starts with hpsort preloaded. */
extern void buffer_notes_preload(void);

/* Returns the notes of a table's file of that number. */
extern BufferNotes buffer_notes_of(uint32 file);

static inline pg_atomic_uint32 *
buffer_notes_place(const BufferNotes *notes, BlockNumber block)
{
	return &notes->notes[(notes->start + block) & notes->mask];
}

/* Returns the buffer where a block may be, InvalidBuffer if none is noted. */
static inline Buffer
buffer_notes_get(const BufferNotes *notes, BlockNumber block)
{
	return (Buffer) pg_atomic_read_u32(buffer_notes_place(notes, block));
}

static inline void
buffer_notes_set(const BufferNotes *notes, BlockNumber block, Buffer buffer)
{
	pg_atomic_write_u32(buffer_notes_place(notes, block), (uint32) buffer);
}

#endif							/* HPSORT_PG_RESIDENT_MEMORY_BUFFER_NOTES_H */
