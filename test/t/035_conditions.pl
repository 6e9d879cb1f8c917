# WHERE and FILTER on pages: random filters over rows of many shapes, each query run with hpsort's nodes
# forbidden and forced in the same session.  Results, errors, the rows that a filter has removed, and the
# rows for which a function is called that says so are the same.
#
#	HPSORT_TEST_SEED=N			the same filters as the run that printed it
#	HPSORT_TEST_QUERIES=N		how many queries, 300 by default, 1,500 with HPSORT_TEST_ALL
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();
my $queries = $ENV{HPSORT_TEST_QUERIES} // at_length(300, 1500);
my $node = start_cluster('conditions', <<'CONF');
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
CONF

sub sql { return $node->safe_psql('postgres', $_[0]); }

sub pick { return $_[ int(rand(@_)) ]; }

# --- Tables

# By column: its type, an expression of the hash h, and constants to compare it with.
my @texts = ("''", "'a'", "'ab'", "'abc'", "'b'", "'abcdefgh'", "'x' || repeat('y', 200)", "repeat('z', 3000)", "'caab' || chr(233) || '%ba' || chr(232) || 'a'");
my %columns = (
	i2 => [ 'small', 'h % 40 - 20', -21, -20, 0, 5, 19, 30000, "'5'::int8", "'70000'::int4" ],
	i4 => [ 'int4', 'h - 1073741824', 0, 5, -1073741824, 2147483647, -2147483648, "'3000000000'::int8", "'-3'::int2" ],
	k => [ 'int4', 'h % 7', 0 .. 7, "'3'::int8" ],
	i8 => [ 'int8', "h::int8 * h % 100 + (h % 3 - 1) * 9000000000000000000", 0, 5, 99, 9223372036854775807, '(-9223372036854775808)', 9000000000000000050, "'3'::int2", "'5'::int4" ],
	d => [ 'date', "date '2000-01-01' + h % 100", map { "date '$_'" } '2000-01-01', '2000-02-01', '2000-04-09', 'infinity', '-infinity' ],
	ts => [ 'timestamp', "timestamp '2000-01-01' + h % 100 * interval '1 hour'", map { "timestamp '$_'" } '2000-01-01', '2000-01-02 03:00', 'infinity', '-infinity' ],
	tz => [ 'timestamptz', "timestamptz '2000-01-01' + h % 100 * interval '1 day'", map { "timestamptz '$_'" } '2000-01-01', '2000-02-02', '-infinity' ],
	tm => [ 'time', "time '00:00' + h % 24 * interval '1 hour'", map { "time '$_'" } '00:00', '07:00', '24:00' ],
	f4 => [ 'float4', "(ARRAY[0, -0.0, 'NaN', 'Infinity', '-Infinity', 1.5, -1.5, 1e-40, 0.1, 1e30])[1 + h % 10]::float4", map { ("'$_'::float4", "'$_'::float8") } 0, '-0', 'NaN', 'Infinity', '-Infinity', 1.5, '0.1', '1e-40' ],
	f8 => [ 'float8', "(ARRAY[0, -0.0, 'NaN', 'Infinity', '-Infinity', 1.5, -1.5, 1e-310, 0.1, 1e300])[1 + h % 10]::float8", map { ("'$_'::float8", "'$_'::float4") } 0, '-0', 'NaN', 'Infinity', '-Infinity', 1.5, '0.1' ],
	b => [ 'bool', 'h % 3 = 0', 'true', 'false' ],
	c => [ '"char"', q{chr(1 + h % 126)::"char"}, map { qq('$_'::"char") } 'a', '~', '' ],
	o => [ 'oid', '(h::int8 * 2)::oid', map { "$_\::oid" } 0, 5, 2147483648, 4294967295 ],
	m => [ 'mood', "(ARRAY['zero', 'b', 'a'])[1 + h % 3]::mood", map { "'$_'::mood" } 'a', 'b', 'zero' ],
	n => [ 'numeric(10,2)', 'h % 1000 / 7.0', 0, 1.14, 100, map { "'$_'::numeric" } '1.145', '1.1400', 'NaN', 'Infinity', '-Infinity', '1e30', '-1e130000', '14', '-0.001' ],
	t => [ 'text', "(ARRAY[" . join(', ', @texts) . "])[1 + h % 9]", @texts ],
	v => [ 'varchar', "(ARRAY[" . join(', ', @texts) . "])[1 + h % 9]", @texts ],
	p => [ 'char(4)', "(ARRAY['', 'a', 'ab', 'ab ', 'abcd'])[1 + h % 5]", map { "'$_'::char(4)" } '', 'a', 'ab', 'abc', 'abcd' ],
	u => [ 'uuid', 'md5((h % 20)::text)::uuid', map { "md5('$_')::uuid" } 0, 5, 19, 77 ],
	y => [ 'bytea', q{CASE WHEN h % 30 = 0 THEN convert_to(repeat('a', 3000), 'UTF8') ELSE decode(left('00ff006100', h % 6 * 2), 'hex') END}, map { "'\\x$_'::bytea" } '', '00', '00ff', '01', '6161' ],
	ip => [ 'inet', q{'10.0.0.0'::inet + h % 30}, map { "'$_'::inet" } '10.0.0.5', '10.0.0.0/8', '10.0.0.29', '::1' ],
	nn => [ 'numeric', "(ARRAY[0, 1, 1.0, 1.00, -2.5, 1e30, 'NaN', 'Infinity'])[1 + h % 8] + h % 3", map { "'$_'::numeric" } '1.0', '1', '2.00', 'NaN', '-1e5' ],
	iv => [ 'interval', q{h % 5 * interval '1 day' + h % 3 * interval '24 hours'}, map { "interval '$_'" } '48 hours', '2 days', '1 month' ],
	w => [ 'word', q{(ARRAY['a', 'A', 'b', 'B', 'ab', 'a b', 'zz', ''])[1 + h % 8] || left('xyz', h % 9 - 5)}, "'a'", "'B'", "'ab'", "'a bx'", "''" ],
	q => [ 'folded', q{(ARRAY['a', 'A', 'b', 'B', 'ab', 'aB', 'Zz', ''])[1 + h % 8]}, "'a'", "'B'", "'AB'", "'zz'", "''" ],
	z => [ 'text', "CASE WHEN h % 50 = 0 THEN (SELECT string_agg(md5((h + i)::text), '') FROM generate_series(1, 400) i) ELSE 'z' || h % 10 END", "'z1'", "'z'", "'zz'" ]);
my @all = sort keys %columns;
my @loads;

# Of a table: names of columns in order, the share of NULLs, options.
sub load
{
	my ($table, $rows, $nulls, @names) = @_;
	my $i = 0;

	return join(', ', map {
		my $name = $_;
		my $expression = $columns{$name}[1] =~ s/\bh\b/(hashint4(g + $seed + 1000 * $i) & 2147483647)/gr;
		$i++;
		"CASE WHEN hashint4(g * 31 + $i) & 1023 >= $nulls * 1024 THEN ($expression)::$columns{$name}[0] END"
	} @names);
}

sub table
{
	my ($table, $rows, $nulls, @names) = @_;

	return "CREATE TABLE $table (id int, " . join(', ', map { "$_ $columns{$_}[0]" } @names) . ");\n" . fill($table, 1, $rows, $nulls, @names);
}

sub fill
{
	my ($table, $first, $last, $nulls, @names) = @_;

	return "INSERT INTO $table (id, " . join(', ', @names) . ') SELECT g, ' . load($table, $last, $nulls, @names) . " FROM generate_series($first, $last) g;\n";
}

sub shuffled { return sort { rand() <=> 0.5 } @_; }

my @numbers = grep { !/^(?:[ntvpzuywq]|ip|nn|iv)$/ } @all;
my @orders = ([ @numbers ], [ shuffled(@all) ], [ shuffled(@all) ], [ shuffled(@all) ]);
# A collation that does not compare bytes, if there is one.
my $collation = sql(q{SELECT coalesce(min(quote_ident(collname)) FILTER (WHERE collname IN ('und-x-icu', 'en_US.utf8')), '"C"') FROM pg_collation});
# One in which different texts are equal, of which LIKE is an error before 18.
my $folded = $node->psql('postgres', q{CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}) == 0 ? 'folded' : '"C"';
my $likes = $folded eq '"C"' || sql('SHOW server_version_num') >= 180000 ? qr/^(?:t|v|z|w|q|late_t)$/ : qr/^(?:t|v|z|w|late_t)$/;
my $late = q{ADD late int DEFAULT 7, ADD late_t text DEFAULT 'late', ADD late_null int8};
my $load = <<"SQL";
CREATE EXTENSION hpsort;
CREATE TYPE mood AS ENUM ('zero', 'b', 'a');
CREATE DOMAIN small AS int2;
CREATE DOMAIN word AS text COLLATE $collation;
CREATE DOMAIN folded AS text COLLATE $folded;
CREATE FUNCTION fails(i int) RETURNS bool IMMUTABLE LANGUAGE plpgsql COST 0.1 AS \$\$ BEGIN IF i = 5 THEN RAISE 'failed'; END IF; RETURN i <> 3; END \$\$;
CREATE FUNCTION says(i int) RETURNS bool IMMUTABLE LANGUAGE plpgsql COST 0.1 AS \$\$ BEGIN RAISE NOTICE 'said %', i; RETURN i % 2 = 0; END \$\$;
SQL
$load .= table("n0", 2000, 0, @{ $orders[0] }) . table('n1', 2000, 0.05, @{ $orders[1] }) . table('n2', 1500, 0, @{ $orders[2] }) . table('n3', 800, 0.5, @{ $orders[3] });
# Columns that were dropped, and that rows are older than; rows that are dead.
$load .= "ALTER TABLE n$_ ADD gone text DEFAULT 'gone', ADD gone_i int DEFAULT 3, $late; ALTER TABLE n$_ DROP gone, DROP gone_i;\n" . fill("n$_", 3001, 3300, 0.1, @{ $orders[$_] }) .
	"UPDATE n$_ SET k = k + 1 WHERE id % 11 = 0; DELETE FROM n$_ WHERE id % 13 = 0;\n" for 0 .. 3;
$load .= 'UPDATE n1 SET late = NULL WHERE id % 10 = 3; UPDATE n2 SET late = id WHERE id % 10 = 3;';
sql($load . 'VACUUM n0; ANALYZE;');
$columns{late} = [ 'int4', '', 7, 5, 'NULL' ];
$columns{late_t} = [ 'text', '', "'late'", "'a'" ];
$columns{late_null} = [ 'int8', '', 3 ];

sql(<<'SQL');
CREATE FUNCTION of_core(query text) RETURNS text LANGUAGE plpgsql SET hpsort.debug_scan = forbid SET hpsort.debug_aggregate = forbid SET hpsort.debug_sort = forbid AS $$
DECLARE result text;
BEGIN EXECUTE query INTO result; RETURN result; EXCEPTION WHEN OTHERS THEN RETURN 'ERROR: ' || SQLERRM; END $$;
CREATE FUNCTION of_hpsort(query text) RETURNS text LANGUAGE plpgsql SET hpsort.debug_aggregate = force SET hpsort.debug_sort = force AS $$
DECLARE result text;
BEGIN EXECUTE query INTO result; RETURN result; EXCEPTION WHEN OTHERS THEN RETURN 'ERROR: ' || SQLERRM; END $$;
-- What differs: nothing, or the query.
CREATE FUNCTION compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	whole text := CASE WHEN query LIKE 'EXECUTE%' THEN query ELSE 'SELECT string_agg(q::text, '' '' ORDER BY q::text COLLATE "C") FROM (' || query || ' OFFSET 0) q' END;
	core text := of_core(whole);
	ours text := of_hpsort(whole);
BEGIN
	-- A plan that sorts evaluates the conditions of all rows before the first FILTER.
	RETURN CASE WHEN ours IS DISTINCT FROM core AND NOT coalesce(query LIKE '%FILTER%' AND least(core, ours) = 'ERROR: division by zero' AND greatest(core, ours) = 'ERROR: failed', false) THEN left(core, 200) || ' / ' || left(ours, 200) || ': ' || query END;
END $$;
-- The rows that a filter has removed.
CREATE FUNCTION removed(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
	RETURN CASE WHEN plan #>> '{0,Plan,Custom Plan Provider}' IS NULL THEN 'core' ELSE coalesce(plan #>> '{0,Plan,Rows Removed by Filter}', '0') END;
END $$;
SQL

# --- Filters

my @parameters;		# of the query that is being made: type and value; undef: constants
my $parallel;		# whether it may have workers

sub constant
{
	my ($column) = @_;
	my $type = $columns{$column}[0];
	my $value = pick(@{ $columns{$column} }[ 2 .. $#{ $columns{$column} } ]);

	$value = 'NULL' if rand() < 0.02;
	my $cast = $value =~ /::(\w+|"char")$/ ? $1 : $type eq 'small' ? 'int2' : $type =~ /^(?:word|folded)$/ ? 'text' : $type;
	return "($value)::$cast" if rand() < 0.8 || !$parameters[0];
	push @parameters, [ $cast, $value ];
	return '$' . $#parameters;
}

# A pattern of parts, which may be empty, divided by %; one in three with a _.
sub like_pattern
{
	my @parts = map { pick('', 'a', 'b', 'ab', 'aab', 'y', 'yy', 'z', '\\%', "' || chr(233) || '") . pick('', '', 'a', 'b', "' || chr(232) || '") } 0 .. rand(4);

	return "'" . join('%', @parts) . pick('', '', '_') . "'";
}

sub comparison
{
	my ($column) = @_;
	my $enum = $columns{$column}[0] eq 'mood';
	my $text = $column =~ $likes;

	return $column . pick(' IS NULL', ' IS NOT NULL') if rand() < 0.1;
	return pick('b', 'NOT b', 'b IS NOT TRUE', 'b IS UNKNOWN', 'b IS FALSE', 'b IS NOT UNKNOWN', 'b = false', 'b <> true') if $column eq 'b';
	return "$column " . pick('LIKE', 'LIKE', 'NOT LIKE') . ' ' . pick("'a%'", "'ab%'", "''", "'%'", "'abc'", "'z%'", "'%y'", "'a_c'", "'a\\%%'", "'x%'", "'zz%'", "'z\\'", "'" . 'y' x 20 . "%'", like_pattern()) if $text && rand() < 0.4;
	return "$column BETWEEN " . constant($column) . ' AND ' . constant($column) if rand() < 0.15;
	return "($column " . pick('<', '=', '>=') . ' ' . constant($column) . ' OR ' . pick("$column IS NULL", "$column > " . constant($column), "$column IS DISTINCT FROM " . constant($column)) . ')' if rand() < 0.07;
	return "$column " . pick('IN', 'NOT IN') . ' (' . join(', ', map { constant($column) } 0 .. int(rand(pick(2, 12, 40)))) . ')' if rand() < 0.3;
	return constant($column) . ' ' . pick('=', '<>', '<', '<=', '>', '>=') . " $column" if rand() < 0.1;
	return "$column " . pick('=', '=', '<>', '<', '<=', '>', '>=') . ' ' . constant($column);
}

sub clause
{
	my (@names) = @_;

	# A parallel plan computes sub-selects before its first row, where a serial one may need none.
	return pick('fails(k)', 'k + id > 30', 'k = 3 OR i2 > 3', '1 / k >= 0', 'fails(id)', '(1 / k) IS NOT NULL', 'id % 3 = 1', 'i4 > k', 'k IN (i2, 3)',
		'id < (SELECT 500)', !$parallel ? 'id > (SELECT 1 / min(s.k) FROM n0 s)' : (), 'id > (SELECT max(s.k) * 100 FROM n0 s WHERE s.k < n.k)', 'coalesce(k, 3) = 3', 'NOT (k = 3 AND id > 50)', "k::text || 'a' LIKE '3%'") if rand() < 0.2;
	return comparison(pick(@names, 'late', 'late_t', 'late_null'));
}

sub filter
{
	my (@names) = @_;

	return join(' AND ', map { clause(@names) } 1 .. pick(1, 1, 2, 2, 3, 4));
}

sub query
{
	my $number = int(rand(4));
	my @names = @{ $orders[$number] };
	my $table = "n$number n";

	return pick(
		'SELECT count(*) AS c FROM ' . $table . ' WHERE ' . filter(@names),
		'SELECT count(*), sum(i4), count(late_null), max(late), min(d) FROM ' . $table . ' WHERE ' . filter(@names),
		'SELECT k, count(*), sum(i8), max(ts), bool_and(b) FROM ' . $table . ' WHERE ' . filter(@names) . ' GROUP BY k',
		'SELECT k, count(*) FILTER (WHERE ' . filter(@names) . '), sum(i2) FILTER (WHERE ' . filter(@names) . '), sum(i2) FROM ' . $table . pick('', ' WHERE ' . filter(@names)) . ' GROUP BY k',
		'SELECT count(*) FILTER (WHERE ' . filter(@names) . '), count(*) FILTER (WHERE ' . filter(@names) . ') FROM ' . $table,
		'SELECT DISTINCT k, b FROM ' . $table . ' WHERE ' . filter(@names),
		'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i4) FROM ' . $table . ' WHERE ' . filter(@names),
		'SELECT n.* FROM ' . $table . ' WHERE ' . filter(@names) . ' ORDER BY i4, id LIMIT ' . int(rand(20)),
		'SELECT i8 FROM ' . $table . ' WHERE ' . filter(@names) . ' ORDER BY i8 LIMIT 30',
		'SELECT DISTINCT ON (k) k, id, t1 FROM (SELECT n.*, d AS t1 FROM ' . $table . ') s WHERE ' . filter(@names) =~ s/\bn\./s./gr . ' ORDER BY k, id');
}

sub compared
{
	my ($setting, @compared) = @_;

	return sql("$setting; " . join(';', @compared)) =~ s/^\n+//r =~ s/\n\n+/\n/gr;
}

for my $setting ('SELECT', 'SET max_parallel_workers_per_gather = 2')
{
	@parameters = ();
	$parallel = $setting =~ /parallel/;
	is(compared($setting, map { 'SELECT compare($q$' . query() . '$q$)' } 1 .. $queries / 2), '', "random filters, $setting");
}

# With parameters: of generic plans, in which they have no values until the plan runs.
$parallel = 0;
my @prepared = map {
	@parameters = ([]);
	my $query = query();
	my $types = join(', ', map { $_->[0] } @parameters[ 1 .. $#parameters ]);
	my $values = join(', ', map { "($_->[1])::$_->[0]" } @parameters[ 1 .. $#parameters ]);
	@parameters > 1 ? ("PREPARE q$_ ($types) AS SELECT string_agg(q::text, ' ' ORDER BY q::text COLLATE \"C\") FROM ($query OFFSET 0) q", "SELECT compare('EXECUTE q$_(' || \$q\$$values\$q\$ || ')')") : ()
} 1 .. $queries / 3;
is(compared('SET plan_cache_mode = force_generic_plan', @prepared), '', 'parameters of generic plans');
@parameters = ();

# --- The rows removed, and the rows for which functions are called

my @filters = grep { !/fails|1 \/ (?:k|min)|\\'/ } map { filter(@{ $orders[1] }) } 1 .. 60;
my @ours = split /\n/, sql('SET hpsort.debug_aggregate = force; ' . join(';', map { "SELECT removed(\$q\$SELECT count(*) FROM n1 n WHERE $_\$q\$)" } @filters));
my @core = split /\n/, sql(join(';', map { "SELECT count(*) FILTER (WHERE ($_) IS NOT TRUE) FROM n1 n" } @filters));
my @taken = grep { $ours[$_] ne 'core' } 0 .. $#ours;
cmp_ok(scalar @taken, '>', 30, @taken . ' of ' . @filters . ' filters are hpsort\'s');
is(join("\n", map { "$filters[$_]: $ours[$_]" } @taken), join("\n", map { "$filters[$_]: $core[$_]" } @taken), 'rows removed by filter');

sub said
{
	my ($setting, $query) = @_;
	my ($stdout, $stderr);

	$node->psql('postgres', "$setting; $query", stdout => \$stdout, stderr => \$stderr);
	return $stdout . $stderr =~ s/^psql.*?NOTICE/NOTICE/mgr;
}

sql('CREATE TABLE s AS SELECT id, k, i2, t FROM n2; ANALYZE s; CREATE ROLE reader; GRANT SELECT ON s TO reader; ALTER TABLE s ENABLE ROW LEVEL SECURITY;
	CREATE POLICY shown ON s TO reader USING (says(k)); CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM s WHERE says(k); GRANT SELECT ON barrier TO reader');
for my $query ('s WHERE says(k) AND i2 > 3', 's WHERE i2 > 3 AND says(k)', 's WHERE i2 > 3 AND k = 3 AND says(i2)', "s WHERE says(i2) AND t = 'a'", "s WHERE t LIKE 'a%' AND says(i2)",
	"s WHERE t LIKE '%b%' AND i2 > 3", 'barrier WHERE i2 > 3', "barrier WHERE t LIKE 'a%'", 'barrier WHERE k = 4 AND says(i2)', 's WHERE says(k) AND says(i2) AND i2 > 4', 's WHERE coalesce(k, 0) > 3 AND i2 > 3 AND says(k)')
{
	for my $role ('SELECT', 'SET ROLE reader')
	{
		my $counted = "SELECT count(*), sum(k), count(*) FILTER (WHERE i2 > 0 AND says(id)) FROM $query";

		is(said("$role; SET hpsort.debug_aggregate = force", $counted), said("$role; SET hpsort.debug_scan = forbid; SET hpsort.debug_aggregate = forbid", $counted), "$role, $query: functions are called for the same rows");
	}
}
# Rights to call an operator's function, whoever evaluates it.
is(said('SET hpsort.debug_aggregate = force; REVOKE EXECUTE ON FUNCTION int4gt(int, int) FROM public; SET ROLE reader', 'SELECT count(*) FROM s WHERE k > 3'),
	said('SET hpsort.debug_scan = forbid; SET hpsort.debug_aggregate = forbid; SET ROLE reader', 'SELECT count(*) FROM s WHERE k > 3'), 'rights');

$node->stop;
is(join('', grep { /PANIC:|TRAP:|ERROR:  XX|terminated by signal/ } split /^/m, slurp_file($node->logfile)), '', 'nothing in the log');
done_testing();
