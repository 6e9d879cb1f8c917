# Several servers: rows on two nodes, asked by a third one through postgres_fdw and
# dblink.  Results are those of all rows in one place, and what travels is a multiset
# or runs of each node, not its rows.  docs/distributed.md has the same queries.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();

sub start
{
	my ($name) = @_;
	my $node = new_cluster($name);

	$node->append_conf('postgresql.conf', "autovacuum = off\nsession_preload_libraries = 'hpsort'\nmax_parallel_workers_per_gather = 0\n");
	$node->start;
	$node->safe_psql('postgres', "CREATE SCHEMA tools; CREATE EXTENSION hpsort SCHEMA tools; ALTER DATABASE postgres SET search_path = public, tools");
	return $node;
}

# --- Two nodes with their rows, and what each of them says of these

my @nodes = map { start("node$_") } 1, 2;
for my $i (1, 2)
{
	my $seed_of_node = ($seed + $i) % 1000000 / 1000000;

	$nodes[$i - 1]->safe_psql('postgres', <<"SQL");
SELECT setseed($seed_of_node);
CREATE TABLE requests (node int DEFAULT $i, day date, service int, ms int);
INSERT INTO requests (day, service, ms)
SELECT date '2026-01-01' + g % 30, g % 5 + $i, CASE WHEN random() > 0.01 THEN least(exp(random() * 9), 5000)::int - 20 END FROM generate_series(1, 40000) g;
INSERT INTO requests (day, service, ms) VALUES ('2026-02-01', 9, -2147483648), ('2026-02-01', 9, 2147483647), ('2026-02-02', 10, NULL);
VACUUM ANALYZE requests;
CREATE VIEW all_ms AS SELECT hpsort_column_multiset('requests', 'ms') AS m;
CREATE VIEW ms_runs AS SELECT key, count FROM hpsort_column_runs('requests', 'ms');
CREATE VIEW ms_of_services AS SELECT service, int4multiset_agg(ms) AS m FROM requests GROUP BY service;
CREATE TABLE daily AS SELECT day, int4multiset_agg(ms) AS m FROM requests GROUP BY day;
SQL
}

# --- One that asks them

my $asks = start('asks');
$asks->safe_psql('postgres', "CREATE EXTENSION postgres_fdw; CREATE EXTENSION dblink;
	CREATE TABLE requests (node int, day date, service int, ms int) PARTITION BY LIST (node)");
for my $i (1, 2)
{
	my ($host, $port) = ($nodes[$i - 1]->host, $nodes[$i - 1]->port);

	$asks->safe_psql('postgres', <<"SQL");
CREATE SERVER node$i FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', extensions 'hpsort', async_capable 'true');
CREATE USER MAPPING FOR CURRENT_USER SERVER node$i;
CREATE SCHEMA node$i;
IMPORT FOREIGN SCHEMA public FROM SERVER node$i INTO node$i;
CREATE FOREIGN TABLE requests_$i PARTITION OF requests FOR VALUES IN ($i) SERVER node$i OPTIONS (table_name 'requests');
SQL
}

my $explain = sub {
	return $asks->safe_psql('postgres', "EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) $_[0]");
};
# The rows that all foreign scans of a plan have fetched.
my $fetched = sub {
	my ($plan) = @_;
	my $rows = 0;

	for (split /\n/, $plan)
	{
		$rows += $1 * $2 if /Foreign Scan.*\(actual rows=([0-9.]+) loops=(\d+)\)/;
	}
	return $rows;
};

my $fractions = "'{0,0.01,0.25,0.5,0.9,0.99,0.999,1}'::float8[]";
my $core = $asks->safe_psql('postgres', "SELECT percentile_disc($fractions) WITHIN GROUP (ORDER BY ms), percentile_cont($fractions) WITHIN GROUP (ORDER BY ms), count(ms), avg(ms), stddev(ms), mode() WITHIN GROUP (ORDER BY ms) FROM requests");
like($core, qr/^\{-2147483648,.*,2147483647\}\|/, 'all rows, of both nodes');
my $answers = "percentile_disc(m, $fractions), percentile_cont(m, $fractions), cardinality(m), avg(m), stddev(m), mode(m)";

my $all = $fetched->($explain->('SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ms) FROM requests'));
is($all, 80006, 'rows travel without hpsort');

# what is asked, how many rows travel, what is asked of the nodes
my @ways = (
	[ 'an aggregate of each foreign table', 'SELECT int4multiset_sum(m) AS m FROM (SELECT int4multiset_agg(ms) AS m FROM requests_1 UNION ALL SELECT int4multiset_agg(ms) FROM requests_2) s',
		2, qr/Remote SQL: SELECT tools\.int4multiset_agg\(ms\) FROM public\.requests/ ],
	[ 'a view of a multiset', 'SELECT int4multiset_sum(m) AS m FROM (SELECT m FROM node1.all_ms UNION ALL SELECT m FROM node2.all_ms) s',
		2, qr/Remote SQL: SELECT m FROM public\.all_ms/ ],
	[ 'a view of runs', 'SELECT int4multiset_agg(key, count) AS m FROM (SELECT key, count FROM node1.ms_runs UNION ALL SELECT key, count FROM node2.ms_runs) s',
		undef, qr/Remote SQL: SELECT key, count FROM public\.ms_runs/ ],
	[ 'stored multisets', 'SELECT int4multiset_sum(m) AS m FROM (SELECT m FROM node1.daily UNION ALL SELECT m FROM node2.daily) s',
		64, qr/Remote SQL: SELECT m FROM public\.daily/ ]);
for my $way (@ways)
{
	my ($name, $query, $rows, $remote) = @$way;

	is($asks->safe_psql('postgres', "SELECT $answers FROM ($query) q"), $core, "$name: exact");
	my $plan = $explain->("SELECT $answers FROM ($query) q");
	like($plan, $remote, "$name: asked of the nodes");
	is(() = $plan =~ /Remote SQL/g, 2, "$name: of each of them");
	if (defined $rows)
	{
		is($fetched->($plan), $rows, "$name: $rows rows travel");
	}
	else
	{
		my $runs = 0;
		# NULL is one of them
		$runs += $_->safe_psql('postgres', 'SELECT count(DISTINCT ms) + 1 FROM requests') for @nodes;
		is($fetched->($plan), $runs, "$name: $runs runs travel");
		cmp_ok($runs, '<', 12000, "$name: fewer than rows");
	}
}
like($explain->($ways[0][1]), qr/Async Foreign Scan/, 'both nodes work at the same time') if $asks->pg_version >= 16;
cmp_ok($asks->safe_psql('postgres', "SELECT octet_length(m::text) FROM ($ways[1][1]) q"), '<', 80000, 'the text of a multiset is short');

# groups
my $services = 'SELECT service, percentile_disc(0.9) WITHIN GROUP (ORDER BY ms), count(ms) FROM requests GROUP BY service ORDER BY service';
for my $way (
	[ 'groups of a view', 'SELECT * FROM node1.ms_of_services UNION ALL SELECT * FROM node2.ms_of_services' ],
	[ 'groups of a foreign table', 'SELECT service, int4multiset_agg(ms) AS m FROM requests_1 GROUP BY service UNION ALL SELECT service, int4multiset_agg(ms) FROM requests_2 GROUP BY service' ])
{
	my ($name, $query) = @$way;
	my $ours = "SELECT service, percentile_disc(int4multiset_sum(m), 0.9), coalesce(cardinality(int4multiset_sum(m)), 0) FROM ($query) s GROUP BY service ORDER BY service";

	is($asks->safe_psql('postgres', $ours), $asks->safe_psql('postgres', $services), "$name: exact");
	is($fetched->($explain->($ours)), 14, "$name: a row of each group and node travels");
}
# days, conditions that the nodes check
is($asks->safe_psql('postgres', q{SELECT percentile_disc(int4multiset_sum(m), 0.5) FROM (SELECT * FROM node1.daily UNION ALL SELECT * FROM node2.daily) s WHERE day BETWEEN '2026-01-05' AND '2026-01-11'}),
	$asks->safe_psql('postgres', q{SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY ms) FROM requests WHERE day BETWEEN '2026-01-05' AND '2026-01-11'}), 'a week');
like($explain->(q{SELECT day FROM node1.daily WHERE m @> 2147483647 AND cardinality(m) < 10}), qr/Remote SQL: SELECT day FROM public\.daily WHERE .*@>.*tools\.cardinality/s, 'questions to stored multisets are asked of the node');
is($asks->safe_psql('postgres', q{SELECT day FROM node1.daily WHERE m @> 2147483647 AND cardinality(m) < 10}), '2026-02-01', 'and answered there');

# dblink
my $connections = join(',', map { sprintf "'host=%s port=%s dbname=postgres'", $_->host, $_->port } @nodes);
is($asks->safe_psql('postgres', "SELECT $answers FROM (SELECT int4multiset_sum(m) AS m FROM unnest(ARRAY[$connections]) c, LATERAL dblink(c, 'SELECT int4multiset_agg(ms) FROM requests') AS n (m int4multiset)) q"), $core, 'dblink: multisets');
is($asks->safe_psql('postgres', "SELECT $answers FROM (SELECT int4multiset_agg(key, count) AS m FROM unnest(ARRAY[$connections]) c, LATERAL dblink(c, 'SELECT key, count FROM ms_runs') AS n (key int4, count int8)) q"), $core, 'dblink: runs');

# functions that read a table whose rows are on the nodes
is($asks->safe_psql('postgres', "SELECT $answers FROM hpsort_column_multiset('requests', 'ms') m"), $core, 'hpsort_column_multiset of foreign partitions');
is($asks->safe_psql('postgres', "SELECT md5(hpsort_column_array('requests_1', 'ms')::text)"), $nodes[0]->safe_psql('postgres', 'SELECT md5(array_agg(ms ORDER BY ms)::text) FROM requests'), 'hpsort_column_array of a foreign table');
is($asks->safe_psql('postgres', 'SELECT md5(hpsort_agg(ms)::text) FROM requests'), $asks->safe_psql('postgres', 'SELECT md5(array_agg(ms ORDER BY ms)::text) FROM requests'), 'hpsort_agg of foreign partitions');

# a node's errors
$nodes[1]->safe_psql('postgres', 'ALTER TABLE requests RENAME TO gone');
my ($rc, $out, $err) = $asks->psql('postgres', $ways[0][1]);
like($err, qr/ERROR:  relation "public\.requests" does not exist.*CONTEXT:  remote SQL command/s, 'an error of a node');

$_->stop for $asks, @nodes;
done_testing();
