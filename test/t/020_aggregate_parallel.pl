# Custom Scan (HpSort Aggregate) in parallel plans whose processes exchange more than a block
# of what they know: the answers are those of one process of core's, whatever there is memory for,
# wherever the workers come from, and however the query ends.
#
#	HPSORT_TEST_SEED=N			the same rows as the run that printed it
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();

my $node = new_cluster('aggregate_parallel');
$node->append_conf('postgresql.conf', <<'CONF');
session_preload_libraries = 'hpsort'
max_worker_processes = 16
max_parallel_workers = 12
autovacuum = off
jit = off
fsync = off
CONF
$node->start;
# Every third x is NULL in the first half; big repeats, sparse does not; most rows have the same dominant.
# There are 7 labels, and 20,000 names, for which little memory has no numbers.
$node->safe_psql('postgres', <<SQL);
CREATE EXTENSION hpsort;
CREATE TYPE mood AS ENUM ('zeal', 'calm', 'anger');
ALTER TYPE mood ADD VALUE 'boredom' BEFORE 'calm';
SELECT setseed(0.$seed);
CREATE TABLE t AS SELECT i AS id, CASE WHEN i % 3 > 0 OR i > 100000 THEN (random() * 999)::int END AS x,
		(random() * 1e6)::int AS y, (hashint4(i + $seed) % 3000) * 1000000000000 AS big,
		hashint8extended(i, $seed) AS sparse, CASE WHEN i % 50 = 0 THEN i ELSE -7 END AS dominant,
		(enum_range(NULL::mood))[1 + i % 4] AS feeling, timestamp '2020-01-01' + i * interval '1 minute' AS at,
		'label ' || abs(hashint4(i + $seed) % 7) AS label, CASE WHEN i % 11 > 0 THEN 'name ' || abs(hashint4(i - $seed) % 20000) END AS name
	FROM generate_series(1, 200000) i;
ALTER TABLE t SET (parallel_workers = 3);
VACUUM ANALYZE t;
SQL

# The filter is dear, so that sharing it pays.
my $where = "WHERE id + length(repeat('x', 20)) > 0";
my %queries = (
	'values in order' => "SELECT x, percentile_disc(0.3) WITHIN GROUP (ORDER BY y) AS a, count(DISTINCT y) AS b, mode() WITHIN GROUP (ORDER BY big) AS c FROM t $where GROUP BY x",
	'wide groups and values' => "SELECT big, percentile_disc(ARRAY[0, 0.5, 1]) WITHIN GROUP (ORDER BY sparse) AS a, sum(y) AS b, count(x) AS c FROM t $where GROUP BY big",
	'more than 64 bits' => "SELECT big, feeling, sum(DISTINCT sparse) AS a, min(y) AS b FROM t $where GROUP BY big, feeling",
	'a group of most rows' => "SELECT dominant, array_length(array_agg(y ORDER BY y DESC), 1) AS a, percentile_cont(0.9) WITHIN GROUP (ORDER BY y) AS b FROM t $where GROUP BY dominant",
	'some rows of large groups' => "SELECT feeling, percentile_disc(ARRAY[0.25, 0.26]) WITHIN GROUP (ORDER BY y DESC) AS a, percentile_cont(0) WITHIN GROUP (ORDER BY sparse) AS b, percentile_disc(1) WITHIN GROUP (ORDER BY x) AS c, percentile_cont(0.77) WITHIN GROUP (ORDER BY big) AS d, percentile_disc(0.01) WITHIN GROUP (ORDER BY dominant DESC) AS e FROM t $where GROUP BY feeling",
	'one row a group' => "SELECT sparse, count(*) AS n, max(feeling) AS a FROM t $where GROUP BY sparse",
	'enums in order' => "SELECT feeling, percentile_disc(0.5) WITHIN GROUP (ORDER BY feeling) AS a, mode() WITHIN GROUP (ORDER BY x) AS b, array_agg(DISTINCT feeling ORDER BY feeling) AS c FROM t $where GROUP BY feeling",
	# Of the labels, the first one here has the largest OID.
	'enums between labels' => "SELECT x, min(feeling) AS a, max(feeling) AS b FROM t $where AND feeling <> 'zeal' GROUP BY x",
	'one group of enums' => "SELECT min(feeling) AS a, max(feeling) AS b FROM t $where AND feeling <> 'zeal'",
	'an expression' => "SELECT date_trunc('day', at), y % 5, count(*) AS n, percentile_disc(0.2) WITHIN GROUP (ORDER BY sparse) AS a FROM t $where GROUP BY 1, 2",
	'one group' => "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY sparse) AS a, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) AS b, count(DISTINCT dominant) AS c, max(at) AS d FROM t $where",
	'groups by a text' => "SELECT label, avg(y) AS a, stddev(x) AS b, percentile_disc(0.3) WITHIN GROUP (ORDER BY y) AS c, count(DISTINCT sparse) AS d FROM t $where GROUP BY label",
	'texts as groups and values' => "SELECT label, x % 10 AS tens, count(DISTINCT name) AS a, min(name) AS b, percentile_disc(0.9) WITHIN GROUP (ORDER BY name DESC) AS c, mode() WITHIN GROUP (ORDER BY label) AS d FROM t $where GROUP BY 1, 2",
	'many texts' => "SELECT name, sum(y) AS a, count(DISTINCT label) AS b FROM t $where GROUP BY name",
	'an expression without integers' => "SELECT extract(hour FROM at) AS hour, avg(x) AS a, max(y) AS b FROM t $where GROUP BY 1",
	'no rows' => "SELECT x, count(DISTINCT y) AS a FROM t $where AND y < 0 GROUP BY x",
	'one group without rows' => "SELECT count(*) AS n, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) AS a FROM t $where AND y < 0",
	'different rows' => "SELECT DISTINCT x, feeling FROM t $where",
	'filters' => "SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FILTER (WHERE feeling = 'calm') AS a, count(*) FILTER (WHERE y > 500000) AS b FROM t $where GROUP BY x HAVING count(*) % 2 = 0");
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 3; SET hpsort.debug_aggregate = force;';
my %settings = (
	'4 processes' => "SET work_mem = '64MB';",
	'little memory' => "SET work_mem = '64kB';",
	'shared memory only' => "SET work_mem = '256MB'; SET temp_file_limit = '10MB';",
	'workers only' => "SET work_mem = '1MB'; SET parallel_leader_participation = off;",
	'no workers' => "SET work_mem = '64MB'; SET max_parallel_workers = 0;",
	'one worker' => "SET work_mem = '64MB'; SET max_parallel_workers = 1;");

# How many rows, and a sum of hashes in which their order does not matter, in one line.
sub digest
{
	my ($query) = @_;
	return "SELECT count(*), sum(hashtextextended(q::text, 0)) FROM ($query) q;";
}

sub shared_files
{
	return scalar(my @found = glob($node->data_dir . '/base/pgsql_tmp/*'));
}

foreach my $name (sort keys %queries)
{
	my $query = $queries{$name};
	my $want = $node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0; SET work_mem = '64MB'; SET hpsort.enable_scan = off; SET hpsort.enable_aggregate = off;" . digest($query));

	like($node->safe_psql('postgres', "$parallel EXPLAIN (COSTS OFF) $query"),
		qr/Gather.*Parallel Custom Scan \(HpSort Aggregate\)/s, "$name: plan");
	foreach my $setting (sort keys %settings)
	{
		is($node->safe_psql('postgres', "$parallel $settings{$setting}" . digest($query)), $want, "$name, $setting");
	}
}

# A label is added in front while processes read, each of which knows the labels that there were at its first row.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE late AS SELECT i % 5000 AS x, (ARRAY['calm', 'anger'])[1 + i / 5000 % 2]::mood AS feeling FROM generate_series(1, 200000) i;
ALTER TABLE late SET (parallel_workers = 1);
VACUUM ANALYZE late;
-- Both are true.  A worker does not read before the file is there, and is slow to return groups, so that the leader returns most.
CREATE FUNCTION waits(x int, leader int) RETURNS bool LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1 AS $$
BEGIN
	WHILE pg_backend_pid() <> leader AND (pg_stat_file('label_is_there', true)).size IS NULL LOOP
		PERFORM pg_sleep(0.02);
	END LOOP;
	RETURN true;
END $$;
CREATE FUNCTION naps(x int, leader int) RETURNS bool LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1 AS $$
BEGIN
	IF pg_backend_pid() <> leader AND x % 1000 = 0 THEN
		PERFORM pg_sleep(0.3);
	END IF;
	RETURN true;
END $$;
SQL
foreach my $extreme ('min', 'max')
{
	my $query = "SELECT x, $extreme(feeling) FROM late WHERE waits(x, :leader) GROUP BY x HAVING naps(min(x), :leader)";
	my $script = "SELECT pg_backend_pid() AS leader \\gset\n$parallel EXPLAIN (COSTS OFF) $query;\n$query ORDER BY x;\n";
	my ($answer, $error);

	unlink $node->data_dir . '/label_is_there';
	append_to_file($node->basedir . "/$extreme.sql", $script);
	my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-f', $node->basedir . "/$extreme.sql" ], '>', \$answer, '2>', \$error, IPC::Run::timeout(180));
	ok($node->poll_query_until('postgres', q{SELECT count(*) = 2 FROM pg_stat_activity WHERE (backend_type = 'parallel worker' AND wait_event = 'PgSleep')
		OR (backend_type = 'client backend' AND query LIKE '%FROM late%' AND wait_event_type IN ('Extension', 'IPC'))}), "$extreme: the leader has read, and a worker has not");
	$node->safe_psql('postgres', "ALTER TYPE mood ADD VALUE 'before $extreme' BEFORE 'zeal'");
	append_to_file($node->data_dir . '/label_is_there', "1\n");
	$session->finish;
	like($answer, qr/Gather.*Parallel Custom Scan \(HpSort Aggregate\)/s, "$extreme: plan");
	my $label = $extreme eq 'min' ? 'calm' : 'anger';
	is(scalar(my @right = $answer =~ /^\d+\|$label$/mg), 5000, "$extreme: a label that is added meanwhile") or diag($error);
}

# The order of groups across processes.
foreach my $order ('x DESC NULLS LAST', 'x NULLS FIRST')
{
	my $query = "SELECT x, count(DISTINCT y) AS n FROM t $where GROUP BY x ORDER BY $order";

	like($node->safe_psql('postgres', "$parallel EXPLAIN (COSTS OFF) $query"),
		qr/^Gather Merge.*Parallel Custom Scan \(HpSort Aggregate\)/s, "ORDER BY $order: plan");
	is($node->safe_psql('postgres', "$parallel $query"),
		$node->safe_psql('postgres', "SET hpsort.enable_scan = off; SET hpsort.enable_aggregate = off; $query"), "ORDER BY $order");
}

# What EXPLAIN shows is of all processes.
my $plan = $node->safe_psql('postgres', "$parallel SET work_mem = '64MB'; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $queries{'values in order'}");
like($plan, qr/Keys: 200000\n\s*Groups: 1001\n/, 'EXPLAIN: keys and groups of all processes') or diag($plan);
# A filter refuses rows for each process that reads, but those of a process that reads all again count once.
$plan = $node->safe_psql('postgres', "$parallel SET work_mem = '64kB'; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT name, avg(y) FROM t WHERE id % 4 > 0 GROUP BY name");
like($plan, qr/Rows Removed by Filter: 12500\n.*Keys: 150000\n/s, 'EXPLAIN: rows that one process reads again') or diag($plan);

# Read again, with another parameter each time.
my $again = "SELECT v.n, (SELECT string_agg(q::text, ',' ORDER BY q::text) FROM (SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM t $where AND x <= v.n GROUP BY x OFFSET 0) q) FROM (VALUES (1), (5), (-1), (3)) v(n)";
is($node->safe_psql('postgres', "$parallel $again"), $node->safe_psql('postgres', "SET hpsort.enable_scan = off; SET hpsort.enable_aggregate = off; $again"), 'read again with a parameter');
my $texts = "SELECT v.n, (SELECT string_agg(q::text, ',' ORDER BY q::text) FROM (SELECT label, count(DISTINCT name), avg(y) FROM t $where AND x <= v.n GROUP BY label OFFSET 0) q) FROM (VALUES (1), (900), (-1), (3)) v(n)";
is($node->safe_psql('postgres', "$parallel SET work_mem = '$_'; $texts"), $node->safe_psql('postgres', "SET hpsort.enable_scan = off; SET hpsort.enable_aggregate = off; $texts"), "texts read again, $_") for '64kB', '64MB';
my $nested = "SELECT v.n, q.x, q.p FROM (VALUES (1), (2), (3)) v(n) LEFT JOIN (SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) AS p FROM t $where GROUP BY x) q ON q.x % 100 = v.n ORDER BY 1, 2";
is($node->safe_psql('postgres', "$parallel SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off; $nested"),
	$node->safe_psql('postgres', "SET hpsort.enable_scan = off; SET hpsort.enable_aggregate = off; $nested"), 'read again for each row of another table');

# A query that wants a few groups only, an error in some process, and cancels: nothing is left.
is($node->safe_psql('postgres', "$parallel SET work_mem = '64kB'; SELECT count(*) FROM (SELECT sparse, count(*) FROM t $where GROUP BY sparse LIMIT 3) q"), '3', 'some groups');
my ($out, $err);
$node->psql('postgres', "$parallel SET work_mem = '64kB'; SELECT x, count(DISTINCT sparse) FROM t $where GROUP BY x HAVING 1 / (coalesce(x, 0) - 999) < 1", stdout => \$out, stderr => \$err);
like($err, qr/division by zero/, 'an error in HAVING');
$node->psql('postgres', "$parallel SET work_mem = '256MB'; SET temp_file_limit = '100kB'; SET max_parallel_workers_per_gather = 2; SELECT count(*) FROM (SELECT sparse, percentile_disc(0.5) WITHIN GROUP (ORDER BY big) FROM t $where GROUP BY sparse OFFSET 0) q", stdout => \$out, stderr => \$err);
is($err, '', 'no file where files are limited and there is memory');
my $script = "$parallel SET work_mem = '64kB';";
# A RESET could be too slow for the setting itself, and so could the first ROLLBACK.
$script .= "BEGIN; SET LOCAL statement_timeout = $_; $queries{'wide groups and values'}; ROLLBACK; ROLLBACK;\n" for map { 20 * $_ } 1 .. 12;
$node->psql('postgres', "$script SELECT 'after', count(*) FROM ($queries{'values in order'}) q;", stdout => \$out, stderr => \$err, on_error_stop => 0);
like($err, qr/canceling statement due to statement timeout/, 'cancelled');
like($out, qr/^after\|1001$/m, 'and right afterwards');
is(shared_files(), 0, 'no file is left');

$node->stop;
done_testing();
