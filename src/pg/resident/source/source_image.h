/*
 * source_image.h
 *		SourceImage: what a scan wants a resident column read as (ColumnImage), made from extents.
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

typedef struct SourceImage SourceImage;

/*
 * Makes one of a column, in the current memory context.  dictionary is that of the column's
 * numbers, NULL if extents have values.  Values up to so many may be numbered before they are met.
 */
extern SourceImage *source_image_make(const ColumnImage *image, Relation rel, AttrNumber attnum,
									  ColumnDictionary *dictionary, uint32 most_ahead);

/*
 * Begins an extent with numbers up to last, which the dictionary knows.  Returns false if the
 * values have been given up.
 */
extern bool source_image_begin(SourceImage *image, uint32 last);

/* Whether each number up to last stands for the same value in the query's dictionary. */
extern bool source_image_is_number(const SourceImage *image, uint32 last);

/* Returns the batch, without rows, to which rows of extents are added that become images. */
extern ColumnBatch source_image_rows(SourceImage *image);

/*
 * Appends the images of rows of that batch to a batch.  Returns false if the values have been given
 * up; what has been appended is void then.
 */
extern bool source_image_add(SourceImage *image, const ColumnBatch *rows, ColumnBatch *batch);

/*
 * Whether values take memory until the batch has been consumed; and whether they take so much that
 * the batch must have no more rows.
 */
extern bool source_image_fills(const SourceImage *image);
extern bool source_image_is_full(const SourceImage *image);

#endif							/* HPSORT_PG_RESIDENT_SOURCE_SOURCE_IMAGE_H */
