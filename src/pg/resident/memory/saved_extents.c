/*
 * saved_extents.c
 *		Extents that outlive a clean shutdown (see saved_extents.h).
 *
 * There are two files in the data directory.  The worker writes the extents.  The server's first
 * process writes the seal, a copy of pg_control, when all other processes have ended; it does
 * nothing else with extents but to remove their file.
 */
#include "postgres.h"

#include <sys/stat.h>
#include <unistd.h>

#include "catalog/pg_control.h"
#include "common/controldata_utils.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "utils/memutils.h"

#include "pg/resident/memory/fill_request.h"
#include "pg/resident/memory/resident.h"
#include "pg/resident/memory/saved_extents.h"
#include "pg/resident/memory/slabs.h"
#include "pg/resident/memory/worker.h"

#define EXTENTS_FILE "hpsort_resident.extents"
#define EXTENTS_TEMP_FILE EXTENTS_FILE ".tmp"
#define SEAL_FILE "hpsort_resident.seal"

/* The first bytes of the file.  The number changes with the layout of extents and their keys. */
#define FORMAT "hpsort " HPSORT_VERSION " extents 1"

/* Before the bytes of an extent. */
typedef struct SavedHeader
{
	pg_crc32c	crc;			/* of all below, and of the bytes */
	uint32		unused;
	ResidentCopy copy;
} SavedHeader;

/* The server has started with a file that is to be trusted. */
static bool trusted = false;

static shmem_startup_hook_type previous_hook;

static void saved_extents_write(void);

/* --- the server's first process */

/* Reads pg_control; false unless it says that the server was shut down, and is no standby. */
static bool
read_control(ControlFileData *control)
{
	bool		crc_ok;
	ControlFileData *read = get_controlfile(DataDir, &crc_ok);

	*control = *read;
	pfree(read);
	return crc_ok && control->state == DB_SHUTDOWNED;
}

/* Reads the seal; false if there is none. */
static bool
read_seal(ControlFileData *seal)
{
	FILE	   *file = AllocateFile(SEAL_FILE, PG_BINARY_R);
	bool		read = file && fread(seal, sizeof(*seal), 1, file) == 1;

	if (file)
		FreeFile(file);
	return read;
}

/* An on_proc_exit callback: seals the file if the server has been shut down. */
static void
seal_file(int code, Datum arg)
{
	ControlFileData control;
	FILE	   *file;
	bool		written;

	if (code != 0 || MyProcPid != PostmasterPid || access(EXTENTS_FILE, F_OK) != 0 ||
		!read_control(&control))
		return;
	file = AllocateFile(SEAL_FILE, PG_BINARY_W);
	written = file && fwrite(&control, sizeof(control), 1, file) == 1 && fflush(file) == 0 &&
		pg_fsync(fileno(file)) == 0;
	if (file)
		FreeFile(file);
	if (!written)
		(void) unlink(SEAL_FILE);
}

/*
 * The shmem_startup_hook.  Other processes, which have shared memory already, do not call it.  When
 * there was shared memory before, a process has crashed, and LSNs may be given again.
 */
static void
memory_made(void)
{
	static bool again = false;

	if (previous_hook)
		previous_hook();
	if (again)
	{
		trusted = false;
		(void) unlink(EXTENTS_FILE);
	}
	again = true;
}

void
saved_extents_preload(void)
{
	ControlFileData control;
	ControlFileData seal;

	/* Not for a server of one process. */
	if (!IsPostmasterEnvironment)
		return;
	resident_worker_at_end = saved_extents_write;
	trusted = fill_is_eager() && read_seal(&seal) && read_control(&control) &&
		memcmp(&seal, &control, sizeof(seal)) == 0;
	/* Should the seal come again by a crash of the machine, pg_control is another all the same. */
	(void) unlink(SEAL_FILE);
	if (!trusted)
		(void) unlink(EXTENTS_FILE);
	previous_hook = shmem_startup_hook;
	shmem_startup_hook = memory_made;
	on_proc_exit(seal_file, (Datum) 0);
}

/* --- the file */

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

/* Writes all extents; false if the file system is full, or fails. */
static bool
write_extents(FILE *file)
{
	ResidentCursor cursor = {0};
	SavedHeader header = {0};
	StringInfoData bytes;

	initStringInfo(&bytes);
	if (fwrite(FORMAT, sizeof(FORMAT), 1, file) != 1)
		return false;
	while (resident_next_extent(&cursor, &header.copy, &bytes))
	{
		header.crc = checksum(&header, bytes.data);
		if (fwrite(&header, sizeof(header), 1, file) != 1 ||
			fwrite(bytes.data, bytes.len, 1, file) != 1)
			return false;
		resetStringInfo(&bytes);
	}
	return fflush(file) == 0 && pg_fsync(fileno(file)) == 0;
}

/* For the worker that ends with the server: writes all extents to the file. */
static void
saved_extents_write(void)
{
	FILE	   *file;
	bool		written;

	ResidentRoot *root = resident_root();

	/* What nobody has taken back yet is still good. */
	if (!fill_is_eager() || root == NULL || (trusted && !root->taken_back))
		return;
	file = AllocateFile(EXTENTS_TEMP_FILE, PG_BINARY_W);
	written = file && write_extents(file);
	if (file)
		FreeFile(file);
	if (written && durable_rename(EXTENTS_TEMP_FILE, EXTENTS_FILE, LOG) == 0)
		return;
	ereport(LOG,
			(errcode_for_file_access(),
			 errmsg("could not write file \"%s\": %m", EXTENTS_FILE)));
	(void) unlink(EXTENTS_TEMP_FILE);
}

/* Takes back the extents of a file of size bytes; returns how many. */
static int
read_extents(FILE *file, Size size)
{
	char		format[sizeof(FORMAT)];
	ResidentKey key = {0};
	ResidentSweep sweep = {.free_only = true};
	SavedHeader header;
	StringInfoData bytes;
	int			n = 0;

	initStringInfo(&bytes);
	if (fread(format, sizeof(format), 1, file) != 1 || memcmp(format, FORMAT, sizeof(format)) != 0)
		return 0;
	while (fread(&header, sizeof(header), 1, file) == 1)
	{
		const ResidentCopy *copy = &header.copy;
		ResidentSummary summary;

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
		if (!resident_publish(&key, copy->number, &copy->extent, bytes.data, copy->extent.size,
							  Max(size, copy->extent.size), &sweep))
			break;
		size -= Min(size, copy->extent.size);
		n++;
	}
	return n;
}

void
saved_extents_read(void)
{
	ResidentRoot *root = resident_root();
	FILE	   *file = trusted && root ? AllocateFile(EXTENTS_FILE, PG_BINARY_R) : NULL;
	struct stat status;

	if (file == NULL)
		return;
	if (fstat(fileno(file), &status) == 0)
		ereport(LOG,
				(errmsg("took back %d parts of resident columns",
						read_extents(file, (Size) status.st_size))));
	FreeFile(file);
	(void) unlink(EXTENTS_FILE);
	root->taken_back = true;
}
