/*
 * domain.h
 *		ColumnDomain: what the integers of a batch stand for.
 */
#ifndef HPSORT_PG_VALUES_DOMAIN_H
#define HPSORT_PG_VALUES_DOMAIN_H

#include "postgres.h"

#include "pg/enum_labels.h"
#include "pg/values/dictionary.h"
#include "pg/values/dictionary_order.h"
#include "pg/values/value.h"

/* The pointers are the owner's of the batch; what they point to is of an execution. */
typedef struct ColumnDomain
{
	ColumnKind	kind;			/* of the integers, which are values of this kind, unless they
								 * are: */
	EnumLabels *labels;			/* ranks of an enum's labels; or NULL */
	Dictionary *dictionary;		/* numbers of values, which may be negative; or NULL */
	const DictionaryOrder *order;	/* ranks of values, in place of numbers; or NULL */
	bool		datums;			/* Datums of the dictionary's type, in place of numbers */
} ColumnDomain;

/*
 * Returns the Datum that an integer stands for, which belongs to labels or dictionary, or is the
 * integer itself.
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
	return column_datum(domain->kind, value);
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
