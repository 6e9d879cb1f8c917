# ORDER BY by Custom Scan (HpSort) beside core's own sort, in queries of every
# shape that needs one: each query runs with hpsort forbidden and forced, its
# rows are compared in order, and its plan is looked at.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();

sub pick { return $_[int(rand(@_))]; }

my $node = start_cluster('order', <<'CONF');
hpsort.enable_aggregate = off
enable_hashagg = off
enable_hashjoin = off
CONF
my $version = $node->safe_psql('postgres', "SELECT current_setting('server_version_num')::int / 10000");

sub sql { return $node->safe_psql('postgres', join('', @_)); }

# Runs a query both ways and compares what psql prints.  Options:
#	name		of the test, if not the query
#	set			settings, as SQL
#	any_order	rows are compared as a set
#	plan		what the plan must match, HpSort's Sort Key by default; undef: anything
#	work_mem	list of settings, all tried
sub same
{
	my ($query, %options) = @_;
	my $plan = exists $options{plan} ? $options{plan} : qr/Custom Scan \(HpSort\)/;
	my $set = $options{set} // '';
	my @memory = @{ $options{work_mem} // [ '64kB', '64MB' ] };
	my (undef, $out, $err) = $node->psql('postgres', join("\\echo ----\n", map { <<"SQL" } @memory), on_error_stop => 1);
SET work_mem = '$_';
$set;
BEGIN;
SET LOCAL hpsort.debug_sort = forbid;
$query;
ROLLBACK;
\\echo ----
BEGIN;
SET LOCAL hpsort.debug_sort = force;
$query;
ROLLBACK;
\\echo ----
SET hpsort.debug_sort = force;
EXPLAIN (VERBOSE, COSTS OFF) $query;
SQL
	my @said = split /^----\n/m, $out, -1;

	for my $memory (@memory)
	{
		my $name = ($options{name} // $query) . ", work_mem $memory";
		my ($want, $got, $said) = splice @said, 0, 3;

		if (!$said)
		{
			fail($name);
			diag($err);
			last;
		}
		($want, $got) = map { join '', sort split /^/m } $want, $got if $options{any_order};
		ok($got eq $want, $name) or diag("rows differ, plan\n$said\nfirst of core\n" . substr($want, 0, 400) . "\nfirst of ours\n" . substr($got, 0, 400));
		like($said, $plan, "$name: plan") if defined $plan;
	}
}

# --- A table of everything.  Order by id is the order of the rows.

sql(<<"SQL");
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN year AS int2 CHECK (VALUE > 0);
CREATE TABLE t (id int, gone int, x int, y int8, s int2, d date, m mood, v text, dom year, flag bool);
SELECT setseed(@{[ $seed / 1000000 ]});
INSERT INTO t SELECT i, i,
	CASE WHEN random() > 0.05 THEN (random() * 100)::int - 50 END,
	CASE WHEN random() < 0.01 THEN -9223372036854775808 WHEN random() < 0.01 THEN 9223372036854775807 WHEN random() > 0.1 THEN (random() * 1e15)::int8 END,
	CASE i WHEN 1 THEN -32768 WHEN 2 THEN 32767 ELSE (random() * 65535 - 32768)::int END::int2,
	CASE WHEN random() < 0.1 THEN 'infinity' ELSE date '2001-02-03' + (random() * 60)::int END,
	(ARRAY['sad', 'ok', 'happy', NULL])[1 + floor(random() * 4)]::mood,
	CASE WHEN random() > 0.2 THEN repeat(chr(97 + (random() * 5)::int), (random() * 60)::int) END,
	1 + (random() * 30)::int, random() > 0.5
FROM generate_series(1, 5000) i;
ALTER TABLE t DROP COLUMN gone;
ALTER TABLE t ADD late int DEFAULT 77;
INSERT INTO t SELECT id + 5000, -x, y, s, d, m, v, dom, NOT flag, id % 40 FROM t;
CREATE INDEX t_id ON t (id);
ANALYZE t;
SQL

# --- Shapes

same('SELECT id FROM t ORDER BY x, id');
same('SELECT * FROM t ORDER BY dom DESC, id');
same('SELECT FROM t ORDER BY x', name => 'no columns');
same('SELECT count(*) FROM (SELECT FROM t ORDER BY x OFFSET 17) q', name => 'no columns, counted');
same('SELECT t FROM t ORDER BY m NULLS FIRST, id', name => 'whole rows');
same('SELECT (t).v, t.*::t FROM t ORDER BY s, id');
same('SELECT ctid, tableoid::regclass, xmin, cmin, x FROM t ORDER BY x DESC NULLS LAST, ctid', name => 'system columns');
same('SELECT id FROM t ORDER BY abs(x), y / -3, id', name => 'expressions');
same('SELECT x % 7 AS k, id FROM t ORDER BY k NULLS FIRST, id');
same('SELECT x FROM t ORDER BY x % 7, x');
same('SELECT id FROM t ORDER BY (x IS NULL), id % 10, id');
same('SELECT x AS a, x AS b, x AS a FROM t ORDER BY a, b DESC', name => 'the same column again');
same('SELECT late, id FROM t ORDER BY late, id', name => 'a column that was added');
same('SELECT id, d, m FROM t ORDER BY d DESC, m, v, id');
same('SELECT id FROM t ORDER BY x, v COLLATE "C" DESC, id');
same('SELECT id FROM t ORDER BY x USING >, y USING <, id');
same('SELECT id FROM t WHERE x > 1000 ORDER BY x', name => 'no rows');
same('SELECT id, x FROM t WHERE false ORDER BY x', name => 'no rows, known to the planner', plan => undef);
same('SELECT id, x FROM t WHERE id = 7 ORDER BY x', name => 'one row', plan => undef);
same('SELECT NULL::int AS n, id FROM t ORDER BY n, id', name => 'NULLs only', plan => undef);
same('VALUES (3), (1), (NULL), (2) ORDER BY 1');
same('SELECT id, generate_series(1, x % 4) FROM t ORDER BY x, id, 2', name => 'a set-returning function');
same('SELECT id, unnest(ARRAY[x, s]) AS u FROM t ORDER BY u, id', name => 'sorted by a set-returning function');
same('SELECT generate_series(1, 3) AS g, x FROM t ORDER BY g DESC, x, id LIMIT 50');
same('SELECT x, count(*), sum(y::numeric) FROM t GROUP BY x ORDER BY x');
same('SELECT x, m, count(*) FROM t GROUP BY GROUPING SETS ((x, m), (x), ()) ORDER BY x, m, 3', name => 'grouping sets');
same('SELECT x, s % 3 AS k, count(*) FROM t GROUP BY CUBE (x, s % 3) ORDER BY x, k, 3', name => 'cube');
same('SELECT x, row_number() OVER (PARTITION BY x ORDER BY id) AS n, id FROM t ORDER BY n, x, id', name => 'sorted by a window');
same('SELECT x, count(*) AS n FROM t GROUP BY x ORDER BY n DESC, x', name => 'sorted by an aggregate');
same('SELECT DISTINCT x FROM t');
same('SELECT DISTINCT x, m FROM t ORDER BY m, x DESC');
same('SELECT DISTINCT ON (x) x, id, v FROM t ORDER BY x, id DESC');
same('SELECT DISTINCT ON (m, d) m, d, id FROM t ORDER BY d, m, y, id');
same('SELECT id, row_number() OVER (PARTITION BY x ORDER BY id), lag(id) OVER (ORDER BY m, id), sum(s) OVER (ORDER BY d) FROM t ORDER BY id', name => 'windows');
same('SELECT id, first_value(id) OVER w, count(*) OVER w FROM t WINDOW w AS (PARTITION BY m ORDER BY x, id ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING) ORDER BY id', name => 'a frame');
same('SELECT id, count(*) OVER (ORDER BY x RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING) FROM t ORDER BY id', name => 'a frame by range');
same('SELECT x FROM t UNION SELECT s FROM t WHERE s > 0 ORDER BY 1 DESC');
same('SELECT x, id FROM t UNION ALL SELECT s, -id FROM t ORDER BY 1, 2', name => 'UNION ALL');
same('SELECT x FROM t INTERSECT SELECT s FROM t ORDER BY 1', plan => undef);
same('SELECT s FROM t EXCEPT ALL SELECT x FROM t ORDER BY 1 NULLS FIRST', plan => undef);
same('WITH w AS MATERIALIZED (SELECT * FROM t) SELECT id FROM w ORDER BY x, id');
same('WITH RECURSIVE r(a, b) AS (SELECT 1, 1 UNION ALL SELECT a + 1, (b * 7919) % 997 FROM r WHERE a < 3000) SELECT * FROM r ORDER BY b, a');
same('SELECT * FROM (SELECT id, x FROM t ORDER BY x, id LIMIT 100) q ORDER BY id DESC', name => 'sorted twice');
same('SELECT a.id, (SELECT b.id FROM t b WHERE b.id < a.id AND b.id > a.id - 20 ORDER BY b.s, b.id LIMIT 1 OFFSET a.id % 3) FROM t a WHERE a.id < 400 ORDER BY a.x, a.id', name => 'a correlated subquery');
same('SELECT g, q.id FROM generate_series(1, 40) g CROSS JOIN LATERAL (SELECT id FROM t WHERE id % 40 = g ORDER BY x DESC, id LIMIT g) q', name => 'LATERAL with LIMIT of a parameter');
same('SELECT g, q.x FROM generate_series(1, 20) g CROSS JOIN LATERAL (SELECT x FROM t WHERE id % 20 = g ORDER BY x OFFSET g) q', name => 'LATERAL of keys only');
same('SELECT x FROM t ORDER BY x FETCH FIRST 100 ROWS WITH TIES', name => 'WITH TIES of keys');
same('SELECT x, count(*) FROM (SELECT * FROM t ORDER BY x FETCH FIRST 3 ROWS WITH TIES) q GROUP BY x', name => 'WITH TIES');
same('SELECT id, x FROM t TABLESAMPLE BERNOULLI (30) REPEATABLE (5) ORDER BY x, id');
same('SELECT id FROM t ORDER BY x, id FOR UPDATE', name => 'FOR UPDATE');
same('SELECT array_agg(x ORDER BY x), array_agg(s ORDER BY s DESC), sum(id) FROM t', plan => $version >= 16 ? qr/HpSort/ : undef);
same('SELECT m, array_agg(x ORDER BY x DESC NULLS LAST), string_agg(v, \'\' ORDER BY v) FROM t GROUP BY m ORDER BY m');
same('SELECT count(DISTINCT x), count(DISTINCT y), count(DISTINCT m) FROM t', plan => $version >= 16 ? qr/HpSort/ : undef);
same('SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY x), mode() WITHIN GROUP (ORDER BY s) FROM t', plan => undef);
same('UPDATE t SET late = q.n FROM (SELECT id, row_number() OVER (ORDER BY x, id) AS n FROM t) q WHERE t.id = q.id RETURNING t.id, late', any_order => 1, name => 'UPDATE');
same('DELETE FROM t WHERE id IN (SELECT id FROM t ORDER BY y, id LIMIT 30) RETURNING id', any_order => 1, name => 'DELETE', plan => undef);
same('INSERT INTO t (id, x) SELECT id + 100000, x FROM t ORDER BY x, id RETURNING id, x', name => 'INSERT');

# volatile functions are called once a row, after the sort or in it, as core does
sql('CREATE SEQUENCE numbers; CREATE SEQUENCE others');
same("SELECT setval('numbers', 1, false) * 0; SELECT nextval('numbers') - (SELECT min(id) FROM t), id FROM t ORDER BY x, id",
	name => 'nextval in the list', plan => undef);
same("SELECT setval('others', 1, false) * 0; SELECT nextval('others') % 100 AS n, id FROM t ORDER BY n, id",
	name => 'nextval as the key', plan => undef);
is(sql(q{SET hpsort.debug_sort = force; SELECT count(*) || ' ' || count(*) FILTER (WHERE k < before)
	FROM (SELECT k, lag(k) OVER () AS before FROM (SELECT (random() * 1000)::int AS k FROM t ORDER BY k OFFSET 0) q) q}), '10000 0', 'sorted by random()');

# types that are core's business
same("SELECT id FROM t ORDER BY $_, id", plan => qr/^(?!.*HpSort)/s, work_mem => ['1MB'])
	for qw(ROW(x) x::money);
same('SELECT id FROM t ORDER BY ARRAY[x], id', work_mem => [ '256kB', '1MB' ]);

# types whose values have images, and those that are abbreviated; of texts that depends on the cluster's locale
same("SELECT id FROM t ORDER BY $_, id", work_mem => [ '256kB', '1MB' ])
	for qw(x::numeric x::float8 s::float4 v::bytea), "'10.0.0.0'::inet+id", 'md5(v)::uuid', 'make_interval(days=>x)', 'v COLLATE "C"';
same("SELECT id FROM t ORDER BY $_, id", plan => undef) for qw(v d::timestamp::text);
same("SELECT id FROM t ORDER BY $_, id", work_mem => ['256kB'])
	for 'd::timestamp', 'd::timestamptz', "time '00:00' + make_interval(secs => s)", '(id + 1)::oid', 'v::"char"', 'flag', 'dom', 'y', 'm DESC', 'd';
same('SELECT id FROM t ORDER BY v, x, id', plan => undef, name => 'a text first');

# --- Merge joins: mark and restore, in memory and on disk, outer joins

for my $join ('JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN')
{
	for my $key (qw(s x y))
	{
		# Many duplicates on both sides of x, so that marks are restored all the time.
		my $limit = $key eq 'x' ? 'id <= 700' : 'id <= 4000';

		same("SELECT a.id, b.id FROM (SELECT * FROM t WHERE $limit) a $join (SELECT * FROM t WHERE id % 2 = 0 AND $limit) b ON a.$key = b.$key", any_order => 1,
			set => 'SET enable_nestloop = off; SET enable_material = off',
			plan => qr/Merge (Full |Left |Right )?Join.*HpSort.*HpSort/s);
	}
}
# Of expressions, which the input of the join then returns as well.
for my $join ('JOIN', 'LEFT JOIN', 'FULL JOIN')
{
	same("SELECT a.id, b.id FROM (SELECT * FROM t WHERE id <= 4000) a $join (SELECT * FROM t WHERE id <= 3000) b ON a.s + 1 = b.s * 2 AND a.y / 2 = b.y", any_order => 1,
		set => 'SET enable_nestloop = off; SET enable_material = off',
		plan => qr/Merge (Full |Left |Right )?Join.*HpSort.*Sort Key: [^\n]*\+ 1.*HpSort.*Sort Key: [^\n]*\* 2/s);
}
same('SELECT a.id, abs(b.s::int) FROM t a JOIN t b ON a.id = abs(b.s::int) ORDER BY a.id, b.id', set => 'SET enable_nestloop = off',
	plan => qr/Merge Join.*HpSort.*Sort Key: [^\n]*abs/s);
same('SELECT a.id FROM t a WHERE abs(a.s::int) IN (SELECT b.id % 1000 FROM t b WHERE b.id < 4000) ORDER BY a.id', set => 'SET enable_nestloop = off', plan => qr/HpSort/);
same('SELECT a.id FROM t a WHERE EXISTS (SELECT FROM t b WHERE b.s = a.s AND b.id < a.id) ORDER BY a.id', set => 'SET enable_nestloop = off', plan => qr/HpSort/);
same('SELECT a.id FROM t a WHERE NOT EXISTS (SELECT FROM t b WHERE b.s = a.s AND b.id < a.id) ORDER BY a.id', set => 'SET enable_nestloop = off', plan => qr/HpSort/);
same('SELECT a.id, b.id, c.id FROM t a JOIN t b USING (s) JOIN t c ON b.y = c.y WHERE a.id < 3000', any_order => 1, set => 'SET enable_nestloop = off');

# What a semijoin's Unique compares, and the key's column as it is: the plan's rows have both, the path's the latter only.
sql(<<'SQL');
CREATE DOMAIN small_int AS int2;
CREATE TABLE of_domain (s small_int);
INSERT INTO of_domain SELECT CASE WHEN id % 50 > 0 THEN s / 3 END FROM t WHERE id <= 4500;
ANALYZE of_domain;
SQL
same('SELECT a.id, b.id FROM t a, t b WHERE (a.id, b.id) IN (SELECT s, s + 1 FROM of_domain)', any_order => 1, set => 'SET enable_nestloop = off',
	plan => $version < 19 ? qr/HpSort[^\n]*\n[^\n]*\n *Sort Key: of_domain\.s\n *-> +Unique/ : qr/HpSort/);

# --- Tables of other kinds

sql(<<'SQL');
CREATE TABLE p (id int, x int, note text) PARTITION BY RANGE (x);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (MINVALUE) TO (0);
CREATE TABLE p2 (note text, gone int, x int, id int);
ALTER TABLE p2 DROP COLUMN gone;
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (0) TO (20);
CREATE TABLE p3 PARTITION OF p DEFAULT;
INSERT INTO p SELECT id, x, v FROM t;
ANALYZE p;
CREATE TABLE parent (id int, x int);
CREATE TABLE child (more text) INHERITS (parent);
INSERT INTO parent SELECT id, x FROM t WHERE id % 2 = 0;
INSERT INTO child SELECT id, x, v FROM t WHERE id % 2 = 1;
ANALYZE parent, child;
CREATE TABLE stored (id int, x int, k int GENERATED ALWAYS AS (x % 10) STORED);
INSERT INTO stored SELECT id, x FROM t;
CREATE VIEW seen AS SELECT id, x * 2 AS twice FROM t ORDER BY twice, id;
CREATE MATERIALIZED VIEW kept AS SELECT id, x FROM t;
CREATE UNLOGGED TABLE unlogged AS SELECT id, x FROM t;
CREATE TABLE secret AS SELECT id, x, CASE WHEN id % 2 = 0 THEN 'alice' ELSE 'bob' END AS owner FROM t;
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secret USING (owner = current_user);
CREATE ROLE alice;
GRANT SELECT ON secret TO alice;
SQL
same('SELECT * FROM p ORDER BY x, id', plan => undef);
same('SELECT * FROM p ORDER BY id % 100, id');
same('SELECT x FROM p ORDER BY x DESC', plan => undef);
same('SELECT tableoid::regclass, * FROM p ORDER BY id DESC');
same('SELECT id FROM p WHERE x < 20 ORDER BY note, x, id', plan => undef);
same('SELECT a.id, b.id FROM p a JOIN p b USING (x) WHERE a.id < 300 AND b.id < 300', any_order => 1, set => "SET enable_partitionwise_join = on; SET enable_nestloop = off", plan => undef);
same('SELECT x, count(*) FROM p GROUP BY x ORDER BY x', set => 'SET enable_partitionwise_aggregate = on', plan => undef);
same('SELECT * FROM parent ORDER BY x, id');
same('SELECT x FROM parent ORDER BY x');
same('SELECT * FROM stored ORDER BY k, id');
same('SELECT id FROM seen');
same('SELECT * FROM seen WHERE twice > 3 ORDER BY twice DESC, id LIMIT 99');
same('SELECT id FROM kept ORDER BY x, id');
same('SELECT x FROM unlogged ORDER BY x');
same('SELECT oid, relname FROM pg_class ORDER BY oid');
same('SELECT a, b FROM ROWS FROM (generate_series(1, 500), generate_series(900, 1, -2)) AS f(a, b) ORDER BY b, a');
same("SELECT id, owner FROM secret ORDER BY x, id", set => 'SET ROLE alice', name => 'row-level security');
same("SELECT x FROM secret ORDER BY x", set => 'SET ROLE alice', name => 'row-level security, keys only');
is(sql("SET ROLE alice; SET hpsort.debug_sort = force; SELECT count(*), count(*) FILTER (WHERE owner <> 'alice') FROM (SELECT * FROM secret ORDER BY x OFFSET 0) q"), '5000|0', 'nobody else\'s rows');
if ($version >= 18)
{
	sql('CREATE TABLE virtual (id int, x int, k int GENERATED ALWAYS AS (x % 10) VIRTUAL); INSERT INTO virtual SELECT id, x FROM t; ANALYZE virtual');
	same('SELECT * FROM virtual ORDER BY k, id');
	same('SELECT k FROM virtual ORDER BY k');
	same('SELECT v FROM virtual v WHERE k > 3 ORDER BY v.k DESC, v.id');
}

# --- Statistics that are wrong

for my $type (qw(int2 int4 int8 date))
{
	my $cast = $type eq 'date' ? sub { "date '2000-01-01' + ($_[0])" } : sub { "($_[0])::$type" };
	my %end = (int2 => [ -32768, 32767 ], int4 => [ -2147483648, 2147483647 ], int8 => [ '-9223372036854775808', '9223372036854775807' ], date => [ -2400000, 3000000 ]);
	my ($lo, $hi) = map { "'$_'" } @{ $end{$type} };

	($lo, $hi) = map { "($_)::int" } $lo, $hi if $type eq 'date';
	sql("CREATE TABLE stale_$type (id int, k $type); INSERT INTO stale_$type SELECT i, " . $cast->('i % 10') . " FROM generate_series(1, 3000) i; ANALYZE stale_$type;",
		"INSERT INTO stale_$type SELECT 3000 + i, CASE i % 3 WHEN 0 THEN " . $cast->($lo) . " WHEN 1 THEN " . $cast->($hi) . " END FROM generate_series(1, 300) i;",
		"INSERT INTO stale_$type SELECT 4000 + i, " . $cast->('i * 7919 % 32749') . " FROM generate_series(1, 9000) i");
	same("SELECT * FROM stale_$type ORDER BY k" . pick('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST') . ', id', name => "$type: wider than known");
	same("SELECT k FROM stale_$type ORDER BY k" . pick('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'), name => "$type: keys wider than known");
	same("SELECT k, id FROM stale_$type ORDER BY k, id LIMIT 500", name => "$type: wider than known, LIMIT");
	sql("ANALYZE stale_$type; DELETE FROM stale_$type WHERE k NOT BETWEEN " . $cast->(0) . ' AND ' . $cast->(5));
	same("SELECT * FROM stale_$type ORDER BY k, id", name => "$type: narrower than known");
	same("SELECT k FROM stale_$type ORDER BY k", name => "$type: keys narrower than known");
}
sql('CREATE TABLE more (id int, x int); ANALYZE more; INSERT INTO more SELECT i, hashint4(i) % 100 FROM generate_series(1, 50000) i');
same('SELECT * FROM more ORDER BY x, id', name => 'more rows than known');
same('SELECT x FROM more ORDER BY x', name => 'more keys than known');

# --- Rows of any length: toasted, and larger than any block of the store

sql(<<'SQL');
CREATE TABLE toasted (id int, x int, big text, mid text);
ALTER TABLE toasted ALTER big SET STORAGE EXTERNAL;
INSERT INTO toasted SELECT i, i * 7919 % 50, repeat(md5(i::text), i % 7 * 300), repeat('m', i % 1500) FROM generate_series(1, 2000) i;
ANALYZE toasted;
SQL
same('SELECT id, x, md5(big), length(mid) FROM toasted ORDER BY x, id', name => 'toasted');
same("SELECT id, md5(q.b) FROM (SELECT id, x, repeat(big, 20) || mid AS b FROM toasted WHERE id <= 150 OFFSET 0) q ORDER BY x, id", name => 'long rows', work_mem => [ '64kB', '1MB' ]);
same("SELECT id, length(b), md5(b) FROM (SELECT i AS id, i % 3 AS x, repeat(chr(97 + i), 1000 + i % 2 * 9000000) AS b FROM generate_series(1, 6) i OFFSET 0) q ORDER BY x, id", name => 'rows of 9 MB', work_mem => [ '64kB', '4MB', '64MB' ]);

# --- Keys so frequent that they fill memory: at either end, NULL, among others

for my $heavy ('NULL', '0', '-2147483648', '2147483647', '9223372036854775807', '-9223372036854775808')
{
	my $type = abs($heavy =~ /\d/ ? $heavy : 0) > 3e9 || rand() < 0.5 ? 'int8' : 'int4';

	sql("DROP TABLE IF EXISTS heavy; CREATE TABLE heavy AS SELECT i AS id, (CASE WHEN i % 100 = 0 THEN (random() * 4e9 - 2e9)::int8::text ELSE '$heavy' END)::$type AS k, (i % 1000)::int AS z, repeat('h', i % 50) AS v FROM generate_series(1, 12000) i")
		if $heavy ne 'NULL';
	sql("DROP TABLE IF EXISTS heavy; CREATE TABLE heavy AS SELECT i AS id, CASE WHEN i % 100 = 0 THEN (random() * 4e9 - 2e9)::int8::text END::$type AS k, (i % 1000)::int AS z, repeat('h', i % 50) AS v FROM generate_series(1, 12000) i")
		if $heavy eq 'NULL';
	for my $option ('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST')
	{
		same("SELECT id, k, v FROM heavy ORDER BY k$option, id", name => "$type, often $heavy$option", work_mem => ['64kB']);
		same("SELECT count(*), md5(string_agg(q::text, '')) FROM (SELECT k, v FROM heavy ORDER BY k$option, v) q", name => "$type, often $heavy$option, and text", work_mem => [ '64kB', '256kB' ]);
		same("SELECT k FROM heavy ORDER BY k$option", name => "keys of $type, often $heavy$option", work_mem => ['64kB']);
	}
	same("SELECT z, k, id FROM heavy ORDER BY z % 2, k NULLS FIRST, id", name => "$type, two keys, often $heavy", work_mem => ['64kB']);
	my $all = sql("SET work_mem = '64kB'; SET hpsort.debug_sort = force; EXPLAIN (ANALYZE, COSTS OFF) SELECT id, k, v FROM heavy ORDER BY k NULLS FIRST");

	$all =~ /Segments: (\d+)/ or fail("no segments: $all");
	cmp_ok($1, '<', 400, "$type, often $heavy: segments as large as memory");
}

# rows of NULL and other keys in turns of many, so that memory has been used for the other kind
sql("CREATE TABLE turns AS SELECT i AS id, CASE WHEN i / 3500 % 2 = 0 THEN (i * 7919) % 100003 END AS k, repeat('t', i % 30) AS v FROM generate_series(1, 20000) i");
for my $option ('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST')
{
	same("SELECT * FROM turns ORDER BY k$option, id", work_mem => [ '64kB', '256kB', '1MB' ]);
	same("SELECT id, v FROM (SELECT id, k::int8, v FROM turns) q ORDER BY k$option, id", work_mem => [ '64kB', '256kB', '1MB' ]);
	my $query = "SELECT string_agg(id::text, ' ') FROM (SELECT id, v FROM turns ORDER BY k$option";
	is(sql("SET work_mem = '64kB'; SET hpsort.debug_sort = force; $query) q"),
		sql("SET work_mem = '64MB'; SET hpsort.debug_sort = forbid; $query, id) q"), "turns$option: stable on disk");
}

# Rows in order within one value of the first key, in memory of many sizes.
is(sql(<<'SQL'), '', 'rows in order within a key, on disk');
CREATE FUNCTION differences(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	aggregate text := format('SELECT md5(string_agg(id::text, '' '')) FROM (%s OFFSET 0) q', query);
	want text;
	got text;
	found text := '';
BEGIN
	SET LOCAL work_mem = '64MB';
	SET LOCAL hpsort.debug_sort = forbid;
	EXECUTE aggregate INTO want;
	SET LOCAL hpsort.debug_sort = force;
	FOR memory IN 64 .. 320 BY 32 LOOP
		PERFORM set_config('work_mem', memory || 'kB', true);
		EXECUTE aggregate INTO got;
		IF got IS DISTINCT FROM want THEN found := found || format('%s with %s kB; ', query, memory); END IF;
	END LOOP;
	RETURN found;
END $$;
CREATE TABLE ordered AS SELECT i AS id, CASE WHEN i <= 20000 OR hashint4(i) % 10 = 0 THEN hashint4(i) % 10 > 5 END AS b,
	hashint4(i) % 3 AS k, 20000 - i AS down, 'row' AS v FROM generate_series(1, 40000) i;
SELECT string_agg(differences('SELECT * FROM ordered ORDER BY ' || o), '')
FROM unnest('{"b DESC, id","b NULLS FIRST, id","b NULLS FIRST, id DESC","b, down","k, b NULLS FIRST, id DESC","k, id","id","id DESC","down, b"}'::text[]) o;
SQL

# --- Random tables, random orders

my %makes = (
	int2 => sub { sprintf '(random() * %d - %d)::int::int2', pick([ 65535, 32768 ], [ 10, 5 ], [ 300, 0 ])->@* },
	int4 => sub { sprintf '(random() * %s - %s)::int8::int4', pick([ 4294967295, 2147483648 ], [ 0, 0 ], [ 20, 3 ], [ 100000, 7 ])->@* },
	int8 => sub { pick('(random() * 1e18 * 18 - 9e18)::numeric::int8', '(random() * 50)::int8', '5000000000 + (random() * 4294967296)::int8') },
	date => sub { "date '1970-01-01' + (random() * @{[ pick(5, 1000, 100000) ]})::int" },
	timestamptz => sub { "timestamptz '2020-01-01' + random() * interval '@{[ pick('3 days', '30 years') ]}'" },
	bool => sub { 'random() > 0.7' },
	oid => sub { '(random() * 4294967295)::int8::oid' },
	mood => sub { "(ARRAY['sad', 'ok', 'happy'])[1 + floor(random() * 3)]::mood" },
	'"char"' => sub { 'chr(1 + (random() * 120)::int)::"char"' },
	text => sub { pick("repeat(chr(97 + (random() * 25)::int), (random() * 40)::int)", "(random() * 9)::int::text") },
	numeric => sub { '(random() * 100)::numeric(9, 1)' });
for my $n (1 .. ($ENV{HPSORT_TEST_TABLES} // at_length(2, 12)))
{
	my @types = map { pick(sort keys %makes) } 1 .. 1 + int(rand(6));
	my $rows = pick(0, 1, 2, 100, 3000, 20000);
	my $sql = "CREATE TABLE random_$n (id int" . join('', map { ", c$_ $types[$_]" } 0 .. $#types) . ");\n" .
		'SELECT setseed(' . rand() . ");\n";
	my $order = pick('i', '-i', 'random()');

	for my $part (1 .. 2)
	{
		my $nulls = pick(0, 0, 0.02, 0.9, 1);
		$sql .= "INSERT INTO random_$n SELECT @{[ $part * 100000 ]} + row_number() OVER ()" .
			join('', map { ', CASE WHEN random() >= ' . $nulls . ' THEN ' . $makes{$_}->() . ' END' } @types) .
			" FROM (SELECT i FROM generate_series(1, $rows) i ORDER BY $order) q;\n" . pick('', "ANALYZE random_$n;\n");
	}
	sql($sql);
	for my $q (1 .. 4)
	{
		my @keys = map { 'c' . int(rand(@types)) . pick('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST', ' NULLS LAST', ' DESC NULLS FIRST') } 1 .. 1 + int(rand(3));
		my $columns = pick('*', 'id', "id, c0", "q, id");
		my $tail = pick('', '', 'LIMIT 10', 'LIMIT 1000', 'OFFSET 100 LIMIT 3000', 'LIMIT 0');

		same("SELECT $columns FROM random_$n q ORDER BY " . join(', ', @keys) . ", id $tail", plan => undef,
			work_mem => [ pick('64kB', '200kB', '1MB', '64MB') ], set => 'SET jit_above_cost = ' . pick(0, -1));
		my ($key, $options) = $keys[0] =~ /^(\S+)(.*)$/;
		same("SELECT $key AS k FROM random_$n ORDER BY k $options $tail", plan => undef, work_mem => [ pick('64kB', '300kB', '64MB') ]);
	}
}

# --- The same with workers

sql('CREATE TABLE wide AS SELECT * FROM t');
for my $ordering ('x, id', 'y DESC, id', 'm, v, id', 'd NULLS FIRST, x, id')
{
	for my $tail ('', 'LIMIT 100')
	{
		same("SELECT id, v FROM wide ORDER BY $ordering $tail", set => <<'SQL', plan => qr/HpSort/);
SET max_parallel_workers_per_gather = 3; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0
SQL
	}
}
my $parallel = sql(q{SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET enable_sort = off; SET hpsort.debug_sort = force; SET enable_seqscan = on;
	SELECT count(*) || ' ' || count(*) FILTER (WHERE x < before) FROM (SELECT x, lag(x) OVER () AS before FROM (SELECT x, v FROM wide ORDER BY x OFFSET 0) q) q});
is($parallel, '10000 0', 'sorted with workers');

# --- LIMIT: a parameter that is also a column, which must not be taken from a row

for my $run (
	'PREPARE p(int8) AS SELECT id, $1 AS n FROM t ORDER BY x, id LIMIT $1; EXECUTE p(5)',
	'PREPARE p(int8) AS SELECT id, $1 + 1 AS n FROM t ORDER BY x, id LIMIT ($1 + 1) * 2 OFFSET $1; EXECUTE p(5)',
	'PREPARE p(int) AS SELECT id, $1 AS n FROM t ORDER BY x, id OFFSET $1 LIMIT 7; EXECUTE p(5)',
	'SELECT * FROM generate_series(1, 9) g, LATERAL (SELECT id, g AS n FROM t ORDER BY x, id LIMIT g) s',
	'SELECT * FROM generate_series(1, 9) g, LATERAL (SELECT id, g AS n FROM t ORDER BY x, id LIMIT 3 OFFSET g * 2) s',
	'SELECT * FROM page(10)')
{
	my @results = map { sql("SET hpsort.debug_sort = $_; SET plan_cache_mode = force_generic_plan;
		CREATE OR REPLACE FUNCTION page(n int8) RETURNS TABLE (id int, page_size int8) LANGUAGE sql AS 'SELECT id, n FROM t ORDER BY x, id LIMIT n'; $run") } qw(forbid force allow);

	ok($results[0] ne '' && $results[1] eq $results[0] && $results[2] eq $results[0], "parameter in the list: $run");
}

# A LIMIT above a query that is sorted is told to core's Sort only.
unlike(sql('EXPLAIN (COSTS OFF) SELECT * FROM (SELECT id FROM t ORDER BY s) q LIMIT 10'), qr/HpSort/, 'LIMIT above');
like(sql('EXPLAIN (COSTS OFF) SELECT * FROM (SELECT id FROM t ORDER BY s) q LIMIT 100000'), qr/HpSort/, 'a large LIMIT above');

# All of work_mem, but not twice as much: no file.
sql(<<'SQL');
CREATE TABLE pages AS SELECT i AS id, hashint8(i) AS y, repeat('p', 20 + i % 30) AS v FROM generate_series(1, 60000) i;
ANALYZE pages;
SQL
for my $ordering ('y', 'y DESC', 'y % 1000, v, id', 'id % 7, y')
{
	my $query = "SELECT * FROM pages ORDER BY $ordering";
	my $explain = sql("SET work_mem = '1MB'; SET hpsort.debug_sort = force; PREPARE p(int8) AS $query LIMIT \$1; SET plan_cache_mode = force_generic_plan;
		EXPLAIN (ANALYZE, BUFFERS) EXECUTE p(6000)");

	like($explain, qr/top-N/, "LIMIT as large as work_mem, $ordering");
	unlike($explain, qr/temp (read|written)|Disk/, "LIMIT as large as work_mem, $ordering: no file");
	same("$query, id LIMIT $_", work_mem => ['1MB']) for 10, 3000, 6000, 9000, 20000;
}
same('SELECT id, k, n, md5(v) FROM (SELECT i AS id, i % 17 AS k, i % 3 AS n, CASE WHEN i % 40 = 3 THEN repeat($$x$$, 8390000 + i) ELSE repeat($$y$$, i) END AS v FROM generate_series(1, 200) i ORDER BY k DESC, i % 4, id LIMIT 60) q',
	work_mem => [ '256MB', '1MB' ], name => 'LIMIT, rows longer than a block');

# --- Rows of all lengths, again and again: blocks of the store are used again

same('SELECT id, k, md5(v) FROM (SELECT i AS id, CASE WHEN hashint4(i) % 20 <> 0 THEN hashint4(i) % 1000 END AS k, repeat(chr(97 + i % 26), (10 ^ (1 + abs(hashint4(i + 7) % 1000) / 263.0))::int) AS v FROM generate_series(1, 6000) i ORDER BY k, id OFFSET 0) q',
	work_mem => ['64kB'], name => 'rows of all lengths');
same('SELECT id, k, length(v) FROM (SELECT i AS id, i % 3000 AS k, CASE WHEN i = 39999 THEN repeat($$x$$, 300000) ELSE repeat($$y$$, 900 + i % 500) END AS v FROM generate_series(1, 40000) i ORDER BY k OFFSET 0) q',
	work_mem => ['70kB'], any_order => 1, name => 'a long row after many');

# --- Memory: no more for the merge than for the rows before it

for my $ordering ('x, v', 'x, y', 'v IS NULL, x, y')
{
	my $held = sql("SET work_mem = '512kB'; SET hpsort.debug_sort = force; BEGIN;
		DECLARE c NO SCROLL CURSOR FOR SELECT g % 100 AS x, g % 300 AS y, md5(g::text) AS v FROM generate_series(1, 200000) g ORDER BY @{[ $ordering =~ s/v IS NULL/(g > 0)/r ]};
		MOVE 150000 c;
		SELECT sum(total_bytes) FROM pg_backend_memory_contexts WHERE name IN ('hpsort rows', 'hpsort segments')");

	cmp_ok($held, '>', 0, "ORDER BY $ordering: memory is seen");
	cmp_ok($held, '<', 800 * 1024, "ORDER BY $ordering: memory is given back");
}

# --- Set operations, whose columns have no table

same("SELECT x, v FROM t WHERE id > 5000 $_ SELECT s::int, v FROM t ORDER BY x, v", work_mem => ['64MB'], any_order => 1, plan => undef) for 'UNION', 'UNION ALL', 'EXCEPT', 'INTERSECT';
is(sql("SET hpsort.debug_sort = allow; SELECT count(*) FROM (SELECT x, v FROM t UNION ALL SELECT s::int, v FROM t ORDER BY x, v OFFSET 0) q"), 20000, 'a set operation sorted by hpsort and core, if it pays');

# --- Expressions compiled: those of the child, of keys, of LIMIT

SKIP:
{
	skip('PostgreSQL was built, or installed, without JIT', 1) if sql('SELECT pg_jit_available()') ne 't';
	my $jit = 'SET jit = on; SET jit_above_cost = 0; SET jit_inline_above_cost = 0; SET jit_optimize_above_cost = 0; SET jit_expressions = on; SET jit_tuple_deforming = on';

	like(sql("$jit; SET hpsort.debug_sort = force; EXPLAIN ANALYZE SELECT * FROM t ORDER BY abs(x), v"), qr/HpSort.*JIT:\s+Functions: [1-9]/s, 'JIT: compiled');
	for (
		'SELECT * FROM t ORDER BY x, id',
		'SELECT * FROM t ORDER BY abs(x), y / -3, v, id',
		'SELECT x FROM t WHERE id % 3 = 0 ORDER BY x DESC',
		'SELECT x + 1 AS k FROM t ORDER BY k NULLS FIRST',
		'SELECT id, m FROM t WHERE flag ORDER BY m, d DESC, id LIMIT 100 OFFSET 7',
		'SELECT x % 7 AS k, sum(s), count(DISTINCT m) FROM t GROUP BY k ORDER BY k',
		'SELECT id, rank() OVER (PARTITION BY s % 10 ORDER BY y DESC) AS r FROM t ORDER BY r, id',
		'SELECT a.id, b.id FROM t a JOIN t b ON a.s + 1 = b.s WHERE a.id < 3000 ORDER BY a.id, b.id',
		'SELECT id, (SELECT q.id FROM (SELECT b.id FROM t b WHERE b.x < t.x AND b.id < 200 ORDER BY b.s DESC, b.id LIMIT 1) q) AS other FROM t WHERE id < 40 ORDER BY t.id')
	{
		same($_, set => $jit, name => "JIT: $_", plan => qr/HpSort/);
	}
}

$node->stop;
is(join('', grep { /PANIC:|TRAP:|terminated by signal|still referenced|leak|resource was not closed/ } split /^/m, slurp_file($node->logfile)), '', 'nothing in the log');
done_testing();
