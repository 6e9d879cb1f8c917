# FuzzSql::Rows: random queries that sort rows: all rows of a table by any key, the first
# ones, the first of each group, forward and backward, once and again.  Queries are as
# FuzzSql::Queries describes them; besides, a query may have "settings" of its own, and is
# "alone" if a transaction around it would change what it returns.
package FuzzSql::Rows;

use strict;
use warnings;
use Exporter 'import';
use FuzzSql::Queries;
use FuzzSql::Random;
use FuzzSql::Relations;
our @EXPORT = qw(rows);

# Columns of which equal values are equal bytes.
sub is_exact { return $_[0]{class} !~ /^(float|numeric|interval|nd_text)$/; }

# Tables with those alone, for queries whose results FuzzSql::Queries has compared by bytes.
sub exact_tables
{
	return map { { %$_, columns => [ grep { is_exact($_) } @{ $_->{columns} } ] } } @FuzzSql::Relations::tables;
}

# --- Rows in order

# Something to sort by: { sql, order, exact }.
sub key
{
	my ($relation, @columns) = @_;
	my $column = pick(@columns ? @columns : @{ $relation->{columns} });
	my $expression = @columns || chance(0.8) ? undef : key_expression($relation);
	my $sql = $expression // $column->{sql};
	my $direction = direction($sql);

	if (!$expression && $column->{class} eq 'c_text' && chance(0.15))
	{
		$direction = pick(' USING ~<~', ' USING ~>~');
	}
	elsif (!$expression && $relation->{table} && $relation->{rows} < 1600 && $column->{type} eq 'int4' && chance(0.04))
	{
		# By the absolute value: an operator class of the test's own, whose functions take long.
		$direction = pick(' USING |<|', ' USING |>|') . pick('', ' NULLS FIRST', ' NULLS LAST');
	}
	return { sql => $sql, order => $sql . $direction, exact => !$expression && is_exact($column) && $direction !~ /\|/ };
}

# The columns of a result, and whether a change in the same transaction would show in them.
sub result
{
	my ($relation, @keys) = @_;
	my $table = $relation->{table};
	my $style = weighted(star => 4, some => 4, keys => 2, row => $table ? 1 : 0, system => $table ? 1 : 0, computed => 1, nothing => 0.1);
	my ($alias) = $relation->{unique}[0] =~ /^(\w+)\./;
	my @some = map { $_->{sql} } some(between(1, 3), sortable_columns($relation));

	return (0, map { /^(\w+)\./ ? "$1.*" : $_ } @{ $relation->{unique} }) if $style eq 'star';
	return (0, @some) if $style eq 'some';
	return (0, (map { $_->{sql} } @keys), $relation->{unique}[0]) if $style eq 'keys';
	return (0, $alias) if $style eq 'row';
	return (1, some(between(1, 3), "$alias.ctid", "$alias.tableoid::regclass", "$alias.xmin"), @some) if $style eq 'system';
	return (0, key_expression($relation), key_expression($relation), $some[0]) if $style eq 'computed';
	return (0);
}

# LIMIT and OFFSET of some kind: { sql, offset }.
sub limit
{
	my ($rows) = @_;
	my $count = weighted(between(1, 20) => 6, between(20, 300) => 4, 0 => 0.5, between(300, 2000) => 2, int($rows / 2) => 1, 'NULL' => 0.5);
	my $offset = weighted(between(1, 30) => 4, between(30, 1000) => 3, 0 => 1, 100000 => 0.5);
	my $kind = weighted(none => 5, limit => 5, both => 2, offset => 1, ties => 2, both_ties => 1);
	my $shown = chance(0.1) ? "(SELECT ${count}::int8)" : $count;

	return { sql => '', offset => 0 } if $kind eq 'none';
	return { sql => " LIMIT $shown", offset => 0 } if $kind eq 'limit';
	return { sql => " OFFSET $offset", offset => $offset } if $kind eq 'offset';
	return { sql => " LIMIT $shown OFFSET $offset", offset => $offset } if $kind eq 'both';
	$count = between(1, 200) if $count eq 'NULL';
	return { sql => " FETCH FIRST $count ROWS WITH TIES", offset => 0 } if $kind eq 'ties';
	return { sql => " OFFSET $offset FETCH FIRST $count ROWS WITH TIES", offset => $offset };
}

# What rows are taken from: mostly one table or the tree below it.
sub source { return chance(0.85) ? base() : relation(1); }

# A SELECT ... ORDER BY.  All of a large table is rarely asked for.
sub ordered
{
	my (%options) = @_;
	my $relation = $options{relation} // source();
	my @keys = map { key($relation) } 1 .. weighted(1 => 4, 2 => 3, 3 => 2, 4 => 1);
	my $total = $options{total} // chance(0.35);
	my ($changes, @list) = result($relation, @keys);
	my @where = ($options{where} // (), map { predicate($relation) } 1 .. weighted(0 => 5, 1 => 4, 2 => 1));
	my @order = map { $_->{order} } @keys;
	my $limit = $options{limit} // limit($relation->{rows});

	push @where, "$relation->{unique}[0] % " . between(3, 8) . ' = 1' if $relation->{rows} > 1000 && $limit->{sql} !~ /LIMIT|FETCH/ && chance(0.75);
	push @order, map { $_ . pick('', ' DESC') } @{ $relation->{unique} } if $total;
	# Rows of a sample are copied; others may stay in place.
	my $from = " FROM $relation->{from}" . ($relation->{table} && chance(0.06) ? ' TABLESAMPLE system (100)' : '') . where(@where);
	my $with = FuzzSql::Queries::with($relation);
	my $order = join(', ', @order);
	return {
		sql => $with . 'SELECT ' . join(', ', @list) . "$from ORDER BY $order",
		super => $with . 'SELECT ' . join(', ', "dense_rank() OVER (ORDER BY $order)", @list) . "$from ORDER BY 1",
		limit => $limit,
		total => $total,
		alone => $changes
	};
}

sub ordered_step
{
	my ($query, $tail) = @_;
	my $step = { sql => $query->{sql} . $query->{limit}{sql} . ($tail // ''), compare => $query->{total} ? 'rows' : 'peers' };

	@$step{qw(super offset)} = ($query->{super}, $query->{limit}{offset}) if !$query->{total};
	return $step;
}

sub order_by
{
	my $query = ordered();
	my $step = ordered_step($query);

	return { kind => 'order by', explain => $step->{sql}, steps => [$step], alone => $query->{alone} };
}

sub nothing { return map { +{ sql => $_, compare => 'nothing' } } @_; }

sub for_update
{
	my $query = ordered(relation => base());
	my $lock = pick(' FOR UPDATE', ' FOR SHARE', ' FOR NO KEY UPDATE', ' FOR KEY SHARE', ' FOR UPDATE SKIP LOCKED', ' FOR UPDATE NOWAIT');

	$query->{limit} = { sql => '', offset => 0 } if $query->{limit}{sql} =~ /TIES/;
	my $step = ordered_step($query, $lock);
	return { kind => 'for update', explain => $step->{sql}, steps => [ nothing('BEGIN'), $step, nothing('ROLLBACK') ], alone => 1 };
}

# Rows that a loop in a function takes, some at a time, and that it does not take to the end.
sub looped
{
	my $relation = base();
	my $query = ordered(relation => $relation, total => 1, limit => { sql => pick('', ' LIMIT 100') });
	my $sql = $query->{sql};

	$sql =~ s/SELECT .*? FROM /SELECT $relation->{unique}[0] FROM /;
	return { kind => 'loop', explain => $sql, steps => [ { sql => 'SELECT * FROM first_ids($q$' . $sql . '$q$, ' . pick(0, 1, 9, 200, 100000) . ')', compare => 'rows' } ] };
}

# A cursor that goes forward and backward; its rows stay as they are, whatever becomes of the
# table meanwhile.
sub cursor
{
	my $relation = source();
	my $query = ordered(relation => $relation, total => 1);
	my $hold = chance(0.25);
	my $scroll = chance(0.8);
	my @forward = map { 'FETCH ' . pick('', between(1, 50), between(1, 2000), 'FORWARD 7', 'NEXT') . ' FROM c' } 1 .. 3;
	my @anyhow = (
		'FETCH BACKWARD ' . between(1, 100) . ' FROM c',
		'FETCH PRIOR FROM c', 'FETCH LAST FROM c', 'FETCH FIRST FROM c',
		'FETCH ABSOLUTE ' . between(-50, 700) . ' FROM c',
		'FETCH RELATIVE ' . between(-40, 40) . ' FROM c',
		'MOVE ' . between(1, 900) . ' FROM c',
		'MOVE BACKWARD ' . between(1, 900) . ' FROM c',
		'MOVE ALL FROM c', 'MOVE ABSOLUTE 0 FROM c', 'FETCH BACKWARD ALL FROM c', 'FETCH ALL FROM c');
	my @moves = map { $scroll ? pick(@forward, @anyhow, @anyhow) : pick(@forward) } 1 .. between(3, 9);
	my $declare = 'DECLARE c ' . ($scroll ? 'SCROLL ' : 'NO SCROLL ') . 'CURSOR ' . ($hold ? 'WITH HOLD ' : '') . "FOR $query->{sql}$query->{limit}{sql}";

	if ($hold)
	{
		splice @moves, between(0, 2), 0, 'COMMIT';
	}
	elsif ($relation->{table} && chance(0.5))
	{
		my $name = $relation->{table}{name};
		splice @moves, between(0, 2), 0, pick("DELETE FROM $name WHERE id % 3 = 1", "UPDATE $name SET id = id WHERE id % 4 < 3", "INSERT INTO $name (id) SELECT -g FROM generate_series(1, 500) g");
	}
	elsif (chance(0.4))
	{
		# A subtransaction that fetches, and ends.
		my $at = between(0, @moves - 1);
		splice @moves, $at + 1, 0, pick('ROLLBACK TO s', 'RELEASE s');
		splice @moves, $at, 0, 'SAVEPOINT s';
	}
	return {
		kind => 'cursor',
		explain => $query->{sql} . $query->{limit}{sql},
		steps => [ nothing('BEGIN', $declare), (map { +{ sql => $_, compare => /^FETCH/ ? 'rows' : 'nothing' } } @moves), nothing($hold ? 'CLOSE c' : 'ROLLBACK') ],
		alone => 1
	};
}

# Rows changed where a cursor stands, which is on no row of the table if its rows are groups.
sub current_of
{
	my $relation = base();
	my $name = $relation->{table}{name};
	my $query = ordered(relation => $relation, total => 1, limit => { sql => pick('', ' LIMIT 90') });
	my $column = pick(sortable_columns($relation))->{sql};
	my $groups = chance(0.3) ? pick("SELECT DISTINCT $column FROM $relation->{from}", "SELECT count(*) FROM $relation->{from}", "SELECT min(id) FROM $relation->{from} GROUP BY $column") : undef;
	my $declared = $groups // "$query->{sql}$query->{limit}{sql} FOR UPDATE";
	my $change = pick("UPDATE $name SET id = -id WHERE CURRENT OF c RETURNING id", "DELETE FROM $name WHERE CURRENT OF c RETURNING id");
	my @steps = map { +{ sql => $_, compare => $groups && /^FETCH/ ? 'nothing' : 'rows' } } map { ('FETCH ' . pick('', '', between(1, 15)) . ' FROM c', chance(0.7) ? $change : ()) } 1 .. 5;

	return {
		kind => 'current of',
		explain => $groups // $query->{sql} . $query->{limit}{sql},
		steps => [ nothing('BEGIN', "DECLARE c CURSOR FOR $declared"), @steps, { sql => "SELECT count(*), sum(id) FROM $name", compare => 'rows' }, nothing('ROLLBACK') ],
		alone => 1
	};
}

# --- With parameters

sub value { return ($_[0] // 'NULL') . '::int4'; }

sub filled
{
	my ($sql, @values) = @_;
	$sql =~ s/\$(\d)/value($values[$1 - 1])/ge;
	return $sql;
}

# A statement prepared and run several times, so that its plan may become a generic one; or
# run through a portal, as drivers do.  $make makes the step of some values.
sub parameters
{
	my ($kind, $text, $types, $values, $make, $alone) = @_;
	my $explain = filled($text, @{ $values->() });

	if (chance(0.4))
	{
		my $values = $values->();
		my $step = $make->(@$values);

		$step->{sql} = $text;
		$step->{sql} =~ s/\$(\d)/\$$1::int4/g;
		$step->{portal} = { fetch => pick(0, 7, 50, 50, 300), params => [ @$values[ 0 .. $types - 1 ] ] };
		return { kind => "$kind, portal", explain => $explain, steps => [$step], alone => $alone };
	}
	my @steps = map { my $values = $values->(); my %run = (%{ $make->(@$values) }, sql => 'EXECUTE q(' . join(', ', map { value($_) } @$values[ 0 .. $types - 1 ]) . ')'); \%run } 1 .. between(2, 7);
	return { kind => "$kind, prepared", explain => $explain, steps => [ nothing('PREPARE q(' . join(', ', ('int4') x $types) . ") AS $text"), @steps ], alone => $alone };
}

sub ordered_by_parameters
{
	my $relation = source();
	my $id = $relation->{unique}[0];
	my $tail = pick('', ' LIMIT $2', ' LIMIT $2', ' LIMIT $2 OFFSET $3', ' OFFSET $3', ' FETCH FIRST ($2) ROWS WITH TIES');
	my $query = ordered(relation => $relation, limit => { sql => '', offset => 0 }, where => pick("$id > \$1", "$id % 10 < \$1", "(\$1 IS NULL OR $id <= \$1)", "$id <> \$1") . ' AND ($2 IS NULL OR $3 IS NULL OR true)');
	my $values = sub { return [ pick(0, 3, 5, 100, 900, 2000, undef), pick(0, 1, 10, 200, 3000, $tail =~ /TIES/ ? () : undef), pick(0, 1, 10, 700, undef) ]; };

	return parameters(
		'order by', "$query->{sql}$tail", 3, $values,
		sub {
			my @values = @_;
			return {
				compare => $query->{total} ? 'rows' : 'peers',
				super => $query->{total} ? undef : filled($query->{super}, @values),
				offset => $tail =~ /OFFSET/ ? $values[2] // 0 : 0
			};
		},
		$query->{alone});
}

# --- The first rows of each group

# How a window function is compared with a number.
sub bound
{
	my $n = weighted(1 => 4, 2 => 3, 3 => 3, between(4, 20) => 3, between(20, 300) => 1, 100000 => 0.3);
	my $more = $n + 1;

	return weighted(
		"n <= $n" => 8, "n < $more" => 3, "n = 1" => 2, "$n >= n" => 2, "$more > n" => 1,
		"n <= (SELECT $n)" => 0.7, "n < $n + 1" => 0.5, "n BETWEEN 1 AND $n" => 0.7, "n <= $n AND n <= 2" => 0.5, "n > 1 AND n <= $n" => 0.5,
		"n = $n" => 0.5, "n <= $n.5" => 0.3, "n <= ${n}::int8" => 0.3, "n <= ${n}::numeric" => 0.3, 'n <> 1' => 0.2,
		'n <= NULL::int' => 0.3, 'n <= 0' => 0.3, 'n < 1' => 0.2, 'n <= -3' => 0.2, 'n < -9223372036854775808' => 0.1, 'n <= 9223372036854775807' => 0.1);
}

sub group
{
	my ($relation) = @_;
	my @narrow = grep { $_->{name} =~ /^(i2|x|b|c|d|m|one|none|sm)$/ } @{ $relation->{columns} };

	return pick(@narrow)->{sql} if @narrow && chance(0.7);
	return pick(grep { is_exact($_) } @{ $relation->{columns} })->{sql} if chance(0.6);
	return key_expression($relation);
}

# A subquery with n, which numbers or ranks rows, as a whole or by group; as
# { sql, unique, known }: the names of columns that together are different in each row, if all
# that it returns is determined, and of columns that are in any case.
sub numbered
{
	my ($relation, %options) = @_;
	my @groups = map { group($relation) } 1 .. weighted(0 => 2, 1 => 6, 2 => 2, 3 => 0.5);
	my $total = chance(0.45);
	my @exact = grep { is_exact($_) } @{ $relation->{columns} };
	my $function = weighted(row_number => 5, rank => 3, dense_rank => 2);
	my $only_keys = !$total && $function eq 'row_number';
	my @keys = map { key($relation, $only_keys ? @exact : ()) } 1 .. weighted(1 => 5, 2 => 3, 3 => 1, 0 => $only_keys ? 0.5 : 0);
	my @order = ((map { $_->{order} } @keys), $total ? map { $_ . pick('', ' DESC') } @{ $relation->{unique} } : ());
	my $window = join(' ', @groups ? 'PARTITION BY ' . join(', ', @groups) : (), @order ? 'ORDER BY ' . join(', ', @order) : ());
	my $named = chance(0.25);
	my $over = $named ? 'OVER w' : "OVER ($window)";
	my ($list, @more, @unique);

	if ($only_keys)
	{
		# Groups that are also sorted by an operator class are told apart by its equality.
		my %alike = map { $_->{order} =~ /\|/ ? ($_->{sql} => 1) : () } @keys;
		my %known = map { $_->{sql} => 1 } @exact;
		my @known = grep { $known{$_} && !$alike{$_} } @groups, map { $_->{exact} ? $_->{sql} : () } @keys;
		$list = join(', ', 'true AS known', map { "$known[$_] AS c$_" } 0 .. $#known);
	}
	else
	{
		my $i = 0;
		@unique = map { "u$_" } 0 .. $#{ $relation->{unique} };
		$list = join(', ', map { "$relation->{unique}[$_] AS u$_" } 0 .. $#unique);
		$list .= chance(0.3) && $relation->{table} ? ', ' . ($relation->{unique}[0] =~ /^(\w+)/)[0] . '.*' : join('', map { ", $_->{sql} AS c" . $i++ } some(between(0, 3), sortable_columns($relation)));
		push @more, 'row_number() OVER (PARTITION BY ' . group($relation) . ' ORDER BY ' . join(', ', @{ $relation->{unique} }) . ') AS o' if chance(0.1);
		push @more, "lead($relation->{unique}[0]) $over AS l" if $total && chance(0.05);
	}
	push @more, pick('count(*)', 'rank()', 'dense_rank()', 'rank()') . " $over AS more" if chance(0.1);
	push @more, 'row_number() ' . $over . ' AS again' if $total && chance(0.1);
	my @where = ($options{where} // (), map { predicate($relation) } 1 .. weighted(0 => 6, 1 => 3));
	return {
		sql => FuzzSql::Queries::with($relation) . 'SELECT ' . join(', ', $list, @more, "$function() $over AS n") . " FROM $relation->{from}" . where(@where) . ($named ? " WINDOW w AS ($window)" : ''),
		unique => \@unique
	};
}

# What is asked of it.
sub first_of
{
	my ($numbered, $bound) = @_;
	my @unique = @{ $numbered->{unique} };
	my $where = $bound . (@unique && chance(0.15) ? " AND $unique[0] % 3 <> 1" : '');
	my $from = "FROM ($numbered->{sql}) q WHERE $where";

	return { sql => "SELECT * $from", compare => 'set' } if chance(@unique ? 0.5 : 0.7);
	return { sql => "SELECT n, count(*) $from GROUP BY n", compare => 'set' } if !@unique || chance(0.2);
	return { sql => "SELECT * $from ORDER BY n, " . join(', ', @unique) . pick('', '', ' LIMIT 20', ' OFFSET 3 FETCH FIRST 5 ROWS WITH TIES'), compare => 'rows' };
}

sub first_of_group
{
	my $step = first_of(numbered(source()), bound());
	return { kind => 'first of group', explain => $step->{sql}, steps => [$step] };
}

sub first_by_parameters
{
	my $relation = base();
	my $bound = pick('n <= $1', 'n <= $1', 'n < $1', '$1 >= n', 'n = $1', 'n <= $1 + 1');
	my $step = first_of(numbered($relation, where => chance(0.3) ? "$relation->{unique}[0] % 10 <> \$1" : undef), $bound);

	return parameters('first of group', $step->{sql}, 1, sub { return [ pick(1, 1, 3, 3, 10, 0, -1, 5000, undef) ]; }, sub { return {%$step}; });
}

# The first of each group for row after row, or below something else.
sub first_again
{
	my $relation = base();
	my $id = $relation->{unique}[0];
	my $kind = weighted(lateral => 3, scalar => 2, in => 2, union => 1, joined => 1);
	my $numbered = numbered($relation, $kind eq 'lateral' || $kind eq 'scalar' ? (where => pick("$id % 4 <> v", "$id % 3 = v", 'v > 0', 'true')) : ());
	my $values = '(VALUES (1), (3), (0), (NULL), (2)) v(v)';
	my $sql =
		$kind eq 'lateral' ? "SELECT v, q.* FROM $values CROSS JOIN LATERAL ($numbered->{sql}) q WHERE " . pick('n <= v', 'v > n', 'n <= 2', 'n = 1')
	  : $kind eq 'scalar' ? "SELECT v, (SELECT count(*) FROM ($numbered->{sql}) q WHERE " . pick('n <= v', 'n < v + 2', 'n = 1') . ") FROM $values"
	  : $kind eq 'in' ? "SELECT count(*), sum(id) FROM $relation->{table}{name} WHERE id % 7 IN (SELECT n FROM ($numbered->{sql}) q WHERE " . bound() . ')'
	  : $kind eq 'union' ? "SELECT n FROM ($numbered->{sql}) q WHERE n <= 2 UNION ALL SELECT n FROM (" . numbered($relation)->{sql} . ') q WHERE ' . bound()
	  :                     "SELECT q.n, r.n, count(*) FROM ($numbered->{sql}) q JOIN (" . numbered($relation)->{sql} . ') r ON q.n = r.n WHERE q.n <= 2 AND r.n < 4 GROUP BY 1, 2';

	return { kind => 'first of group, below', explain => $sql, steps => [ { sql => $sql, compare => 'set' } ] };
}

sub distinct_on
{
	my $relation = source();
	# Each once: of two operators for one expression, PARTITION BY below takes the first, and DISTINCT ON both.
	my %on = map { $_->{sql} => $_ } map { key($relation) } 1 .. weighted(1 => 6, 2 => 3, 3 => 1);
	my @on = @on{ sort keys %on };
	my @keys = map { key($relation) } 1 .. weighted(0 => 1, 1 => 4, 2 => 2);
	my $total = chance(0.5);
	my ($changes, @list) = result($relation, @on, @keys);
	my $from = " FROM $relation->{from}" . where(map { predicate($relation) } 1 .. weighted(0 => 6, 1 => 3));
	my $on = join(', ', map { $_->{sql} } @on);
	@list = ('true') if !@list;
	my $groups = join(', ', map { $_->{order} } @on);
	my $order = join(', ', $groups, (map { $_->{order} } @keys), $total ? map { $_ . pick('', ' DESC') } @{ $relation->{unique} } : ());
	my $offset = weighted(0 => 5, between(1, 20) => 1);
	my $with = FuzzSql::Queries::with($relation);
	my $step = {
		sql => $with . "SELECT DISTINCT ON ($on) " . join(', ', @list) . "$from ORDER BY $order" . pick('', '', ' LIMIT 13') . ($offset ? " OFFSET $offset" : ''),
		compare => $total ? 'rows' : 'firsts',
		offset => $offset
	};

	# Of each group, the rows that may be its first.
	$step->{super} = 'SELECT * FROM (' . $with . 'SELECT ' . join(', ', "dense_rank() OVER (ORDER BY $groups) AS number, rank() OVER (PARTITION BY $on ORDER BY $order) AS place", @list) . "$from) s WHERE place = 1 ORDER BY 1" if !$total;
	return { kind => 'distinct on', explain => $step->{sql}, steps => [$step], alone => $changes };
}

# --- Below joins, and for row after row

# Two tables by merging, with keys that repeat: the inner one is read from marks.
sub merged
{
	my ($left, $right) = (base(), base());
	my @mine = grep { $_->{name} !~ /^(one|none|b)$/ } @{ $left->{columns} };
	my ($mine, $theirs);

	for (1 .. 10)
	{
		$mine = pick(@mine);
		($theirs) = grep { $_->{name} eq $mine->{name} || ($_->{class} eq 'int' && $mine->{class} eq 'int') } some(99, @{ $right->{columns} });
		last if $theirs;
	}
	$theirs //= $right->{columns}[0], $mine = $left->{columns}[0] if !$theirs;
	my ($l, $r) = ($left->{unique}[0], $right->{unique}[0]);
	my $join = weighted('JOIN' => 4, 'LEFT JOIN' => 2, 'FULL JOIN' => 1);
	# Of a FULL JOIN, and of the side that has NULLs, no row is left out by WHERE.
	my ($few_left, $few_right) = map { int($_->{rows} / 400) + 1 } $left, $right;
	my $from = "(SELECT * FROM $left->{table}{name} WHERE id % $few_left = 0) " . ($l =~ /^(\w+)/)[0] . " $join (SELECT * FROM $right->{table}{name} WHERE id % $few_right = 0) " . ($r =~ /^(\w+)/)[0] . " ON $mine->{sql} = $theirs->{sql}";
	$from .= " AND $l % 7 = $r % 5" if chance(0.3);
	my $sql = chance(0.5) ? "SELECT count(*), sum($l), sum($r), sum($l * ${r}::int8) FROM $from" : "SELECT $l, $r, $mine->{sql} FROM $from ORDER BY $l, $r LIMIT 500";

	return { kind => 'merge join', explain => $sql, steps => [ { sql => $sql, compare => 'rows' } ], settings => "SET enable_hashjoin = 'off'; SET enable_nestloop = 'off'" };
}

# The distinct rows of a subquery, joined in one way or in any.
sub semijoined
{
	my @off = @{ weighted([qw(enable_nestloop enable_hashjoin enable_hashagg)] => 5, [qw(enable_nestloop enable_hashjoin)] => 2, ['enable_nestloop'] => 1, ['enable_hashjoin'] => 1, [] => 2) };
	local @FuzzSql::Relations::tables = exact_tables();

	return { %{ FuzzSql::Queries::semijoin() }, settings => join('; ', map { "SET $_ = 'off'" } @off) };
}

# Rows sorted anew for each row outside.
sub rescanned
{
	my ($outer, $inner) = (base(), base());
	my ($o, $i) = ($outer->{unique}[0], $inner->{unique}[0]);
	my ($mine) = some(1, columns_of($outer, 'int'));
	my ($theirs) = some(1, columns_of($inner, 'int'));
	my $condition = pick("$theirs->{sql} = $mine->{sql}", "$theirs->{sql} > $mine->{sql}", "$i % 11 = $o % 11", "$i % 3 = 1", "$i > $o");
	my $order = 'ORDER BY ' . join(', ', map { key($inner)->{order} } 1 .. between(1, 2)) . ", $i";
	my $n = pick(1, 3, 10, 200);
	my $few = "(SELECT * FROM $outer->{table}{name} WHERE id BETWEEN 1 AND 5) " . ($o =~ /^(\w+)/)[0];
	my ($column) = some(1, sortable_columns($inner));
	my $sql = pick(
		"SELECT $o, ARRAY(SELECT $i FROM $inner->{from} WHERE $condition $order" . pick('', " LIMIT $n", " LIMIT $n OFFSET 2") . ") FROM $few",
		"SELECT $o, (SELECT $column->{sql} FROM $inner->{from} WHERE $condition $order LIMIT 1) FROM $few",
		"SELECT $o, q.* FROM $few CROSS JOIN LATERAL (SELECT $column->{sql}, $i AS i FROM $inner->{from} WHERE $condition $order LIMIT $n) q",
		"SELECT $o, q.* FROM $few LEFT JOIN LATERAL (SELECT DISTINCT ON ($theirs->{sql}) $column->{sql}, $i AS i FROM $inner->{from} WHERE $condition ORDER BY $theirs->{sql}, $i DESC) q ON q.i % 5 = 1",
		"SELECT $o, q.* FROM $few LEFT JOIN (SELECT $column->{sql}, $i AS i FROM $inner->{from} $order LIMIT $n) q ON q.i > $o",
		"SELECT $o, (SELECT array_agg(i) FROM (SELECT $i AS i FROM $inner->{from} WHERE $condition $order OFFSET 3) q WHERE i % 2 = 0) FROM $few");

	return { kind => 'rescan', explain => $sql, steps => [ { sql => $sql, compare => 'set' } ], settings => weighted('' => 1, "SET enable_material = 'off'" => 1) };
}

# Queries made elsewhere, over columns whose equal values are equal bytes.
sub others
{
	local @FuzzSql::Relations::tables = exact_tables();
	my $query = pick(\&FuzzSql::Queries::window, \&FuzzSql::Queries::distinct, \&FuzzSql::Queries::one_key, \&FuzzSql::Queries::set_operation, \&FuzzSql::Queries::changing)->();

	return { %$query, alone => 1 };
}

sub rows
{
	start_query();
	return weighted(
		\&order_by => 26,
		\&ordered_by_parameters => 8,
		\&cursor => 8,
		\&current_of => 2,
		\&for_update => 4,
		\&looped => 2,
		\&first_of_group => 20,
		\&first_by_parameters => 6,
		\&first_again => 5,
		\&distinct_on => 8,
		\&merged => 4,
		\&semijoined => 4,
		\&rescanned => 5,
		\&others => 5)->();
}

1;
