# ORDER BY beyond work_mem: what HpSort writes to temporary files, beside core's
# sort of the same rows, and that the rows are right however they come: in
# order, up or down, nearly so, in clusters, by chance, with few keys or many.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();

my $rows = $ENV{HPSORT_TEST_ROWS} // 20000;
my $node = start_cluster('spill');

# Rows of a sample are copied.  Tables are in a schema, and the views of this name are samples of them;
# 021_order_in_place.pl has more of rows in place.
my $in_place = 'SET search_path = placed, public';

sub sql { return $node->safe_psql('postgres', join('', @_)); }

# A row of each kind of order, as i counts up; id is unique.
sql(<<"SQL");
CREATE FUNCTION chance(i int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT (hashint8extended(i, $seed) & 2147483647)::int';
CREATE SCHEMA placed;
CREATE TABLE placed.t AS SELECT i AS id, i AS up, -i AS down, i / 7 AS steps, i + chance(i) % 500 AS nearly,
	i - i % 4000 + chance(i) % 4000 AS windows, (chance(i / 700) * 1000::int8 + i % 700) AS clusters,
	chance(i) AS chaos, chance(i + 1) % 5 AS few, chance(i + 2) % 1000 AS many, i::int8 * 1000000007 AS long_up,
	hashint8extended(i, $seed) AS long_any, CASE WHEN chance(i + 3) % 3 > 0 THEN NULL ELSE chance(i) END AS often_null,
	CASE WHEN i % 50 = 0 THEN chance(i) ELSE 7 END AS heavy, 'row ' || chance(i + 4) % 5000 AS label,
	CASE chance(i + 5) % 12 WHEN 0 THEN 'new' WHEN 1 THEN 'paid' WHEN 2 THEN 'packed' WHEN 3 THEN NULL ELSE 'returned' END AS status,
	CASE chance(i + 6) % 5 WHEN 0 THEN 'beginning' WHEN 1 THEN 'beginnings' ELSE 'end' END AS begins
FROM generate_series(1, $rows) i;
CREATE TABLE placed.wide AS SELECT *, repeat(md5(id::text), 12) AS filler FROM placed.t;
VACUUM ANALYZE placed.t, placed.wide;
CREATE VIEW t AS SELECT * FROM placed.t TABLESAMPLE system (100);
CREATE VIEW wide AS SELECT * FROM placed.wide TABLESAMPLE system (100);
CREATE FUNCTION disk(mode text, query text) RETURNS int8 LANGUAGE plpgsql AS \$\$
DECLARE
	node json;
BEGIN
	PERFORM set_config('hpsort.debug_sort', mode, true);
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT json) ' || query INTO node;
	node := node -> 0 -> 'Plan';
	IF (node ->> 'Custom Plan Provider' IS NOT NULL) <> (mode = 'force') THEN
		RAISE EXCEPTION 'not the sort that was asked for: %', node;
	END IF;
	RETURN CASE WHEN node ->> 'Sort Space Type' = 'Disk' THEN node ->> 'Sort Space Used' ELSE '0' END;
END \$\$;
-- Rows in order, each with all those before it.
CREATE FUNCTION digest(mode text, query text) RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	result text;
BEGIN
	PERFORM set_config('hpsort.debug_sort', mode, true);
	EXECUTE format('SELECT md5(string_agg(id || label || chaos, '';'')) FROM (%s) q', query) INTO result;
	RETURN result;
END \$\$;
SQL

# --- how much is written: a fifth more than core at most

my @orders = ('up', 'down', 'steps', 'nearly', 'windows', 'clusters', 'chaos', 'few', 'many', 'long_up', 'long_up DESC', 'long_any', 'often_null',
	'often_null DESC', 'heavy', 'steps, chaos', 'few, many', 'few, many, chaos', 'many, nearly', 'nearly, few, many', 'few, label', 'many, label', 'up, label',
	'clusters, few, label', 'heavy, label', 'few IS NULL, label', 'long_any, label', 'status', 'status DESC', 'begins', 'few, status', 'status, begins');
my ($largest, $what) = (0, '');

sub compare_sizes
{
	my ($memory, @queries) = @_;
	my $values = join ', ', map { "(\$\$$_\$\$)" } @queries;
	my $wrong = '';

	for my $line (map { split /\n/, sql("$_; SET work_mem = '$memory'; SELECT disk('forbid', q), disk('force', q), q FROM (VALUES $values) v(q)") } $in_place, 'RESET search_path')
	{
		my ($core, $ours, $query) = split /\|/, $line;

		$wrong .= "$query: $ours kB, core $core\n" if $ours > 1.2 * $core;
		($largest, $what) = ($ours / $core, "$query, work_mem $memory") if $core > 0 && $ours / $core > $largest;
	}
	is($wrong, '', "temporary files, work_mem $memory");
}

for my $memory (@{ at_length([ '64kB' ], [ '64kB', '256kB', '1MB' ]) })
{
	compare_sizes($memory, (map { my $o = $_; map { "SELECT * FROM $_ ORDER BY $o" } 't', 'wide' } @orders),
		map { my ($key) = /(\w+)/; ("SELECT $key FROM t ORDER BY $_", "SELECT $key, id FROM t ORDER BY $_") } grep { !/,|label|status|begins/ } @orders);
}
compare_sizes('4MB', map { "SELECT * FROM wide ORDER BY $orders[$_]" } grep { $_ % at_length(4, 1) == 0 } 0 .. $#orders);
diag(sprintf('largest: %.2f of core\'s, %s', $largest, $what));

# --- the same rows as core's, of all of these; rows of equal keys as they came, keys left to core or not

for my $settings ("SET work_mem = '64kB'", at_length(undef, "SET work_mem = '200kB'") // (), "SET work_mem = '64kB'; $in_place")
{
	my $values = join ', ', map { "(\$\$SELECT * FROM t ORDER BY $_\$\$)" } @orders;

	is(sql("$settings; SELECT q FROM (VALUES $values) v(q) WHERE digest('forbid', q || ', id') <> digest('force', q)"), '', "rows, $settings");
}
for my $order ('windows', 'nearly, few, many', 'few IS NULL, label')
{
	is(sql("SET work_mem = '1MB'; SET hpsort.debug_sort = force; SELECT count(*), count(*) FILTER (WHERE filler <> repeat(md5(id::text), 12))
		FROM (SELECT * FROM wide ORDER BY $order OFFSET 0) q"), "$rows|0", "wide rows, $order");
}

# --- most rows are written once and read once

for my $order ('few', 'heavy', 'status', 'status DESC')
{
	my $plan = sql("SET work_mem = '256kB'; SET hpsort.debug_sort = force; EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM wide ORDER BY $order");
	my ($disk) = $plan =~ /HpSort.*Disk: (\d+)kB/s;
	my ($read, $written) = $plan =~ /temp read=(\d+) written=(\d+)/;

	# Segments that are more than are merged at once are written, and read, once more.
	cmp_ok(8 * $_->[1], '<', 2 * $disk, "$order: blocks $_->[0]") for [ read => $read ], [ written => $written ];
}

# --- what suffices for core suffices

for my $query ('SELECT * FROM t ORDER BY steps, chaos', 'SELECT * FROM t ORDER BY windows', 'SELECT * FROM wide ORDER BY few, label', 'SELECT * FROM t ORDER BY few IS NULL, label')
{
	for my $scroll ('NO SCROLL', 'SCROLL')
	{
		# what there is on disk when all has been read
		my %bytes = map { $_ => sql(<<"SQL") } 'forbid', 'force';
SET work_mem = '128kB'; SET hpsort.debug_sort = $_; BEGIN;
DECLARE c $scroll CURSOR FOR $query;
MOVE FORWARD ALL FROM c;
SELECT sum(size) FROM pg_ls_tmpdir();
SQL
		cmp_ok($bytes{force}, '>', 0, "$scroll: $query: on disk");
		cmp_ok($bytes{force}, '<', 1.2 * $bytes{forbid}, "$scroll: $query: not more than core's");
		my $limit = int($bytes{forbid} * 1.2 / 1024);
		is(sql("SET work_mem = '128kB'; SET hpsort.debug_sort = force; SET temp_file_limit = $limit; BEGIN; DECLARE c $scroll CURSOR FOR $query; MOVE FORWARD ALL FROM c; SELECT 'enough'"),
			'enough', "$scroll: $query: temp_file_limit of ${limit}kB");
	}
}

# --- rows so large that few of them fit into memory, and how often they are written

sql(<<"SQL");
CREATE TABLE placed.large (id int, one int, name text, filler text);
ALTER TABLE placed.large ALTER filler SET STORAGE PLAIN;
INSERT INTO placed.large SELECT i, 1, lpad(i::text, 8, '0'), repeat('f', 6000) FROM generate_series(1, 400) i;
ANALYZE placed.large;
CREATE VIEW large AS SELECT * FROM placed.large TABLESAMPLE system (100);
SQL
for my $order ('name', 'name DESC', 'md5(name)')
{
	my $query = "SELECT * FROM large ORDER BY one, $order";
	my ($written) = sql("SET work_mem = '64kB'; SET hpsort.debug_sort = force; EXPLAIN (ANALYZE, BUFFERS) $query") =~ /written=(\d+)/;

	cmp_ok($written, '<', 12 * 400, "large rows are not written again and again: $order");
	my @got = map { sql("SET work_mem = '64kB'; SET hpsort.debug_sort = $_; SELECT md5(string_agg(id::text, ' ')) FROM ($query OFFSET 0) q") } 'forbid', 'force';
	is($got[1], $got[0], "large rows: $order");
}

# --- rows in order, then by chance

sql(<<"SQL");
CREATE TABLE placed.turns AS SELECT CASE WHEN i <= 100000 THEN i * 10 ELSE chance(i) % 1000000 END AS k, i AS id FROM generate_series(1, 200000) i;
ANALYZE placed.turns;
CREATE VIEW turns AS SELECT * FROM placed.turns TABLESAMPLE system (100);
SQL
{
	my $bytes = (split /\n/, sql("SET work_mem = '64kB'; SET hpsort.debug_sort = force; BEGIN; DECLARE c NO SCROLL CURSOR FOR SELECT * FROM turns ORDER BY k;
		MOVE 1 FROM c; SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name = 'hpsort segments'"))[-1];
	cmp_ok($bytes, '<', 1024 * 1024, 'memory for what is in the file');
	my @got = map { sql("SET work_mem = '64kB'; SET hpsort.debug_sort = $_->[0];
		SELECT md5(string_agg(id::text, ' ')) FROM (SELECT * FROM turns ORDER BY $_->[1] OFFSET 0) q") } ['forbid', 'k, id'], ['force', 'k'];
	is($got[1], $got[0], 'in order, then by chance');

	# The same of keys and places.
	sql('CREATE TABLE placed.gaps AS SELECT *, CASE WHEN id % 4 > 0 THEN k END AS gaps, k::int8 * 1000000007 AS long, CASE WHEN id % 3 > 0 THEN k::int8 * 1000000007 END AS long_gaps FROM placed.turns; ANALYZE placed.gaps');
	for my $key ('k', 'gaps', 'gaps NULLS FIRST', 'gaps DESC', 'gaps DESC NULLS LAST', 'long', 'long_gaps', 'long_gaps DESC', 'k, long_gaps')
	{
		my $settings = "SET work_mem = '200kB'; $in_place; SELECT count(*) FROM gaps";
		like(sql("$settings; SET hpsort.debug_sort = force; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT * FROM gaps ORDER BY $key"), qr/Disk: .*Rows: in place/s, "in place, by $key");
		@got = map { sql("$settings; SET hpsort.debug_sort = $_->[0];
			SELECT md5(string_agg(id::text, ' ')) FROM (SELECT * FROM gaps ORDER BY $_->[1] OFFSET 0) q") } ['forbid', "$key, id"], ['force', $key];
		is($got[1], $got[0], "keys and places in order, then by chance, by $key");
	}
}

# --- cursors that go back, on disk

for my $key ('up', 'chaos', 'often_null', 'heavy', 'label')
{
	for my $columns ('*', $key)
	{
		my $order = $columns eq '*' ? ($key eq 'label' ? 'few, label, id' : "$key, id") : $key;
		next if $columns eq 'label';
		my $moves = join '', map { my $m = ('NEXT', 'PRIOR', 'FIRST', 'LAST', 'FORWARD 300', 'BACKWARD 200', 'ABSOLUTE ' . int(rand($rows)), 'RELATIVE -' . int(rand($rows)),
				'ABSOLUTE -5', 'RELATIVE 0')[ rand(10) ]; "FETCH $m FROM c;\n" } 1 .. 60;
		my @got = map { sql("SET work_mem = '100kB'; SET hpsort.debug_sort = $_; BEGIN; DECLARE c SCROLL CURSOR FOR SELECT $columns FROM t ORDER BY $order;\n$moves") } 'forbid', 'force';

		ok($got[0] eq $got[1] && $got[0] ne '', "SCROLL cursor: $columns by $order") or diag($moves);
		@got = map { sql("SET work_mem = '100kB'; SET hpsort.debug_sort = $_; BEGIN; DECLARE c SCROLL CURSOR FOR SELECT $columns FROM t ORDER BY $order; MOVE FORWARD ALL FROM c; FETCH BACKWARD ALL FROM c") } 'forbid', 'force';
		ok($got[0] eq $got[1] && $got[0] ne '', "backward: $columns by $order");
	}
}

# Groups on both sides of a merge join, larger than memory on one.
for my $key ('few', 'heavy', 'many')
{
	my @got = map { sql("SET work_mem = '64kB'; SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_material = off; SET hpsort.debug_sort = $_;
		SELECT count(*), sum(a.id::int8 * 3 + b.id) FROM (SELECT * FROM t WHERE id % 300 = 0) a JOIN t b USING ($key)") } 'forbid', 'force';

	is($got[1], $got[0], "merge join by $key");
}

# Rows read again, from the start, without a parameter that changes.
for my $order ('heavy, label', 'chaos', 'up')
{
	my @got = map { sql("SET work_mem = '64kB'; SET enable_material = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET hpsort.debug_sort = $_;
		SELECT md5(string_agg(g || ' ' || id, ' ')) FROM generate_series(1, 3) g LEFT JOIN (SELECT id FROM t ORDER BY $order, id OFFSET 1) q ON true") } 'forbid', 'force';

	is($got[1], $got[0], "read again: $order");
}

# --- the planner knows when rows come in order

sql(<<"SQL");
CREATE TABLE long AS SELECT i AS up, -i AS down, i + chance(i) % 500 AS nearly, chance(i) AS chaos FROM generate_series(1, 100000) i;
ANALYZE long;
SQL

# The cost of the sort alone.
sub sort_cost
{
	my ($query) = @_;
	my $plan = sql("SET work_mem = '1MB'; SET hpsort.debug_sort = allow; EXPLAIN $query");
	my ($sort, $scan) = $plan =~ /\.\.([\d.]+) rows.*?\.\.([\d.]+) rows/s;

	like($plan, qr/^Custom Scan \(HpSort\)/, "plan: $query");
	return $sort - $scan;
}

my $any = sort_cost('SELECT * FROM long ORDER BY chaos');
my $up = sort_cost('SELECT * FROM long ORDER BY up');
cmp_ok(abs(sort_cost('SELECT * FROM long ORDER BY down') / $up - 1), '<', 0.01, 'down as up');
cmp_ok(abs(sort_cost('SELECT * FROM long ORDER BY nearly') / $up - 1), '<', 0.05, 'nearly in order');
cmp_ok($up, '>', 1.1 * $any, 'in order, less is gained');
# Before 16 the difference has the cost of a subquery scan in it, which EXPLAIN leaves out.
cmp_ok(abs(sort_cost('SELECT * FROM (SELECT * FROM long OFFSET 0) q ORDER BY up') / sort_cost('SELECT * FROM (SELECT * FROM long OFFSET 0) q ORDER BY chaos') - 1),
	'<', 0.05, 'not a plain scan: nothing is known');

is(sql('SELECT count(*) FROM pg_ls_tmpdir()'), '0', 'no temporary file left');
$node->stop;
is(join('', grep { /PANIC:|TRAP:|terminated by signal|still referenced|leak|resource was not closed/ } split /^/m, slurp_file($node->logfile)), '', 'nothing in the log');
done_testing();
