# Beside other extensions: tables that another one answers for are refused, not
# read from pages where their rows are not; aggregates work when they are run
# by the OIDs of their functions alone.  test/modules/hpsort_test is the other one.
use strict;
use warnings;
use File::Copy qw(copy);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Built in a directory of this test alone, for the PostgreSQL whose pg_config comes first in PATH.
my $module = PostgreSQL::Test::Utils::tempdir();
copy("test/modules/hpsort_test/$_", $module) or die "$_: $!" for ('Makefile', 'hpsort_test.c');
{
	local %ENV = %ENV;
	delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES)};
	command_ok([ 'make', '-s', '-C', $module, 'with_llvm=no' ], 'the other extension is built');
}
my $load = "LOAD '$module/hpsort_test';\n";

my $node = PostgreSQL::Test::Cluster->new('other');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nmax_parallel_workers_per_gather = 0\n");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION hpsort;
CREATE TABLE plain (x int, y int);
INSERT INTO plain VALUES (5, 1), (-4, 2), (6, 3);
CREATE TABLE elsewhere (x int, y int);
INSERT INTO elsewhere VALUES (7, 1), (8, 2);
CREATE TABLE tree (x int, y int) PARTITION BY LIST (y);
CREATE TABLE leaf PARTITION OF tree FOR VALUES IN (1);
CREATE TABLE other_leaf (y int, gone int, x int);
ALTER TABLE other_leaf DROP COLUMN gone;
ALTER TABLE tree ATTACH PARTITION other_leaf FOR VALUES IN (2);
INSERT INTO tree VALUES (3, 1), (1, 2);
CREATE TABLE no_leaf (x int) PARTITION BY LIST (x);
CREATE INDEX ON plain (x);
CREATE INDEX ON tree (y, x);
VACUUM plain, tree;
SQL

# --- tables

my $refused = qr/^psql:<stdin>:\d+: ERROR:  cannot read column "x" of relation "(?:plain|tree|leaf)" from its pages\n.*DETAIL:.*HINT:  Use hpsort_query or hpsort_agg/s;

for my $order ("LOAD 'hpsort';\n$load", "${load}LOAD 'hpsort';\n")
{
	for my $force ('allow', 'force')
	{
		my $settings = "${order}SET hpsort.debug_aggregate = $force; SET hpsort.debug_sort = $force;\n";
		my $sql = sub {
			my ($table, $answer, $query) = @_;
			my ($rc, $out, $err) = $node->psql('postgres', $settings .
				"SELECT set_config('hpsort_test.table', '$table'::regclass::oid::text, false), set_config('hpsort_test.other', 'elsewhere'::regclass::oid::text, false) \\gset\n" .
				"SET hpsort_test.answer = '$answer';\n$query;", on_error_stop => 0);
			return ($out, $err);
		};

		for my $case ([ 'plain', 'function', '1,2,3' ], [ 'plain', 'other', '7,8' ], [ 'plain', 'filtered', '5,6' ],
			[ 'plain', 'nothing', '' ], [ 'leaf', 'nothing', '1' ], [ 'other_leaf', 'nothing', '3' ])
		{
			my ($table, $answer, $rows) = @$case;
			my $read = $table eq 'plain' ? 'plain' : 'tree';
			my $name = "$read, $table answered by $answer, $force";

			# what it is that the pages do not tell
			my ($out, $err) = $sql->($table, $answer, "SELECT x FROM $read ORDER BY x");
			is($err . join(',', split(/\n/, $out)), $rows, "$name: rows of the query");
			for my $call ("hpsort_column('$read', 'x')", "hpsort_column_array('$read', 'x')", "hpsort_column_runs('$read', 'x')")
			{
				($out, $err) = $sql->($table, $answer, "SELECT * FROM $call");
				is($out, '', "$name: nothing from $call");
				like($err, $refused, "$name: $call");
			}
			# what the hint says
			($out, $err) = $sql->($table, $answer, "SELECT string_agg(x::text, ',') FROM hpsort_query('SELECT x FROM $read') x");
			is("$err$out", $rows, "$name: hpsort_query");
			($out, $err) = $sql->($table, $answer, "SELECT array_to_string(hpsort_agg(x), ',') FROM $read");
			is("$err$out", $rows, "$name: hpsort_agg");
		}
		my ($out, $err) = $sql->('plain', 'function', "SELECT hpsort_column_array('tree', 'x'), hpsort_column_array('elsewhere', 'x'), hpsort_column_array('no_leaf', 'x')");
		is("$err$out", '{1,3}|{7,8}|', "others are read, $force");
		($out, $err) = $sql->('plain', 'table', "SELECT hpsort_column_array('plain', 'x')");
		is("$err$out", '{-4,5,6}', "if it does not answer the table is read, $force");
		# a plan of another query with the same parameters returns its rows
		($out, $err) = $sql->('plain', 'planned', "SELECT string_agg(x::text, ',') FROM hpsort_query('SELECT x FROM plain') x");
		is("$err$out", '-4,5,6', "the query of hpsort_query planned twice, $force");
		# whatever core does to read a table
		for my $other ('enable_bitmapscan', 'enable_indexscan')
		{
			($out, $err) = $sql->('plain', 'table', "SET enable_seqscan = off; SET $other = off;\n" .
				"SELECT hpsort_column_array('plain', 'x'), hpsort_column_array('tree', 'x'), hpsort_column_array('plain', 'y')");
			is("$err$out", '{-4,5,6}|{1,3}|{1,2,3}', "by whatever scan, without $other, $force");
		}
	}
}

# --- aggregates

$node->safe_psql('postgres', <<"SQL");
CREATE FUNCTION inner_transfn(internal, oid, int) RETURNS internal LANGUAGE c AS '$module/hpsort_test', 'hpsort_test_agg_transfn';
CREATE FUNCTION inner_finalfn(internal) RETURNS text LANGUAGE c AS '$module/hpsort_test', 'hpsort_test_agg_finalfn';
CREATE AGGREGATE run_inner(oid, int) (SFUNC = inner_transfn, STYPE = internal, FINALFUNC = inner_finalfn);
CREATE TABLE numbers AS SELECT g % 3 AS g, nullif(g * 7919 % 60013, 7) * 1000 AS x FROM generate_series(1, 60000) g;
SQL
for my $group ('', ' GROUP BY g ORDER BY g')
{
	is($node->safe_psql('postgres', "SELECT md5(run_inner('hpsort_agg(int)'::regprocedure, x)) FROM numbers$group"),
		$node->safe_psql('postgres', "SELECT md5(array_agg(x ORDER BY x)::text) FROM numbers$group"), "hpsort_agg by OID$group");
	is($node->safe_psql('postgres', "SELECT run_inner('hpsort_runs_agg(int)'::regprocedure, x / 100000) FROM numbers$group"),
		$node->safe_psql('postgres', "SELECT hpsort_runs_agg(x / 100000) FROM numbers$group"), "hpsort_runs_agg by OID$group");
}

$node->stop;
done_testing();
