# PostgreSQL's own aggregates, GROUP BY and DISTINCT answered by Custom Scan
# (HpSort Aggregate): random queries over tables of every shape, each run with the
# node forbidden and forced in the same session.  What the query determines must
# be the same: rows, their order as far as ORDER BY gives one, an error's words.
#
#	HPSORT_TEST_SEED=N			the same queries as the run that printed it
#	HPSORT_TEST_QUERIES=N		how many, 300 by default, 2,500 with HPSORT_TEST_ALL
#	HPSORT_TEST_QUERY=N			only that one
#	HPSORT_TEST_SETS=N			percent of the groups that are grouping sets, 8 by default
#	HPSORT_TEST_SHARE=N			percent of the queries that must be planned with the node, 75 by default
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use lib "$FindBin::Bin/../fuzz";
use FuzzSql::Aggregates;
use FuzzSql::Columns;
use FuzzSql::Random;
use FuzzSql::Relations;
use FuzzSql::Runner;
use FuzzSql::Tables;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = random_seed();
my $queries = $ENV{HPSORT_TEST_QUERIES} // at_length(300, 2500);
my $only = $ENV{HPSORT_TEST_QUERY};
my $least_share = $ENV{HPSORT_TEST_SHARE} // 75;

my $node = start_cluster('aggregate');

# --- Tables.  The columns of each type are made by the same expressions; id is different in each row.

my %columns = (
	%FuzzSql::Columns::common,
	s => [ 'int4', 'int', q{floor(power(random(), 8) * 3000)::int4} ],
	label => [ 'text', 'text', q{'row ' || floor(random() * 50)} ]);
my @all = qw(i2 i4 i8 x y d b c o m tm ts tz label);
my $columns = FuzzSql::Columns->new(\%columns);

my $load = "CREATE EXTENSION hpsort;\n" . join(";\n", @FuzzSql::Tables::types_ddl) . ";\nSELECT setseed(" . $seed / 1000000 . ");\n";

$load .= q{CREATE AGGREGATE total(numeric) (sfunc = numeric_add, stype = numeric, initcond = '0');
CREATE FUNCTION longer(text, text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS 'SELECT CASE WHEN (length($2), $2 COLLATE "C") > (length($1), $1 COLLATE "C") THEN $2 ELSE $1 END';
CREATE AGGREGATE longest(text) (sfunc = longer, stype = text);
};

# Columns that were dropped, and that rows are older than.
$load .= 'CREATE TABLE t (gone int, ' . $columns->definition(@all[ 0 .. 6 ]) . ', gone2 text, ' . $columns->list(@all[ 7 .. $#all ]) . ");\n" . $columns->insert('t', 1, 2000, 0.07, @all);
$load .= "UPDATE t SET gone = id, gone2 = 'gone'; ALTER TABLE t DROP COLUMN gone; ALTER TABLE t DROP COLUMN gone2;\n";
$load .= "ALTER TABLE t ADD late int4 DEFAULT 77; ALTER TABLE t ADD late_d date;\n" . $columns->insert('t', 2001, 3000, 0.07, @all, 'late', 'late_d') . FuzzSql::Columns::dead('t', 'x');
$columns->table('t', 3000, 'plain', @all, 'late', 'late_d');
# All pages all-visible, no NULLs.
$load .= $columns->create('full_pages', 2000, 0, @all);
# A few values have most rows.
$load .= $columns->create('skewed', 6000, 0.02, qw(k s x d one none)) . FuzzSql::Columns::dead('skewed', 's');
# Nearly as many groups as rows, with values far apart.
$load .= $columns->create('many', 3000, 0.01, qw(i8 i4 o tz y)) . "INSERT INTO many SELECT id + 3000, i8, i4, o, tz, y FROM many WHERE id <= 600;\n";
$load .= $columns->create('nothing', 0, 0, @all) . $columns->create('one_row', 1, 0.2, @all) . $columns->create('all_null', 100, 1, @all);
my @some = qw(i2 x i8 d m ts label);
$load .= $columns->create_partitioned('part', 2500, 0.05, @some) . FuzzSql::Columns::dead('part', 'x');
$load .= $columns->create_inherited('parent', 2000, 0.05, @some);
$load .= "CREATE INDEX ON full_pages (x); CREATE INDEX ON t (id);\nVACUUM ANALYZE; DELETE FROM t WHERE id % 101 = 7;\n";
$node->safe_psql('postgres', $load);
@FuzzSql::Relations::tables = $columns->tables;

# --- Running

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
	my %set = (
		work_mem => weighted('64kB' => 3, '64MB' => 3, '512kB' => 1),
		hash_mem_multiplier => pick(1, 2),
		default_transaction_isolation => weighted('read committed' => 8, serializable => 1, 'repeatable read' => 1),
		max_parallel_workers_per_gather => weighted(0 => 16, 2 => 3, 4 => 0.5));

	if ($set{max_parallel_workers_per_gather})
	{
		%set = (
			%set,
			parallel_setup_cost => pick(0, 0, 10),
			parallel_tuple_cost => 0,
			min_parallel_table_scan_size => 0,
			parallel_leader_participation => weighted(on => 4, off => 1));
		$set{ $runner->{version} >= 16 ? 'debug_parallel_query' : 'force_parallel_mode' } = 'regress' if chance(0.1);
	}
	$set{ pick(qw(enable_hashagg enable_sort enable_partitionwise_aggregate)) } = pick('on', 'off') if chance(0.3);
	return join('; ', map { "SET $_ = '$set{$_}'" } sort keys %set);
}

$runner->run($queries, $only, sub {
	FuzzSql::Relations::start_query();
	my $query = aggregates();
	my $settings = settings();
	# In a transaction that has changed rows itself.
	my $before = chance(0.07) ? pick('UPDATE t SET x = x + 1 WHERE id % 3 = 0', 'DELETE FROM part WHERE id % 4 = 1', 'INSERT INTO nothing SELECT * FROM full_pages WHERE id < 100', 'DELETE FROM t', 'TRUNCATE skewed') : undef;

	return ($query, $settings, $before, 'force');
});

diag($runner->summary);
$runner->ok_all($queries, $only);
# Runs of 300 queries had 77 to 91 percent: of few, chance may take some more.
$runner->ok_scan($least_share / 100) if !$only && $queries >= 1000;

$node->stop;
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC:|TRAP:/, 'no crash');
done_testing();
