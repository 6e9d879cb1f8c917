# Aggregates and groups of floats and of numerics with a typmod: random tables and queries,
# each run with HpSort Aggregate and without it in the same session.  Rows, or errors, must be the
# same, sums of floats to the last bit.
#
#	HPSORT_TEST_SEED=N		the same tables and queries as the run that printed it
#	HPSORT_TEST_QUERIES=N	how many queries, 300 by default, 1,500 with HPSORT_TEST_ALL: 20 of each table
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use lib "$FindBin::Bin/../fuzz";
use FuzzSql::Numbers;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();
my $tables = ($ENV{HPSORT_TEST_QUERIES} // at_length(300, 1500)) / 20;
my $node = start_cluster('numbers', <<'CONF');
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
CONF
$node->safe_psql('postgres', "CREATE EXTENSION hpsort;\n" . FuzzSql::Numbers::setup());

# --- Random queries

my ($taken, $all) = (0, 0);

# Workers for the queries of every fourth table, unless they show the first of equal floats.
sub workers { my ($t, $query) = @_; return $t % 4 == 1 && $query !~ /^SELECT f\d, count/ ? 2 : 0; }

for my $t (1 .. $tables)
{
	my $work_mem = $t % 3 ? '4MB' : '64kB';
	my $sql = "SET work_mem = '$work_mem';\nSELECT setseed(" . rand() . ");\n" . FuzzSql::Numbers::table('t');
	my @queries = map { FuzzSql::Numbers::query('t') } 1 .. 20;

	$sql .= "SELECT 'query', taken, difference FROM compare(\$q\$$_\$q\$, '" . workers($t, $_) . "');\n" for @queries;
	my @results = split /^query\|/m, $node->safe_psql('postgres', $sql);
	shift @results;
	is(scalar @results, scalar @queries, "table $t: all queries ran");
	for my $i (0 .. $#results)
	{
		my ($is_taken, $difference) = $results[$i] =~ /^([tf])\|(.*)/s;
		$taken += $is_taken eq 't';
		$all++;
		chomp $difference;
		is($difference, '', "table $t, query @{[ $i + 1 ]}") or diag("work_mem $work_mem: $queries[$i]");
	}
}
cmp_ok($taken, '>', $all / 2, "HpSort Aggregate took $taken of $all queries");

# --- What a typmod does not say

my $force = 'SET hpsort.debug_aggregate = force;';

$node->safe_psql('postgres', 'CREATE TABLE scaled (n numeric(10,2)); INSERT INTO scaled SELECT i / 8.0 FROM generate_series(1, 100) i');
is($node->safe_psql('postgres', "$force SELECT min(n), max(n), sum(n), avg(n) FROM scaled"), '0.13|12.50|631.50|6.3150000000000000', 'a scale');
$node->safe_psql('postgres', 'ALTER TABLE scaled ALTER n TYPE numeric(12,4); INSERT INTO scaled VALUES (0.0001)');
is($node->safe_psql('postgres', "$force SELECT min(n), max(n), sum(n) FROM scaled"), '0.0001|12.5000|631.5001', 'another scale after ALTER TABLE');
$node->safe_psql('postgres', q{SET allow_system_table_mods = on; UPDATE pg_attribute SET atttypmod = (12 << 16 | 1) + 4 WHERE attrelid = 'scaled'::regclass AND attname = 'n'});
my (undef, undef, $stderr) = $node->psql('postgres', "$force SELECT sum(n) FROM scaled");
like($stderr, qr/stored numeric does not fit the type of its column/, 'a typmod that was changed in the catalog');

# Sums and products: of more digits than 64 bits have, of NaN, with errors, by groups of which many are numbered.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE products AS SELECT i, i % 3 AS g, CASE WHEN i % 2 = 0 THEN chr(65 + i % 4) END AS t, i * 3000000000000 AS l,
	(CASE WHEN i % 50 = 0 THEN '9999999999999.99' WHEN i % 1001 = 0 THEN 'NaN' ELSE (i % 1000)::text END)::numeric(15,2) AS a,
	(CASE WHEN i % 50 = 0 THEN 9999999999999.5 WHEN i % 7 = 0 THEN NULL ELSE -i END)::numeric(15,2) AS b FROM generate_series(1, 5000) i;
SQL
for my $query ('SELECT g, sum(a * b), avg(a * b), sum(a + b) FROM products GROUP BY g',
	'SELECT sum(a * b * a), avg(a * a) FROM products WHERE i % 1001 <> 0',
	'SELECT g, covar_pop(g, a), regr_sxy(a, g), regr_sxx(g, a), covar_samp(g, b), corr(l, a) FROM products GROUP BY g',
	'SELECT g, t, sum(a * b) FILTER (WHERE i % 100 <> 50), sum(a * b) FILTER (WHERE i % 3 = 1), sum(a * b) FROM products WHERE i % 1001 <> 0 GROUP BY g, t',
	'SELECT t || i AS label, sum(a * b), sum(a * a) FROM products GROUP BY label',
	'SELECT g, sum(l * a), avg(l - a), sum(1 - l * 2.5) FROM products WHERE i % 1001 <> 0 GROUP BY g',
	# A sum of a CASE is made of those of its branches: digits are those of the branches that a group takes, and others are not evaluated.
	"SELECT t, g, sum(CASE WHEN t = 'A' AND g < 2 THEN a * (1 - b) ELSE 0 END), sum(CASE WHEN b IS NULL THEN a WHEN g = 1 THEN 1.500 WHEN t > 'B' THEN a * b END) FILTER (WHERE i % 4 > 0) FROM products GROUP BY t, g HAVING sum(CASE WHEN g = 1 THEN 0.00 ELSE a END) IS NOT NULL",
	"SELECT g, 100.00 * sum(CASE WHEN g = 0 THEN 0 WHEN i / g > 100 THEN a * 2 ELSE 'NaN' END) / nullif(sum(a), 0), sum(CASE WHEN a > 5 THEN NULL ELSE l * a END) FROM products WHERE i % 1001 <> 0 GROUP BY g",
	'SELECT sum(CASE WHEN a < 0 THEN a END), sum(CASE WHEN g > 3 THEN a ELSE 0.000 END) FROM products WHERE i < 0', 'SELECT sum(CASE WHEN 1 / g > 0 THEN a * b ELSE 0 END) FROM products',
	'SELECT sum(l * 3000) FROM products', 'SELECT sum(-(g - 40000)::int2) FROM products', 'SELECT sum(i * i * i) FROM products')
{
	# Of outsized values processes exchange nothing.
	for my $workers (0, 2)
	{
		my ($taken, $difference) = split /\|/, $node->safe_psql('postgres', "SET work_mem = '64kB'; SELECT taken, difference FROM compare(\$q\$$query\$q\$, '$workers')"), 2;
		is($taken, 't', "taken with $workers workers: $query");
		is($difference, '', "and equal");
	}
}

# Sums of floats are one process's; groups of floats, too.
$node->safe_psql('postgres', 'CREATE TABLE many AS SELECT (i % 100)::int AS g, (i % 1000) / 7.0::float8 AS x, (i % 500)::numeric(6,2) AS n, hashint8(i)::float8 AS w FROM generate_series(1, 600000) i; ANALYZE many');
my $workers = "$force SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;";
unlike($node->safe_psql('postgres', "$workers EXPLAIN SELECT g, sum(x) FROM many GROUP BY g"), qr/Gather.*HpSort Aggregate/s, 'sums of floats are serial');
like($node->safe_psql('postgres', "$workers EXPLAIN SELECT g, max(x), sum(n), percentile_disc(0.5) WITHIN GROUP (ORDER BY n) FROM many GROUP BY g"), qr/Gather.*HpSort Aggregate/s, 'others are not');
my $parallel = 'SELECT g, max(x), sum(n), avg(n), percentile_cont(0.3) WITHIN GROUP (ORDER BY x), count(DISTINCT n) FROM many GROUP BY g ORDER BY g';
like($node->safe_psql('postgres', "$workers EXPLAIN SELECT g, sum(n * n) FROM many GROUP BY g"), qr/Gather.*HpSort Aggregate/s, 'nor are products');
is($node->safe_psql('postgres', "$workers $parallel"), $node->safe_psql('postgres', "SET hpsort.enable_scan = off; SET hpsort.enable_aggregate = off; $parallel"), 'and equal');

# Groups and values of more than 64 bits together: values are written, and merged once.
my $wide = 'SELECT g, percentile_cont(0.3) WITHIN GROUP (ORDER BY w), percentile_disc(0.9) WITHIN GROUP (ORDER BY w DESC) FILTER (WHERE x < 90), mode() WITHIN GROUP (ORDER BY w), count(w), stddev(w) FROM many GROUP BY g';
is($node->safe_psql('postgres', "SET work_mem = '1MB'; SELECT taken, difference FROM compare(\$q\$$wide\$q\$, '0')"), 't|', 'wide pairs are written');
like($node->safe_psql('postgres', "$force SET work_mem = '1MB'; EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) $wide"), qr/HpSort Aggregate.* Disk: \d{4,5} kB/s, 'by the table');

$node->stop;
done_testing();
