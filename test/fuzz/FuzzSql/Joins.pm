# FuzzSql::Joins: stars and snowflakes, and random queries of them.  Facts are joined with dimensions by
# keys of several types, with NULLs, values that no dimension has, and dimensions that have no fact.
# Queries are as FuzzSql::Queries describes them; no result depends on the order in which rows are read.
#
#	FuzzSql::Joins::setup()		makes the tables
#	FuzzSql::Joins::query()		a query; its kind names its joins
package FuzzSql::Joins;

use strict;
use warnings;
use FuzzSql::Random;

# Facts: the columns of all, and how many rows each has.  A column's name says what it refers to.
my %facts = (facts => 5000, parts => 1500, dense => 1500, wide => 800, all_null => 50, no_facts => 0);
my @fact_columns = (
	[ id => 'int4', 'int' ], [ shop => 'int4', 'int' ], [ shop8 => 'int8', 'int' ], [ item => 'int4', 'int' ], [ code => 'text', 'text' ],
	[ vcode => 'varchar(12)', 'text' ], [ uid => 'uuid', 'other' ], [ price => 'numeric(8,2)', 'numeric' ], [ k1 => 'int2', 'int' ], [ k2 => 'int8', 'int' ],
	[ day => 'date', 'date' ], [ x => 'int4', 'int' ], [ y => 'int8', 'int' ], [ q => 'numeric(10,2)', 'numeric' ], [ label => 'text', 'text' ]);

# Dimensions: what stands in FROM, the keys that are unique together with the facts' columns that may refer
# to them, and their other columns.
my %shop = (name => 'text', size => 'int', flag => 'bool', since => 'date', region => 'int', rate => 'numeric', cost => 'decimal');
my %region = (rname => 'text', continent => 'int');
my %dimensions = (
	shops => { keys => [ [ id => qw(shop shop8 item x) ] ], columns => \%shop },
	shops8 => { keys => [ [ id => qw(shop shop8) ] ], columns => \%shop },
	few_shops => { keys => [ [ id => qw(shop shop8) ] ], columns => \%shop },
	no_shops => { keys => [ [ id => qw(shop shop8) ] ], columns => \%shop },
	shop_parts => { keys => [ [ id => qw(shop shop8) ] ], columns => \%shop },
	shop_view => { keys => [ [ id => qw(shop shop8) ] ], columns => { name => 'text', twice => 'int', region => 'int' } },
	shop_barrier => { keys => [ [ id => qw(shop) ] ], columns => { name => 'text', region => 'int' } },
	codes => { keys => [ [ code => qw(code vcode) ] ], columns => { title => 'text', weight => 'int' } },
	uids => { keys => [ [ uid => qw(uid) ] ], columns => { title => 'text', weight => 'int' } },
	prices => { keys => [ [ price => qw(price) ] ], columns => { band => 'int', title => 'text' } },
	pairs => { keys => [ [ k1 => qw(k1 k2) ], [ k2 => qw(k2 shop) ] ], columns => { title => 'text', weight => 'int' } },
	days => { keys => [ [ day => qw(day) ] ], columns => { month => 'int', dow => 'int', holiday => 'bool' } },
	great => { keys => [ [ id => qw(shop shop8 item) ] ], columns => { name => 'text', weight => 'int', region => 'int' } },
	great_codes => { keys => [ [ code => qw(code vcode) ] ], columns => { title => 'text', weight => 'int' } },
	gappy => { keys => [ [ id => qw(shop shop8) ] ], columns => { name => 'text', weight => 'int' } },
	twins => { keys => [ [ id => qw(shop shop8) ] ], columns => { name => 'text', weight => 'int' }, many => 1 },
	code_twins => { keys => [ [ code => qw(code vcode) ] ], columns => { title => 'text', weight => 'int' }, many => 1 },
	pair_twins => { keys => [ [ k1 => qw(k1 k2) ], [ k2 => qw(k2 shop) ] ], columns => { title => 'text', weight => 'int' }, many => 1 },
	facts => { keys => [ [ id => qw(x item) ] ], columns => { x => 'int', label => 'text' } },
	'(SELECT region AS id, count(*) AS n, max(name) AS name FROM shops GROUP BY region)' => { keys => [ [ id => qw(shop shop8 item) ] ], columns => { n => 'int', name => 'text' } },
	'(SELECT DISTINCT id % 30 AS id FROM shops)' => { keys => [ [ id => qw(shop item) ] ], columns => {} },
	"(SELECT s.id, s.name, r.rname FROM shops s JOIN regions r ON r.id = s.region WHERE s.flag)" => { keys => [ [ id => qw(shop shop8) ] ], columns => { name => 'text', rname => 'text' } });
my @names = sort keys %dimensions;

sub shop_rows
{
	my ($table, $rows, $type) = @_;

	return "INSERT INTO $table SELECT i * 2, CASE WHEN i % 11 > 0 THEN 'shop ' || i % 37 END, CASE WHEN i % 7 > 0 THEN i % 50 END, CASE i % 4 WHEN 0 THEN NULL ELSE i % 4 = 1 END,"
	  . " date '2001-01-01' + i % 60, CASE WHEN i % 13 > 0 THEN (i % 12)::$type END, (i % 9 || '.' || repeat('0', 1 + i % 3))::numeric,"
	  . " CASE WHEN i % 17 = 5 THEN 'NaN' WHEN i % 8 > 0 THEN i % 31 / 8.0 - 1 END FROM generate_series(0, $rows) i;\n";
}

# A fact's values, of the columns of @fact_columns: a share of NULLs, keys up to a number that dimensions may not have.
sub fact_values
{
	my ($nulls, $most) = @_;
	my %values = (
		id => 'i', shop => "(random() * $most)::int", shop8 => "(CASE WHEN random() < @{[ $nulls / 2 ]} THEN 1::int8 << 33 ELSE 0 END) + (random() * $most)::int",
		item => '(random() ^ 4 * 3000)::int', code => "'c' || (random() * $most / 2.5)::int", vcode => "'c' || (random() * $most / 3)::int", uid => "md5((random() * $most / 2.2)::int::text)::uuid",
		price => "CASE WHEN random() < 0.02 THEN 'NaN' ELSE (random() * 90)::int / 4.0 END", k1 => '(random() * 6)::int', k2 => '(random() * 20)::int',
		day => q{CASE WHEN random() < 0.02 THEN 'infinity' ELSE date '2001-01-01' + (random() * 400)::int END}, x => '(random() * 100)::int - 20', y => '(random() * 1e12)::int8',
		q => '(random() * 500)::int / 8.0', label => q{'label ' || (random() * 30)::int});

	return join(', ', map { $_->[0] eq 'id' ? 'i' : "CASE WHEN random() >= $nulls THEN $values{$_->[0]} END" } @fact_columns);
}

sub setup
{
	my $facts = join(', ', map { "$_->[0] $_->[1]" } @fact_columns);
	my $shop = '(id int4 PRIMARY KEY, name text, size int4, flag bool, since date, region int4, rate numeric, cost numeric(8,3))';
	my $sql = "CREATE TABLE regions (id int2 PRIMARY KEY, rname text, continent int4); INSERT INTO regions SELECT i, CASE WHEN i <> 4 THEN 'region ' || i % 7 END, i % 4 FROM generate_series(0, 9) i;\n";

	for my $table (qw(shops few_shops no_shops))
	{
		$sql .= "CREATE TABLE $table $shop;\n";
	}
	$sql .= 'CREATE TABLE shops8 ' . $shop =~ s/id int4/id int8/r . ";\n";
	$sql .= 'CREATE TABLE shop_parts ' . $shop . " PARTITION BY RANGE (id); CREATE TABLE shop_parts_1 PARTITION OF shop_parts FOR VALUES FROM (MINVALUE) TO (60); CREATE TABLE shop_parts_2 PARTITION OF shop_parts FOR VALUES FROM (60) TO (MAXVALUE);\n";
	$sql .= shop_rows('shops', 70, 'int4') . shop_rows('few_shops', 3, 'int4') . shop_rows('shops8', 65, 'int4') . shop_rows('shop_parts', 70, 'int4');
	$sql .= "UPDATE shops SET size = size + 1 WHERE id % 8 = 0; DELETE FROM shops WHERE id % 22 = 4; INSERT INTO shops8 VALUES (1::int8 << 33, 'far', 3, true, NULL, 3, 1, 2.125), ((1::int8 << 33) + 5, 'farther', 4, false, NULL, NULL, 1.0, 99999.999);\n";
	$sql .= q{CREATE VIEW shop_view AS SELECT id, upper(name) AS name, size * 2 AS twice, region FROM shops WHERE size > 4;
CREATE VIEW shop_barrier WITH (security_barrier) AS SELECT id, name, region FROM shops WHERE size < 40;
CREATE TABLE codes (code text PRIMARY KEY, title text, weight int4); INSERT INTO codes SELECT 'c' || i, 'title ' || i % 9, i % 5 FROM generate_series(0, 50) i;
CREATE TABLE uids (uid uuid PRIMARY KEY, title text, weight int4); INSERT INTO uids SELECT md5(i::text)::uuid, 'title ' || i % 9, i FROM generate_series(0, 60) i;
CREATE TABLE prices (price numeric PRIMARY KEY, band int4, title text); INSERT INTO prices SELECT i / 4.0, i / 10, 'price ' || i FROM generate_series(0, 80) i; INSERT INTO prices VALUES ('NaN', 99, 'none');
CREATE TABLE pairs (k1 int4, k2 int4, title text, weight int4, UNIQUE (k1, k2)); INSERT INTO pairs SELECT i % 6, i / 6, 'pair ' || i % 17, i % 10 FROM generate_series(0, 99) i; INSERT INTO pairs VALUES (NULL, 3, 'no first', 1), (2, NULL, 'no second', 2), (2, NULL, 'again', 3);
CREATE TABLE days (day date PRIMARY KEY, month int4, dow int4, holiday bool); INSERT INTO days SELECT date '2001-01-01' + i, i / 30, i % 7, i % 19 = 0 FROM generate_series(0, 364) i; INSERT INTO days VALUES ('infinity', -1, NULL, NULL);
CREATE TABLE gappy (id int4 UNIQUE, name text, weight int4); INSERT INTO gappy SELECT CASE WHEN i % 3 > 0 THEN i END, 'gap ' || i % 5, i % 4 FROM generate_series(0, 150) i;
CREATE TABLE great (id int4 PRIMARY KEY, name text, weight int4, region int4);
INSERT INTO great SELECT CASE WHEN i % 9 > 0 THEN i ELSE -i END, CASE WHEN i % 6 > 0 THEN 'great ' || repeat(i % 70 || '.', 20) END, i % 8, i % 12 FROM generate_series(1, 4600) i;
CREATE TABLE great_codes (code text PRIMARY KEY, title text, weight int4); INSERT INTO great_codes SELECT 'c' || i, 'title ' || repeat(i % 9 || '.', 20), CASE WHEN i % 4 > 0 THEN i % 5 END FROM generate_series(1, 4600) i;
CREATE TABLE twins (id int4, name text, weight int4); INSERT INTO twins SELECT CASE WHEN i % 10 > 0 THEN i / 2 END, 'twin ' || i % 6, i % 4 FROM generate_series(0, 200) i;
CREATE TABLE code_twins AS SELECT code, title || n AS title, weight + n AS weight FROM codes, generate_series(1, 3) n WHERE weight > n UNION ALL SELECT NULL, 'none', 1 FROM codes;
CREATE TABLE pair_twins AS SELECT k1::int2, k2::int8, title, n AS weight FROM pairs, generate_series(0, 2) n WHERE n < 1 + weight % 3;
};
	$sql .= "CREATE TABLE $_ ($facts);\n" for qw(facts dense all_null no_facts);
	$sql .= 'CREATE TABLE wide (filler text, ' . $facts =~ s/, x int4/, filler2 text, x int4/r . ");\n";
	$sql .= "CREATE TABLE parts ($facts) PARTITION BY RANGE (id); CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (450);\n"
	  . 'CREATE TABLE parts_2 (gone text, ' . join(', ', map { "$_->[0] $_->[1]" } reverse @fact_columns) . "); ALTER TABLE parts_2 DROP gone; ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (450) TO (1000);\n"
	  . "CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (1000) TO (MAXVALUE);\n";
	for my $table (sort keys %facts)
	{
		my $nulls = $table eq 'all_null' ? 1.1 : $table eq 'dense' ? 0 : 0.08;

		$sql .= "INSERT INTO $table (" . join(', ', map { $_->[0] } @fact_columns) . ') SELECT ' . fact_values($nulls, $table eq 'dense' ? 100 : 160) . " FROM generate_series(1, $facts{$table}) i;\n";
	}
	$sql .= "UPDATE wide SET filler = repeat('w', id % 200), filler2 = md5(id::text); ALTER TABLE facts ADD late int4 DEFAULT 5;\n";
	$sql .= "UPDATE $_ SET x = x WHERE id % 7 = 0; DELETE FROM $_ WHERE id % 11 = 3;\n" for qw(facts parts wide);
	return $sql . "VACUUM ANALYZE;\n";
}

# --- Queries

my $aliases;

sub alias { return 'd' . ++$aliases; }

# The condition on a dimension's columns, or on a fact's.
sub condition
{
	my (@columns) = @_;
	my $column = pick(@columns);
	my ($sql, $class) = @$column{qw(sql class)};

	return pick("$sql IS NULL", "$sql IS NOT NULL") if chance(0.12);
	return
		$class eq 'int' ? pick("$sql > 20", "$sql % 3 = 1", "$sql BETWEEN 3 AND 60", "$sql IN (1, 2, 7, 12)", "$sql < 50", "$sql <> 4", "coalesce($sql, 4) = 4")
	  : $class eq 'text' ? pick("$sql LIKE '%1%'", "$sql < 't'", "length($sql) > 6", "$sql = 'shop 5'", "$sql <> 'c7'", "$sql IN ('gap 1', 'twin 2', 'title 3', 'region 2')")
	  : $class eq 'bool' ? pick($sql, "NOT $sql", "$sql IS NOT TRUE")
	  : $class eq 'date' ? pick("$sql > '2001-02-01'", "extract(month FROM $sql) = 3")
	  : $class =~ /numeric|decimal/ ? pick("$sql > 1.5", "$sql <> 2")
	  :                        "$sql IS NOT NULL";
}

# An expression of several columns, integers and decimals.
sub mixed
{
	my (@columns) = @_;
	my @numbers = grep { $_->{class} =~ /int|decimal/ || $_->{sql} eq 'f.q' } @columns;
	my ($a, $b, $c) = map { pick(@numbers)->{sql} } 1 .. 3;

	return pick("$a * $b", "$a + $b", "$a * (1 - $b)", "$a * 2 - $b * $c", "coalesce($a, 0) - $b", "CASE WHEN " . condition(@columns) . " THEN $a * $b ELSE $c END", "$a - -$b", "$a");
}

# A condition on several columns, of one table or more.
sub mixed_condition
{
	my (@columns) = @_;
	my @ints = grep { $_->{class} eq 'int' } @columns;
	my ($a, $b) = map { pick(@ints)->{sql} } 1 .. 2;

	return pick("$a <> $b", "$a > $b", "$a % 4 = $b % 4", "($a < 20 OR " . condition(@columns) . ')', "($a > $b OR $a IS NULL)", '(' . join(' OR ', map { condition(@columns) } 1 .. 3) . ')');
}

# What to group by.
sub group
{
	my (@columns) = @_;
	my ($column) = some(1, grep { $_->{class} !~ /numeric|decimal/ } @columns);

	return '(' . pick(\&mixed_condition, \&mixed)->(grep { $_->{class} ne 'decimal' && $_->{sql} ne 'f.q' } @columns) . ')' if chance(0.1);
	my ($sql, $class) = @$column{qw(sql class)};

	return $sql if chance(0.75);
	return
		$class eq 'int' ? pick("$sql / 10", "$sql % 5", "($sql > 12)", "coalesce($sql, -1)")
	  : $class eq 'text' ? pick("left($sql, 3)", "length($sql)", "upper($sql)", "coalesce($sql, 'none')")
	  : $class eq 'date' ? pick("date_trunc('month', $sql)", "extract(dow FROM $sql)")
	  :                     "($sql IS NULL)";
}

sub aggregate
{
	my (@columns) = @_;
	my $filter = chance(0.2) ? ' FILTER (WHERE ' . join(' AND ', map { condition(@columns) } 1 .. weighted(1 => 3, 2 => 1)) . ')' : '';
	my $column = pick(chance(0.6) ? (grep { $_->{mine} } @columns) : @columns);
	my ($sql, $class) = @$column{qw(sql class)};

	$sql = pick("upper($sql)", "left($sql, 5)", "$sql || '!'") if $class eq 'text' && chance(0.2);
	my $order = "WITHIN GROUP (ORDER BY $sql" . pick('', '', ' DESC', ' NULLS FIRST') . ')';

	return 'count(*)' . $filter if chance(0.15);
	if (chance(0.2) || $class eq 'decimal')
	{
		my ($function, $mixed) = (pick(qw(sum sum avg min max count)), mixed(@columns));

		# Of equal values of several scales the order of the rows decides which is the least.
		$mixed = "trim_scale($mixed)" if $function =~ /^m/ && $mixed =~ /^(CASE|coalesce).*[.](q|cost)\b/;
		return "$function($mixed)$filter";
	}
	return "count(DISTINCT $sql)$filter" if chance(0.15);
	return "count($sql)$filter" if chance(0.1) || $class eq 'other';
	my @other = grep { $_->{class} eq 'int' } @columns;
	return 'sum(' . pick("$sql + ", "coalesce($sql, 1) * ") . '(' . pick(@other)->{sql} . " % 100))$filter" if $class eq 'int' && chance(0.1);
	return pick("sum($sql)", "sum($sql)", "avg($sql)", "min($sql)", "max($sql)", "percentile_cont(0.4) $order", "percentile_disc(ARRAY[0.1, 0.9]) $order", "mode() $order", "stddev($sql)",
		"array_agg($sql ORDER BY $sql)", "rank(7) $order", "sum(DISTINCT $sql)") . $filter if $class eq 'int';
	return pick("sum($sql)", "avg($sql)", "percentile_disc(0.5) $order", "max($sql)", "min($sql)") . $filter if $class eq 'numeric' && $column->{mine} && $sql =~ /[.]q$/;
	return "count($sql)$filter" if $class eq 'numeric';
	return pick("bool_and($sql)", "bool_or($sql)", "percentile_disc(0.5) $order") . $filter if $class eq 'bool';
	return pick("min($sql)", "max($sql)", "percentile_disc(0.5) $order", "mode() $order", "array_agg($sql ORDER BY $sql DESC)", $class eq 'text' ? "string_agg(DISTINCT $sql, ',' ORDER BY $sql)" : "array_agg(DISTINCT $sql)") . $filter;
}

# A column of the fact, or an expression of it, that a dimension's key is equal to.
sub key_of
{
	my ($key, $sql) = @_;

	return $sql if chance(0.8);
	return
		$key =~ /^(id|k1|k2)$/ ? pick("$sql + 1", "abs($sql)", "coalesce($sql, 4)", "$sql % 50", "length($sql || 'x')")
	  : $key eq 'code' ? pick("lower($sql)", "left($sql, 2)", "$sql || ''")
	  : $key eq 'day' ? pick("$sql + 3", "date_trunc('month', $sql)::date", "coalesce($sql, date '2001-02-03')")
	  :                 $sql;
}

# A dimension beside what there is already: its text, the condition that joins it, its columns.
sub dimension
{
	my ($name, $from, @more) = @_;
	my $d = $dimensions{$name};
	my $alias = alias();
	my @conditions = map { my ($key, @refer) = @$_; my $mine = key_of($key, "$from." . pick(@refer)); pick("$alias.$key = $mine", "$mine = $alias.$key") } @{ $d->{keys} };
	my @columns = map { +{ sql => "$alias.$_", class => $d->{columns}{$_} } } sort keys %{ $d->{columns} };

	push @columns, { sql => "$alias.$d->{keys}[0][0]", class => 'int' } if $name =~ /shop|gappy|^twins|great$|SELECT/;
	push @conditions, condition(@columns) if @columns && chance(0.25);
	return { from => "$name $alias", on => join(' AND ', @conditions), columns => \@columns, alias => $alias, many => $d->{many}, region => $d->{columns}{region} };
}

# SELECT ... of a star: { sql, compare, keys, kind }.
sub star
{
	my (%options) = @_;
	my $name = weighted(facts => 6, parts => 3, dense => 3, wide => 2, all_null => 0.3, no_facts => 0.3);
	my @columns = map { +{ sql => "f.$_->[0]", class => $_->[2], mine => 1 } } @fact_columns;
	my $from = "$name f";
	my (@where, @with, @kinds);

	push @where, $options{where} if $options{where};
	for (1 .. weighted(1 => 5, 2 => 4, 3 => 1.5))
	{
		my $kind = weighted(inner => 6, left => 3, semi => 1.2, anti => 0.8);
		my $d = dimension(chance(0.45) ? pick(qw(shops shops8 shop_parts great)) : chance(0.2) ? pick(qw(twins code_twins pair_twins)) : pick(@names), 'f');

		push @kinds, $d->{many} ? "$kind many" : $kind;
		if ($kind eq 'inner' || $kind eq 'left')
		{
			if (chance(0.08) && $d->{from} =~ /^(\w+) /)
			{
				my $table = $1;
				push @with, "w$d->{alias} AS MATERIALIZED (SELECT * FROM $table)";
				$d->{from} =~ s/^\w+/w$d->{alias}/;
			}
			# A comma binds less than JOIN: what is joined behind it sees the fact only.
			my $comma = $kind eq 'inner' && chance(0.15);

			$from = $comma ? "$d->{from}, $from" : $from . ($kind eq 'left' ? ' LEFT' : '') . " JOIN $d->{from} ON $d->{on}";
			push @where, $d->{on} if $comma;
			push @columns, @{ $d->{columns} };
			# A look-up into a look-up.
			if ($d->{region} && !$comma && chance(0.35))
			{
				my $alias = alias();

				$from .= (chance(0.3) || $kind eq 'left' ? ' LEFT' : '') . " JOIN regions $alias ON $alias.id = $d->{alias}.region";
				push @columns, map { +{ sql => "$alias.$_", class => $region{$_} } } sort keys %region;
				push @kinds, 'snowflake';
			}
		}
		else
		{
			my $not = $kind eq 'anti' ? 'NOT ' : '';

			if ($kind eq 'semi' && chance(0.5) && $d->{on} !~ / AND /)
			{
				my ($a, $b) = split / = /, $d->{on};
				($a, $b) = ($b, $a) if $a !~ /\bf[.]/;
				push @where, "$a IN (SELECT $b FROM $d->{from}" . (@{ $d->{columns} } && chance(0.5) ? ' WHERE ' . condition(@{ $d->{columns} }) : '') . ')';
			}
			else
			{
				push @where, "${not}EXISTS (SELECT 1 FROM $d->{from} WHERE $d->{on})";
			}
		}
	}
	push @where, condition(@columns) for 1 .. weighted(0 => 6, 1 => 3, 2 => 1);
	push @where, mixed_condition(@columns) if chance(0.15);

	my @theirs = grep { !$_->{mine} } @columns;
	my @groups = map { group(@theirs && chance(0.8) ? @theirs : @columns) } 1 .. weighted(0 => 2, 1 => 6, 2 => 3, 3 => 0.7);
	my @list = map { aggregate(@columns) } 1 .. weighted(1 => 4, 2 => 3, 3 => 2);
	my $kind = join(', ', sort @kinds);
	my $with = @with ? 'WITH ' . join(', ', @with) . ' ' : '';
	my $tail = "FROM $from" . (@where ? ' WHERE ' . join(' AND ', @where) : '');

	return { sql => "${with}SELECT DISTINCT " . join(', ', @groups) . " $tail", compare => 'set', kind => $kind } if @groups && chance(0.07);
	return { sql => "${with}SELECT " . join(', ', @list) . " $tail", compare => 'rows', kind => $kind } if !@groups;
	my $by = join(', ', @groups);

	$by = pick('ROLLUP', 'CUBE') . "($by)" if chance(0.06);
	$tail .= " GROUP BY $by" . (chance(0.15) ? ' HAVING ' . pick('count(*) > 3', 'count(*) % 2 = 0', 'min(f.id) < 500', 'count(DISTINCT f.x) > 5') : '');
	my $sql = "${with}SELECT " . join(', ', @groups, @list) . " $tail";
	return { sql => $sql, compare => 'set', kind => $kind } if $by =~ /ROLLUP|CUBE/ || chance(0.7);
	$sql .= ' ORDER BY ' . join(', ', map { $_ . pick('', ' DESC', ' NULLS FIRST') } 1 .. @groups);
	# Inside of another query a LIMIT may end core's before a product raises its error.
	my $limit = $options{where} && $sql =~ / [*] / ? '' : ' LIMIT 5';
	return { sql => $sql . pick('', '', $limit, ' OFFSET 2'), compare => 'rows', kind => $kind };
}

# A star once for each row of something else.
sub wrapped
{
	my $star = star(where => pick('f.id % 4 = g', 'f.shop = g * 2', 'f.x > g * 20', "f.label = 'label ' || g"));

	return { %$star, sql => "SELECT g, q FROM generate_series(0, 4) g LEFT JOIN LATERAL ($star->{sql}) q ON true", compare => 'set', kind => 'lateral' } if chance(0.6);
	return { %$star, sql => "SELECT g, (SELECT string_agg(q::text, ',' ORDER BY q::text) FROM ($star->{sql}) q) FROM generate_series(0, 4) g", compare => 'set', kind => 'correlated' };
}

# With a parameter, by PREPARE or through a portal.
sub prepared
{
	my $star = star(where => pick('f.id <= $1', 'f.x <> $1', 'f.shop > $1'));

	return { %$star, portal => { fetch => pick(0, 3, 50), params => [ pick(0, 100, 1500, undef) ] }, kind => 'portal' } if chance(0.5);
	return ({ sql => "PREPARE q(int4) AS $star->{sql}", compare => 'nothing' }, map { +{ %$star, sql => "EXECUTE q($_)", kind => 'prepared' } } some(2, 0, 5, 100, 1500, 'NULL'));
}

sub query
{
	$aliases = 0;
	my @steps = weighted(star => 84, wrapped => 8, prepared => 8) eq 'star' ? star() : chance(0.5) ? wrapped() : prepared();
	my $explain = $steps[0]{sql};

	$explain =~ s/^PREPARE q\(int4\) AS //;
	$explain =~ s/\$1/100/g;
	return { kind => $steps[-1]{kind}, explain => $explain, steps => \@steps };
}

1;
