/*
 * heap_template.h
 *		A binary heap in an array, whose first element comes before all others.
 *
 * For loops that move an element at every step, which the calls of PostgreSQL's
 * lib/binaryheap.h would slow down.  Included after defining
 *	HEAP_ELEMENT			element
 *	HEAP_SIFT_DOWN			name of the function
 *	HEAP_BEFORE(a, b)		whether *a comes before *b
 */

/*
 * Moves element at of n down to its place, when everything below it is a heap.  From n / 2 - 1
 * down to 0, that makes an array a heap; of 0 alone, it restores a heap whose first element has
 * been exchanged.
 */
static inline void
HEAP_SIFT_DOWN(HEAP_ELEMENT * heap, size_t n, size_t at)
{
	const		HEAP_ELEMENT moving = heap[at];
	size_t		child;

	while ((child = 2 * at + 1) < n)
	{
		if (child + 1 < n && HEAP_BEFORE(&heap[child + 1], &heap[child]))
			child++;
		if (!HEAP_BEFORE(&heap[child], &moving))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moving;
}

#undef HEAP_ELEMENT
#undef HEAP_SIFT_DOWN
#undef HEAP_BEFORE
