# FuzzSql::Aggregates: random aggregates, groups and DISTINCT over one table, or
# the tree of tables below it: what HpSort Aggregate answers, and some that it
# leaves to core.  Queries are as FuzzSql::Queries describes them; no result
# depends on the order in which rows are read.
package FuzzSql::Aggregates;

use strict;
use warnings;
use Exporter 'import';
use FuzzSql::Random;
use FuzzSql::Relations;
our @EXPORT = qw(aggregates);

# What hypothetical rows are made of, by class.
my %values = (
	int => [ 0, 5, -3, 500, 'NULL', '2147483647', '9223372036854775807' ],
	date => [ "'2001-01-15'::date", "'infinity'::date", "'-infinity'::date", 'NULL::date' ],
	timestamp => [ "'2000-01-02 03:04:05'", "'infinity'", 'NULL' ],
	time => [ "'12:00'::time", "'24:00'::time" ],
	bool => [ 'true', 'false', 'NULL' ],
	oid => [ '0::oid', '4294967295::oid' ],
	enum => [ "'ok'::mood", "'worst'::mood", 'NULL::mood' ]);

sub fraction { return pick('0', '1', '0.5', '0.25', '0.9', '0.999', '0.5', sprintf('%.3f', rand())); }

# One fraction, or an array of them, which may have holes and dimensions.
sub fractions
{
	return fraction() if chance(0.6);
	return pick('NULL::float8', 'NULL::float8[]', "'{}'::float8[]") if chance(0.08);
	return "'{{0.1,0.5},{0.9,1}}'::float8[]" if chance(0.1);
	return 'ARRAY[' . join(', ', map { chance(0.1) ? 'NULL' : fraction() } 1 .. between(1, 5)) . ']::float8[]';
}

sub nulls { return pick('', '', '', ' NULLS FIRST', ' NULLS LAST'); }

sub order { return pick('', '', ' ASC', ' DESC', ' DESC') . nulls(); }

# A column: more often one that is read as integers than one whose values are numbered.
sub column
{
	my ($relation) = @_;
	my @read = grep { $_->{class} !~ /^(text|numeric|float|opaque)$/ } @{ $relation->{columns} };
	my @other = grep { $_->{class} =~ /^(text|numeric)$/ && $_->{type} ne 'big' } @{ $relation->{columns} };

	return pick(@other) if @other && chance(0.12);
	return pick(@read);
}

# An expression of one or several columns that the node reads, which fails for no value.
sub expression
{
	my ($relation) = @_;
	my ($a, $b) = map { $_->{sql} } some(2, columns_of($relation, 'int'));
	my $column = column($relation);

	my ($text) = map { $_->{sql} } some(1, grep { $_->{type} eq 'text' } columns_of($relation, 'text'));

	$b //= $a;
	return { sql => pick("length($text)", "length($text) % 3 + $a % 100", "strpos($text, ${b}::text)"), class => 'int', type => 'int8' } if defined $text && chance(0.15);
	return { sql => pick("$text || $a", "lower($text)", "CASE WHEN $a > 5 THEN $text END"), class => 'unordered', type => 'text' } if defined $text && chance(0.1);
	return { sql => "($column->{sql} IS NOT NULL)", class => 'bool', type => 'bool' } if chance(0.1);
	return {
		sql => pick("($a > $b)", "($a IS DISTINCT FROM $b)", "($a > 3 OR $b < 10)", "(NOT $a = 5)"),
		class => 'bool',
		type => 'bool'
	  }
	  if chance(0.2);
	return { sql => pick("$a % 7 + 1.5", "$a || ':' || $b", "nullif($a, $b)::text"), class => 'unordered', type => 'text' } if chance(0.1);
	return { sql => "date '2001-01-01' + ($a % 1000)::int4", class => 'date', type => 'date' } if chance(0.1);
	return {
		sql => pick(
			"$a / 10", "$a % 100 + 1", "$a % 100 - $b % 100", "($a % 1000)::int8 * ($b % 1000)", "$a / 3 + $b / 3", "coalesce($a, $b)", "nullif($a, $b)",
			"greatest($a, $b)", "CASE WHEN $a > $b THEN $a ELSE $b END", "CASE WHEN $b % 10 <> 0 THEN 1000 / ($b % 10) END", "($a % 30000)::int2", "($a)::numeric::int8"),
		class => 'int',
		type => 'int8'
	};
}

# What to group by.
sub group
{
	my ($relation) = @_;
	return expression($relation)->{sql} if chance(0.08) && columns_of($relation, 'int');
	my $column = column($relation);
	my ($sql, $class) = ($column->{sql}, $column->{class});
	my %expressions = (
		int => [ "$sql / 10", "$sql / 1000", "$sql / -7", "$sql % 10", "($sql > 5)", "(${sql}::int8 / 100000)", "$sql - $sql % 100", "${sql}::text" ],
		date => [ "extract(year FROM $sql)", "extract(dow FROM $sql)", "($sql > '2000-06-01')", "${sql}::timestamp" ],
		timestamp => [ "date_trunc('day', $sql)", "date_trunc('month', $sql)", "${sql}::date", "extract(hour FROM $sql)", "extract(year FROM $sql)", "date_trunc('minute', $sql)", "to_char($sql, 'DD HH24:MI')" ],
		time => [ "extract(hour FROM $sql)", "date_trunc('hour', ${sql}::interval)" ],
		bool => [ "(NOT $sql)", "${sql}::int" ],
		char => [ "${sql}::text", "($sql > 'a')" ],
		oid => ["${sql}::int8"],
		enum => [ "($sql > 'ok')", "${sql}::text" ],
		text => ["length($sql)"],
		numeric => ["round($sql)"]);

	return $sql if chance(0.72);
	return pick("($sql IS NULL)", (@{ $expressions{$class} }) x 4);
}

# An aggregate, with FILTER sometimes.  With "scalar", nothing that grows with
# the number of rows.
sub aggregate
{
	my ($relation, %options) = @_;
	my $column = chance(0.25) && columns_of($relation, 'int') ? expression($relation) : column($relation);
	my ($sql, $class, $type) = @$column{qw(sql class type)};
	my $order = "ORDER BY $sql" . order();
	return "count($sql)" if $class eq 'unordered';
	my @choice = ('count(*)' => 3, "count($sql)" => 2, "count(DISTINCT $sql)" => 3, "percentile_disc(@{[fractions()]}) WITHIN GROUP ($order)" => 4, "mode() WITHIN GROUP ($order)" => 2);
	my $filter = chance(0.2) ? ' FILTER (WHERE ' . predicate($relation, simple => 1) . ')' : '';

	push @choice, "min($sql)" => 2, "max($sql)" => 2 if $class =~ /^(int|date|oid|enum|time|timestamp|text|numeric)$/;
	push @choice, "sum($sql)" => 3, "avg($sql)" => 3, "sum(DISTINCT $sql)" => 1, "avg(DISTINCT $sql)" => 1, "percentile_cont(@{[fractions()]}) WITHIN GROUP ($order)" => 2 if $class eq 'int';
	push @choice, "percentile_cont(@{[fractions()]}) WITHIN GROUP ($order)" => 1, "sum($sql)" => 0.3 if $class eq 'time';
	push @choice, "min(DISTINCT $sql)" => 0.3 if $class eq 'int';
	# By core's own functions.
	push @choice, "max(${sql}::text || 'x')" => 0.4, "longest(${sql}::text)" => 0.3 if $type ne 'char';
	push @choice, "total(${sql}::numeric)" => 0.4, "sum($sql / 7.0)" => 0.4, "regr_count($sql, 1)" => 0.2 if $class eq 'int';
	push @choice, 'count(NULL)' => 0.1, 'count(1)' => 0.3 if $class eq 'int';
	push @choice, pick(qw(stddev stddev_pop stddev_samp variance var_pop var_samp bit_and bit_or bit_xor)) . '(' . pick('', '', 'DISTINCT ') . "$sql)" => 3 if $class eq 'int';
	push @choice, pick(qw(bool_and bool_or every)) . '(' . pick('', '', 'DISTINCT ') . "$sql)" => 3 if $class eq 'bool';
	if (my $values = $values{$class})
	{
		push @choice, pick(qw(rank dense_rank percent_rank cume_dist)) . '(' . pick(@$values) . ") WITHIN GROUP ($order)" => 3;
	}
	if (!$options{scalar})
	{
		push @choice, "array_agg($sql $order)" => 3, "array_agg(DISTINCT $sql)" => 1, "array_agg(DISTINCT $sql $order)" => 1.5;
		push @choice, "string_agg(${sql}::text, ',' ORDER BY $sql)" => 0.2;
		push @choice, "hpsort_agg($sql)" => 2, "hpsort_runs_agg($sql)" => 1 if $type =~ /^(int4|int2|date|plain|plainer|small)$/;
		push @choice, "hpsort_agg($sql, -2147483648, 2147483647, true)" => 1 if $type eq 'int4';
	}
	return weighted(@choice) . $filter;
}

# An expression over aggregates that fails for no value.
sub over_aggregates
{
	my ($relation) = @_;
	my ($int) = some(1, columns_of($relation, 'int'));
	my $sql = $int->{sql};

	return pick('count(*) * 2 + 1', "coalesce(sum($sql), 0)", "round(avg($sql), 2)", "max($sql)::numeric - min($sql)", "CASE WHEN count(*) > 5 THEN min($sql) END",
		"sum($sql)::numeric / count(*)", "(percentile_disc(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY $sql))[2]", "cardinality(array_agg($sql ORDER BY $sql))",
		"avg($sql) - percentile_cont(0.5) WITHIN GROUP (ORDER BY $sql)", "count(*) - count(DISTINCT $sql)", "min($sql)::text || '..' || max($sql)");
}

sub having
{
	my ($relation) = @_;
	my ($int) = some(1, columns_of($relation, 'int'));

	return ' HAVING ' . pick('count(*) > 1', 'count(*) % 2 = 0', "min($int->{sql}) < 100", "sum($int->{sql}) % 2 = 0", "count(DISTINCT $int->{sql}) < 20", 'count(*) < 0',
		"percentile_disc(0.5) WITHIN GROUP (ORDER BY $int->{sql}) > 3");
}

# The sort clause of groups in the first columns of a select list, and a limit if
# it tells all groups apart: what is compared then.
sub ordered_groups
{
	my ($n, $keys) = @_;
	my $total = $keys == $n;
	my $sql = ' ORDER BY ' . join(', ', map { $_ . order() } 1 .. $keys);

	return { sql => $sql, compare => 'keys', keys => $keys } if !$total;
	return { sql => $sql . weighted('' => 6, ' LIMIT 10' => 2, ' LIMIT 100 OFFSET 7' => 1, ' OFFSET 3' => 1, ' LIMIT 0' => 0.2, ' FETCH FIRST 5 ROWS WITH TIES' => 0.5), compare => 'rows' };
}

# ROLLUP, CUBE, and lists of sets: some twice, some with parts that are sets themselves.
sub grouping_sets
{
	my (@groups) = @_;
	my $all = join(', ', @groups);
	my @sets = map { '(' . join(', ', some(between(0, scalar @groups), @groups)) . ')' } 1 .. between(1, 4);

	# Each group is in one set at least.
	push @sets, map { "($_)" } @groups;

	return pick('', '', '', 'DISTINCT ') . weighted("ROLLUP ($all)" => 4, "CUBE ($all)" => 3, 'GROUPING SETS (' . join(', ', @sets) . ')' => 4, "GROUPING SETS ($sets[0], ROLLUP ($all))" => 1,
		"ROLLUP (($all), $groups[0])" => 0.5, "$groups[0], CUBE ($all)" => 1, "ROLLUP ($groups[0]), ROLLUP ($groups[-1])" => 1);
}

# SELECT ... GROUP BY, or one group of all rows: { sql, compare, keys }.
sub grouped
{
	my ($relation, %options) = @_;
	my @groups = map { group($relation) } 1 .. weighted(0 => 3, 1 => 5, 2 => 2, 3 => 1);
	my @list = map { chance(0.15) ? over_aggregates($relation) : aggregate($relation, %options) } 1 .. weighted(1 => 4, 2 => 3, 3 => 2, 4 => 1);
	my $where = where($options{where} // (), chance(0.4) ? predicate($relation) : ());
	my $having = chance(0.2) ? having($relation) : '';
	my $from = "FROM $relation->{from}$where";

	return { sql => 'SELECT ' . join(', ', @list) . " $from$having", compare => 'rows' } if !@groups;
	my $by = join(', ', @groups);
	# A direct argument may depend on the group.
	push @list, "percentile_disc(CASE WHEN $groups[0] IS NULL THEN 0.5 ELSE 0.25 END) WITHIN GROUP (ORDER BY $relation->{unique}[0])" if chance(0.05);
	push @list, "count(*) || '/' || coalesce(($groups[0])::text, '-')" if chance(0.1);
	my $sets = chance(($ENV{HPSORT_TEST_SETS} // 8) / 100);
	$by = grouping_sets(@groups) if $sets;
	push @list, 'GROUPING(' . join(', ', some(between(1, scalar @groups), @groups)) . ')' if $sets && chance(0.7);
	my $select = 'SELECT ' . (chance(0.05) ? 'DISTINCT ' : '');
	return { sql => $select . join(', ', @list) . " $from GROUP BY $by$having", compare => 'set' } if chance(0.07);
	my $sql = $select . join(', ', @groups, @list) . " $from GROUP BY $by$having";
	return { sql => $sql, compare => 'set' } if chance(0.4) || $sets;
	# By an aggregate, which is unique with the groups behind it.
	return { sql => $sql . ' ORDER BY count(*)' . pick('', ' DESC') . ', ' . join(', ', 1 .. @groups) . pick('', ' LIMIT 5'), compare => 'rows' } if $select !~ /DISTINCT/ && chance(0.2);
	my $order = ordered_groups(scalar @groups, between(1, scalar @groups));
	return { sql => $sql . $order->{sql}, compare => $order->{compare}, keys => $order->{keys} };
}

sub distinct
{
	my ($relation, %options) = @_;
	my @list = map { group($relation) } 1 .. weighted(1 => 5, 2 => 3, 3 => 1);
	my $sql = 'SELECT DISTINCT ' . join(', ', @list) . " FROM $relation->{from}" . where($options{where} // (), chance(0.4) ? predicate($relation) : ());

	return { sql => $sql, compare => 'set' } if chance(0.5);
	my $order = ordered_groups(scalar @list, between(1, scalar @list));
	return { sql => $sql . $order->{sql}, compare => $order->{compare}, keys => $order->{keys} };
}

# One error, the same whatever is computed first.
sub failing
{
	my ($relation) = @_;
	my ($int) = some(1, columns_of($relation, 'int'));
	my $sql = $int->{sql};
	my $int2 = (some(1, columns_of($relation, 'int')))[0]{sql};
	my $from = "FROM $relation->{from}";
	my $group = group($relation);

	return {
		sql => pick(
			"SELECT percentile_disc(@{[pick('1.5', '-0.1', q{'NaN'}, 'ARRAY[0.5, 2]')]}) WITHIN GROUP (ORDER BY $sql) $from",
			"SELECT $group, percentile_cont(-0.5) WITHIN GROUP (ORDER BY $sql) $from GROUP BY 1",
			"SELECT $group, 1 / (count(*) - 1) $from GROUP BY 1",
			"SELECT $group, count(*) $from GROUP BY 1 HAVING 1 / (count(*) - count(*)) > 0",
			"SELECT 10 / ($sql - 5), count(*) $from GROUP BY 1",
			"SELECT DISTINCT 10 / ($sql % 3) $from",
			"SELECT count(*) FILTER (WHERE 1 / ($sql % 4) >= 0) $from",
			"SELECT $group, sum($sql) $from WHERE 1 / ($sql % 5) >= 0 GROUP BY 1",
			"SELECT $group, (count(*) + 32767)::int2 $from GROUP BY 1",
			"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY $sql / ($sql % 2)) $from",
			"SELECT $group, sum($sql + 9223372036854775800) $from GROUP BY 1",
			"SELECT $group, sum(10 / ($sql - 5)) FILTER (WHERE $sql <> 5), count($sql + 1.5) $from GROUP BY 1",
			"SELECT $group, sum(10 / ($sql % 6)) FILTER (WHERE $sql % 3 <> 1) $from GROUP BY 1",
			"SELECT min(CASE WHEN $sql <> 0 THEN 100 / $sql END), max(CASE $sql WHEN 7 THEN 1 / ($sql - 7) END) $from",
			"SELECT count(1 / ($sql % 4) + $int2) $from WHERE $sql % 4 <> 0"),
		compare => 'set',
		text => 1
	};
}

# A query around the aggregates of a table.
sub wrapped
{
	my $relation = base();
	my $id = $relation->{unique}[0];
	my $kind = weighted(lateral => 3, correlated => 3, cte => 2, union => 2, subquery => 3, exists => 1, joined => 2, rows => 3);
	my $inner = $kind eq 'union' ? undef : chance(0.8) ? grouped($relation, scalar => 1, $kind eq 'lateral' ? (where => "$id % 3 = g") : ()) : distinct($relation, $kind eq 'lateral' ? (where => "$id % 3 = g") : ());
	my ($int) = some(1, columns_of($relation, 'int'));
	my $sql =
		$kind eq 'lateral' ? "SELECT g, q FROM generate_series(0, 3) g CROSS JOIN LATERAL ($inner->{sql}) q"
	  : $kind eq 'correlated' ? "SELECT g, (SELECT @{[aggregate($relation, scalar => 1)]}::text FROM $relation->{from} WHERE $id % 4 = g) FROM generate_series(0, 4) g"
	  : $kind eq 'cte' ? "WITH w AS MATERIALIZED ($inner->{sql}) SELECT q, count(*) FROM w q GROUP BY 1"
	  : $kind eq 'subquery' ? "SELECT count(*), min(q::text), max(q::text) FROM ($inner->{sql}) q"
	  : $kind eq 'exists' ? "SELECT g FROM generate_series(0, 3) g WHERE EXISTS (SELECT $int->{sql} FROM $relation->{from} WHERE $id % 5 = g GROUP BY 1 HAVING count(*) > 2)"
	  : $kind eq 'joined' ? "SELECT q FROM (SELECT $int->{sql} AS k, count(*) AS n FROM $relation->{from} GROUP BY 1) q JOIN (SELECT DISTINCT $int->{sql} AS k FROM $relation->{from} WHERE $id % 2 = 0) r ON q.k = r.k"
	  : $kind eq 'rows' ? "SELECT count(*), sum(q.n) FROM $relation->{from} JOIN (SELECT $int->{sql} AS k, count(*) AS n FROM $relation->{from} GROUP BY 1) q ON q.k = $int->{sql}"
  :                      'SELECT q::text FROM (' . grouped($relation, scalar => 1)->{sql} . ') q UNION ALL SELECT q::text FROM (' . distinct($relation)->{sql} . ') q';

	return { sql => $sql, compare => 'set' };
}

# With a parameter, through a portal as drivers do it or by PREPARE.
sub prepared
{
	my $relation = base();
	my $id = $relation->{unique}[0];
	my $step = chance(0.8) ? grouped($relation, where => "$id <= \$1") : distinct($relation, where => "$id <= \$1");

	if (chance(0.5))
	{
		$step->{portal} = { fetch => pick(0, 0, 3, 50), params => [ pick(0, 1, 100, 1000, 100000, undef) ] };
		return ($step);
	}
	return ({ sql => "PREPARE q(int4) AS $step->{sql}", compare => 'nothing' },
		map { my %run = (%$step, sql => "EXECUTE q($_)"); \%run } some(between(1, 3), 0, 1, 100, 1000, 100000, 'NULL'));
}

# A query; what EXPLAIN is asked about has no parameters.
sub aggregates
{
	my $kind = weighted(grouped => 62, distinct => 14, wrapped => 10, prepared => 9, failing => 5);
	my @steps =
		$kind eq 'grouped' ? grouped(base())
	  : $kind eq 'distinct' ? distinct(base())
	  : $kind eq 'wrapped' ? wrapped()
	  : $kind eq 'failing' ? failing(base())
	  :                         prepared();
	my $explain = $steps[0]{sql};

	$explain =~ s/^PREPARE q\(int4\) AS //;
	$explain =~ s/\$1/100/g;
	return { kind => "aggregates: $kind", explain => $explain, steps => \@steps };
}

1;
