# Custom Scan (HpSort Aggregate) as a good citizen of its server: queries that are
# cancelled at any moment, and those that may not write more, leave neither temporary files
# nor memory behind, and the session answers the same query rightly afterwards.
#
#	HPSORT_TEST_SEED=N			the same moments as the run that printed it
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

random_seed();

my $node = new_cluster('aggregate_server');
$node->append_conf('postgresql.conf', <<'CONF');
session_preload_libraries = 'hpsort'
max_parallel_workers_per_gather = 0
autovacuum = off
jit = off
fsync = off
shared_buffers = 600MB
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
	my $want = $node->safe_psql('postgres', "SET work_mem = '64MB'; SET hpsort.debug_scan = forbid; SET hpsort.debug_aggregate = forbid; $query");

	foreach my $work_mem ('64kB', '64MB')
	{
		my $set = "SET work_mem = '$work_mem'; SET hpsort.debug_aggregate = force;";

		like($node->safe_psql('postgres', "$set EXPLAIN $query"), qr/HpSort Aggregate/, "$name, $work_mem: plan");

		# One session: cancelled at some moments, and right after each of them.
		my $script = "$set\n";
		my $memory = "SELECT 'memory', sum(total_bytes) FROM pg_backend_memory_contexts;\n";
		$script .= "SELECT 'result', q.* FROM ($query) q;\n$memory";
		for (1 .. at_length(3, 6))
		{
			# The setting ends with the transaction: a RESET could be too slow for it itself, as the first ROLLBACK, which then leaves
			# the transaction to the second one, after the setting's end.
			my $timeout = 20 + int(rand(150));
			$script .= "BEGIN;\nSET LOCAL statement_timeout = $timeout;\n$query;\nROLLBACK;\nROLLBACK;\n";
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

# --- How much memory the process takes at its peak

# Groups that come one after the other, few with most rows, an expression of a time, and values of an expression
# that have no order.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE odd AS SELECT (i::int8 * 1000 / 1500001)::int AS clustered, (hashint8(i) & 2147483647) % 1000000 AS y,
		(1000 * ((hashint8(i + 3) & 1048575) / 1048576.0::float8) ^ 6)::int AS skew, timestamp '2024-01-01' + i / 2000 * interval '1 minute' AS moment
	FROM generate_series(1, 1500000) i;
VACUUM (ANALYZE, FREEZE) odd;
SQL

# In kB.  The table is in shared buffers, which count as memory of the process once it has touched them: it does so before,
# and the kernel forgets the peak.
sub growth
{
	my ($set, $query) = @_;
	my $peak = q{SELECT 'peak', substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s*([0-9]+)');};
	my ($out, $err) = psql("SET work_mem = '4MB'; SET hash_mem_multiplier = 2; $set;\n"
		  . "SELECT sum(y) FROM odd WHERE clustered <> -1; SELECT sum(y) FROM odd WHERE clustered <> -1;\n"
		  . "$query FROM odd WHERE clustered < 1 GROUP BY 1;\nCOPY (SELECT 5) TO '/proc/self/clear_refs';\n$peak\n"
		  . "SELECT 'result', q.* FROM (SELECT count(*), sum(hashtextextended(r::text, 0)) FROM ($query FROM odd GROUP BY 1 OFFSET 0) r) q;\n$peak\n");
	my @peak = $out =~ /^peak\|(\d+)$/mg;
	my ($result) = $out =~ /^result\|(.*)$/m;

	is($err, '', "$query: no error");
	return ($peak[1] - $peak[0], $result);
}

SKIP:
{
	my %limited = (
		'groups one after the other' => 'SELECT clustered, percentile_disc(0.5) WITHIN GROUP (ORDER BY y)',
		'few groups with most rows' => 'SELECT skew, percentile_disc(0.5) WITHIN GROUP (ORDER BY y)',
		'an expression of a time' => q{SELECT date_trunc('hour', moment), avg(y)},
		'values without an order' => 'SELECT y::text, count(*)');

	skip 'only Linux tells the peak', 4 * keys %limited if !-w '/proc/self/clear_refs';
	foreach my $name (sort keys %limited)
	{
		my ($core, $want) = growth('SET hpsort.debug_scan = forbid; SET hpsort.debug_aggregate = forbid', $limited{$name});
		my ($kb, $result) = growth('SET hpsort.debug_aggregate = force', $limited{$name});

		is($result, $want, "$name: result");
		# 4MB x 2, buffers of files and of the reader, and what a process takes to run any query.
		cmp_ok($kb, '<', (8 + 2) * 1024, "$name: memory");
		note("$name: $kb kB, core's $core kB");
	}
}

# --- How far the arrays by group reach

# Rows by a column in no order have shown nearly all of its range with their first 8,000, and the arrays reach an eighth beyond; where they come
# in its order the arrays double, as far as int4 goes.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE ranges AS SELECT hashint4(i) & 131071 AS scattered, (i::int8 * 4 - 2147483648)::int AS upwards, 2147483647 - i * 4 AS downwards,
		i * (2 - i % 2 * 4) AS outwards, (i & 1023)::int2 AS s
	FROM generate_series(1, 200000) i;
VACUUM (ANALYZE, FREEZE) ranges;
SQL
foreach my $column (qw(scattered upwards downwards outwards))
{
	my $grouped = "SELECT $column, count(*), sum($column), max(s) FROM ranges GROUP BY $column";
	my $whole = "SELECT count(*), sum(hashtextextended(r::text, 0)) FROM ($grouped OFFSET 0) r";
	my $set = "SET work_mem = '256MB'; SET hash_mem_multiplier = 2;";
	# In no order, groups of the scattered column would be in a hash table.
	my $plan = $node->safe_psql('postgres', "$set SET hpsort.debug_aggregate = force; EXPLAIN (ANALYZE, COSTS OFF) $grouped ORDER BY $column");

	like($plan, qr/HpSort Aggregate/, "$column: plan");
	is($node->safe_psql('postgres', "$set SET hpsort.debug_aggregate = force; $whole"),
		$node->safe_psql('postgres', "$set SET hpsort.debug_scan = forbid; SET hpsort.debug_aggregate = forbid; $whole"), "$column: groups");
	# 8 bytes for each of 131,072 possible groups, 8 for a sum and 4 for a largest int2, an eighth of that, and 512 kB of buffers.
	my ($kb) = $plan =~ /Memory: (\d+) kB/;
	cmp_ok($kb, '<', 20 * 128 * 9 / 8 * 1.05 + 512, "$column: memory") if $column eq 'scattered';
}

# Few rows are not worth arrays for 2,097,152 possible groups; those that come late show it, too.
foreach my $where ('downwards > 2147481647', 'downwards < 2147483647 - 798000')
{
	my $query = "SELECT scattered, s & 15 AS c, count(*), sum(s) FROM ranges WHERE $where GROUP BY 1, 2 ORDER BY 1, 2";
	my $set = "SET work_mem = '256MB'; SET hpsort.debug_aggregate = force;";
	my ($kb) = $node->safe_psql('postgres', "$set EXPLAIN (ANALYZE, COSTS OFF) $query") =~ /HpSort Aggregate.*Memory: (\d+) kB/s;

	cmp_ok($kb, '<', 2048, "few rows of wide ranges, $where: memory");
	is($node->safe_psql('postgres', "$set $query"), $node->safe_psql('postgres', "SET hpsort.enable_scan = off; SET hpsort.enable_aggregate = off; $query"), "few rows of wide ranges, $where");
}

# --- Groups in a hash table, and rows of groups for which there is no memory

$node->safe_psql('postgres', <<'SQL');
CREATE TABLE spread AS SELECT CASE WHEN i % 97 > 0 THEN hashint8extended(i % 30000, 1) END AS wide, CASE WHEN i % 89 > 0 THEN 'label ' || i % 2000 END AS label,
		'name ' || i * 7 % 20000 AS name, (i % 7)::int2 AS small, (i % 1000) / 7.0::float8 AS f, i % 3 = 0 AS third
	FROM generate_series(1, 90000) i;
VACUUM (ANALYZE, FREEZE) spread;
SQL
foreach my $query ('SELECT wide, count(*), sum(small), avg(f), max(small) FILTER (WHERE third) FROM spread GROUP BY wide',
	'SELECT wide % 5, label, third, wide, count(label), stddev(f), bit_or(small) FROM spread GROUP BY wide, label, third',
	'SELECT name, label, sum(f), min(wide), count(small) FROM spread GROUP BY name, label',
	'SELECT DISTINCT label, wide, small FROM spread')
{
	foreach my $memory (64, 1024, 65536)
	{
		my $out = $node->safe_psql('postgres', "SET work_mem = $memory; SET hash_mem_multiplier = 2; SET max_parallel_workers_per_gather = 0;
			SET hpsort.debug_aggregate = force; EXPLAIN (ANALYZE, COSTS OFF) $query; CREATE TEMP TABLE got AS $query;
			SET hpsort.enable_scan = off; SET hpsort.enable_aggregate = off; CREATE TEMP TABLE want AS $query;
			SELECT count(*), (SELECT count(*) FROM want), (SELECT count(*) FROM (TABLE got EXCEPT ALL TABLE want) q) FROM got");
		my ($kb) = $out =~ /HpSort Aggregate.*Memory: (\d+) kB/s;

		like($out, qr/^(\d{5})\|\1\|0$/m, "hash table, $memory kB: groups");
		# Beside the limit: keys of a batch, and batches of two kinds of files; some more before 16, where each piece of memory has 8 bytes more.
		cmp_ok($kb, '<', 2 * $memory + 2560, "hash table, $memory kB: memory");
		($memory == 65536 ? \&unlike : \&like)->($out, qr/Disk: [1-9]/, "hash table, $memory kB: files");
	}
}

# Nearly every row is of another group: rows are divided before they have groups, in memory if there is enough.
foreach my $memory (4096, 262144)
{
	my $query = 'SELECT upwards, outwards / 2 AS half, count(*), sum(s / 7.0::float8) FROM ranges GROUP BY 1, 2';
	my $out = $node->safe_psql('postgres', "SET work_mem = $memory; SET hash_mem_multiplier = 1; SET hpsort.debug_aggregate = force;
		EXPLAIN (ANALYZE, COSTS OFF) $query; CREATE TEMP TABLE got AS $query; SET hpsort.enable_scan = off; SET hpsort.enable_aggregate = off;
		SELECT count(*), (SELECT count(*) FROM (TABLE got EXCEPT ALL ($query)) q) FROM got");

	like($out, qr/HpSort Aggregate.*^200000\|0$/ms, "divided groups, $memory kB");
	($memory > 4096 ? \&unlike : \&like)->($out, qr/Disk: [1-9]/, "divided groups, $memory kB: files");
}

# --- Groups and values of more than 64 bits together

# Different values of a group are read 256 at a time: groups of fewer, as many and more, with values that repeat, NULLs and rows refused by a FILTER.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE more_bits AS SELECT hashint8extended(n, 1) AS big, CASE WHEN i % 7 > 0 OR n < 3 THEN hashint8extended(i % n, 2) / 4 END AS v
	FROM unnest(ARRAY[1, 2, 3, 255, 256, 257, 511, 512, 513, 3000]) n, generate_series(1, n * 3) i;
INSERT INTO more_bits SELECT 7, NULL FROM generate_series(1, 300);
VACUUM (ANALYZE, FREEZE) more_bits;
SQL
foreach my $work_mem ('64kB', '64MB')
{
	my $query = q{SELECT big, count(*), count(v), sum(v), min(v), max(v), count(DISTINCT v), percentile_disc(ARRAY[0, 0.5, 1]) WITHIN GROUP (ORDER BY v),
		count(v) FILTER (WHERE v > 0), array_agg(v ORDER BY v DESC) FILTER (WHERE v > 0) FROM more_bits GROUP BY big ORDER BY big};
	my $set = "SET work_mem = '$work_mem'; SET hpsort.debug_aggregate = force;";

	like($node->safe_psql('postgres', "$set EXPLAIN (ANALYZE, COSTS OFF) $query"), $work_mem eq '64kB' ? qr/HpSort Aggregate.*Algorithm: tuplesort/s : qr/HpSort Aggregate.*Algorithm: radix on cpu/s, "more than 64 bits, $work_mem: plan");
	is($node->safe_psql('postgres', "$set $query"), $node->safe_psql('postgres', "SET hpsort.enable_scan = off; SET hpsort.enable_aggregate = off; $query"), "more than 64 bits, $work_mem");
	# Sums alone want no values in order.
	$query = 'SELECT big, count(*), sum(v), min(v), max(v) FROM more_bits GROUP BY big ORDER BY big';
	is($node->safe_psql('postgres', "$set $query"), $node->safe_psql('postgres', "SET hpsort.enable_scan = off; SET hpsort.enable_aggregate = off; $query"), "more than 64 bits, $work_mem: sums");
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
