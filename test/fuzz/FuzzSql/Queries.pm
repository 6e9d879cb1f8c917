# FuzzSql::Queries: random queries, each with what of its result is determined.
#
# A query is { kind, explain, steps }: what EXPLAIN is asked about, and the
# statements; and, as "forced", whether HpSort must sort it when it is forced to.
# A step is { sql, core, compare, keys, super }: "core" is what
# PostgreSQL itself would be asked, where sql calls hpsort's own functions;
# compare is
#
#	rows		all rows in this order
#	keys		the first "keys" columns in this order, and all rows in any order
#	some		the first "keys" columns in this order, each row one of "super"'s
#	set			all rows in any order
#	peers		all rows, or those behind the first "offset", in the order of the peer groups that
#				"super" has as its first column, beside the other columns
#	firsts		the same with one row of each peer group; "super" has the others from its third column on
#	only_keys	nothing but the first "keys" columns
#	explain		no error; what it returns has the given format
#	nothing		no error that the others do not have
package FuzzSql::Queries;

use strict;
use warnings;
use FuzzSql::Aggregates;
use FuzzSql::Random;
use FuzzSql::Relations;

sub with { return @{ $_[0]{with} } ? 'WITH ' . join(', ', @{ $_[0]{with} }) . ' ' : ''; }

# LIMIT and OFFSET of some kind: { sql, limited, offset, ties }.
sub limit
{
	my ($n) = @_;
	my $count = weighted(between(1, 20) => 6, between(20, 300) => 4, 0 => 1, between(1000, 5000) => 2, int($n / 2) => 1, 'NULL' => 0.5, '(SELECT 7)' => 1, '(3 + 4)' => 1,
		'(SELECT count(*) / 2 FROM t1)' => 1);
	my $kind = weighted(none => 4, limit => 4, both => 2, offset => 1, ties => 2, both_ties => 0.5);
	my $offset = weighted(between(1, 30) => 4, between(30, 2000) => 3, 0 => 1, 100000 => 0.5, '(SELECT 5)' => 1, 'NULL' => 0.5);

	return { sql => '' } if $kind eq 'none';
	return { sql => " LIMIT $count", limited => 1 } if $kind eq 'limit';
	return { sql => " OFFSET $offset", limited => 1 } if $kind eq 'offset';
	return { sql => " LIMIT $count OFFSET $offset", limited => 1 } if $kind eq 'both';
	$count = between(1, 200) if $count eq 'NULL';
	return { sql => " FETCH FIRST $count ROWS WITH TIES", ties => 1 } if $kind eq 'ties';
	return { sql => " OFFSET $offset FETCH FIRST $count ROWS WITH TIES", limited => 1, ties => 1 };
}

# A SELECT ... ORDER BY: { sql, limit, keys, total, relation }.
sub ordered
{
	my (%options) = @_;
	my $relation = $options{relation} // relation();
	my $n = weighted(1 => 45, 2 => 30, 3 => 15, 4 => 10);
	my @keys = map { key_expression($relation) } 1 .. $n;
	my $total = $options{total} // chance(0.45);
	my $style = weighted(keys => 3, some => 4, all => 2, without => $total ? 2 : 0);
	my @list = $style eq 'without' ? () : @keys;
	my @order;

	push @list, map { $_->{sql} } some(between(1, 3), sortable_columns($relation)) if $style eq 'some' || $style eq 'without';
	push @list, map { /^(\w+)\./ ? "$1.*" : $_ } grep { /\./ } @{ $relation->{unique} } if $style eq 'all';
	for my $i (0 .. $#keys)
	{
		push @order, ($style ne 'without' && chance(0.2) ? $i + 1 : $keys[$i]) . direction($keys[$i]);
	}
	push @order, map { $_ . pick('', ' DESC') } @{ $relation->{unique} } if $total;
	my $where = where($options{where} // (), map { predicate($relation) } 1 .. weighted(0 => 4, 1 => 4, 2 => 1));
	return {
		sql => with($relation) . 'SELECT ' . join(', ', @list) . " FROM $relation->{from}$where ORDER BY " . join(', ', @order),
		limit => limit($relation->{rows}),
		keys => $style eq 'without' ? 0 : scalar @keys,
		total => $total,
		relation => $relation
	};
}

# The step of an ordered query.
sub ordered_step
{
	my ($query, $tail) = @_;
	my $limit = $query->{limit};
	my $step = { sql => $query->{sql} . $limit->{sql} . ($tail // ''), keys => $query->{keys} };

	$step->{compare} = $query->{total} ? 'rows' : $limit->{limited} ? 'some' : 'keys';
	$step->{super} = $query->{sql} if $step->{compare} eq 'some';
	return $step;
}

sub one
{
	my ($kind, $step) = @_;
	return { kind => $kind, explain => $step->{sql}, steps => [$step] };
}

sub order_by { return one('order by', ordered_step(ordered())); }

# One key of a table and nothing else, which is sorted without rows; or with its
# row, but for no other key.  In several directions, since each takes little time.
sub one_key
{
	my $relation = base();
	my ($late) = grep { $_->{late} } @{ $relation->{columns} };
	my $column = $late && chance(0.4) ? $late : pick(@{ $relation->{columns} });
	my $where = where(chance(0.4) ? predicate($relation) : ());
	my $list = $column->{sql} . pick('', '', ', ' . pick(sortable_columns($relation))->{sql});
	my @steps;

	for my $direction (some(3, map { my $way = $_; map { $way . $_ } '', ' NULLS FIRST', ' NULLS LAST' } '', ' DESC'))
	{
		my $sql = "SELECT $list FROM $relation->{from}$where ORDER BY $column->{sql}$direction";
		push @steps, ordered_step({ sql => $sql, limit => limit($relation->{rows}), keys => 1, total => 0 });
	}
	return {
		kind => 'one key',
		explain => $steps[0]{sql},
		steps => \@steps,
		forced => $steps[0]{sql} !~ / (LIMIT|OFFSET|FETCH) / && $column->{class} !~ /^(text|numeric|float)$/
	};
}

sub for_update
{
	my $relation;

	do { $relation = relation() } until $relation->{lock};
	my $query = ordered(relation => $relation);
	my $step;

	# WITH TIES goes with no row locks but plain ones.
	$query->{limit} = { sql => '' } if $query->{limit}{ties};
	$step = ordered_step($query, pick(' FOR UPDATE', ' FOR SHARE', ' FOR NO KEY UPDATE', ' FOR KEY SHARE', ' FOR UPDATE SKIP LOCKED', ' FOR UPDATE NOWAIT'));
	return {
		kind => 'for update',
		explain => $step->{sql},
		steps => [ { sql => 'BEGIN', compare => 'nothing' }, $step, { sql => 'ROLLBACK', compare => 'nothing' } ]
	};
}

sub distinct
{
	my $relation = relation();
	my @keys = map { key_expression($relation) } 1 .. between(1, 3);
	my $where = where(chance(0.5) ? predicate($relation) : ());
	my $n = @keys;

	if (chance(0.4))
	{
		my @order = map { $_ . direction($_) } @keys;
		my @more = some(2, sortable_columns($relation));
		my $on = join(', ', @keys);
		return one('distinct on',
			{
				sql => with($relation)
				  . "SELECT DISTINCT ON ($on) "
				  . join(', ', @keys, map { $_->{sql} } @more)
				  . " FROM $relation->{from}$where ORDER BY "
				  . join(', ', @order, (map { $_ . pick('', ' DESC') } @{ $relation->{unique} }))
				  . pick('', '', ' LIMIT 13', ' OFFSET 5'),
				compare => 'rows'
			});
	}
	my $sql = with($relation) . 'SELECT DISTINCT ' . join(', ', @keys) . " FROM $relation->{from}$where";
	return one('distinct', { sql => $sql, compare => 'set' }) if chance(0.3);
	return one('distinct', { sql => $sql . ' ORDER BY ' . join(', ', map { $_ . direction($keys[ $_ - 1 ]) } 1 .. $n) . pick('', '', ' LIMIT 10', ' LIMIT 1000 OFFSET 3'), compare => 'rows' });
}

# Aggregates that do not depend on the order in which rows come.
sub aggregate
{
	my ($relation) = @_;
	my $column = pick(sortable_columns($relation));
	my ($sql, $class) = ($column->{sql}, $column->{class});
	my $unique = join(', ', @{ $relation->{unique} });
	my ($int) = some(1, columns_of($relation, 'int'));
	my @choice = (
		'count(*)', "count($sql)", "count(DISTINCT $sql)", "sum($int->{sql})", "count(*) FILTER (WHERE $int->{sql} > 3)",
		"array_agg($sql ORDER BY $sql)",
		"array_agg($int->{sql} ORDER BY $sql" . direction($sql) . ", $unique)",
		"array_agg(DISTINCT $sql ORDER BY $sql DESC)",
		"string_agg(${sql}::text, ',' ORDER BY $sql" . direction($sql) . ')',
		"string_agg(DISTINCT ${sql}::text, ',')",
		"percentile_disc(0.4) WITHIN GROUP (ORDER BY $sql" . pick('', ' DESC') . ')',
		"mode() WITHIN GROUP (ORDER BY $sql)",
		"rank(5) WITHIN GROUP (ORDER BY $int->{sql})");

	push @choice, "min($sql)", "max($sql)" if $class =~ /^(int|date|oid|enum|time|timestamp|text|numeric|float)$/;
	push @choice, "hpsort_agg($sql)" if $column->{type} =~ /^(int4|int2|plain|plainer|small)$/;
	push @choice, "sum($sql)" if $class eq 'numeric';
	return pick(@choice);
}

sub group_by
{
	my $relation = relation();
	my @keys = map { key_expression($relation) } 1 .. between(1, 3);
	my $where = where(chance(0.5) ? predicate($relation) : ());
	my @aggregates = map { aggregate($relation) } 1 .. between(1, 3);
	my $list = join(', ', @keys);
	my $group = weighted($list => 5, "ROLLUP ($list)" => 1.5, "CUBE ($list)" => 1, 'GROUPING SETS ((' . join('), (', @keys) . '), ())' => 1.5, '' => 1);
	my @grouping = $group =~ /^(ROLLUP|CUBE|GROUPING)/ ? "grouping($list)" : ();
	my $having = chance(0.2) ? ' HAVING count(*) ' . pick('> 1', '< 40', '% 2 = 0') : '';

	# Constants in grouping sets would be positions.
	if ($group eq '')
	{
		return one('aggregates', { sql => with($relation) . 'SELECT ' . join(', ', @aggregates) . " FROM $relation->{from}$where", compare => 'rows' });
	}
	my $sql = with($relation) . 'SELECT ' . join(', ', @keys, @grouping, @aggregates) . " FROM $relation->{from}$where GROUP BY $group$having";
	my $kind = @grouping ? 'grouping sets' : 'group by';
	return one($kind, { sql => $sql, compare => 'set' }) if chance(0.35);
	my $order = ' ORDER BY ' . join(', ', map { $_ . direction($keys[ $_ - 1 ]) } 1 .. @keys);

	# Two keys may be one column by two names, by which PostgreSQL before 18 sorts once, although a grouping set makes only one of them NULL.
	return one($kind, { sql => $sql . $order, compare => @keys > 1 ? 'set' : 'keys', keys => scalar @keys }) if @grouping;
	return one($kind, { sql => $sql . $order, compare => 'rows' }) if chance(0.6);
	return one($kind, { sql => $sql . $order . limit($relation->{rows})->{sql}, compare => 'rows' });
}

# A window function with its OVER.  Where its order leaves rows equal, only what
# does not tell equal rows apart.
sub window_function
{
	my ($relation) = @_;
	my $partition = chance(0.6) ? 'PARTITION BY ' . join(', ', map { key_expression($relation) } 1 .. between(1, 2)) . ' ' : '';
	my @keys = map { ordered_key($relation) } 1 .. between(1, 2);
	my ($int) = some(1, columns_of($relation, 'int'));
	my ($column) = some(1, sortable_columns($relation));
	my $peers = join(', ', @keys);
	my $all = join(', ', @keys, @{ $relation->{unique} });

	if (chance(0.45))
	{
		my $function = pick('rank()', 'dense_rank()', 'percent_rank()', 'cume_dist()', "sum($int->{sql})", 'count(*)', "count($column->{sql})");
		my $frame = $function =~ /^(sum|count)/ ? pick('', ' GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING', ' RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING', ' GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE GROUP') : '';
		return "$function OVER ($partition" . "ORDER BY $peers$frame)";
	}
	if (chance(0.15))
	{
		return "sum($int->{sql}) OVER ($partition" . "ORDER BY $int->{sql}" . pick('', ' DESC') . ' RANGE BETWEEN ' . between(0, 20) . ' PRECEDING AND ' . between(0, 9) . ' FOLLOWING)';
	}
	my $function = pick('row_number()', "lag($column->{sql})", "lead($column->{sql}, 3)", "first_value($column->{sql})", "last_value($column->{sql})", "nth_value($column->{sql}, 5)", 'ntile(7)', "sum($int->{sql})", 'rank()');
	my $frame = $function =~ /value|sum/ ? pick('', ' ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING', ' ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING') : '';
	return "$function OVER ($partition" . "ORDER BY $all$frame)";
}

sub window
{
	my $relation = relation();
	my @functions = map { window_function($relation) } 1 .. weighted(1 => 5, 2 => 3, 3 => 1);
	my $where = where(chance(0.4) ? predicate($relation) : ());
	my @unique = @{ $relation->{unique} };
	my ($column) = some(1, sortable_columns($relation));

	if (chance(0.3))
	{
		my ($first, @more) = @functions;
		my $ranked = $first =~ /^(row_number|rank|dense_rank|ntile|count)/;
		$first = "row_number() OVER (PARTITION BY " . key_expression($relation) . ' ORDER BY ' . ordered_key($relation) . ', ' . join(', ', @unique) . ')' if !$ranked;
		my $sql = with($relation) . "SELECT * FROM (SELECT $column->{sql}, " . join(', ', @unique) . ", $first AS n FROM $relation->{from}$where) s WHERE n " . pick('<= 3', '< 2', '= 1', '<= 100');
		return one('window', { sql => $sql . (chance(0.5) ? ' ORDER BY n' : ''), compare => 'set' });
	}
	my $sql = with($relation) . 'SELECT ' . join(', ', @functions, $column->{sql}, @unique) . " FROM $relation->{from}$where";
	return one('window', { sql => $sql, compare => 'set' }) if chance(0.5);
	my @order = map { ordered_key($relation) } 1 .. between(1, 2);
	return one('window', { sql => $sql . ' ORDER BY ' . join(', ', @order, @unique) . limit($relation->{rows})->{sql}, compare => 'rows' });
}

sub set_operation
{
	my @arms;
	my $columns = between(1, 2);

	for (1 .. between(2, 3))
	{
		my $relation = relation(0);
		my $type = pick('::int8', '::int8', '');
		my @list = map { $_->{sql} . $type } some($columns, columns_of($relation, 'int'), columns_of($relation, 'int'));
		my $arm = 'SELECT ' . join(', ', @list) . " FROM $relation->{from}" . where(chance(0.4) ? predicate($relation) : ());
		$arm .= ' ORDER BY ' . join(', ', @list, @{ $relation->{unique} }) . ' LIMIT ' . between(0, 500) if chance(0.3);
		push @arms, with($relation) . $arm;
	}
	my $sql = "($arms[0])";
	for my $i (1 .. $#arms)
	{
		my $operation = weighted('UNION' => 3, 'UNION ALL' => 3, 'INTERSECT' => 2, 'EXCEPT' => 2, 'INTERSECT ALL' => 1, 'EXCEPT ALL' => 1);
		$sql = ($i > 1 ? "($sql)" : $sql) . " $operation ($arms[$i])";
	}
	return one('set operation', { sql => $sql, compare => 'set' }) if chance(0.2);
	return one('set operation', { sql => $sql . ' ORDER BY ' . join(', ', map { $_ . direction('') } 1 .. $columns) . limit(1000)->{sql}, compare => 'rows' });
}

# Subqueries that run for each row, or have an order that does not show.
sub correlated
{
	my $outer = base();
	my $inner = base();
	my ($mine) = some(1, columns_of($outer, 'int'));
	my ($theirs) = some(1, columns_of($inner, 'int'));
	my $key = key_expression($inner);
	my $step = int(($outer->{rows} + 1) / 60) + 1;
	my $condition = pick("$theirs->{sql} = $mine->{sql}", "$theirs->{sql} > $mine->{sql}", "$inner->{unique}[0] % 11 = $outer->{unique}[0] % 11");
	my $order = "ORDER BY $key" . direction($key) . ", $inner->{unique}[0]";
	my $value = pick(
		"ARRAY(SELECT $theirs->{sql} FROM $inner->{from} WHERE $condition $order" . pick('', ' LIMIT 4', ' LIMIT 5 OFFSET 2') . ')',
		"(SELECT $key FROM $inner->{from} WHERE $condition $order LIMIT 1)",
		"(SELECT count(DISTINCT $key) FROM $inner->{from} WHERE $condition)",
		"(SELECT array_agg($inner->{unique}[0] $order) FROM $inner->{from} WHERE $condition)");

	return one('correlated', { sql => "SELECT $outer->{unique}[0], $value FROM $outer->{from} WHERE $outer->{unique}[0] % $step = 0 ORDER BY " . ordered_key($outer) . ", $outer->{unique}[0]", compare => 'rows' });
}

# Rows that meet one of a subquery's rows, or none: of one table or of two, by a column, by
# expressions of it, or by two columns.  Of two tables, the subquery's distinct rows are what
# one of them may be joined with first.
sub semijoin
{
	my @outer = map { base() } 1 .. weighted(1 => 3, 2 => 6);
	my $inner = chance(0.7) ? base() : weighted(relation(1) => 1, FuzzSql::Relations::few(pick(@FuzzSql::Relations::tables), 300) => 1);
	my @ids = map { $_->{unique}[0] } @outer;
	my @ints = columns_of($inner, 'int');
	my @domains = grep { $_->{type} =~ /^(small|plain|plainer)$/ } @ints;
	my $theirs = pick(@domains && chance(0.6) ? @domains : @ints)->{sql};
	my ($alike) = grep { @$_ == 2 } map { my $mine = $_; [ $mine, some(1, grep { $_->{type} ne 'big' } columns_of($inner, $mine->{class})) ] } some(4, @{ $outer[0]{columns} });
	my @mine = @ids;
	my @values = map { pick($theirs, $theirs, "$theirs % 100", "$theirs / 2", "${theirs}::int8", "coalesce($theirs, 3)", pick(@ints)->{sql}) } @ids;

	if ($alike && chance(0.3))
	{
		unshift @mine, $alike->[0]{sql};
		unshift @values, $alike->[1]{sql};
	}
	my $few = int($inner->{rows} / 500) + 1;
	my @conditions = ("$inner->{unique}[0] % $few = 0", chance(0.2) ? predicate($inner, simple => 1) : ());
	my $list = join(', ', @values);
	my $not = chance(0.15) && @outer == 1 ? 'NOT ' : '';
	my $matching = chance(0.7)
	  ? '(' . join(', ', @mine) . ") ${not}IN (" . with($inner) . 'SELECT ' . pick('', '', 'DISTINCT ') . "$list FROM $inner->{from}" . where(@conditions) . pick('', '', '', " GROUP BY $list") . ')'
	  : "${not}EXISTS (" . with($inner) . "SELECT FROM $inner->{from}" . where(@conditions, map { "$values[$_] = $mine[$_]" } 0 .. $#mine) . ')';
	my $from = join(', ', map { $_->{from} } @outer) . where($matching, chance(0.3) ? predicate($outer[0], simple => 1) : ());
	my $columns = join(', ', @ids, map { $_->{sql} } some(between(0, 2), sortable_columns($outer[0])));

	return one('semijoin', { sql => "SELECT $columns FROM $from", compare => 'set' }) if chance(0.5);
	return one('semijoin', { sql => "SELECT $columns FROM $from ORDER BY " . join(', ', ordered_key($outer[0]), @ids) . limit($outer[0]{rows})->{sql}, compare => 'rows' });
}

sub cursor
{
	my $query = ordered();
	my $hold = chance(0.35);
	my $scroll = weighted('SCROLL ' => 6, 'NO SCROLL ' => 1, '' => 1);
	my @forward = map { 'FETCH ' . pick('', between(1, 50), between(1, 2000), 'FORWARD 7', 'NEXT') . ' FROM c' } 1 .. 3;
	my @anyhow = (
		'FETCH BACKWARD ' . between(1, 100) . ' FROM c',
		'FETCH PRIOR FROM c', 'FETCH LAST FROM c', 'FETCH FIRST FROM c',
		'FETCH ABSOLUTE ' . between(-50, 700) . ' FROM c',
		'FETCH RELATIVE ' . between(-40, 40) . ' FROM c',
		'MOVE ' . between(1, 900) . ' FROM c',
		'MOVE BACKWARD ' . between(1, 900) . ' FROM c',
		'MOVE ALL FROM c', 'MOVE ABSOLUTE 0 FROM c', 'FETCH BACKWARD ALL FROM c', 'FETCH ALL FROM c', 'FETCH RELATIVE 0 FROM c');
	my @moves = $scroll eq 'SCROLL ' ? map { pick(@forward, @anyhow, @anyhow) } 1 .. between(3, 9) : @forward;
	my @steps = ('BEGIN', "DECLARE c ${scroll}CURSOR " . ($hold ? 'WITH HOLD ' : '') . "FOR $query->{sql}$query->{limit}{sql}");
	my $compare = $query->{total} ? 'rows' : 'only_keys';

	@steps = map { +{ sql => $_, compare => 'nothing' } } @steps;
	splice @moves, between(0, 2), 0, 'COMMIT' if $hold;
	push @steps, map { +{ sql => $_, compare => /^FETCH/ ? $compare : 'nothing', keys => $query->{keys} } } @moves;
	push @steps, map { +{ sql => $_, compare => 'nothing' } } $hold ? ('CLOSE c') : ('ROLLBACK');
	return { kind => 'cursor', explain => "$query->{sql}$query->{limit}{sql}", steps => \@steps };
}

sub value_of { return defined $_[0] ? $_[0] : 'NULL'; }

# Prepared, and run with several parameters; or, as drivers do, through portals.
sub prepared
{
	my ($by_portal) = @_;
	my $relation = relation();
	my $id = $relation->{unique}[0];
	my $condition = pick("$id > \$1", "$id % 10 < \$1", "(\$1 IS NULL OR $id <= \$1)", "$id <> \$1");
	my $query = ordered(relation => $relation, where => $condition);
	my $tail = pick('', ' LIMIT $2', ' LIMIT $2', ' LIMIT $2 OFFSET $3', ' OFFSET $3', ' FETCH FIRST ($2) ROWS WITH TIES', ' LIMIT ($2 + 1)');
	my $text = $query->{sql} . $tail;
	my @steps = $by_portal ? () : ({ sql => "PREPARE q(int4, int4, int4) AS $text", compare => 'nothing' });
	my $explain;

	$query->{limit} = { sql => '', limited => scalar($tail =~ /LIMIT|OFFSET/) };
	for (1 .. ($by_portal ? 1 : between(3, 7)))
	{
		my @values = (pick(0, 3, 5, 100, 900, 2000, undef), pick(0, 1, 10, 200, 3000, undef), pick(0, 1, 10, 700, undef));
		my $filled = $text;
		my $super = $query->{sql};

		$values[1] //= 4 if $tail =~ /TIES/;
		s/\$(\d)/value_of($values[$1 - 1]) . '::int4'/ge for $filled, $super;
		$explain //= $filled;
		my $step = ordered_step($query);
		$step->{super} = $super if $step->{super};
		if ($by_portal)
		{
			# All three are mentioned, so that the server knows their types.
			$step->{sql} = "$text";
			$step->{sql} =~ s/ WHERE / WHERE (\$1::int4 IS NULL OR \$2::int4 IS NULL OR \$3::int4 IS NULL OR true) AND /;
			$step->{portal} = { fetch => pick(0, 1, 7, 50, 1000), params => \@values };
			$step->{portal}{fetch} = 50 if $step->{portal}{fetch} == 1 && chance(0.9);
		}
		else
		{
			$step->{sql} = 'EXECUTE q(' . join(', ', map { value_of($_) } @values) . ')';
		}
		push @steps, $step;
	}
	return { kind => $by_portal ? 'portal' : 'prepared', explain => $explain, steps => \@steps };
}

sub explained
{
	my $inner = pick(\&order_by, \&distinct, \&group_by, \&aggregates, \&window, \&set_operation, \&correlated)->();
	my $format = pick(qw(text json xml yaml));
	my $version_free = join(', ', some(between(0, 5), 'ANALYZE', 'VERBOSE', 'COSTS ' . pick('on', 'off'), 'SETTINGS', 'SUMMARY off'));
	my $options = join(', ', grep { length } $version_free, $version_free =~ /ANALYZE/ ? some(between(0, 2), 'BUFFERS', 'TIMING off', 'WAL') : (), 'FORMAT ' . uc($format));

	return { kind => 'explain', explain => $inner->{explain}, steps => [ { sql => "EXPLAIN ($options) $inner->{explain}", compare => 'explain', format => $format } ] };
}

# Statements that change rows in an order, or rows that an order chose.
sub changing
{
	my $table = pick(grep { $_->{kind} ne 'temp' } @FuzzSql::Relations::tables) // pick(@FuzzSql::Relations::tables);
	my $target = base($table);
	my $source = base();
	my $key = ordered_key($source);
	my $limit = between(1, 2000);
	my ($int) = grep { $_->{type} eq 'int4' && $_->{name} ne 'id' && $_->{name} ne 'p' } @{ $target->{columns} };
	my @sql = weighted(
		[ "CREATE TEMP TABLE made AS SELECT row_number() OVER () AS n, s.* FROM (SELECT $source->{unique}[0] FROM $source->{from} ORDER BY $key, $source->{unique}[0]" . pick('', " LIMIT $limit") . ') s', 'SELECT * FROM made ORDER BY n' ] => 2,
		[ 'CREATE TEMP TABLE made (n serial, u int4)', "INSERT INTO made (u) SELECT $source->{unique}[0] FROM $source->{from} ORDER BY $key, $source->{unique}[0] LIMIT $limit RETURNING n, u" ] => 2,
		["DELETE FROM $target->{from} WHERE $target->{unique}[0] IN (SELECT $source->{unique}[0] FROM $source->{from} ORDER BY $key, $source->{unique}[0] LIMIT $limit) RETURNING $target->{unique}[0]"] => 2,
		[ $int ? "UPDATE $target->{from} SET $int->{name} = 5 FROM (SELECT $source->{unique}[0] AS u FROM $source->{from} ORDER BY $key, $source->{unique}[0] LIMIT $limit) s WHERE $target->{unique}[0] = s.u RETURNING $target->{unique}[0], $int->{sql}" : 'SELECT 1' ] => 2,
		[ "WITH gone AS (DELETE FROM $target->{from} WHERE $target->{unique}[0] % 3 = 0 RETURNING $target->{unique}[0] AS u) SELECT u FROM gone ORDER BY u % 10, u LIMIT $limit" ] => 1);
	my @steps = map { +{ sql => $_, compare => /ORDER BY n$|RETURNING n|^WITH/ ? 'rows' : 'set' } } @{ $sql[0] };

	return { kind => 'changing', explain => undef, steps => [ { sql => 'BEGIN', compare => 'nothing' }, @steps, { sql => 'ROLLBACK', compare => 'nothing' } ] };
}

# A key that cannot be computed for one row: an error in any plan.
sub failing
{
	my $relation = base(pick(grep { $_->{kind} ne 'temp' } @FuzzSql::Relations::tables) // ());
	my $id = $relation->{unique}[0];
	my $wrong = pick("1000 / ($id - " . between(1, 3000) . ')', "('1' || $id || CASE WHEN $id % 1001 = 1000 THEN 'x' ELSE '' END)::int4", "(${id}::int8 * 2000000)::int4");

	return one('failing', { sql => "SELECT $wrong, $id FROM $relation->{from} ORDER BY 1" . direction('') . ", $id", compare => 'rows' });
}

# hpsort's own aggregates and functions beside what they stand for.
sub own
{
	my @found;

	for (1 .. 20)
	{
		my $relation = base();
		push @found, map { [ $relation, $_ ] } grep { $_->{type} =~ /^(int2|int4|small|plain|plainer)$/ } @{ $relation->{columns} };
		last if @found > 4;
	}
	my @late = grep { $_->[1]{late} } @found;
	my ($relation, $column) = @{ pick(@late && chance(0.4) ? @late : @found) };
	my ($sql, $name, $table) = ($column->{sql}, $column->{name}, $relation->{table}{name});
	my $id = $relation->{unique}[0];
	my $where = where(weighted('' => 3, "$id % 3 = 1" => 2, "$sql > 5" => 1, "$sql IS NOT NULL" => 1, "$id < " . between(0, 3000) => 2) || ());
	my ($descending, $nulls_first) = (pick('false', 'true'), pick('NULL', 'false', 'true'));
	my $nulls = { NULL => '', false => ' NULLS LAST', true => ' NULLS FIRST' }->{$nulls_first};
	my $order = "ORDER BY $sql" . ($descending eq 'true' ? ' DESC' : '') . $nulls;
	my $arguments = "descending => $descending, nulls_first => $nulls_first";
	my $from = "FROM $relation->{from}$where";
	my $whole = "FROM $table " . ($relation->{from} =~ /(\w+)$/)[0];
	my $small = "$sql BETWEEN -100 AND 1000";
	my $pair = pick(
		[ "SELECT hpsort_agg($sql) $from", "SELECT array_agg($sql ORDER BY $sql) $from" ],
		[ "SELECT hpsort_agg($sql), hpsort_agg($id) $from", "SELECT array_agg($sql ORDER BY $sql), array_agg($id ORDER BY $id) $from" ],
		[ "SELECT hpsort_agg($sql, -2147483648, 2147483647, true) $from", "SELECT array_agg($sql ORDER BY $sql DESC) $from" ],
		[ "SELECT hpsort_agg($sql, -100, 1000) FROM $relation->{from} WHERE $small", "SELECT array_agg($sql ORDER BY $sql) FROM $relation->{from} WHERE $small" ],
		[ "SELECT $id % 5, hpsort_agg($sql) $from GROUP BY 1 ORDER BY 1", "SELECT $id % 5, array_agg($sql ORDER BY $sql) $from GROUP BY 1 ORDER BY 1" ],
		[ "SELECT hpsort_agg(DISTINCT $sql), hpsort_agg($sql) FILTER (WHERE $id % 2 = 0) $from", "SELECT array_agg(DISTINCT $sql), array_agg($sql ORDER BY $sql) FILTER (WHERE $id % 2 = 0) $from" ],
		[ "SELECT key, count FROM unnest((SELECT hpsort_runs_agg($sql) $from)) WITH ORDINALITY ORDER BY ordinality", "SELECT $sql, count(*) $from GROUP BY 1 ORDER BY 1" ],
		[ "SELECT hpsort_column('$table', '$name', $arguments)", "SELECT $sql $whole $order" ],
		[ "SELECT * FROM hpsort_column('$table', '$name', $arguments) LIMIT 20", "SELECT $sql $whole $order LIMIT 20" ],
		[ "SELECT hpsort_column_array('$table', '$name', $arguments)", "SELECT array_agg($sql $order) $whole" ],
		[ "SELECT key, count FROM hpsort_column_runs('$table', '$name')", "SELECT $sql, count(*) $whole GROUP BY 1 ORDER BY 1" ],
		[ "SELECT hpsort_query('SELECT $sql $from', $arguments)", "SELECT $sql $from $order" ],
		[ "SELECT hpsort(ARRAY(SELECT $sql $from), $descending, $nulls_first)", "SELECT ARRAY(SELECT $sql $from $order)" ],
		[ "SELECT * FROM hpsort_set(ARRAY(SELECT $sql $from), $descending, $nulls_first)", "SELECT $sql $from $order" ],
		[ "SELECT hpsort_order(ARRAY(SELECT $sql FROM $relation->{from} ORDER BY $id), $descending, $nulls_first)", "SELECT ARRAY(SELECT n::int4 FROM unnest(ARRAY(SELECT $sql FROM $relation->{from} ORDER BY $id)) WITH ORDINALITY s(x, n) ORDER BY x" . ($descending eq 'true' ? ' DESC' : '') . "$nulls, n)" ]);

	return { kind => "hpsort's own", explain => $pair->[0], steps => [ { sql => $pair->[0], core => $pair->[1], compare => 'rows', key_arrays => 1 } ] };
}

my @kinds = (
	\&order_by => 22,
	\&one_key => 10,
	\&for_update => 4,
	\&distinct => 9,
	\&group_by => 12,
	\&aggregates => 14,
	\&window => 10,
	\&set_operation => 6,
	\&correlated => 4,
	\&semijoin => 5,
	\&cursor => 8,
	sub { prepared(0) } => 6,
	sub { prepared(1) } => 4,
	\&explained => 4,
	\&changing => 3,
	\&failing => 1.5,
	\&own => 12);

sub make
{
	start_query();
	return weighted(@kinds)->();
}

1;
