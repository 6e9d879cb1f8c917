# Rows in order by Custom Scan (HpSort): random queries over tables of every shape,
# by keys of every type, each run by core alone and with HpSort forced, some with the
# choice left to costs, in the same session.  Above all rows that stay in place, and the
# first rows of each group.  What the query determines must be the same; among rows of
# equal keys, that they are the ones which core says are equal.
#
#	HPSORT_TEST_SEED=N			the same queries as the run that printed it
#	HPSORT_TEST_QUERIES=N		how many, 300 by default, 2,500 with HPSORT_TEST_ALL
#	HPSORT_TEST_QUERY=N			only that one
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use lib "$FindBin::Bin/../fuzz";
use FuzzSql::Columns;
use FuzzSql::Random;
use FuzzSql::Relations;
use FuzzSql::Rows;
use FuzzSql::Runner;
use FuzzSql::Tables;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();
my $queries = $ENV{HPSORT_TEST_QUERIES} // at_length(300, 2500);
my $only = $ENV{HPSORT_TEST_QUERY};

# A quarter of them may be pinned.
my $buffers = pick('1MB', '2MB', '4MB', '16MB');
# Whether keys are kept in memory as they are read, where a page is all-visible.
my $resident = pick(0, 0, '16MB');
diag("shared_buffers $buffers, hpsort.resident_memory $resident");

my $node = start_cluster('rows', <<"CONF");
shared_preload_libraries = 'hpsort'
hpsort.resident_memory = $resident
hpsort.resident_fill = on_use
shared_buffers = $buffers
log_statement = none
CONF

# --- Types and collations

# A text of the C library's locale has no abbreviations; ICU's has, if there is an ICU.
my $locale = $node->safe_psql('postgres', q{SELECT quote_ident(collname) FROM pg_collation WHERE collprovider = 'c' AND collencoding = pg_char_to_encoding('UTF8') ORDER BY collname !~ '^en_', collname LIMIT 1}) || '"C"';
my $icu = $node->safe_psql('postgres', q{SELECT count(*) FROM pg_collation WHERE collname = 'en-x-icu'}) ? '"en-x-icu"' : undef;
my $load = "CREATE EXTENSION hpsort;\n" . join(";\n", @FuzzSql::Tables::types_ddl) . ";\nSELECT setseed(" . $seed / 1000000 . ");\n";

$load .= "CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);\n" if $icu;
$load .= <<'SQL';
CREATE FUNCTION of_size(a int4, b int4) RETURNS int4 IMMUTABLE LANGUAGE sql AS 'SELECT btint8cmp(abs(a::int8), abs(b::int8))';
CREATE FUNCTION smaller(a int4, b int4) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT abs(a::int8) < abs(b::int8)';
CREATE FUNCTION not_larger(a int4, b int4) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT abs(a::int8) <= abs(b::int8)';
CREATE FUNCTION same_size(a int4, b int4) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT abs(a::int8) = abs(b::int8)';
CREATE FUNCTION not_smaller(a int4, b int4) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT abs(a::int8) >= abs(b::int8)';
CREATE FUNCTION larger(a int4, b int4) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT abs(a::int8) > abs(b::int8)';
CREATE OPERATOR |<| (FUNCTION = smaller, LEFTARG = int4, RIGHTARG = int4);
CREATE OPERATOR |<=| (FUNCTION = not_larger, LEFTARG = int4, RIGHTARG = int4);
CREATE OPERATOR |=| (FUNCTION = same_size, LEFTARG = int4, RIGHTARG = int4);
CREATE OPERATOR |>=| (FUNCTION = not_smaller, LEFTARG = int4, RIGHTARG = int4);
CREATE OPERATOR |>| (FUNCTION = larger, LEFTARG = int4, RIGHTARG = int4);
CREATE OPERATOR CLASS size_ops FOR TYPE int4 USING btree AS
	OPERATOR 1 |<|, OPERATOR 2 |<=|, OPERATOR 3 |=|, OPERATOR 4 |>=|, OPERATOR 5 |>|, FUNCTION 1 of_size(int4, int4);
CREATE TYPE pair AS (a int2, b text);
CREATE FUNCTION first_ids(query text, most int8) RETURNS SETOF int8 LANGUAGE plpgsql AS $$
DECLARE
	id int8;
	n int8 := 0;
BEGIN
	FOR id IN EXECUTE query LOOP
		n := n + 1;
		EXIT WHEN n > most;
		RETURN NEXT id;
	END LOOP;
END $$;
SQL

# --- Tables

my %columns = (
	%FuzzSql::Columns::common,
	up => [ 'int4', 'int', 'g - g % 3' ],
	down => [ 'int8', 'int', '1000000 - g + floor(random() * 20)::int8' ],
	sm => [ 'small', 'int', '(random() * 9)::int2::small' ],
	f4 => [ 'float4', 'float', q{CASE floor(random() * 60) WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' WHEN 3 THEN '-0' WHEN 4 THEN '0' ELSE (random() * 1000)::int / 8.0 - 30 END::float4} ],
	f8 => [ 'float8', 'float', q{CASE floor(random() * 60) WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' WHEN 3 THEN '-0' WHEN 4 THEN '0' WHEN 5 THEN '5e-324' ELSE random() * 1e9 - 5e8 END::float8} ],
	num => [ 'numeric', 'numeric', q{CASE floor(random() * 60) WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' WHEN 3 THEN 1.0 WHEN 4 THEN 1.000 WHEN 5 THEN 0 WHEN 6 THEN 1e300 + (random() * 3)::int WHEN 7 THEN -1e-40 WHEN 8 THEN repeat('9', 900)::numeric + (random() * 3)::int
		ELSE (random() * 1e12)::int8 / 10::numeric ^ floor(random() * 9)::int END} ],
	num_like => [ 'numeric', 'numeric', q{1e60 + (random() * 90)::int} ],
	uid => [ 'uuid', 'uuid', 'md5((g / 2)::text)::uuid' ],
	uid_like => [ 'uuid', 'uuid', q{('a0eebc99-9c0b-4ef8-bb6d-' || lpad(to_hex((random() * 400)::int), 12, '0'))::uuid} ],
	uid_few => [ 'uuid', 'uuid', 'md5(((random() * 30)::int)::text)::uuid' ],
	txt => [ 'text', 'text', q{substr('aAbBzZ- _', 1 + floor(random() * 9)::int, 1) || floor(random() * 500)} ],
	txt_c => [ 'text', 'c_text', 'md5((g / 2)::text)', ' COLLATE "C"' ],
	txt_like => [ 'text', 'c_text', q{'https://www.example.com/' || md5((random() * 900)::int::text)}, ' COLLATE "C"' ],
	txt_few => [ 'text', 'c_text', q{CASE WHEN random() < 0.1 THEN '' ELSE 'status ' || (random() * 20)::int END}, ' COLLATE "C"' ],
	txt_locale => [ 'text', 'l_text', q{substr('aAbBzZ- ', 1 + floor(random() * 8)::int, 1) || floor(random() * 900)}, " COLLATE $locale" ],
	txt_icu => [ 'text', 'icu_text', q{substr('aAbBzZ- ', 1 + floor(random() * 8)::int, 1) || floor(random() * 900)}, ' COLLATE ' . ($icu // '"C"') ],
	txt_case => [ 'text', 'nd_text', q{substr('aAbBzZ', 1 + floor(random() * 6)::int, 1) || substr('xXyY', 1 + floor(random() * 4)::int, 1) || floor(random() * 20)}, ' COLLATE ' . ($icu ? 'no_case' : '"C"') ],
	vc => [ 'varchar(40)', 'c_text', q{substr(md5((g / 2)::text), 1, (random() * 12)::int)}, ' COLLATE "C"' ],
	bp => [ 'char(20)', 'bp_text', q{substr(md5((g / 2)::text), 1, (random() * 12)::int)}, ' COLLATE "C"' ],
	by => [ 'bytea', 'bytes', q{decode(substr(md5((g / 2)::text), 1, 2 * (random() * 12)::int), 'hex')} ],
	ip => [ 'inet', 'inet', q{CASE WHEN g % 7 = 0 THEN '::1'::inet + (random() * 1e6)::int ELSE set_masklen('10.0.0.0'::inet + (random() * 1e5)::int, 32 - g % 3) END} ],
	net => [ 'cidr', 'inet', q{network(set_masklen('10.0.0.0'::inet + (random() * 1e7)::int, 8 + g % 20))} ],
	mac => [ 'macaddr', 'macaddr', q{('08:00:2b:' || substr(md5((g / 4)::text), 1, 2) || ':' || substr(md5((g / 4)::text), 3, 2) || ':01')::macaddr} ],
	span => [ 'interval', 'interval', q{CASE floor(random() * 30) WHEN 0 THEN '1 mon' WHEN 1 THEN '30 days' WHEN 2 THEN '720:00' WHEN 3 THEN '178956970 years' WHEN 4 THEN '-178956970 years' WHEN 5 THEN 'BEYOND' ELSE make_interval(months => (random() * 9)::int, days => (random() * 300)::int, secs => floor(random() * 100)) END} ],
	pr => [ 'pair', 'record', q{ROW((random() * 20)::int2, 'b' || (random() * 9)::int)::pair} ],
	arr => [ 'int4[]', 'array', 'ARRAY[(random() * 30)::int, g % 7]' ],
	# Beyond the first 128 bytes of a row is what comes behind it.
	filler => [ 'text', 'text', q{repeat('f', 90 + g % 80)} ],
	big => [ 'text', 'text', q{CASE g % 90 WHEN 0 THEN (SELECT string_agg(md5((g / 180 + i)::text), '') FROM generate_series(1, 90) i) WHEN 1 THEN repeat('long', 1500) || g % 4 ELSE 'b' || g % 100 END} ],
	late_uid => [ 'uuid', 'uuid', 'md5(g::text)::uuid' ],
	late_txt => [ 'text', 'c_text', 'md5((g / 3)::text)', ' COLLATE "C"' ]);
# From 17 on there are infinite intervals.
$columns{span}[2] =~ s/BEYOND/$node->pg_version >= 17 ? 'infinity' : '60 days'/e;
my @plain = qw(i2 i4 i8 x y d b c o m tm ts tz f8);
my $columns = FuzzSql::Columns->new(\%columns);

# Columns that were dropped, and that rows are older than.
$load .= 'CREATE TABLE t1 (gone int, ' . $columns->definition(@plain[ 0 .. 6 ]) . ', gone2 text, ' . $columns->list(@plain[ 7 .. $#plain ]) . ");\n" . $columns->insert('t1', 1, 1200, 0.07, @plain);
$load .= "UPDATE t1 SET gone = id, gone2 = 'gone'; ALTER TABLE t1 DROP COLUMN gone; ALTER TABLE t1 DROP COLUMN gone2;\n";
$load .= "ALTER TABLE t1 ADD late int4 DEFAULT 77; ALTER TABLE t1 ADD late_d date;\n" . $columns->insert('t1', 1201, 1800, 0.07, @plain, 'late', 'late_d') . FuzzSql::Columns::dead('t1', 'x');
$columns->table('t1', 1800, 'plain', @plain, 'late', 'late_d');

# Keys that are abbreviated or compared, also of columns that rows are older than.
my @typed = qw(x num uid uid_few txt_c txt_few txt txt_icu by ip mac span f4);
$load .= $columns->create('typed', 1000, 0.03, @typed)
  . "ALTER TABLE typed ADD late_uid uuid DEFAULT 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', ADD late_txt text COLLATE \"C\" DEFAULT 'missing';\n"
  . $columns->insert('typed', 1001, 1600, 0.03, @typed, 'late_uid', 'late_txt') . FuzzSql::Columns::dead('typed', 'x');
($columns->tables)[-1]{rows} = 1600;
push @{ ($columns->tables)[-1]{columns} }, $columns->column('late_uid'), $columns->column('late_txt');
# Those of which the beginnings are equal, or the values though not the bytes.
$load .= $columns->create('alike', 1200, 0.03, qw(sm txt_like uid_like num_like txt_case txt_locale vc bp net f8 span pr arr));
# Rows with much before their other columns, and toasted values.
$load .= $columns->create('wide', 700, 0.05, qw(x filler y d uid txt_c big num late)) . FuzzSql::Columns::dead('wide', 'x');
# All pages all-visible, no NULLs.
$load .= $columns->create('full_pages', 1500, 0, qw(up x down f8 txt_few m));
# A few groups of many narrow rows, and as many groups as rows.
$load .= $columns->create('few', 4500, 0.02, qw(sm y k x up)) . FuzzSql::Columns::dead('few', 'y');
$load .= $columns->create('many', 1500, 0.01, qw(i8 i4 o tz down one none));
$load .= "CREATE INDEX ON full_pages (x); CREATE INDEX ON t1 (id);\n";
$load .= $columns->create($_->[0], $_->[1], $_->[2], qw(i2 x i4 d txt_c f8 num)) for [ 'nothing', 0, 0 ], [ 'one_row', 1, 0.2 ], [ 'all_null', 90, 1 ];
my @some = qw(i2 x i8 d m ts txt_c num f4);
$load .= $columns->create_partitioned('part', 2000, 0.05, @some) . FuzzSql::Columns::dead('part', 'x');
$load .= $columns->create_inherited('parent', 1500, 0.05, @some);
$load .= "VACUUM ANALYZE; DELETE FROM t1 WHERE id % 101 = 7;\n";
# Never vacuumed or analyzed.
$load .= $columns->create('fresh', 1200, 0.05, qw(x y uid txt)) . FuzzSql::Columns::dead('fresh', 'y') . "ALTER TABLE fresh SET UNLOGGED;\n";
$node->safe_psql('postgres', $load);
$node->safe_psql('postgres', <<'SQL');
DO $$
DECLARE
	rel regclass;
	attribute name;
BEGIN
	FOR rel, attribute IN SELECT attrelid, attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
		WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped
	LOOP
		BEGIN
			PERFORM hpsort_keep(rel, attribute);
		EXCEPTION WHEN wrong_object_type THEN
			NULL;
		END;
	END LOOP;
END $$;
SQL
$columns->table('temporary', 1100, 'temp', qw(i2 y d uid_few f8 txt_c));
my $temp_buffers = pick('800kB', '8MB');
my $temporary = "CREATE TEMP TABLE temporary AS SELECT g AS id, i2, (i4 % 50000) AS y, d, md5(g % 40 || '')::uuid AS uid_few, f8, md5(g % 300 || '') COLLATE \"C\" AS txt_c FROM (SELECT *, id AS g FROM t1) t WHERE id <= 1100;\n"
  . 'UPDATE temporary SET y = y + 1 WHERE id % 5 = 1; DELETE FROM temporary WHERE id % 9 = 4' . pick('', '; ANALYZE temporary');
@FuzzSql::Relations::tables = $columns->tables;

# --- Running

# The same ones in all modes.
sub settings
{
	my ($version) = @_;
	my %set = (
		work_mem => weighted('64kB' => 3, '64MB' => 3, '256kB' => 1, '1MB' => 1),
		hash_mem_multiplier => pick(1, 2),
		default_transaction_isolation => weighted('read committed' => 8, serializable => 1, 'repeatable read' => 1),
		plan_cache_mode => weighted(auto => 3, force_generic_plan => 1, force_custom_plan => 0.5),
		cursor_tuple_fraction => pick(0.1, 0.1, 1, 0.001),
		max_parallel_workers_per_gather => weighted(0 => 20, 1 => 1, 2 => 2, 4 => 0.5));

	if ($set{max_parallel_workers_per_gather})
	{
		%set = (
			%set,
			parallel_setup_cost => pick(0, 0, 10),
			parallel_tuple_cost => 0,
			min_parallel_table_scan_size => 0,
			parallel_leader_participation => weighted(on => 4, off => 1));
		$set{ $version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode' } = 'regress' if chance(0.1);
	}
	$set{$_} = 'off' for chance(0.25) ? some(between(1, 2), qw(enable_hashagg enable_indexscan enable_bitmapscan enable_material enable_hashjoin enable_nestloop enable_incremental_sort enable_gathermerge enable_tidscan)) : ();
	$set{$_} = 'on' for chance(0.1) ? some(2, qw(enable_partitionwise_join enable_partitionwise_aggregate)) : ();
	$set{ pick(qw(random_page_cost seq_page_cost cpu_tuple_cost cpu_operator_cost)) } = pick(0.01, 0.1, 1, 5) if chance(0.15);
	$set{'hpsort.algorithm'} = pick(qw(zero_compressed radix)) if chance(0.1);
	return join('; ', map { "SET $_ = '$set{$_}'" } sort keys %set);
}

# Ids stay unique: what numbers or orders rows by them is not determined otherwise.
my $typed = join(', ', @typed, 'late_uid', 'late_txt');
my @befores = (
	'UPDATE t1 SET x = x + 1 WHERE id % 3 = 0', 'DELETE FROM part WHERE id % 4 = 1', 'INSERT INTO nothing SELECT id, i2, x, y, d FROM t1 WHERE id < 300', 'DELETE FROM t1', 'TRUNCATE few',
	"INSERT INTO typed (id, $typed) SELECT id + 1600, $typed FROM typed WHERE id % 3 = 1; DELETE FROM typed WHERE id % 4 = 2", 'UPDATE full_pages SET x = x + 1', 'SAVEPOINT s; DELETE FROM wide; ROLLBACK TO s; UPDATE wide SET y = 1 WHERE id % 2 = 0',
	'ALTER TABLE alike ADD more int DEFAULT 5', 'UPDATE temporary SET y = 5 WHERE id < 200', 'DROP TABLE part_2', 'ALTER TABLE few ALTER y TYPE int8');
my (%explained, %sorted, %in_place, %by_group);
my $runner = FuzzSql::Runner->new(
	# Not by SET: RESET ALL would let 18 pin as many local buffers as the default, of which there are fewer.
	connection => { host => $node->host, port => $node->port, user => scalar getpwuid($<), database => 'postgres', settings => { temp_buffers => $temp_buffers } },
	prepare => $temporary,
	seed => $seed,
	explain => 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF',
	modes => {
		core => 'SET hpsort.debug_sort = forbid; SET hpsort.debug_aggregate = forbid; SET hpsort.debug_scan = forbid',
		allow => 'SET hpsort.debug_sort = allow; SET hpsort.debug_aggregate = allow',
		force => 'SET hpsort.debug_sort = force; SET hpsort.debug_aggregate = allow; SET hpsort.debug_scan = force'
	},
	planned => sub {
		my ($kind, $plan) = @_;
		$explained{$kind}++;
		$sorted{$kind}++ if $plan =~ /Custom Scan \(HpSort\)/;
		$in_place{$kind}++ if $plan =~ /Rows: in place/;
		$by_group{$kind}++ if $plan =~ /First of Group/;
	});

$runner->run($queries, $only, sub {
	my $query = rows();
	my $settings = join('; ', settings($runner->{version}), $query->{settings} || ());
	# In a transaction that has changed rows itself.
	my $before = chance(0.12) ? pick(@befores) : undef;
	my @modes = ('force', chance(0.15) ? 'allow' : ());

	# That executes it once more.
	$query->{explain} = undef if chance(0.5);
	return ($query, $settings, $query->{alone} ? undef : $before, @modes);
});

# What share of the plans of these kinds has something, in percent.
sub share
{
	my ($having, $kinds) = @_;
	my ($n, $all) = (0, 0);

	for my $kind (grep { /$kinds/ } keys %explained)
	{
		$n += $having->{$kind} // 0;
		$all += $explained{$kind};
	}
	return $all ? 100 * $n / $all : 0;
}

my %shares = (sorted => share(\%sorted, qr/./), in_place => share(\%in_place, qr/./), by_group => share(\%by_group, qr/^first of group/));
diag(sprintf('%s: of %d, %d by HpSort, %d with rows in place, %d of which the first of groups', $_, $explained{$_}, map { $_ // 0 } $sorted{$_}, $in_place{$_}, $by_group{$_})) for sort keys %explained;
diag($runner->summary . sprintf('; %.0f %% by HpSort, %.0f %% with rows in place; %.0f %% of the first of group', @shares{qw(sorted in_place by_group)}));
$runner->ok_all($queries, $only);

# Runs of 1,000 queries with each size of shared_buffers had 94 to 99, 20 to 41, and 45 to 59 percent.
if (!$only && $queries >= 1000)
{
	cmp_ok($shares{sorted}, '>=', 85, 'most are sorted by HpSort');
	cmp_ok($shares{in_place}, '>=', 12, 'rows stay in place');
	cmp_ok($shares{by_group}, '>=', 35, 'only the first of each group are kept');
}

is($node->safe_psql('postgres', q{SELECT coalesce(sum(differing), 0) FROM pg_class c, hpsort_resident_check(c.oid) WHERE relkind IN ('r', 'p')}), '0', 'memory has what the tables have');
$node->stop;
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC:|TRAP:/, 'no crash');
done_testing();
