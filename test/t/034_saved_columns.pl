# Resident columns that are taken back from a file after a restart or a crash: only if nothing has happened
# by which the file could be wrong (docs/internals/resident.md, "After a restart").  test/resident_mutants.sh
# takes conditions out of the rule, and expects the tests that name them in brackets to fail.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Copy qw(copy);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use ResidentColumns;
use Test::More;
use Time::HiRes qw(usleep);

my $extents = '/hpsort_resident.extents';
my $seal = '/hpsort_resident.seal';
my $start_size = 64;    # of the extents' file: a format, a number of its own, an LSN; the seal has a copy
my $header_size = 168;
my $saved = new_node('saved', "fsync = on\nfull_page_writes = on\nshared_preload_libraries = hpsort\nhpsort.resident_fill = eager\nhpsort.resident_save = 1s
wal_level = replica\nwal_log_hints = on\nmax_wal_senders = 2\nrestart_after_crash = on\nbgwriter_lru_maxpages = 0\ncheckpoint_timeout = 1h\nwal_keep_size = 256MB\nrecovery_init_sync_method = syncfs\n");

sub bytes_of
{
	my ($file) = @_;

	open(my $handle, '<:raw', $file) or return '';
	local $/;
	return <$handle> // '';
}

my $data = $saved->data_dir;

# The number of the file that the seal names, if there is a file, and the seal is of this pg_control.
sub sealed
{
	my ($server) = @_;
	my ($start, $sealed, $control) = map { bytes_of($server->data_dir . $_) } $extents, $seal, '/global/pg_control';
	my $control_size = length($sealed) - $start_size - 8;

	$start = substr($start, 0, $start_size);
	return '' if $control_size <= 0 || substr($sealed, $control_size, $start_size) ne $start || substr($sealed, 0, $control_size) ne substr($control, 0, $control_size);
	return substr($start, 48, 8);
}

# What is in a file: extents, and, with their number, values.
sub records
{
	my ($bytes) = @_;
	my @records;

	for (my $at = $start_size; $at + $header_size <= length $bytes; )
	{
		my $header = substr($bytes, $at, $header_size);
		my ($nvalues, $generation, $size) = unpack('x56 L x20 Q x40 L', $header);
		my $body = substr($bytes, $at + $header_size, $size);
		my @ends = unpack("L$nvalues", $body);

		push @records, { header => $header, nvalues => $nvalues, generation => $generation, body => $body,
			values => [ map { substr($body, 4 * $nvalues + ($_ ? $ends[$_ - 1] : 0), $ends[$_] - ($_ ? $ends[$_ - 1] : 0)) } 0 .. $#ends ] };
		$at += $header_size + $size;
	}
	return @records;
}

# How many columns have that many extents: the table has become longer if they are more than the columns.
sub columns
{
	my ($n) = @_;

	return $n > 3 && $n % 3 == 0 ? 3 : $n;
}

# Writes a file as hpsort would, but with other values.
sub forge
{
	my ($change) = @_;
	my $bytes = bytes_of("$data$extents");
	my @records = records($bytes);

	$change->(grep { $_->{nvalues} } @records);
	open(my $handle, '>:raw', "$data$extents") or die;
	print $handle substr($bytes, 0, $start_size);
	for my $record (@records)
	{
		my ($end, $body) = (0, $record->{body});

		$body = join('', (map { pack('L', $end += length $_) } @{ $record->{values} }), @{ $record->{values} }) if $record->{nvalues};
		my $rest = substr($record->{header}, 4, 52) . pack('L', scalar @{ $record->{values} }) . substr($record->{header}, 60, 20) .
			pack('Q', $record->{generation}) . substr($record->{header}, 88, 40) . pack('L', length $body) . substr($record->{header}, 132) . $body;
		my $crc = 0xFFFFFFFF;
		for my $byte (unpack('C*', $rest))
		{
			$crc ^= $byte;
			$crc = $crc & 1 ? $crc >> 1 ^ 0x82F63B78 : $crc >> 1 for 1 .. 8;
		}
		print $handle pack('L', $crc ^ 0xFFFFFFFF), $rest;
	}
	close $handle;
}

# Waits for a file that is sealed, has all three columns, and is another one than before.
sub wait_sealed
{
	my ($server, $before) = @_;

	for (1 .. 50 * $PostgreSQL::Test::Utils::timeout_default)
	{
		my $number = sealed($server);

		return $number if $number ne '' && $number ne ($before // '') && columns(scalar grep { !$_->{nvalues} } records(bytes_of($server->data_dir . $extents))) == 3;
		usleep(20000);
	}
	fail('there is a file');
	return '';
}

# Vacuums, so that a crash does not undo it.
sub vacuum
{
	my ($server) = @_;

	vacuum_visible($server, 't');
	$server->safe_psql('postgres', "SELECT pg_logical_emit_message(true, '', '')");
}

# Changes values in memory, and waits until the file has them.
sub change
{
	my ($server) = @_;
	my $before = substr(bytes_of($server->data_dir . $extents), 48, 8);

	$server->safe_psql('postgres', 'UPDATE t SET x = x + 1 WHERE id % 3 = 0');
	vacuum($server);
	$server->safe_psql('postgres', "SELECT warm('t', 'x'), warm('t', 'y'), warm('t', 'z')");
	return wait_sealed($server, $before);
}

# That the server that has just started has taken back that many columns; its answers are right in either case.
sub takes_back
{
	my ($server, $expected, $name) = @_;

	# A server that recovers from an archive lets readers in before it writes.
	$server->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or fail("$name: in recovery");
	$server->poll_query_until('postgres', q{SELECT count(*) = 3 AND bool_and(reason IS NULL AND rows > 3000) FROM hpsort_resident}) or fail("$name: not filled: " . $server->safe_psql('postgres', 'SELECT * FROM hpsort_resident'));
	# They may be there just before the log says so.
	for (1 .. 50 * $PostgreSQL::Test::Utils::timeout_default)
	{
		last if !$expected || slurp_file($server->logfile) =~ /took back/;
		usleep(20000);
	}
	is(join(' ', map { columns($_) || () } slurp_file($server->logfile) =~ /took back (\d+) parts of resident columns/g), $expected || '', "$name: columns taken back");
	same($server, $name, 't', $_) for 'x', 'y', 'z';
	$server->safe_psql('postgres', 'UPDATE t SET x = x + 1 WHERE id % 1000 = 0');
	same($server, "$name, and changed", 't', $_) for 'x', 'z';
	vacuum($server);
	same($server, "$name, changed, and vacuumed", 't', $_) for 'x', 'z';
}

# The server is stopped, or crashes, something happens, and it is started with an empty log.
sub restarted
{
	my ($server, $mode, $expected, $name, $between) = @_;
	my $number = $mode eq 'fast' ? '' : wait_sealed($server);

	$server->stop($mode);
	# A crash may have come between the next file and its seal.
	for (1 .. 9)
	{
		last if $mode eq 'fast' || sealed($server) ne '';
		$server->start;
		wait_sealed($server);
		$server->stop($mode);
	}
	ok(sealed($server) ne '', "$name: the files are there") or diag(join(' ', map { unpack('H*', bytes_of($server->data_dir . $_)) =~ s/^(.{800}).*/$1/r } $extents, $seal, '/global/pg_control'));
	$between->() if $between;
	$server->rotate_logfile;
	$server->start;
	takes_back($server, $expected, $name);
}

# Overwrites bytes of a file.
sub damage
{
	my ($file, $offset, $bytes) = @_;

	open(my $handle, '+<', $file) or die "$file: $!";
	binmode $handle;
	seek($handle, $offset, 0);
	print $handle $bytes;
	close $handle;
}

my $without = "shared_preload_libraries = ''\nsession_preload_libraries = ''\n";
my $with = "shared_preload_libraries = hpsort\nsession_preload_libraries = hpsort\n";

# The server runs without hpsort.
sub run_without
{
	my ($mode) = @_;

	$saved->append_conf('postgresql.conf', $without);
	$saved->start;
	$saved->safe_psql('postgres', 'UPDATE t SET x = x + 1 WHERE id < 100');
	vacuum($saved);
	$saved->stop($mode);
	$saved->append_conf('postgresql.conf', $with);
}

$saved->safe_psql('postgres', "SELECT make('t')");
# A column of texts, which are numbered: rows are not longer by it, so that a column is one extent.
$saved->safe_psql('postgres', "ALTER TABLE t ADD z text GENERATED ALWAYS AS ('text' || x::text) STORED");
vacuum_visible($saved, 't');
$saved->safe_psql('postgres', "SELECT hpsort_keep('t', '{x,y,z}', wait => true)");
wait_sealed($saved);
is((stat($saved->data_dir . $extents))[2], (stat($saved->data_dir . '/global/pg_control'))[2], 'the file has the mode of others');

# --- Clean shutdowns

restarted($saved, 'fast', 3, 'restarted');
cmp_ok($saved->safe_psql('postgres', "SELECT sum(resident_blocks('t', c)) FROM unnest('{x,y,z}'::text[]) c"), '>=', 240, 'after a restart all is read from memory');
restarted($saved, 'fast', 0, '[control] run without hpsort', sub { run_without('fast') });
restarted($saved, 'fast', 0, '[control] run without hpsort, which crashes', sub { run_without('immediate') });
restarted($saved, 'fast', 0, '[control] pg_resetwal', sub { $saved->command_ok([ 'pg_resetwal', '-D', $data ], 'pg_resetwal') });
restarted($saved, 'fast', 0, '[checksum] damaged', sub { damage($data . $extents, 1000, 'damage') });
restarted($saved, 'fast', 0, '[format] another format', sub { damage($data . $_->[0], $_->[1], 'other') for [ $extents, 0 ], [ $seal, (-s $data . $seal) - $start_size - 8 ]; });
restarted($saved, 'fast', 2, '[generation] values of another generation', sub { forge(sub { my ($record) = @_; @{ $record->{values} }[0, 1] = @{ $record->{values} }[1, 0]; $record->{generation}++; }) });
restarted($saved, 'fast', 2, '[renumbered] a value that has another number', sub { forge(sub { my ($record) = @_; $record->{values}[1] = $record->{values}[0]; }) });
restarted($saved, 'fast', 2, '[last] values without the last one', sub { forge(sub { my ($record) = @_; pop @{ $record->{values} }; }) });
wait_sealed($saved);
copy($data . $extents, $data . '.other') or die;
change($saved);
restarted($saved, 'fast', 0, '[number] another file', sub { copy($data . '.other', $data . $extents) });
restarted($saved, 'fast', 3, 'copied', sub {
	$saved->backup_fs_cold('cold');
	my $copy = PostgreSQL::Test::Cluster->new('copy');
	$copy->init_from_backup($saved, 'cold');
	$copy->start;
	takes_back($copy, 3, 'the copy');
	$copy->stop;
});

# --- Crashes

restarted($saved, 'immediate', 3, 'an immediate shutdown');
restarted($saved, 'immediate', 3, 'another one', sub { });
change($saved);
$saved->safe_psql('postgres', 'UPDATE t SET x = 5 WHERE id < 500');
restarted($saved, 'immediate', 3, 'changed before a crash');
restarted($saved, 'immediate', 0, '[control] a crash, and run without hpsort', sub { run_without('fast') });
restarted($saved, 'immediate', 0, '[control] a crash, and run without hpsort, which crashes', sub { run_without('immediate') });
restarted($saved, 'immediate', 0, '[control] a crash and pg_resetwal', sub { $saved->command_ok([ 'pg_resetwal', '-f', '-D', $data ], 'pg_resetwal') });
restarted($saved, 'immediate', 0, '[control] a damaged seal', sub { damage($data . $seal, 100, 'damage') });
change($saved);
restarted($saved, 'immediate', 0, '[number] a crash and another file', sub { copy($data . '.other', $data . $extents) });
for my $setting ('fsync', 'full_page_writes')
{
	restarted($saved, 'immediate', 0, "[$setting] a crash with $setting = off", sub { $saved->append_conf('postgresql.conf', "$setting = off") });
	my $outlives = sub { return substr(bytes_of($data . $seal), -8, 1) eq "\1" ? 1 : 0; };
	wait_sealed($saved);
	is($outlives->(), 0, "[seal] the seal says that $setting was off");
	$saved->append_conf('postgresql.conf', "$setting = on");
	$saved->reload;
	$saved->safe_psql('postgres', 'CHECKPOINT');
	for (1 .. 50 * $PostgreSQL::Test::Utils::timeout_default)
	{
		last if $outlives->();
		usleep(20000);
	}
	is($outlives->(), 1, "the seal says that $setting is on");
	$saved->append_conf('postgresql.conf', "$setting = off");
	$saved->reload;
	for (1 .. 50 * $PostgreSQL::Test::Utils::timeout_default)
	{
		last if !$outlives->();
		usleep(20000);
	}
	$saved->append_conf('postgresql.conf', "$setting = on");
	$saved->reload;
	$saved->poll_query_until('postgres', "SHOW $setting", 'on');
	is($outlives->(), 0, "[seal] ... and that it was off since the checkpoint");
	restarted($saved, 'immediate', 0, "[seal] a crash after $setting was off") if $setting eq 'fsync';
}

# The file may have what has not been flushed otherwise.
$saved->append_conf('postgresql.conf', "synchronous_commit = off\nwal_writer_delay = 10s\nwal_writer_flush_after = 1GB\n");
$saved->restart;
change($saved);
$saved->stop('immediate');
$saved->rotate_logfile;
$saved->start;
# The VACUUM is lost.
vacuum($saved);
$saved->safe_psql('postgres', "SELECT warm('t', 'x'), warm('t', 'y'), warm('t', 'z')");
takes_back($saved, 3, '[flush] the WAL has what the file has');
$saved->append_conf('postgresql.conf', "synchronous_commit = on\n");
$saved->reload;

# A disk that has lost what it said was there.
wait_sealed($saved);
my ($lsn, $segment, $offset) = split /\|/, $saved->safe_psql('postgres', 'SELECT lsn, pg_walfile_name(lsn), (pg_walfile_name_offset(lsn)).file_offset FROM pg_current_wal_insert_lsn() lsn');
change($saved);
restarted($saved, 'immediate', 0, '[lost WAL] WAL is lost that was flushed', sub { damage("$data/pg_wal/$segment", $offset, "\0" x 1048576) });

# A process crashes, and the server goes on.
change($saved);
my $crasher = $saved->background_psql('postgres', on_error_stop => 0);
kill('KILL', $crasher->query_safe('SELECT pg_backend_pid()'));
$crasher->{run}->kill_kill;
for (1 .. 50 * $PostgreSQL::Test::Utils::timeout_default)
{
	# psql may end before it is written to
	last if slurp_file($saved->logfile) =~ /took back/ && eval { ($saved->psql('postgres', 'SELECT 1'))[0] == 0 };
	usleep(20000);
}
takes_back($saved, 3, 'a crash of one process');

# --- Backups, standbys

$saved->backup('hot');
my $restored = PostgreSQL::Test::Cluster->new('restored');
$restored->init_from_backup($saved, 'hot');
wait_sealed($saved);
# As if these files were the last to be copied.
copy($data . $_, $restored->data_dir . $_) for $extents, $seal, '/global/pg_control';
$restored->start;
takes_back($restored, 0, '[label] a backup of a running server');
$restored->stop;

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($saved, 'hot', has_streaming => 1);
$standby->start;
$saved->wait_for_catchup($standby);
$standby->promote;
takes_back($standby, 0, 'a standby that was promoted');
change($standby);
$saved->safe_psql('postgres', 'UPDATE t SET x = 17 WHERE id % 5 = 0');
change($saved);

# Both live on; then the old one is made a copy of the new one, whose files it gets.
restarted($standby, 'immediate', 3, 'a crash of the promoted one');
restarted($saved, 'immediate', 3, 'a crash of the old one');
$_->stop for $standby, $saved;
$saved->command_ok([ 'pg_rewind', '--source-pgdata', $standby->data_dir, '--target-pgdata', $data, '--config-file', "$data/postgresql.conf" ], 'pg_rewind');
ok(-e $data . $extents && -e $data . $seal, 'pg_rewind copies the files');
$saved->append_conf('postgresql.conf', 'port = ' . $saved->port);
$saved->rotate_logfile;
$saved->start;
takes_back($saved, 0, '[label] pg_rewind');

# A clean shutdown, after which it follows another server.
wait_sealed($saved);
$saved->stop;
$saved->rotate_logfile;
$saved->append_conf('postgresql.conf', "restore_command = 'false'\n");
append_to_file("$data/recovery.signal", '');
$saved->start;
takes_back($saved, 0, '[label] recovery from an archive');

# --- Without a use for the files

wait_sealed($saved);
for my $database ('postgres', 'other')
{
	$saved->safe_psql('postgres', 'CREATE DATABASE other') if $database eq 'other';
	$saved->safe_psql($database, "CREATE EXTENSION IF NOT EXISTS hpsort;
		CREATE TABLE u AS SELECT current_database() || ': column a ' || i % 5 AS a, current_database() || ': column b ' || i % 5 AS b, repeat('f', 60) FROM generate_series(1, 7000) i;
		CREATE TABLE v AS SELECT replace(a, 'column', 'table') AS c, repeat('f', 60) FROM u;
		VACUUM u, v;
		SELECT hpsort_keep('u', '{a,b}', wait => true), hpsort_keep('v', '{c}', wait => true)");
}
my @texts = ('postgres: column a 1', 'postgres: column b 1', 'postgres: table a 1', 'other: column a 1');
for my $drop (0, 1)
{
	if ($drop)
	{
		$saved->safe_psql('postgres', $_) for 'ALTER TABLE u DROP a', "SELECT hpsort_forget('u', 'b')", 'DROP TABLE v', 'DROP DATABASE other';
	}
	my $found = -1;
	for (1 .. 50 * $PostgreSQL::Test::Utils::timeout_default)
	{
		my $bytes = bytes_of($data . $extents);

		$found = grep { index($bytes, $_) >= 0 } @texts;
		last if $found == ($drop ? 0 : @texts);
		usleep(20000);
	}
	is($found, $drop ? 0 : @texts, 'texts in the file, ' . ($drop ? 'after what they were of was dropped or forgotten' : 'while they are kept'));
}
$saved->append_conf('postgresql.conf', 'hpsort.resident_memory = 0');
$saved->reload;
for (1 .. 50 * $PostgreSQL::Test::Utils::timeout_default)
{
	last if !-e $data . $extents && !-e $data . $seal;
	usleep(20000);
}
ok(!-e $data . $extents && !-e $data . $seal, 'without memory for resident columns the files are removed');
is(join('', grep { /PANIC:|TRAP:|signal (6|11)/ } split /^/m, slurp_file($saved->logfile)), '', 'nothing in the log');
$saved->stop;
done_testing();
