# Tables whose statistics say that they have next to no rows: room for a batch of rows is made by what statistics
# say, so that whatever fills batches has to know how much room there is.  Answers are core's, and no process dies.
#
#	HPSORT_TEST_SEED=N			the same random statements as the run that printed it
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use GpuService;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use ResidentColumns ();
use Test::More;

my $seed = random_seed();

my $node = new_server('wrong_statistics', 'session_preload_libraries = hpsort', 'synchronize_seqscans = off', 'jit = off',
	'hpsort.enable_sort = on', 'hpsort.debug_aggregate = force', 'hpsort.debug_sort = force',
	'hpsort.resident_memory = 64MB', 'hpsort.resident_fill = on_use', "hpsort.resident_gpu_memory = '16MB'", 'hpsort.device = gpu');
$node->safe_psql('postgres', $ResidentColumns::functions);
ResidentColumns::start_worker($node);
$node->safe_psql('postgres', slurp_file("$FindBin::Bin/../resident_queries.sql"));
wait_running($node);

sub sql { return $node->safe_psql('postgres', $_[0]); }

# What VACUUM and ANALYZE have found is forged: one row in a million pages.
sub forge
{
	my (@tables) = @_;

	sql("VACUUM ANALYZE $_") for @tables;
	sql("UPDATE pg_class SET reltuples = 1, relpages = 1000000 WHERE relname = '$_'") for @tables;
}

# Each kind of column, with NULLs and without; values that repeat, in ranges that runs are counted of, and hardly any
# that do; pages that are not all-visible.
sql(q{CREATE TYPE mood AS ENUM ('zero', 'b', 'a');
CREATE TABLE t AS
SELECT i AS id, i % 2 + 1094795585 AS two, i % 1000 AS x, hashint4(i) AS wide, CASE WHEN i % 3 > 0 THEN i % 50 END AS n, i % 70000 + 2147483648 AS b,
	(i % 4 = 0) AS flag, date '2026-01-01' + i % 400 AS day, timestamptz '2026-01-01' + i * interval '1 minute' AS at, (hashint4(i) % 1000) / 8.0::float8 AS f,
	(ARRAY['zero', 'b', 'a', NULL])[1 + i % 4]::mood AS mood, ('text ' || i % 5000) COLLATE "C" AS word, CASE WHEN i % 2 = 0 THEN (i % 30)::numeric END AS num,
	CASE WHEN i % 11 > 0 THEN 'label ' || i * 7919 % 8000 END COLLATE "C" AS label
FROM generate_series(1, 24000) i;
ALTER TABLE t ALTER label SET (n_distinct = 20);
CREATE TABLE narrow AS SELECT (i % 100)::int2 AS c, NULL::int AS never FROM generate_series(1, 24000) i;
SELECT hpsort_keep('t', 'id', 'two', 'x', 'wide', 'n', 'b', 'flag', 'day', 'mood'), hpsort_keep('narrow', 'c', 'never')});
sql("SELECT resident_make('r', 20000)");
my @tables = ('t', 'narrow', 'r');
forge(@tables);

# One query for each way in which batches are filled, times what makes these ways differ: types, NULLs, filters.
my $hashed = 'SELECT md5(string_agg(q::text, $$ $$)) FROM (%s OFFSET 0) q';
my $grouped = 'SELECT md5(string_agg(q::text, $$ $$ ORDER BY q::text)) FROM (%s OFFSET 0) q';
my @queries = (
	# one column: runs, packed values, keys
	(map { [ $grouped, "SELECT percentile_disc(ARRAY[0, 0.1, 0.5, 1]) WITHIN GROUP (ORDER BY $_), count($_), count(*), count(DISTINCT $_) FROM t" ] } qw(two x wide n b day)),
	(map { [ $grouped, "SELECT $_, count(*) FROM t GROUP BY $_" ] } qw(two x n b flag day mood)),
	(map { [ $grouped, "SELECT $_, sum($_), min($_) FROM t GROUP BY $_" ] } qw(two x n b)),
	(map { [ $grouped, "SELECT DISTINCT $_ FROM t" ] } qw(two wide n)),
	(map { [ $grouped, "SELECT c, count(*) FROM narrow WHERE never IS NULL GROUP BY c" ] } 1),
	[ $grouped, 'SELECT count(*), count(never) FROM narrow' ],
	# columns side by side, filters of rows and of aggregates
	[ $grouped, 'SELECT x, sum(wide), max(b), count(n), percentile_disc(0.5) WITHIN GROUP (ORDER BY wide) FROM t GROUP BY x' ],
	[ $grouped, 'SELECT flag, mood, min(day), sum(n) FILTER (WHERE x > 500), count(*) FILTER (WHERE n IS NULL) FROM t WHERE wide > 0 GROUP BY flag, mood' ],
	[ $grouped, 'SELECT x, count(*) FROM t WHERE word <> $$text 7$$ GROUP BY x' ],
	[ $grouped, 'SELECT count(*) FROM t WHERE x < 100 AND n IS NOT NULL' ],
	[ $grouped, 'SELECT f, count(*), sum(b) FROM t GROUP BY f' ],
	# expressions: by an array, by a hash table, numbered, and rows for whose values there is no memory
	[ $grouped, 'SELECT x / 10, count(*), sum(n) FROM t GROUP BY x / 10' ],
	[ $grouped, 'SELECT date_trunc($$hour$$, at), count(*) FROM t GROUP BY 1' ],
	[ $grouped, 'SELECT wide::text, count(*), sum(n), max(b) FROM t GROUP BY wide::text' ],
	[ $grouped, 'SELECT wide::text, x::text, n, count(*) FILTER (WHERE flag) FROM t GROUP BY wide::text, x::text, n' ],
	# texts in order, of which few are expected, with and without groups
	[ $grouped, 'SELECT percentile_disc(ARRAY[0, 0.3, 0.999, 1]) WITHIN GROUP (ORDER BY label), count(DISTINCT label), max(num) FROM t' ],
	[ $grouped, 'SELECT mode() WITHIN GROUP (ORDER BY label DESC), percentile_disc(0.5) WITHIN GROUP (ORDER BY label), rank($$label 4$$) WITHIN GROUP (ORDER BY label) FROM t' ],
	[ $grouped, 'SELECT string_agg(label, $$,$$ ORDER BY label), array_agg(label ORDER BY label), string_agg(DISTINCT label, NULL ORDER BY label DESC) FROM t' ],
	[ $grouped, 'SELECT flag, percentile_disc(ARRAY[0.1, 0.5]) WITHIN GROUP (ORDER BY label) FILTER (WHERE x > 500), array_agg(DISTINCT label ORDER BY label DESC), count(*) FROM t GROUP BY flag' ],
	[ $grouped, 'SELECT n, mood, percentile_disc(0.9) WITHIN GROUP (ORDER BY label), string_agg(label, $$,$$ ORDER BY label DESC) FROM t GROUP BY n, mood' ],
	[ $grouped, 'SELECT wide % 5000, b, percentile_disc(0.5) WITHIN GROUP (ORDER BY label) FILTER (WHERE flag), count(label) FROM t GROUP BY wide % 5000, b' ],
	# rows in order: keys of a column, rows in place with their TIDs, the first of each group
	(map { [ $hashed, "SELECT $_ FROM t ORDER BY $_" ] } qw(two x n wide)),
	[ $hashed, 'SELECT x FROM t ORDER BY x DESC NULLS LAST LIMIT 20' ],
	[ $hashed, 'SELECT * FROM t ORDER BY n, id' ],
	[ $hashed, 'SELECT * FROM t WHERE x > 300 ORDER BY word, id' ],
	[ $hashed, 'SELECT * FROM t ORDER BY wide, id LIMIT 10' ],
	[ $grouped, 'SELECT * FROM (SELECT id, x, rank() OVER (PARTITION BY x ORDER BY wide, id) AS r FROM t) s WHERE r <= 2' ],
	# functions of columns
	[ $grouped, 'SELECT hpsort_column_array($$t$$, $$wide$$)' ],
	[ $grouped, 'SELECT hpsort_column($$t$$, $$n$$)' ],
	[ $grouped, 'SELECT hpsort_column_runs($$t$$, $$two$$)' ]);

sub answers
{
	my ($settings) = @_;

	return split /^/m, sql(join('', map { "SET $_;\n" } @$settings) . join(";\n", map { sprintf($_->[0], $_->[1]) } @queries));
}

my @core = answers([ 'hpsort.enable_aggregate = off', 'hpsort.debug_scan = forbid', 'hpsort.debug_aggregate = forbid', 'hpsort.enable_sort = off', 'hpsort.debug_sort = forbid', 'hpsort.enable_resident = off' ]);
is(scalar(@core), scalar(@queries), 'core answers all queries');
foreach my $query (map { $_->[1] } grep { $_->[1] !~ /hpsort_/ } @queries)
{
	like(sql("EXPLAIN $query"), qr/HpSort/, "HpSort answers: $query");
	unlike(sql("SET hpsort.enable_aggregate = off; SET hpsort.debug_scan = forbid; SET hpsort.debug_aggregate = forbid; SET hpsort.enable_sort = off; SET hpsort.debug_sort = forbid; EXPLAIN $query"), qr/HpSort/, '... and core what it is compared with');
}

sub same
{
	my ($name, @settings) = @_;
	my @ours = answers(\@settings);

	# A table that has been read may have got true statistics again.
	is($ours[$_], $core[$_], "$name: $queries[$_][1]") for 0 .. $#queries;
}

my @parallel = ('max_parallel_workers_per_gather = 2', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0');

same('from pages', 'hpsort.enable_resident = off', 'hpsort.device = cpu');
same('captured', 'hpsort.device = cpu');
same('captured, by several processes', 'hpsort.device = cpu', @parallel);
sql("SELECT answer('t', c), answer('t', c), answer('t', c) FROM unnest(ARRAY['id', 'two', 'x', 'wide', 'n', 'b', 'flag', 'day', 'mood']) c");
sql("SELECT answer('narrow', c), answer('narrow', c), answer('narrow', c) FROM unnest(ARRAY['c', 'never']) c");
sql("SELECT resident_warm('r')");
like(sql("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT two, sum(two) FROM t GROUP BY two"), qr/on the GPU/, 'runs that the service has counted');
same('from memory', 'hpsort.device = cpu');
same('from memory, by several processes', 'hpsort.device = cpu', @parallel);
same('by the service');
same('little memory', "work_mem = '64kB'", 'hash_mem_multiplier = 1');
is(sql("SELECT count(DISTINCT rel) FILTER (WHERE blocks > 0), sum(differing) FROM (VALUES ('t'::regclass), ('narrow'), ('r')) v(rel), hpsort_resident_check(rel)"), '3|0', 'checked');
same('serializable', 'default_transaction_isolation = serializable');

# Some of the rows change, so that pages are read beside what is resident.
sql('DELETE FROM t WHERE id % 1000 = 7; UPDATE t SET x = x + 1, n = NULL WHERE id % 1500 = 3; INSERT INTO narrow SELECT c, 5 FROM narrow LIMIT 1000');
@core = answers([ 'hpsort.enable_aggregate = off', 'hpsort.debug_scan = forbid', 'hpsort.debug_aggregate = forbid', 'hpsort.enable_sort = off', 'hpsort.debug_sort = forbid', 'hpsort.enable_resident = off' ]);
same('changed, by the service');
same('changed, from memory', 'hpsort.device = cpu');
is(sql("SELECT sum(differing) FROM (VALUES ('t'::regclass), ('narrow'), ('r')) v(rel), hpsort_resident_check(rel)"), '0', 'changed, checked');
is(sql("SELECT string_agg(reltuples || ' in ' || relpages, ', ') FROM pg_class WHERE relname IN ('t', 'narrow', 'r')"), join(', ', ('1 in 1000000') x 3), 'the statistics are wrong still');

# Random statements, of every type and condition.
foreach my $settings ('hpsort.device=gpu', 'hpsort.device=cpu', 'hpsort.device=gpu,work_mem=64kB')
{
	my $mine = $seed + int(rand(1 << 20));

	is(sql("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM resident_compare('r', $mine, 30, '{$settings}'); COMMIT"), '30 right|', "random statements, $settings, seed $mine");
}
is(bad_log_lines($node), '', 'no process has died');
$node->stop;
done_testing();
