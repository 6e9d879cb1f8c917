# Columns of any type that Custom Scan (HpSort Aggregate) reads by a dictionary: random queries, each
# run with the node forbidden and forced in the same session.  What the query determines must be the
# same.
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
use FuzzSql::Runner;
use FuzzSql::Session;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();
my $queries = $ENV{HPSORT_TEST_QUERIES} // at_length(300, 2500);
my $only = $ENV{HPSORT_TEST_QUERY};

my $node = start_cluster('any_column');
# Without ICU there is no such collation.
my $icu = $node->psql('postgres', q{CREATE COLLATION nondeterministic (provider = icu, locale = 'und-u-ks-level2', deterministic = false)}) == 0;
my $citext = $node->safe_psql('postgres', q{SELECT count(*) > 0 FROM pg_available_extensions WHERE name = 'citext'}) eq 't';

# --- Tables.  Columns of a name have one type; N stands for a random number below a table's number of values.

my %kinds = (
	x => [ 'int4', '', q{(random() * 100)::int4 - 20} ],
	y => [ 'int8', '', q{CASE WHEN random() < 0.02 THEN 9223372036854775807 ELSE (random() * 1e12)::int8 END} ],
	wi => [ 'int8', '', q{hashint8extended(N, 3)} ],
	ws => [ 'timestamp', '', q{timestamp '2000-01-01' + hashint8extended(N, 4) % 1000000000000 * interval '1 us'} ],
	tx => [ 'text', '', q{CASE N WHEN 1 THEN '' WHEN 2 THEN ' ' ELSE chr(65 + N % 26) || repeat('ab', N % 7) || N END} ],
	tc => [ 'text', '', q{'Label ' || N}, ' COLLATE "C"' ],
	vc => [ 'varchar(20)', '', q{repeat(chr(97 + N % 20), N % 20)} ],
	bp => [ 'bpchar', '', q{'v' || N % 300 || repeat(' ', (random() * 3)::int)} ],
	ch => [ 'char(12)', '', q{'c' || N} ],
	dt => [ 'label', '', q{'domain ' || N} ],
	# out of line, out of line or compressed
	lo => [ 'text', '', q{(SELECT string_agg(md5((v * 100 + i)::text), '') FROM (SELECT N % 50) n(v), generate_series(1, 80) i)} ],
	lc => [ 'text', '', q{repeat('compressed ' || N % 60 || ' ', 300)} ],
	nm => [ 'name', '', q{'name ' || N} ],
	by => [ 'bytea', '', q{decode(md5((N)::text), 'hex')} ],
	uu => [ 'uuid', '', q{md5((N)::text)::uuid} ],
	nu => [ 'numeric', '', q{CASE N WHEN 3 THEN 'NaN' ELSE (N % 400 || '.' || repeat('0', 1 + (random() * 3)::int))::numeric END} ],
	nt => [ 'numeric(12,2)', '', q{N / 100.0} ],
	f4 => [ 'float4', '', q{CASE N WHEN 0 THEN '-0'::float4 WHEN 1 THEN 0 WHEN 2 THEN 'NaN' ELSE N / 4.0 END} ],
	f8 => [ 'float8', '', q{CASE N WHEN 0 THEN '-0'::float8 WHEN 1 THEN 0 WHEN 2 THEN 'NaN' ELSE N / 8.0 END} ],
	ip => [ 'inet', '', q{'10.0.0.0'::inet + N} ],
	ma => [ 'macaddr', '', q{('08:00:2b:01:' || lpad(to_hex(N / 256 % 256), 2, '0') || ':' || lpad(to_hex(N % 256), 2, '0'))::macaddr} ],
	iv => [ 'interval', '', q{CASE WHEN random() < 0.5 THEN N % 40 * interval '1 day' ELSE N % 40 * interval '24 hours' END} ],
	tt => [ 'timetz', '', q{('00:00+' || lpad((N % 12)::text, 2, '0'))::timetz + N * interval '1 s'} ],
	js => [ 'json', '', q{json_build_object('a', N, 'b', N % 3)} ],
	jb => [ 'jsonb', '', q{CASE N WHEN 1 THEN '1.0' WHEN 2 THEN '1' WHEN 3 THEN 'null' ELSE jsonb_build_object('a', N, 'b', N % 3) END} ],
	ar => [ 'int4[]', '', q{CASE N WHEN 1 THEN '{}' WHEN 2 THEN '{NULL}' ELSE ARRAY[N, N % 5] END} ],
	ta => [ 'text[]', '', q{ARRAY['e' || N, NULL]} ],
	rg => [ 'int4range', '', q{int4range(N, N + 3)} ],
	tr => [ 'text_range', '', q{text_range('r' || N, 'z')} ],
	bi => [ 'varbit', '', q{(N)::bit(16)} ],
	mo => [ 'money', '', q{(N)::money} ],
	pt => [ 'point', '', q{point(N, 1)} ],
	mp => [ 'mood', '', q{(enum_range(NULL::mood))[1 + N % 3]} ],
	co => [ 'pair', '', q{row(N, 'of ' || N % 4)::pair} ],
	$citext ? (ci => [ 'citext', '', q{CASE WHEN random() < 0.5 THEN 'Ci' ELSE 'cI' END || N} ]) : (),
	$icu ? (
		nd => [ 'text', '', q{CASE WHEN random() < 0.5 THEN 'Nd' ELSE 'nD' END || N}, ' COLLATE nondeterministic' ],
		cn => [ 'char(12)', '', q{CASE WHEN random() < 0.5 THEN 'Cn' ELSE 'cN' END || N}, ' COLLATE nondeterministic' ],
		kn => [ 'text', '', q{'Nr. ' || N}, ' COLLATE by_number' ]) : ());

# What of equal values is the same, where some look different.
my %shown = (bp => 'rtrim(C::text)', nu => 'trim_scale(C)', f4 => 'C + 0', f8 => 'C + 0', iv => 'extract(epoch FROM C)', jb => "replace(C::text, '1.0', '1')", map { $_ => 'lower(C)' } qw(ci nd cn));

# Not hashable: only expressions are of these.
my %unhashable = map { $_ => 1 } qw(js pt bi);

my %expressions = (
	(map { $_ => [ 'lower(C)', 'length(C)', 'upper(C)', 'substr(C, 1, 3)', q{C || 'x'}, q{C LIKE '%1%'}, 'md5(C)', 'C COLLATE "C"', q{nullif(C, '')}, 'octet_length(C)' ] } qw(tx tc vc dt lo lc kn)),
	bp => [ 'octet_length(C)', q{C || '|'}, 'C::text' ],
	ch => [ 'C::text', 'upper(C)' ],
	nm => [ 'C::text', 'length(C)' ],
	by => [ 'length(C)', q{encode(C, 'hex')}, 'get_byte(C, 0)' ],
	uu => [ 'C::text', 'substr(C::text, 1, 1)' ],
	nu => [ 'round(C)', 'scale(C)', 'C::text', 'C > 5' ],
	nt => [ 'round(C)', 'floor(C)', 'C::float8' ],
	f4 => [ 'C::text', 'C > 3' ],
	f8 => [ 'C::text', 'round(C) + 0', 'C > 3' ],
	ip => [ 'host(C)', 'C + 1' ],
	ma => ['trunc(C)'],
	iv => [ 'C::text', 'extract(day FROM C)' ],
	tt => ['C::time'],
	js => [ q{C->>'a'}, q{(C->>'b')::int}, 'C::text' ],
	jb => [ q{C->'b'}, q{jsonb_typeof(C)}, 'C::text' ],
	ar => [ 'cardinality(C)', 'C[1]', 'C || 1' ],
	ta => ['C[1]'],
	rg => [ 'lower(C)', 'isempty(C)' ],
	tr => [ 'lower(C)' ],
	bi => ['C::text'],
	mo => ['C::numeric'],
	pt => [ 'C[0]', 'C::text' ],
	mp => ['C::text'],
	co => [ 'C::text', '(C).a' ],
	ci => [ 'C::text', 'length(C)' ],
	cn => [ 'C COLLATE "C"', 'upper(C)' ],
	nd => [ 'length(C)', 'C COLLATE "C"', 'upper(C)' ]);

my @all = grep { !/^[xy]$/ } sort keys %kinds;
my (%tables, $load);

# A table by one of the functions of FuzzSql::Columns, in which values are so many.
sub add_table
{
	my ($make, $name, $rows, $values, $nulls, @names) = @_;
	my %with_values = map {
		my @kind = @{ $kinds{$_} };
		$kind[2] =~ s/\bN\b/(floor(pg_catalog.random() * $values))::int/ if $kind[2] =~ /^\S+$/;
		# One number for all of an expression.
		$kind[2] = "(SELECT " . $kind[2] =~ s/\bN\b/n.n/gr . " FROM (SELECT floor(random() * $values)::int + g * 0) n(n))" if $kind[2] =~ /\bN\b/;
		($_ => \@kind)
	} keys %kinds;
	my $columns = FuzzSql::Columns->new(\%with_values);

	$tables{$name} = [@names];
	$load .= $columns->$make($name, $rows, $nulls, 'x', 'y', @names);
	return $columns;
}

$load = "CREATE EXTENSION hpsort; CREATE DOMAIN label AS text; CREATE TYPE mood AS ENUM ('good', 'bad', 'ugly'); CREATE TYPE pair AS (a int, b text); CREATE TYPE text_range AS RANGE (subtype = text, collation = \"C\"); SELECT setseed(" . $seed % 1000000 / 1000000 . ");\n";
$load .= "CREATE EXTENSION citext;\n" if $citext;
$load .= "CREATE COLLATION by_number (provider = icu, locale = 'en-u-kn-true');\n" if $icu;
add_table('create', 'few', 2000, 12, 0.06, @all);
add_table('create', 'many', 4000, 3000, 0.02, @all);
add_table('create', 'no_nulls', 1500, 200, 0, grep { !/^(js|lo)$/ } @all);
add_table('create', 'nothing', 0, 5, 0, @all);
add_table('create_partitioned', 'part', 2500, 60, 0.05, @all);
add_table('create_inherited', 'parent', 1500, 500, 0.05, @all);
$load .= FuzzSql::Columns::dead('few', 'x') . FuzzSql::Columns::dead('part', 'x');
# Rows that are older than columns, columns that were dropped, and values that stay as they come.
$load .= "CREATE TABLE late AS SELECT id, x, y, tx AS gone, tc FROM many; ALTER TABLE late DROP COLUMN gone; ALTER TABLE late ADD tx text DEFAULT 'late ' || 7, ADD uu uuid DEFAULT 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', ADD nu numeric, ADD f8 float8 DEFAULT 1.5;\n"
  . "INSERT INTO late SELECT id + 5000, x, y, tc, tx, uu, nu, f8 FROM few;\n"
  . "CREATE TABLE plain_storage (id int, x int4, y int8, tx text, lo text, lc text); ALTER TABLE plain_storage ALTER tx SET STORAGE plain, ALTER lc SET STORAGE external;\n"
  . "INSERT INTO plain_storage SELECT id, x, y, tx, lo, lc FROM few;\n";
$tables{late} = [qw(tc tx uu nu f8)];
$tables{plain_storage} = [qw(tx lo lc)];
$load .= "VACUUM ANALYZE;\n";
$node->safe_psql('postgres', $load);

# --- Groups

my @names = sort keys %tables;

# What to group by: { sql, shown }.
sub group
{
	my ($table) = @_;
	my $name = pick(@{ $tables{$table} });
	my $sql = $unhashable{$name} || ($expressions{$name} && chance(0.35)) ? pick(@{ $expressions{$name} }) : undef;

	return { sql => pick('x', 'y', 'x / 10'), column => 'x' } if chance(0.12);
	return { sql => "($sql)" =~ s/(?<!")\bC\b/$name/gr, shown => undef, column => $name } if $sql;
	return { sql => $name, shown => ($shown{$name} // 'C') =~ s/\bC\b/$name/gr, column => $name };
}

# What values of a column are asked: of types with an order all but a few, of the others how many there are.
sub aggregate_of
{
	my ($name) = @_;
	my $descending = chance(0.3) ? ' DESC' : '';
	my $first = pick('', '', ' NULLS FIRST', ' NULLS LAST');
	my $value = pick(map { "(SELECT v.$name FROM no_nulls v WHERE v.id = $_)" } 3, 77, 500);
	my $other = $kinds{$name}[0] =~ /^(text|varchar|label|bytea)/ ? chance(0.5) : 0;

	return "count($name)" if chance(0.15) || $unhashable{$name} || $name eq 'co';
	return "count(DISTINCT $name)" if chance(0.3);
	# Which of equal values is shown is not determined.
	return $name =~ /^(nd|cn)$/ ? "count(DISTINCT $name)" : pick('rank', 'dense_rank', 'percent_rank', 'cume_dist') . "($value) WITHIN GROUP (ORDER BY $name$descending$first)" if $shown{$name};
	if ($other)
	{
		my $delimiter = $name eq 'by' ? q{'\\x2c'::bytea} : pick(q{','}, q{''}, 'NULL');

		$delimiter = $name eq 'by' ? 'NULL::bytea' : 'NULL::text' if $delimiter eq 'NULL';
		return "string_agg(DISTINCT $name, $delimiter ORDER BY $name$descending)" if chance(0.5) && $name !~ /^(vc|dt|lo|lc)$/;
		return "md5(string_agg($name, $delimiter ORDER BY $name$descending)::text)";
	}
	return ($name =~ /^(tx|tc|vc|ch|dt|ip|tt|mo|lo|lc|kn)$/ ? pick("min($name)", "max($name)") : "count(DISTINCT $name)") if chance(0.25);
	return "mode() WITHIN GROUP (ORDER BY $name$descending)" if chance(0.2);
	return "percentile_disc(" . pick('0.5', '0', '1', 'ARRAY[0.1, NULL, 0.9, 0.1]') . ") WITHIN GROUP (ORDER BY $name$descending)" if chance(0.4);
	return "md5(array_agg(DISTINCT $name ORDER BY $name$descending$first)::text)" if chance(0.4) && $name !~ /^(ar|ta)$/;
	return "md5(array_agg($name ORDER BY $name$descending$first)::text)" if chance(0.5) && $name !~ /^(ar|ta)$/;
	return pick('rank', 'dense_rank', 'percent_rank', 'cume_dist') . "($value) WITHIN GROUP (ORDER BY $name$descending$first)" if $name !~ /^(js|lo|rg|tr|nm|ch)$/;
	return "count($name)";
}

# The same of an expression of a column, whose results all look different.
sub aggregate_of_expression
{
	my ($name) = @_;
	my $value = '(' . pick(@{ $expressions{$name} }) =~ s/(?<!")\bC\b/$name/gr . ')';

	return "count(DISTINCT $value)" if chance(0.5) || $name =~ /^(nd|cn|kn)$/;
	$value .= '::text';
	return pick("min($value)", "max($value)", "count(DISTINCT $value)", "mode() WITHIN GROUP (ORDER BY $value)", "percentile_disc(ARRAY[0.2, 1]) WITHIN GROUP (ORDER BY $value DESC)",
		"md5(string_agg(DISTINCT $value, ',')::text)", "md5(array_agg($value ORDER BY $value)::text)");
}

sub aggregate
{
	my ($table) = @_;
	my $filter = chance(0.15) ? ' FILTER (WHERE ' . pick('x > 20', 'y % 2 = 0', 'x IS NULL') . ')' : '';
	my $name = pick(@{ $tables{$table} });
	my $of = $expressions{$name} && chance(0.3) ? aggregate_of_expression($name) : aggregate_of($name);

	# A function of an aggregate has its FILTER inside.
	return $of =~ s/\)::text\)$/)$filter\::text)/r =~ s/^(?!md5)(.*)$/$1$filter/sr if chance(0.5);

	return weighted(
		'count(*)' => 4, 'count(x)' => 1, 'sum(x)' => 3, 'sum(y)' => 1, 'avg(x)' => 1, 'min(y)' => 1, 'max(x)' => 1, 'count(DISTINCT x)' => 1, 'percentile_disc(0.5) WITHIN GROUP (ORDER BY x)' => 1,
		'percentile_cont(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY y)' => 1, 'mode() WITHIN GROUP (ORDER BY x)' => 0.5, 'array_agg(x ORDER BY x)' => 1,
		'sum(x * 0.5)' => 0.7, 'regr_avgx(y, x)' => 0.7, 'regr_count(x, y)' => 0.3) . $filter;
}

sub where
{
	my ($table) = @_;
	return '' if chance(0.65);
	return ' WHERE ' . pick('x > 10', 'y IS NOT NULL', 'id % 7 = 3', 'id < 900', 'x < -500', ($table ne 'nothing' ? "$tables{$table}[0] IS NOT NULL" : ()));
}

# What rows are grouped by: all columns, or sets of these.
sub by
{
	return join(', ', @_) if chance(0.85);
	return pick('ROLLUP', 'CUBE') . '(' . join(', ', @_) . ')' if chance(0.7);
	return 'GROUPING SETS (' . join(', ', (map { "($_)" } @_), pick('()', '(' . join(', ', @_) . ')')) . ')';
}

# GROUP BY and DISTINCT; no result depends on which of equal values came first.
sub grouped
{
	my $table = pick(@names);
	my @groups = map { group($table) } 1 .. weighted(1 => 6, 2 => 3, 3 => 1);
	my $from = "FROM $table" . where($table);
	my @list = map { $_->{shown} // $_->{sql} } @groups;

	return { sql => 'SELECT count(*) FROM (SELECT DISTINCT ' . join(', ', map { "$_->{sql}" } @groups) . " $from) q", compare => 'set' } if chance(0.1);
	return { sql => 'SELECT DISTINCT ' . join(', ', map { $_->{sql} } @groups) . " $from", compare => 'set' } if chance(0.15) && !grep { $_->{shown} && $shown{ $_->{column} } } @groups;
	my $sql = 'SELECT ' . join(', ', @list, map { aggregate($table) } 1 .. weighted(0 => 1, 1 => 4, 2 => 3, 3 => 2)) . " $from GROUP BY " . by(map { $_->{sql} } @groups);
	$sql .= ' HAVING ' . pick('count(*) > 1', 'sum(x) % 2 = 0', 'min(y) > 1000') if chance(0.15);
	return { sql => "SELECT g, (SELECT count(*) FROM ($sql) q) FROM generate_series(1, 3) g", compare => 'set' } if chance(0.03);
	return { sql => "SELECT g, q.n FROM generate_series(0, 2) g CROSS JOIN LATERAL (SELECT count(*) AS n FROM (SELECT " . join(', ', map { $_->{sql} } @groups) . " FROM $table WHERE id % 3 = g GROUP BY " . join(', ', map { $_->{sql} } @groups) . ") r) q", compare => 'set' } if chance(0.07);
	if (chance(0.05))
	{
		return { sql => $sql, compare => 'set', portal => { fetch => pick(1, 7, 50), params => [] } };
	}
	return { sql => $sql, compare => 'set' };
}

my $runner = FuzzSql::Runner->new(
	connection => { host => $node->host, port => $node->port, user => scalar getpwuid($<), database => 'postgres' },
	seed => $seed,
	modes => {
		core => 'SET hpsort.debug_sort = forbid; SET hpsort.debug_aggregate = forbid; SET hpsort.debug_scan = forbid',
		force => 'SET hpsort.debug_sort = allow; SET hpsort.debug_aggregate = force; SET hpsort.debug_scan = force'
	},
	scan => 'HpSort Aggregate');

# The same ones both ways.
sub settings
{
	my %set = (work_mem => weighted('64kB' => 4, '64MB' => 3, '512kB' => 1), hash_mem_multiplier => pick(1, 2));

	%set = (%set, max_parallel_workers_per_gather => 2, parallel_setup_cost => 0, parallel_tuple_cost => 0, min_parallel_table_scan_size => 0, parallel_leader_participation => weighted(on => 4, off => 1)) if chance(0.35);
	$set{ pick(qw(enable_hashagg enable_sort)) } = 'off' if chance(0.2);
	return join('; ', map { "SET $_ = '$set{$_}'" } sort keys %set);
}

$runner->run($queries, $only, sub {
	my $step = grouped();
	my $before = chance(0.05) ? pick('UPDATE few SET x = x + 1 WHERE id % 3 = 0', 'DELETE FROM part WHERE id % 4 = 1', "INSERT INTO nothing SELECT * FROM few WHERE id < 100") : undef;

	return ({ kind => 'groups', steps => [$step], explain => $step->{sql} }, settings(), $before, 'force');
});

diag($runner->summary);
$runner->ok_all($queries, $only);
$runner->ok_scan(0.6) if !$only && $queries >= 300;

# --- Plans, rights

sub plan_of { return $node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET hpsort.debug_aggregate = force; EXPLAIN (COSTS OFF) $_[0]"); }

like(plan_of('SELECT tx, avg(x), min(tc) FROM few GROUP BY tx'), qr/^Gather\n.*Parallel Custom Scan \(HpSort Aggregate\)/s, 'processes give numbers together');
like(plan_of('SELECT x, count(DISTINCT lower(tx)), min(upper(tc)) FROM few GROUP BY x'), qr/^Gather Merge\n.*Parallel Custom Scan \(HpSort Aggregate\)/s, 'also of expressions');
like(plan_of('SELECT DISTINCT tx FROM few'), qr/^Gather\n.*Parallel Custom Scan \(HpSort Aggregate\)/s, 'also of different values');
like(plan_of('SELECT f8, count(*), sum(x), min(y) FROM few GROUP BY f8'), qr/Finalize HashAggregate.*Gather.*Parallel Custom Scan \(HpSort Aggregate\).*PARTIAL sum\(x\)/s, 'core puts together groups of floats');
unlike(plan_of('SELECT f8, avg(x) FROM few GROUP BY f8'), qr/Parallel Custom Scan \(HpSort Aggregate\)/, 'but no states that are not results');
like(plan_of('SELECT f8, sum(x * 0.5), regr_avgx(y, x) FROM few GROUP BY ROLLUP (f8)'), qr/^Custom Scan \(HpSort Aggregate\)/, 'sets of floats, with states');
unlike(plan_of('SELECT nu, x, count(*) FROM few GROUP BY nu, x'), qr/HpSort Aggregate/, 'which of equal values is returned depends on the group');
unlike(plan_of('SELECT cn, x, count(*) FROM few GROUP BY cn, x'), qr/HpSort Aggregate/, 'nor of a char(n) in a collation in which different ones are equal') if $icu;
unlike(plan_of('SELECT pg_column_size(tx), count(*) FROM few GROUP BY 1'), qr/HpSort Aggregate/, 'no expressions of how values are stored');

my ($status, $out, $error);
$node->safe_psql('postgres', 'CREATE ROLE reader; GRANT SELECT ON few TO reader; REVOKE EXECUTE ON FUNCTION texteq(text, text) FROM PUBLIC');
for my $mode (qw(forbid force))
{
	($status, $out, $error) = $node->psql('postgres', "SET hpsort.debug_aggregate = $mode; SET ROLE reader; SELECT tx, count(*) FROM few GROUP BY tx");
	like($error, qr/permission denied for function texteq/, "$mode: equality is the user's to call");
}

$node->stop;
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC:|TRAP:/, 'no crash');
done_testing();
