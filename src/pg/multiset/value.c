/*
 * value.c
 *		int4multiset as a datum (see value.h).
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/multiset/value.h"

/*
 * The smallest value that is read by slices.  A slice costs a scan of the TOAST table's index,
 * which takes as long as reading some 8 chunks.
 */
#define SLICED_MIN ((Size) 8 * TOAST_MAX_CHUNK_SIZE)

/* Opens the multiset of these bytes.  Bytes that begin as no multiset does are an error. */
static void
open_bytes(Multiset *m, const MultisetBytes *bytes)
{
	SortError	err;

	pg_sort_check(multiset_open(m, bytes, &err), &err);
}

const bytea *
multiset_value_open(Datum datum, Multiset *m)
{
	/* Detoasting flattens an expanded value, too. */
	const bytea *value = PG_DETOAST_DATUM_PACKED(datum);
	MultisetBytes bytes = {0};

	bytes.data = (const unsigned char *) VARDATA_ANY(value);
	bytes.size = VARSIZE_ANY_EXHDR(value);
	open_bytes(m, &bytes);
	return value;
}

void
multiset_reader_open(MultisetReader *reader, Datum datum)
{
	reader->datum = datum;
	reader->value = multiset_value_open(datum, &reader->m);
	reader->next = reader->at = reader->block.n = 0;
}

void
multiset_reader_close(MultisetReader *reader)
{
	multiset_value_close(reader->datum, reader->value);
}

bool
multiset_reader_next(MultisetReader *reader)
{
	SortError	err;

	CHECK_FOR_INTERRUPTS();
	reader->at = 0;
	if (reader->next == reader->m.nblocks)
	{
		reader->block.n = 0;
		return false;
	}
	pg_sort_check(multiset_read_block(&reader->m, reader->next++, &reader->block, &err), &err);
	return true;
}

/*
 * MultisetBytes.slice: returns n bytes of the value from an offset on, valid until the next
 * call.
 */
static const unsigned char *
read_slice(void *arg, size_t from, size_t n)
{
	MultisetSlices *slices = (MultisetSlices *) arg;

	if (slices->slice == NULL || from < slices->from || from + n > slices->from + slices->n)
	{
		size_t		begin = from / TOAST_MAX_CHUNK_SIZE * TOAST_MAX_CHUNK_SIZE;
		size_t		end = (from + n + TOAST_MAX_CHUNK_SIZE -
						   1) / TOAST_MAX_CHUNK_SIZE * TOAST_MAX_CHUNK_SIZE;

		end = Min(end, slices->m.bytes.size);
		if (slices->slice != NULL)
			pfree(slices->slice);
		slices->slice = (bytea *) PG_DETOAST_DATUM_SLICE(slices->stored, begin, end - begin);
		slices->from = begin;
		slices->n = VARSIZE_ANY_EXHDR(slices->slice);
		if (from + n > slices->from + slices->n)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("multiset is corrupt: too short")));
	}
	return (const unsigned char *) VARDATA_ANY(slices->slice) + (from - slices->from);
}

/*
 * Only a value that is stored out of line and uncompressed can be read in part; a compressed one
 * would have to be decompressed from its begin for each slice.
 */
void
multiset_value_open_sliced(Datum datum, MultisetSlices *slices)
{
	struct varatt_external toast;
	MultisetBytes bytes = {0};

	if (VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(datum)))
	{
		VARATT_EXTERNAL_GET_POINTER(toast, DatumGetPointer(datum));
		if (!VARATT_EXTERNAL_IS_COMPRESSED(toast) &&
			VARATT_EXTERNAL_GET_EXTSIZE(toast) > SLICED_MIN)
		{
			slices->stored = datum;
			slices->slice = NULL;
			/* Until the multiset is open, read_slice() has the size from here. */
			slices->m.bytes.size = VARATT_EXTERNAL_GET_EXTSIZE(toast);
			bytes.size = slices->m.bytes.size;
			bytes.slice = read_slice;
			bytes.arg = slices;
			open_bytes(&slices->m, &bytes);
			return;
		}
	}
	multiset_value_open(datum, &slices->m);
}

void
multiset_bigint_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("bigint out of range")));
}

void
multiset_fewer_error(uint64 count, int32 key)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("multiset has fewer than %llu of key %d", (unsigned long long) count, key)));
}

/*
 * Raises an error if a value cannot hold size bytes and its header; the index for the blocks is
 * left aside.
 */
static void
check_size(const MultisetWriter *writer, Size size)
{
	if (size > MaxAllocSize - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("multiset exceeds the maximum size of %d bytes",
						(int) (MaxAllocSize - VARHDRSZ)),
				 errdetail("It has at least %u distinct keys.", writer->len)));
}

void
multiset_builder_begin(MultisetBuilder *builder)
{
	pg_sort_context(&builder->context, CurrentMemoryContext);
	multiset_writer_init(&builder->writer, &builder->context.allocator);
}

/* Raises the error of a status other than SORT_OK that a function of the writer returned. */
static void
check_writer(const MultisetBuilder *builder, SortStatus status, const SortError *err)
{
	check_size(&builder->writer, builder->writer.blocks_size);
	if (status == SORT_LIMIT_EXCEEDED)
		multiset_bigint_error();
	pg_sort_check(status, err);
}

void
multiset_builder_add(MultisetBuilder *builder, const int32 *keys, const uint64 *counts, size_t n)
{
	SortError	err;

	CHECK_FOR_INTERRUPTS();
	check_writer(builder, multiset_writer_add(&builder->writer, keys, counts, n, &err), &err);
}

bytea *
multiset_builder_end(MultisetBuilder *builder)
{
	SortError	err;
	size_t		size;
	bytea	   *value;

	check_writer(builder, multiset_writer_size(&builder->writer, &size, &err), &err);
	check_size(&builder->writer, size);
	value = (bytea *) palloc(VARHDRSZ + size);
	SET_VARSIZE(value, VARHDRSZ + size);
	multiset_writer_write(&builder->writer, VARDATA(value));
	multiset_writer_release(&builder->writer);
	return value;
}
