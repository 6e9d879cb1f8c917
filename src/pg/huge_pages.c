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
