# Resident columns whose extents the GPU service keeps copies of, and counts: the answers are
# core's, whatever the service has, lacks, refuses or dies of.
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

# The device is the service's CPU, and the setting that makes every session use it is "gpu".
my $node = new_server('resident_gpu', 'session_preload_libraries = hpsort', 'synchronize_seqscans = off', 'jit = off',
	'hpsort.debug_aggregate = force', 'hpsort.resident_memory = 64MB', 'hpsort.resident_fill = on_use', "hpsort.resident_gpu_memory = '16MB'",
	'hpsort.device = gpu');
$node->safe_psql('postgres', $ResidentColumns::functions);
ResidentColumns::start_worker($node);

sub sql { return $node->safe_psql('postgres', $_[0]); }

# A session that takes the service where it pays gives it a quarter of a second to greet, which on a busy machine may be too little: this one
# is connected before.
my $connected = q{DO 'BEGIN PERFORM hpsort_devices(); END';};
my $auto = "SET hpsort.device = auto; $connected";

# Values with every width, NULLs, and a table that is not all of it all-visible.
sql(q{CREATE TABLE t (id int, x int, y int, s smallint, b bigint, d date, n int, filler text);
INSERT INTO t SELECT i, i % 1000 - 500, (i::int8 * 7919 % 1000000)::int, i % 200, i % 70000 - 2147483648, date '2026-01-01' + i % 400,
	CASE WHEN i % 3 > 0 THEN i % 50 END, repeat('f', 30) FROM generate_series(1, 60000) i;
SELECT hpsort_keep('t', 'x', 'y', 's', 'b', 'd', 'n')});
sql('VACUUM ANALYZE t');
my @columns = qw(x y s b d n);

# What is asked of a column; the answer of each is one value.
my @questions = (
	'SELECT md5(string_agg(v || \':\' || c, \' \' ORDER BY v)) FROM (SELECT %1$s::text AS v, count(*) AS c FROM %2$s GROUP BY %1$s OFFSET 0) q',
	'SELECT count(*) FROM (SELECT DISTINCT %1$s FROM %2$s OFFSET 0) q',
	'SELECT count(DISTINCT %1$s) || \' \' || count(%1$s) || \' \' || count(*) || \' \' || min(%1$s) || \' \' || max(%1$s) FROM %2$s',
	'SELECT percentile_disc(array[0, 0.25, 0.5, 0.99, 1]) WITHIN GROUP (ORDER BY %1$s) FROM %2$s',
	'SELECT md5(string_agg(v, \' \')) FROM (SELECT %1$s::text AS v FROM %2$s ORDER BY %1$s OFFSET 0) q',
	'SELECT md5(string_agg(v::text, \' \')) FROM (SELECT %1$s AS v FROM (SELECT %1$s FROM %2$s ORDER BY %1$s DESC NULLS LAST OFFSET 0) q) r');
my $core = 'SET hpsort.enable_aggregate = off; SET hpsort.debug_scan = forbid; SET hpsort.debug_aggregate = forbid; SET hpsort.debug_sort = forbid; SET hpsort.enable_resident = off;';

sub same
{
	my ($name, $table, @which) = @_;

	$table //= 't';
	foreach my $column (@which ? @which : @columns)
	{
		my @all = map { sprintf($_, $column, $table) } @questions;

		is(sql(join(';', @all)), sql($core . join(';', @all)), "$name: $table.$column");
	}
	# The column functions, of what they take.
	foreach my $column (grep { /^[xysn]$/ } (@which ? @which : @columns))
	{
		is(sql("SELECT md5(hpsort_column_array('$table', '$column')::text)"),
			sql("$core SELECT md5(array_agg($column ORDER BY $column)::text) FROM $table"), "$name: array of $table.$column");
	}
}

# Blocks that the GPU has counted, and those of the table.
sub gpu_blocks
{
	my ($column, $table) = @_;
	my $plan = sql("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT $column, count(*) FROM " . ($table // 't') . " GROUP BY $column");

	return $plan =~ /Resident Blocks: \d+ of \d+, (\d+) on the GPU/ ? $1 : 0;
}

sub warm { my ($table) = @_; sql("SELECT answer('$table', c), answer('$table', c), answer('$table', c) FROM unnest(array['x', 'y', 's', 'b', 'd', 'n']) c"); }

wait_running($node);
same('as they are captured');
warm('t');
my $all = sql("SELECT blocks_valid FROM hpsort_resident WHERE attribute = 'x'");
cmp_ok($all, '>', 500, 'resident');
is(gpu_blocks('x'), $all, 'all of them are counted by the service');
same('kept there');
is(service($node, 'fallbacks'), 0, 'nothing has failed') or diag(service_row($node));
is(sql("SET hpsort.device = cpu; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT x, count(*) FROM t GROUP BY x") =~ /on the GPU/, '', 'not where the CPU is asked for');
is(sql("SELECT count(*), min(blocks), sum(differing) FROM hpsort_resident_check('t')"), scalar(@columns) . "|$all|0", 'checked');
same('in processes side by side: set by role', 't', 'x', 'n') if sql("ALTER ROLE CURRENT_USER SET max_parallel_workers_per_gather = 2; ALTER ROLE CURRENT_USER SET parallel_setup_cost = 0;
	ALTER ROLE CURRENT_USER SET parallel_tuple_cost = 0; ALTER ROLE CURRENT_USER SET min_parallel_table_scan_size = 0; SELECT 1");
sql('ALTER ROLE CURRENT_USER RESET ALL');

# --- Groups and values that are looked up among keys that the service has put in order

$node->safe_psql('postgres', PostgreSQL::Test::Utils::slurp_file("$FindBin::Bin/../resident_queries.sql"));
sql("SELECT resident_make('r', 20000)");
sql('VACUUM ANALYZE r');
sql("SELECT resident_warm('r')");

# Random statements beside core's under one snapshot: how many were right, and those that were not.
sub compare
{
	my ($name, $n, $settings, $table) = @_;
	my $mine = $seed + int(rand(1 << 20));
	my $hits = "SELECT sum(gpu_hits) FROM hpsort_resident WHERE starts_with(relation::text, '" . ($table //= 'r') . "')";
	my $before = sql($hits);
	my $result = sql("$connected BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM resident_compare('$table', $mine, $n, '{hpsort.device=gpu"
		. join('', map { ",$_" } @{ $settings // [] }) . "}'); COMMIT");

	is($result, "$n right|", "$name: random statements, seed $mine");
	return sql($hits) - $before;
}

cmp_ok(compare('looked up', 150), '>', 20 * 250, 'many by the GPU');
compare('where it pays', 60, ['hpsort.device=auto']);

# What the node says of one statement.
sub plan_of
{
	my ($query, $settings) = @_;

	return sql(join('', map { "SET $_;" } @{ $settings // [] }) . "$connected EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");
}
my $blocks = sql("SELECT blocks_valid FROM hpsort_resident WHERE relation = 'r'::regclass AND attribute = 'x'");
foreach my $query ('percentile_disc(0.5) WITHIN GROUP (ORDER BY y), min(y), max(y), count(y), count(*), count(DISTINCT y) FROM r',
	'x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y), percentile_cont(0.1) WITHIN GROUP (ORDER BY y) FROM r GROUP BY x',
	'f, s, count(*) FROM r GROUP BY f, s', 'count(*) FROM r WHERE y < 1000 AND n IS NOT NULL', 'x, count(*) FROM r WHERE n = 7 GROUP BY x',
	'f, c, percentile_disc(0.5) WITHIN GROUP (ORDER BY d DESC) FROM r WHERE o BETWEEN 3000000010 AND 3000000100 GROUP BY f, c HAVING count(*) > 5',
	'x, sum(y), avg(y), count(*) FROM r GROUP BY x', 'f, sum(b), percentile_disc(0.1) WITHIN GROUP (ORDER BY b) FROM r WHERE x < 100 GROUP BY f', 'avg(n), sum(n) FROM r WHERE s > 3',
	'x, count(y), sum(s), avg(n), percentile_disc(0.3) WITHIN GROUP (ORDER BY d) FROM r WHERE o > 3000000010 GROUP BY x', 'count(*) FILTER (WHERE n > 3), count(*) FILTER (WHERE y < 7000) FROM r',
	'f, sum(y) FILTER (WHERE s > 3 AND y < 100000), count(*) FILTER (WHERE n IS NULL), count(*) FILTER (WHERE y < 0) FROM r WHERE y > 10000 GROUP BY f',
	'f, percentile_cont(0.2) WITHIN GROUP (ORDER BY b) FROM r WHERE e <> \'red\' GROUP BY f', 'e, f, percentile_disc(0.2) WITHIN GROUP (ORDER BY y) FROM r WHERE e <> \'red\' GROUP BY e, f ORDER BY e DESC', 'x, s, count(*) FROM r WHERE d < \'2026-03-01\' GROUP BY x, s',
	# numbers of values, and integers beyond int4
	't, count(*) FROM r GROUP BY t', 'DISTINCT v FROM r', 'count(DISTINCT l), count(*) FROM r', 'l, t, count(*) FROM r WHERE n > 40 AND l LIKE \'%a5%\' GROUP BY l, t ORDER BY l',
	't, percentile_disc(0.5) WITHIN GROUP (ORDER BY k), min(k), max(k), count(*) FROM r WHERE t LIKE \'%1%\' AND t <> \'text 1\' GROUP BY t', 'z, f, count(t) FROM r WHERE l ~ \'^[0-7]\' GROUP BY z, f',
	'k, count(*) FROM r GROUP BY k', 'x, sum(k), avg(k), count(t) FILTER (WHERE l LIKE \'%7%\' AND t > \'text 3\') FROM r WHERE l < \'d\' GROUP BY x', 'percentile_disc(0.5) WITHIN GROUP (ORDER BY p), max(p) FROM r WHERE k IN (5000000003, 5000001003, 7)', 'x, count(*) FROM r WHERE v = \'00000000-0000-0000-0000-000000000000\' GROUP BY x')
{
	like(plan_of("SELECT $query"), qr/Resident Blocks: $blocks of \d+, $blocks on the GPU/, "on the GPU: $query") or diag(service_row($node));
}
# Star joins, whose lookups become maps.
foreach my $query ('one_text, count(*), sum(y) FROM r JOIN resident_one ON one_id = x GROUP BY one_text', 'one_big, one_day, f, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM r LEFT JOIN resident_one ON one_id = x WHERE n > 3 GROUP BY one_big, one_day, f ORDER BY one_big DESC, one_day NULLS FIRST',
	'one_colour, avg(n) FILTER (WHERE x < 100), count(*) FROM r LEFT JOIN resident_one ON one_id = x AND one_small < 5 WHERE x > -300 GROUP BY one_colour', 'two_text, holiday, count(*) FROM r JOIN resident_two ON two_id = k JOIN resident_day ON day = d GROUP BY two_text, holiday',
	'count(*), max(y) FROM r WHERE EXISTS (SELECT FROM resident_one WHERE one_id = x AND one_big > 0)', 'f, count(*) FROM r WHERE NOT EXISTS (SELECT FROM resident_two WHERE two_id = k) GROUP BY f', 'one_number, t, sum(k) FROM r JOIN resident_one ON one_id = x WHERE one_small = 3 GROUP BY one_number, t')
{
	like(plan_of("SELECT $query"), qr/Lookup: .*Resident Blocks: $blocks of \d+, $blocks on the GPU/s, "on the GPU: $query") or diag(service_row($node));
	unlike(plan_of("SELECT $query", ['hpsort.device = cpu']), qr/on the GPU/, "unless the device is the CPU: $query");
	is(sql("SELECT resident_answer(q, '{hpsort.device=gpu}') = resident_answer(q, '{hpsort.enable_aggregate=off,hpsort.debug_scan=forbid,hpsort.debug_aggregate=forbid,hpsort.enable_resident=off}') FROM (VALUES (\$q\$SELECT $query\$q\$)) v(q)"),
		't', "star join: $query");
}
# Expressions of columns become maps, too, beside the columns themselves and star joins.  10 / one_small is of rows that are joined alone.
my $same_answer = "resident_answer(q, '{hpsort.device=gpu}') IS NOT DISTINCT FROM resident_answer(q, '{hpsort.enable_aggregate=off,hpsort.debug_scan=forbid,hpsort.debug_aggregate=forbid,hpsort.enable_resident=off}')";
my @expressions = ('x / 10, count(*) FROM r GROUP BY 1', 'x % 7, x / 100, percentile_disc(0.5) WITHIN GROUP (ORDER BY y), sum(n) FROM r GROUP BY 1, 2 ORDER BY 1 DESC, 2', 'x, x / 100, count(*) FROM r GROUP BY 1, 2 ORDER BY 1',
	'date_trunc(\'month\', d), f, count(*) FROM r WHERE d > \'2026-02-03\' AND n IS NOT NULL GROUP BY 1, 2', 'extract(year FROM d), extract(month FROM d)::int, sum(y) FILTER (WHERE d < \'2026-06-01\' AND x > 3), count(*) FROM r GROUP BY 1, 2',
	'lower(t), substr(l, 1, 1), max(y) FROM r WHERE l LIKE \'%a%\' GROUP BY 1, 2', 't, length(t), count(*) FILTER (WHERE t LIKE \'%1%\'), avg(y) FROM r WHERE t <> \'text 1\' OR t IS NULL GROUP BY 1, 2', 'v::text, k / 100, count(*) FROM r GROUP BY 1, 2',
	'CASE WHEN n > 10 THEN \'many\' WHEN n IS NULL THEN \'none\' END, n, count(*) FROM r GROUP BY 1, 2', 'DISTINCT -x, e FROM r ORDER BY 2 DESC, 1', 'z::int8 % 10, count(*) FROM r GROUP BY 1', '100 / (x - 777), count(*) FROM r GROUP BY 1',
	# conditions refuse all values for which it would fail
	'10 / x, sum(n) FROM r WHERE x <> 0 GROUP BY 1', '100 / (x - 3), x, count(*) FILTER (WHERE x > 100) FROM r WHERE x > 3 AND n > 1 GROUP BY 1, 2', 'substr(t, 1, 6 - length(t)), count(*) FROM r WHERE t IN (\'text 1\', \'text 7\') GROUP BY 1', '10 / x, one_small, count(*) FROM r JOIN resident_one ON one_id = x WHERE x < 0 GROUP BY 1, 2',
	'x / 100, length(one_text), one_small + x, count(*) FROM r LEFT JOIN resident_one ON one_id = x GROUP BY 1, 2, 3', '10 / one_small, count(*) FROM r JOIN resident_one ON one_id = x WHERE one_small <> 0 GROUP BY 1', 'x, one_big, sum(n) FROM r JOIN resident_one ON one_id = x GROUP BY 1, 2');
like(plan_of("SELECT $_"), qr/Resident Blocks: $blocks of \d+, $blocks on the GPU/, "expression, on the GPU: $_") for @expressions;
# One that fails for a value that no row has, or that the rows do not show; one that may do more than compute; of several columns; of values too far from each other.
sql('CREATE FUNCTION halved(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN $1 / 2; END $$');
my @not_mapped = ('100 / (x - 3), count(*) FROM r WHERE n > 2000 GROUP BY 1', 'substr(t, 1, 6 - length(t)), count(*) FROM r WHERE n > 2000 GROUP BY 1', 'halved(x), count(*) FROM r GROUP BY 1',
	'x + n, count(*) FROM r GROUP BY 1', 'y / 1000, count(*) FROM r GROUP BY 1', 'x / 2.0, count(*) FROM r GROUP BY 1', 'x::float8, count(*) FROM r GROUP BY 1', 'x / 10, sum(x) FROM r GROUP BY 1', 'e::text, count(*) FROM r GROUP BY 1');
unlike(plan_of("SELECT $_"), qr/on the GPU/, "expression, not on the GPU: $_") for @not_mapped;
foreach my $query (@expressions, @not_mapped, 'x / 10, count(*) FROM r WHERE x IS NULL GROUP BY 1', 'x / 10, count(*) FROM r WHERE y < 0 GROUP BY 1', '10 / n, count(*) FROM r WHERE n > 100 GROUP BY 1')
{
	is(sql("SELECT $same_answer FROM (VALUES (\$q\$SELECT $query\$q\$)) v(q)"), 't', "expression: $query");
}
like(($node->psql('postgres', 'SELECT 10 / x, count(*) FROM r GROUP BY 1'))[2], qr/division by zero/, 'an error for a value that rows have');
# One that takes long for values that no row has is not evaluated for all of them, and can be cancelled meanwhile.
sql('CREATE TABLE long AS SELECT CASE WHEN i = 1 THEN 6000 ELSE i % 20 END AS x FROM generate_series(1, 20000) i');
sql('VACUUM ANALYZE long');
sql("SELECT hpsort_keep('long', '{x}', wait => true)");
like(plan_of('SELECT x / 10, count(*) FROM long GROUP BY 1'), qr/(\d+) of \1, \1 on the GPU/, 'an expression that takes no time');
my $long = 'SELECT length(factorial(x)::text), count(*) FROM long GROUP BY 1';
unlike(plan_of($long), qr/on the GPU/, 'one that takes long for values that no row has');
is(sql("SELECT $same_answer FROM (VALUES (\$q\$$long\$q\$)) v(q)"), 't', '... right');
like(($node->psql('postgres', "SET hpsort.device = gpu; SET statement_timeout = '50ms'; $long"))[2], qr/canceling statement due to statement timeout/, '... cancelled');
sql('DROP TABLE long');
# A key whose values are too far from each other for a map, more groups than there is memory for, conditions of both sides.
foreach my $query ('count(*) FROM r JOIN resident_one ON one_id = y', 'x, one_text, count(*) FROM r JOIN resident_one ON one_id = x GROUP BY x, one_text',
	'one_text, count(*) FROM r JOIN resident_one ON one_id = x AND one_small < s GROUP BY one_text', 'one_text, sum(one_small) FROM r JOIN resident_one ON one_id = x GROUP BY one_text')
{
	unlike(plan_of("SELECT $query"), qr/on the GPU/, "star join, not on the GPU: $query");
	is(sql("SELECT resident_answer(q, '{hpsort.device=gpu}') = resident_answer(q, '{hpsort.enable_aggregate=off,hpsort.debug_scan=forbid,hpsort.debug_aggregate=forbid,hpsort.enable_resident=off}') FROM (VALUES (\$q\$SELECT $query\$q\$)) v(q)"),
		't', "star join: $query");
}
# What wants runs, or keys of more than 32 bits, is read from memory.
foreach my $query ('mode() WITHIN GROUP (ORDER BY y), count(*) FROM r WHERE s > 3', 'x, variance(y) FROM r GROUP BY x', 'x, sum(DISTINCT y) FROM r GROUP BY x', 'x, count(DISTINCT y) FROM r GROUP BY x',
	'x, percentile_disc(0.5) WITHIN GROUP (ORDER BY u) FROM r GROUP BY x', 'x, s, sum(s) FROM r GROUP BY x, s', 'x, min(t) FROM r GROUP BY x', 'x, sum(p) FROM r GROUP BY x', 't, count(*) FROM r WHERE ts < \'2026-01-02\' GROUP BY t')
{
	my $plan = plan_of("SELECT $query");

	unlike($plan, qr/on the GPU/, "not on the GPU: $query");
	like($plan, qr/Resident Blocks: $blocks of/, "... but from memory");
}
# Of several partitions, whose attributes have other numbers, rows have their keys in one job; values of one column are counted.
sub blocks_of { my ($rel) = @_; return sql("SELECT sum(blocks_valid) FROM hpsort_resident JOIN pg_partition_tree('$rel') ON relid = relation WHERE attribute = 'x'"); }
sql("SELECT resident_make('p', 20000, 20000)");
sql('VACUUM ANALYZE p');
sql("SELECT resident_warm('p')");
cmp_ok(compare('partitions', 40, [], 'p'), '>', 0, 'and by the GPU');
compare('partitions, where it pays', 12, ['hpsort.device=auto'], 'p');
compare('partitions, little work_mem', 12, ['work_mem=64kB'], 'p');
for my $case ([ 'p', 'x, count(*) FROM p GROUP BY x' ], [ 'p', 'percentile_disc(0.5) WITHIN GROUP (ORDER BY y), count(DISTINCT y) FROM p' ], [ 'p', 'x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM p GROUP BY x' ],
	[ 'p', 'count(*) FROM p WHERE y < 1000 AND n IS NOT NULL AND s > 20' ], [ 'p', 'f, sum(k), avg(b) FILTER (WHERE y < 100000 AND x > 0), min(d), count(*) FROM p WHERE o > 3000000010 GROUP BY f' ],
	[ 'p_3', 'x, max(d) FROM p WHERE id BETWEEN 12000 AND 17999 GROUP BY x' ], [ 'p_2', 't, sum(y) FROM p WHERE id BETWEEN 6000 AND 11999 GROUP BY t' ], [ '', 't, count(*) FROM p GROUP BY t' ], [ '', "x, count(*) FROM p WHERE l LIKE '%a5%' GROUP BY x" ],
	[ '', 'x, sum(ts - ts) FROM p GROUP BY x' ], [ 'p', 'one_text, count(*), sum(y) FROM p JOIN resident_one ON one_id = x GROUP BY one_text' ])
{
	my ($by, $query) = @$case;
	my ($read, $of, $gpu) = plan_of("SELECT $query") =~ /Resident Blocks: (\d+) of (\d+)(?:, (\d+) on the GPU)?/;

	is($gpu // 0, $by ? blocks_of($by) : 0, "partitions, blocks of the GPU: $query") or diag(service_row($node));
	# The empty partition has no blocks.
	cmp_ok($read // 0, '>=', ($gpu // 0) || 1, "partitions, resident: $query");
	is(sql("SELECT resident_answer(q, '{hpsort.device=gpu}') = resident_answer(q, '{hpsort.enable_aggregate=off,hpsort.debug_scan=forbid,hpsort.debug_aggregate=forbid,hpsort.enable_resident=off}') FROM (VALUES (\$q\$SELECT $query\$q\$)) v(q)"),
		't', "partitions: $query");
}
like(plan_of('SELECT x, count(*) FROM p WHERE y < 5000 GROUP BY x'), qr/Rows Removed by Filter: @{[ sql('SELECT count(*) FROM p WHERE y >= 5000') ]}\b/, 'what the filter refuses of all is counted once');
# Rows move; one of the partitions is detached, is read from its pages, or is not declared.
for my $change ('UPDATE p SET id = id + 5000, x = x + 1 WHERE id % 50 = 3', 'DELETE FROM p WHERE id BETWEEN 7000 AND 9000; VACUUM p_2', 'ALTER TABLE p DETACH PARTITION p_2', 'VACUUM p; ALTER TABLE p ATTACH PARTITION p_2 FOR VALUES FROM (6000) TO (12000)',
	"SELECT hpsort_forget('p_4')", "UPDATE p_1 SET y = y", "ALTER TABLE p ADD extra int DEFAULT 5; VACUUM p", 'CREATE TABLE p_6 (LIKE p); ALTER TABLE p ATTACH PARTITION p_6 FOR VALUES FROM (90000) TO (99000)', 'TRUNCATE p_1')
{
	sql($_) foreach split(/; /, $change);
	sql("SELECT resident_warm('p')") if rand() < 0.3;
	compare($change, at_length(8, 30), [], 'p');
}
# Inheritance, with conditions that one table lacks, since they are always true there.
sql("SELECT resident_make('i', 8000)");
sql("CREATE TABLE heir (more int NOT NULL) INHERITS (i); ALTER TABLE heir ALTER n SET NOT NULL; INSERT INTO heir SELECT id, x, y, s, b, d, coalesce(n, 3), f, c, o, e, u, w, ts, p, g, k, t, l, v, z, filler, 1 FROM resident_rows(30001, 36000)");
sql("SELECT hpsort_keep('heir')");
sql('VACUUM ANALYZE i, heir');
sql("SELECT resident_warm('i')");
compare('inheritance', 20, [], 'i');
is(sql("SELECT resident_answer(q, '{hpsort.device=gpu}') = resident_answer(q, '{hpsort.enable_aggregate=off,hpsort.debug_scan=forbid,hpsort.debug_aggregate=forbid,hpsort.enable_resident=off}') FROM (VALUES ('SELECT x, sum(y), count(*) FROM i WHERE n IS NOT NULL GROUP BY x')) v(q)"),
	't', 'a condition that one of the tables lacks');
# Values of which there are many each are counted instead of put in order, whatever is asked of them.
sql("CREATE TABLE repeated AS SELECT CASE WHEN i % 11 > 0 THEN hashint4(i) % 10 END AS x FROM generate_series(1, 60000) i; SELECT hpsort_keep('repeated', 'x')");
sql('VACUUM ANALYZE repeated');
sql("SELECT answer('repeated', 'x'), answer('repeated', 'x'), answer('repeated', 'x')");
foreach my $query ('percentile_disc(array[0, 0.3, 1]) WITHIN GROUP (ORDER BY x), percentile_cont(0.7) WITHIN GROUP (ORDER BY x DESC) FROM repeated',
	'count(DISTINCT x), count(x), count(*), min(x), max(x) FROM repeated', 'x, count(*) FROM repeated GROUP BY x', 'count(*) FROM repeated WHERE x > 3')
{
	like(plan_of("SELECT $query"), qr/on the GPU/, "many of each value, on the GPU: $query") or diag(service_row($node));
	is(sql("SELECT resident_answer(q, '{hpsort.device=gpu}') = resident_answer(q, '{hpsort.enable_aggregate=off,hpsort.debug_scan=forbid,hpsort.debug_aggregate=forbid,hpsort.enable_resident=off}') FROM (VALUES (\$q\$SELECT $query\$q\$)) v(q)"),
		't', "many of each value: $query");
}
is(sql("SELECT count(*) FROM (SELECT x, percentile_disc(2) WITHIN GROUP (ORDER BY y) FROM r WHERE x > 1000000 GROUP BY x) q"), '0',
	'arguments are looked at where there is a group');
like(($node->psql('postgres', 'SELECT x, percentile_disc(2) WITHIN GROUP (ORDER BY y) FROM r GROUP BY x'))[2], qr/percentile value 2 is not between 0 and 1/, 'and then');

# --- The first rows of each group: the GPU finds them, and their blocks alone are read

# Random statements beside core's; each orders its groups' rows in one way only.
sub first_rows
{
	my ($name, $n, $settings) = @_;
	my $of = sub { return $_[int(rand(@_))] };
	my @statements = map {
		my $group = $of->('f', 'c', 's', 'n', 'x', 'f, c', 's, f', '');
		my $key = $of->('y', 'id', 'b', 'd', 'k', 'n', 'u', 'o', 'w', 'ts');
		my $count = $of->('row_number', 'rank', 'dense_rank');
		my $order = $key . $of->('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST') . ($count eq 'row_number' || rand() < 0.3 ? ', id' : '');
		my $where = $of->('', '', 'WHERE y < 40000', 'WHERE n IS NOT NULL AND id > 3000', "WHERE t LIKE '%1%'", 'WHERE y < 0');

		"SELECT count(*), md5(string_agg(q::text, ' ' ORDER BY q::text)) FROM (SELECT id, y, filler, $count() OVER (" . ($group && "PARTITION BY $group ")
			. "ORDER BY $order) AS number FROM r $where) q WHERE number <= " . $of->(1, 1, 2, 3, 10, 'NULL', 0)
	} 1 .. $n;
	my $mine = join('', map { "SET $_;" } 'hpsort.enable_sort = on', 'hpsort.debug_sort = force', @{ $settings // [] });
	my $theirs = 'SET hpsort.debug_sort = forbid; SET hpsort.enable_resident = off; ';
	my @results = map { [ split(/\n/, sql($_ . join(';', @statements))) ] } $mine, $theirs;
	my $right = grep { $results[0][$_] eq $results[1][$_] } 0 .. $#statements;

	is($right, $n, "$name: first rows") or diag("seed $seed\n" . join("\n", map { $statements[$_] } grep { $results[0][$_] ne $results[1][$_] } 0 .. $#statements));
	return;
}
sub first_plan
{
	my ($window, $where, $settings, $rest) = @_;

	return plan_of("SELECT * FROM (SELECT id, filler, $window AS number FROM r" . ($rest // '') . ") q WHERE number <= $where", [ 'hpsort.enable_sort = on', 'hpsort.debug_sort = force', @{ $settings // [] } ]);
}
first_rows('looked up', at_length(60, 300));
first_rows('where it pays', 15, ['hpsort.device = auto']);
first_rows('little work_mem', 15, ['work_mem = 64']);
for my $window ('row_number() OVER (PARTITION BY f ORDER BY y)', 'rank() OVER (PARTITION BY f, c ORDER BY id DESC)', 'dense_rank() OVER (ORDER BY k)')
{
	my $plan = first_plan($window, 2);
	my ($read, $gpu) = $plan =~ /Resident Blocks: (\d+) of \d+, (\d+) on the GPU/;

	cmp_ok($gpu // 0, '>', $blocks / 2, "most blocks are the GPU's: $window") or diag($plan);
	is($read // 0, $blocks, "and all are in memory: $window");
	like($plan, qr/Keys: 20000\b/, "all rows are counted: $window") or diag($plan);
}
like(first_plan('rank() OVER (PARTITION BY f ORDER BY y)', 2, [], ' WHERE id > 5000'), qr/Rows Removed by Filter: 5000\b/, 'and those that the filter refuses, once');
unlike(first_plan($_, 2), qr/on the GPU/, "not by the GPU: $_") for 'row_number() OVER (PARTITION BY f)', 'row_number() OVER (PARTITION BY f ORDER BY g)', 'dense_rank() OVER (PARTITION BY u ORDER BY y)';
is(sql("SET hpsort.enable_sort = on; SET hpsort.debug_sort = force; SELECT count(*) FROM (SELECT id, rank() OVER (PARTITION BY f ORDER BY y) AS number FROM r WHERE y < -1) q WHERE number <= (SELECT 1 / (count(*) - count(*)) FROM r)"), '0',
	'what is counted to is computed where there is a row');
like(($node->psql('postgres', 'SET hpsort.enable_sort = on; SET hpsort.debug_sort = force; SELECT count(*) FROM (SELECT id, rank() OVER (PARTITION BY f ORDER BY y) AS number FROM r) q WHERE number <= (SELECT 1 / (count(*) - count(*)) FROM r)'))[2],
	qr/division by zero/, 'and then');

# --- Several GPUs, among which the extents are divided: the same questions, and more of the service

# A gigabyte of a table in a row is on one GPU; here, each extent is on the next one.
foreach my $devices (@{ at_length([ 2, 3 ], [ 2, 3, 8 ]) })
{
	configure($node, stub => "devices:$devices", 'hpsort.gpu_devices' => join(',', 0 .. $devices - 1), 'hpsort.resident_gpu_stripe' => '1MB');
	wait_running($node);
	wait_for('the stripe', sub { sql('SHOW hpsort.resident_gpu_stripe') eq '1MB' });
	# Different keys of a range of more than 2^24 are counted in memory, after a job that is not supported.
	my $before = service($node, 'fallbacks - unsupported');
	same("$devices GPUs", 't', $devices == 2 ? @columns : qw(x n));
	compare("$devices GPUs, filled", 20);
	cmp_ok(compare("$devices GPUs", at_length(80, 300)), '>', 10 * 250, "$devices GPUs: many by the GPU");
	compare("$devices GPUs, little work_mem", 20, ['work_mem=64kB']);
	compare("$devices GPUs, where it pays", 20, ['hpsort.device=auto']);
	first_rows("$devices GPUs", at_length(20, 100));
	# Of so few extents eight may not all have one.
	cmp_ok(sql('SELECT count(*) FROM hpsort_devices() WHERE resident_extents > 0'), $devices > 3 ? '>' : '==', $devices > 3 ? 3 : $devices, "$devices GPUs: they have extents") or diag(sql('SELECT * FROM hpsort_devices()'));
	foreach my $query ('x, percentile_disc(array[0, 0.5, 1]) WITHIN GROUP (ORDER BY y), min(y), max(y), count(*) FROM r GROUP BY x', 'x, sum(y), avg(y), count(y) FROM r GROUP BY x',
		'percentile_cont(array[0.1, 0.9]) WITHIN GROUP (ORDER BY y), sum(y), count(DISTINCT y) FROM r', 'f, s, count(*) FROM r GROUP BY f, s', 't, percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM r GROUP BY t',
		'x, sum(y), percentile_disc(0.3) WITHIN GROUP (ORDER BY d) FROM r WHERE n > 3 GROUP BY x', 'one_text, count(*), sum(y) FROM r JOIN resident_one ON one_id = x GROUP BY one_text', 'x, count(*) FROM r GROUP BY x')
	{
		like(plan_of("SELECT $query"), qr/Resident Blocks: $blocks of \d+, $blocks on the GPU/, "$devices GPUs: $query") or diag(service_row($node));
		is(sql("SELECT resident_answer(q, '{hpsort.device=gpu}') = resident_answer(q, '{hpsort.enable_aggregate=off,hpsort.debug_scan=forbid,hpsort.debug_aggregate=forbid,hpsort.enable_resident=off}') FROM (VALUES (\$q\$SELECT $query\$q\$)) v(q)"),
			't', "$devices GPUs, right: $query");
	}
	is(service($node, 'fallbacks - unsupported'), $before, "$devices GPUs: nothing has failed") or diag(service_row($node));
	my $extents = sql('SELECT sum(resident_extents) FROM hpsort_devices()');
	same("$devices GPUs, again", 't', 'x');
	is(sql('SELECT sum(resident_extents) FROM hpsort_devices()'), $extents, "$devices GPUs: nothing is brought twice");
}
# One of the jobs fails, or all at once; a GPU has no room; a statement is cancelled.
configure($node, stub => 'devices:3', 'hpsort.gpu_devices' => '0,1,2');
wait_running($node);
my $divided = 'SELECT md5(string_agg(q::text, \' \' ORDER BY x)) FROM (SELECT x, percentile_disc(array[0.1, 0.5]) WITHIN GROUP (ORDER BY y), sum(y), count(*) FROM r GROUP BY x) q';
my $whole = sql("$core $divided");
my $nth = 0;
foreach my $fault (@{ at_length([qw(kill:rows:2 oom:finish:2 oom:look:3 wrong:look:2 sticky:rows:3 hang:finish:2 nochunks:chunk:3 garbage:look:4)],
	[ map { my $kind = $_; map { "$kind:$_:" . (1 + $nth++ % 3) } qw(open rows finish look) } qw(kill oom garbage sticky hang) ]) })
{
	configure($node, stub => "devices:3,$fault", 'hpsort.gpu_wait_timeout' => $fault =~ /hang|nochunks/ ? '400ms' : '20s');
	wait_for('service with the fault', sub { service($node, 'state') eq 'running' });
	my $fallbacks = service($node, 'fallbacks');
	my $met = 0;
	for (1 .. 2)
	{
		my ($rc, $answer, $error) = $node->psql('postgres', "$connected SET hpsort.device = gpu; $divided");

		# Memory answers, whose pairs are then sorted by this device, or there is the error of one that is insisted on.
		ok($answer eq $whole || $error =~ /HINT:  Set hpsort.device to "auto"/, "several GPUs, $fault: right") or diag("$answer\n$error");
		$met += $error ne '';
	}
	# Errors are no fallbacks.
	cmp_ok(service($node, 'fallbacks') + $met, '>', $fallbacks, "several GPUs, $fault: it was met, and counted") if $fault !~ /oom:(rows|open)/;
	configure($node, stub => 'devices:3', 'hpsort.gpu_wait_timeout' => '20s');
	wait_running($node);
	is(sql("$connected SET hpsort.device = gpu; $divided"), $whole, "several GPUs, $fault: and the next one");
}
foreach my $point (qw(rows look finish))
{
	configure($node, stub => "devices:3,slow:$point:0:2000");
	wait_for('service with the fault', sub { service($node, 'state') eq 'running' });
	like(($node->psql('postgres', "SET statement_timeout = '300ms'; SET hpsort.device = gpu; $divided"))[2], qr/canceling statement due to statement timeout/, "several GPUs, cancelled: slow at $point");
}
configure($node, stub => 'devices:3', 'hpsort.resident_gpu_memory' => '1MB');
wait_running($node);
compare('several GPUs, little memory', 20);
configure($node, stub => '', 'hpsort.gpu_devices' => 'auto', 'hpsort.resident_gpu_stripe' => '1GB', 'hpsort.resident_gpu_memory' => '16MB');
wait_running($node);
sql("SELECT resident_warm('r')");
my $failed = service($node, 'fallbacks');

# The planner wants no workers for it.
my @parallel = ('hpsort.debug_aggregate = allow', 'hpsort.device = auto', 'hpsort.cost_factor = 1', 'max_parallel_workers_per_gather = 2', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
	'min_parallel_table_scan_size = 0');
sql('CREATE TABLE wide AS SELECT (hashint8(i) & 1023)::int AS x, (hashint8(-i) & 262143)::int AS y FROM generate_series(1, 400000) i');
sql("SELECT hpsort_keep('wide', 'x', 'y')");
sql('VACUUM ANALYZE wide');
sql('SELECT count(*) FROM (SELECT x, y, count(*) FROM wide GROUP BY x, y OFFSET 0) q') for 1 .. 3;
# Star joins with auto: only where the rows are many beside the values of the keys.
sql('CREATE TABLE starred AS SELECT (hashint8(i) & 16383)::int AS many, (hashint8(i + 1) & 1023)::int AS few, (hashint8(-i) & 262143)::int AS y FROM generate_series(1, 150000) i');
sql("CREATE TABLE star_of AS SELECT i AS id, 'text ' || i % 70 AS text FROM generate_series(0, 16383) i; ALTER TABLE star_of ADD PRIMARY KEY (id); SELECT hpsort_keep('starred', 'many', 'few', 'y')");
sql('VACUUM ANALYZE starred, star_of');
foreach my $device ('auto', 'gpu')
{
	# Values come to memory, and to the GPU, with the first ones.
	my ($few, $many) = map { my $key = $_; (map { plan_of("SELECT text, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM starred JOIN star_of ON id = $key GROUP BY text", ["hpsort.device = $device"]) } 1 .. 4)[3] } 'few', 'many';

	like($few, qr/on the GPU/, "$device: few values");
	is($many =~ /on the GPU/, $device eq 'gpu', "$device: many values") or diag($many);
}
sql('DROP TABLE starred, star_of');
my $pairs = 'SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM wide %s GROUP BY x';
plan_of(sprintf($pairs, ''), \@parallel);
unlike(plan_of(sprintf($pairs, $_), \@parallel), qr/Workers/, "no workers: $_") for ('', 'WHERE y > 100000');
like(plan_of(sprintf($pairs, ''), [@parallel, 'hpsort.device = cpu']), qr/Workers Launched/, 'but for memory');

# Rows change.
for my $round (1 .. at_length(3, 6))
{
	my $id = int(rand(20000));

	sql("UPDATE r SET x = x + 1, n = NULL, y = y + 100 WHERE id BETWEEN $id AND $id + " . int(rand(3000)));
	sql("DELETE FROM r WHERE id % 100 = $round; INSERT INTO r SELECT * FROM resident_rows(20000 + $round * 50, 20049 + $round * 50)");
	sql('VACUUM r') if $round % 2 == 0;
	compare("changed, round $round", 25, $round % 3 == 1 ? ['work_mem=64kB'] : []);
	first_rows("changed, round $round", 12);
	is(sql("SELECT count(*), sum(differing) FROM hpsort_resident_check('r')"), '22|0', "changed, round $round, checked");
}
is(sql("BEGIN; UPDATE r SET x = 7 WHERE id < 5000; SELECT resident_answer(q, '{hpsort.device=gpu}') = resident_answer(q,
	'{hpsort.enable_aggregate=off,hpsort.debug_scan=forbid,hpsort.debug_aggregate=forbid,hpsort.enable_resident=off}') FROM (VALUES ('SELECT x, max(y), count(*) FROM r GROUP BY x')) v (q)"),
	't', 'own changes are looked up');
my $of_own = "BEGIN; UPDATE r SET y = -y WHERE id < 5000; SELECT md5(string_agg(q::text, ' ' ORDER BY q::text)) FROM (SELECT id, y, rank() OVER (PARTITION BY f ORDER BY y) AS number FROM r) q WHERE number <= 3";
is(sql("SET hpsort.enable_sort = on; SET hpsort.debug_sort = force; $of_own"), sql("SET hpsort.debug_sort = forbid; SET hpsort.enable_resident = off; $of_own"), 'own changes are among the first rows');
is(service($node, 'fallbacks'), $failed, 'nothing has failed') or diag(service_row($node));
sql('VACUUM r');
sql("SELECT resident_warm('r')");

# --- Rows change: other blocks are read from their pages, and the service's copies of these are not used

for my $round (1 .. at_length(2, 4))
{
	my $part = int(rand(60000));
	my $size = 1 + int(rand(3000));

	sql("UPDATE t SET x = x + 1, n = NULL WHERE id BETWEEN $part AND $part + $size");
	same("updated, round $round", 't', 'x', 'n');
	sql('DELETE FROM t WHERE id % 100 = ' . $round);
	same("deleted, round $round", 't', 'y');
	sql('VACUUM t') if $round % 2 == 0;
	same("vacuumed, round $round", 't', 'x', 'b');
}
is(sql("BEGIN; UPDATE t SET x = 7 WHERE id < 20000; SELECT md5(answer('t', 'x')) = md5(answer_of_core('t', 'x'));"), 't', 'own changes');

# --- Memory: little, none, and again

sql('CREATE TABLE big AS SELECT i::int8 * 7919 % 1000 AS x FROM generate_series(1, 600000) i');
sql("ALTER TABLE big ALTER x TYPE int; SELECT hpsort_keep('big', 'x')");
sql('VACUUM big');
sql("CREATE TABLE u AS SELECT * FROM t; SELECT hpsort_keep('u', 'x', 'y', 's', 'b', 'd', 'n')");
sql('VACUUM t; VACUUM u');
warm($_) for qw(t u);
configure($node, 'hpsort.resident_gpu_memory' => '1MB');
wait_running($node);
same('little memory', $_, 'x', 'y', 'n') for qw(t u t);
compare('little memory', 25);
compare('little memory, partitions', 8, [], 'p');
sql("SELECT answer('big', 'x')") for 1 .. 3;
my $counted = gpu_blocks('x', 'big');
my $kept = sql("SELECT blocks_valid FROM hpsort_resident WHERE relation = 'big'::regclass");
ok($counted > 0 && $counted < $kept, "as much as fits: $counted of $kept");
is(sql("SELECT md5(answer('big', 'x'))"), sql("SELECT md5(answer_of_core('big', 'x'))"), 'the rest is from memory');
configure($node, 'hpsort.resident_gpu_memory' => '0');
wait_running($node);
same('no memory', 't', 'x', 'n');
compare('no memory', 10);
is(gpu_blocks('x'), 0, 'none there');
configure($node, 'hpsort.resident_gpu_memory' => '16MB');
wait_running($node);
same('memory again', 't', 'x', 'y');
cmp_ok(gpu_blocks('x'), '>', 100, 'it is used');

# --- The service is killed: between queries, and while it takes and adds extents

for my $round (1 .. at_length(1, 3))
{
	kill 'KILL', service($node, 'pid');
	same("killed before, round $round", 't', 'x') if wait_running($node);
	kill 'KILL', service($node, 'pid');
	compare("killed before, round $round", 10) if wait_running($node);
	kill 'KILL', service($node, 'pid');
	compare("killed before, partitions, round $round", 8, ['hpsort.device=auto'], 'p') if wait_running($node);
}

# Each fault at each point: whoever does not insist on the GPU gets the answer from memory.
my $expected = sql("SELECT md5(answer_of_core('big', 'x'))");
my $ask = "$auto SELECT md5(answer('big', 'x'))";
is(sql($ask), $expected, 'captured') for 1 .. 3;
foreach my $fault (@{ at_length([qw(kill:keep garbage:rows)], [qw(kill:keep kill:rows garbage:rows oom:keep sticky:rows hang:rows)]) })
{
	# A service that was just started has no extents, and so both points are met.
	configure($node, stub => $fault, 'hpsort.gpu_wait_timeout' => $fault =~ /hang/ ? '400ms' : '20s');
	wait_for('service with the fault', sub { service($node, 'state') eq 'running' });
	my $fallbacks = service($node, 'fallbacks');
	my $met = 0;
	for (1 .. 5)
	{
		is(sql($ask), $expected, "$fault: right");
		$met = service($node, 'fallbacks') > $fallbacks;
		last if $met || $fault eq 'oom:keep';
	}
	# Without room for an extent the job goes on without it.
	ok($met, "$fault: it was met, and counted") if $fault ne 'oom:keep';
	configure($node, stub => '', 'hpsort.gpu_wait_timeout' => '20s');
	wait_running($node);
	is(sql($ask), $expected, "$fault: and the next one");
}

# The same where rows are looked up.
my $lookup = 'SELECT md5(string_agg(q::text, \' \' ORDER BY x)) FROM (SELECT x, percentile_disc(array[0.1, 0.5]) WITHIN GROUP (ORDER BY y), count(*) FROM wide WHERE y > 1000 GROUP BY x) q';
$expected = sql("$core $lookup");
is(sql("$auto $lookup"), $expected, 'looked up') for 1 .. 2;
# By two jobs, each of which asks where groups begin, and then for sums.
my $several = 'SELECT md5(string_agg(q::text, \' \' ORDER BY x)) FROM (SELECT x, sum(y) FILTER (WHERE y > 50000), avg(y), count(*) FROM wide GROUP BY x) q';
my %answers = ($lookup => $expected, $several => sql("$core $several"));
foreach my $fault (@{ at_length([qw(kill:look kill:look:4 oom:rows wrong:look)], [qw(kill:rows kill:look kill:look:2 kill:look:4 oom:look:3 oom:finish:2 garbage:rows garbage:look short:look oom:rows oom:look sticky:rows sticky:look wrong:look oom:finish nochunks:chunk hang:rows hang:look oom:keep)]) })
{
	configure($node, stub => $fault, 'hpsort.gpu_wait_timeout' => $fault =~ /hang|nochunks/ ? '400ms' : '20s');
	wait_for('service with the fault', sub { service($node, 'state') eq 'running' });
	my $fallbacks = service($node, 'fallbacks');
	my $met = 0;
	my $query = $fault =~ /look:[34]|finish:2/ ? $several : $lookup;
	# Of so few rows, memory would add up the sums.
	my $ask_it = $query eq $several ? 'SET hpsort.device = gpu;' : $auto;
	for (1 .. 5)
	{
		is(sql("$ask_it $query"), $answers{$query}, "$fault: looked up right");
		$met = service($node, 'fallbacks') > $fallbacks;
		last if $met || $fault eq 'oom:keep';
	}
	ok($met, "$fault: it was met, and counted") if $fault ne 'oom:keep';
	cmp_ok(service($node, 'protocol'), '>', 0, "$fault: as answers that cannot be") if $fault eq 'wrong:look';
	configure($node, stub => '', 'hpsort.gpu_wait_timeout' => '20s');
	wait_running($node);
	is(sql("$ask_it $query"), $answers{$query}, "$fault: and the next one");
}

# Cancelled while the service works: the next statement finds all as it was.
foreach my $point (qw(rows look finish))
{
	configure($node, stub => "slow:$point:0:2000");
	wait_for('service with the fault', sub { service($node, 'state') eq 'running' });
	my ($rc, $out, $err) = $node->psql('postgres', "SET statement_timeout = '300ms'; SET hpsort.device = gpu; $lookup");
	like($err, qr/canceling statement due to statement timeout/, "cancelled: slow at $point");
	configure($node, stub => '');
	wait_running($node);
	is(sql("$auto $lookup"), $expected, "slow at $point: and the next one");
}

# Extents that are given up while the service is asked for them, and made anew of what has changed meanwhile: what it lacks cannot be
# brought any more, and what it has is not used, as it is killed.  Their blocks are read from pages, with the rows of the query's snapshot.
# So are the rows where the service has answered with numbers of values that have been given up.
sql("CREATE TABLE worded AS SELECT (hashint4(i) & 1023)::int AS x, 'word ' || (hashint4(-i) & 255) AS word FROM generate_series(1, 120000) i; SELECT hpsort_keep('worded', 'x', 'word')");
sql('VACUUM ANALYZE worded');
my $words = 'SELECT md5(string_agg(q::text, \' \' ORDER BY word)) FROM (SELECT word, max(x), count(*) FROM worded WHERE word LIKE \'%1%\' AND x >= 0 GROUP BY word) q';
sql("SET hpsort.device = gpu; $words") for 1 .. 3;
my %asked = (
	numbers => [ 'worded', "'x', 'word'", $words ],
	rows => [ 'wide', "'x', 'y'", $lookup ],
	extents => [ 'big', "'x'", 'SELECT md5(string_agg(q::text, \' \' ORDER BY x)) FROM (SELECT x, count(*) FROM big GROUP BY x) q' ]);
foreach my $point (sort keys %asked)
{
	my ($table, $columns, $query) = @{ $asked{$point} };
	my $asking = ($point eq 'numbers' ? 'SET hpsort.device = gpu;' : $auto) . " $query";

	# A service that was just started has none: it is asked, is given them, and is asked again; the third time is the next query's.
	foreach my $time (1, 3)
	{
		my $name = "given up, $point asked for the time $time";
		my $answer = sql("$core $query");

		configure($node, stub => "slow:rows:$time:3000");
		wait_for('service with the fault', sub { service($node, 'state') eq 'running' });
		is(sql($asking), $answer, "$name: before") if $time == 3;
		my $victim = open_session($node);
		$victim->{in} .= "$asking;\n\\echo done\n";
		ok(wait_for('waiting', sub {
			$victim->{run}->pump_nb;
			return sql("SELECT wait_event_type FROM pg_stat_activity WHERE pid = $victim->{pid}") eq 'Extension';
		}), "$name: it waits");
		sleep 0.3;
		sql("SELECT hpsort_forget('$table'); SELECT hpsort_keep('$table', $columns); UPDATE $table SET x = x + 1 WHERE ctid < '(" . 20 * $time . ",0)'");
		sql("SET hpsort.device = cpu; $query") for 1 .. 3;
		cmp_ok(sql("SELECT min(blocks_valid) FROM hpsort_resident WHERE relation = '$table'::regclass"), '>', 500, "$name: there are others");
		kill 'KILL', service($node, 'pid') if $time == 3 && $point ne 'numbers';
		GpuService::pump_session($victim, sub { $victim->{out} =~ s/^done\n//m }, $query);
		like($victim->{out}, qr/^\Q$answer\E$/m, "$name: right");
		$victim->{run}->kill_kill;
		configure($node, stub => '');
		wait_running($node);
		sql("VACUUM $table");
		isnt(sql($asking), $answer, "$name: the next one has what has changed");
		is(sql($asking), sql("$core $query"), "$name: and is right") for 1 .. 3;
	}
}

# --- The server crashes, and its LSNs and generations are given anew: what the service had is forgotten

sql('CHECKPOINT');
for my $round (1 .. at_length(1, 2))
{
	my $pid = sql('SELECT pid FROM pg_stat_activity WHERE backend_type = \'checkpointer\'');

	kill 'KILL', $pid;
	# A psql that is refused may be gone before it is asked.
	wait_for('the server is up again', sub { my $pids = eval { ($node->psql('postgres', 'SELECT pid FROM pg_stat_activity'))[1] } // ''; return $pids ne '' && !grep { $_ == $pid } split /\n/, $pids; });
	wait_running($node);
	# The same generations are now those of another table's extents.
	warm($round % 2 ? 'u' : 't');
	warm($round % 2 ? 't' : 'u');
	same("after a crash, round $round", $_, 'x', 'n') for qw(u t);
	sql("SELECT resident_warm('r')");
	compare("after a crash, round $round", 20);
	cmp_ok(gpu_blocks('x', $_), '>', 100, "used again: $_") for qw(t u);
}

$node->stop;
is(scalar(services_alive($node)), 0, 'no service is left');
done_testing();
