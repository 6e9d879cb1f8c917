/*
 * huge_pages.c
 *		Large blocks on huge pages (see huge_pages.h).
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "pg/huge_pages.h"

void
pg_ask_for_huge_pages(void *block, Size size)
{
#ifdef MADV_HUGEPAGE
	if (size >= PG_HUGE_PAGES_MIN)
	{
		uintptr_t	page = (uintptr_t) sysconf(_SC_PAGESIZE);
		uintptr_t	from = TYPEALIGN(page, (uintptr_t) block);
		uintptr_t	to = TYPEALIGN_DOWN(page, (uintptr_t) block + size);

		(void) madvise((void *) from, to - from, MADV_HUGEPAGE);
	}
#endif
}

void *
pg_huge_alloc(MemoryContext memory, Size size)
{
	void	   *block = MemoryContextAllocHuge(memory, size);

	pg_ask_for_huge_pages(block, size);
	return block;
}

void *
pg_huge_grow(MemoryContext memory, void *block, Size old_size, Size size)
{
	void	   *grown;

	if (block != NULL && (size < PG_HUGE_PAGES_MIN || old_size >= PG_HUGE_PAGES_MOVED))
	{
		grown = repalloc_huge(block, size);
		pg_ask_for_huge_pages(grown, size);
		return grown;
	}
	grown = pg_huge_alloc(memory, size);
	if (block != NULL)
	{
		memcpy(grown, block, Min(old_size, size));
		pfree(block);
	}
	return grown;
}
