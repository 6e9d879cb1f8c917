/*-------------------------------------------------------------------------
 *
 * kept_keys.cu
 *	  Keys of a job that lie side by side on one device (see kept_keys.cuh).
 *
 * Knows chunks, bounds and streams, and neither jobs nor regimes.
 *
 *-------------------------------------------------------------------------
 */
#include "kept_keys.cuh"

namespace hpsort
{

namespace
{

constexpr unsigned threads = 256;

/* Writes n row numbers from first on. */
__global__ void __launch_bounds__(threads)
number_rows_kernel(uint32_t *rows, uint32_t first, uint64_t n)
{
	const uint64_t i = static_cast<uint64_t>(blockIdx.x) * threads + threadIdx.x;

	if (i < n)
		rows[i] = first + static_cast<uint32_t>(i);
}

} /* namespace */

void
KeptKeys::open(uint64_t expected)
{
	bounds_ = DeviceBuffer(context_, compute_, sizeof(Bounds), "the bounds");
	bounds_reset(compute_, bounds_.as<Bounds>());
	reserve(expected);
}

/*
 * The buffer at least doubles, so that keys whose number was not known are moved about once each.
 * Keys are moved on stream copy.  The move therefore waits for two kinds of work:
 *
 * - chunks that are still on their way, which are on stream copy, too;
 * - the unpacking of packed values on stream compute, by an event.  Before this event stream
 *   compute has also found the bounds of all other keys, so nothing reads the old buffer any
 *   more.
 */
void
KeptKeys::reserve(uint64_t keys)
{
	uint64_t	capacity = capacity_ * 2;

	if (keys <= capacity_)
		return;
	if (capacity < keys)
		capacity = keys;

	Event		looked_through;
	DeviceBuffer larger(context_, copy_, capacity * sizeof(int32_t), "the keys");

	looked_through.record(compute_);
	looked_through.make_wait(copy_);
	if (n_ > 0)
		check(cudaMemcpyAsync(larger.as<int32_t>(), keys_.as<int32_t>(),
							  n_ * sizeof(int32_t), cudaMemcpyDeviceToDevice, copy_),
			  "move the keys");
	keys_ = std::move(larger);
	capacity_ = capacity;
}

void
KeptKeys::add(const int32_t *keys, uint64_t n, uint64_t first, Event *copied)
{
	reserve(n_ + n);

	int32_t    *to = keys_.as<int32_t>() + n_;

	/* before anything is on a stream, because it may fail for want of memory */
	note(n, first);
	check(cudaMemcpyAsync(to, keys, n * sizeof(int32_t), cudaMemcpyDefault, copy_),
		  "copy a chunk");
	copied->record(copy_);
	copied->make_wait(compute_);
	bounds_add(context_, compute_, to, n, bounds_.as<Bounds>());
}

void
KeptKeys::note(uint64_t n, uint64_t first)
{
	if (pieces_.empty() || pieces_.back().first + pieces_.back().n != first)
		pieces_.push_back({first, 0});
	pieces_.back().n += n;
	n_ += n;
}

Bounds
KeptKeys::read_bounds()
{
	Bounds		found;
	Event		copied;

	copied.record(copy_);
	copied.make_wait(compute_);
	check(cudaMemcpyAsync(&found, bounds_.as<Bounds>(), sizeof(found),
						  cudaMemcpyDeviceToHost, compute_), "read the bounds");
	check(cudaStreamSynchronize(compute_), "find the bounds");
	return found;
}

void
KeptKeys::write_rows(cudaStream_t stream, uint32_t *rows) const
{
	for (const Piece &piece : pieces_)
	{
		const unsigned blocks = static_cast<unsigned>((piece.n + threads - 1) / threads);

		number_rows_kernel<<<blocks, threads, 0, stream>>>
			(rows, static_cast<uint32_t>(piece.first), piece.n);
		check_launch("number the rows");
		rows += piece.n;
	}
}

void
KeptKeys::release()
{
	/* allocated on stream copy, but read last on stream compute */
	keys_.release_on(compute_);
	bounds_.release();
	capacity_ = 0;
}

} /* namespace hpsort */
