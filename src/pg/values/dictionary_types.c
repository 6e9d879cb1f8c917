/*
 * dictionary_types.c
 *		What equality is to the values of a type (see dictionary.h).
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/values/dictionary.h"

bool
dictionary_equal_is_image(Oid type, Oid collation)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	Oid			procedure;

	if (!OidIsValid(entry->btree_opf) || (type_is_collatable(type) && !OidIsValid(collation)))
		return false;
	procedure = get_opfamily_proc(entry->btree_opf, entry->btree_opintype, entry->btree_opintype,
								  BTEQUALIMAGE_PROC);
	return OidIsValid(procedure) &&
		DatumGetBool(OidFunctionCall1Coll(procedure, collation,
										  ObjectIdGetDatum(entry->btree_opintype)));
}

bool
dictionary_equal_is_identical(Oid type, int32 typmod, Oid collation)
{
	/* Of one scale. */
	if (type == NUMERICOID && typmod >= 0)
		return true;

	/*
	 * The operator class says so for bpchar and name, too.  Equal values of these differ in what
	 * is behind their end: blanks of a bpchar without a length, and whatever is in a name.
	 */
	return type != BPCHAROID && type != NAMEOID && dictionary_equal_is_image(type, collation);
}

bool
dictionary_equal_is_alike(Oid type, int32 typmod, Oid collation)
{
	Oid			element = get_element_type(type);
	Oid			bound = get_range_subtype(type);

	if (OidIsValid(element))
		return dictionary_equal_is_alike(element, typmod, collation);
	if (OidIsValid(bound))
		return dictionary_equal_is_alike(bound, -1, get_range_collation(type));
	if (type == BPCHAROID)
		return typmod >= 0 && dictionary_equal_is_image(type, collation);
	return type == NAMEOID || dictionary_equal_is_identical(type, typmod, collation);
}
