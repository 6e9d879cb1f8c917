/*
 * value.c
 *		The column types that a ColumnReader reads (see value.h).
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "pg/values/numeric_unit.h"
#include "pg/values/value.h"

ColumnKind
column_builtin_kind(Oid type)
{
	switch (type)
	{
		case BOOLOID:
			return COLUMN_KIND_BOOL;
		case CHAROID:
			return COLUMN_KIND_CHAR;
		case INT2OID:
			return COLUMN_KIND_INT2;
		case INT4OID:
		case DATEOID:
			return COLUMN_KIND_INT4;
		case OIDOID:
			return COLUMN_KIND_OID;
		case INT8OID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return COLUMN_KIND_INT8;
		case FLOAT4OID:
			return COLUMN_KIND_FLOAT4;
		case FLOAT8OID:
			return COLUMN_KIND_FLOAT8;
		default:
			return COLUMN_KIND_NONE;
	}
}

ColumnKind
column_read_kind(Oid type)
{
	Oid			base_type;
	ColumnKind	kind;

	/* The quick way out: the types that initdb starts with are no domains and no enums. */
	if (type < FirstGenbkiObjectId)
		return column_builtin_kind(type);
	base_type = getBaseType(type);
	kind = column_builtin_kind(base_type);
	return kind == COLUMN_KIND_NONE && type_is_enum(base_type) ? COLUMN_KIND_ENUM : kind;
}

ColumnKind
column_kind(Oid type)
{
	ColumnKind	kind = column_read_kind(type);

	return kind == COLUMN_KIND_FLOAT4 || kind == COLUMN_KIND_FLOAT8 ? COLUMN_KIND_NONE : kind;
}

ColumnKind
column_value_kind(Oid type, int32 typmod)
{
	ColumnKind	kind = column_read_kind(type);
	NumericUnit unit;

	if (kind == COLUMN_KIND_NONE && numeric_unit_find(type, typmod, &unit))
		return COLUMN_KIND_NUMERIC;
	return kind;
}

bool
column_type_is_key(Oid type)
{
	switch (getBaseType(type))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
			return true;
		default:
			return false;
	}
}

void
column_complain_about_range(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("key is out of range for type integer")));
}

int32
column_key(Oid base_type, Datum value)
{
	return column_narrow(column_value(column_builtin_kind(base_type), value));
}
