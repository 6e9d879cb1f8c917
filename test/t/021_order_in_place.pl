# ORDER BY with rows that stay where they are: when they do, and when they are copied instead, from
# the beginning or in the middle; pins, and who gets them; vacuum, a standby, sessions that end.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);

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
VACUUM ANALYZE small, large, huge;
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
unlike(plan_of($primary, 'SELECT id, x FROM small ORDER BY x', "SET hpsort.debug_sort = allow; SET enable_sort = on;"), qr/Rows:/, 'a few columns are copied');
like(plan_of($primary, 'SELECT * FROM small ORDER BY id DESC LIMIT 100'), qr/top-N.*Rows: in place/s, 'the first of one key, in place');
same($primary, 'SELECT * FROM small ORDER BY id DESC LIMIT 100', 'the first of one key');

# --- a larger table

like(plan_of($primary, 'SELECT * FROM large ORDER BY x, id'), qr/Rows: in place/, 'rows of a large table stay in place');
same($primary, 'SELECT * FROM large ORDER BY x, id', 'a large table');
same($primary, 'SELECT id, y FROM large ORDER BY y DESC', 'a large table, a key of 64 bits');

# --- more pages than may be pinned: rows are copied, but for a few of them

like(plan_of($primary, 'SELECT * FROM huge ORDER BY x'), qr/Rows: copied \(too few buffers to pin\)/, 'rows of a huge table are copied');
like(plan_of($primary, 'SELECT * FROM huge ORDER BY id LIMIT 5', 'SELECT count(*) FROM huge;'), qr/Rows: (in place|copied \(not)/, 'the first of them are not, unless they come from disk');
same($primary, 'SELECT * FROM huge ORDER BY id DESC LIMIT 1000', 'the first of a huge table');
warm($primary);

# Sessions share the pins: what one has taken another has not, until it ends.
my $holder = $primary->background_psql('postgres');
$holder->query_safe('BEGIN; DECLARE c NO SCROLL CURSOR FOR SELECT * FROM large ORDER BY x; MOVE FORWARD 18500 FROM c');
like(plan_of($primary, 'SELECT * FROM small ORDER BY x'), qr/Rows: copied \(too few/, 'another session has taken the pins');
my $pid = $holder->query_safe('SELECT pg_backend_pid()');
$primary->safe_psql('postgres', "SELECT pg_terminate_backend($pid, 10000)") if $primary->pg_version >= 14;
is(own_hits(plan_of($primary, 'SELECT * FROM small ORDER BY x')), $pages, 'a session that is terminated gives its pins back');
eval { $holder->quit };
$primary->safe_psql('postgres', <<'SQL');
CREATE FUNCTION fails() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	r record;
	n int := 0;
BEGIN
	FOR r IN SELECT * FROM large ORDER BY x LOOP
		n := n + 1;
		IF n = 20000 THEN RAISE 'stopped'; END IF;
	END LOOP;
EXCEPTION WHEN raise_exception THEN NULL;
END $$;
SQL
$plan = $primary->safe_psql('postgres', 'SELECT fails(); SELECT fails(); EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) SELECT * FROM small ORDER BY x');
is(own_hits($plan), $pages, 'so does one that fails');

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
unlike(plan_of($primary, 'SELECT * FROM large ORDER BY x, id', "SET work_mem = '512kB';"), qr/Rows:/, 'keys and places that will not fit into work_mem: rows are copied');
# The planner takes this for a third of the rows.
my $many = 'SELECT * FROM large WHERE id + 0 > 0 ORDER BY y';
$plan = plan_of($primary, $many, "SET work_mem = '400kB';");
like($plan, qr/Disk: .*Keys: 19000 .*Rows: copied \(work_mem\)/s, 'keys and places that do not fit into work_mem: rows are copied');
($got, $want) = map { $primary->safe_psql('postgres', "SET work_mem = '400kB'; SET hpsort.debug_sort = $_; $many") } 'force', 'forbid';
ok($got eq $want, 'rows beyond work_mem');
$plan = plan_of($primary, 'SELECT * FROM large ORDER BY x', "SET work_mem = '512kB';");
like($plan, qr/Memory: .*Rows: in place/s, 'keys and places that fit into work_mem, unlike the rows');

# --- temporary tables, in local buffers: 128 pages in 1,024 of these, of which 256 may be pinned

$want = $primary->safe_psql('postgres', <<'SQL');
CREATE TEMP TABLE t AS SELECT i AS id, (i * 7919) % 1009 AS x, repeat('t', 100) AS filler FROM generate_series(1, 4000) i;
SELECT count(*) FROM t;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT * FROM t ORDER BY x;
SELECT 'equal', array_agg(id) = (SELECT array_agg(id ORDER BY x, id) FROM t) FROM (SELECT id FROM t ORDER BY x, id OFFSET 0) s;
SQL
like($want, qr/Rows: in place.*equal\|t/s, 'a temporary table');

# --- a cursor holds up a vacuum that must have its pages no longer than core's does

$primary->safe_psql('postgres', 'CREATE TABLE busy AS SELECT i AS id, i % 10 AS x FROM generate_series(1, 5000) i; SELECT count(*) FROM busy');
$holder = $primary->background_psql('postgres');
$holder->query_safe('BEGIN; DECLARE c CURSOR FOR SELECT * FROM busy ORDER BY x; FETCH 100 FROM c');
$primary->safe_psql('postgres', 'UPDATE busy SET x = x + 1 WHERE id % 2 = 0; DELETE FROM busy WHERE id % 5 = 1; VACUUM busy');
is($holder->query_safe('FETCH ALL FROM c; SELECT 1') =~ tr/\n//, 4900, 'rows changed since are what they were');
my $vacuum = $primary->background_psql('postgres');
$vacuum->query_until(qr/started/, "\\echo started\nVACUUM (FREEZE, DISABLE_PAGE_SKIPPING) busy;\n\\echo vacuumed\n");
$holder->query_safe('CLOSE c');
$vacuum->query_until(qr/vacuumed/, '');
pass('vacuum gets its pages when the cursor is closed');
$holder->query_safe('COMMIT');
$_->quit for $holder, $vacuum;

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
