# FuzzSql::Relations: what stands in FROM, and the expressions over it.
#
# A relation is { from, with, columns, unique, lock, rows }: its text, the CTEs
# that it needs, its columns (sql, class), expressions that together are
# different in each row, whether FOR UPDATE is possible, and about how many rows
# it has at most.
package FuzzSql::Relations;

use strict;
use warnings;
use Exporter 'import';
use FuzzSql::Random;
our @EXPORT = qw(relation base key_expression ordered_key direction predicate where columns_of sortable_columns new_alias start_query @tables);

our @tables;
my $aliases;

# More rows than this are not asked for.
my $most_rows = 20000;

sub start_query { $aliases = 0; return; }

sub new_alias { return 'r' . ++$aliases; }

sub suffix { return $_[0]{class} eq 'opaque' ? '_f' : ''; }

sub columns_of
{
	my ($relation, @classes) = @_;
	my %wanted = map { $_ => 1 } @classes;
	return grep { $wanted{ $_->{class} } } @{ $relation->{columns} };
}

# Those for a result: long values rarely.
sub sortable_columns
{
	my ($relation) = @_;
	return grep { $_->{type} ne 'big' || chance(0.1) } @{ $relation->{columns} };
}

sub base
{
	my ($table) = @_;
	my $alias = new_alias();

	$table //= pick(@tables);
	return {
		from => ($table->{kind} eq 'inherited' && chance(0.1) ? 'ONLY ' : '') . "$table->{name} $alias",
		with => [],
		columns => [ map { { %$_, sql => "$alias.$_->{name}" } } @{ $table->{columns} } ],
		unique => ["$alias.id"],
		lock => 1,
		rows => $table->{rows},
		table => $table
	};
}

# A relation in parentheses, under a new name, with at most so many columns.
sub wrapped
{
	my ($relation, %options) = @_;
	my $alias = new_alias();
	my $i = 0;
	my @columns = map { { %$_, name => 'x' . ++$i . suffix($_) } } some($options{columns} // 4, sortable_columns($relation));
	my @unique = map { +{ sql => $_, class => 'int', type => 'int4', name => 'u' . ++$i } } @{ $relation->{unique} };
	my $list = join(', ', map { "$_->{sql} AS $_->{name}" } @columns, @unique);
	my $where = where($options{where} ? ($options{where}) : chance(0.3) ? predicate($relation) : ());
	my $text = "SELECT $list FROM $relation->{from}$where" . ($options{order} // '');
	my %new = (
		columns => [ map { { %$_, sql => "$alias.$_->{name}" } } @columns, @unique ],
		unique => [ map { "$alias.$_->{name}" } @unique ],
		with => $relation->{with},
		lock => 0,
		rows => $options{rows} // $relation->{rows});

	if (chance(0.2))
	{
		my $name = "w$alias";
		$new{with} = [ @{ $relation->{with} }, "$name AS " . pick('', 'MATERIALIZED ', 'NOT MATERIALIZED ') . "($text)" ];
		$new{from} = "$name $alias";
	}
	else
	{
		$new{from} = "($text) $alias";
	}
	return \%new;
}

# At most about so many rows of a table.
sub few
{
	my ($table, $most) = @_;
	my $relation = base($table);

	return $relation if $relation->{rows} <= $most;
	my $step = int($relation->{rows} / $most) + 1;
	return wrapped($relation, columns => 3, where => "$relation->{unique}[0] % $step = " . between(0, $step - 1), rows => $most);
}

# The condition of a join; whether one row of the left can meet many of the right.
sub join_condition
{
	my ($left, $right) = @_;
	my $id = $right->{unique}[0];

	if (chance(0.6))
	{
		my $column = chance(0.6) ? undef : pick(columns_of($left, 'int'));
		return (($column ? $column->{sql} : $left->{unique}[0]) . " = $id", 0);
	}
	for (1 .. 10)
	{
		my $mine = pick(@{ $left->{columns} });
		my @theirs = columns_of($right, $mine->{class});
		next if !@theirs || $mine->{class} =~ /^(timestamp|opaque)$/;
		my $theirs = pick(@theirs);
		return ("$mine->{sql} = $theirs->{sql}" . (chance(0.3) ? " AND $left->{unique}[0] = $id" : ''), 1);
	}
	return ("$left->{unique}[0] = $id", 0);
}

sub joined
{
	my ($depth) = @_;
	my $left = $depth > 0 && chance(0.3) ? relation($depth - 1) : base();
	my $most = int($most_rows / ($left->{rows} + 1)) + 1;
	my $right = chance(0.5) ? base() : few(pick(@tables), $most);
	my $kind = weighted('JOIN' => 4, 'LEFT JOIN' => 3, 'RIGHT JOIN' => 2, 'FULL JOIN' => 2);
	my ($condition, $many) = join_condition($left, $right);

	if ($many && $right->{rows} > $most)
	{
		($condition, $many) = ("$left->{unique}[0] = $right->{unique}[0]", 0);
	}
	$condition .= ' AND ' . predicate($right, simple => 1) if $kind ne 'FULL JOIN' && chance(0.2);
	return {
		from => "$left->{from} $kind $right->{from} ON $condition",
		with => [ @{ $left->{with} }, @{ $right->{with} } ],
		columns => [ @{ $left->{columns} }, @{ $right->{columns} } ],
		unique => [ @{ $left->{unique} }, @{ $right->{unique} } ],
		lock => $kind eq 'JOIN' && $left->{lock} && $right->{lock},
		rows => $many ? $left->{rows} * $right->{rows} : $left->{rows} + $right->{rows}
	};
}

# A subquery with an order of its own that decides which rows there are.
sub limited
{
	my ($depth) = @_;
	my $inner = chance(0.3) && $depth > 0 ? relation($depth - 1) : base();
	my @keys = map { ordered_key($inner) } 1 .. between(1, 2);

	if (chance(0.4))
	{
		my $key = key_expression($inner);
		my $dir = direction($key);
		return grouped_by_distinct($inner, $key, $dir);
	}
	return wrapped($inner, order => ' ORDER BY ' . join(', ', @keys, @{ $inner->{unique} }) . ' LIMIT ' . between(0, 300) . (chance(0.3) ? ' OFFSET ' . between(0, 200) : ''), rows => 300);
}

sub grouped_by_distinct
{
	my ($inner, $key, $dir) = @_;
	my $alias = new_alias();
	my ($column) = some(1, sortable_columns($inner));
	my @unique = map { "$inner->{unique}[$_] AS u$_" } 0 .. $#{ $inner->{unique} };

	return {
		from => "(SELECT DISTINCT ON ($key) $column->{sql} AS x" . suffix($column) . ', ' . join(', ', @unique) . " FROM $inner->{from} ORDER BY $key$dir, " . join(', ', @{ $inner->{unique} }) . ") $alias",
		with => $inner->{with},
		columns => [ { %$column, name => 'x', sql => "$alias.x" . suffix($column) }, map { +{ sql => "$alias.u$_", name => "u$_", class => 'int', type => 'int4' } } 0 .. $#unique ],
		unique => [ map { "$alias.u$_" } 0 .. $#unique ],
		lock => 0,
		rows => $inner->{rows}
	};
}

# A subquery for each row of a table; for few, since each reads another table.  Its
# LIMIT is a constant: PostgreSQL 17 returns too few rows where the LIMIT of a
# parallel plan is different in each rescan.
sub lateral
{
	my $outer = few(pick(@tables), 150);
	my $inner = base();
	my $alias = new_alias();
	my ($mine) = some(1, columns_of($outer, 'int'));
	my ($theirs) = some(1, columns_of($inner, 'int'));
	my @columns = some(2, sortable_columns($inner));
	my $i = 0;
	my $list = join(', ', map { "$_->{sql} AS y" . ++$i . suffix($_) } @columns);
	my $limit = pick(0, 1, 3, 10);
	my $join = pick('CROSS JOIN', 'LEFT JOIN');
	my $condition = pick("$theirs->{sql} = $mine->{sql}", "$theirs->{sql} > $mine->{sql}", "$inner->{unique}[0] % 17 = $outer->{unique}[0] % 17", 'true');

	$i = 0;
	return {
		from => "$outer->{from} "
		  . " $join LATERAL (SELECT $list, $inner->{unique}[0] AS z FROM $inner->{from} WHERE $condition ORDER BY "
		  . ordered_key($inner)
		  . ", $inner->{unique}[0] LIMIT $limit) $alias" . ($join eq 'LEFT JOIN' ? ' ON true' : ''),
		with => $outer->{with},
		columns => [ @{ $outer->{columns} }, (map { { %$_, sql => "$alias.y" . ++$i . suffix($_) } } @columns), { sql => "$alias.z", class => 'int', type => 'int4', name => 'z' } ],
		unique => [ @{ $outer->{unique} }, "$alias.z" ],
		lock => 0,
		rows => 1500,
	};
}

# Two tables' rows one after the other.
sub appended
{
	my @arms = (base(), base());
	my $alias = new_alias();
	my @texts;

	for my $i (0, 1)
	{
		my ($column) = some(1, columns_of($arms[$i], 'int'));
		push @texts, "SELECT $column->{sql}::int8 AS x, $arms[$i]{unique}[0] AS u, $i AS arm FROM $arms[$i]{from}" . where(chance(0.3) ? predicate($arms[$i], simple => 1) : ());
	}
	return {
		from => "($texts[0] UNION ALL $texts[1]) $alias",
		with => [],
		columns => [ map { +{ sql => "$alias.$_", name => $_, class => 'int', type => 'int4' } } qw(x u arm) ],
		unique => [ "$alias.arm", "$alias.u" ],
		lock => 0,
		rows => $arms[0]{rows} + $arms[1]{rows}
	};
}

sub relation
{
	my ($depth) = @_;
	my $kind = weighted(base => 50, join => 24, limited => 8, wrapped => 6, lateral => 6, appended => 6);
	my $relation;

	$depth //= 1;
	$relation =
		$kind eq 'join' ? joined($depth)
	  : $kind eq 'limited' ? limited($depth)
	  : $kind eq 'wrapped' && $depth > 0 ? wrapped(relation($depth - 1))
	  : $kind eq 'lateral' ? lateral()
	  : $kind eq 'appended' ? appended()
	  :                          base();
	return $relation;
}

# Something to sort or to group by.  It must not fail for any value of its type.
sub key_expression
{
	my ($relation) = @_;
	my $column = pick(chance(0.75) ? (grep { $_->{name} !~ /^(id|u\d+)$/ } @{ $relation->{columns} }) : ());
	$column //= pick(@{ $relation->{columns} });
	my ($sql, $class) = ($column->{sql}, $column->{class});
	my %expressions = (
		int => [ "$sql % 7", "$sql % 1000", "$sql / 3", "-(${sql}::numeric)", "($sql > 5)", "coalesce($sql, 3)", "($sql % 5)::int2", "CASE WHEN $sql > 100 THEN NULL ELSE $sql END", "${sql}::text", "($sql % 100)::int8 * 4294967296" ],
		date => [ "($sql > '2000-06-01')", "coalesce($sql, '2001-01-01')", "${sql}::text", "extract(dow FROM $sql)" ],
		bool => [ "(NOT $sql)", "($sql IS TRUE)", "${sql}::int" ],
		char => [ "${sql}::text", "coalesce($sql, 'q')" ],
		oid => [ "${sql}::int8", "coalesce($sql, 7::oid)" ],
		opaque => [ "${sql}::mood", "${sql}::text" ],
		enum => [ "${sql}::text", "($sql > 'ok')", "coalesce($sql, 'ok')" ],
		time => [ "extract(hour FROM $sql)", "coalesce($sql, '12:00')" ],
		timestamp => [ "date_trunc('month', $sql)", "${sql}::date", "($sql > '2000-02-01')" ],
		text => [ "length($sql)", "lower($sql)", "left($sql, 2)", "$sql COLLATE \"C\"" ],
		numeric => [ "round($sql)", "$sql * 2" ],
		float => [ "floor($sql)", "($sql > 3)" ],
		other_text => [ "length($sql)", "left($sql, 3)", "coalesce($sql, 'b')" ],
		bytes => [ "length($sql)", "substr($sql, 2)" ],
		uuid => [ "${sql}::text COLLATE \"C\"", "coalesce($sql, '80000000-0000-0000-0000-000000000000')" ],
		inet => [ "family($sql)", "host($sql) COLLATE \"C\"", "masklen($sql)" ],
		macaddr => [ "trunc($sql)" ],
		interval => [ "justify_hours($sql)", "($sql > '10 days')", "coalesce($sql, '1 day')" ]);

	return $sql if chance(0.75);
	return pick("($sql IS NULL)", @{ $expressions{$class} }) if chance(0.9);
	my $other = pick(@{ $relation->{columns} });
	return $class eq 'int' && $other->{class} eq 'int' ? "(${sql}::numeric + $other->{sql})" : "($sql IS NULL OR $other->{sql} IS NULL)";
}

# How a key is ordered; by operators where its type has them.
sub direction
{
	my ($key) = @_;
	return pick('', '', '', ' ASC', ' DESC', ' DESC', $key =~ /_f$/ ? () : (' USING >', ' USING <')) . pick('', '', '', ' NULLS FIRST', ' NULLS LAST');
}

# Something to sort by, with its direction.
sub ordered_key
{
	my $key = key_expression($_[0]);
	return $key . direction($key);
}

sub predicate
{
	my ($relation, %options) = @_;
	my $column = pick(@{ $relation->{columns} });
	my $id = $relation->{unique}[0];
	my $kind = weighted(modulo => 4, less => 3, null => 2, key => 3, between => 2, false => 0.3, semi => $options{simple} ? 0 : 3, exists => $options{simple} ? 0 : 2, or => 1);

	return "$id % " . between(2, 9) . ' = ' . between(0, 2) if $kind eq 'modulo';
	return "$id < " . pick(5, 100, 500, 1100, 3000, 20000) if $kind eq 'less';
	return "$column->{sql} IS NOT NULL" if $kind eq 'null' && chance(0.7);
	return "$column->{sql} IS NULL" if $kind eq 'null';
	return "$id BETWEEN " . between(0, 2000) . ' AND ' . between(1000, 9000) if $kind eq 'between';
	return 'false' if $kind eq 'false';
	return "($id % 5 = 2 OR $column->{sql} IS NULL)" if $kind eq 'or';
	if ($kind eq 'key')
	{
		my ($int) = some(1, columns_of($relation, 'int'));
		return "$int->{sql} " . pick('<', '>', '>=', '<>', '=') . ' ' . pick(0, 1, 3, 17, 500, 1000);
	}
	my $inner = base();
	my ($mine) = some(1, columns_of($relation, 'int'));
	my ($theirs) = some(1, columns_of($inner, 'int'));
	return "$mine->{sql} " . pick('IN', 'NOT IN') . " (SELECT $theirs->{sql} FROM $inner->{from} WHERE $inner->{unique}[0] % 40 = 3)" if $kind eq 'semi';
	return pick('', 'NOT ') . "EXISTS (SELECT 1 FROM $inner->{from} WHERE $theirs->{sql} = $mine->{sql}" . (chance(0.4) ? " AND $inner->{unique}[0] % 3 = 1" : '') . ')';
}

sub where
{
	my @predicates = @_;
	return @predicates ? ' WHERE ' . join(' AND ', @predicates) : '';
}

1;
