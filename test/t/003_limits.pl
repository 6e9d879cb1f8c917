# What is too much for an array, and errors in parallel workers.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_cluster('limits');
$node->append_conf('postgresql.conf', "autovacuum = off\nhpsort.enable_sort = off\nmax_worker_processes = 8\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION hpsort');

# One key more than an array may have elements, NULLs included.
my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose
SELECT hpsort_agg(nullif(i % 1000, 7)) FROM (SELECT generate_series(1, 134217728) AS i) s");
is($rc, 3, 'too many elements') or diag($out);
like($err, qr/ERROR:  54000: array of 134217728 elements exceeds the maximum of 134217727/, 'message');
like($err, qr/HINT:  Use hpsort_query, which returns a set, or hpsort_runs_agg\./, 'hint');

# The hint is right: a set has no such limit, and runs are few.
my $many = at_length(20000000, 134217729);
my $nulls = int($many / 1000);
is($node->safe_psql('postgres', "SELECT hpsort_query('SELECT nullif(i % 1000, 0) FROM (SELECT generate_series(1, $many) AS i) s', 0, 999, true, false) LIMIT 2;
	SELECT n, nulls, n + nulls, lo, hi FROM hpsort_last()"), "999\n999\n@{[ $many - $nulls ]}|$nulls|$many|1|999", 'hpsort_query');
is($node->safe_psql('postgres', q{
	SELECT array_length(runs, 1), (SELECT sum(r.count) FROM unnest(runs) r)
	FROM (SELECT hpsort_runs_agg(i % 1000) AS runs FROM (SELECT generate_series(1, 10000000) AS i) s) t}),
	'1000|10000000', 'hpsort_runs_agg');

# One run more than an array of them may have: a run takes 40 bytes.
($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose
SELECT hpsort_runs_agg(i) FROM (SELECT generate_series(1, 26843545) AS i) s");
is($rc, 3, 'too many runs') or diag($out);
like($err, qr/ERROR:  54000: array of more than 26843544 runs exceeds the maximum size/, 'message');
like($err, qr/HINT:  Use hpsort_query, which returns a set\./, 'hint');

# Ten million keys in a range of a million: 40 MB of result, and little else.
SKIP:
{
	my $most = "SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s+(\\d+)')::int";
	skip 'needs /proc', 2 unless -r '/proc/self/status' && slurp_file('/proc/self/status') =~ /^VmHWM:/m;
	my $out = $node->safe_psql('postgres', qq{
		SELECT count(i * 7919 % 1000000), cardinality(hpsort_agg(i::int)) FROM generate_series(1, 10::int8) i;
		SELECT count(i * 7919 % 1000000) FROM (SELECT generate_series(1, 10000000::int8) AS i) s;
		$most;
		SELECT cardinality(hpsort_agg((i * 7919 % 1000000)::int)) FROM (SELECT generate_series(1, 10000000::int8) AS i) s;
		$most});
	my @values = split /\n/, $out;
	note("kB: $values[2] without, $values[4] with the array");
	cmp_ok($values[4] - $values[2], '<', 40000 + 16384, 'memory besides the result') or diag($out);

	# Four million runs: 160 MB of result, and besides it little more than twice the keys.
	$out = $node->safe_psql('postgres', qq{
		SELECT count(i), cardinality(hpsort_runs_agg(i)) FROM generate_series(1, 10) i;
		SELECT count(i) FROM (SELECT generate_series(1, 4000000) AS i) s;
		$most;
		SELECT cardinality(hpsort_runs_agg(i)) FROM (SELECT generate_series(1, 4000000) AS i) s;
		$most});
	@values = split /\n/, $out;
	note("kB: $values[2] without, $values[4] with the runs");
	cmp_ok($values[4] - $values[2], '<', 160000 + 2 * 16000 + 16384, 'memory besides the runs') or diag($out);
}

# An error in a worker is the query's error, and says where it was.
$node->safe_psql('postgres', 'CREATE TABLE t AS SELECT i AS x FROM generate_series(1, 200000) i; ANALYZE t');
my $parallel = "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
	SET max_parallel_workers_per_gather = 2; SET parallel_leader_participation = off;";
like($node->safe_psql('postgres', "$parallel EXPLAIN SELECT hpsort_agg(x, 1, 200000) FROM t"), qr/Partial Aggregate/, 'parallel plan');
($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose
$parallel SELECT hpsort_agg(x, 1, 199999) FROM t");
like($err, qr/ERROR:  22003: key is out of bounds/, 'error from a worker');
like($err, qr/DETAIL:  Keys were promised to be between 1 and 199999\./, 'its detail');
like($err, qr/CONTEXT:  parallel worker/, 'its context');
($rc, $out, $err) = $node->psql('postgres', "SELECT 1 FROM hpsort('{2,1}'); SET hpsort.device = gpu; $parallel SELECT hpsort_agg(x) FROM t");
like($err, qr/device "gpu" is not available/, 'settings reach the workers');

# Cancelled in the leader, ended in the workers.
($rc, $out, $err) = $node->psql('postgres', "$parallel SET statement_timeout = '200ms';
	SELECT hpsort_agg(x + y) FROM t, generate_series(1, 10000) y");
like($err, qr/canceling statement due to statement timeout/, 'cancelled in parallel');
$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker'")
	or fail('workers are left behind');

is($node->safe_psql('postgres', "$parallel SELECT hpsort_agg(x, 1, 200000) = (SELECT array_agg(x ORDER BY x) FROM t) FROM t"), 't', 'and it works');
$node->stop;
is(join('', grep { /WARNING:|PANIC:|TRAP:|terminated by signal/ } split /^/m, slurp_file($node->logfile)), '', 'no crash in the log');

done_testing();
