# ORDER BY with rows that stay where they are: when they do, and when they are copied instead, from
# the beginning or in the middle; keys and places beyond work_mem; pins, and who gets them; vacuum, a
# standby, sessions that end.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();

my $primary = new_cluster('primary', allows_streaming => 1);

# 4,096 buffers, of which 1,024 may be pinned.
$primary->append_conf('postgresql.conf', <<'CONF');
shared_buffers = 32MB
autovacuum = off
session_preload_libraries = hpsort
synchronize_seqscans = off
max_parallel_workers_per_gather = 0
hpsort.debug_sort = force
jit = off
CONF
$primary->start;
$primary->safe_psql('postgres', <<'SQL');
CREATE EXTENSION hpsort;
-- some 300, 850 and 1,100 pages
CREATE TABLE small WITH (fillfactor = 50) AS SELECT i AS id, (i * 7919) % 1009 AS x, repeat('s', 30) AS filler FROM generate_series(1, 16000) i;
CREATE TABLE large AS SELECT i AS id, (i * 7919) % 1009 AS x, i * 1000000007::int8 % 1000003 AS y, repeat('l', 300) AS filler FROM generate_series(1, 19000) i;
CREATE TABLE huge AS SELECT id, x, repeat('h', 450) AS filler FROM large;
CREATE INDEX ON large (id);
-- some 500 pages: every type whose rows stay, NULLs, ties, keys in order, the ends of their ranges
CREATE FUNCTION chance(i int, salt int) RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT (hashint8extended(i, salt) & 2147483647)::int $$;
CREATE TYPE mood AS ENUM ('zero', 'b', 'a');
SQL
$primary->safe_psql('postgres', <<"SQL");
CREATE TABLE mixed AS
SELECT i AS id, i AS up, -i AS down, CASE WHEN chance(i, $seed) % 10 > 0 THEN chance(i, $seed + 1) % 30 END AS few, chance(i, $seed + 2) - 1073741824 AS wide,
	i + chance(i, $seed + 3) % 700 AS nearly, CASE WHEN i < 14000 THEN i % 7 END AS late_null, CASE WHEN i % 100 = 0 THEN i END AS mostly_null, NULL::int AS never,
	CASE WHEN i % 50 = 0 THEN chance(i, $seed) ELSE 7 END AS heavy, (chance(i, $seed + 4) % 60000 - 30000)::int2 AS small, 5 AS one,
	CASE chance(i, $seed + 5) % 500 WHEN 0 THEN 9223372036854775807 WHEN 1 THEN -9223372036854775808 WHEN 2 THEN NULL ELSE hashint8extended(i, $seed) END AS big,
	date '2000-01-01' + chance(i, $seed + 6) % 3000 AS day, timestamptz '2000-01-01' + i * interval '1 minute' AS moment, CASE WHEN i % 3 > 0 THEN i % 2 = 0 END AS flag,
	chr(1 + chance(i, $seed + 7) % 126)::"char" AS letter, (hashint8extended(i, $seed + 8) & 4294967295)::oid AS o,
	(ARRAY['zero', 'b', 'a', NULL])[1 + chance(i, $seed + 9) % 4]::mood AS mood,
	CASE chance(i, $seed + 10) % 200 WHEN 0 THEN 'NaN' WHEN 1 THEN '-Infinity' WHEN 2 THEN 'Infinity' WHEN 3 THEN -0.0 WHEN 4 THEN 0 WHEN 5 THEN NULL ELSE hashint8extended(i, $seed) / 1e18 END::float8 AS f8,
	CASE chance(i, $seed + 11) % 200 WHEN 0 THEN 'NaN' WHEN 1 THEN '-Infinity' WHEN 2 THEN 'Infinity' WHEN 3 THEN -0.0 WHEN 4 THEN 0 WHEN 5 THEN NULL ELSE chance(i, $seed) / 7.0 - 1e8 END::float4 AS f4
FROM generate_series(1, 30000) i;
SQL
my $icu = $primary->safe_psql('postgres', "SELECT count(*) FROM pg_collation WHERE collname = 'en-x-icu'") ? 'en-x-icu' : 'C';

# some 700 pages: what is abbreviated, with values that are equal, that only begin alike, that are toasted, and that older rows lack
$primary->safe_psql('postgres', <<"SQL");
CREATE TABLE typed AS
SELECT i AS id, chance(i, $seed) % 40 AS x, CASE WHEN chance(i, $seed + 1) % 50 > 0 THEN md5((i / 2)::text)::uuid END AS u, md5((chance(i, $seed + 2) % 50)::text)::uuid AS u_few,
	CASE chance(i, $seed + 3) % 100 WHEN 0 THEN 'NaN' WHEN 1 THEN NULL WHEN 2 THEN 1.0 WHEN 3 THEN 1.00 WHEN 4 THEN 'Infinity' WHEN 5 THEN '-Infinity' WHEN 6 THEN 0 WHEN 7 THEN 1e300 + chance(i, 5) % 3
		ELSE (hashint8extended(i / 3, $seed) / 10 ^ (chance(i, $seed + 4) % 8))::numeric END::numeric AS n,
	CASE WHEN chance(i, $seed + 5) % 20 > 0 THEN md5((i / 2)::text) END COLLATE "C" AS t, ('https://www.example.com/' || md5((i / 3)::text)) COLLATE "C" AS alike, ('row ' || chance(i, $seed + 6) % 5000) COLLATE "C" AS label,
	('status ' || chance(i, $seed + 7) % 20) COLLATE "C" AS t_few, (substr('aAbBzZ- ', 1 + chance(i, $seed + 8) % 8, 1) || chance(i, $seed + 9) % 3000) COLLATE "$icu" AS t_icu,
	substr('aAbBzZ- ', 1 + chance(i, $seed + 10) % 8, 1) || i % 7 AS t_locale,
	CASE WHEN i % 100 = 0 THEN (SELECT string_agg(md5((i / 200 * 200 + g)::text), '') FROM generate_series(1, 90) g) ELSE md5((i / 5)::text) END COLLATE "C" AS toasted,
	substr(md5((i / 2)::text), 1, chance(i, 7) % 12)::varchar(40) COLLATE "C" AS vc, substr(md5((i / 2)::text), 1, chance(i, 8) % 12)::char(20) COLLATE "C" AS bp,
	decode(substr(md5((i / 2)::text), 1, 2 * (chance(i, 9) % 12)), 'hex') AS b, CASE WHEN i % 7 = 0 THEN '::1'::inet + chance(i, 10) ELSE '10.0.0.0'::inet + chance(i, 11) % 10000000 END AS ip,
	CASE WHEN i % 9 > 0 THEN ('08:00:2b:' || substr(md5((i / 4)::text), 1, 2) || ':' || substr(md5((i / 4)::text), 3, 2) || ':01')::macaddr END AS mac,
	CASE WHEN i % 11 > 0 THEN make_interval(months => chance(i, 12) % 9, days => chance(i, 13) % 300, secs => chance(i, 14)) ELSE '178956970 years' END AS span,
	CASE WHEN i % 3 > 0 THEN hashint8extended(i, 3) / 1e18 END::float8 AS f8
FROM generate_series(1, 13000) i;
ALTER TABLE typed ADD added uuid DEFAULT 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', ADD added_text text COLLATE "C" DEFAULT 'missing';
INSERT INTO typed (id, t, n, added, added_text) SELECT i, 'x' || i % 3, i % 7, CASE WHEN i % 3 > 0 THEN md5(i::text)::uuid END, CASE WHEN i % 4 > 0 THEN md5(i::text) END FROM generate_series(13001, 15000) i;
SQL
$primary->safe_psql('postgres', <<'SQL');
VACUUM ANALYZE small, large, huge, mixed, typed;
CHECKPOINT;
SQL

sub plan_of
{
	my ($node, $query, $settings) = @_;
	return $node->safe_psql('postgres', ($settings // '') . "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) $query");
}

# Whether a query returns with hpsort what it returns without.
sub same
{
	my ($node, $query, $name) = @_;
	my $got = $node->safe_psql('postgres', $query);
	is($got, $node->safe_psql('postgres', "SET hpsort.debug_sort = forbid; $query"), "$name: rows");
}

# Buffers that HpSort itself has read, less those of the scan below it.
sub own_hits
{
	my ($plan) = @_;
	my ($all, $scan) = $plan =~ /HpSort.*?Buffers: shared hit=(\d+).*?Seq Scan.*?Buffers: shared hit=(\d+)/s;
	return ($all // 0) - ($scan // 0);
}

# Reads tables into the buffers, as a scan of a large table does not.
sub warm
{
	$_[0]->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(filler) FROM large WHERE id > 0; SELECT count(*) FROM small');
}

# --- from the buffers: rows stay, their pages are pinned once

warm($primary);
my $plan = plan_of($primary, 'SELECT * FROM small ORDER BY x');
like($plan, qr/Rows: in place/, 'rows stay in place');
my $pages = $primary->safe_psql('postgres', "SELECT pg_relation_size('small') / current_setting('block_size')::int");
is(own_hits($plan), $pages, 'each page is pinned once');
same($primary, 'SELECT * FROM small ORDER BY x, id', 'in place');
same($primary, 'SELECT id, filler FROM small ORDER BY x, id', 'in place, some columns');
same($primary, 'SELECT ctid, xmin, tableoid::regclass, id + x FROM small WHERE id % 3 = 0 ORDER BY x DESC, id', 'in place, with a filter and system columns');
same($primary, 'SELECT * FROM small ORDER BY x, id LIMIT 100', 'the first in order of two keys');
like(plan_of($primary, 'SELECT id, x FROM small ORDER BY x', "SET hpsort.debug_sort = allow; SET enable_sort = on;"), qr/Rows: in place/, 'rows of which a few columns are returned stay, too');
$plan = plan_of($primary, 'SELECT id, span FROM typed ORDER BY x', 'SELECT count(*) FROM typed;');
ok($plan =~ /HpSort/ && $plan !~ /Rows:/, 'those of which a column far behind is returned are copied') or diag($plan);
like(plan_of($primary, 'SELECT id, span FROM typed ORDER BY x LIMIT 10', 'SELECT count(*) FROM typed;'), qr/Rows: in place/, 'but for the first of them');
like(plan_of($primary, 'SELECT * FROM small ORDER BY id DESC LIMIT 100'), qr/top-N.*Rows: in place/s, 'the first of one key, in place');
same($primary, 'SELECT * FROM small ORDER BY id DESC LIMIT 100', 'the first of one key');
for my $order ('y', 'y DESC, id', 'x, y', 'x DESC, id')
{
	like(plan_of($primary, "SELECT * FROM large ORDER BY $order LIMIT 50"), qr/top-N.*Rows: in place/s, "the first by $order, in place");
	same($primary, "SELECT * FROM large ORDER BY $order LIMIT 50 OFFSET 10", "the first by $order");
}

# --- a larger table

like(plan_of($primary, 'SELECT * FROM large ORDER BY x, id'), qr/Rows: in place/, 'rows of a large table stay in place');
same($primary, 'SELECT * FROM large ORDER BY x, id', 'a large table');
same($primary, 'SELECT id, y FROM large ORDER BY y DESC', 'a large table, a key of 64 bits');

# --- more pages than may be pinned: rows are copied, but for a few of them

like(plan_of($primary, 'SELECT * FROM huge ORDER BY x'), qr/Rows: copied \(too few buffers to pin\)/, 'rows of a huge table are copied');
like(plan_of($primary, 'SELECT * FROM huge ORDER BY id LIMIT 5', 'SELECT count(*) FROM huge;'), qr/Rows: (in place|copied \(not)/, 'the first of them are not, unless they come from disk');
same($primary, 'SELECT * FROM huge ORDER BY id DESC LIMIT 1000', 'the first of a huge table');
warm($primary);

# Sessions share the pins: what a query has taken another one has not, until it ends.  It waits for a lock in the middle of its rows.
my $blocker = $primary->background_psql('postgres');
$blocker->query_safe('SELECT pg_advisory_lock(1)');
my $holder = $primary->background_psql('postgres', on_error_stop => 0);
my $pid = $holder->query_safe('SELECT pg_backend_pid()');
$holder->query_until(qr/started/, "\\echo started\nSELECT count((SELECT pg_advisory_lock(1)::text WHERE q.id = 18000)) FROM (SELECT * FROM large ORDER BY x OFFSET 0) q;\n");
$primary->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $pid");
like(plan_of($primary, 'SELECT * FROM small ORDER BY x'), qr/Rows: copied \(too few/, 'another session has taken the pins');
$primary->safe_psql('postgres', "SELECT pg_terminate_backend($pid, 10000)") if $primary->pg_version >= 14;
is(own_hits(plan_of($primary, 'SELECT * FROM small ORDER BY x')), $pages, 'a session that is terminated gives its pins back');
eval { $holder->quit };
$blocker->quit;
$primary->safe_psql('postgres', <<'SQL');
CREATE FUNCTION fails() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM sum(1 / (id - 18000)) FROM (SELECT * FROM large ORDER BY x OFFSET 0) q;
EXCEPTION WHEN division_by_zero THEN NULL;
END $$;
SQL
$plan = $primary->safe_psql('postgres', 'SELECT fails(); SELECT fails(); EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) SELECT * FROM small ORDER BY x');
is(own_hits($plan), $pages, 'so does one that fails');

# The memory of a query in an operator class's function, in SQL, stays with the type's cached comparison where it fails.
my (undef, undef, $complaint) = $primary->psql('postgres', <<'SQL');
CREATE TYPE failing AS (i int);
CREATE FUNCTION failing_compare(failing, failing) RETURNS int LANGUAGE sql AS 'SELECT sum(1 / (id - 18000))::int FROM (SELECT * FROM large ORDER BY x OFFSET 0) q';
CREATE FUNCTION failing_less(failing, failing) RETURNS bool LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR <# (LEFTARG = failing, RIGHTARG = failing, FUNCTION = failing_less);
CREATE OPERATOR CLASS failing_ops DEFAULT FOR TYPE failing USING btree AS OPERATOR 1 <#, FUNCTION 1 failing_compare(failing, failing);
SELECT ARRAY[ROW(1)::failing] < ARRAY[ROW(2)::failing];
SQL
like($complaint, qr/division by zero/, 'a comparison fails in its query');
is(own_hits(plan_of($primary, 'SELECT * FROM small ORDER BY x')), $pages, 'so does one whose memory is not freed');

# --- from disk: rows are copied

$primary->restart;
$plan = plan_of($primary, 'SELECT * FROM large ORDER BY x, id');
like($plan, qr/Keys: 19000 .*Rows: copied \(not in shared buffers\)/, 'rows that come from disk are copied');
$primary->restart;
same($primary, 'SELECT * FROM large WHERE id % 2 = 0 ORDER BY x, id', 'from disk');

# The first half of the table is in the buffers.
$primary->restart;
my $half = 'SET enable_seqscan = off; SELECT count(filler) FROM large WHERE id <= 9500;';
$plan = plan_of($primary, 'SELECT * FROM large ORDER BY x, id', $half);
like($plan, qr/Keys: 19000 .*Rows: copied \(not in shared buffers\)/, 'a table half of which comes from disk: copied from the middle on');
$primary->restart;
my ($got, $want) = map { $primary->safe_psql('postgres', "$half SET hpsort.debug_sort = $_; SELECT * FROM large ORDER BY y") } 'force', 'forbid';
ok($got eq $want, 'rows copied from the middle on');

# --- more than work_mem

warm($primary);
$primary->safe_psql('postgres', 'SELECT count(*) FROM mixed');
$plan = plan_of($primary, 'SELECT * FROM large ORDER BY x', "SET work_mem = '512kB';");
like($plan, qr/Memory: .*Rows: in place/s, 'keys and places that fit into work_mem, unlike the rows');
for my $order ('x', 'y DESC', 'x, id')
{
	$plan = plan_of($primary, "SELECT * FROM large ORDER BY $order", "SET work_mem = '100kB';");
	like($plan, qr/Disk: .*Keys: 19000 .*Segments: \d+ .*Rows: in place/s, "keys and places that do not fit: on disk, by $order");
	my ($disk, $segments) = $plan =~ /Disk: (\d+)kB.*Segments: (\d+)/s;
	my $bytes = { 'x' => 8, 'y DESC' => 12, 'x, id' => 13 }->{$order};

	# The last block of a segment may be empty but for a byte.
	cmp_ok($disk, '<=', 19000 * $bytes / 1024 + 8 * ($segments + 1), "no more than these, by $order");
}

# Rows of random orders, in turn all of them, the first, and some by a cursor; core has id for the last key, by which HpSort's are in order anyway.
my @columns = qw(up down few wide nearly late_null mostly_null never heavy small one big day moment flag letter o mood f8 f4);
my @options = ('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST');

sub random_order
{
	return join ', ', map { $columns[ rand @columns ] . $options[ rand @options ] } 1 .. 1 + int(rand(1.2) + rand(1.2) + rand(1.2));
}

sub both
{
	my ($settings, $ours, $core) = @_;
	return map { $primary->safe_psql('postgres', "$settings SET hpsort.debug_sort = $_->[0]; $_->[1]") } [ 'force', $ours ], [ 'forbid', $core // $ours ];
}
my ($spilled, $wrong) = (0, '');
for my $case (1 .. $ENV{HPSORT_TEST_CASES} // at_length(9, 24))
{
	my $order = $case <= @columns ? $columns[ $case - 1 ] . $options[ rand @options ] : random_order();
	my $memory = "SET work_mem = '" . int(64 * 2**rand(2.4)) . "kB';";
	my $where = ('', '', 'WHERE id % 10 > 2', 'WHERE few IS NULL OR id > 9000')[ rand 4 ];
	my $limit = rand() < 0.3 ? 'LIMIT ' . int(10**rand(4.3)) : '';
	my $rows = "SELECT * FROM mixed $where ORDER BY $order";

	$spilled++ if plan_of($primary, "$rows $limit", $memory) =~ /Disk: .*Rows: in place/s;
	($got, $want) = both($memory, "$rows $limit", "$rows, id $limit");
	$wrong .= "$memory $rows $limit\n" if $got ne $want;

	# Below some other node, which reads the rows again: all of them, or those of a parameter.
	for my $again ($case % 3 > 0 ? () : ("SELECT md5(string_agg(g || ' ' || id, ' ')) FROM generate_series(1, 3) g LEFT JOIN (SELECT * FROM mixed ORDER BY %s OFFSET 1) q ON true",
			"SELECT g, (SELECT md5(string_agg(id::text, ' ')) FROM (SELECT * FROM mixed WHERE id %% g = 0 ORDER BY %s OFFSET 1) q) FROM generate_series(1, 3) g"))
	{
		($got, $want) = both("$memory SET enable_material = off; SET enable_memoize = off; SET enable_hashjoin = off; SET enable_mergejoin = off;",
			map { sprintf $again, $_ } $order, "$order, id");
		$wrong .= "again: $memory $order\n" if $got ne $want;
	}

	# A cursor that goes back and forth, and one that outlives its transaction.
	my $moves = join '', map { my $m = ('NEXT', 'PRIOR', 'FIRST', 'LAST', 'FORWARD 300', 'BACKWARD 200', 'ABSOLUTE ' . int(rand(30000)), 'RELATIVE -' . int(rand(30000)),
			'ABSOLUTE -5', 'RELATIVE 0', 'FORWARD ALL', 'BACKWARD ALL')[ rand(10.1) ]; "FETCH $m FROM c;\n" } 1 .. 30;
	my $hold = $case % 2 ? '' : 'WITH HOLD';
	my $commit = $hold ? 'COMMIT;' : '';
	($got, $want) = both($memory, "BEGIN; DECLARE c SCROLL CURSOR $hold FOR $rows; $commit $moves", "BEGIN; DECLARE c SCROLL CURSOR $hold FOR $rows, id; $commit $moves");
	$wrong .= "$memory cursor $hold $rows\n$moves" if $got ne $want;
}
is($wrong, '', 'rows of random orders');
cmp_ok($spilled, '>', 4, 'of which many are sorted on disk, in place') if at_length(0, !$ENV{HPSORT_TEST_CASES});

# The same by keys that are abbreviated, and by others among these that core compares. Core has ctid for the last key: a row that was inserted later
# may lie before another one, where a page had room for the smaller of the two.
$primary->safe_psql('postgres', 'SELECT count(*) FROM typed');
like(plan_of($primary, "SELECT * FROM typed ORDER BY $_"), qr/Memory: .*Rows: in place/s, "in place, by $_")
	for 'u', 'n DESC', 't', 'vc', 'bp', 'b', 'ip', 'mac', 'span', 'toasted', 'added', 'x, t', 'u, t_locale', 't COLLATE "POSIX"', $icu eq 'C' ? () : 't_icu', 'u LIMIT 10', 'x, alike LIMIT 10';
like(plan_of($primary, "SELECT * FROM typed ORDER BY $_", "SET work_mem = '100kB';"), qr/Disk: .*Rows: in place/s, "on disk, by $_") for 'f8', 'ip', 'span DESC';
like(plan_of($primary, 'SELECT * FROM typed ORDER BY f8, t', "SET work_mem = '100kB';"), qr/and comparison.*Disk: .*Rows: in place/s, 'on disk, and compared');
unlike(plan_of($primary, "SELECT * FROM typed ORDER BY $_", "SET work_mem = '100kB';"), qr/Rows: in place/s, "copied, as many may be equal, by $_") for 'alike', 't', 't_few, u LIMIT 3000';
like(plan_of($primary, "SELECT * FROM typed ORDER BY $_", "SET work_mem = '100kB';"), qr/zero_compressed on cpu.*Disk: .*Rows: in place/s, "numbered, by $_") for 't_few', 'x, t_few';
my @typed = qw(x u u u_few n n t t alike label t_few t_icu toasted toasted vc bp b ip mac span f8 added added_text);
my $stayed = 0;
$wrong = '';
for my $case (1 .. $ENV{HPSORT_TEST_CASES} // at_length(9, 24))
{
	my $order = join ', ', ($case <= @typed ? $typed[ $case - 1 ] : $typed[ rand @typed ]) . $options[ rand @options ], map { (@typed, 't_locale')[ rand 1 + @typed ] . $options[ rand @options ] } 1 .. rand(2.2);
	my $memory = "SET work_mem = '" . int(64 * 2**rand(8)) . "kB';";
	my $where = ('', '', 'WHERE id % 10 > 2', 'WHERE x = 3 OR id > 9000')[ rand 4 ];
	my $limit = rand() < 0.4 ? 'LIMIT ' . int(10**rand(4.1)) : '';
	my $rows = 'SELECT ' . ('*', '*', 'id, ctid', 'x, id, t')[ rand 4 ] . " FROM typed $where ORDER BY $order";

	$plan = plan_of($primary, "$rows $limit", $memory);
	$stayed += $plan =~ /Rows: in place/;
	($got, $want) = both($memory, map { "SELECT count(*), md5(string_agg(q::text, ';')) FROM ($_) q" } "$rows $limit", "$rows, ctid $limit");
	$wrong .= "$memory $rows $limit\n" if $got ne $want;
	next if $case % 3;
	my $moves = join '', map { my $m = ('PRIOR', 'LAST', 'FORWARD 300', 'BACKWARD 200', 'ABSOLUTE ' . int(rand(15000)), 'RELATIVE -' . int(rand(15000)), 'BACKWARD ALL')[ rand 7 ]; "FETCH $m FROM c;\n" } 1 .. 15;
	($got, $want) = both($memory, map { "BEGIN; DECLARE c SCROLL CURSOR FOR SELECT id FROM typed $where ORDER BY $_; $moves" } $order, "$order, ctid");
	$wrong .= "$memory cursor $where $order\n$moves" if $got ne $want;
}
is($wrong, '', 'rows of random orders by what is abbreviated');
cmp_ok($stayed, '>', 0, 'of which some stay in place') if at_length(0, !$ENV{HPSORT_TEST_CASES});

# Rows that turn out to be equal when keys and places are on disk: segments of these are merged by what core compares.
$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE late AS SELECT i AS id, CASE WHEN i < 3000 THEN hashint4(i) ELSE 7 END AS x, CASE WHEN i < 3000 THEN hashint8extended(i, 0) END AS big,
	CASE WHEN i < 3000 THEN md5(i::text) ELSE 'the same: ' || chance(i, 1) % 5000 END COLLATE "C" AS t, chance(i, 2) % 1000 AS y, md5((i % 3000)::text) AS t_locale
FROM generate_series(1, 25000) i;
VACUUM ANALYZE late;
SELECT count(*) FROM late;
SQL
for my $order ('x, t_locale', 'big DESC, y, t_locale', 't', 't DESC, y')
{
	like(plan_of($primary, "SELECT * FROM late ORDER BY $order", "SET work_mem = '64kB';"), qr/and comparison.*Disk: .*Rows: in place/s, "equal late, on disk, by $order");
	($got, $want) = both("SET work_mem = '64kB';", "SELECT * FROM late ORDER BY $order", "SELECT * FROM late ORDER BY $order, id");
	ok($got eq $want, "rows that are equal late, by $order");
}

# Workers, each of which sorts its share of the table.
my $workers = "SET work_mem = '64kB'; SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET cpu_tuple_cost = 1;";
like(plan_of($primary, 'SELECT * FROM mixed ORDER BY wide, id', "$workers SET hpsort.debug_sort = allow;"), qr/Gather Merge.*Disk: .*Rows: in place/s, 'workers sort on disk, in place');
for my $order ('wide', 'mostly_null', 'big DESC')
{
	($got, $want) = map { $primary->safe_psql('postgres', "$workers SET hpsort.debug_sort = $_; SELECT * FROM mixed ORDER BY $order, id") } 'allow', 'forbid';
	ok($got eq $want, "workers, by $order");
}

# Groups on both sides of a merge join, larger than memory on one.
for my $key ('few', 'heavy', 'big')
{
	($got, $want) = both("SET work_mem = '64kB'; SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_material = off;",
		"SELECT count(*), sum(a.id::int8 * 3 + b.id), md5(string_agg(b::text, '' ORDER BY a.id, b.id)) FROM (SELECT * FROM mixed WHERE id % 900 = 0) a JOIN mixed b USING ($key)");
	is($got, $want, "merge join by $key");
}

# Rows changed, pruned and vacuumed between the reading of keys and places and the fetching of rows.
for my $scroll ('NO SCROLL', 'SCROLL')
{
	my $reader = $primary->background_psql('postgres');

	$primary->safe_psql('postgres', 'DROP TABLE IF EXISTS changing; CREATE TABLE changing WITH (fillfactor = 80) AS SELECT * FROM mixed; ANALYZE changing; SELECT count(*) FROM changing');
	$want = $primary->safe_psql('postgres', 'SET hpsort.debug_sort = forbid; SELECT * FROM changing ORDER BY few, id');
	$reader->query_safe("SET work_mem = '64kB'");
	like($reader->query_safe('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT * FROM changing ORDER BY few'), qr/Disk: .*Rows: in place/s, "$scroll: on disk, in place");
	$got = $reader->query_safe("BEGIN; DECLARE c $scroll CURSOR FOR SELECT * FROM changing ORDER BY few; FETCH 5 FROM c");
	$primary->safe_psql('postgres', "UPDATE changing SET few = few + 1 WHERE id % 3 = 0; UPDATE changing SET small = 1 WHERE id % 5 = 0;
		DELETE FROM changing WHERE id % 7 = 0; SELECT count(*) FROM changing; VACUUM changing; UPDATE changing SET big = 2, few = 1 WHERE id % 2 = 0; SELECT count(*) FROM changing; VACUUM changing");
	$got .= "\n" . $reader->query_safe('FETCH ALL FROM c');
	ok($got eq $want, "$scroll: rows changed since are what they were");
	ok($reader->query_safe('MOVE ABSOLUTE 0 FROM c; FETCH ALL FROM c') eq $want, 'and are so again') if $scroll eq 'SCROLL';
	$reader->query_safe('COMMIT');
	$reader->quit;
}

# Errors and cancels leave neither files nor pins.
my ($rc, $out, $err) = $primary->psql('postgres', "SET work_mem = '64kB'; SET temp_file_limit = '64kB'; SELECT * FROM mixed ORDER BY wide");
like($err, qr/temporary file size exceeds/, 'temp_file_limit holds');
is($primary->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), '0', 'no file is left');
for my $try (1 .. 12)
{
	my $ms = 1 + int(rand(60));
	$primary->psql('postgres', "SET work_mem = '64kB'; SET statement_timeout = $ms; SELECT * FROM mixed ORDER BY " . random_order());
}
is($primary->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()'), '0', 'nor after cancels');
is(own_hits(plan_of($primary, 'SELECT * FROM small ORDER BY x')), $pages, 'nor do pins stay taken');

# --- copying after keys and places have been written: because the table is not cached, because it has too many pages

for my $order ('x', 'y', 'x DESC, y')
{
	$primary->restart;
	$half = "SET work_mem = '64kB'; SET enable_seqscan = off; SELECT count(filler) FROM large WHERE id <= 12000; SET enable_seqscan = on;";
	$plan = plan_of($primary, "SELECT * FROM large ORDER BY $order", $half);
	like($plan, qr/Disk: .*Keys: 19000 .*Rows: copied \(not in shared buffers\)/s, "copied from the middle on, with keys on disk, by $order");
	$primary->restart;
	($got, $want) = both($half, "SELECT * FROM large ORDER BY $order", "SELECT * FROM large ORDER BY $order, id");
	ok($got eq $want, "rows copied from the middle on, by $order");
}
# Of a LIMIT's few rows the pages are read once more; where keys left to PostgreSQL are compared, rows are copied, and those beyond the cutoff are not.
for my $case ([ 'x, id LIMIT 10', 'in place' ], [ 'x DESC, filler, id LIMIT 10', 'copied \\(not in shared buffers\\)' ])
{
	my ($order, $where) = @$case;
	for my $table ('large', "large WHERE filler <> ''")
	{
		my $query = "SELECT id, x, filler FROM $table ORDER BY $order";
		$primary->restart;
		like(plan_of($primary, $query), qr/Rows: $where/, "not cached: $table ORDER BY $order");
		$primary->restart;
		($got, $want) = both('', $query);
		ok($got eq $want, 'the first rows of a table that is not cached');
	}
}
# The planner takes this for a third of the rows, whose keys fit.
my $many = <<'SQL';
SET temp_buffers = '160MB'; SET work_mem = '64kB';
CREATE TEMP TABLE sparse WITH (fillfactor = 50) AS SELECT i AS id, (i * 7919) % 1009 AS x, CASE WHEN i % 3 > 0 THEN i % 5 END AS few, repeat('s', 1050) AS filler FROM generate_series(1, 15000) i;
ANALYZE sparse;
SQL
for my $order ('x', 'few', 'few DESC')
{
	my $query = "SELECT * FROM sparse WHERE id + 0 > 0 ORDER BY $order";
	like(plan_of($primary, $query, $many), qr/Disk: .*Keys: 15000 .*Rows: copied \(work_mem\)/s, "more pages than work_mem has room for: copied, by $order");
	($got, $want) = both($many, $query, "$query, id");
	ok($got eq $want, "rows of more pages, by $order");
}
unlike(plan_of($primary, 'SELECT * FROM sparse ORDER BY x', $many), qr/Rows:/, 'copied from the beginning if the planner knows');
warm($primary);

# --- temporary tables, in local buffers: 128 pages in 1,024 of these, of which 256 may be pinned

$want = $primary->safe_psql('postgres', <<'SQL');
CREATE TEMP TABLE t AS SELECT i AS id, (i * 7919) % 1009 AS x, repeat('t', 100) AS filler FROM generate_series(1, 4000) i;
SELECT count(*) FROM t;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT * FROM t ORDER BY x;
SELECT 'equal', array_agg(id) = (SELECT array_agg(id ORDER BY x, id) FROM t) FROM (SELECT id FROM t ORDER BY x, id OFFSET 0) s;
SQL
like($want, qr/Rows: in place.*equal\|t/s, 'a temporary table');

# --- nobody waits for the pages of a query that is left open, or that goes on slowly

# Half of the rows of each page are dead before a cursor is opened, so that vacuum moves the others.
sub make_busy
{
	$primary->safe_psql('postgres', <<'SQL');
DROP TABLE IF EXISTS busy, busier;
CREATE TABLE busy AS SELECT i AS id, i % 10 AS x, repeat(chr(97 + i % 26), 10 + i % 50) AS filler FROM generate_series(1, 5000) i;
CREATE TABLE busier AS SELECT id, x, filler || 'r' AS filler FROM busy;
DELETE FROM busy WHERE id % 2 = 0;
DELETE FROM busier WHERE id % 2 = 0;
ANALYZE busy, busier;
SELECT count(*) FROM busy;
SELECT count(*) FROM busier;
SQL
}

# Changes the tables, and cleans up every page of them: a page that stays pinned would be waited for as long as the cursor is open.  Truncating them would wait for the locks of any open query.
sub clean_up
{
	my ($name) = @_;
	$primary->safe_psql('postgres', "UPDATE $_ SET x = x + 1 WHERE id % 3 = 0; DELETE FROM $_ WHERE id % 5 = 1") for 'busy', 'busier';
	my ($rc, undef, $err) = $primary->psql('postgres', "SET statement_timeout = '30s';\nVACUUM (FREEZE, DISABLE_PAGE_SKIPPING, TRUNCATE off) busy;\nVACUUM (FREEZE, DISABLE_PAGE_SKIPPING, TRUNCATE off) busier;\n");
	ok($rc == 0 && $err eq '', "$name: vacuum need not wait") or diag($err);
}

my $nested = 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_indexscan = off;';
for my $case ([ 'NO SCROLL', '', 'SELECT * FROM busy ORDER BY x, id', 'FETCH 100', 'FETCH 1', 'FETCH ALL' ],
	[ 'NO SCROLL', "SET work_mem = '64kB';", 'SELECT *, ctid FROM busy ORDER BY x, id', 'FETCH 100', 'FETCH ALL' ],
	[ 'SCROLL', '', 'SELECT * FROM busy ORDER BY x, id', 'FETCH 100', 'FETCH BACKWARD 50', 'FETCH ALL', 'FETCH BACKWARD ALL' ],
	[ 'SCROLL', "SET work_mem = '64kB';", 'SELECT * FROM busy ORDER BY x, id', 'FETCH 1000', 'FETCH BACKWARD 500', 'FETCH ALL', 'FETCH BACKWARD ALL' ],
	[ 'SCROLL', '', 'SELECT * FROM busy ORDER BY filler, id', 'FETCH ALL', 'FETCH PRIOR', 'FETCH BACKWARD ALL' ],
	[ '', '', 'SELECT * FROM busy ORDER BY x, id', 'MOVE FORWARD ALL', 'FETCH BACKWARD 1500', 'FETCH 3', 'FETCH FORWARD ALL', 'FETCH BACKWARD ALL' ],
	[ 'SCROLL', "SET work_mem = '64kB';", 'SELECT * FROM busy ORDER BY filler, id', 'FETCH 1', 'FETCH 1000', 'FETCH 1', 'MOVE FORWARD ALL', 'FETCH BACKWARD ALL' ],
	[ '', '', 'SELECT filler, id FROM busy ORDER BY x, id LIMIT 500', 'FETCH ALL', 'FETCH BACKWARD 20', 'FETCH ALL' ],
	[ 'NO SCROLL', '', 'SELECT * FROM busy ORDER BY x, id LIMIT 500', 'FETCH ALL', 'FETCH 1' ],
	[ 'NO SCROLL', $nested, 'SELECT * FROM (SELECT * FROM busy ORDER BY x, id OFFSET 0) q, generate_series(1, 3) g', 'FETCH 32', 'FETCH 1', 'FETCH ALL' ],
	[ 'NO SCROLL', '', '(SELECT * FROM busy ORDER BY x, id) UNION ALL (SELECT * FROM busier ORDER BY x, id) ORDER BY x, id', 'FETCH 100', 'FETCH 3', 'FETCH ALL' ],
	[ 'SCROLL', $nested, 'SELECT a.id, b.x, a.filler, b.filler FROM busy a JOIN (SELECT * FROM busier ORDER BY x, id) b ON a.id / 5 = b.id / 5 ORDER BY a.x, b.id', 'FETCH 7', 'FETCH 10', 'FETCH BACKWARD ALL' ],
	[ 'SCROLL', 'SET enable_hashjoin = off; SET enable_nestloop = off;', 'SELECT a.filler, b.* FROM busy a JOIN busier b USING (id) ORDER BY id', 'FETCH 7', 'FETCH BACKWARD 3', 'FETCH ALL' ],
	[ 'WITH HOLD', '', 'SELECT * FROM busy ORDER BY x, id', 'FETCH 100', 'COMMIT', 'FETCH ALL' ],
	[ 'SCROLL WITH HOLD', "SET work_mem = '64kB';", 'SELECT * FROM busy ORDER BY filler, id', 'FETCH 100', 'FETCH BACKWARD 10', 'COMMIT', 'FETCH BACKWARD ALL' ])
{
	my ($options, $settings, $query, $first, @others) = @$case;
	my ($scroll, $hold) = $options =~ /^(.*?) ?(WITH HOLD)?$/;
	my %rows;

	make_busy();
	for my $sort ('forbid', 'force')
	{
		my $reader = $primary->background_psql('postgres');
		my $open = "DECLARE c $scroll CURSOR " . ($hold // '') . " FOR $query";

		$reader->query_safe("$settings SET hpsort.debug_sort = $sort");
		like($reader->query_safe("EXPLAIN (COSTS OFF) $query"), qr/HpSort/, "$query: HpSort") if $sort eq 'force';
		$reader->query_safe("BEGIN; $open");
		$rows{$sort} = $reader->query_safe("$first FROM c");
		clean_up("$options $query, $first") if $sort eq 'force';
		for my $other (@others)
		{
			$rows{$sort} .= "\n$other\n" . $reader->query_safe($other eq 'COMMIT' ? $other : "$other FROM c");
			is(own_hits(plan_of($primary, 'SELECT * FROM small ORDER BY x')), $pages, "$other: no pins stay taken") if $sort eq 'force' && $other ne 'COMMIT';
		}
		$reader->quit;
	}
	ok($rows{force} eq $rows{forbid}, "$options $query: rows are what they were") or diag(substr($rows{force}, 0, 500));
}

# A call that pins pages until it ends, and ends in an error, which a subtransaction takes back.
make_busy();
my $failing = $primary->background_psql('postgres', on_error_stop => 0);
$failing->query("BEGIN; DECLARE c SCROLL CURSOR FOR SELECT *, 1 / (id - 2501) FROM (SELECT * FROM busy ORDER BY x, id OFFSET 0) q; FETCH 10 FROM c; SAVEPOINT s");
$failing->query('FETCH ALL FROM c');
like($failing->{stderr}, qr/division by zero/, 'a call that fails');
$failing->query('ROLLBACK TO s; SELECT 1');
is(own_hits(plan_of($primary, 'SELECT * FROM small ORDER BY x')), $pages, 'no pins stay taken after an error');
clean_up('after an error');
$failing->quit;

# All pages are pinned in the middle of a query that returns its rows slowly; it gives them back when it is asked for more.
make_busy();
like(plan_of($primary, 'SELECT * FROM busy ORDER BY x'), qr/Rows: in place/, 'rows stay in place');
my $slow = "SELECT 'sum', md5(string_agg(q::text || (SELECT pg_sleep(0.02)::text WHERE q.id % 16 = 1) IS NULL::text, ';')) FROM (SELECT * FROM busy ORDER BY x OFFSET 0) q";
$want = $primary->safe_psql('postgres', "SET hpsort.debug_sort = forbid; " . $slow =~ s/0\.02/0/r =~ s/ORDER BY x/ORDER BY x, id/r);
$holder = $primary->background_psql('postgres');
$pid = $holder->query_safe('SELECT pg_backend_pid()');
$holder->query_until(qr/started/, "\\echo started\n$slow;\n");
$primary->poll_query_until('postgres', "SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = $pid");
$primary->safe_psql('postgres', "SET statement_timeout = '30s'; UPDATE busy SET x = x + 1 WHERE id % 3 = 0");
($rc, undef, $err) = $primary->psql('postgres', "SET statement_timeout = '30s';\nVACUUM (FREEZE, DISABLE_PAGE_SKIPPING, TRUNCATE off) busy;\n");
is("$rc $err", '0 ', 'vacuum gets the pages of a slow query');
is($primary->safe_psql('postgres', "SELECT state FROM pg_stat_activity WHERE pid = $pid"), 'active', 'which has not ended');
$got = $holder->query_until(qr/sum\|\w+/, '');
is(($got =~ /(sum\|\w+)/)[0], $want, 'and its rows are right');
$holder->quit;

# --- a standby, where no page stays pinned

$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby);
warm($standby);
$plan = plan_of($standby, 'SELECT * FROM small ORDER BY x');
like($plan, qr/Rows: copied \(too few/, 'rows are copied on a standby');
like(plan_of($standby, 'SELECT * FROM small ORDER BY id DESC LIMIT 200'), qr/Rows: in place/, 'the first of them are not');
same($standby, 'SELECT * FROM small ORDER BY id DESC LIMIT 200', 'the first on a standby');
same($standby, 'SELECT * FROM small ORDER BY x, id', 'on a standby');
$standby->stop;
$primary->stop;
for my $node ($primary, $standby)
{
	is(join('', grep { /PANIC:|TRAP:|terminated by signal|still referenced|leak|refcount|is not there any more/ } split /^/m, slurp_file($node->logfile)), '',
		'nothing in the log of ' . $node->name);
}
done_testing();
