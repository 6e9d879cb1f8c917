# FuzzSql::Numbers: tables of floats and of numerics, nearly all with a typmod, and queries of
# their groups and aggregates.
#
#	FuzzSql::Numbers::setup()			the type, and the function compare()
#	FuzzSql::Numbers::table(NAME)		makes a table of random size and values
#	FuzzSql::Numbers::query(NAME)		a query whose rows do not depend on the plan
#
# Of equal floats that look different, 0 and -0, PostgreSQL returns any where it sorts: X + 0.0 makes
# one of them.
package FuzzSql::Numbers;

use strict;
use warnings;
use FuzzSql::Random;

my @floats = qw(f8 f4);
my @numerics = qw(n2 n18 n0 nn nd nu);
my %type = (f8 => 'float8', f4 => 'float4', n2 => 'numeric(10,2)', n18 => 'numeric(18,4)', n0 => 'numeric(5,0)', nn => 'numeric(4,-2)', nd => 'cents', nu => 'numeric');

sub setup
{
	return <<'SQL';
CREATE DOMAIN cents AS numeric(12,3);
CREATE FUNCTION zeros_alike(floats float8[]) RETURNS float8[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$ BEGIN
	RETURN (SELECT array_agg(e + 0) FROM unnest(floats) e); END $$;
CREATE FUNCTION count_negative_zeros(floats float8[]) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$ BEGIN
	RETURN (SELECT count(*) FROM unnest(floats) e WHERE e::text = '-0'); END $$;
-- Rows, or the error, of a query.
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
	EXECUTE 'SELECT string_agg(r::text, E''\n'' ORDER BY r::text COLLATE "C") FROM (' || query || ') r' INTO result;
	RETURN coalesce(result, '');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END $$;
-- Core's rows are those of one process: workers are hpsort's.
CREATE FUNCTION compare(query text, workers text, OUT taken bool, OUT difference text) LANGUAGE plpgsql AS $$
DECLARE expected text; got text; line text;
BEGIN
	PERFORM set_config('hpsort.enable_aggregate', 'off', false), set_config('enable_sort', 'off', false);
	expected := rows_of(query);
	PERFORM set_config('hpsort.enable_aggregate', 'on', false), set_config('enable_sort', 'on', false);
	PERFORM set_config('hpsort.debug_aggregate', 'force', false), set_config('max_parallel_workers_per_gather', workers, false);
	got := rows_of(query);
	taken := false;
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		taken := taken OR line LIKE '%HpSort Aggregate%';
	END LOOP;
	PERFORM set_config('max_parallel_workers_per_gather', '0', false);
	difference := CASE WHEN expected = got OR NOT taken THEN '' ELSE E'core:\n' || left(expected, 2000) || E'\nhpsort:\n' || left(got, 2000) END;
END $$;
SQL
}

# An expression of a row's value of a float type, and of a numeric type.
sub float_value
{
	my ($type) = @_;
	my $special = q{(ARRAY['-0', '0', 'NaN', 'Infinity', '-Infinity', '1e-40', '-1e-40', '1', NULL])[1 + (random() * 8.9)::int % 9]::} . $type;
	my $some = pick('(random() * 20)::int / 8.0 - 1', 'random() * 1e6', 'exp(random() * 60 - 30)', 'round((random() * 100)::numeric, 2)', '(random() * 4)::int', 'random() * 1e12 - 5e11');

	$special = q{(ARRAY['-0', '0', '2.5', NULL])[1 + (random() * 100)::int % 4]::} . $type if chance(0.3);
	return "($some)::$type" if chance(0.2);
	$some = "($some) * @{[ pick(1e140, 1e200, 1e290) ]}" if $type eq 'float8' && chance(0.1);
	return "CASE WHEN random() < @{[ pick(0.01, 0.2, 0.9) ]} THEN $special ELSE ($some)::$type END";
}

sub numeric_value
{
	my ($type, $most) = @_;
	my $some = pick("(random() * 2 - 1)::numeric * $most", '(random() * 50)::int / 8.0', '(random() * 3)::int', "${most}::numeric", "(random() * 90)::numeric");

	return "($some)::$type" if chance(0.3);
	return "CASE WHEN random() < @{[ pick(0.01, 0.3) ]} THEN (ARRAY['NaN', '0', '-1', NULL])[1 + (random() * 100)::int % @{[ pick(3, 4) ]}]::$type ELSE ($some)::$type END";
}

sub table
{
	my ($name) = @_;
	my $rows = pick(0, 1, 7, 300, 2000, 20000);
	my $groups = pick(1, 3, 40, 2000);

	return "DROP TABLE IF EXISTS $name; CREATE TABLE $name (" . join(', ', 'g int', 'h int8', 't text', map { "$_ $type{$_}" } some(@floats + @numerics, @floats, @numerics)) . ");\n"
	  . "INSERT INTO $name (g, h, t, f8, f4, n2, n18, n0, nn, nd, nu) SELECT (random() * $groups)::int, @{[ pick('i', '(random() * 3)::int8 << 60', '-i * 1000000007::int8') ]}, CASE WHEN i % 3 = 0 THEN repeat('x', i % 40) END, "
	  . join(', ', float_value('float8'), float_value('float4'), numeric_value('numeric(10,2)', 99999999.99), numeric_value('numeric(18,4)', '99999999999999.9999'), numeric_value('numeric(5,0)', 99999), numeric_value('numeric(4,-2)', 999900), numeric_value('cents', 999999999.999), numeric_value('numeric(14,2)', 123456789.25))
	  . " FROM generate_series(1, $rows) i;\n"
	  . (chance(0.3) ? "ALTER TABLE $name ALTER n2 TYPE numeric(12,2);\n" : '')
	  . (chance(0.3) ? "ALTER TABLE $name ADD late float8 DEFAULT '-0', ADD late_n numeric(6,3) DEFAULT 1.5;\n" : '')
	  . (chance(0.7) ? "ANALYZE $name;\n" : '');
}

# A constant that is compared with a column, or is a hypothetical row.
sub constant
{
	my ($column) = @_;

	return pick(0, -1, 2.5, 1e9, q{'NaN'}, q{'Infinity'}, q{'-Infinity'}, q{'-0'}, 0.125, '0.1234567') . ($column =~ /^f/ ? "::$type{$column}" : '::numeric');
}

sub condition
{
	my $column = pick(@floats, @numerics, 'g');

	return pick("$column IS NOT NULL", "$column > @{[ $column eq 'g' ? 1 : constant($column) ]}", 'g % 3 = 1', 'g < 0', "t IS NULL");
}

# A sum or product of numerics and integers.
sub arithmetic
{
	my ($column) = @_;
	my $other = pick(@numerics, 'g', 'h');

	return pick("$column * $other", "$column * (1 - $other)", "$column - $other", "$other + 0.25 * $column", "-$column", "$column * $column * $other", "(g + $column) * (g - $other) * 1.5",
		"g * g", "h * g", "h - 3 * g", "g::int2 * 200::int2", "-h");
}

# One aggregate of a column, as an expression of one appearance.  Aggregates that are not ordered have
# the rows in the order of the table, in PostgreSQL too, so that sums of floats are determined.
sub plain_aggregate
{
	my $column = pick(@floats, @numerics);
	my $filter = chance(0.25) ? " FILTER (WHERE @{[ condition() ]})" : '';

	$column = pick("$column + g", "$column * 2", "f4 - f8", "n2::float8", "$column") if $column =~ /^f/ && chance(0.2);
	$column = arithmetic($column) if $column =~ /^n/ && chance(0.3);
	return pick(qw(corr covar_pop covar_samp regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy)) . "($column, @{[ pick(@floats, @numerics, 'g', 'h', '7') ]})$filter"
	  if chance(0.15);
	return pick(qw(count min max sum avg sum avg stddev stddev_pop stddev_samp variance var_pop var_samp)) . "($column)$filter";
}

sub ordered_aggregate
{
	my $column = pick(@floats, @numerics);
	my $float = $column =~ /^f/;
	my $filter = chance(0.25) ? " FILTER (WHERE @{[ condition() ]})" : '';
	my $order = "WITHIN GROUP (ORDER BY $column@{[ pick('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST') ]})$filter";
	my $zero = $float ? " + 0::$type{$column}" : '';
	my $fraction = pick(0, 0.1, 0.25, 0.5, 0.77, 1);
	my $sum = pick(qw(sum avg stddev stddev_pop variance var_pop));
	my $distinct = chance(0.2) ? 'DISTINCT ' : '';

	if (!$float && chance(0.2))
	{
		my $computed = arithmetic($column);

		return pick("min($computed)$filter", "sum(DISTINCT $computed)$filter", "count(DISTINCT $computed)$filter", "percentile_disc($fraction) WITHIN GROUP (ORDER BY $computed)$filter", "mode() WITHIN GROUP (ORDER BY $computed)$filter");
	}
	return pick(
		"count($distinct$column)$filter",
		pick('min', 'max') . "($distinct$column)$filter$zero",
		$float ? "$sum(DISTINCT $column)$filter + 0.0::float8" : "$sum($distinct$column)$filter",
		"percentile_disc($fraction) $order$zero",
		"percentile_cont($fraction) $order + 0.0::float8",
		"zeros_alike(percentile_cont(ARRAY[0, 0.3, NULL, 1, 0.31]) $order)",
		$float ? "zeros_alike((percentile_disc(ARRAY[0.9, 0.3, 0]) $order)::float8[])" : "percentile_disc(ARRAY[0.9, 0.3, NULL]) $order",
		"mode() $order$zero",
		"@{[ pick('rank', 'dense_rank', 'percent_rank', 'cume_dist') ]}(@{[ chance(0.1) ? 'NULL' : constant($column) ]}) $order",
		$float ? "zeros_alike(array_agg($distinct$column ORDER BY $column@{[ pick('', ' DESC', ' NULLS FIRST') ]})${filter}::float8[])" : "array_agg($distinct$column ORDER BY $column@{[ pick('', ' DESC') ]})$filter",
		$float ? "count_negative_zeros(array_agg($column ORDER BY $column)${filter}::float8[])" : "count(DISTINCT $column)",
		"count(*)$filter");
}

# Grouping sets, whose sums of floats are in no order.
sub sets
{
	my ($name, $where, @groups) = @_;
	my @aggregates = grep { !/^(sum|avg|std|var)\w*\((f|n2::)|^(corr|covar|regr_[^c])/ } map { chance(0.5) ? plain_aggregate() . ' + 0' : ordered_aggregate() } 1 .. 3;

	return 'SELECT ' . join(', ', @groups, @aggregates, 1) . " FROM $name$where GROUP BY " . pick('ROLLUP', 'CUBE') . '(' . join(', ', @groups) . ')';
}

sub query
{
	my ($name) = @_;
	my @groups = some(pick(0, 1, 1, 1, 2, 2, 3), 'g', 'g', 'h', @floats, @numerics);
	my %seen;
	my @list;
	my $plain = chance(0.5);
	my $where = chance(0.3) ? ' WHERE ' . condition() : '';

	@groups = grep { !$seen{$_}++ } @groups;
	# Of one group, where PostgreSQL hashes, the first of equal floats is shown.
	return "SELECT $groups[0], count(*), min(n2) FROM $name$where GROUP BY 1" if @groups && chance(0.1);
	@list = map { /^f/ ? "$_ + 0::$type{$_}" : $_ } @groups;
	@groups = map { chance(0.1) ? "round($_)" : $_ } @groups if chance(0.2) && (@list = map { "1" } @groups);
	return sets($name, $where, grep { /^[ghn]/ && $_ ne 'nu' } @groups) if chance(0.1) && grep { /^[ghn]/ && $_ ne 'nu' } @groups;
	return 'SELECT ' . join(', ', 1, @list, map { $plain ? plain_aggregate() : ordered_aggregate() } 1 .. between(@groups ? 0 : 1, 4)) . " FROM $name$where" . (@groups ? ' GROUP BY ' . join(', ', @groups) : '')
	  . (@groups && chance(0.1) ? ' HAVING count(*) > 1' : '');
}

1;
