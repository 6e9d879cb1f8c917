# What hpsort assumes of heapam (src/pg/pages/heap_format.h, whose numbers are here) beside what
# heapam does: a check for each assumption, on tables of random histories.
# test/modules/hpsort_heap calls the functions of heap_format.h and core's.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Cwd qw(getcwd);
use File::Copy qw(copy);
use GpuService qw(open_session pump_session run wait_for);
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

random_seed();

# Built in a directory of this test alone, for the PostgreSQL whose pg_config comes first in PATH.
my $module = PostgreSQL::Test::Utils::tempdir();
copy("test/modules/hpsort_heap/$_", $module) or die "$_: $!" for ('Makefile', 'hpsort_heap.c');
{
	local %ENV = %ENV;
	delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES)};
	command_ok([ 'make', '-s', '-C', $module, 'with_llvm=no', 'HPSORT_SRC=' . getcwd() . '/src' ], 'the module is built');
}

my $node = new_cluster('heap');
$node->append_conf('postgresql.conf', "autovacuum = off\nshared_buffers = 1MB\nmax_parallel_workers_per_gather = 0\n");
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]); }

my %functions = (
	check_tuples => 'regclass', check_visible => 'regclass, bool', check_map => 'regclass', map_lsn => 'regclass, int8', page_lsn => 'regclass, int8',
	page_buffer => 'regclass, int8', visible_lsn => 'regclass, int8', unpinned_lsn => 'regclass, int8, int4', pinned_block => 'regclass, int8, int4', rows_stay => 'regclass, text', is_waited_for => 'regclass, int4',
	share_blocks => 'regclass, bytea', check_slot => 'regclass');
my %returns = (page_buffer => 'int4', rows_stay => 'bool', is_waited_for => 'bool', map { $_ => 'int8' } qw(map_lsn page_lsn visible_lsn unpinned_lsn pinned_block));
for my $name (sort keys %functions)
{
	my $type = $returns{$name} // 'text';
	sql("CREATE FUNCTION $name($functions{$name}) RETURNS $type VOLATILE STRICT LANGUAGE c AS '$module/hpsort_heap'");
}

# "compared wrong": something was compared, and nothing was wrong.
sub holds
{
	my ($call, $name) = @_;
	my $counts = sql("SELECT $call");

	like($counts, qr/^[1-9]\d* 0$/, $name) or diag($counts);
	return;
}

# A table of rows with and without NULLs, with columns added later, and with a history.
my $tables = 6;
for my $t (1 .. $tables)
{
	my $rows = 500 + int(rand(3000));
	my @changes = ("UPDATE t$t SET a = a + 1 WHERE random() < 0.3", "DELETE FROM t$t WHERE random() < 0.3", "VACUUM t$t", "VACUUM (FREEZE) t$t",
		"SELECT count(*) FROM t$t", "BEGIN; UPDATE t$t SET a = 0 WHERE random() < 0.2; ROLLBACK", "SELECT * FROM t$t WHERE random() < 0.1 FOR UPDATE",
		"INSERT INTO t$t (a, b) SELECT i, repeat('n', i % 90) FROM generate_series(1, 300) i", "BEGIN; SAVEPOINT s; DELETE FROM t$t WHERE random() < 0.2; ROLLBACK TO s; COMMIT");

	sql("CREATE TABLE t$t (a int4, b text, c int8, d int2); INSERT INTO t$t SELECT CASE WHEN random() < 0.9 THEN i END,
		CASE WHEN random() < 0.9 THEN repeat('x', i % 100) END, CASE WHEN random() < 0.5 THEN i END, i % 7 FROM generate_series(1, $rows) i");
	sql("ALTER TABLE t$t ADD COLUMN e int4 DEFAULT 5, ADD COLUMN f text") if $t % 2;
	sql("ALTER TABLE t$t " . join(', ', map { "ADD COLUMN g$_ int4" } 1 .. 20)) if $t == 3;
	foreach (1 .. 6)
	{
		my $change = $changes[ int(rand(@changes)) ];

		$node->psql('postgres', $change);
		note("t$t: $change");
	}
	sql("INSERT INTO t$t (a, b) SELECT i, NULL FROM generate_series(1, 100) i");
	holds("check_tuples('t$t')", "1, 2: rows of t$t");
	sql("SELECT count(*) FROM t$t");
	holds("check_visible('t$t', false)", "3: visible by hint bits, t$t");
	# a snapshot that is older than some of the rows
	my $session = open_session($node);
	run($session, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	sql("INSERT INTO t$t (a) SELECT i FROM generate_series(1, 200) i; UPDATE t$t SET a = -1 WHERE random() < 0.3; SELECT count(*) FROM t$t");
	like(run($session, "SELECT check_visible('t$t', false)"), qr/^\d+ 0$/, "3: in an older snapshot, t$t");
	like(run($session, "SELECT check_visible('t$t', true)"), qr/^\d+ 0$/, "4: in an older snapshot, t$t");
	run($session, 'COMMIT');
	$session->{in} .= "\\q\n";
	$session->{run}->finish;
	sql("VACUUM t$t");
	sql("DELETE FROM t$t WHERE ctid < '(3,1)' AND random() < 0.05");
	holds("check_visible('t$t', true)", "4: visible by the page's flag, t$t");
	holds("check_map('t$t')", "5: the visibility map of t$t");
	holds("check_slot('t$t')", "10: slots with rows of t$t");
}
SKIP:
{
	skip 'no pg_visibility', 1 if sql("SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_visibility'") eq '0';
	sql('CREATE EXTENSION pg_visibility; VACUUM t2');
	is(sql("SELECT count(*) FROM pg_check_visible('t2')"), '0', '4: pg_visibility agrees');
	is(sql("SELECT split_part(check_map('t2'), ' ', 1) = all_visible::text FROM pg_visibility_map_summary('t2')"), 't', '5: and has as many blocks');
}

# A table of more blocks than a page of the map has bits would take 256 MB: the first one must do.

# --- 6: LSNs

sql('CREATE TABLE l AS SELECT i, i AS j FROM generate_series(1, 5000) i; VACUUM l');
my ($map, $page) = map { sql("SELECT $_('l', 0)") } qw(map_lsn page_lsn);
cmp_ok($map, '>', 0, '6: the map has an LSN');
is(sql("SELECT visible_lsn('l', 0)"), $page, '6: the page is unchanged');
sql('VACUUM l; SELECT count(*) FROM l');
is(sql("SELECT map_lsn('l', 0)"), $map, '6: a VACUUM that finds nothing leaves it');
for my $change ('UPDATE l SET j = 0 WHERE i = 1', 'DELETE FROM l WHERE i = 2', 'BEGIN; UPDATE l SET j = 0 WHERE i = 3; ROLLBACK', 'SELECT * FROM l WHERE i = 4 FOR UPDATE')
{
	sql($change);
	if ($change !~ /FOR UPDATE/)
	{
		isnt(sql("SELECT visible_lsn('l', 0)"), $page, "6: a page that has changed: $change");
		sql('VACUUM l');
		cmp_ok(sql("SELECT map_lsn('l', 0)"), '>', $map, '6: a bit that is set again moves the LSN of the map');
	}
	($map, $page) = map { sql("SELECT $_('l', 0)") } qw(map_lsn page_lsn);
}

# --- 11: a page whose LSN is read without a pin

sql('CREATE TABLE n (i int, t text)');
sql('INSERT INTO n SELECT i, repeat(i::text, 300) FROM generate_series(1, 200) i; VACUUM n');
my ($first, $other) = map { sql("SELECT page_lsn('n', $_)") } 0, 1;
isnt($first, $other, '11: two pages have two LSNs');
my $unpinned = "SELECT unpinned_lsn('n', 0, page_buffer('n', 0))";
is(sql($unpinned), $first, '11: the LSN of a page that is not pinned');
is(sql("SELECT unpinned_lsn('n', 0, page_buffer('n', 1)) IS NULL, unpinned_lsn('n', 1, page_buffer('n', 1))"), "t|$other", '[note] 11: another page is not taken for it');
is(sql("$unpinned; UPDATE n SET i = 0 WHERE i = 1; $unpinned"), "$first\n0", '11: a change is seen');
is(sql("SELECT page_buffer('n', 1); BEGIN; DECLARE c CURSOR FOR SELECT * FROM n WHERE i > 1; FETCH c; $unpinned IS NULL; COMMIT") =~ s/^.*\n//sr, 't', '[pin] 11: a page that is pinned is not looked at without a pin');
my $counts = "SELECT pg_stat_force_next_flush(); SELECT pg_stat_get_blocks_fetched('h'::regclass), pg_stat_get_blocks_hit('h'::regclass)";
sql('CREATE TABLE h AS SELECT 1 AS i');
# Statistics of a session that has ended may come late: VACUUM's come now.
sql('VACUUM h; SELECT pg_stat_force_next_flush(); SELECT 1');
for my $way ('unpinned_lsn', 'pinned_block')
{
	my $counted = sql("$counts; SELECT $way('h', 0, page_buffer('h', 0)) >= 0; $counts");
	my @counted = $counted =~ /(\d+)/g;
	is(join(' ', $counted[2] - $counted[0], $counted[3] - $counted[1]), '2 2', "11: $way is counted as ReadBuffer counts a hit") or diag($counted);
}
is(sql("SELECT pinned_block('n', 1, page_buffer('n', 1)), pinned_block('n', 0, page_buffer('n', 1)) IS NULL, pinned_block('n', 1, page_buffer('h', 0)) IS NULL"),
	'1|t|t', 'a block is pinned where it is noted, and no other one');

# --- 7, 8: pins

sql('CREATE TABLE p AS SELECT i, i % 10 AS j, i AS k FROM generate_series(1, 150) i; CREATE INDEX ON p (i)');
my $holder = open_session($node);
my $path = "$module/done";

# Has the session run a function of hpsort_heap that pins the page.
sub holding
{
	my ($call) = @_;

	$holder->{out} = $holder->{err} = '';
	$holder->{in} .= "SELECT $call;\n\\echo done\n";
	ok(wait_for('the pin', sub {
		$holder->{run}->pump_nb;
		return sql("SELECT state FROM pg_stat_activity WHERE pid = $holder->{pid}") eq 'active';
	}), "7, 8: $call begins");
	sleep 1;
	return;
}
holding("rows_stay('p', '$path')");
sql("UPDATE p SET k = 0 WHERE j = 1; DELETE FROM p WHERE j = 2; SELECT count(*) FROM p");
sql("VACUUM p");
sql("UPDATE p SET k = 1 WHERE j = 3; SELECT count(*) FROM p WHERE i = 3");
append_to_file($path, '');
pump_session($holder, sub { $holder->{out} =~ /^done/m }, 'rows that stay');
like($holder->{out}, qr/^t$/m, '7: rows stay while their page is pinned') or diag($holder->{err});
is(run($holder, "SELECT is_waited_for('p', 300)"), 'f', '8: nobody waits');
holding("is_waited_for('p', 60000)");
sql('DELETE FROM p WHERE j = 4; VACUUM (FREEZE) p');
pump_session($holder, sub { $holder->{out} =~ /^done/m }, 'a wait for pins');
like($holder->{out}, qr/^t$/m, '8: somebody waits') or diag($holder->{err});

# --- 9: blocks of a parallel scan

sql("CREATE TABLE s AS SELECT i, repeat('x', 800) AS x FROM generate_series(1, 9000) i");
for my $try (1 .. 8)
{
	# bytes of which some processes have more than others
	my $weights = join '', map { chr(int(rand($try % 2 ? 256 : 4)) & ($try % 4 ? 255 : 254)) } 1 .. 97;
	my $bytes = unpack('H*', $weights . "\0\1\2\3");

	# synchronized scans begin where another one has been
	sql('SELECT count(*) FROM (SELECT x FROM s LIMIT ' . int(rand(8000)) . ') q');
	holds("share_blocks('s', '\\x$bytes')", "9: each block exactly once ($bytes)");
}

$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:|terminated by signal/, 'no crash in the log');
done_testing();
