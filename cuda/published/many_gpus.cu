/*-------------------------------------------------------------------------
 *
 * many_gpus.cu
 *	  bucket_bitonic on several GPUs, for a job whose keys are on several devices (shares.cu).
 *
 * S. Chen, J. Qin, Y. Xie, J. Zhao, P.-A. Heng 2009, section VI: one host thread for each
 * device sorts a part of the list.  The parts then go to the first device, which merges them
 * (section V); CUDA copies them over a direct link between the devices if there is one.
 *
 * The paper's devices have consecutive parts of a list.  A job's devices have pieces from
 * everywhere in it.  Row numbers say which, and the merge orders equal keys by them.
 *
 * On two H100, with 64e6 int4, two GPUs gain 9 % over one; with less than 32e6 they lose.  The
 * way to the device and back is two thirds of the time.  Two GPUs share the first half of it; the
 * result comes from one.
 *
 *-------------------------------------------------------------------------
 */
#include <system_error>
#include <thread>

#include "published/bucket_bitonic.cuh"

namespace hpsort
{
namespace published
{

namespace
{

/* What a thread sorts, and where the result stays until it is fetched. */
struct Part
{
	Part() = default;
	~Part();
	Part(const Part &) = delete;
	Part &operator=(const Part &) = delete;

	Share	   *share = nullptr;	/* the job's share with its keys; null: the first device has
									 * them */
	uint64_t	first = 0;		/* place of the part's first element in the list of all parts
								 * before the merge */
	uint64_t	n = 0;
	DeviceBuffer memory;		/* on the share's device and stream compute */
	Elements	sorted = {};
	bool		no_room = false;	/* on its own device; the first device sorts the part */
	HpsortCudaError error;
};

/* The thread that ends a job is on the first device. */
Part::~Part()
{
	if (share == nullptr)
		return;
	(void) guarded(nullptr, [&] {
		DeviceScope scope(share->context->ordinal);

		memory.release();
	});
}

/*
 * Sorts a share's keys, which its device has and keeps: if it has no room to sort them, they are
 * fetched unsorted.  The result is in memory that stays with the part, for the first device to
 * fetch.
 */
void
sort_share(HpsortPublishedSpec spec, Part *part)
{
	HpsortCuda *context = part->share->context;
	const KeptKeys &kept = part->share->kept;
	const cudaStream_t stream = part->share->compute;
	DeviceScope scope(context->ordinal);

	part->memory = DeviceBuffer(context, stream, (spec.payload ? 2 : 1) * array_bytes(part->n, 4),
								"sorted keys");

	Carver		out(part->memory);

	part->sorted.keys = out.take<uint32_t>(part->n);
	part->sorted.payload = spec.payload ? out.take<uint32_t>(part->n) : nullptr;

	KeptTask	keys(context, stream, kept, part->n, part->sorted.keys, part->sorted.payload);

	sort_on(keys.task, &spec);
	/* the first device fetches the result on a stream of its own */
	check(cudaStreamSynchronize(stream), "sort");
}

/*
 * Calls work(&part) for all parts, the first in this thread and each other one in a thread of its
 * own.  All threads are joined before any error is reported.  If a thread cannot be started, its
 * part is sorted in this thread.
 */
template <typename Work>
void
for_each_part(std::vector<Part> *parts, Work work)
{
	std::vector<std::thread> threads;
	auto		guarded_work = [&](Part *part) {
		(void) guarded(&part->error, [&] { work(part); });
	};

	/* so that memory cannot run out while threads run that nobody would join */
	threads.reserve(parts->size());
	for (size_t i = 1; i < parts->size(); i++)
		try
		{
			threads.emplace_back(guarded_work, &(*parts)[i]);
		}
		catch (const std::system_error &)
		{
			guarded_work(&(*parts)[i]);
		}
	guarded_work(&parts->front());
	for (std::thread &thread : threads)
		thread.join();
	for (const Part &part : *parts)
		if (part.error.code != HPSORT_CUDA_OK)
			throw Failure{part.error};
}

/* Copies elements from the part's device to the first device, on the first device's stream, for
 * the merge that follows there.  The part's thread has waited for its own stream. */
void
fetch(const Task &task, const Part &part, const Elements &from, const Elements &to)
{
	auto		copy = [&](uint32_t *target, const uint32_t *source) {
		check(cudaMemcpyPeerAsync(target, task.context->ordinal, source,
								  part.share->context->ordinal, part.n * 4, task.stream),
			  "copy between devices");
	};

	copy(to.keys, from.keys);
	if (from.payload)
		copy(to.payload, from.payload);
}

/* Returns the first device's own part, and behind it the parts of the other devices. */
std::vector<Part>
parts_of(uint64_t own, const std::vector<Share *> &others)
{
	std::vector<Part> parts(others.size() + 1);
	uint64_t	first = own;

	parts[0].n = own;
	for (size_t i = 0; i < others.size(); i++)
	{
		Part	   &part = parts[i + 1];

		part.share = others[i];
		part.first = first;
		part.n = others[i]->kept.n();
		first += part.n;
	}
	return parts;
}

/* Sorts a share.  Want of memory on its device is no error: the first device sorts the part. */
void
sort_share_if_room(const HpsortPublishedSpec &spec, Part *part)
{
	try
	{
		sort_share(spec, part);
	}
	catch (const Failure &failure)
	{
		if (!failure.out_of_memory())
			throw;

		/* this may be a thread without a current device */
		DeviceScope scope(part->share->context->ordinal);

		part->no_room = true;
		part->memory.release();
	}
}

/* Sorts a part that lies on the first device into its place of the output.  This is done on the
 * job's stream, where it can be stopped. */
void
sort_here(const Task &task, const HpsortPublishedSpec &spec, const Part &part)
{
	DeviceScope scope(task.context->ordinal);
	HpsortPublishedSpec own_spec = spec;
	Task		own = task;

	own.keys += part.first;
	own.out += part.first;
	if (task.payload != nullptr)
	{
		own.payload += part.first;
		own.payload_out += part.first;
	}
	own.n = part.n;
	sort_on(own, &own_spec);
	check(cudaStreamSynchronize(task.stream), "sort");
}

/* Copies keys of another device, unsorted, to their place on the first one, with their row
 * numbers. */
void
bring(const Task &task, const Part &part)
{
	const KeptKeys &kept = part.share->kept;
	const Elements from = {reinterpret_cast<uint32_t *>(kept.keys()), nullptr};
	const Elements to = {const_cast<uint32_t *>(task.keys) + part.first, nullptr};

	fetch(task, part, from, to);
	if (task.payload != nullptr)
		kept.write_rows(task.stream, const_cast<uint32_t *>(task.payload) + part.first);
}

} /* namespace */

/* The first device sorts its own part where it is, and afterwards the parts of devices that had
 * no room.  The other devices cannot be stopped: their parts are waited for. */
size_t
sort_shared(const Task &task, const HpsortPublishedSpec *spec, uint64_t own,
			const std::vector<Share *> &others)
{
	std::vector<Part> parts = parts_of(own, others);
	size_t		devices = parts.size();
	HpsortPublishedSpec theirs = *spec;
	const Elements out = {task.out, task.payload_out};
	std::vector<uint64_t> ends;
	Task		merging = task;

	/* how short passes must be depends on what is free on a device; this number is the first
	 * device's */
	theirs.pass_keys = 0;
	/* the shares' streams do not wait for this one */
	check(cudaStreamSynchronize(task.stream), "get the keys");
	for_each_part(&parts, [&](Part *part) {
		if (part->share == nullptr)
			sort_here(task, *spec, *part);
		else
			sort_share_if_room(theirs, part);
	});
	/* Parts that are sorted here come first, because there may be too little room here, too;
	 * nothing is on its way from other devices then. */
	for (const Part &part : parts)
		if (part.no_room)
		{
			bring(task, part);
			sort_here(task, *spec, part);
			devices--;
		}
	for (const Part &part : parts)
	{
		if (part.share != nullptr && !part.no_room)
			fetch(task, part, part.sorted, out.from(part.first));
		ends.push_back(part.first + part.n);
	}
	/* all keys are in the output, and their place before is the second list */
	merging.spec = spec;
	merge_output(merging, {const_cast<uint32_t *>(task.keys),
						   const_cast<uint32_t *>(task.payload)}, ends);
	/* the parts' memory is read until then */
	check(cudaStreamSynchronize(task.stream), "merge the parts");
	return devices;
}

} /* namespace published */
} /* namespace hpsort */
