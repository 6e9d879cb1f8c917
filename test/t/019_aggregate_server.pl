# Custom Scan (HpSort Aggregate) as a good citizen of its server: queries that are
# cancelled at any moment, and those that may not write more, leave neither temporary files
# nor memory behind, and the session answers the same query rightly afterwards.
#
#	HPSORT_TEST_SEED=N			the same moments as the run that printed it
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $seed = $ENV{HPSORT_TEST_SEED} // int(time() * 1000) % 1000000;
srand($seed);
diag("seed $seed");

my $node = PostgreSQL::Test::Cluster->new('aggregate_server');
$node->init;
$node->append_conf('postgresql.conf', <<'CONF');
session_preload_libraries = 'hpsort'
max_parallel_workers_per_gather = 0
autovacuum = off
jit = off
fsync = off
CONF
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION hpsort;
CREATE TABLE t AS SELECT i AS id, i % 1000 AS x, hashint4(i) AS y, hashint8extended(i, 1) AS big FROM generate_series(1, 700000) i;
VACUUM ANALYZE t;
SQL

# What is left open by no ORDER BY is made one value.
my %queries = (
	'values that repeat' => q{SELECT count(*), sum(n), sum(s) FROM (SELECT x, count(*) AS n, sum(y) AS s FROM t GROUP BY x OFFSET 0) q},
	'percentile by group' => q{SELECT count(*), sum(p) FROM (SELECT x, percentile_disc(0.3) WITHIN GROUP (ORDER BY y) AS p FROM t GROUP BY x OFFSET 0) q},
	'wide groups' => q{SELECT count(*), sum(s) FROM (SELECT big, sum(y) AS s FROM t GROUP BY big OFFSET 0) q},
	'more than 64 bits' => q{SELECT count(*), sum(d) FROM (SELECT big, count(DISTINCT y) AS d FROM t GROUP BY big OFFSET 0) q},
	'different values' => q{SELECT count(DISTINCT big), count(DISTINCT y) FROM t},
	'array' => q{SELECT md5(array_agg(y ORDER BY y DESC)::text) FROM t},
);

sub psql
{
	my ($sql) = @_;
	my ($out, $err);
	$node->psql('postgres', $sql, stdout => \$out, stderr => \$err, on_error_stop => 0);
	return ($out, $err);
}

sub temporary_files
{
	return $node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()');
}

foreach my $name (sort keys %queries)
{
	my $query = $queries{$name};

	foreach my $work_mem ('64kB', '64MB')
	{
		my $set = "SET work_mem = '$work_mem'; SET hpsort.debug_aggregate = force;";
		my $want = $node->safe_psql('postgres', "SET work_mem = '64MB'; SET hpsort.debug_aggregate = forbid; $query");

		like($node->safe_psql('postgres', "$set EXPLAIN $query"), qr/HpSort Aggregate/, "$name, $work_mem: plan");

		# One session: cancelled at six moments, and right after each of them.
		my $script = "$set\n";
		my $memory = "SELECT 'memory', sum(total_bytes) FROM pg_backend_memory_contexts;\n";
		$script .= "SELECT 'result', q.* FROM ($query) q;\n$memory";
		for (1 .. 6)
		{
			my $timeout = 1 + int(rand(150));
			$script .= "SET statement_timeout = $timeout;\n$query;\nRESET statement_timeout;\n";
		}
		$script .= "SELECT 'result', q.* FROM ($query) q;\n$memory";
		my ($out, $err) = psql($script);
		my @results = $out =~ /^result\|(.*)$/mg;
		my @memory = $out =~ /^memory\|(.*)$/mg;
		is_deeply(\@results, [ $want, $want ], "$name, $work_mem: right before and after cancels");
		unlike($err, qr/ERROR:  (?!canceling statement due to statement timeout)/, "$name, $work_mem: no other error");
		cmp_ok($memory[1], '<', $memory[0] + 1024 * 1024, "$name, $work_mem: no memory left behind");
		is(temporary_files(), 0, "$name, $work_mem: no file left behind");
	}

	# Where something is written, less than that is allowed.
	my ($out, $err) = psql("SET work_mem = '64kB'; SET hpsort.debug_aggregate = force; SET temp_file_limit = '100kB';\n"
		  . "$query;\nRESET temp_file_limit;\nSELECT 'result', q.* FROM ($query) q;");
	if ($name ne 'values that repeat')
	{
		like($err, qr/temporary file size exceeds "?temp_file_limit/, "$name: temp_file_limit");
	}
	like($out, qr/^result\|/m, "$name: answered afterwards");
	is(temporary_files(), 0, "$name: no file left behind by an error");
}

# A subtransaction that fails while the file is open takes it along.
my ($out, $err) = psql(<<"SQL");
SET work_mem = '64kB';
SET hpsort.debug_aggregate = force;
DO \$\$
BEGIN
	FOR i IN 1 .. 3 LOOP
		BEGIN
			PERFORM 1 / (q.n - q.n) FROM (SELECT big, count(DISTINCT y) AS n FROM t GROUP BY big OFFSET 1000) q;
			RAISE EXCEPTION 'not reached';
		EXCEPTION WHEN division_by_zero THEN
			NULL;
		END;
	END LOOP;
END \$\$;
SELECT 'files', count(*) FROM pg_ls_tmpdir();
SQL
is($out, 'files|0', 'subtransactions: no file left behind');
is($err, '', 'subtransactions: no error');

done_testing();
