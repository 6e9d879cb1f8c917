/*-------------------------------------------------------------------------
 *
 * packed.cu
 *	  Packed values that stay on the device: kept, freed, and added to jobs as keys.
 *
 * The host makes tables of parts in pinned memory, and the device works on one table while the host
 * makes the next.  In counting mode the values of a table are counted in place.  In keeping mode
 * they are unpacked behind the job's other keys.  The host knows where keys go, because it counts
 * NULLs by words of bits, so that nothing waits for the device.
 *
 *-------------------------------------------------------------------------
 */
#include "packed.cuh"

#include <algorithm>
#include <climits>

#include "job.cuh"

using namespace hpsort;

namespace hpsort
{

/* The most pinned tables of a job on their way to the device: the host makes one while another is
 * copied. */
static constexpr size_t tables_in_flight = 4;

PackedStaging::PackedStaging()
{
	void	   *memory;

	check(cudaHostAlloc(&memory, (REGIME_PACKED_PARTS + 1) * sizeof(PackedPart),
						cudaHostAllocPortable), "allocate pinned memory");
	parts = static_cast<PackedPart *>(memory);
}

/* The first job's pinned memory is allocated here, when a context keeps its first values, and not
 * when the first values are added to a job. */
PackedShared::PackedShared()
{
	for (size_t i = 0; i < tables_in_flight; i++)
		idle.push_back(std::make_unique<PackedStaging>());
}

PackedUse::PackedUse(PackedShared *of)
	: shared(of)
{
	std::lock_guard<std::mutex> guard(shared->lock);

	shared->uses.push_back(this);
}

/* Pinned memory is slow to allocate, and is therefore kept for later jobs. */
PackedUse::~PackedUse()
{
	std::lock_guard<std::mutex> guard(shared->lock);

	shared->uses.erase(std::find(shared->uses.begin(), shared->uses.end(), this));
	if (origin)
		origin->done.store(origin->last);
	for (std::unique_ptr<PackedStaging> &table : tables)
	{
		try
		{
			shared->idle.push_back(std::move(table));
		}
		catch (const std::bad_alloc &)
		{
			/* without room in the list the table is freed */
		}
	}
}

} /* namespace hpsort */

namespace
{

/* Returns what this job needs of packed values; made at the first call. */
PackedUse *
use_of(HpsortCudaJob *job)
{
	if (!job->packed)
	{
		std::lock_guard<std::mutex> guard(job->context->lock);

		if (job->context->packed == nullptr)
			job->context->packed = new PackedShared;
	}
	if (!job->packed)
		job->packed.reset(new PackedUse(job->context->packed));
	return job->packed.get();
}

/* Makes a stream wait for the copies of an origin up to a number, unless they are done.  The
 * caller holds PackedShared.lock. */
void
wait_for_copies(PackedOrigin *origin, uint64_t number, cudaStream_t stream)
{
	if (number <= origin->done.load())
		return;
	if (origin->copied.is_done())
		origin->done.store(origin->last);
	else
		origin->copied.make_wait(stream);
}

/*
 * Makes the host's copy of what lies before the values on the device: the bits of n rows, the
 * number of NULLs before each word of them, and where both are (PackedNulls).  Returns its bytes,
 * or 0 if no row is NULL.
 */
uint64_t
make_head(HpsortCudaPacked *packed, const uint8_t *nulls, uint32_t n)
{
	const uint64_t words = (static_cast<uint64_t>(n) + packed_group - 1) / packed_group;
	const uint64_t numbers = (words * sizeof(uint32_t) + 15) / 16 * 16;
	const uint64_t bytes = (words * sizeof(uint64_t) + 15) / 16 * 16 + numbers +
		sizeof(PackedNulls);
	uint32_t	before = 0;
	PackedNulls where = {};

	packed->head.reset(new uint64_t[bytes / sizeof(uint64_t)]());

	uint64_t   *bits = packed->head.get();
	uint32_t   *counts = reinterpret_cast<uint32_t *>(
		reinterpret_cast<char *>(bits) + bytes - sizeof(PackedNulls) - numbers);

	memcpy(bits, nulls, (static_cast<uint64_t>(n) + 7) / 8);
	if (n % packed_group != 0)
		bits[words - 1] &= (1ull << n % packed_group) - 1;
	for (uint64_t i = 0; i < words; i++)
	{
		counts[i] = before;
		before += static_cast<uint32_t>(__builtin_popcountll(bits[i]));
	}
	if (before == 0)
	{
		packed->head.reset();
		return 0;
	}
	where.bits_back = static_cast<uint32_t>(bytes);
	where.counts_back = static_cast<uint32_t>(numbers + sizeof(PackedNulls));
	memcpy(reinterpret_cast<char *>(bits) + bytes - sizeof(where), &where, sizeof(where));
	packed->nnulls = before;
	packed->nulls = bits;
	packed->nulls_before = counts;
	return bytes;
}

/* Puts the copies of head and values on stream copy.  The bytes up to the next boundary of 16 are
 * read with the last value, and are therefore cleared. */
void
copy_values(HpsortCudaJob *job, HpsortCudaPacked *packed, const void *values,
			uint64_t head_bytes)
{
	char	   *to = packed->memory.as<char>() + head_bytes;
	const uint64_t bytes = static_cast<uint64_t>(packed->n) << packed->width_bits;

	if (head_bytes > 0)
		check(cudaMemcpyAsync(packed->memory.as<char>(), packed->head.get(), head_bytes,
							  cudaMemcpyHostToDevice, job->copy), "copy bits of NULLs");
	if (bytes > 0)
		check(cudaMemcpyAsync(to, values, bytes, cudaMemcpyDefault, job->copy),
			  "copy packed values");
	if (bytes % 16 != 0)
		check(cudaMemsetAsync(to + bytes, 0, 16 - bytes % 16, job->copy),
			  "clear the end of packed values");
	packed->values = to;
}

/* The body of hpsort_cuda_job_keep(), whose arguments have been checked. */
std::unique_ptr<HpsortCudaPacked>
keep(HpsortCudaJob *job, const void *values, const uint8_t *nulls, uint32_t n,
	 int width_bits, int64_t base)
{
	PackedUse  *use = use_of(job);
	std::unique_ptr<HpsortCudaPacked> packed(new HpsortCudaPacked);
	uint64_t	head_bytes = 0;
	Added		entry;

	if (!use->origin)
		use->origin = std::make_shared<PackedOrigin>();
	packed->context = job->context;
	packed->owner = use->origin;
	packed->origin = packed->owner.get();
	packed->n = n;
	packed->base = base;
	packed->width_bits = static_cast<unsigned>(width_bits) & 3;
	if (nulls != nullptr && n > 0)
		head_bytes = make_head(packed.get(), nulls, n);
	packed->memory = DeviceBuffer(job->context, job->copy, head_bytes +
								  ((static_cast<uint64_t>(n) << width_bits) + 15) / 16 * 16,
								  "packed values");
	entry.number = job->number + 1;
	try
	{
		copy_values(job, packed.get(), values, head_bytes);
		entry.copied.record(job->copy);

		std::lock_guard<std::mutex> guard(use->shared->lock);

		packed->origin->copied.record(job->copy);
		packed->number = ++packed->origin->last;
		job->added.push_back(std::move(entry));
	}
	catch (...)
	{
		/* so that neither the caller's memory nor the packed values' is in use any more */
		ignore(cudaStreamSynchronize(job->copy));
		throw;
	}
	job->number++;
	packed->memory.follow(use->shared->frees);
	return packed;
}

/* Returns the number of NULLs among the first `row` rows of packed values that have NULLs.  For
 * all rows and for none the answer is in the cache line that adding reads in any case. */
uint32_t
nulls_before(const HpsortCudaPacked *packed, uint32_t row)
{
	const uint32_t word = row / packed_group;

	if (row == 0)
		return 0;
	if (row == packed->n)
		return packed->nnulls;
	return packed->nulls_before[word] + static_cast<uint32_t>(__builtin_popcountll(
		packed->nulls[word] & ((1ull << row % packed_group) - 1)));
}

/* Returns the number of keys of a piece. */
uint32_t
count_keys(const HpsortCudaPiece &piece)
{
	if (piece.packed->nulls == nullptr || piece.n == 0)
		return piece.n;
	return piece.n - (nulls_before(piece.packed, piece.first + piece.n) -
					  nulls_before(piece.packed, piece.first));
}

/* Prefetches the packed values of the piece that the host will come to 16 pieces behind piece
 * `at`: packed values are all over the host's memory. */
inline void
prefetch_behind(const HpsortCudaPiece *pieces, uint32_t npieces, uint32_t at)
{
	constexpr uint32_t ahead = 16;

	if (npieces - at > ahead)
		__builtin_prefetch(pieces[at + ahead].packed);
}

/* What the parts of a call have. */
struct Found
{
	uint64_t	keys;			/* with a layout: rows */
	uint32_t	parts;			/* parts that have keys or rows */
};

/*
 * Counts what all parts have, before anything is done with the first.  Fails if a piece is not of
 * the job's context, reaches beyond its packed values, or is longer or shorter than the other
 * columns' pieces of its part.  Makes stream compute wait for other jobs' copies that are not
 * known to be done.  The job's own copies need no wait: its tables come behind them on stream
 * copy.
 */
Found
look_through(HpsortCudaJob *job, const HpsortCudaPiece *pieces, uint32_t nparts)
{
	PackedUse  *use = use_of(job);
	const uint32_t ncolumns = job->row_keys ? job->row_keys->layout.ncolumns : 1;
	std::vector<PackedOrigin *> copying;
	Found		found = {0, 0};

	if (nparts > UINT32_MAX / HPSORT_CUDA_ROWS_COLUMNS)
		fail(HPSORT_CUDA_BAD_ARGUMENT, "too many parts of rows");

	const uint32_t npieces = nparts * ncolumns;

	for (uint32_t i = 0, c = 0; i < npieces; i++, c = c + 1 < ncolumns ? c + 1 : 0)
	{
		const HpsortCudaPacked *packed = pieces[i].packed;

		prefetch_behind(pieces, npieces, i);
		if (packed == nullptr || packed->context != job->context)
			fail(HPSORT_CUDA_BAD_ARGUMENT, "packed values of another context, or none");
		if (pieces[i].first > packed->n || pieces[i].n > packed->n - pieces[i].first)
			fail(HPSORT_CUDA_BAD_ARGUMENT, "rows %u and %u more of %u packed values",
				 pieces[i].first, pieces[i].n, packed->n);
		if (pieces[i].n != pieces[i - c].n)
			fail(HPSORT_CUDA_BAD_ARGUMENT, "columns of %u and %u rows", pieces[i - c].n,
				 pieces[i].n);
		if (c == 0)
		{
			const uint32_t keys = job->row_keys ? pieces[i].n : count_keys(pieces[i]);

			found.keys += keys;
			found.parts += keys > 0;
		}
		if (packed->number > packed->origin->done.load(std::memory_order_acquire) &&
			packed->origin != use->origin.get() &&
			std::find(copying.begin(), copying.end(), packed->origin) == copying.end())
			copying.push_back(packed->origin);
	}
	if (!copying.empty())
	{
		std::lock_guard<std::mutex> guard(use->shared->lock);

		for (PackedOrigin *origin : copying)
			wait_for_copies(origin, origin->last, job->compute);
	}
	return found;
}

/* Returns the tiles of a part; its kernel decides how a part is cut. */
uint32_t
tiles_of(const PackedPart &part, bool counting)
{
	constexpr uint64_t tile_bytes = packed_tile_vectors * 16;
	const uint64_t bytes = reinterpret_cast<uintptr_t>(part.values) % 16 +
		(static_cast<uint64_t>(part.n) << part.width_bits());

	/* two divisions by constants; a division by a variable would be slower */
	return counting ? static_cast<uint32_t>((bytes + tile_bytes - 1) / tile_bytes) :
		(part.n - 1) / packed_tile_values + 1;
}

/* Returns the part of a table that a piece is.  place and start are the part's; nulls says whether
 * the kernel has to look for NULLs, origin which value is 0 for it. */
PackedPart
part_of(const HpsortCudaPiece &piece, int64_t place, bool nulls, uint32_t start, int64_t origin)
{
	const HpsortCudaPacked *packed = piece.packed;

	return {packed->values + (static_cast<uint64_t>(piece.first) << packed->width_bits),
		place * 8 + (nulls ? 4 : 0) + packed->width_bits, start, piece.first, piece.n,
		static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(packed->base) -
												   static_cast<uint64_t>(origin)))};
}

/*
 * Makes the next table, of pieces from *at on, whose keys go to *position on; advances both.  The
 * table ends where it is full, or where a bin of 32 bits could overflow.  Pieces without keys are
 * left out.
 */
PackedTable
make_table(const HpsortCudaPiece *pieces, uint32_t npieces, bool counting, uint32_t *at,
		   uint64_t *position, PackedPart *parts)
{
	PackedTable table = {nullptr, 0, 0, 0};

	for (; *at < npieces && table.count < REGIME_PACKED_PARTS; (*at)++)
	{
		const HpsortCudaPiece &piece = pieces[*at];
		const HpsortCudaPacked *packed = piece.packed;
		const uint32_t keys = count_keys(piece);
		const bool	nulls = keys < piece.n;
		int64_t		place = static_cast<int64_t>(*position);

		prefetch_behind(pieces, npieces, *at);
		if (keys == 0)
			continue;
		if (piece.n > UINT32_MAX - table.n)
			break;
		if (nulls)
			place -= piece.first - nulls_before(packed, piece.first);
		parts[table.count] = part_of(piece, place, nulls, table.tiles, 0);
		table.tiles += tiles_of(parts[table.count], counting);
		table.count++;
		table.n += piece.n;
		*position += keys;
	}
	parts[table.count] = PackedPart{nullptr, 0, table.tiles, 0, 0, 0};
	return table;
}

/* Returns pinned memory for a table: this job's oldest, if it has been copied or if the job has
 * enough of them; else one that no job has; else a new one. */
PackedStaging *
next_staging(PackedUse *use)
{
	std::unique_ptr<PackedStaging> staging;

	if (!use->tables.empty() && (use->tables.size() >= tables_in_flight ||
								 use->tables.front()->copied.is_done()))
	{
		use->tables.front()->copied.wait();
		staging = std::move(use->tables.front());
		use->tables.pop_front();
	}
	else
	{
		std::lock_guard<std::mutex> guard(use->shared->lock);

		if (!use->shared->idle.empty())
		{
			staging = std::move(use->shared->idle.back());
			use->shared->idle.pop_back();
		}
	}
	if (!staging)
		staging.reset(new PackedStaging);
	use->tables.push_back(std::move(staging));
	return use->tables.back().get();
}

/* Puts the kernel on stream compute that counts or writes the keys of a table of rows. */
void
use_rows(HpsortCudaJob *job, const PackedTable &parts)
{
	const RowTable table = {parts, job->row_keys->ranges(), job->row_keys->counts()};
	const HpsortCudaRows &layout = job->row_keys->layout;

	if (job->groups)
		job->groups->add_rows(job->context, job->compute, table, layout);
	else if (job->counting)
		rows_count(job->context, job->compute, table, layout, job->counted.bins);
	else
		rows_add(job->context, job->compute, table, layout,
				 job->kept.keys() + (layout.filtered ? job->row_keys->first : 0),
				 job->kept.bounds());
}

/* Puts work on the job's streams that copies a table to its place on the device, once the table
 * before it there has been read, and then counts or unpacks its values, or makes keys of its
 * rows.  read is recorded behind this work. */
void
add_table(HpsortCudaJob *job, PackedStaging *staging, PackedTable table, PackedPart *place,
		  Event *read)
{
	const uint64_t columns = job->row_keys ?
		static_cast<uint64_t>(table.count) * job->row_keys->layout.ncolumns : 0;
	const uint64_t bytes = (table.count + columns + 1) * sizeof(PackedPart);

	read->make_wait(job->copy);
	table.parts = place;
	check(cudaMemcpyAsync(place, staging->parts, bytes, cudaMemcpyHostToDevice, job->copy),
		  "copy a table of packed values");
	staging->copied.record(job->copy);
	/* in keeping mode this also waits for the memory that the keys go to */
	staging->copied.make_wait(job->compute);
	if (job->row_keys)
		use_rows(job, table);
	else if (job->counting)
		job->counted.bins.add_packed(job->context, job->compute, table, job->verdict.get());
	else
		unpack_add(job->context, job->compute, table, job->kept.keys(), job->kept.bounds());
	read->record(job->compute);
}

/*
 * Makes the next table of rows, of parts from *at on, whose rows have the places from *position on;
 * advances both.  Ends and leaves out parts as make_table() does.  The columns lie behind the
 * sentinel (RowTable), so the parts are counted first.
 */
PackedTable
make_row_table(const HpsortCudaPiece *pieces, uint32_t nparts, const HpsortCudaRows &layout,
			   uint32_t *at, uint64_t *position, PackedPart *parts)
{
	const uint32_t ncolumns = layout.ncolumns;
	const uint32_t most = REGIME_PACKED_PARTS / (ncolumns + 1);
	PackedTable table = {nullptr, 0, 0, 0};
	uint32_t	end = *at;
	uint32_t	count = 0;

	for (; end < nparts && count < most; end++)
	{
		const uint32_t n = pieces[static_cast<size_t>(end) * ncolumns].n;

		if (n > UINT32_MAX - table.n)
			break;
		table.n += n;
		count += n > 0;
	}
	for (; *at < end; (*at)++)
	{
		const HpsortCudaPiece *columns = pieces + static_cast<size_t>(*at) * ncolumns;

		if (columns->n == 0)
			continue;
		parts[table.count] = PackedPart{nullptr, static_cast<int64_t>(*position) * 8, table.tiles,
			table.count, columns->n, 0};
		for (uint32_t c = 0; c < ncolumns; c++)
			parts[count + 1 + static_cast<size_t>(table.count) * ncolumns + c] =
				part_of(columns[c], 0, columns[c].packed->nulls != nullptr, 0,
						layout.columns[c].origin);
		*position += columns->n;
		table.tiles += (columns->n - 1) / packed_tile_values + 1;
		table.count++;
	}
	parts[table.count] = PackedPart{nullptr, 0, table.tiles, 0, 0, 0};
	return table;
}

/*
 * Adds parts table by table, so that the device begins while the host makes the next table.  The
 * device memory is allocated before the job changes.  Later frees of packed values come behind
 * what has been launched: by use->read, or after an error because this function waits.
 */
void
add_pieces(HpsortCudaJob *job, const HpsortCudaPiece *pieces, uint32_t npieces,
		   const Found &found)
{
	PackedUse  *use = use_of(job);
	const uint32_t ncolumns = job->row_keys ? job->row_keys->layout.ncolumns : 0;
	const uint64_t slots = static_cast<uint64_t>(found.parts) * (ncolumns + 1);
	DeviceBuffer memory(job->context, job->copy, regime_packed_bytes(slots),
						"tables of packed values");
	const uint32_t tables = slots > REGIME_PACKED_PARTS ? 2 : 1;
	PackedStaging *staging = next_staging(use);
	uint64_t	position = job->row_keys ? job->row_keys->next : job->kept.n();
	uint32_t	turn = 0;
	uint32_t	at = 0;

	try
	{
		for (;;)
		{
			const PackedTable table = job->row_keys ?
				make_row_table(pieces, npieces, job->row_keys->layout, &at, &position,
							   staging->parts) :
				make_table(pieces, npieces, job->counting, &at, &position, staging->parts);

			if (table.count > 0)
				add_table(job, staging, table, memory.as<PackedPart>() +
						  turn * (memory.bytes() / tables / sizeof(PackedPart)),
						  &use->table_read[turn]);
			if (at == npieces)
				break;
			check_cancelled(job);
			staging = next_staging(use);
			turn = (turn + 1) % tables;
		}

		std::lock_guard<std::mutex> guard(use->shared->lock);

		use->read.record(job->compute);
		use->pending = true;
	}
	catch (...)
	{
		/* some of the keys may have been added */
		job->failed = true;
		ignore(cudaStreamSynchronize(job->copy));
		ignore(cudaStreamSynchronize(job->compute));
		throw;
	}
	memory.release_on(job->compute);
}

} /* namespace */

extern "C" HpsortCudaCode
hpsort_cuda_job_keep(HpsortCudaJob *job, const void *values, const uint8_t *nulls,
					 uint32_t n, int width, int64_t base, HpsortCudaPacked **packed,
					 uint64_t *number, HpsortCudaError *err)
{
	*packed = nullptr;
	return job_change(job, err, true, [&] {
		if (width != 1 && width != 2 && width != 4)
			fail(HPSORT_CUDA_BAD_ARGUMENT, "packed values of %d bytes", width);
		if (n > 0 && (values == nullptr ||
					  reinterpret_cast<uintptr_t>(values) % static_cast<uintptr_t>(width)))
			fail(HPSORT_CUDA_BAD_ARGUMENT, "no values, or not aligned to their width");
		*packed = keep(job, values, nulls, n, width / 2, base).release();
		if (number)
			*number = job->number;
	});
}

/* The object is deleted even after a sticky error. */
extern "C" void
hpsort_cuda_packed_free(HpsortCudaPacked *packed)
{
	if (packed == nullptr)
		return;
	(void) guarded(nullptr, [&] {
		DeviceScope scope(packed->context->ordinal);
		PackedShared *shared = packed->context->packed;

		(void) guarded(nullptr, [&] {
			std::lock_guard<std::mutex> guard(shared->lock);

			wait_for_copies(packed->origin, packed->number, shared->frees);
			/* the copy may read bits on the host, which are freed below */
			if (packed->head && packed->number > packed->origin->done.load())
				packed->origin->copied.wait();
			for (PackedUse *use : shared->uses)
				if (use->pending)
				{
					use->read.make_wait(shared->frees);
					use->pending = false;
				}
		});
		packed->memory.release();
		/* the origin's event goes with it, if these were its last values */
		packed->owner.reset();
	});
	delete packed;
}

/* --- rows */

namespace
{

/* Returns whether kernels can use a layout without reading beyond its ranges. */
bool
layout_is_sound(const HpsortCudaRows &layout, const HpsortCudaRange *ranges)
{
	if (layout.ncolumns == 0 || layout.ncolumns > HPSORT_CUDA_ROWS_COLUMNS ||
		(layout.nranges > 0 && ranges == nullptr) || layout.grain > 31 ||
		layout.key_ranges > layout.nranges ||
		(layout.key_ranges > 0 && (!layout.filtered || layout.grain > 0)))
		return false;
	for (uint32_t c = 0; c < layout.ncolumns; c++)
		if (layout.columns[c].first_range > layout.nranges ||
			layout.columns[c].nranges > layout.nranges - layout.columns[c].first_range ||
			((layout.columns[c].flags & HPSORT_CUDA_ROWS_FILTERED) && !layout.filtered) ||
			((layout.columns[c].flags & HPSORT_CUDA_ROWS_MAPPED) &&
			 layout.columns[c].last / 2 >= layout.columns[c].nranges))
			return false;
	return true;
}

/*
 * Has a job that would keep its keys add them up by groups instead, if rows have a grain and shared
 * memory has room for the groups.  The keys that it has already are added up first.
 */
void
add_up_groups(HpsortCudaJob *job, const RowsUse &rows)
{
	const KeyMap map = make_key_map(job->spec.bounds_known ? job->spec.lo : INT_MIN,
									job->spec.bounds_known ? job->spec.hi : INT_MAX, false);
	const uint32_t grain = rows.layout.grain;

	if (job->counting || grain == 0 || !KeyGroups::fit(job->context->limits, map, grain))
		return;

	std::unique_ptr<KeyGroups> groups(new KeyGroups(job->context, job->compute, map, grain));

	groups->add_keys(job->compute, job->kept.keys(), job->kept.n(), rows.counts());
	job->groups = std::move(groups);
	job->kept.release();
	job->counting = true;
}

} /* namespace */

void
hpsort::settle_rows(HpsortCudaJob *job)
{
	RowCounts	counts;

	check(cudaMemcpyAsync(&counts, job->row_keys->counts(), sizeof(counts), cudaMemcpyDeviceToHost,
						  job->compute), "read the number of rows");
	check(cudaStreamSynchronize(job->compute), "make keys of rows");
	if (counts.n_outside != 0)
		fail_outside(counts.value, job->spec.lo, job->spec.hi);

	/* without conditions all rows have passed, and the host has counted them */
	if (!job->row_keys->layout.filtered)
		return;
	job->n = job->row_keys->first + counts.kept;
	if (!job->counting)
		job->kept.end_at(job->n);
}

extern "C" HpsortCudaCode
hpsort_cuda_job_rows(HpsortCudaJob *job, const HpsortCudaRows *layout,
					 const HpsortCudaRange *ranges, HpsortCudaError *err)
{
	return job_change(job, err, true, [&] {
		if (job->row_keys || job->spec.algorithm != 0 ||
			(job->spec.wanted & HPSORT_CUDA_PERMUTATION))
			fail(HPSORT_CUDA_BAD_ARGUMENT, "rows in a job that has some, or that is not for rows");
		if (!layout_is_sound(*layout, ranges))
			fail(HPSORT_CUDA_BAD_ARGUMENT, "impossible layout of rows");

		std::unique_ptr<RowsUse> rows(new RowsUse);
		const uint64_t bytes = layout->nranges * sizeof(HpsortCudaRange);

		rows->layout = *layout;
		rows->first = rows->next = job->n;
		rows->memory = DeviceBuffer(job->context, job->compute, sizeof(RowCounts) + bytes,
									"a layout of rows");
		check(cudaMemsetAsync(rows->counts(), 0, sizeof(RowCounts), job->compute), "clear counts");
		if (bytes > 0)
			check(cudaMemcpyAsync(rows->ranges(), ranges, bytes, cudaMemcpyHostToDevice,
								  job->compute),
				  "copy conditions");
		/* the caller may change ranges from here on */
		check(cudaStreamSynchronize(job->compute), "copy conditions");
		add_up_groups(job, *rows);
		job->row_keys = std::move(rows);
	});
}

extern "C" HpsortCudaCode
hpsort_cuda_job_add_rows(HpsortCudaJob *job, const HpsortCudaPiece *pieces, uint32_t nparts,
						 uint64_t *nkeys, HpsortCudaError *err)
{
	return job_change(job, err, true, [&] {
		if (nparts > 0 && pieces == nullptr)
			fail(HPSORT_CUDA_BAD_ARGUMENT, "no pieces");

		const Found found = look_through(job, pieces, nparts);

		if (found.parts > 0)
		{
			if (!job->counting && !job->kept.has_room(job->kept.n() + found.keys))
			{
				/* keys are moved, and only those that are there */
				if (job->row_keys && job->row_keys->layout.filtered)
					settle_rows(job);
				job->kept.reserve(job->kept.n() + found.keys);
			}
			add_pieces(job, pieces, nparts, found);
			if (!job->counting)
				job->kept.note(found.keys, job->n);
		}
		job->n += found.keys;
		if (job->row_keys)
			job->row_keys->next += found.keys;
		if (nkeys)
			*nkeys = found.keys;
	});
}
