# FuzzSql::Tables: random tables.  Their contents are made by SQL from the seed
# of the round, so that a report has the whole table in a few lines.
package FuzzSql::Tables;

use strict;
use warnings;
use FuzzSql::Random;

# What the types of a round need.  The enum's labels are not in the order of
# their OIDs.
our @types_ddl = (
	"CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
	"ALTER TYPE mood ADD VALUE 'glum' BEFORE 'ok'",
	"ALTER TYPE mood ADD VALUE 'worst' BEFORE 'sad'",
	"ALTER TYPE mood ADD VALUE 'best' AFTER 'happy'",
	'CREATE DOMAIN small AS int2',
	'CREATE DOMAIN plain AS int4 CHECK (VALUE IS DISTINCT FROM 4711471)',
	'CREATE DOMAIN plainer AS plain',
	'CREATE DOMAIN day AS date',
	'CREATE DOMAIN feeling AS mood');

# Each type: its class, which says what expressions there are; how a value is
# made of a nonnegative int8 v; and its extremes.
our %types = (
	int2 => { class => 'int', value => '((v % 65536) - 32768 * (v % 65536 / 32768) * 2)::int2', extremes => [ '(-32768)::int2', '32767::int2', '0::int2' ] },
	int4 => { class => 'int', value => '(v % 2147483648 - OFFSET)::int4', extremes => [ '(-2147483648)::int4', '2147483647', '(-2147483647)', '2147483646' ] },
	int8 => {
		class => 'int',
		value => '(v - OFFSET)',
		extremes => [ '(-9223372036854775808)::int8', '9223372036854775807', '(-9223372036854775807)', '4294967296', '(-4294967297)' ]
	},
	wide => { sql => 'int8', class => 'int', value => '(v * 1000003 - OFFSET)', extremes => [ '9223372036854775807', '(-9223372036854775808)::int8' ] },
	date => { class => 'date', value => "('2000-01-01'::date + (v % 1000000)::int4)", extremes => [ "'infinity'::date", "'-infinity'::date", "'4713-01-01 BC'::date", "'5874897-12-31'::date" ] },
	bool => { class => 'bool', value => '(v % 2 = 0)', extremes => [ 'true', 'false' ] },
	char => { sql => '"char"', class => 'char', value => '((v % 256)::int4 - 128)::"char"', extremes => [ q{'a'::"char"}, q{(-128)::"char"}, q{127::"char"}, q{0::"char"} ] },
	oid => { class => 'oid', value => '(v % 4294967296)::oid', extremes => [ '0::oid', '4294967295::oid', '2147483648::oid' ] },
	mood => { class => 'enum', value => '(enum_range(NULL::mood))[1 + v % 6]', extremes => [ "'worst'::mood", "'best'::mood" ] },
	time => { class => 'time', value => "('00:00'::time + v % 86400000 * '1 ms'::interval)", extremes => [ "'24:00'::time", "'00:00'::time", "'23:59:59.999999'::time" ] },
	timestamp => {
		class => 'timestamp',
		value => "('2000-01-01'::timestamp + v % 1000000000 * 'UNIT'::interval)",
		extremes => [ "'infinity'::timestamp", "'-infinity'::timestamp", "'294276-12-31 23:59:59.999999'::timestamp", "'4713-01-02 BC'::timestamp" ]
	},
	timestamptz => { class => 'timestamp', value => "('2000-01-01 UTC'::timestamptz + v % 1000000000 * 'UNIT'::interval)", extremes => [ "'infinity'::timestamptz", "'-infinity'::timestamptz" ] },
	small => { class => 'int', value => '(v % 1000 - 500)::int2::small', extremes => [ '(-32768)::int2::small', '32767::int2::small' ] },
	plain => { class => 'int', value => '(v % 1000000)::int4::plain', extremes => [ '(-2147483648)::int4::plain', '2147483647::plain' ] },
	plainer => { class => 'int', value => '(v % 1000)::int4::plainer', extremes => [ '(-2147483648)::int4::plainer', '2147483647::plainer' ] },
	day => { class => 'date', value => "('2000-01-01'::date + (v % 366)::int4)::day", extremes => [ "'infinity'::day", "'-infinity'::day" ] },
	feeling => { class => 'opaque', value => '(enum_range(NULL::mood))[1 + v % 6]::feeling', extremes => [ "'worst'::feeling", "'best'::feeling" ] },
	text => { class => 'text', value => "('t' || v)", extremes => [ "''", "repeat('z', 300)", "'T1'" ] },
	padded => { sql => 'text', class => 'text', value => "lpad(v::text, 12, 'x')", extremes => [ "''" ] },
	numeric => { sql => 'numeric(24,2)', class => 'numeric', value => '((v - OFFSET) / 4.0)::numeric(24,2)', extremes => [ "'NaN'::numeric(24,2)", '0::numeric(24,2)' ] },
	float8 => { class => 'float', value => '((v - OFFSET) / 4.0)::float8', extremes => [ "'NaN'::float8", "'infinity'::float8", "'-infinity'::float8" ] },
	float4 => { class => 'float', value => '(v % 100000 / 4.0)::float4', extremes => [ "'NaN'::float4", "'infinity'::float4" ] },
	big => {
		sql => 'text',
		class => 'text',
		value => q{CASE WHEN g % 9 = 0 THEN (SELECT string_agg(md5(i::text || g), '') FROM generate_series(1, 90) i) }
		  . q{WHEN g % 9 = 1 THEN repeat('xy', 2000 + g % 7) ELSE 'b' || v % 100 END},
		extremes => [ "''" ]
	});
my @mapped = qw(int2 int4 int4 int8 wide date bool char oid mood time timestamp timestamptz small plain plainer day feeling);
my @others = qw(text padded numeric float8 float4);

# A nonnegative int8 for row g of $n rows.
sub distribution
{
	my ($n) = @_;
	my $range = weighted(2 => 2, 10 => 3, 100 => 3, 3000 => 3, 30000 => 2, 70000 => 2, 1000000 => 2, 3000000000 => 1, 1e12 => 1);
	my $uniform = sprintf('floor(random() * %.0f)', $range);

	return weighted(
		$uniform => 10,
		sprintf('floor(power(random(), 8) * %.0f)', $range) => 4,
		sprintf('CASE WHEN random() < 0.95 THEN %.0f ELSE %s END', int($range / 2), $uniform) => 3,
		sprintf('floor(g::float8 * %.0f / %d)', $range, $n + 1) => 2,
		sprintf('floor((%d - g)::float8 * %.0f / %d)', $n, $range, $n + 1) => 1,
		'g - g % 100 + floor(random() * 100)' => 2,
		sprintf('g %% %d', between(2, 40)) => 2,
		sprintf('(g %% 2) * %.0f', $range) => 1,
		sprintf('%.0f', int($range / 2)) => 1);
}

# PostgreSQL finds no operators for a domain over an enum: its columns, of the
# class "opaque", are known by their names.
sub suffix { return $types{ $_[0] }{class} eq 'opaque' ? '_f' : ''; }

# A column: { name, type, class, sql type, value }.
sub column
{
	my ($name, $type, $n) = @_;
	my $value = $types{$type}{value};
	my $offset = weighted(0 => 3, 1 => 1, 50 => 2, 1500 => 1, 1000000000 => 1);
	my $unit = pick('1 us', '1 ms', '1 second', '1 minute', '1 day');

	$value =~ s/OFFSET/$offset/;
	$unit = '1 minute' if $unit eq '1 day' && chance(0.7);
	$value =~ s/UNIT/$unit/;
	# A thousand million days are more than a timestamp has.
	$value =~ s/% 1000000000/% 1000000/ if $unit eq '1 day';
	if (chance(0.2))
	{
		my @extremes = @{ $types{$type}{extremes} };
		my $cases = join(' ', map { "WHEN $_ THEN $extremes[$_]" } 0 .. $#extremes);
		my $share = pick(2, 20, 200);
		$value = sprintf('CASE floor(random() * %d) %s ELSE %s END', @extremes * $share, $cases, $value);
	}
	if (chance(0.4))
	{
		$value = sprintf('CASE WHEN random() < %s THEN NULL ELSE %s END', pick(0.01, 0.1, 0.5, 0.97, 1), $value);
	}
	return { name => $name, type => $type, class => $types{$type}{class}, sql => $types{$type}{sql} // $type, value => $value, v => distribution($n) };
}

# Rows $from to $to, as a statement.
sub insert
{
	my ($into, $from, $to, @columns) = @_;
	my $select = join(', ', map { my $value = $_->{value}; $value =~ s/\bv\b/v_$_->{name}/g; $value } @columns);
	my $inner = join(', ', map { "($_->{v})::int8 AS v_$_->{name}" } @columns);

	return sprintf('INSERT INTO %s (%s) SELECT %s FROM (SELECT g, %s FROM generate_series(%d, %d) g OFFSET 0) s',
		$into, join(', ', 'id', map { $_->{name} } @columns), join(', ', 'g', $select), $inner, $from, $to);
}

# Partitions of a table whose key is id or p; one of them with its columns in
# another place.
sub partitions
{
	my ($name, $n, @columns) = @_;
	my $way = pick('range', 'hash', 'list');
	my @third = (int($n / 3), int($n * 2 / 3) + 1);
	my @bounds =
		$way eq 'range' ? ("FROM (MINVALUE) TO ($third[0])", "FROM ($third[0]) TO ($third[1])", "FROM ($third[1]) TO (MAXVALUE)")
	  : $way eq 'hash' ? map { "WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2
	  : ('IN (0)', 'IN (1, NULL)', undef);
	my @ddl;

	@bounds = map { defined $_ ? "FOR VALUES $_" : 'DEFAULT' } @bounds;
	for my $i (0 .. $#bounds)
	{
		if ($i == 1 && chance(0.6))
		{
			my @moved = reverse grep { !$_->{dropped} } @columns;
			push @ddl, sprintf('CREATE TABLE %s_%d (gone text, %s, id int4, gone2 int8)', $name, $i, join(', ', map { "$_->{name} $_->{sql}" } @moved)),
			  "ALTER TABLE ${name}_$i DROP COLUMN gone, DROP COLUMN gone2",
			  "ALTER TABLE $name ATTACH PARTITION ${name}_$i $bounds[$i]";
		}
		elsif ($i == 2 && chance(0.3))
		{
			push @ddl, "CREATE TABLE ${name}_$i PARTITION OF $name $bounds[$i] PARTITION BY HASH (id)",
			  map { "CREATE TABLE ${name}_${i}_$_ PARTITION OF ${name}_$i FOR VALUES WITH (MODULUS 2, REMAINDER $_)" } 0, 1;
		}
		else
		{
			push @ddl, "CREATE TABLE ${name}_$i PARTITION OF $name $bounds[$i]";
		}
	}
	return ($way, @ddl);
}

# A table: { name, ddl, columns, rows, temp }.
sub make
{
	my ($name) = @_;
	my $n = weighted(0 => 4, 1 => 2, between(2, 40) => 10, between(100, 999) => 18, between(1000, 5000) => 45, between(5000, 12000) => 21);
	my $kind = weighted(plain => 45, partitioned => 20, inherited => 12, unlogged => 8, temp => 15);
	my @columns;
	my @ddl;

	for my $i (1 .. between(2, 7))
	{
		my $type = $i == 1 ? pick(@mapped) : weighted(pick(@mapped) => 7, pick(@others) => 3);
		push @columns, column("c$i" . suffix($type), $type, $n);
	}
	push @columns, column('p', 'int4', $n) if $kind eq 'partitioned';
	$columns[-1]{v} = 'floor(random() * 4)', $columns[-1]{value} = 'v::int4' if $kind eq 'partitioned';
	push @columns, column('big', 'big', $n) if $n <= 6000 && chance(0.25);

	my $late = @columns > 2 && $kind ne 'partitioned' && chance(0.4) ? 1 : undef;
	if ($late)
	{
		# Often of a type that is read by pages.
		$columns[1] = column('c2', pick('int4', 'int2', 'date'), $n) if chance(0.6);
		$late = $columns[1];
		$late->{late} = 1;
	}
	my @early = grep { !$late || $_ != $late } @columns;
	my $dropped = chance(0.35);
	my $create = sprintf('CREATE %s %s (%sid int4, %s%s)',
		$kind eq 'unlogged' ? 'UNLOGGED TABLE' : $kind eq 'temp' ? 'TEMP TABLE' : 'TABLE', $name,
		$dropped ? "gone text DEFAULT 'gone', " : '', join(', ', map { "$_->{name} $_->{sql}" } @early), $dropped && chance(0.5) ? ', gone2 int8 DEFAULT 7' : '');
	my $gone2 = $create =~ /gone2/;
	my @into = ($name);

	if ($kind eq 'partitioned')
	{
		my ($way, @partitions) = partitions($name, $n, @columns);
		push @ddl, $create . ' PARTITION BY ' . ($way eq 'list' ? 'LIST (p)' : uc($way) . ' (id)');
		push @ddl, "ALTER TABLE $name DROP COLUMN gone" . ($gone2 ? ', DROP COLUMN gone2' : '') if $dropped;
		push @ddl, @partitions;
		$dropped = 0;
	}
	elsif ($kind eq 'inherited')
	{
		push @ddl, $create, "CREATE TABLE ${name}_a (more text DEFAULT 'more') INHERITS ($name)", "CREATE TABLE ${name}_b () INHERITS ($name)",
		  "CREATE TABLE ${name}_c () INHERITS (${name}_b)";
		push @into, "${name}_a", "${name}_b", "${name}_c";
	}
	else
	{
		push @ddl, $create;
		push @ddl, "ALTER TABLE $name ALTER COLUMN big SET STORAGE EXTERNAL" if $columns[-1]{name} eq 'big' && chance(0.5);
	}

	# Half of the rows may be older than a column, which they then have by its default.
	my $from = 1;
	my @shares = map { int($n * $_ / @into) } 1 .. @into;
	for my $i (0 .. $#into)
	{
		my $half = $from + int(($shares[$i] - $from) / 2);
		push @ddl, insert($into[$i], $from, $late ? $half : $shares[$i], @early) if $shares[$i] >= $from;
		$from = $shares[$i] + 1;
	}
	if ($dropped)
	{
		push @ddl, "ALTER TABLE $name DROP COLUMN gone" . ($gone2 ? ', DROP COLUMN gone2' : '');
	}
	if ($late)
	{
		my $default = chance(0.6) ? " DEFAULT $types{$late->{type}}{extremes}[0]" : '';
		push @ddl, "ALTER TABLE $name ADD COLUMN $late->{name} $late->{sql}$default";
		$from = 1;
		for my $i (0 .. $#into)
		{
			my $half = $from + int(($shares[$i] - $from) / 2);
			push @ddl, insert($into[$i], $half + 1, $shares[$i], @columns) if $shares[$i] > $half && $shares[$i] >= $from;
			$from = $shares[$i] + 1;
		}
	}
	push @ddl, change($name, $kind, $n, @columns);
	return { name => $name, kind => $kind, ddl => \@ddl, rows => $n, columns => [ { name => 'id', type => 'int4', class => 'int', sql => 'int4' }, @columns ] };
}

# What happens to a table afterwards: dead rows, indexes, vacuum, statistics.
sub change
{
	my ($name, $kind, $n, @columns) = @_;
	my @ddl;

	push @ddl, "DELETE FROM $name WHERE id % " . between(2, 20) . ' = 1' if chance(0.3);
	if (chance(0.35))
	{
		my $column = pick(grep { $_->{name} ne 'p' } @columns);
		my $value = $column->{value};
		$value =~ s/\bv\b/(id::int8 % 1000)/g;
		$value =~ s/\bg\b/id/g;
		push @ddl, "UPDATE $name SET $column->{name} = $value WHERE id % " . between(1, 9) . ' = 0';
	}
	push @ddl, 'BEGIN', "UPDATE $name SET id = -id", 'ROLLBACK' if chance(0.15);
	push @ddl, 'BEGIN', "DELETE FROM $name WHERE id > 10", 'ROLLBACK' if chance(0.1);
	push @ddl, sprintf('CREATE INDEX ON %s (%s%s)', $name, join(', ', map { $_->{name} . pick('', '', ' DESC', ' NULLS FIRST') } some(between(1, 2), @columns)), pick('', '', ', id'))
	  if $columns[-1]{name} ne 'big' && chance(0.35);
	push @ddl, "CREATE INDEX ON $name (id)" if chance(0.4);
	push @ddl, (weighted("VACUUM ANALYZE $name" => 3, "ANALYZE $name" => 3, "VACUUM $name" => 2, '' => 2)) if $n;
	push @ddl, "DELETE FROM $name WHERE id % 13 = 5" if chance(0.15);
	return grep { length } @ddl;
}

# All tables of a round.
sub make_all
{
	return map { make("t$_") } 1 .. between(3, 4);
}

1;
