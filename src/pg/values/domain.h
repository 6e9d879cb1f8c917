/*
 * domain.h
 *		ColumnDomain: what the integers of a batch stand for.
 */
#ifndef HPSORT_PG_VALUES_DOMAIN_H
#define HPSORT_PG_VALUES_DOMAIN_H

#include "postgres.h"

#include "pg/enum_labels.h"
#include "pg/values/dictionary.h"
#include "pg/values/value.h"

/* The pointers are the owner's of the batch; what they point to is of an execution. */
typedef struct ColumnDomain
{
	ColumnKind	kind;			/* of the integers, which are values of this kind, unless they
								 * are: */
	EnumLabels *labels;			/* ranks of an enum's labels; or NULL */
	Dictionary *dictionary;		/* numbers of values, which may be negative; or NULL */
} ColumnDomain;

/* Returns the Datum that an integer stands for, which belongs to labels or dictionary. */
static inline Datum
column_domain_datum(const ColumnDomain *domain, int64 value)
{
	if (domain->dictionary)
		return dictionary_value(domain->dictionary, (uint32) value);
	if (domain->labels)
		return ObjectIdGetDatum(enum_label_at(domain->labels, (int) value));
	return column_datum(domain->kind, value);
}

#endif							/* HPSORT_PG_VALUES_DOMAIN_H */
