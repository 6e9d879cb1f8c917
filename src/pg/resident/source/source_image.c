/*
 * source_image.c
 *		Images of resident columns (see source_image.h).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/resident/source/source_image.h"

/*
 * A value is numbered before it is met for so many blocks: little beside reading their rows, which
 * then need not be looked at.
 */
#define BLOCKS_PER_VALUE 8

/* Of a column. */
typedef struct SourceImage
{
	MemoryContext memory;
	MemoryContext scratch;		/* of values that are made for the query's dictionary */
	ColumnImage image;
	const SourceColumn *column;
	ColumnDomain domain;		/* of what extents have */
	ColumnDictionary *values;	/* NULL: extents have values */
	ColumnBatch rows;			/* of extents */

	/* of a dictionary, if extents have numbers */
	uint64		generation;		/* of these */
	int32	   *numbers;		/* by these: in the query's dictionary; -1: not met, or refused */
	Size		room;			/* in numbers */
	bool		known;			/* some of them are */
	uint32		nsame;			/* the first ones, which are equal in both */
	uint32		most_ahead;
	bool		ahead;			/* values are numbered before they are met */
} SourceImage;

struct SourceImages
{
	int			nbatches;		/* of the scan */
	ColumnBatch *rows;			/* nbatches */
	SourceImage **images;		/* by batch; NULL where values are wanted */
};

static SourceImage *
make_image(const ColumnImage *wanted, Relation rel, const SourceColumn *column, uint32 most_ahead)
{
	SourceImage *image = palloc0_object(SourceImage);

	image->memory = CurrentMemoryContext;
	image->scratch = AllocSetContextCreate(CurrentMemoryContext, "HpSort Resident Value",
										   ALLOCSET_SMALL_SIZES);
	image->image = *wanted;
	image->column = column;
	image->domain = residency_domain(rel, (AttrNumber) column->reader.key.attnum);
	image->values = column->dictionary;
	image->most_ahead = most_ahead;
	image->ahead = true;
	column_batch_make(&image->rows, column_image_arrays(NULL, image->domain.kind),
					  COLUMN_BATCH_KEYS);
	column_batch_clear(&image->rows);
	return image;
}

SourceImages *
source_images_make(const ColumnScan *scan, const SourceColumn *columns, BlockNumber nblocks)
{
	SourceImages *images;

	if (scan->images == NULL)
		return NULL;
	images = palloc_object(SourceImages);
	images->nbatches = column_scan_nbatches(scan);
	images->rows = palloc0_array(ColumnBatch, images->nbatches);
	images->images = palloc0_array(SourceImage *, images->nbatches);
	for (int c = 0; c < scan->ncolumns; c++)
	{
		const ColumnImage *image = &scan->images[c];

		if (image->make || image->dictionary || image->presence)
			images->images[c] = make_image(image, scan->rel, &columns[c],
										   scan->ordered ? 0 : nblocks / BLOCKS_PER_VALUE);
	}
	return images;
}

/* --- numbers of the query's dictionary */

/* Forgets numbers that are not of the present values, and has room for all of these. */
static void
review_numbers(SourceImage *image)
{
	Size		size = Max(column_dictionary_size(image->values), 1);
	uint64		generation = column_dictionary_generation(image->values);

	/* The query's dictionary has no value again when it has been given up. */
	if (image->known &&
		(generation != image->generation || dictionary_size(image->image.dictionary) == 0))
	{
		memset(image->numbers, 0xff, image->room * sizeof(int32));
		image->known = image->ahead = false;
		image->nsame = 0;
	}
	image->generation = generation;
	if (size <= image->room)
		return;
	size = Max(size, 2 * image->room);
	image->numbers = image->numbers ? repalloc_huge(image->numbers, size * sizeof(int32)) :
		MemoryContextAllocHuge(image->memory, size * sizeof(int32));
	memset(image->numbers + image->room, 0xff, (size - image->room) * sizeof(int32));
	image->room = size;
}

/* Sets *number to that of a value; false if the values have been given up. */
static bool
find_number(SourceImage *image, uint32 shared, int32 *number)
{
	Datum		value;

	if (!column_dictionary_value(image->values, shared, &value))
		return false;
	*number = dictionary_number(image->image.dictionary, value);
	if (*number >= 0)
	{
		image->numbers[shared] = *number;
		image->known = true;
	}
	return true;
}

/* Returns the largest number of the extent begun. */
static uint32
last_number(const SourceImage *image)
{
	const Extent *extent = &image->column->reader.header.extent;

	return (uint32) (extent->base + (int64) extent->top);
}

/* Begins an extent that has numbers, of a dictionary's column. */
static bool
begin_numbers(SourceImage *image)
{
	const Extent *extent = &image->column->reader.header.extent;
	uint32		last = last_number(image);

	review_numbers(image);
	/* resident_valid_know_values() looks for no values of an extent without any. */
	if (extent->nnulls == extent->nrows)
		return true;
	image->ahead = image->ahead && last < image->most_ahead &&
		dictionary_size(image->image.dictionary) == image->nsame;
	while (image->ahead && image->nsame <= last)
	{
		int32		number;

		if (!find_number(image, image->nsame, &number))
			return false;
		/* Otherwise there is no room, equal values have come, or another process has numbered. */
		if (number == (int32) image->nsame)
			image->nsame++;
		else
			image->ahead = false;
	}
	return true;
}

/* Sets to to the numbers of n rows; NULLs become 0.  False if the values have been given up. */
static bool
map_rows(SourceImage *image, const ColumnBatch *rows, int32 *to)
{
	const int32 *from = rows->keys;
	const int32 *numbers;
	int32		unknown = 0;

	review_numbers(image);
	numbers = image->numbers;
	/* A NULL is 0 in from, too. */
	for (size_t i = 0; i < rows->n; i++)
		unknown |= to[i] = numbers[from[i]];
	if (unknown >= 0 && rows->nnulls == 0)
		return true;
	for (size_t i = 0; i < rows->n; i++)
	{
		if (rows->nulls[i])
			to[i] = 0;
		else if (to[i] < 0 && (to[i] = numbers[from[i]]) < 0 &&
				 !find_number(image, (uint32) from[i], &to[i]))
			return false;
	}
	return true;
}

/* --- any image */

/* Sets a row's image: of a value of the extent, as a batch has it. */
static bool
set_image(SourceImage *image, int64 row, const BatchSpace *space, size_t at)
{
	const ColumnImage *made = &image->image;
	MemoryContext old;
	Datum		value;

	if (image->values)
	{
		if (!column_dictionary_value(image->values, (uint32) row, &value))
			return false;
	}
	else
	{
		old = MemoryContextSwitchTo(image->scratch);
		value = column_domain_datum(&image->domain, row + column_kind_bias(image->domain.kind));
		MemoryContextSwitchTo(old);
	}
	if (made->make)
		space->wide[at] = made->make(made->arg, value);
	else
		space->keys[at] = dictionary_number(made->dictionary, value);
	return true;
}

/* Sets the images of rows that are not NULL, one by one. */
static bool
set_images(SourceImage *image, const ColumnBatch *rows, const BatchSpace *space)
{
	bool		made = true;

	for (size_t i = 0; i < rows->n && made; i++)
	{
		if (!rows->nulls[i])
			made = set_image(image, column_batch_value(rows, i), space, i);
		else
			batch_space_set(space, i, 0);
	}
	MemoryContextReset(image->scratch);
	return made;
}

/* Appends the images of rows to a batch; false if the values have been given up. */
static bool
add_images(SourceImage *image, const ColumnBatch *rows, ColumnBatch *batch)
{
	BatchSpace	space = column_batch_space(batch, rows->n);

	if (image->image.presence)
		memset(space.keys, 0, rows->n * sizeof(int32));
	else if (image->image.dictionary && image->values)
	{
		if (!map_rows(image, rows, space.keys))
			return false;
	}
	else if (!set_images(image, rows, &space))
		return false;
	memcpy(space.nulls, rows->nulls, rows->n);
	column_batch_add(batch, rows->n, (size_t) rows->nnulls);
	return true;
}

/* --- all images */

bool
source_images_begin(SourceImages *images)
{
	for (int b = 0; b < images->nbatches; b++)
	{
		SourceImage *image = images->images[b];

		if (image && image->values && image->image.dictionary && !begin_numbers(image))
			return false;
	}
	return true;
}

bool
source_images_are_numbers(const SourceImages *images)
{
	const SourceImage *image = images->images[0];

	return image == NULL || (image->nsame > 0 && last_number(image) < image->nsame);
}

ColumnBatch *
source_images_rows(SourceImages *images, const ColumnBatch *batches)
{
	for (int b = 0; b < images->nbatches; b++)
	{
		SourceImage *image = images->images[b];

		/* Often a block's rows only: marks of NULLs are zeros where there were none. */
		if (image && images->rows[b].nnulls > 0)
			column_batch_clear(&image->rows);
		images->rows[b] = image ? image->rows : batches[b];
	}
	return images->rows;
}

bool
source_images_add(SourceImages *images, ColumnBatch *batches)
{
	for (int b = 0; b < images->nbatches; b++)
	{
		if (images->images[b] == NULL)
			batches[b] = images->rows[b];
		else if (!add_images(images->images[b], &images->rows[b], &batches[b]))
			return false;
	}
	return true;
}

bool
source_images_fill(const SourceImages *images)
{
	for (int b = 0; b < images->nbatches; b++)
	{
		const SourceImage *image = images->images[b];

		if (image && (image->image.make || (image->image.dictionary &&
											dictionary_nrefused(image->image.dictionary) > 0)))
			return true;
	}
	return false;
}

bool
source_images_are_full(const SourceImages *images)
{
	for (int b = 0; b < images->nbatches; b++)
	{
		const ColumnImage *image = images->images[b] ? &images->images[b]->image : NULL;

		if (image && (image->is_full ? image->is_full(image->arg) :
					  image->dictionary && dictionary_ends_batch(image->dictionary)))
			return true;
	}
	return false;
}
