/*
 * datum_buffer.h
 *		DatumBuffer: copies of a column's values of any type, of the rows of a batch.
 *
 * Values lie in pages, which a scan does not keep pinned.  A batch has the address of each copy, or
 * the Datum itself where the type is passed by value.
 */
#ifndef HPSORT_PG_VALUES_DATUM_BUFFER_H
#define HPSORT_PG_VALUES_DATUM_BUFFER_H

typedef struct DatumBuffer DatumBuffer;

/* Makes a buffer for a type other than cstring's, in the current memory context. */
extern DatumBuffer *datum_buffer_make(Oid type);

/* Sets how many bytes of values are enough for a batch. */
extern void datum_buffer_limit(DatumBuffer *buffer, size_t limit);

/*
 * Copies a value, out of line and compressed as it is, and returns what a batch has of it, valid
 * until datum_buffer_empty.  A ColumnImage's make.
 */
extern int64 datum_buffer_put(void *buffer, Datum value);

/* Whether the values are as many bytes as the limit allows.  A ColumnImage's is_full. */
extern bool datum_buffer_is_full(const void *buffer);

/* Forgets all values; keeps memory for as many. */
extern void datum_buffer_empty(DatumBuffer *buffer);

/*
 * Returns the bytes of what a batch has, as they can be kept in a file: datum_buffer_restore makes
 * the Datum of a copy of them, which must be aligned as MAXALIGN does.
 */
extern const char *datum_buffer_bytes(const DatumBuffer *buffer, const int64 *value,
									  size_t *length);
extern Datum datum_buffer_restore(const DatumBuffer *buffer, const char *bytes);

/* Returns the bytes that are held. */
extern size_t datum_buffer_memory(const DatumBuffer *buffer);

#endif							/* HPSORT_PG_VALUES_DATUM_BUFFER_H */
