# WHERE and FILTER on resident columns, and rows by keys that are resident: random filters and some
# special ones, on tables that are changed and vacuumed in between.  Each query is asked through resident columns, through these with
# every use compared with the pages, in parallel, and of core.
#
#	HPSORT_TEST_SEED=N			the same values and filters as the run that printed it
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use ResidentColumns;
use Test::More;

my $seed = random_seed();

# Few buffers, so that tables do not stay in them.
my $node = new_node('where', "shared_buffers = 1MB\n");

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

sub pick
{
	return $_[ int(rand(@_)) ];
}

sql(<<"SQL");
CREATE TYPE mood AS ENUM ('zero', 'b', 'a');
CREATE DOMAIN small AS int2;
CREATE FUNCTION chance(i int, salt int) RETURNS int IMMUTABLE LANGUAGE sql AS \$\$ SELECT (hashint8extended(i, salt) & 2147483647)::int \$\$;
CREATE TABLE f (id int, few small, wide int, late int2, never int, big int8, day date, flag bool, letter "char", o oid, mood mood, at timestamp, price numeric(9, 2), ratio float8, part float4, name text, code uuid, num numeric, other int, filler text) WITH (fillfactor = 80);
CREATE FUNCTION add(first int, last int, salt int) RETURNS void LANGUAGE sql AS \$\$
INSERT INTO f SELECT i, CASE WHEN chance(i, salt) % 10 > 0 THEN (chance(i, salt + 1) % 30)::small END, chance(i, salt + 2) - 1073741824,
	(CASE WHEN i < 5000 THEN i % 700 END)::int2, NULL,
	(CASE chance(i, salt + 4) % 500 WHEN 0 THEN 9223372036854775807 WHEN 1 THEN -9223372036854775808 WHEN 2 THEN NULL ELSE i % 100000 END)::int8,
	date '2000-01-01' + i / 10, CASE WHEN i % 3 > 0 THEN i % 2 = 0 END, chr(1 + chance(i, salt + 7) % 126)::"char", (hashint8extended(i, salt + 8) & 4294967295)::oid,
	(ARRAY['zero', 'b', 'a', NULL])[1 + chance(i, salt + 9) % 4]::mood,
	CASE chance(i, salt + 10) % 300 WHEN 0 THEN '-infinity' WHEN 1 THEN 'infinity' WHEN 2 THEN NULL ELSE timestamp '2024-02-03' + i * interval '7 min' END,
	CASE chance(i, salt + 11) % 300 WHEN 0 THEN 'NaN' WHEN 1 THEN 9999999.99 WHEN 2 THEN -9999999.99 WHEN 3 THEN NULL ELSE chance(i, salt + 12) % 5000 / 100.0 - 10 END,
	CASE chance(i, salt + 13) % 100 WHEN 0 THEN 'NaN' WHEN 1 THEN 'inf' WHEN 2 THEN '-inf' WHEN 3 THEN '-0' WHEN 4 THEN 0 WHEN 5 THEN NULL ELSE chance(i, salt + 14) % 300 / 8.0 - 9 END,
	CASE chance(i, salt + 15) % 100 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 0 WHEN 3 THEN NULL ELSE chance(i, salt + 16) % 300 / 10.0 - 9 END::float4,
	CASE chance(i, salt + 17) % 20 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN repeat('long ', 300) || chance(i, salt + 18) % 9 ELSE 'n' || chance(i, salt + 18) % 200 || repeat('_', i % 3) END,
	CASE WHEN i % 50 > 0 THEN md5((i / 100)::text)::uuid END, (ARRAY[NULL, 1, 1.0, 1.00, 'NaN', 0.5, 1e30])[1 + chance(i, salt + 19) % 7] + i / 9000, i, repeat('f', 40) FROM generate_series(first, last) i \$\$;
SELECT add(1, 12000, $seed);
DELETE FROM f WHERE chance(id, $seed + 20) % 5 = 0 OR id BETWEEN 9000 AND 9500;
SELECT hpsort_keep('f', 'id', 'few', 'wide', 'late', 'never', 'big', 'day', 'flag', 'letter', 'o', 'mood', 'at', 'price', 'ratio', 'part', 'name', 'code', 'num');
CREATE FUNCTION of_core(query text) RETURNS text LANGUAGE plpgsql
	SET hpsort.enable_aggregate = off SET hpsort.debug_scan = forbid SET hpsort.debug_aggregate = forbid SET hpsort.debug_sort = forbid SET hpsort.enable_resident = off SET enable_sort = off AS \$\$
DECLARE result text;
BEGIN EXECUTE query INTO result; RETURN result; END \$\$;
CREATE FUNCTION of_hpsort(query text) RETURNS text LANGUAGE plpgsql SET hpsort.debug_sort = force SET hpsort.debug_aggregate = force AS \$\$
DECLARE result text;
BEGIN EXECUTE query INTO result; RETURN result; END \$\$;
-- What differs: nothing, or the query.
CREATE FUNCTION compare(query text, parallel bool) RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	whole text := 'SELECT md5(string_agg(q::text, '' '' ORDER BY q::text)) FROM (' || query || ' OFFSET 0) q';
	core text := of_core(whole);
	ours text;
BEGIN
	ours := of_hpsort(whole);
	IF ours IS DISTINCT FROM core THEN RETURN 'resident: ' || query; END IF;
	IF parallel THEN
		SET LOCAL max_parallel_workers_per_gather = 2;
		ours := of_hpsort(whole);
		SET LOCAL max_parallel_workers_per_gather = 0;
	END IF;
	RETURN CASE WHEN ours IS DISTINCT FROM core THEN 'parallel: ' || query END;
END \$\$;
-- The blocks that a filter was evaluated on in memory, and whether the rows that it removed are counted right.
CREATE FUNCTION blocks_by(filter text) RETURNS int LANGUAGE plpgsql AS \$\$
DECLARE
	plan jsonb;
	removed int := of_core('SELECT count(*) FROM f') ::int - of_core('SELECT count(*) FROM f WHERE ' || filter)::int;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) SELECT count(*) FROM f WHERE ' || filter INTO plan;
	IF (plan #>> '{0,Plan,Rows Removed by Filter}')::int IS DISTINCT FROM removed THEN
		RAISE 'filter % removed % rows, not %: %', filter, removed, plan #>> '{0,Plan,Rows Removed by Filter}', plan;
	END IF;
	RETURN coalesce((plan #>> '{0,Plan,Resident Blocks}')::int, -1);
END \$\$;
-- Tables that f is joined with: near keys, few of them, keys far apart, all keys.
CREATE TABLE near AS SELECT i::int8 AS k, i % 5 AS g FROM generate_series(-3, 13000) i WHERE i % 7 < 4;
CREATE TABLE few AS SELECT i::int2 AS k, i % 3 AS g FROM generate_series(2, 40) i WHERE i NOT IN (5, 9, 11, 20);
CREATE TABLE far AS SELECT DISTINCT wide AS k, wide % 4 AS g FROM f WHERE id % 4 = 1 UNION SELECT 2147483647, 9;
CREATE TABLE days AS SELECT date '2000-01-01' + i AS k, i % 6 AS g FROM generate_series(0, 900, 3) i;
CREATE TABLE oids AS SELECT DISTINCT o AS k, (o::int8 % 3)::int AS g FROM f WHERE id % 3 = 0;
ALTER TABLE near ADD PRIMARY KEY (k); ALTER TABLE few ADD PRIMARY KEY (k); ALTER TABLE far ADD PRIMARY KEY (k); ALTER TABLE days ADD PRIMARY KEY (k); ALTER TABLE oids ADD PRIMARY KEY (k);
ANALYZE near, few, far, days, oids;
-- Whether a star join is read from memory, and its rows are counted right.
CREATE FUNCTION joined(joins text, filter text) RETURNS text LANGUAGE plpgsql SET hpsort.debug_aggregate = force AS \$\$
DECLARE
	plan jsonb;
	matched int := of_core(format('SELECT count(*) FROM f %s WHERE %s', joins, filter))::int;
BEGIN
	EXECUTE format('EXPLAIN (ANALYZE, FORMAT JSON) SELECT count(*), sum(f.id) FROM f %s WHERE %s', joins, filter) INTO plan;
	-- a row that both would remove is counted where it was removed first
	RETURN format('%s, %s', (plan #>> '{0,Plan,Resident Blocks}')::int > 0, (plan #>> '{0,Plan,Rows Removed by Lookups}')::int +
		coalesce((plan #>> '{0,Plan,Rows Removed by Filter}')::int, 0) - (of_core('SELECT count(*) FROM f')::int - matched));
END \$\$;
ALTER DATABASE postgres SET parallel_setup_cost = 0;
ALTER DATABASE postgres SET parallel_tuple_cost = 0;
ALTER DATABASE postgres SET min_parallel_table_scan_size = 0;
SQL
my $warm = join(';', ('SELECT count(*), sum(id), sum(few), sum(wide), sum(late), sum(never), sum(big), min(day), count(flag), count(letter), count(o), count(mood), max(at), max(price), max(ratio), max(part), max(name), count(DISTINCT code), max(num) FROM f') x 3);
sql('VACUUM ANALYZE f');
start_worker($node);
sql($warm);
my $blocks = sql("SELECT pg_relation_size('f') / 8192");

# --- What is known, and what is not

my @known = (
	'few = 3', 'few <> 3', '3 < few', 'few BETWEEN 2 AND 9', 'few IN (1, 2, 28)', 'few NOT IN (1, 2)', 'few IS NULL', 'few IS NOT NULL AND few > 20::int8',
	'wide > 0::int2', 'wide <= -3000000000', 'wide < 3000000000', 'wide <> 3000000000', 'wide = 2147483647', 'wide > 2147483647', 'wide >= -2147483648', 'wide < -2147483648',
	'big = 2147483647', 'big > 9223372036854775806', 'big >= -9223372036854775808', 'big < -9223372036854775808', 'big IN (1, 9223372036854775807)',
	"at < '2024-03-01'", "at BETWEEN '-infinity' AND '2024-02-10'", "at = 'infinity'", "at IN ('infinity', '2024-02-03 00:07:00')", 'at IS NULL', "at > '-infinity' AND at <> 'infinity'",
	'price < 0', 'price = 1.5', 'price <> 12.34', 'price > 1.005', "price >= 'NaN'", "price < 'NaN'", 'price IN (1, 2.5, 2.505)', 'price NOT IN (0.5, 12)', 'price IS NOT NULL', "price > 1e30",
	'ratio = 0', 'ratio < 0', "ratio <= '-0'", 'ratio > 0', "ratio = 'NaN'", "ratio > 'inf'", "ratio <> '-inf'", "ratio IN (0, 1.5, 'NaN')", 'ratio BETWEEN -1 AND 1::float4', 'ratio IS NULL',
	'part = 0', 'part < 0', 'part > 0.1', 'part = 0.1::float4', 'part = 0.5', 'part >= 0.3::float4', "part < 'NaN'", 'part NOT IN (0, 0.5)', "part BETWEEN '-1e300'::float8 AND 1e300", 'part <> 0.1',
	q(name = 'n3'), q(name <> ''), q('n7__' = name), q(name LIKE '%3%'), q(name NOT LIKE 'n1%'), q(name LIKE 'long%8'), q(name IN ('n1', '', 'n77_')), q(name NOT IN ('n1', 'n2')), q(name ^@ 'n5'), 'name IS NULL', 'name IS NOT NULL',
	q(name < 'n2'), q(name BETWEEN 'n11' AND 'n3'), q(name ~ '^n[0-9]*7_?$'), q(name !~* 'L.NG'), q(name LIKE 'n_'), q(name = 'n1' OR name LIKE 'long%' OR name IS NULL), q(NOT (name >= 'n5')), q(coalesce(name, '') = ''), q(code > '80000000-0000-0000-0000-000000000000'), q(name IS DISTINCT FROM 'n1'),
	'code IS NULL', 'num IS NOT NULL', q(name LIKE 'n%' AND name <> 'n4' AND few > 3), q(name = ANY ('{n1,NULL}')), q(name <> ALL ('{n1,NULL}')),
	'late IS NULL', 'late IS NULL AND late > 3', 'never IS NULL', 'never IS NOT NULL', 'never <> 0', 'late = ANY (ARRAY[1, NULL, 3])', 'late <> ALL (ARRAY[1, NULL, 3])',
	q(late = ANY ('{}'::int[])), q(late <> ALL ('{}'::int[])), 'late = ANY (NULL::int2[])', 'late = NULL::int2',
	"day < '2001-01-01'", "day BETWEEN '2000-06-01' AND '2001-02-03'", "day <> '-infinity'", "day < 'infinity'", "day IN ('2000-01-01', '2000-01-05')",
	'flag', 'NOT flag', 'flag IS TRUE', 'flag IS NOT TRUE', 'flag IS FALSE', 'flag IS NOT FALSE', 'flag IS UNKNOWN', 'flag IS NOT UNKNOWN', 'flag = false', 'flag > false',
	q(letter >= 'x'), q(letter <> 'b'), 'o > 2147483648', 'o < 2147483648', 'o = 0', 'o <> 5', q(mood = 'a'), q(mood <> 'a'), q(mood IN ('a', 'zero')),
	'id BETWEEN 4000 AND 4100', 'id < 0', 'id > 0', 'id > 5 AND few < 20 AND (flag AND wide > 0)',
	'id IN (' . join(', ', map { 11 * $_ } 1 .. 500) . ')', 'few IN (' . join(', ', map { 2 * $_ } 0 .. 14) . ')', 'wide NOT IN (' . join(', ', map { 7919 * $_ - 50000 } 1 .. 30) . ')');
# Of a condition that is NULL the planner may leave no scan.
my @hits = split /\n/, sql(join(';', map { /NULL::/ ? "SELECT $blocks" : "SELECT blocks_by(\$f\$$_\$f\$)" } @known));
cmp_ok($hits[$_], '>=', $blocks * 0.8, 'in memory: ' . substr($known[$_], 0, 60)) for 0 .. $#known;
my @others = ('other > 3', 'few > 3 OR wide > 0', 'few + 1 > 3', 'few > 3 AND filler IS NOT NULL', 'few = wide', 'abs(few) = 3', 'day < timestamp $$2001-01-01$$',
	q(mood > 'b'), 'id < (SELECT 100 FROM f LIMIT 1)', 'ctid > $$(3,1)$$', 'few > 3 AND random() < 2', 'id = ANY (ARRAY[1, 2, few])', 'few::int::oid > 4', 'few > ANY (ARRAY[3, 4])', q(lower(name) = 'n1'), q(name || 'x' > 'n2x'), q(name < 'n3' OR few > 3), 'name > filler');
is(sql(join(';', map { "SELECT blocks_by(\$f\$$_\$f\$)" } @others)), join("\n", ('-1') x @others), 'other filters: by pages');
is(sql(join(';', map { "SELECT compare(\$f\$SELECT few, count(*) FROM f WHERE $_ GROUP BY few\$f\$, true)" } @others)) =~ s/^\n+//r, '', 'and right');

# Of joins, the keys are a condition as well.
my @joins = ('JOIN near ON near.k = f.id', 'JOIN few ON few.k = f.few', 'JOIN far ON far.k = f.wide', 'JOIN near ON near.k = f.big', 'JOIN days ON days.k = f.day', 'JOIN oids ON oids.k = f.o',
	'JOIN few ON few.k = f.late AND few.k > 38', 'JOIN near ON near.k = f.id AND near.g = 2 JOIN few ON few.k = f.few AND few.g <> 1');
my @halves = ('EXISTS (SELECT FROM near WHERE near.k = f.id AND near.g < 3)', 'NOT EXISTS (SELECT FROM few WHERE few.k = f.few)', 'f.wide IN (SELECT k FROM far WHERE g > 0)', 'NOT EXISTS (SELECT FROM far WHERE k = f.wide)',
	'f.late IN (SELECT few FROM f)');
for my $join (@joins)
{
	is(sql("SELECT joined('$join', '$_')"), 't, 0', "$join WHERE $_, in memory") for 'true', 'flag AND f.wide > 0';
}
is(sql(join(';', map { "SELECT compare(\$f\$SELECT flag, count(*), sum(wide), count(late) FROM f WHERE $_ GROUP BY flag\$f\$, false)" } @halves)) =~ s/^\n+//r, '', 'semi and anti joins');

# --- Random filters, while the table changes

sub comparison
{
	my ($column, @values) = @_;

	return $column . ' ' . pick('=', '<>', '<', '<=', '>', '>=') . ' ' . pick(@values) if rand() < 0.5;
	return "$column BETWEEN " . pick(@values) . ' AND ' . pick(@values) if rand() < 0.3;
	return $column . pick(' IS NULL', ' IS NOT NULL') if rand() < 0.3;
	return "$column IN (" . join(', ', map { pick(@values, rand() < 0.1 ? ('NULL') : ()) } 0 .. int(rand(pick(3, 20)))) . ')' if rand() < 0.6;
	return "$column NOT IN (" . join(', ', map { pick(@values) } 0 .. int(rand(20))) . ')';
}

sub clause
{
	return pick(
		comparison('few', -1, 0 .. 31, '70000', '5::int8'), comparison('late', 0 .. 9, map { 70 * $_ } 1 .. 11),
		comparison('wide', 0, -1073741824, 1073741823, map { int(rand(2147483648)) - 1073741824 } 1 .. 9),
		comparison('big', 0, 2147483647, -2147483648, '9000000000', '-9000000000', map { int(rand(12000)) } 1 .. 20), comparison('id', map { int(rand(14000)) } 1 .. 9),
		comparison('day', "'infinity'", "'-infinity'", map { "date '2000-01-01' + " . int(rand(1300)) } 1 .. 9), comparison('never', 1, 2),
		comparison('at', "'infinity'", "'-infinity'", map { "timestamp '2024-02-03' + " . int(rand(14000)) . " * interval '7 min'" } 1 .. 6),
		comparison('price', 0, "'NaN'", 9999999.99, '1e20', map { int(rand(5000)) / 100 - 10 } 1 .. 9), comparison('ratio', 0, "'-0'", "'NaN'", "'inf'", "'-inf'", map { int(rand(300)) / 8 - 9 } 1 .. 9),
		comparison('part', 0, "'-0'", "'NaN'", '0.1', map { (int(rand(300)) / 10 - 9) . '::float4' } 1 .. 9), comparison('letter', "'a'", "'z'", "'0'"), comparison('o', 0, 4294967295, 2147483648, map { int(rand(4294967296)) } 1 .. 4),
		pick('flag', 'NOT flag', 'flag IS NOT TRUE', 'flag IS UNKNOWN', 'flag IS NOT FALSE', 'flag IS NOT NULL'), comparison('name', map { "'$_'" } '', 'n3', 'n11_', 'n199', 'none'), pick("name ~ '1.*1'", "(name > 'n3' OR name IS NULL)", "NOT name LIKE 'n_2'"), "name " . pick('', 'NOT ') . 'LIKE ' . pick("'n1%'", "'%9%'", "'%\\_'", "'long%'"),
		pick("code IS NULL", "num IS NOT NULL", "num > 0.5", "code > '80000000-0000-0000-0000-000000000000'"), pick("mood = 'a'", "mood <> 'zero'", "mood IS NULL", "mood IN ('b', 'zero')"));
}

sub filter
{
	return join(' AND ', map { clause() } 1 .. pick(1, 1, 2, 3));
}

my @changes = (
	sub { "UPDATE f SET few = (few + 1) % 30, other = other + 1 WHERE id % 1000 < " . pick(3, 30) },
	sub { my $first = int(rand(12000)); "DELETE FROM f WHERE id BETWEEN $first AND $first + " . int(rand(300)) },
	sub { my $first = int(rand(30000)); "SELECT add($first, $first + 200, $seed)" },
	sub { 'BEGIN; UPDATE f SET wide = 7 WHERE id % 50 = 3; ROLLBACK' },
	sub { 'UPDATE f SET filler = filler || $$x$$, late = late - 1 WHERE id % 500 = ' . int(rand(500)) },
	sub { 'VACUUM f' },
	sub { 'VACUUM (FREEZE) f' });
for my $round (1 .. 6)
{
	my @queries = map {
		pick(
			'SELECT few AS k, count(*), sum(wide), min(day), count(late) FROM f WHERE ' . filter() . ' GROUP BY few',
			'SELECT count(*), count(late), sum(big), max(id), sum(late - 9), sum(wide + 3) FROM f WHERE ' . filter(),
			'SELECT count(*) FROM f', 'SELECT 7 AS k, name, count(*) FROM f WHERE ' . filter() . ' GROUP BY k, name',
			'SELECT percentile_disc(ARRAY[0, 0.3, 1]) WITHIN GROUP (ORDER BY wide), count(DISTINCT late) FROM f WHERE ' . filter(),
			'SELECT flag, count(*) FILTER (WHERE ' . filter() . '), sum(wide) FILTER (WHERE ' . filter() . ') FROM f WHERE ' . filter() . ' GROUP BY flag',
			'SELECT few AS k, sum(ratio), avg(part), sum(price), avg(price), max(at), min(ratio), max(part) FROM f WHERE ' . filter() . ' GROUP BY few',
			'SELECT ' . pick('at', 'price', 'ratio', 'part', 'big') . ' AS k, count(*), count(id), min(price) FROM f WHERE ' . filter() . ' GROUP BY 1',
			'SELECT ' . pick('name', 'code', 'upper(name)', 'trim_scale(num)', 'length(name)', "name || 'x'") . ' AS k, ' . pick('count(*)', 'count(name), max(code::text), sum(wide)', 'count(DISTINCT name), min(trim_scale(num))', 'array_agg(name ORDER BY name), count(few)',
				'percentile_disc(0.4) WITHIN GROUP (ORDER BY name), mode() WITHIN GROUP (ORDER BY code)', 'sum(length(name) + few), count(*) FILTER (WHERE ' . filter() . ')') . ' FROM f WHERE ' . pick('true', filter()) . ' GROUP BY 1',
			'SELECT ' . pick('name, few', 'flag, num', 'code, name', "name || flag, few") . ', count(*), max(id) FROM f WHERE ' . filter() . ' GROUP BY 1, 2',
			'SELECT DISTINCT ' . pick('name', 'code', 'num', 'name, mood') . ' FROM f WHERE ' . filter(),
			'SELECT count(DISTINCT name), max(name), min(name), mode() WITHIN GROUP (ORDER BY code), count(DISTINCT code) FROM f WHERE ' . pick('true', filter()),
			'SELECT sum(ratio), stddev(part), sum(price) FROM f WHERE ' . filter(),
			'SELECT percentile_cont(0.3) WITHIN GROUP (ORDER BY price), percentile_disc(0.7) WITHIN GROUP (ORDER BY at), count(DISTINCT ratio), sum(big) FROM f WHERE ' . filter(),
			'SELECT count(*) FILTER (WHERE ' . filter() . '), count(*) FILTER (WHERE ' . filter() . ') FROM f',
			map({ 'SELECT ' . (/^JOIN (\w+)/)[0] . '.g AS k, count(*), sum(f.wide), count(DISTINCT f.late) FROM (SELECT * FROM f WHERE ' . filter() . ") f $_ GROUP BY 1" } pick(@joins)),
			'SELECT few AS k, count(*), sum(wide), min(day) FROM f WHERE ' . filter() . ' AND ' . pick(@halves) . ' GROUP BY few',
			'SELECT array_agg(k) FROM (SELECT wide AS k FROM f WHERE ' . filter() . ' ORDER BY wide DESC OFFSET 0) s')
	} 1 .. 20;

	sql("VACUUM f; $warm") if $round % 2;
	sql($changes[ rand @changes ]->()) if $round > 1;
	# Which of equal values of several forms is shown for a group depends on the process that meets it first.
	is(sql(join(';', map { 'SELECT compare($q$' . $_ . '$q$, ' . (/^SELECT (DISTINCT num|flag, num|(ratio|part) AS k)\b/ ? 'false' : pick('true', 'false', 'false')) . ')' } @queries)) =~ s/^\n+//r, '',
		"random filters, round $round");
	is(sql("SELECT count(*), sum(differing) FROM hpsort_resident_check('f')"), '18|0', "random filters, round $round, checked");
}
sql('VACUUM f');
sql($warm);
cmp_ok(sql("SELECT count(*) FROM hpsort_resident WHERE hits > 0"), '==', 18, 'all columns were read from memory');

# --- Parameters: of prepared statements, of PL/pgSQL, of nested loops

my $prepared = 'SELECT count(*), sum(wide), min(id) FROM f WHERE few < $1 AND id > $2 AND day >= $3 AND late = ANY ($4) AND flag = $5';
my @arguments = ("10, 100, '2000-01-03', '{1,2,3,50,300,4000000000}', true", "29, -1, '-infinity', '{7,NULL,8}', false", "3, 9000000000, '2001-01-01', '{}', true",
	"NULL, 5, '2000-01-01', '{1,2}', true", "5, 5, '2000-01-01', NULL, true", "30000, 0, '2000-01-01', '{5,10,15,20,25,30,35,40,45,50,55,60,65}', NULL");
for my $plan ('force_custom_plan', 'force_generic_plan')
{
	my $execute = "PREPARE q(int2, int8, date, int8[], bool) AS $prepared; SET plan_cache_mode = $plan; " . join('; ', map { "EXECUTE q($_)" } @arguments);

	is(sql($execute), sql("SET hpsort.enable_aggregate = off; SET hpsort.debug_scan = forbid; SET hpsort.debug_aggregate = forbid; SET hpsort.enable_resident = off; $execute"), $plan);
	like(sql("PREPARE q(int2, int8, date, int8[], bool) AS $prepared; SET plan_cache_mode = $plan; EXPLAIN (ANALYZE) EXECUTE q($arguments[0])"), qr/Resident Blocks: [1-9]/, "$plan: in memory");
}
sql(q{CREATE FUNCTION loops() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int2; bound record; result text := ''; part text; list int[] := '{}';
BEGIN
	FOR n IN SELECT generate_series(0, 31, 3) LOOP
		SELECT n * 2 AS few, date '2000-01-01' + n * 30 AS day INTO bound;
		SELECT count(*) || ',' || coalesce(sum(wide), 0) INTO part FROM f WHERE few > n AND few <= bound.few AND day > bound.day;
		result := result || ' ' || part;
		list := list || n::int || NULL || n * 20;
		SELECT count(*) || ',' || coalesce(sum(few), 0) INTO part FROM f WHERE late = ANY (list) AND (few <> n) AND big > -n;
		result := result || ' ' || part;
	END LOOP;
	RETURN result;
END $$});
my $loops = 'SELECT loops()';
my $lateral = 'SELECT g, q.* FROM generate_series(-1, 31) g, LATERAL (SELECT count(*), sum(wide), max(day) FROM f WHERE few = g AND flag) q ORDER BY g';
my $initplan = 'SELECT count(*), sum(wide) FROM f WHERE few < (SELECT avg(few)::int FROM f) AND id > (SELECT 100)';
for my $query ($loops, $lateral, $initplan)
{
	my $core = sql("SET hpsort.enable_aggregate = off; SET hpsort.debug_scan = forbid; SET hpsort.debug_aggregate = forbid; SET hpsort.enable_resident = off; SET plan_cache_mode = force_generic_plan; $query");

	is(sql("SET plan_cache_mode = $_; $query"), $core, "$query, $_") for 'auto', 'force_generic_plan';
}
like(sql("EXPLAIN (ANALYZE) $lateral"), qr/Resident Blocks: [1-9]/, 'a nested loop, in memory');

# --- Rows: the first in order, and the first of each group

sql(<<"SQL");
CREATE TABLE h (LIKE f) WITH (fillfactor = 60);
INSERT INTO h SELECT * FROM (SELECT * FROM f ORDER BY id) s;
INSERT INTO h SELECT id + 40000, few, wide - 1, late, never, big, day, flag, letter, o, mood, at, price, ratio, part, name, code, num, other, filler FROM (SELECT * FROM f ORDER BY id) s;
SELECT hpsort_keep('h', 'id', 'few', 'wide', 'late', 'big', 'day', 'flag', 'at', 'price', 'name');
-- Rows with equal keys are in any order: their keys, and whether each row is the one at its place.
CREATE FUNCTION rows_by(query text, key text) RETURNS text LANGUAGE sql AS \$\$
SELECT format('SELECT array_agg(%1\$s), bool_and(s::text = (SELECT h::text FROM h WHERE ctid = place)) FROM (SELECT s, %1\$s, place FROM (%2\$s OFFSET 0) s) t (s, %1\$s, place)', key, query) \$\$;
SQL
my $warm_rows = join(';', ('SELECT sum(id), sum(few), sum(wide), sum(late), sum(big), min(day), count(flag), min(at), max(price), max(name) FROM h') x 3);
sql('VACUUM ANALYZE h');
sql($warm_rows);
my $first = 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT * FROM h ORDER BY wide LIMIT 10';
my $grouped = 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT DISTINCT ON (few) * FROM h ORDER BY few, id';
my $force = 'SET hpsort.debug_sort = force';
my ($resident, $all) = sql("$force; $first") =~ /top-N.*Rows: in place.*Resident Blocks: (\d+) of (\d+)/s;
cmp_ok($resident, '>=', $all - 64, 'the first rows, by keys in memory');
like(sql("$force; $grouped"), qr/First of Group.*Resident Blocks: $resident of $all/s, 'the first of each group');
# Whichever end of the table has the first rows, and with the key alone.
for my $order ('id', 'id DESC', 'wide', 'wide DESC', 'big', 'big DESC NULLS LAST')
{
	# a bigint alone is read by the executor
	for my $list ('*', $order =~ /^(id|wide)/)
	{
		like(sql("$force; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT $list FROM h ORDER BY $order LIMIT 10"), qr/Resident Blocks: $resident of $all/, "$list by $order");
	}
}
like(sql("SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0.1; SET min_parallel_table_scan_size = 0; EXPLAIN SELECT * FROM h ORDER BY id DESC LIMIT 10"),
	qr/^Limit[^\n]*\n *->  Custom Scan \(HpSort\)/, 'no workers for the first rows of keys in memory');
like(sql("SET max_parallel_workers_per_gather = 0; EXPLAIN SELECT DISTINCT wide FROM h"), qr/^Custom Scan \(HpSort Aggregate\)/, 'a sort of all keys takes no place of the scan');
unlike(sql("$force; SELECT * FROM h ORDER BY wide LIMIT 1; EXPLAIN (ANALYZE) SELECT * FROM h ORDER BY wide"), qr/Resident/, 'all rows: pages are read anyway');
my @row_changes = (
	'DELETE FROM h WHERE id % 700 = 3', 'UPDATE h SET few = few - 1 WHERE id % 900 = 5', 'VACUUM h', "INSERT INTO h SELECT * FROM f WHERE id % 60 = 7",
	'UPDATE h SET filler = filler || $$x$$ WHERE id BETWEEN 2000 AND 2300', 'DELETE FROM h WHERE id > 51000', 'VACUUM h', 'UPDATE h SET wide = 7 WHERE id % 90 = 3');
for my $round (0 .. @row_changes)
{
	my @queries = map {
		my $limit = 1 + int(rand(20));
		my $key = pick('wide', 'id', 'few', 'big', 'day', 'late', 'flag', 'at', 'price');
		my $order = $key . pick('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST');
		my $where = 'WHERE ' . pick(('true') x 2, "few > " . int(rand(30)), 'wide < 0 AND flag', 'id > 6000', 'late IS NOT NULL', "name LIKE 'n1%'", "other % 3 = 0");
		pick(
			"SELECT *, ctid FROM h $where ORDER BY $order, id, ctid LIMIT $limit",
			"SELECT few, percentile_disc(0.5) WITHIN GROUP (ORDER BY id), count(*) FROM (SELECT DISTINCT ON (few, id) * FROM h $where ORDER BY few, id, $order) s GROUP BY few",
			"SELECT * FROM (SELECT few, id, ctid, row_number() OVER (PARTITION BY few ORDER BY $order, id, ctid) AS n FROM h $where) s WHERE n <= 3",
			"ROWS $key SELECT h AS s, $key, ctid AS place FROM h $where ORDER BY $order LIMIT $limit",
			"SELECT $key FROM h " . pick('', $where) . " ORDER BY $order LIMIT $limit")
	} 1 .. 10;

	sql($row_changes[ $round - 1 ]) if $round > 0;
	sql($warm_rows) if $round > 0 && $row_changes[ $round - 1 ] =~ /VACUUM/;
	is(sql(join(';', map { (/^ROWS (\w+) (.*)/ ? "SELECT compare(rows_by(\$q\$$2\$q\$, '$1'), " : "SELECT compare(\$q\$$_\$q\$, ") . pick('true', 'false', 'false') . ')' } @queries)) =~ s/^\n+//r,
		'', "rows, round $round");
}
sql('VACUUM h');
sql($warm_rows);
my ($some) = sql("$force; $first") =~ /Resident Blocks: (\d+)/;
my ($keys) = sql('EXPLAIN (ANALYZE) SELECT sum(wide) FROM h') =~ /Resident Blocks: (\d+)/;
cmp_ok($some, '<', $keys - 30, "rows without gaps between them are in $some blocks of $keys");
sql('UPDATE h SET late = late + 1 WHERE id < 4000');
like(sql("$force; $first"), qr/Rows: in place.*Resident Blocks: [1-9]/s, 'other pages are on disk: the few rows stay all the same');
is(sql('SELECT compare($q$SELECT *, ctid FROM h ORDER BY wide, id, ctid LIMIT 10$q$, true)'), '', 'and right');

# --- Who may see a row does not depend on where it is read

sql('CREATE ROLE reader; GRANT SELECT ON f TO reader; ALTER TABLE f ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON f TO reader USING (few < 10);
	CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM f WHERE few < 5');
for my $query ('SELECT few, count(*) FROM f WHERE wide > 0 GROUP BY few ORDER BY few', 'SELECT few, count(*) FROM barrier WHERE wide > 0 GROUP BY few ORDER BY few')
{
	my $grant = 'GRANT SELECT ON barrier TO reader; SET ROLE reader';

	is(sql("$grant; $query"), sql("$grant; SET hpsort.enable_aggregate = off; SET hpsort.debug_scan = forbid; SET hpsort.debug_aggregate = forbid; $query"), "$query under row security");
}

$node->stop;
is(join('', grep { /PANIC:|TRAP:|ERROR:  XX|WARNING:|terminated by signal/ } split /^/m, slurp_file($node->logfile)), '', 'nothing in the log');
done_testing();
