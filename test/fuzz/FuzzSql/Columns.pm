# FuzzSql::Columns: tables whose columns of a name have the same type and are
# made by the same expression of g, the number of the row.  Each has a column id,
# different in each row.
#
# The kinds of columns are { name => [ type, class, expression, collation ] }, the
# classes those of FuzzSql::Relations; the collation with its COLLATE, if any.
package FuzzSql::Columns;

use strict;
use warnings;

# Kinds that most want.
our %common = (
	i2 => [ 'int2', 'int', q{CASE g % 50 WHEN 1 THEN -32768 WHEN 2 THEN 32767 ELSE (random() * 60)::int - 30 END::int2} ],
	i4 => [ 'int4', 'int', q{(random() * 4294967295 - 2147483648)::int8::int4} ],
	i8 => [ 'int8', 'int', q{CASE WHEN random() < 0.02 THEN -9223372036854775808 WHEN random() < 0.02 THEN 9223372036854775807 ELSE (random() * 1e15)::int8 END} ],
	x => [ 'int4', 'int', q{(random() * 100)::int4 - 20} ],
	y => [ 'int4', 'int', q{(random() * 100000)::int4} ],
	k => [ 'int8', 'int', q{CASE WHEN random() < 0.95 THEN 42 ELSE (random() * 1e6)::int8 END} ],
	one => [ 'int4', 'int', '7' ],
	none => [ 'int4', 'int', 'NULL::int4' ],
	d => [ 'date', 'date', q{CASE floor(random() * 40) WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' ELSE '2001-02-03'::date + (random() * 400)::int END} ],
	b => [ 'bool', 'bool', 'random() > 0.3' ],
	c => [ 'char', 'char', q{((random() * 255)::int - 128)::"char"} ],
	o => [ 'oid', 'oid', '(random() * 4294967295)::int8::oid' ],
	m => [ 'mood', 'enum', '(enum_range(NULL::mood))[1 + floor(random() * 6)::int]' ],
	tm => [ 'time', 'time', q{CASE WHEN random() < 0.02 THEN '24:00' ELSE '00:00'::time + floor(random() * 1440) * '1 minute'::interval END} ],
	ts => [ 'timestamp', 'timestamp', q{CASE floor(random() * 40) WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' ELSE '2000-01-01'::timestamp + floor(random() * 300000) * '1 minute'::interval END} ],
	tz => [ 'timestamptz', 'timestamp', q{CASE floor(random() * 40) WHEN 1 THEN 'infinity' ELSE '2000-01-01'::timestamptz + floor(random() * 5000000) * '1 second'::interval END} ],
	late => [ 'int4', 'int', '(random() * 9)::int4' ],
	late_d => [ 'date', 'date', q{'2020-01-01'::date + (random() * 9)::int} ]);

sub new { return bless { kinds => $_[1], tables => [] }, $_[0]; }

# The tables as FuzzSql::Relations wants them.
sub tables { return @{ $_[0]{tables} }; }

sub sql_type
{
	my ($self, $name) = @_;
	my ($type, $collation) = @{ $self->{kinds}{$name} }[ 0, 3 ];
	return ($type eq 'char' ? '"char"' : $type) . ($collation // '');
}

sub list { my ($self, @names) = @_; return join(', ', map { "$_ " . $self->sql_type($_) } @names); }

sub definition { my ($self, @names) = @_; return 'id int4, ' . $self->list(@names); }

# Rows, of which this share has NULL in a column.
sub insert
{
	my ($self, $table, $from, $to, $nulls, @names) = @_;
	my @values = map { my $value = $self->{kinds}{$_}[2]; $nulls && !/^(one|none)$/ ? "CASE WHEN random() >= $nulls THEN $value END" : $value } @names;

	return "INSERT INTO $table (id, " . join(', ', @names) . ') SELECT g, ' . join(', ', @values) . " FROM generate_series($from, $to) g;\n";
}

# A column as FuzzSql::Relations wants it.
sub column
{
	my ($self, $name) = @_;
	my ($type, $class) = @{ $self->{kinds}{$name} };
	return { name => $name, type => $name eq 'big' ? 'big' : $type, class => $class, sql => $self->sql_type($name) };
}

# Tells the generator of a table.
sub table
{
	my ($self, $name, $rows, $kind, @names) = @_;

	push @{ $self->{tables} }, {
		name => $name,
		kind => $kind,
		rows => $rows,
		columns => [ { name => 'id', type => 'int4', class => 'int', sql => 'int4' }, map { $self->column($_) } @names ]
	};
	return;
}

# A table and its rows, which the generator is told of.
sub create
{
	my ($self, $name, $rows, $nulls, @names) = @_;

	$self->table($name, $rows, 'plain', @names);
	return "CREATE TABLE $name (" . $self->definition(@names) . ");\n" . ($rows ? $self->insert($name, 1, $rows, $nulls, @names) : '');
}

# A partitioned table of so many rows: a partition with its columns elsewhere, one empty, one partitioned again.
sub create_partitioned
{
	my ($self, $name, $rows, $nulls, @names) = @_;
	my ($first, $second) = (int($rows * 0.36), int($rows * 0.6));

	$self->table($name, $rows, 'partitioned', @names);
	return "CREATE TABLE $name (" . $self->definition(@names) . ") PARTITION BY RANGE (id);\nCREATE TABLE ${name}_1 PARTITION OF $name FOR VALUES FROM (MINVALUE) TO ($first);\n"
	  . "CREATE TABLE ${name}_2 (gone text, " . $self->list(reverse @names) . ", id int4);\nALTER TABLE ${name}_2 DROP COLUMN gone; ALTER TABLE $name ATTACH PARTITION ${name}_2 FOR VALUES FROM ($first) TO ($second);\n"
	  . "CREATE TABLE ${name}_3 PARTITION OF $name FOR VALUES FROM ($second) TO (MAXVALUE) PARTITION BY HASH (id);\n"
	  . join('', map { "CREATE TABLE ${name}_3_$_ PARTITION OF ${name}_3 FOR VALUES WITH (MODULUS 2, REMAINDER $_);\n" } 0, 1)
	  . $self->insert($name, 1, $rows, $nulls, @names) . "DELETE FROM ${name}_3_1;\n";
}

# A table, its child and its grandchild.
sub create_inherited
{
	my ($self, $name, $rows, $nulls, @names) = @_;
	my ($first, $second) = (int($rows * 0.25), int($rows * 0.75));

	$self->table($name, $rows, 'inherited', @names);
	return "CREATE TABLE $name (" . $self->definition(@names) . ");\nCREATE TABLE ${name}_child (more text DEFAULT 'more') INHERITS ($name); CREATE TABLE ${name}_grandchild () INHERITS (${name}_child);\n"
	  . $self->insert($name, 1, $first, $nulls, @names) . $self->insert("${name}_child", $first + 1, $second, $nulls, @names) . $self->insert("${name}_grandchild", $second + 1, $rows, $nulls, @names);
}

# Old and new versions of rows, and rows of others that were never committed.
sub dead
{
	my ($table, $column) = @_;
	return "UPDATE $table SET $column = $column WHERE id % 7 = 0; DELETE FROM $table WHERE id % 11 = 3;\n"
	  . "BEGIN; INSERT INTO $table SELECT * FROM $table WHERE id % 5 = 0; ROLLBACK;\n";
}

1;
