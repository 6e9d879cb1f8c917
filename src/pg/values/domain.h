/*
 * domain.h
 *		ColumnDomain: what the integers of a batch stand for.
 */
#ifndef HPSORT_PG_VALUES_DOMAIN_H
#define HPSORT_PG_VALUES_DOMAIN_H

#include "pg/enum_labels.h"
#include "pg/values/dictionary.h"
#include "pg/values/dictionary_order.h"
#include "pg/values/numeric_unit.h"
#include "pg/values/value.h"

/* The pointers are the owner's of the batch; what they point to is of an execution. */
typedef struct ColumnDomain
{
	ColumnKind	kind;			/* of the integers, which are values of this kind, unless they
								 * are: */
	NumericUnit unit;			/* of COLUMN_KIND_NUMERIC */
	EnumLabels *labels;			/* ranks of an enum's labels; or NULL */
	Dictionary *dictionary;		/* numbers of values, which may be negative; or NULL */
	const DictionaryOrder *order;	/* ranks of values, in place of numbers; or NULL */
	bool		datums;			/* Datums, of the dictionary's type if there is one */
} ColumnDomain;

/* Returns the domain of the values of a column, by its type and typmod. */
static inline ColumnDomain
column_domain(Oid type, int32 typmod)
{
	ColumnDomain domain = {.kind = column_value_kind(type, typmod)};

	if (domain.kind == COLUMN_KIND_NUMERIC)
		numeric_unit_find(type, typmod, &domain.unit);
	return domain;
}

/*
 * Returns the Datum that an integer stands for, which belongs to labels or dictionary, or is the
 * integer itself; that of a numeric is in the current memory context.
 */
static inline Datum
column_domain_datum(const ColumnDomain *domain, int64 value)
{
	if (domain->datums)
		return (Datum) value;
	if (domain->order)
		return dictionary_order_value(domain->order, (uint32) value);
	if (domain->dictionary)
		return dictionary_value(domain->dictionary, (uint32) value);
	if (domain->labels)
		return ObjectIdGetDatum(enum_label_at(domain->labels, (int) value));
	if (domain->kind == COLUMN_KIND_NUMERIC)
		return numeric_unit_datum(domain->unit, value);
	return column_datum(domain->kind, value);
}

/* Returns a number of this domain as a float8, as core's cast of its type does. */
static pg_attribute_always_inline float8
column_domain_float8(const ColumnDomain *domain, int64 value)
{
	switch (domain->kind)
	{
		case COLUMN_KIND_FLOAT4:
			return DatumGetFloat4(column_datum(COLUMN_KIND_FLOAT4, value));
		case COLUMN_KIND_FLOAT8:
			return DatumGetFloat8(column_datum(COLUMN_KIND_FLOAT8, value));
		case COLUMN_KIND_NUMERIC:
			return numeric_unit_float8(domain->unit, value);
		default:
			return (float8) value;
	}
}

/*
 * Returns an integer that stands for what value stands for, and stays valid as long as the current
 * memory context: a Datum is copied.
 */
static inline int64
column_domain_keep(const ColumnDomain *domain, int64 value)
{
	return domain->datums ? (int64) dictionary_copy(domain->dictionary, (Datum) value) : value;
}

#endif							/* HPSORT_PG_VALUES_DOMAIN_H */
