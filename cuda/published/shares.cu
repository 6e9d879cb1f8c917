/*-------------------------------------------------------------------------
 *
 * shares.cu
 *	  The keys of a job that further devices have (see shares.cuh).
 *
 *-------------------------------------------------------------------------
 */
#include "published/shares.cuh"

#include "published/published.cuh"

#include <algorithm>

namespace hpsort
{
namespace published
{

namespace
{

/* With fewer keys for each device, one device has sorted them before a thread has started. */
constexpr uint64_t shared_least = 1u << 20;

} /* namespace */

void
Shares::close()
{
	for (std::unique_ptr<Share> &share : shares_)
		(void) guarded(nullptr, [&] {
			DeviceScope scope(share->context->ordinal);

			ignore(cudaStreamSynchronize(share->copy));
			ignore(cudaStreamSynchronize(share->compute));
			share.reset();
		});
	shares_.clear();
}

/*
 * A device gets no keys before the job is known to have enough for all devices.  If enough are
 * expected, devices take keys from the beginning.  Otherwise they begin when the job's own device
 * has enough, and then catch up.
 */
void
Shares::open(HpsortCuda *const *contexts, int count, const HpsortPublishedSpec &spec,
			 uint64_t expected)
{
	const uint64_t least = shared_least * (static_cast<uint64_t>(count) + 1);
	/* the last piece may go to any device */
	const uint64_t each = expected / (static_cast<uint64_t>(count) + 1) + piece;
	/* the keys as they came and in order, both twice with row numbers, and what sorting takes */
	const uint64_t need = array_bytes(each, 4) * (spec.payload ? 4 : 2) +
		bucket_bitonic_need(spec, each);

	close();
	from_ = expected >= least ? 0 : least;
	for (int i = 0; i < count; i++)
	{
		HpsortCuda *context = contexts[i];
		const uint64_t limit = context->limit.load();
		uint64_t	used;

		hpsort_cuda_memory(context, &used, nullptr, 0);
		if (from_ == 0 && (used > limit || need > limit - used))
			continue;

		DeviceScope scope(context->ordinal);

		try
		{
			std::unique_ptr<Share> share(new Share(context));

			share->kept.open(from_ == 0 ? each : 0);
			shares_.push_back(std::move(share));
		}
		catch (const Failure &failure)
		{
			if (!failure.out_of_memory())
				throw;
		}
	}
}

/*
 * Of devices with equally many keys the first one takes the keys, and the job's own is the first.
 */
bool
Shares::take(const int32_t *keys, uint64_t n, uint64_t own, uint64_t total,
			 std::vector<Event> *copied)
{
	uint64_t	fewest = own;
	Share	   *chosen = nullptr;

	if (total < from_)
		return false;
	for (const std::unique_ptr<Share> &share : shares_)
		if (!share->full && share->kept.n() < fewest)
		{
			chosen = share.get();
			fewest = chosen->kept.n();
		}
	if (chosen == nullptr)
		return false;

	DeviceScope scope(chosen->context->ordinal);

	/* the keys that it has stay there, and are sorted there if there is room for this */
	try
	{
		chosen->kept.reserve(fewest + n);
	}
	catch (const Failure &failure)
	{
		if (!failure.out_of_memory())
			throw;
		chosen->full = true;
		return false;
	}
	copied->emplace_back();
	chosen->kept.add(keys, n, total, &copied->back());
	return true;
}

void
Shares::widen(Bounds *bounds)
{
	for (Share *share : used())
	{
		DeviceScope scope(share->context->ordinal);
		const Bounds found = share->kept.read_bounds();

		bounds->lo = std::min(bounds->lo, found.lo);
		bounds->hi = std::max(bounds->hi, found.hi);
	}
}

std::vector<Share *>
Shares::used() const
{
	std::vector<Share *> used;

	for (const std::unique_ptr<Share> &share : shares_)
		if (share->kept.n() > 0)
			used.push_back(share.get());
	return used;
}

} /* namespace published */
} /* namespace hpsort */
