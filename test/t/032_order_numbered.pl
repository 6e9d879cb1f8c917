# ORDER BY where the values of keys repeat, and are numbered: all types that can be, collations of the
# C library and of ICU, in memory and on disk, in place and copied; and where the planner has taken
# values to repeat that do not, or that do not fit, so that numbering is given up in the middle.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();

my $node = start_cluster('numbered');

sub sql { return $node->safe_psql('postgres', join('', @_)); }
sub pick { return $_[ rand @_ ]; }

# A locale of the C library other than C: its texts have no abbreviations.
my $locale = sql(q{SELECT quote_ident(collname) FROM pg_collation WHERE collprovider = 'c' AND collname NOT IN ('C', 'POSIX') AND collencoding = pg_char_to_encoding('UTF8') ORDER BY collname !~ '^en_', collname LIMIT 1}) || '"C"';
my $icu = sql(q{SELECT count(*) FROM pg_collation WHERE collname = 'en-x-icu'}) ? '"en-x-icu"' : '"C"';
diag("collations $locale and $icu");

sql(<<"SQL");
CREATE EXTENSION hpsort;
CREATE FUNCTION chance(i int, salt int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT (hashint8extended(i, salt + $seed) & 2147483647)::int';
-- Rows in order as one text, and whether HpSort has sorted them as often as it should have.
CREATE FUNCTION digest(mode text, query text) RETURNS text LANGUAGE plpgsql AS \$\$
DECLARE
	result text;
	plan json;
BEGIN
	PERFORM set_config('hpsort.debug_sort', mode, true);
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	IF mode = 'force' AND plan::text !~ 'HpSort' THEN
		RETURN 'core';
	END IF;
	EXECUTE format('SELECT count(*) || md5(string_agg(q::text, '';'')) FROM (%s) q', query) INTO result;
	RETURN result;
END \$\$;
SQL

# --- what is numbered

sql(<<"SQL");
CREATE TABLE names AS SELECT i AS id, ('name ' || chance(i, 1) % 100) COLLATE $locale AS name, md5(i::text) COLLATE $locale AS once, chance(i, 2) % 1000 AS x,
	('https://www.example.com/' || chance(i, 3) % 300) COLLATE "C" AS url, (chance(i, 4) % 50)::numeric / 7 AS num
FROM generate_series(1, 20000) i;
VACUUM ANALYZE names;
SQL

sub plan_of { return sql('SET hpsort.debug_sort = allow; ', $_[1] // '', 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ', $_[0]); }

for my $order ('name', 'name DESC NULLS FIRST', 'url', 'name, x', 'x, name', 'url, name DESC', 'num, id', 'ARRAY[name]')
{
	my $plan = plan_of("SELECT * FROM names ORDER BY $order");

	like($plan, qr/HpSort.*Sort Method: \w+ on cpu  Memory/s, "numbered, by $order");
	unlike($plan, qr/and comparison/, "no rows are compared, by $order");
	like(plan_of("SELECT * FROM names ORDER BY $order", "SET work_mem = '256kB'; "), qr/HpSort.*Sort Method: \w+ on cpu  Disk/s, "on disk, by $order");
}
SKIP:
{
	skip 'no locale', 2 if $locale eq '"C"';
	unlike(plan_of("SELECT * FROM names ORDER BY $_"), qr/HpSort/, "core sorts by $_") for 'once', 'name LIMIT 10';
}

# A collation that takes different texts to be equal.
if ($icu ne '"C"')
{
	sql("CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
	unlike(plan_of('SELECT * FROM names ORDER BY name COLLATE no_case'), qr/HpSort.*Sort Method: zero_compressed on/s, 'not numbered');
}

# --- numbering is given up, early, late and beyond memory

sql(<<"SQL");
CREATE TABLE wrong AS SELECT i AS id, CASE WHEN i < 4000 THEN 'name ' || chance(i, 1) % 10 ELSE md5(i::text) END COLLATE $locale AS late, md5(i::text) COLLATE $locale AS once,
	CASE WHEN i < 4000 THEN 'https://www.example.com/' || chance(i, 1) % 10 ELSE md5(i::text) END COLLATE "C" AS late_c, md5(i::text)::uuid AS once_u, chance(i, 2) % 3 AS few, repeat('f', 60) AS filler
FROM generate_series(1, 12000) i;
ALTER TABLE wrong ALTER late SET (n_distinct = 20), ALTER once SET (n_distinct = 20), ALTER late_c SET (n_distinct = 20), ALTER once_u SET (n_distinct = 20);
VACUUM ANALYZE wrong;
SQL
for my $order ('late', 'once DESC', 'late_c', 'once_u', 'late, id', 'few, once', 'few, late_c, once', 'late_c, late, few DESC', 'once_u, late')
{
	for my $from ('wrong', 'wrong TABLESAMPLE system (100)')
	{
		for my $memory ('64kB', '300kB', '1MB', '64MB')
		{
			my $query = "SELECT * FROM $from ORDER BY $order";

			is(sql("SET work_mem = '$memory'; SELECT digest('force', '$query') = digest('forbid', '$query, id')"), 't', "given up: $query, work_mem $memory");
		}
	}
}

# --- random

my %types = (
	en => [ "text COLLATE $locale", q{substr('aAbBzZ- _éÉ', 1 + (N) % 11, 1) || (N)} ],
	en_more => [ "varchar(30) COLLATE $locale", q{'Name ' || (N)} ],
	c => [ 'text COLLATE "C"', q{'https://www.example.com/' || (N)} ],
	c_md5 => [ 'text COLLATE "C"', 'md5((N)::text)' ],
	icu => [ "text COLLATE $icu", q{substr('aAbBzZ- _', 1 + (N) % 9, 1) || (N)} ],
	num => [ 'numeric', q{CASE (N) % 50 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN 1.0 WHEN 3 THEN 1.00 ELSE (N)::numeric / 8 END} ],
	bp => [ "char(12) COLLATE $locale", q{'b' || (N) || repeat(' ', (N) % 3)} ],
	bytes => [ 'bytea', q{decode(md5((N)::text), 'hex')} ],
	uid => [ 'uuid', 'md5((N)::text)::uuid' ],
	ip => [ 'inet', q{'10.0.0.0'::inet + (N)} ],
	nm => [ 'name', q{'n' || (N)} ],
	tz => [ 'timetz', q{'12:00+02'::timetz + (N) * interval '1 s'} ],
	js => [ 'jsonb', q{jsonb_build_object('a', N)} ],
	arr => [ "text[] COLLATE $locale", q{ARRAY['a' || (N), CASE WHEN (N) % 3 = 0 THEN NULL ELSE 'b' END]} ],
	range => [ 'int4range', 'int4range((N) % 100, 100 + (N))' ],
	big => [ "text COLLATE $locale", q{CASE (N) % 40 WHEN 0 THEN (SELECT string_agg(md5((N)::text || g), '') FROM generate_series(1, 90) g) WHEN 1 THEN repeat('x', 3000) || (N) ELSE 'b' || (N) END} ],
	i => [ 'int4', 'N' ],
	f => [ 'float8', '(N) / 3.0' ]);
my @names = sort keys %types;
my ($compared, $wrong) = (0, '');

for my $round (1 .. $ENV{HPSORT_TEST_ROUNDS} // at_length(2, 12))
{
	my $rows = pick(3000, 12000);
	my (@columns, @stats);

	for my $name (@names)
	{
		my ($type, $expression) = @{ $types{$name} };
		my ($salt, $values) = (int(rand(1e6)), pick(1, 3, 20, 300, 2000, 1000000));

		$expression =~ s/\bN\b/chance(i, $salt) % $values/g;
		$expression = "CASE WHEN chance(i, $salt + 1) % " . pick(2, 10, 1000) . " > 0 THEN $expression END" if rand() < 0.5;
		$expression = "CASE WHEN i < $rows / 2 THEN $expression END" if rand() < 0.2;
		push @columns, "($expression)::$type AS $name";
		push @stats, "ALTER $name SET (n_distinct = " . pick(5, 50, 500, -1) . ')' if rand() < 0.6;
	}
	sql("DROP TABLE IF EXISTS r; CREATE TABLE r AS SELECT i AS id, @{[ join ', ', @columns ]}, repeat('f', i % 70) AS filler FROM generate_series(1, $rows) i;",
		@stats ? 'ALTER TABLE r ' . join(', ', @stats) . ';' : '', rand() < 0.8 ? 'VACUUM ANALYZE r' : '');
	for (1 .. at_length(25, 40))
	{
		my $order = join ', ', map { pick(@names) . pick('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST') } 1 .. pick(1, 1, 1, 2, 2, 3);
		my $memory = "SET work_mem = '" . pick('64kB', '100kB', '256kB', '1MB', '4MB', '64MB') . "'; SET enable_material = off; ";
		my $query = 'SELECT ' . pick('*', 'id, i') . ' FROM r ' . pick('', '', 'TABLESAMPLE system (100)') . pick('', '', ' WHERE id % 10 > 2') . " ORDER BY $order";
		my $again = rand() < 0.2 ? 'SELECT g, q.* FROM generate_series(1, 2) g, LATERAL (%s OFFSET 1) q' : '%s' . pick('', '', '', ' LIMIT 50');
		my ($ours, $core) = map { sprintf $again, $_ } $query, "$query, ctid";
		my $result = sql("$memory SELECT CASE WHEN d = 'core' THEN d ELSE (d = digest('forbid', \$q\$$core\$q\$))::text END FROM (SELECT digest('force', \$q\$$ours\$q\$) AS d OFFSET 0) q");

		$wrong .= "$memory $ours\n" if $result !~ /^(core|true)$/;
		$compared++ if $result eq 'true';
		next if rand() > 0.15 || $result eq 'core';

		# A cursor that goes back and forth.
		my $moves = join '', map { my $m = pick('5', 'PRIOR', 'LAST', 'FORWARD 300', 'BACKWARD 200', 'ABSOLUTE ' . int(rand($rows)), 'BACKWARD ALL'); "FETCH $m FROM c;\n" } 1 .. 10;
		my ($got, $want) = map { sql("$memory SET hpsort.debug_sort = $_->[0]; BEGIN; DECLARE c SCROLL CURSOR FOR $_->[1]; $moves") } [ force => $query ], [ forbid => "$query, ctid" ];
		$wrong .= "$memory cursor $query\n$moves" if $got ne $want;
	}
}
is($wrong, '', "rows of random orders, $compared sorted by HpSort");
# Of 50 orders 29 to 38 were, by seed.
cmp_ok($compared, '>', 10, 'many are') if !$ENV{HPSORT_TEST_ROUNDS};

# Workers, each of which has numbers of its own.
my $workers = "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET cpu_tuple_cost = 1; ";
is(sql("$workers SELECT digest('allow', 'SELECT * FROM names ORDER BY name, id') = digest('forbid', 'SELECT * FROM names ORDER BY name, id')"), 't', 'workers');

# Below a merge join, a window and DISTINCT.
for my $query ('SELECT sum(a.id), count(*) FROM (SELECT * FROM names WHERE id % 50 = 0) a JOIN names b USING (name)', 'SELECT md5(string_agg(r::text, $$,$$)) FROM (SELECT rank() OVER (ORDER BY name, id) AS r FROM names) q',
	'SELECT count(*), md5(string_agg(name, $$,$$)) FROM (SELECT DISTINCT name, url FROM names ORDER BY name, url) q')
{
	is(sql("SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_hashagg = off; SET hpsort.debug_sort = force; $query"), sql("SET hpsort.debug_sort = forbid; $query"), $query);
}
$node->stop;
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC:|TRAP:/, 'no crash');
done_testing();
