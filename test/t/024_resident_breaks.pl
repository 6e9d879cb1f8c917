# Resident columns: whatever breaks a rule that is simpler than docs/internals/resident.md's.  Each test
# reads a column until it is resident, changes what is behind it, and reads it again:
# the answer is that of core, which reads the pages.  test/resident_mutants.sh takes conditions
# out of the rule, one at a time, and expects the tests that name them to fail.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Cwd qw(getcwd);
use File::Copy qw(copy);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use HpsortTest;
use ResidentColumns;
use Test::More;

# Built in a directory of this test alone, for the PostgreSQL whose pg_config comes first in PATH.
my $module = PostgreSQL::Test::Utils::tempdir();
copy("test/modules/hpsort_visibility/$_", $module) or die "$_: $!" for ('Makefile', 'hpsort_visibility.c');
{
	local %ENV = %ENV;
	delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES)};
	command_ok([ 'make', '-s', '-C', $module, 'with_llvm=no', 'HPSORT_SRC=' . getcwd() . '/src' ], 'the module is built');
}

my $node = new_node('breaks', "wal_level = replica\n");
my $version = $node->pg_version;
$node->safe_psql('postgres', "CREATE FUNCTION hold_map(regclass, text) RETURNS void STRICT LANGUAGE c AS '$module/hpsort_visibility';
	CREATE FUNCTION set_map_slowly(regclass, int8, text) RETURNS void STRICT LANGUAGE c AS '$module/hpsort_visibility';
	CREATE FUNCTION set_page_flag(regclass, int8, bool) RETURNS void STRICT LANGUAGE c AS '$module/hpsort_visibility';
	CREATE FUNCTION change_first_row(regclass, int8, int4) RETURNS void STRICT LANGUAGE c AS '$module/hpsort_visibility';
	CREATE FUNCTION extent_of_block(int8) RETURNS text STRICT LANGUAGE c AS '$module/hpsort_visibility';");

# --- Blocks and their extents, up to the last block that a table can have: of 32,672 blocks to a page of the map the last 4,192
my %extents = (
	0 => '0 0 128', 127 => '0 0 128', 128 => '1 128 256', 32639 => '254 32512 32640', 32640 => '255 32640 32672', 32671 => '255 32640 32672',
	32672 => '256 32672 32800', 4294967199 => '33653023 4294967072 4294967200', 4294967200 => '33653024 4294967200 4294967295',
	4294967294 => '33653024 4294967200 4294967295');
SKIP:
{
	skip 'other pages', 1 if $node->safe_psql('postgres', 'SHOW block_size') != 8192;
	is($node->safe_psql('postgres', "SELECT extent_of_block($_)"), $extents{$_}, "the extent of block $_") for sort { $a <=> $b } keys %extents;
}

# --- The bit alone: it may have been cleared and set again [LSN]

resident_table($node, 'cleared');
$node->safe_psql('postgres', "UPDATE cleared SET x = 100 WHERE id = 1");
same($node, '[LSN] a row that was updated', 'cleared');
$node->safe_psql('postgres', 'VACUUM cleared');
same($node, '[LSN] and vacuumed', 'cleared');
cmp_ok($node->safe_psql('postgres', "SELECT warm('cleared', 'x')"), '>=', 80, 'and it is resident again');
$node->safe_psql('postgres', "DELETE FROM cleared WHERE id % 100 = 3");
$node->safe_psql('postgres', 'VACUUM cleared');
$node->safe_psql('postgres', "SELECT warm('cleared', 'y')");
$node->safe_psql('postgres', "INSERT INTO cleared SELECT i, 200, 3, repeat('f', 60) FROM generate_series(1, 50) i");
$node->safe_psql('postgres', 'VACUUM (FREEZE) cleared');
same($node, '[LSN] line pointers that have other rows', 'cleared');
same($node, '[LSN] of each column', 'cleared', 'y');
for my $round (1 .. 5)
{
	my $column = (qw(x y))[$round % 2];
	$node->safe_psql('postgres', "UPDATE cleared SET $column = $column + 1 WHERE id % 700 = $round");
	$node->safe_psql('postgres', 'VACUUM cleared');
	same($node, "[LSN] updated and vacuumed, round $round", 'cleared', $column);
}

# --- What a change costs: where clearing a bit moves the LSN of the map, all other blocks are looked at once, and elsewhere none

resident_table($node, 'fast');
my $number = $node->safe_psql('postgres', 'SHOW server_version_num');
my $moves = $number >= 180006 || ($number >= 170011 && $number < 180000);
sub refreshes { return $node->safe_psql('postgres', "SELECT refreshes FROM hpsort_resident WHERE relation = 'fast'::regclass AND attribute = 'x'"); }
my $blocks_of_fast = $node->safe_psql('postgres', "SELECT resident_blocks('fast', 'x')");
my $refreshed = refreshes();
is($node->safe_psql('postgres', "SELECT resident_blocks('fast', 'x')"), $blocks_of_fast, 'nothing has changed: all is read from memory') for 1 .. 2;
is(refreshes(), $refreshed, '... and no page is looked at');
$node->safe_psql('postgres', 'UPDATE fast SET x = 8 WHERE id = 3500');
for my $read (1 .. 3)
{
	my $left = $node->safe_psql('postgres', "SELECT resident_blocks('fast', 'x')");

	ok($left < $blocks_of_fast && $left >= $blocks_of_fast - 2, "a row has changed: all other blocks are read from memory, read $read");
	is(refreshes() > $refreshed ? 1 : 0, $moves ? 1 : 0, '... and pages are looked at where the LSN of the map has moved') if $read == 1;
	$refreshed = refreshes() if $read == 1;
}
is(refreshes(), $refreshed, '... once');
same($node, 'a change', 'fast');

# Where all blocks have changed, and VACUUM has been there, looking ends with the quarter that has values kept anew. Nothing is noted in a new session.
resident_table($node, 'churned');
$node->safe_psql('postgres', 'DELETE FROM churned WHERE id % 20 = 3');
vacuum_visible($node, 'churned');
my $fetched = "SELECT pg_stat_force_next_flush(); SELECT pg_stat_get_blocks_fetched('churned'::regclass);";
my @fetched = $node->safe_psql('postgres', "$fetched SELECT answer('churned', 'x') > ''; $fetched") =~ /^(\d+)$/mg;
cmp_ok($fetched[1] - $fetched[0], '<', 1.5 * $node->safe_psql('postgres', "SELECT relpages FROM pg_class WHERE relname = 'churned'"), 'all blocks have changed: few pages are looked at before all are read');
same($node, 'all blocks have changed', 'churned');

# --- Blocks with gaps between their rows: these do not have line numbers 1, 2, 3 ... [numbered]

$node->safe_psql('postgres', "SELECT make('gaps'); DELETE FROM gaps WHERE id % 10 = 1 OR id BETWEEN 3000 AND 3400");
$node->safe_psql('postgres', 'VACUUM gaps');
cmp_ok($node->safe_psql('postgres', "SELECT warm('gaps', 'x') + warm('gaps', 'y')"), '>=', 160, 'blocks with gaps are resident');
my $gaps = 'SELECT id, ctid FROM gaps WHERE y = 100500 ORDER BY x LIMIT 7';
is($node->safe_psql('postgres', "SET hpsort.debug_sort = force; $gaps"), $node->safe_psql('postgres', "SET hpsort.debug_sort = forbid; $gaps"), '[numbered] rows of blocks with gaps');

# --- Sums of floats are those of the rows in their order, also where some blocks are read from pages [ordered]

$node->safe_psql('postgres', "CREATE TABLE floats (id int, x float8, y float4, filler text); SELECT hpsort_keep('floats', 'x', 'y');
	INSERT INTO floats SELECT i, 1e16 / i - i % 7 * 1e15, CASE i % 50 WHEN 0 THEN '-0' WHEN 1 THEN 0 ELSE i % 60 - 30 END, repeat('f', 200) FROM generate_series(1, 16000) i");
$node->safe_psql('postgres', 'VACUUM ANALYZE floats');
my $floats = 'SELECT y, count(*), sum(x), avg(x), sum(y), max(y) FROM floats GROUP BY y ORDER BY y';
$node->safe_psql('postgres', $floats) for 1 .. 3;
$node->safe_psql('postgres', 'UPDATE floats SET x = x WHERE id % 9001 = 40');
sub sums { return $node->safe_psql('postgres', "$_[0]; $floats"); }
is(sums('SET hpsort.debug_aggregate = force'), sums('SET hpsort.enable_aggregate = off; SET hpsort.debug_scan = forbid; SET hpsort.debug_aggregate = forbid; SET enable_sort = off'), "[ordered] sums of floats, reading $_")
	for 1 .. 2;
like($node->safe_psql('postgres', "EXPLAIN (ANALYZE) $floats"), qr/Resident Blocks: [1-9]/, 'some of it in memory');

# --- An extent given up while it is copied: its rows are taken back, and so are the marks of their NULLs [taken back].
# What gives up so many is the mutant.  Every other extent has NULLs in y.

$node->safe_psql('postgres', "CREATE TABLE taken (id int, x int, y int, filler text); SELECT hpsort_keep('taken', 'x', 'y');
	INSERT INTO taken SELECT i, i % 11, CASE WHEN i / 2600 % 2 = 0 OR i % 3 > 0 THEN i % 13 END, repeat(md5(i::text), 11) FROM generate_series(1, 40000) i");
$node->safe_psql('postgres', 'VACUUM ANALYZE taken');
my $taken = 'SELECT x, y, count(*), count(y), sum(y) FROM taken GROUP BY x, y ORDER BY x, y';
my $of_core = $node->safe_psql('postgres', "SET hpsort.enable_aggregate = off; SET hpsort.debug_scan = forbid; SET hpsort.debug_aggregate = forbid; $taken");
$node->safe_psql('postgres', $taken) for 1 .. 3;
# Blocks that have to be read from their pages, between others, so that rows that are read again come at other positions.
$node->safe_psql('postgres', 'UPDATE taken SET y = y WHERE id % 1001 = 7');
is($node->safe_psql('postgres', $taken), $of_core, "[taken back] NULLs of two columns, reading $_") for 1 .. 6;

# --- COPY FREEZE appends to an all-visible page without touching the map [subid]

my $data = $node->basedir . '/rows';
# COPY leaves empty pages at the end, the last of which a short COPY begins and the next one adds to.
append_to_file($data, join('', map { "$_\t" . $_ % 7 . "\t$_\tfreeze\n" } 1 .. 12000));
my $more = $node->basedir . '/more';
append_to_file($more, join('', map { "$_\t1000\t$_\tfreeze\n" } 1 .. 20));
my $load = "COPY frozen FROM '$data' FREEZE; COPY frozen FROM '$more' FREEZE";
resident_table($node, 'frozen');
same_after($node, '[subid] COPY FREEZE after TRUNCATE',
	"BEGIN; TRUNCATE frozen; $load; SELECT warm('frozen', 'x'); COPY frozen FROM '$more' FREEZE", 'frozen', 'x');
same_after($node, '[subid] COPY FREEZE after CREATE TABLE',
	"BEGIN; CREATE TABLE frozen_new (LIKE frozen); SELECT hpsort_keep('frozen_new', 'x'); COPY frozen_new FROM '$data' FREEZE; COPY frozen_new FROM '$more' FREEZE;
	SELECT warm('frozen_new', 'x'); COPY frozen_new FROM '$more' FREEZE", 'frozen_new', 'x');
same_after($node, '[subid] the same in a savepoint',
	"BEGIN; SAVEPOINT a; TRUNCATE frozen; $load; SELECT warm('frozen', 'x'); COPY frozen FROM '$more' FREEZE; RELEASE a", 'frozen', 'x');
# workers do not know what their leader's transaction has made
same_after($node, '[subid] the same with parallel workers',
	"SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off;
	BEGIN; TRUNCATE frozen; $load; SELECT warm('frozen', 'x'); COPY frozen FROM '$more' FREEZE", 'frozen', 'x');
is($node->safe_psql('postgres', "BEGIN; TRUNCATE frozen; $load; SELECT warm('frozen', 'x') AS blocks; ROLLBACK"), '0', '[subid] not used in the transaction');
same($node, '[subid] and rolled back', 'frozen');
$node->safe_psql('postgres', "BEGIN; TRUNCATE frozen; $load; SELECT warm('frozen', 'x'); COPY frozen FROM '$more' FREEZE; COMMIT");
same($node, '[subid] and committed', 'frozen');
cmp_ok($node->safe_psql('postgres', "SELECT warm('frozen', 'x')"), '>', 60, 'it is resident once committed');

# --- In-place updates of catalogs [catalog]

$node->safe_psql('postgres', "INSERT INTO hpsort_kept VALUES ('pg_class', 'relpages')");
$node->safe_psql('postgres', q{DO $$ BEGIN FOR i IN 0 .. 600 LOOP EXECUTE format('CREATE TABLE many%s (x int)', i); END LOOP; END $$});
$node->safe_psql('postgres', 'VACUUM pg_class');
$node->safe_psql('postgres', "SELECT warm('pg_class', 'relpages')");
$node->safe_psql('postgres', 'INSERT INTO many0 SELECT generate_series(1, 30000)');
$node->safe_psql('postgres', 'VACUUM many0');
same($node, '[catalog] pg_class.relpages after VACUUM', 'pg_class', 'relpages');
is($node->safe_psql('postgres', "SELECT resident_blocks('pg_class', 'relpages')"), '0', 'catalogs are not resident');

# --- Unlogged and temporary tables: the map has no LSNs [WAL]

$node->safe_psql('postgres', "CREATE UNLOGGED TABLE unlogged (id int, x int, y int, filler text); SELECT fill('unlogged'), hpsort_keep('unlogged', 'x')");
$node->safe_psql('postgres', 'VACUUM unlogged');
is($node->safe_psql('postgres', "SELECT warm('unlogged', 'x')"), '0', 'an unlogged table is not resident');
$node->safe_psql('postgres', 'UPDATE unlogged SET x = 50 WHERE id < 9');
$node->safe_psql('postgres', 'VACUUM unlogged');
same($node, '[WAL] an unlogged table', 'unlogged');
$node->safe_psql('postgres', 'ALTER TABLE unlogged SET LOGGED');
$node->safe_psql('postgres', 'VACUUM unlogged');
cmp_ok($node->safe_psql('postgres', "SELECT warm('unlogged', 'x')"), '>', 80, 'a table that is logged now is');
$node->safe_psql('postgres', 'ALTER TABLE unlogged SET UNLOGGED');
$node->safe_psql('postgres', 'UPDATE unlogged SET x = 51 WHERE id < 9');
same($node, '[WAL] logged, and unlogged again', 'unlogged');
same_after($node, '[WAL] a temporary table',
	"CREATE TEMP TABLE temporary (id int, x int, y int, filler text); INSERT INTO hpsort_kept VALUES ('temporary', 'x'); SELECT fill('temporary');
	VACUUM temporary; SELECT warm('temporary', 'x'); UPDATE temporary SET x = 50 WHERE id < 9; VACUUM temporary", 'temporary', 'x');

# --- Values of any type: the same bytes by the same numbers, in the same column [values]

sub checked
{
	my ($name, $table) = @_;

	my ($blocks, $differing) = split(/\|/, $node->safe_psql('postgres', "SELECT min(blocks), sum(differing) FROM hpsort_resident_check('$table')"));
	is($differing, 0, "[values] $name");
	cmp_ok($blocks, '>=', 80, '... in memory');
}
$node->safe_psql('postgres', "CREATE TABLE worded (i int, t varchar(10), u text COLLATE \"C\", filler text);
	INSERT INTO worded SELECT i, 'v' || i % 40, CASE WHEN i % 4 > 0 THEN 'w' || i / 50 END, repeat('f', 200) FROM generate_series(1, 14000) i");
$node->safe_psql('postgres', 'VACUUM worded');
for my $round (1 .. 4)
{
	# Other values, of which those of other extents have numbers already; in the end of another type, and in another order.
	$node->safe_psql('postgres', "UPDATE worded SET t = 'r$round' || i % 30, u = 'v' || i / 50 WHERE i % 2 = 0 AND i BETWEEN $round * 1000 AND $round * 3000") if $round > 1;
	$node->safe_psql('postgres', 'VACUUM worded');
	$node->safe_psql('postgres', 'ALTER TABLE worded ALTER t TYPE text, ALTER u TYPE text COLLATE "POSIX"') if $round == 4;
	$node->safe_psql('postgres', "SELECT hpsort_keep('worded', '{t,u}', wait => true)");
	checked("round $round", 'worded');
}
$node->safe_psql('postgres', "ALTER TABLE worded DROP t; ALTER TABLE worded ADD t text DEFAULT 'first'");
$node->safe_psql('postgres', "SELECT hpsort_keep('worded', '{t,u}', wait => true)");
checked('a column of the same name', 'worded');
$node->safe_psql('postgres', "BEGIN; ALTER TABLE worded DROP t; ALTER TABLE worded ADD t text DEFAULT 'lost'; SELECT hpsort_keep('worded', '{t,u}', wait => true); ROLLBACK; SELECT hpsort_keep('worded', '{t,u}', wait => true)");
checked('added, and rolled back', 'worded');
$node->safe_psql('postgres', "TRUNCATE worded; INSERT INTO worded SELECT i, 'x' || i % 90, repeat('f', 200), 'y' || i % 20 FROM generate_series(1, 14000) i");
$node->safe_psql('postgres', 'VACUUM worded');
$node->safe_psql('postgres', "SELECT hpsort_keep('worded', '{t,u}', wait => true)");
checked('truncated', 'worded');

# --- Columns that are added: rows lack them [missing]

resident_table($node, 'added');
same_after($node, '[missing] ADD COLUMN with a default, read and rolled back, and with another one',
	"BEGIN; ALTER TABLE added ADD z int DEFAULT 5; SELECT hpsort_keep('added', 'z'); SELECT warm('added', 'z'); ROLLBACK;
	ALTER TABLE added ADD z int DEFAULT 7; SELECT hpsort_keep('added', 'z')", 'added', 'z');
same($node, '[missing] in another session', 'added', 'z');
same_after($node, '[missing] and without one',
	"BEGIN; ALTER TABLE added ADD n int DEFAULT 5; SELECT hpsort_keep('added', 'n'); SELECT warm('added', 'n'); ROLLBACK;
	ALTER TABLE added ADD n int; SELECT hpsort_keep('added', 'n')", 'added', 'n');
same_after($node, '[missing] in a savepoint',
	"BEGIN; SAVEPOINT s; ALTER TABLE added ADD s int DEFAULT 5; SELECT hpsort_keep('added', 's'); SELECT warm('added', 's'); ROLLBACK TO s;
	ALTER TABLE added ADD s bigint DEFAULT 50000000000 - 49999999994; SELECT hpsort_keep('added', 's'); COMMIT", 'added', 's');
same_after($node, '[missing] dropped, and added by the same name', "SELECT warm('added', 'y'); ALTER TABLE added DROP y; ALTER TABLE added ADD y int DEFAULT 9", 'added', 'y');
same_after($node, '[missing] renamed', "SELECT warm('added', 'x'); ALTER TABLE added RENAME x TO x1; ALTER TABLE added RENAME z TO x; SELECT warm('added', 'x1')", 'added', 'x');

# --- Other types, other files

resident_table($node, 'altered');
$node->safe_psql('postgres', "ALTER TABLE altered ALTER x TYPE int2 USING 6 - x");
same($node, 'ALTER TYPE with a new file', 'altered');
$node->safe_psql('postgres', 'CREATE DOMAIN number AS int2; ALTER TABLE altered ALTER x TYPE number');
same($node, '[type] ALTER TYPE without', 'altered');
$node->safe_psql('postgres', 'VACUUM altered');
$node->safe_psql('postgres', "SELECT warm('altered', 'x')");
# the bits of the same file mean something else
$node->safe_psql('postgres', 'CREATE TABLE o (id int, x oid, y int, filler text)');
$node->safe_psql('postgres', "INSERT INTO o SELECT id, 4294967280 + x, y, filler FROM altered; SELECT hpsort_keep('o', 'x')");
$node->safe_psql('postgres', 'VACUUM o');
$node->safe_psql('postgres', "SELECT warm('o', 'x')");
$node->safe_psql('postgres', "ALTER TABLE o ALTER x TYPE int USING x::int");
same($node, '[type] oid to int, which needs no new file', 'o');
$node->safe_psql('postgres', 'VACUUM o');
$node->safe_psql('postgres', "SELECT warm('o', 'x')");
$node->safe_psql('postgres', "ALTER TABLE o ALTER x TYPE oid USING x::oid");
same($node, '[type] int to oid', 'o');
# numerics of more digits need no new file, and NaN is another integer
$node->safe_psql('postgres', 'CREATE TABLE n (id int, x numeric(9, 2), y int, filler text)');
$node->safe_psql('postgres', "INSERT INTO n SELECT id, CASE WHEN x = 3 THEN 'NaN' ELSE x + 0.5 END, y, filler FROM altered; SELECT hpsort_keep('n', 'x')");
$node->safe_psql('postgres', 'VACUUM n');
cmp_ok($node->safe_psql('postgres', "SELECT warm('n', 'x')"), '>', 80, 'a numeric is resident');
$node->safe_psql('postgres', 'ALTER TABLE n ALTER x TYPE numeric(11, 2)');
same($node, '[typmod] numeric(9, 2) to numeric(11, 2)', 'n');
# the column stays kept, but values of its type are not read any more
resident_table($node, 'pointed');
$node->safe_psql('postgres', 'ALTER TABLE pointed ALTER x TYPE point USING CASE WHEN x > 0 THEN point(x, x) END');
is($node->safe_psql('postgres', "SELECT count(*) FROM pointed WHERE x IS $_"), $_ eq 'NULL' ? 1000 : 6000, "[type] int to point, IS $_")
	for ('NULL', 'NOT NULL');
resident_table($node, 'rewritten');
$node->safe_psql('postgres', 'CREATE INDEX ON rewritten (y); UPDATE rewritten SET x = 70 WHERE id < 300');
for my $statement ('VACUUM FULL rewritten', 'CLUSTER rewritten USING rewritten_y_idx', 'TRUNCATE rewritten')
{
	$node->safe_psql('postgres', "SELECT warm('rewritten', 'x')");
	$node->safe_psql('postgres', $statement);
	same($node, $statement, 'rewritten');
	$node->safe_psql('postgres', 'VACUUM rewritten');
	$node->safe_psql('postgres', "SELECT warm('rewritten', 'x')");
	same($node, "$statement, resident", 'rewritten');
}
same_after($node, 'VACUUM FULL, rolled back with its table', "SELECT fill('rewritten'); BEGIN; TRUNCATE rewritten; SELECT fill('rewritten'); SELECT fill('rewritten'); SELECT warm('rewritten', 'x'); ROLLBACK", 'rewritten', 'x');

# --- Truncation by VACUUM, and other rows in the same blocks

resident_table($node, 'truncated');
$node->safe_psql('postgres', 'DELETE FROM truncated WHERE id > 2000');
$node->safe_psql('postgres', 'VACUUM truncated');
cmp_ok($node->safe_psql('postgres', "SELECT pg_relation_size('truncated') / 8192"), '<', 40, 'VACUUM has truncated the table');
same($node, '[nblocks] a truncated table', 'truncated');
$node->safe_psql('postgres', "SELECT fill('truncated')");
same($node, '[nblocks] that has grown again', 'truncated');
$node->safe_psql('postgres', 'VACUUM (FREEZE) truncated');
same($node, '[nblocks] and is all-visible', 'truncated');
$node->safe_psql('postgres', "SELECT warm('truncated', 'x')");
$node->safe_psql('postgres', 'DELETE FROM truncated WHERE id > 2000');
$node->safe_psql('postgres', 'VACUUM truncated');
$node->safe_psql('postgres', 'INSERT INTO truncated SELECT i, 55, 3, repeat($$f$$, 60) FROM generate_series(2001, 7000) i');
$node->safe_psql('postgres', 'VACUUM truncated');
same($node, '[nblocks] truncated and grown between two reads', 'truncated');

SKIP:
{
	skip 'no pg_visibility', 2 unless $node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_visibility'});
	$node->safe_psql('postgres', "CREATE EXTENSION pg_visibility");
	$node->safe_psql('postgres', "SELECT warm('truncated', 'x')");
	$node->safe_psql('postgres', "SELECT pg_truncate_visibility_map('truncated')");
	same($node, 'a map that was truncated', 'truncated');
	$node->safe_psql('postgres', 'UPDATE truncated SET x = 56 WHERE id % 50 = 1');
	$node->safe_psql('postgres', 'VACUUM truncated');
	same($node, 'and made anew', 'truncated');
}

# --- A map that is wrong: the block has rows that the map does not know of [PD_ALL_VISIBLE]

resident_table($node, 'corrupt');
$node->safe_psql('postgres', "SELECT set_page_flag('corrupt', 3, false), set_page_flag('corrupt', 70, false), hpsort_forget('corrupt'), hpsort_keep('corrupt', 'x')");
my $blocks = $node->safe_psql('postgres', "SELECT pg_relation_size('corrupt') / 8192");
# PostgreSQL 19 repairs them when they are read.
my $captured = $node->safe_psql('postgres', "SELECT warm('corrupt', 'x')");
ok($captured == $blocks - 2 || ($version >= 19 && $captured > 80), '[PD_ALL_VISIBLE] blocks that the map alone says are all-visible are not resident');
$node->safe_psql('postgres', q{UPDATE corrupt SET x = 90 WHERE ctid IN ('(3,5)', '(70,9)')});
$node->safe_psql('postgres', q{DELETE FROM corrupt WHERE ctid IN ('(3,6)', '(70,10)')});
same($node, '[PD_ALL_VISIBLE] rows of blocks whose bit was not cleared', 'corrupt');
$node->safe_psql('postgres', 'VACUUM (DISABLE_PAGE_SKIPPING) corrupt');
same($node, '[PD_ALL_VISIBLE] repaired', 'corrupt');

# --- Values that differ although the rule says that they do not: hpsort_resident_check finds them

sub check
{
	my ($table) = @_;
	return $node->safe_psql('postgres', "SELECT attribute, blocks > 80, rows > 6000, differing, first_differing FROM hpsort_resident_check('$table') ORDER BY attribute");
}

resident_table($node, 'damaged');
my $hits_before = $node->safe_psql('postgres', "SELECT sum(hits) FROM hpsort_resident");
is(check('damaged'), "x|t|t|0|\ny|t|t|0|", 'a check of memory that is right');
$node->safe_psql('postgres', "SELECT change_first_row('damaged', 5, 4), change_first_row('damaged', 7, 4), change_first_row('damaged', 6, 8)");
is(check('damaged'), "x|t|t|2|5\ny|t|t|1|6", 'two values of x and one of y differ');
is($node->safe_psql('postgres', "SET hpsort.enable_resident = off; SELECT sum(blocks) FROM hpsort_resident_check('damaged')"), '0', 'without resident columns none are checked');
is($node->safe_psql('postgres', "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT sum(blocks) AS n FROM hpsort_resident_check('damaged'); COMMIT"), '0', 'nor in a serializable transaction');
is($node->safe_psql('postgres', "SELECT sum(hits) FROM hpsort_resident"), $hits_before, 'a check is no read');
$node->safe_psql('postgres', "SELECT hpsort_forget('damaged')");
is(check('damaged'), '', 'columns that are not kept are not checked');

# --- A database of the same number [file]

$node->safe_psql('postgres', 'CREATE DATABASE twin OID = 98765');
my $twin = sub {
	my ($values) = @_;
	$node->safe_psql('twin', "CREATE EXTENSION hpsort;\n$functions\nCREATE TABLE t (id int, x int, y int, filler text); SELECT hpsort_keep('t', 'x');
		INSERT INTO t SELECT i, $values, 0, repeat('f', 60) FROM generate_series(1, 7000) i");
	$node->safe_psql('twin', 'VACUUM FREEZE t');
	return $node->safe_psql('twin', "SELECT warm('t', 'x'), (SELECT relfilenode FROM pg_class WHERE relname = 't'), answer('t', 'x') = answer_of_core('t', 'x')");
};
my $first = $twin->('i % 3');
like($first, qr/^[89]\d\|\d+\|t$/, 'a database');
$node->safe_psql('postgres', 'DROP DATABASE twin');
$node->safe_psql('postgres', 'CREATE DATABASE twin OID = 98765');
like($twin->('i % 4'), qr/^[89]\d\|\d+\|t$/, 'another one of the same number');
# a copy has the same files with the same LSNs
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE twin STRATEGY file_copy');
$node->safe_psql('copy', 'UPDATE t SET x = 11 WHERE id < 50');
$node->safe_psql('copy', 'VACUUM t');
is($node->safe_psql('copy', q{SELECT answer('t', 'x') = answer_of_core('t', 'x')}), 't', 'a copy of it');
$node->safe_psql('postgres', 'DROP DATABASE twin');
$node->safe_psql('postgres', 'CREATE DATABASE twin OID = 98765 TEMPLATE copy STRATEGY wal_log');
is($node->safe_psql('twin', q{SELECT answer('t', 'x') = answer_of_core('t', 'x')}), 't', 'replaced by a copy');
$node->safe_psql('twin', q{SELECT warm('t', 'x')});
$node->safe_psql('copy', 'DELETE FROM t WHERE x = 1');
$node->safe_psql('copy', 'VACUUM t');
$node->safe_psql('postgres', 'DROP DATABASE twin');
$node->safe_psql('postgres', 'CREATE DATABASE twin OID = 98765 TEMPLATE copy STRATEGY file_copy');
is($node->safe_psql('twin', q{SELECT answer('t', 'x') = answer_of_core('t', 'x')}), 't', 'and by one whose pages have the LSNs of the original');

# --- Serializable transactions [serializable]

resident_table($node, 'skew');
is($node->safe_psql('postgres', "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT resident_blocks('skew', 'x') AS blocks; COMMIT"), '0', '[serializable] not used');
cmp_ok($node->safe_psql('postgres', "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT resident_blocks('skew', 'x') AS blocks; COMMIT"), '>=', 80, 'used with repeatable read');

# Each of two transactions reads all rows and deletes one.  A writer looks for readers before it
# clears the bit, and is held in between: a reader that does not have to wait for the page does
# not see the change, nor is it seen.
my $go = $node->basedir . '/go';
my ($reader, $writer, $holder) = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 3;
$writer->query_safe("SET application_name = 'writer'");
$writer->query_safe("BEGIN ISOLATION LEVEL SERIALIZABLE");
$writer->query_safe("SELECT answer('skew', 'x')");
$holder->query_until(qr/holding/, "\\echo holding\nSELECT hold_map('skew', '$go');\n");
select(undef, undef, undef, 0.3);
$writer->query_until(qr/writing/, "\\echo writing\nDELETE FROM skew WHERE ctid = '(0,1)';\n\\echo written\n");
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name = 'writer' AND wait_event_type IN ('LWLock', 'Buffer')});
$reader->query_until(qr/reading/, "\\echo reading\nBEGIN ISOLATION LEVEL SERIALIZABLE;\nSELECT answer('skew', 'x');\nDELETE FROM skew WHERE ctid = '(80,1)';\n\\echo done\n");
select(undef, undef, undef, 0.5);
append_to_file($go, 'go');
$writer->query_until(qr/written/, '');
$reader->query_until(qr/done/, '');
$_->query('COMMIT') for $writer, $reader;
$_->quit for $reader, $writer, $holder;
is($node->safe_psql('postgres', 'SELECT count(*) FROM skew'), '6999', '[serializable] of two transactions that cannot be put in an order one fails');

# --- The map read without its lock: a bit that is new with an LSN that is old [lock]

# Deleted rows are pruned by a read, so that the block may be set.
resident_table($node, 'slow');
$node->safe_psql('postgres', 'DELETE FROM slow WHERE id = 1');
$node->safe_psql('postgres', "SELECT answer_of_core('slow', 'x')") for 1 .. 2;
$go .= '2';
($reader, $holder) = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 2;
$holder->query_until(qr/holding/, "\\echo holding\nSELECT set_map_slowly('slow', 0, '$go');\n");
select(undef, undef, undef, 0.3);
$reader->query_until(qr/reading/, "\\echo reading\nSELECT 'equal' FROM (SELECT answer('slow', 'x') AS ours, answer_of_core('slow', 'x') AS core OFFSET 0) a WHERE ours = core;\n");
select(undef, undef, undef, 0.5);
append_to_file($go, 'go');
like($reader->query('SELECT 1'), qr/equal/, '[lock] while a bit is being set');
$_->quit for $reader, $holder;
same($node, '[lock] and afterwards', 'slow');

# --- The server crashes: LSNs that were not flushed come again [epoch]

resident_table($node, 'crashed');
$node->safe_psql('postgres', 'CHECKPOINT');
$node->append_conf('postgresql.conf', "restart_after_crash = on\nsynchronous_commit = off\nwal_writer_delay = 10s\nwal_writer_flush_after = 1GB\n");
$node->restart;
for my $round (1 .. 3)
{
	$node->safe_psql('postgres', "SELECT warm('crashed', 'x')");
	# what is lost, and what is written in its place, are records of the same lengths
	$node->psql('postgres', "BEGIN; UPDATE crashed SET x = 33 WHERE id = 1; COMMIT");
	$node->psql('postgres', 'VACUUM crashed');
	$node->psql('postgres', "SELECT warm('crashed', 'x')");
	if ($round < 3)
	{
		$node->stop('immediate');
		$node->start;
	}
	else
	{
		# a crash that the postmaster survives
		kill 'KILL', $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'});
		for (1 .. 300)
		{
			select(undef, undef, undef, 0.1);
			last if eval { $node->psql('postgres', 'SELECT 1', stderr => \my $err) == 0 };
		}
	}
	is($node->safe_psql('postgres', q{SELECT coalesce(sum(rows), 0) FROM hpsort_resident}), '0', '[epoch] nothing is resident after a crash');
	$node->safe_psql('postgres', "BEGIN; UPDATE crashed SET x = 34 WHERE id = 2; COMMIT");
	$node->safe_psql('postgres', 'VACUUM crashed');
	same($node, "[epoch] a crash that lost WAL, round $round", 'crashed');
}

is(join('', grep { /PANIC:|TRAP:|signal (6|11)/ } split /^/m, slurp_file($node->logfile)), '', 'nothing in the log');
$node->stop;

# --- wal_level = minimal: a new file is written without WAL [WAL, subid]

my $minimal = new_node('minimal', "wal_level = minimal\nmax_wal_senders = 0\nwal_skip_threshold = 0\n");
$load = "COPY m FROM '$data' FREEZE; COPY m FROM '$more' FREEZE";
same_after($minimal, '[WAL] TRUNCATE in place keeps the file, and the map has no LSN',
	"BEGIN; CREATE TABLE m (id int, x int, y int, filler text); SELECT hpsort_keep('m', 'x'); $load; SELECT warm('m', 'x'); TRUNCATE m;
	COPY m FROM '$more' FREEZE; $load", 'm', 'x');
$minimal->safe_psql('postgres', "CREATE TABLE m (id int, x int, y int, filler text); SELECT hpsort_keep('m', 'x')");
$minimal->safe_psql('postgres', "BEGIN; TRUNCATE m; $load; SELECT warm('m', 'x'); COPY m FROM '$more' FREEZE; COMMIT");
same($minimal, '[WAL] written without WAL', 'm');
$minimal->safe_psql('postgres', "SELECT warm('m', 'x')");
$minimal->safe_psql('postgres', 'UPDATE m SET x = 77 WHERE id < 4');
$minimal->safe_psql('postgres', 'VACUUM m');
same($minimal, '[WAL] and changed', 'm');
$minimal->stop;

# --- Snapshots that are too old are given bits that are too new [old_snapshot_threshold]

SKIP:
{
	skip 'old_snapshot_threshold: PostgreSQL 15 and 16', 2 if $version >= 17;

	my $old = new_node('old_snapshots', "old_snapshot_threshold = 1\n");
	$old->safe_psql('postgres', "SELECT make('t')");
	$old->safe_psql('postgres', 'VACUUM t');
	is($old->safe_psql('postgres', "SELECT warm('t', 'x')"), '0', '[old_snapshot_threshold] not used');
	same($old, '[old_snapshot_threshold] and right', 't');
	$old->stop;
}

# --- Standbys: replay changes pages and the map as the primary did [standby LSN], and heap pages may say more than the map [standby bit]

my $primary = new_cluster('primary', allows_streaming => 1);
$primary->append_conf('postgresql.conf', $ResidentColumns::common . "shared_preload_libraries = hpsort\nhpsort.resident_fill = eager\nmax_standby_streaming_delay = -1\n");
$primary->start;
$primary->safe_psql('postgres', "CREATE EXTENSION hpsort; $functions
	CREATE FUNCTION set_page_flag(regclass, int8, bool) RETURNS void STRICT LANGUAGE c AS '$module/hpsort_visibility'; SELECT make('t');
	CREATE FUNCTION wait_for_file(name text, any_value text) RETURNS void LANGUAGE plpgsql AS \$\$ BEGIN FOR i IN 1 .. 1800 LOOP EXIT WHEN (pg_stat_file(name, true)).size > 0; PERFORM pg_sleep(0.1); END LOOP; END \$\$");
vacuum_visible($primary, 't');
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;

# Does something on the primary, and waits until the standby has done it, too.
sub replayed
{
	my ($sql) = @_;

	$primary->safe_psql('postgres', $_) for split / *; */, $sql;
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
}

# Waits until all columns of a table are in the memory of a server.
sub is_filled
{
	my ($server, $table, $name) = @_;

	ok($server->poll_query_until('postgres', qq{SELECT bool_and(rows > 6000) AND count(*) = 2 FROM hpsort_resident WHERE relation = '$table'::regclass}), $name)
		or diag($server->safe_psql('postgres', 'SELECT * FROM hpsort_resident'));
}

# A session's snapshot, and whether its answers are core's.
sub snapshot
{
	my $snapshot = $_[0]->background_psql('postgres', on_error_stop => 0);

	$snapshot->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	return $snapshot;
}
my $is_core = "SELECT answer('t', 'x') = answer_of_core('t', 'x') AND answer('t', 'y') = answer_of_core('t', 'y')";

is_filled($standby, 't', 'standby: filled when it has started');
cmp_ok($standby->safe_psql('postgres', "SELECT resident_blocks('t', 'x')"), '>=', 80, 'standby: and read from memory');
replayed("UPDATE t SET x = 70 WHERE id < 300; UPDATE t SET y = y + 1 WHERE id % 500 = 1");
same($standby, '[standby LSN] rows that were updated', 't');
for my $round (1 .. 3)
{
	replayed("UPDATE t SET x = x + 1 WHERE id % 700 = $round; DELETE FROM t WHERE id % 1000 = $round; INSERT INTO t SELECT i, 200, 3, repeat('f', 60) FROM generate_series(1, 50) i; VACUUM t");
	same($standby, "[standby LSN] changed and vacuumed, round $round", 't');
	replayed("UPDATE t SET x = x + 2 WHERE id % 900 = $round");
	same($standby, "[standby LSN] changed, round $round", 't');
	replayed('VACUUM (FREEZE) t');
	same($standby, "[standby LSN] and vacuumed, round $round", 't');
	cmp_ok($standby->safe_psql('postgres', "SELECT warm('t', 'x')"), '>', 70, 'standby: is resident again') if $round == 3;
}

# Replay waits for a snapshot that does not see what a bit is about to say.
my $snapshot = snapshot($standby);
is($snapshot->query_safe("$is_core; SELECT resident_blocks('t', 'x') > 70"), "t\nt", 'standby: a snapshot reads memory');
replayed('UPDATE t SET x = 90 WHERE id % 3 = 1');
is($snapshot->query_safe($is_core), 't', 'standby: rows that it does not see');
$primary->safe_psql('postgres', 'VACUUM t');
$standby->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'startup' AND wait_event = 'RecoveryConflictSnapshot'}) or fail('replay waits');
is($snapshot->query_safe($is_core), 't', 'standby: replay waits to set a bit');
same($standby, 'standby: which a later snapshot reads past', 't');
$snapshot->quit;
$primary->wait_for_catchup($standby);
same($standby, 'standby: the bits are set', 't');

# A page that says that all rows are visible, which comes by a full-page image, does not count without the map.
replayed("SELECT make('flagged'); VACUUM flagged");
$snapshot = snapshot($standby);
$primary->safe_psql('postgres', "INSERT INTO flagged SELECT i, 300, i, repeat('g', 60) FROM generate_series(1, 200) i");
my $last = $primary->safe_psql('postgres', "SELECT pg_relation_size('flagged') / 8192 - 1");
replayed("SELECT set_page_flag('flagged', $last, true); CHECKPOINT; SELECT FROM flagged WHERE ctid = '($last,1)' FOR UPDATE");
is($snapshot->query_safe("SELECT bool_and(answer('flagged', 'x') = answer_of_core('flagged', 'x')) FROM generate_series(1, 4); SELECT resident_blocks('flagged', 'x') > 80"), "t\nt", '[standby bit] a page that says more than the map');
$snapshot->quit;

# Declarations come by replay.  Two reads keep a column, one has the worker keep all of them.
replayed("SELECT make('declared'); VACUUM declared");
$standby->safe_psql('postgres', "SELECT answer('declared', 'x')");
is_filled($standby, 'declared', 'standby: columns that were declared meanwhile are filled once one has been read');
replayed("SELECT hpsort_forget('declared')");
is($standby->safe_psql('postgres', q{SELECT count(*) FROM hpsort_resident WHERE relation = 'declared'::regclass}), '0', 'standby: forgotten');

# TRUNCATE and COPY FREEZE in one transaction: the old file until it has committed
my $copier = $primary->background_psql('postgres');
$copier->query_safe("BEGIN; TRUNCATE flagged; COPY flagged FROM '$data' FREEZE; SELECT hpsort_keep('flagged', 'x', 'y')");
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
$copier->query_safe("COPY flagged FROM '$more' FREEZE; COMMIT");
$copier->quit;
replayed('VACUUM flagged');
same($standby, "standby: TRUNCATE and COPY FREEZE, read $_", 'flagged') for 1 .. 3;

# Restarted, crashed: nothing is taken back.
for my $mode ('fast', 'immediate')
{
	$standby->stop($mode);
	$primary->safe_psql('postgres', $_) for 'UPDATE t SET x = x + 1 WHERE id % 900 = 5', 'VACUUM t', 'CHECKPOINT';
	$standby->start;
	$primary->wait_for_catchup($standby);
	same($standby, "standby: started again, $mode", 't');
	is_filled($standby, 't', "standby: and filled, $mode");
	same($standby, "standby: filled, $mode", 't', 'y');
}
unlike(slurp_file($standby->logfile), qr/took back [1-9]/, 'standby: no extents are taken back');

# Promoted in the middle of a transaction, and of a statement.
$snapshot = snapshot($standby);
my $spanning = snapshot($standby);
is($snapshot->query_safe($is_core), 't', 'standby: before it is promoted');
replayed('UPDATE t SET x = 70 WHERE id BETWEEN 1000 AND 1100');
$spanning->query_until(qr/waiting/, "\\echo waiting\nSELECT CASE WHEN answer('t', 'x') = before AND answer_of_core('t', 'x') = before THEN 'same' END FROM (SELECT answer('t', 'x') AS before OFFSET 0) a, LATERAL (SELECT wait_for_file('changed', before)) b;\n");
$standby->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) or fail('the statement has begun');
$primary->stop;
$standby->promote;
$standby->safe_psql('postgres', $_) for 'UPDATE t SET x = 71 WHERE id BETWEEN 3000 AND 3200', 'VACUUM t';
append_to_file($standby->data_dir . '/changed', 'changed');
like($spanning->query('SELECT 1'), qr/same/, 'promoted: a statement that began before');
is($snapshot->query_safe("$is_core; SELECT resident_blocks('t', 'x') > 40"), "t\nt", 'promoted: a snapshot that was taken during recovery');
same($standby, 'promoted', 't');
$_->quit for $snapshot, $spanning;
$standby->safe_psql('postgres', 'VACUUM t');
cmp_ok($standby->safe_psql('postgres', "SELECT warm('t', 'x')"), '>', 70, 'promoted: is resident');
same($standby, 'promoted: and vacuumed', 't', $_) for 'x', 'y';

# The primary that was shut down follows.
$primary->enable_streaming($standby);
$primary->start;
$standby->wait_for_catchup($primary);
same($primary, 'a primary that has become a standby', 't', $_) for 'x', 'y';
$_->stop for $primary, $standby;
is(join('', grep { /PANIC:|TRAP:|ERROR:  XX|terminated by signal/ } split /^/m, slurp_file($standby->logfile)), '', 'nothing in the log');

done_testing();
