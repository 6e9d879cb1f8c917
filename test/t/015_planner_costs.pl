# The planner frees paths when others make them useless, and which ones depends
# on costs.  Queries of every shape that hpsort's hooks see are planned with
# serial and parallel costs from far apart to nearly equal, with hpsort allowed
# and forced: no server crashes, and the rows are those of core's own plan.  A
# PostgreSQL that overwrites freed memory finds more.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_cluster('planner');
$node->append_conf('postgresql.conf', <<'CONF');
session_preload_libraries = 'hpsort'
autovacuum = off
jit = off
fsync = off
synchronize_seqscans = off
max_worker_processes = 16
max_parallel_workers = 8
CONF
$node->start;

# --- Default settings: a parallel plan in the order of ORDER BY that a later one replaces.

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE wide (k1 int, k2 int, k3 int, k4 int, k5 int, k6 int, f int, pad text);
INSERT INTO wide SELECT g % 100, g, g, g, g, g, g, repeat('x', 412) FROM generate_series(1, 164000) g;
VACUUM ANALYZE wide;
SQL
my ($rc, $out, $err) = $node->psql('postgres', 'EXPLAIN SELECT * FROM wide WHERE f < 1200 ORDER BY k1, k2, k3, k4, k5, k6 LIMIT 10');
is($rc, 0, 'six keys and a LIMIT, everything default') or diag($err);

# --- Sums of floats are added up in the order of the rows for each grouping set: pages that have just been read are in memory.

my $sets = 'EXPLAIN (COSTS OFF) SELECT k1, sum(f / 8.0::float8), percentile_disc(0.5) WITHIN GROUP (ORDER BY k1) FROM wide GROUP BY ROLLUP (k1)';
my $serial = 'SET max_parallel_workers_per_gather = 0;';
like($node->safe_psql('postgres', "$serial $sets"), qr/HpSort Aggregate/, 'sets of a table that is cached');
unlike($node->safe_psql('postgres', "$serial SET effective_cache_size = '1MB'; $sets"), qr/HpSort Aggregate/, 'sets of a table that is not');
$node->safe_psql('postgres', 'DROP TABLE wide');

# --- The sweep.

$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION hpsort;
CREATE TABLE t (id int, k int, b bigint, d date, pad text);
INSERT INTO t SELECT g, g * 7919 % 50, g * 104729 % 1000003, date '2026-01-01' + g % 30, repeat('x', 40) FROM generate_series(1, 2000) g;
CREATE TABLE i (LIKE t);
INSERT INTO i SELECT * FROM t ORDER BY b;
CREATE INDEX ON i (id);
CREATE INDEX ON i (k);
CREATE TABLE p (LIKE t) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (MINVALUE) TO (1000);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (1000) TO (MAXVALUE);
INSERT INTO p SELECT * FROM t;
CREATE INDEX ON p (id);
VACUUM ANALYZE;
SQL

# Every result is determined by its query, and the order of its rows as well.
my @queries = (
	'SELECT id FROM t WHERE id % 3 = 1 ORDER BY 1 DESC NULLS LAST',
	'SELECT * FROM t ORDER BY k, id',
	'SELECT id, b + 1 AS c, pad FROM t ORDER BY id LIMIT 20 OFFSET 5',
	'SELECT id + k AS c, id FROM t WHERE k < 40 ORDER BY 1, 2',
	'SELECT id FROM i ORDER BY id',
	'SELECT k, id, pad FROM i ORDER BY k, id',
	'SELECT id, pad FROM i WHERE k BETWEEN 3 AND 20 ORDER BY id DESC',
	'SELECT * FROM p ORDER BY id',
	'SELECT k, b, id FROM p WHERE id > 100 ORDER BY k, b, id',
	'SELECT id, generate_series(1, 2) AS s FROM t ORDER BY id, s',
	'SELECT t.id, i.b FROM t JOIN i USING (id) ORDER BY t.id',
	'SELECT t.id, i.b FROM t JOIN i ON t.id = i.k ORDER BY t.id, i.b',
	'SELECT t.id, count(i.id) FROM t LEFT JOIN i ON t.k = i.k AND i.id < 100 GROUP BY t.id ORDER BY t.id',
	'SELECT b, count(*) AS n, max(pad) AS m FROM t GROUP BY b ORDER BY b',
	'SELECT k, id, count(*) FROM p GROUP BY ROLLUP (k, id) ORDER BY k, id',
	'SELECT DISTINCT k, d FROM t ORDER BY k, d',
	'SELECT DISTINCT ON (k) k, id FROM t ORDER BY k, id DESC',
	'SELECT id, rank() OVER (PARTITION BY k ORDER BY id) AS r FROM t ORDER BY id',
	'SELECT id, sum(b) OVER (ORDER BY id) AS s FROM t ORDER BY b, id',
	'SELECT id FROM t UNION SELECT b::int FROM i ORDER BY 1',
	'SELECT id, k FROM t UNION ALL SELECT k, id FROM i ORDER BY 1, 2',
	'SELECT id FROM t EXCEPT SELECT k FROM i ORDER BY 1',
	'SELECT * FROM (SELECT id, k FROM t ORDER BY b LIMIT 500) s ORDER BY id',
	'SELECT array_agg(id ORDER BY id DESC) AS a, count(DISTINCT k) FROM t',
	'SELECT count(*) FROM (SELECT DISTINCT b FROM t) s',
	'SELECT hpsort_agg(k) AS a FROM t WHERE id > 5',
	"SELECT sum(x) FROM hpsort_query('SELECT k FROM t WHERE id > 5') x");
# What HpSort Aggregate answers, and HpSort may sort for.
my @aggregates = (
	'SELECT k, count(*), sum(b), avg(id), min(d) FROM t GROUP BY k ORDER BY k',
	'SELECT k, count(*) AS n FROM t GROUP BY k HAVING count(*) > 3 ORDER BY n DESC, k LIMIT 7',
	'SELECT d, k, max(b) FROM i WHERE id > 100 GROUP BY d, k ORDER BY d DESC, k',
	'SELECT k, percentile_disc(0.5) WITHIN GROUP (ORDER BY b) FROM t GROUP BY k ORDER BY k',
	'SELECT percentile_cont(0.3) WITHIN GROUP (ORDER BY k), mode() WITHIN GROUP (ORDER BY d), count(DISTINCT b) FROM i',
	'SELECT k / 10 AS tens, array_agg(DISTINCT d ORDER BY d DESC), rank(7) WITHIN GROUP (ORDER BY id) FROM p GROUP BY k / 10 ORDER BY tens',
	'SELECT k, count(*) FROM p GROUP BY k ORDER BY k DESC',
	'SELECT DISTINCT k FROM p ORDER BY k',
	'SELECT DISTINCT id FROM i ORDER BY id LIMIT 5',
	'SELECT q.k, n, t.b FROM (SELECT k, count(*) AS n FROM i GROUP BY k) q JOIN t ON t.id = q.k ORDER BY q.k',
	'SELECT g, n FROM generate_series(1, 5) g CROSS JOIN LATERAL (SELECT count(*) AS n, sum(b) FROM t WHERE k = g) q ORDER BY g',
	'SELECT max(id), min(k), count(*) FROM i');
my @costs = (0, 0.5, 1, 2, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 150, 300, 1000);
my @settings = map { my $setup = $_; map { ["parallel_setup_cost = $setup", $_] } 'enable_seqscan = on', 'enable_seqscan = off', 'random_page_cost = 1' } @costs;

# The rows of a query in the order in which they come.
sub digest
{
	my ($query) = @_;
	return "WITH rows AS MATERIALIZED ($query) SELECT count(*), md5(string_agg(rows::text, ',')) FROM rows";
}

my %forced;
for my $query (@queries, @aggregates)
{
	my $script = <<'SQL';
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SET max_parallel_workers_per_gather = 1;
SQL

	for my $setting (@settings)
	{
		$script .= join('', map { "SET $_;\n" } @$setting);
		for my $mode ('allow', 'force')
		{
			$script .= "SET hpsort.debug_sort = $mode; SET hpsort.debug_aggregate = $mode;\nEXPLAIN (COSTS OFF) $query;\n";
		}
		$script .= "RESET enable_seqscan; RESET random_page_cost;\n";
	}
	# Running takes longer than planning: at three of the costs.
	for my $cost (0, 20, 1000)
	{
		for my $mode ('forbid', 'allow', 'force')
		{
			$script .= "SET parallel_setup_cost = $cost; SET hpsort.debug_sort = $mode; SET hpsort.debug_aggregate = $mode;\n\\echo ---- $mode\n" . digest($query) . ";\n";
		}
	}
	($rc, $out, $err) = $node->psql('postgres', $script, on_error_stop => 1);
	is($rc, 0, "planned at all costs: $query") or diag($err), last;
	$forced{$query} = 1 if $out =~ /Custom Scan \(HpSort/;
	my @results = $out =~ /^---- \w+\n(.*)\n?/mg;
	is(scalar(@results), 9, 'all results');
	is(scalar(grep { $_ ne $results[0] } @results), 0, "same rows: $query") or diag(join("\n", @results));
}

# --- What the planner chooses for groups and values that together need more than 64 bits: in memory for few groups, or where groups may come in
# any order; or else as core sorts.

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE hits (watch bigint, usr bigint, ip int, region int, y int);
INSERT INTO hits SELECT hashint8extended(g, 1), hashint8extended(g % 9973, 2), hashint8(g % 7919), g * 7919 % 5000, g % 1000 FROM generate_series(1, 50000) g;
VACUUM ANALYZE hits;
SQL

sub plan_of
{
	my ($query, $settings) = @_;
	return $node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; $settings EXPLAIN (COSTS OFF) $query");
}

my $nodes = qr/Custom Scan \(HpSort Aggregate\)/;
for my $work_mem ('4MB', '256MB')
{
	my $settings = "SET work_mem = '$work_mem';";
	unlike(plan_of($_, $settings), $nodes, "$work_mem: no rows of a sort of core's in $_")
	  for ('SELECT watch, ip, count(*), sum(y) FROM hits GROUP BY watch, ip ORDER BY watch, ip',
		'SELECT usr, sum(y) FROM hits GROUP BY usr ORDER BY usr',
		'SELECT ip - 1, ip - 2, ip / 3, count(*) FROM hits GROUP BY 1, 2, 3 ORDER BY 1, 2, 3',
		'SELECT DISTINCT watch, ip FROM hits');
	like(plan_of($_, $settings), $nodes, "$work_mem: $_")
	  for ('SELECT region, count(DISTINCT y) FROM hits GROUP BY region',
		'SELECT y, count(DISTINCT usr) FROM hits GROUP BY y',
		'SELECT region, count(DISTINCT ip) FROM hits GROUP BY region',
		'SELECT region, sum(watch), count(*) FROM hits GROUP BY region',
		'SELECT count(DISTINCT usr) FROM hits',
		'SELECT usr, count(*) FROM hits GROUP BY usr',
		'SELECT ip - 1, ip - 2, ip / 3, count(*) FROM hits GROUP BY 1, 2, 3',
		$work_mem eq '256MB' ? ('SELECT watch, ip, count(*), sum(y) FROM hits GROUP BY watch, ip', 'SELECT usr, sum(y) FROM hits GROUP BY usr') : (),
		'SELECT DISTINCT ip, region FROM hits');
	my $plan = plan_of('SELECT ip, ip - 1, ip - 2, ip - 3, count(*) FROM hits GROUP BY 1, 2, 3, 4', $settings);
	like($plan, qr/$nodes.*\n\s+Group Key: ip\n/, "$work_mem: one group instead of four that it determines");
}

# A UNION of rows of which few are different is left to a hash table that core thinks too large for memory.
unlike(plan_of('SELECT y FROM hits UNION SELECT region FROM hits', "SET work_mem = '512kB';"), qr/HpSort/, 'UNION of few different rows');
like(plan_of('SELECT watch FROM hits UNION SELECT usr FROM hits', "SET work_mem = '512kB';"), qr/HpSort/, 'and of many is not')
  if $node->safe_psql('postgres', 'SHOW server_version_num') >= 170000;

# Three keys that core compares, most rows equal in the first of them: their values repeat, so that they are numbered.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE compared AS SELECT i AS id, (ARRAY['new', 'paid', 'packed', 'sent', 'returned'])[1 + least(i * 613 % 9, 4)] AS status,
	'city ' || i * 7919 % 1000 AS city, i * 31 % 100 AS x, md5(i::text) AS label FROM generate_series(1, 50000) i;
VACUUM ANALYZE compared;
SQL
like(plan_of('SELECT * FROM compared ORDER BY status DESC, city, x', "SET work_mem = '1MB';"), qr/HpSort/, 'three keys whose values repeat are numbered');
like(plan_of('SELECT * FROM compared ORDER BY status DESC', "SET work_mem = '1MB';"), qr/HpSort/, 'and one of them');

cmp_ok(scalar(grep { $forced{$_} } @queries), '>=', @queries - 2, 'hpsort was in the plans');
cmp_ok(scalar(grep { $forced{$_} } @aggregates), '>=', @aggregates - 2, 'and in those of aggregates');
$node->stop;
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC:|TRAP:/, 'no crash');

done_testing();
