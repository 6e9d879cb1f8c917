/*
 * source_image.h
 *		SourceImages: what a scan wants resident columns read as (ColumnImage), made from extents.
 *
 * Numbers of values in shared memory become numbers of the query's dictionary by an array: each
 * value is looked for there once, when it is first met.
 *
 * For resident_source.c alone.
 */
#ifndef HPSORT_PG_RESIDENT_SOURCE_SOURCE_IMAGE_H
#define HPSORT_PG_RESIDENT_SOURCE_SOURCE_IMAGE_H

#include "postgres.h"

#include "pg/resident/extents/extents.h"
#include "pg/values/values.h"

typedef struct SourceImages SourceImages;

/*
 * Makes the images of a scan's columns, which are the first ones of columns, in the current memory
 * context; NULL if the scan wants values only.  The table has nblocks.
 */
extern SourceImages *source_images_make(const ColumnScan *scan, const SourceColumn *columns,
										BlockNumber nblocks);

/* Begins an extent whose values are known.  Returns false if they have been given up. */
extern bool source_images_begin(SourceImages *images);

/*
 * Whether each number of the extent of the only column stands for the same value in the query's
 * dictionary.
 */
extern bool source_images_are_numbers(const SourceImages *images);

/* Returns the batches, beside the scan's, to which rows of extents are added. */
extern ColumnBatch *source_images_rows(SourceImages *images, const ColumnBatch *batches);

/*
 * Appends what these rows become to the scan's batches.  Returns false if values have been given
 * up; what has been appended is void then.
 */
extern bool source_images_add(SourceImages *images, ColumnBatch *batches);

/*
 * Whether values take memory until the batch has been consumed; and whether they take so much that
 * the batch must have no more rows.
 */
extern bool source_images_fill(const SourceImages *images);
extern bool source_images_are_full(const SourceImages *images);

#endif							/* HPSORT_PG_RESIDENT_SOURCE_SOURCE_IMAGE_H */
