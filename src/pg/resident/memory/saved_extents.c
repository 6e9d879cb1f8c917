/*
 * saved_extents.c
 *		Extents in a file, from which the next server takes them back (see saved_extents.h).
 *
 * There are two files in the data directory.  The worker writes the extents.  Beside them lies
 * the seal, which says what pg_control was when they were known to be right.  The worker writes
 * it anew after each checkpoint, and the server's first process when all others have ended; the
 * first process does nothing else with extents but to remove their file.
 */
#include "postgres.h"

#include <sys/stat.h>
#include <unistd.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xloginsert.h"
#include "access/xlogrecovery.h"
#include "catalog/pg_control.h"
#include "common/controldata_utils.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "utils/memutils.h"

#include "pg/guc.h"
#include "pg/resident/memory/column_values.h"
#include "pg/resident/memory/fill_request.h"
#include "pg/resident/memory/resident.h"
#include "pg/resident/memory/saved_extents.h"
#include "pg/resident/memory/slabs.h"
#include "pg/resident/memory/worker.h"

#define EXTENTS_FILE "hpsort_resident.extents"
#define EXTENTS_TEMP_FILE EXTENTS_FILE ".tmp"
#define SEAL_FILE "hpsort_resident.seal"

/* The number changes with the layout of extents and their keys. */
#define FORMAT "hpsort " HPSORT_VERSION " extents 5"

/* How often the worker looks whether there was a checkpoint. */
#define LOOK_MS 5000

/* How much is written at a time, how long others have the disk then, and how much in the mean. */
#define STEP_BYTES (1024 * 1024)
#define PAUSE_MS 10
#define BYTES_PER_MS 8192

/* The first bytes of the file. */
typedef struct SavedStart
{
	char		format[48];
	uint64		id;				/* random: no other file has it */
	XLogRecPtr	flushed;		/* the end of WAL after the last extent had been copied */
} SavedStart;

/* Before the bytes of an extent. */
typedef struct SavedHeader
{
	pg_crc32c	crc;			/* of all below, and of the bytes */
	uint32		unused;
	ResidentCopy copy;
} SavedHeader;

/* All bytes are compared: it is filled with zeros first. */
typedef struct Seal
{
	ControlFileData control;
	SavedStart	start;			/* of the file */
	bool		outlives_crash; /* settings were such that the file is right after a crash, too */
} Seal;

/* Of the first process, inherited by all others: this file was trusted at the start; or id 0. */
static Seal trusted;

static shmem_startup_hook_type previous_hook;

/* The worker's: the file that there is, its seal, and the file that is being written. */
static bool begun = false;
static SavedStart file_start;	/* id 0: there is none */
static Seal sealed;
static TimestampTz next_writing;
static FILE *writing = NULL;
static uint64 written;			/* bytes, ... */
static uint64 writing_changes;	/* ... as of this number of changes */
static ResidentCursor cursor;

static long step(void);
static void at_end(void);

/* --- the server's first process */

/* Reads pg_control; false if it is being written. */
static bool
read_control(ControlFileData *control)
{
	bool		crc_ok;
	ControlFileData *read = get_controlfile(DataDir, &crc_ok);

	memcpy(control, read, sizeof(*control));
	pfree(read);
	return crc_ok;
}

/* Reads the first size bytes of a file; false if there are not so many. */
static bool
read_file(const char *name, void *bytes, Size size)
{
	FILE	   *file = AllocateFile(name, PG_BINARY_R);
	bool		read = file && fread(bytes, size, 1, file) == 1;

	if (file)
		FreeFile(file);
	return read;
}

/* Writes the seal; removes it if that fails. */
static bool
write_seal(const Seal *seal)
{
	FILE	   *file = AllocateFile(SEAL_FILE, PG_BINARY_W);
	bool		done = file && fwrite(seal, sizeof(*seal), 1, file) == 1 && fflush(file) == 0 &&
	pg_fsync(fileno(file)) == 0;

	if (file)
		FreeFile(file);
	if (!done)
		(void) unlink(SEAL_FILE);
	return done;
}

/* An on_proc_exit callback: when the server has been shut down, the seal says so. */
static void
seal_shutdown(int code, Datum arg)
{
	Seal		seal;

	if (code == 0 && MyProcPid == PostmasterPid && read_file(SEAL_FILE, &seal, sizeof(seal)) &&
		read_control(&seal.control) && seal.control.state == DB_SHUTDOWNED)
		(void) write_seal(&seal);
}

/* Whether the settings are such that pages are right after a crash, as replay makes them. */
static bool
pages_outlive_crash(void)
{
	return enableFsync && fullPageWrites;
}

/* Whether the file is right, by the seal, but for what recovery is going to find. */
static bool
is_right(const Seal *seal)
{
	ControlFileData control;
	SavedStart	start;

	return read_file(EXTENTS_FILE, &start, sizeof(start)) &&
		memcmp(&start, &seal->start, sizeof(start)) == 0 &&
		strcmp(start.format, FORMAT) == 0 &&
		read_control(&control) && memcmp(&control, &seal->control, sizeof(control)) == 0 &&
		(control.state == DB_SHUTDOWNED || (seal->outlives_crash && pages_outlive_crash())) &&
		access("backup_label", F_OK) != 0 && access(STANDBY_SIGNAL_FILE, F_OK) != 0 &&
		access(RECOVERY_SIGNAL_FILE, F_OK) != 0;
}

/*
 * Finds out whether the file is to be trusted, and removes it if not.  The seal is gone in either
 * case: one that there is later is of this server.
 */
static void
judge_file(void)
{
	if (!fill_is_eager() || !read_file(SEAL_FILE, &trusted, sizeof(trusted)) ||
		!is_right(&trusted))
		memset(&trusted, 0, sizeof(trusted));
	(void) unlink(SEAL_FILE);
	(void) unlink(EXTENTS_TEMP_FILE);
	if (trusted.start.id == 0)
		(void) unlink(EXTENTS_FILE);
}

/*
 * The shmem_startup_hook.  Other processes, which have shared memory already, do not call it.  When
 * there was shared memory before, a process has crashed.
 */
static void
memory_made(void)
{
	static bool again = false;

	if (previous_hook)
		previous_hook();
	if (again)
		judge_file();
	again = true;
}

void
saved_extents_preload(void)
{
	/* Not for a server of one process. */
	if (!IsPostmasterEnvironment)
		return;
	resident_worker_step = step;
	resident_worker_at_end = at_end;
	judge_file();
	previous_hook = shmem_startup_hook;
	shmem_startup_hook = memory_made;
	on_proc_exit(seal_shutdown, (Datum) 0);
}

/*
 * Whether there is a trusted file, and recovery has replayed all WAL that there was when the file
 * was written.
 */
static bool
is_trusted(void)
{
	return trusted.start.id != 0 && (trusted.control.state == DB_SHUTDOWNED ||
									 GetXLogReplayRecPtr(NULL) >= trusted.start.flushed);
}

/* --- writing */

static pg_crc32c
checksum(const SavedHeader *header, const char *bytes)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, (const char *) header + sizeof(crc), sizeof(*header) - sizeof(crc));
	COMP_CRC32C(crc, bytes, header->copy.extent.size);
	FIN_CRC32C(crc);
	return crc;
}

/* Begins to write the file under another name; false if that fails. */
static bool
begin_file(ResidentRoot *root)
{
	SavedStart	start = {0};

	LWLockAcquire(&root->lock, LW_SHARED);
	writing_changes = root->changes;
	LWLockRelease(&root->lock);
	memset(&cursor, 0, sizeof(cursor));
	written = sizeof(start);
	writing = AllocateFile(EXTENTS_TEMP_FILE, PG_BINARY_W);
	return writing && fwrite(&start, sizeof(start), 1, writing) == 1;
}

/* Writes the next extents.  Sets *all when there are no more; returns false if that fails. */
static bool
write_extents(bool *all)
{
	uint64		before = written;
	SavedHeader header = {0};
	StringInfoData bytes;
	bool		done = true;

	initStringInfo(&bytes);
	*all = false;
	while (done && !*all && written - before < STEP_BYTES)
	{
		resetStringInfo(&bytes);
		*all = !resident_next_copy(&cursor, &header.copy, &bytes);
		if (*all)
			break;
		header.crc = checksum(&header, bytes.data);
		done = fwrite(&header, sizeof(header), 1, writing) == 1 &&
			fwrite(bytes.data, bytes.len, 1, writing) == 1;
		written += sizeof(header) + bytes.len;
	}
	pfree(bytes.data);
	/* The kernel begins to write, so that there is less to wait for at the end. */
	if (done && fflush(writing) == 0)
		pg_flush_data(fileno(writing), (off_t) before, (off_t) (written - before));
	return done;
}

/*
 * Returns the end of WAL, which has been flushed up to there: that of a record that says nothing.
 * All that was noted before is of earlier records.
 */
static XLogRecPtr
flush_wal(void)
{
	char		nothing = 0;
	XLogRecPtr	end;

	XLogBeginInsert();
	/* Only the record that ends a segment may be empty. */
	XLogRegisterData(&nothing, sizeof(nothing));
	XLogSetRecordFlags(XLOG_MARK_UNIMPORTANT);
	end = XLogInsert(RM_XLOG_ID, XLOG_NOOP);
	XLogFlush(end);
	return end;
}

/* Gives the file that has been written its start and its name; false if that fails. */
static bool
end_file(ResidentRoot *root)
{
	SavedStart	start = {.format = FORMAT};

	if (!pg_strong_random(&start.id, sizeof(start.id)) || start.id == 0)
		return false;
	start.flushed = flush_wal();
	if (fseek(writing, 0, SEEK_SET) != 0 || fwrite(&start, sizeof(start), 1, writing) != 1 ||
		fflush(writing) != 0 || pg_fsync(fileno(writing)) != 0)
		return false;
	FreeFile(writing);
	writing = NULL;
	if (durable_rename(EXTENTS_TEMP_FILE, EXTENTS_FILE, LOG) != 0)
		return false;
	file_start = start;
	LWLockAcquire(&root->lock, LW_EXCLUSIVE);
	root->saved = writing_changes;
	LWLockRelease(&root->lock);
	return true;
}

/* Ends the writing of a file, for now, without one. */
static void
abandon_file(void)
{
	if (writing)
		FreeFile(writing);
	writing = NULL;
	(void) unlink(EXTENTS_TEMP_FILE);
}

/* Writes the next part of the file; returns whether there is more to write. */
static bool
write_part(ResidentRoot *root)
{
	bool		all = false;

	if ((writing || begin_file(root)) && write_extents(&all) && (!all || end_file(root)))
		return !all;
	ereport(LOG,
			(errcode_for_file_access(),
			 errmsg("could not write file \"%s\": %m", EXTENTS_FILE)));
	abandon_file();
	return false;
}

/* Writes the seal, if there is a file and the seal is not as it was. */
static void
write_seal_if_changed(void)
{
	Seal		seal;

	memset(&seal, 0, sizeof(seal));
	if (file_start.id == 0 || !read_control(&seal.control) ||
		seal.control.state != DB_IN_PRODUCTION)
		return;
	seal.start = file_start;
	seal.outlives_crash = hpsort_resident_save > 0 && pages_outlive_crash() &&
		seal.control.checkPointCopy.fullPageWrites;
	/* Pages that were written since the checkpoint stay what they are when settings change. */
	if (seal.control.checkPoint == sealed.control.checkPoint && !sealed.outlives_crash)
		seal.outlives_crash = false;
	if (memcmp(&seal, &sealed, sizeof(seal)) != 0 && write_seal(&seal))
		memcpy(&sealed, &seal, sizeof(sealed));
}

/* Removes the files when no values are to be in memory. */
static void
remove_files(void)
{
	abandon_file();
	(void) unlink(SEAL_FILE);
	(void) unlink(EXTENTS_FILE);
	memset(&file_start, 0, sizeof(file_start));
}

/*
 * Makes this process the one that writes.  Returns NULL if there is nothing to be written here, or
 * not yet; *changed is set to whether the file is not up to date.
 */
static ResidentRoot *
begin_writing(bool *changed)
{
	ResidentRoot *root = resident_root();

	if (!fill_is_eager())
		remove_files();
	if (root == NULL || !fill_is_eager() || RecoveryInProgress())
		return NULL;
	if (!begun)
	{
		/* An earlier worker of this server may have written a seal. */
		if (read_file(SEAL_FILE, &sealed, sizeof(sealed)))
			file_start = sealed.start;
		else if (is_trusted())
			file_start = trusted.start;
		next_writing = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
												   hpsort_resident_save * INT64CONST(1000));
		begun = true;
	}
	LWLockAcquire(&root->lock, LW_SHARED);
	/* What nobody has taken back yet is still good. */
	*changed = root->changes != root->saved && (root->taken_back || !is_trusted());
	LWLockRelease(&root->lock);
	return root;
}

/* The worker's step: writes the next part of the file, and the seal, when they are due. */
static long
step(void)
{
	int64		interval = hpsort_resident_save * INT64CONST(1000);
	TimestampTz now = GetCurrentTimestamp();
	bool		changed;
	ResidentRoot *root = begin_writing(&changed);

	if (root == NULL)
		return fill_is_eager() ? LOOK_MS : -1;
	if (interval == 0)
		return -1;
	if (writing || (changed && now >= next_writing))
	{
		if (write_part(root))
			return PAUSE_MS;
		next_writing = TimestampTzPlusMilliseconds(now, Max(interval,
															(int64) written / BYTES_PER_MS));
	}
	write_seal_if_changed();
	return (long) Min(interval, LOOK_MS);
}

/* The worker ends, mostly with the server: writes all that is not in the file. */
static void
at_end(void)
{
	bool		changed;
	ResidentRoot *root = begin_writing(&changed);

	if (root == NULL)
		return;
	if (writing)
		abandon_file();
	while (changed)
		changed = write_part(root);
	write_seal_if_changed();
}

/* --- reading */

/* The values of a column that have been taken back: their numbers are those in the file. */
typedef struct TakenValues
{
	uint64		saved;			/* their generation in the file, ... */
	uint64		generation;		/* ... and in memory; 0: there are none yet */
	uint32		n;
} TakenValues;

/*
 * Takes values back: has them numbered, as whoever captures has.  There may be other values
 * already, so that a value gets another number than in the file: then neither this one nor any
 * behind it is taken.  Returns whether all are.
 */
static bool
take_values(const ResidentCopy *copy, const char *bytes, TakenValues *taken, ResidentSweep *sweep)
{
	const uint32 *ends = (const uint32 *) bytes;
	const char *start = bytes + copy->nvalues * sizeof(uint32);
	ResidentValue *values = palloc_array(ResidentValue, copy->nvalues);
	uint32	   *numbers = palloc_array(uint32, copy->nvalues);

	if (copy->number == 0)
		*taken = (TakenValues)
	{
		.saved = copy->extent.values
	};
	for (uint32 i = 0; i < copy->nvalues; i++)
	{
		uint32		offset = i > 0 ? ends[i - 1] : 0;

		values[i] = (ResidentValue)
		{
			.bytes = start + offset,.length = ends[i] - offset
		};
	}
	if (taken->saved == copy->extent.values && taken->n == copy->number &&
		resident_number_values(&copy->key, &taken->generation, values, (int) copy->nvalues,
							   numbers, sweep))
		for (uint32 i = 0; i < copy->nvalues && numbers[i] == taken->n; i++)
			taken->n++;
	pfree(values);
	pfree(numbers);
	return taken->n == copy->number + copy->nvalues;
}

/*
 * Takes an extent back, if all values of which it has numbers have been.  expected is as
 * resident_publish() has it.
 */
static bool
take_extent(ResidentCopy *copy, const char *bytes, Size expected, const TakenValues *taken,
			ResidentSweep *sweep)
{
	ResidentExtent *extent = &copy->extent;

	if (extent->values != 0)
	{
		if (extent->values != taken->saved || resident_numbers(extent) > taken->n)
			return false;
		extent->values = taken->generation;
	}
	return resident_publish(&copy->key, copy->number, extent, bytes, extent->size,
							Max(expected, extent->size), sweep);
}

/*
 * Takes back what is in a file of size bytes; returns how many extents.  *all is set to whether
 * that is all of them.
 */
static int
read_extents(FILE *file, Size size, bool *all)
{
	ResidentKey key = {0};
	ResidentSweep sweep = {.free_only = true,.saved = true};
	TakenValues taken = {0};
	SavedHeader header;
	StringInfoData bytes;
	int			n = 0;

	initStringInfo(&bytes);
	*all = true;
	if (fseek(file, sizeof(SavedStart), SEEK_SET) != 0)
		return 0;
	while (fread(&header, sizeof(header), 1, file) == 1)
	{
		ResidentCopy *copy = &header.copy;
		ResidentSummary summary;
		bool		done;

		CHECK_FOR_INTERRUPTS();
		resetStringInfo(&bytes);
		if (copy->extent.size > Min(size, MaxAllocSize / 2))
			break;
		enlargeStringInfo(&bytes, (int) copy->extent.size);
		if (fread(bytes.data, copy->extent.size, 1, file) != 1 ||
			checksum(&header, bytes.data) != header.crc)
			break;
		if (memcmp(&key, &copy->key, sizeof(key)) != 0 &&
			!resident_begin(&copy->key, copy->nextents, &sweep, &summary))
			break;
		key = copy->key;
		if (copy->nvalues > 0)
			done = take_values(copy, bytes.data, &taken, &sweep);
		else
			done = take_extent(copy, bytes.data, size, &taken, &sweep);
		size -= copy->extent.size;
		n += done && copy->nvalues == 0;
		*all = *all && done;
		/* What is too much memory now was not when it was saved. */
		if (!done && sweep.full)
			break;
	}
	*all = *all && feof(file);
	return n;
}

void
saved_extents_read(void)
{
	ResidentRoot *root = resident_root();
	FILE	   *file = root && is_trusted() ? AllocateFile(EXTENTS_FILE, PG_BINARY_R) : NULL;
	struct stat status;
	bool		all = false;
	int			n = 0;

	if (root == NULL)
		return;
	if (file && fstat(fileno(file), &status) == 0)
	{
		n = read_extents(file, (Size) status.st_size, &all);
		ereport(LOG,
				(errmsg("took back %d parts of resident columns", n)));
	}
	LWLockAcquire(&root->lock, LW_EXCLUSIVE);
	/* The file has no changes of others, and more than memory if some of it had no room. */
	if (file)
		root->saved = all ? (uint64) n : PG_UINT64_MAX;
	root->taken_back = true;
	LWLockRelease(&root->lock);
	if (file)
		FreeFile(file);
}
