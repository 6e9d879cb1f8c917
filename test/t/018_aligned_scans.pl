# Aligned scans of the column reader, which no SQL function shows: columns of all types
# that it reads, with filters, of tables of random layouts and histories, are the
# rows that PostgreSQL returns.  test/modules/hpsort_columns calls the reader.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Cwd qw(getcwd);
use File::Copy qw(copy);
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

random_seed();
my $tables = $ENV{HPSORT_TEST_TABLES} // at_length(10, 40);

# Built in a directory of this test alone, for the PostgreSQL whose pg_config comes first in PATH.
my $module = PostgreSQL::Test::Utils::tempdir();
my $source = getcwd();
copy("test/modules/hpsort_columns/$_", $module) or die "$_: $!" for ('Makefile', 'hpsort_columns.c');
{
	local %ENV = %ENV;
	delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES)};
	command_ok([ 'make', '-s', '-C', $module, 'with_llvm=no', "HPSORT=$source" ], 'the module is built');
}

my $node = new_cluster('aligned');
$node->append_conf('postgresql.conf', "autovacuum = off\nshared_buffers = 1MB\nsynchronize_seqscans = off\n");
$node->start;
$node->safe_psql('postgres', <<"SQL");
CREATE EXTENSION hpsort;
CREATE FUNCTION read_aligned(regclass, columns text[], qual text, filters text[], conditions text[]) RETURNS SETOF text[] LANGUAGE c STRICT
	AS '$module/hpsort_columns', 'hpsort_columns_read';
CREATE FUNCTION tableam(internal) RETURNS table_am_handler LANGUAGE c AS '$module/hpsort_columns', 'hpsort_columns_tableam';
CREATE ACCESS METHOD no_heap TYPE TABLE HANDLER tableam;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
ALTER TYPE mood ADD VALUE 'so so' AFTER 'sad';
CREATE DOMAIN key AS int4;
CREATE DOMAIN stamp AS timestamptz;
CREATE DOMAIN temper AS mood;
CREATE FUNCTION shown(anyelement) RETURNS text LANGUAGE sql STABLE AS \$\$ SELECT CASE WHEN \$1 IS NOT NULL THEN format('%s', \$1) END \$\$;
SQL

sub pick { return $_[int(rand(@_))]; }

# Values of row i, with both ends of each type, in text.
my %types = (
	bool => [ 'true', 'false', 'i % 3 = 0' ],
	'"char"' => [ "''", "chr((i % 127) + 1)", q{E'\\\\377'} ],
	int2 => [ '-32768', '32767', '(i % 300 - 150)' ],
	int4 => [ '-2147483648', '2147483647', '(random() * 1000)::int' ],
	key => [ '(i * 7919 % 1000)' ],
	date => [ "'infinity'", "'-infinity'", "date '1999-12-31' + (i % 7)::int" ],
	oid => [ '0', '4294967295', '2147483648', '2147483647', 'i' ],
	mood => [ "'sad'", "'so so'", "(enum_range(NULL::mood))[1 + i % 4]" ],
	temper => [ "(enum_range(NULL::mood))[1 + i % 3]" ],
	int8 => [ '-9223372036854775808', '9223372036854775807', '(random() * 1e15)::int8', 'i' ],
	time => [ "'00:00'", "'24:00'", "time '12:00' + i * interval '1 s'" ],
	timestamp => [ "'infinity'", "'-infinity'", "timestamp '1999-12-31' + i * interval '1 h'" ],
	timestamptz => [ "'infinity'", "'4713-01-01 BC'", "timestamptz '2024-02-29 12:00+00' - i * interval '1 day'" ],
	stamp => [ "timestamptz '2024-02-29 12:00+00' - i * interval '1 us'" ]);
my %others = (
	text => [ "repeat('x', (random() * 300)::int)", "''", "repeat('t', (i % 2 * 3000)::int)" ],
	numeric => ['random()::numeric'],
	float8 => ['random()'],
	float4 => ['1.5'],
	bytea => [ "'\\x'", "decode(repeat('ab', (random() * 20)::int), 'hex')" ],
	'int4[]' => [ "'{}'", "ARRAY[1, 2, i]::int4[]" ],
	name => ["'name'"],
	box => ['box(point(i, i), point(0, 0))']);

# One of the type's values, or any of them; with NULLs never, sometimes, mostly or always.
sub value
{
	my ($type, $with_nulls) = @_;
	my @values = map { "($_)::text::$type" } @{ $types{$type} // $others{$type} };
	my $value = rand() < 0.5 ? pick(@values) : "(CASE i % " . @values . join('', map { " WHEN $_ THEN $values[$_]" } 0 .. $#values) . ' END)';

	return $value unless $with_nulls;
	return pick($value, $value, $value, "CASE WHEN i % 50 <> 7 THEN $value END", "CASE WHEN random() < 0.3 THEN $value END", "NULL::$type");
}

# A condition that a column has, or has not, one of some values: of the table, few or most of them, and others.
sub key_condition
{
	my ($table, $column) = @_;
	my $rows = pick('true', 'false', 'id % 3 = 0', 'id % 20 = 1', 'id < 50', 'id % 10 > 0');

	return "$column " . pick('IN', 'IN', 'NOT IN') . " SELECT $column FROM $table WHERE $rows";
}

# The same for PostgreSQL: NULL is in no set. 
sub core_condition
{
	my ($column, $in, $query) = $_[0] =~ /^(\w+) (IN|NOT IN) (.*)$/;

	return $in eq 'IN' ? "$column IN ($query)" : "($column NOT IN ($query AND $column IS NOT NULL) OR $column IS NULL)";
}

my @settings = ('', 'BEGIN ISOLATION LEVEL SERIALIZABLE;');
my $rows_read = 0;
for my $t (1 .. $tables)
{
	my $table = "t$t";
	my (@columns, %type, %value);
	my $with_nulls = rand() < 0.7;
	my $add = sub {
		my ($name, $type) = @_;
		push @columns, $name;
		$type{$name} = $type;
		$value{$name} = value($type, $with_nulls);
	};
	my $fill = sub {
		return "INSERT INTO $table (" . join(', ', 'id', @columns) . ') SELECT ' . join(', ', 'i', map { $value{$_} } @columns) .
			" FROM generate_series(1, $_[0]) i;\n";
	};

	$add->("c$_", pick(rand() < 0.75 ? sort keys %types : sort keys %others)) for 1 .. 1 + int(rand(14));
	my @definitions = map { "$_ $type{$_}" } @columns;
	splice @definitions, int(rand(@definitions + 1)), 0, 'id int4';
	my $am = rand() < 0.15 ? ' USING no_heap' : '';
	my $sql = "CREATE TABLE $table (" . join(', ', @definitions) . ")$am;\n" . $fill->($t == 1 ? 20000 : pick(0, 1, 50, 700, 5000, 20000));
	for my $step (1 .. int(rand(6)))
	{
		my $what = pick('insert', 'update', 'delete', 'abort', 'vacuum', 'freeze', 'add', 'drop', 'hint');

		$sql .= $fill->(pick(1, 30, 700)) if $what eq 'insert';
		$sql .= "UPDATE $table SET id = id + 1 WHERE id % 5 = 0;\n" if $what eq 'update';
		$sql .= "DELETE FROM $table WHERE id % 7 = 3;\n" if $what eq 'delete';
		$sql .= "BEGIN;\n" . $fill->(50) . "DELETE FROM $table WHERE id < 90;\nROLLBACK;\n" if $what eq 'abort';
		$sql .= "VACUUM $table;\n" if $what eq 'vacuum';
		$sql .= "VACUUM (FREEZE) $table;\n" if $what eq 'freeze';
		$sql .= "SELECT count(*) FROM $table;\n" if $what eq 'hint';
		if ($what eq 'add')
		{
			my $type = pick(sort keys %types);
			my ($default) = grep { !/\bi\b|random/ } @{ $types{$type} };

			$add->("a$step", $type);
			$sql .= "ALTER TABLE $table ADD COLUMN a$step $type" . (defined $default && rand() < 0.7 ? " DEFAULT ($default)::text::$type" : '') . ";\n";
		}
		if ($what eq 'drop' && @columns > 1)
		{
			my $victim = splice @columns, int(rand(@columns)), 1;
			$sql .= "ALTER TABLE $table DROP COLUMN $victim;\n";
		}
	}
	my ($rc, $out, $err) = $node->psql('postgres', $sql, on_error_stop => 1);
	is($rc, 0, "$table is made") or diag("$sql\n$err");

	my @readable = ('id', grep { $types{ $type{$_} } } @columns);
	for my $scan (1 .. 6)
	{
		my @read = map { pick(@readable) } 1 .. int(rand(6));
		my $qual = pick('', '', '', 'id % 7 <> 2', "id % 2 = 0 AND $readable[-1] IS NOT NULL", 'false');
		my @filters = map { pick('id % 3 = 1', 'NULL::bool', 'true', pick(@columns) . ' IS NULL', "nullif(id % 4, 1) > 1",
			'$$' . pick(@readable) . '$$ <> shown(' . pick(@readable) . ')') } 1 .. pick(0, 0, 0, 1, 3);
		# A domain over an enum has no = in PostgreSQL.
		my @keyed = map { key_condition($table, pick(grep { ($type{$_} // '') ne 'temper' } @readable)) } 1 .. pick(0, 0, 1, 1, 2);
		my @elements = ((map { "shown($_)" } @read), map { "CASE WHEN $_ THEN 't' ELSE 'f' END" } @filters);
		if (!$am && rand() < 0.4)
		{
			push @read, 'ctid';
			push @elements, 'shown(ctid)';
		}
		my $where = 'WHERE ' . join(' AND ', $qual || 'true', map { core_condition($_) } @keyed);
		my $array = sub { return 'ARRAY[' . join(', ', map { "\$q\$$_\$q\$" } @_) . ']::text[]' };
		my $read = "read_aligned('$table', " . $array->(@read) . ", \$q\$$qual\$q\$, " . $array->(@filters) . ', ' . $array->(@keyed) . ')';
		my $check = pick(@settings) . <<"SQL";
WITH got AS (SELECT n, r FROM $read WITH ORDINALITY AS x(r, n)),
	want AS (SELECT row_number() OVER (ORDER BY ctid) AS n, ARRAY[@{[ join(', ', @elements) ]}]::text[] AS r FROM $table $where),
	want_all AS (SELECT * FROM want UNION ALL
		SELECT (SELECT count(*) FROM want) + 1, ARRAY['filtered', ((SELECT count(*) FROM $table) - (SELECT count(*) FROM want))::text])
SELECT n, got.r, want_all.r FROM got FULL JOIN want_all USING (n) WHERE got.r IS DISTINCT FROM want_all.r ORDER BY n LIMIT 3;
SELECT 'rows', count(*) - 1 FROM $read;
SQL

		($rc, $out, $err) = $node->psql('postgres', $check);
		my ($differences, $rows) = $out =~ /\A(.*?)\n?rows\|(\d+)\Z/s;
		ok($rc == 0 && defined $differences && $differences eq '', "$table read for the ${scan}th time equals core")
			or diag("$out\n$err\n$sql\n$check");
		$rows_read += $rows // 0;
	}
}
cmp_ok($rows_read, '>', 1000, 'there were rows');

# A filter that may fail is evaluated for rows that a condition of keys refuses, as it is below a join.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE failing AS SELECT i AS id FROM generate_series(1, 1000) i;
CREATE FUNCTION noted(int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN IF $1 = 7 THEN RAISE NOTICE 'seven'; END IF; RETURN true; END $$;
SQL
for my $case ([ '1 / (id - 5) >= 0', qr/ERROR:  division by zero/ ], [ 'noted(id)', qr/NOTICE:  seven/ ], [ 'id > 6 AND noted(id)', qr/NOTICE:  seven/ ])
{
	my (undef, $out, $err) = $node->psql('postgres',
		"SELECT count(*) FROM read_aligned('failing', '{id}', '$case->[0]', '{}', '{id IN SELECT id FROM failing WHERE id > 500 AND id % 3 = 0}')");

	like($err, $case->[1], "a condition of keys comes behind $case->[0]");
	is($out, '168', '... and refuses rows') if $err !~ /ERROR/;
}

$node->stop;
is(join('', grep { /PANIC:|TRAP:|terminated by signal|still referenced|leak|resource was not closed/ } split /^/m, slurp_file($node->logfile)), '',
	'nothing in the log');
done_testing();
