# Beside other extensions: tables that another one answers for are read by their
# query, not from pages where their rows are not; aggregates work when they are run
# by the OIDs of their functions alone, on one node or on several; an index that a hint wants is
# used.  test/modules/hpsort_test is the other extension there.  At the end hpsort is loaded with the extensions that
# the PostgreSQL under test has: PostgreSQL's own, and those of Debian that are installed.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Copy qw(copy);
use HpsortTest;
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

my $node = new_cluster('other');
$node->append_conf('postgresql.conf', "autovacuum = off\nmax_parallel_workers_per_gather = 0\n");
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION hpsort;
CREATE TABLE plain (x int, y int);
INSERT INTO plain VALUES (5, 1), (-4, 2), (6, 3);
CREATE TABLE elsewhere (x int, y int);
INSERT INTO elsewhere VALUES (8, 1), (NULL, 2), (7, 3), (8, 4);
CREATE TABLE days (d date, y int, i8 int8);
CREATE TABLE days_elsewhere (d date, y int, i8 int8);
INSERT INTO days_elsewhere VALUES ('2000-01-03', 1, 1), ('1999-12-31', 2, 3000000000);
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

# What the functions return for rows in order, as text.
sub returned
{
	my @rows = @_;
	my (@runs, %count);

	$count{$_}++ || push @runs, $_ for @rows;
	return (
		hpsort_column => join("\n", @rows),
		hpsort_column_array => @rows ? '{' . join(',', map { $_ eq '' ? 'NULL' : $_ } @rows) . '}' : '',
		hpsort_column_runs => join("\n", map { "$_|$count{$_}" } @runs),
		hpsort_column_multiset => @rows ? '{' . join(', ', map { $count{$_} > 1 ? "$_:$count{$_}" : $_ } grep { $_ ne '' } @runs) . '}' : '');
}

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

		for my $case ([ 'plain', 'function', '1,2,3' ], [ 'plain', 'other', '7,8,8,' ], [ 'plain', 'filtered', '5,6' ],
			[ 'plain', 'nothing', '' ], [ 'leaf', 'nothing', '1' ], [ 'other_leaf', 'nothing', '3' ])
		{
			my ($table, $answer, $rows) = @$case;
			my $read = $table eq 'plain' ? 'plain' : 'tree';
			my $name = "$read, $table answered by $answer, $force";

			# what it is that the pages do not tell
			my ($out, $err) = $sql->($table, $answer, "SELECT x FROM $read ORDER BY x");
			is($err . join(',', split(/\n/, $out, -1)), $rows, "$name: rows of the query");
			my %want = returned(split(/,/, $rows, -1));
			for my $function (sort keys %want)
			{
				($out, $err) = $sql->($table, $answer, "SELECT * FROM $function('$read', 'x')");
				is("$err$out", $want{$function}, "$name: $function");
			}
			($out, $err) = $sql->($table, $answer, "SELECT string_agg(coalesce(x::text, ''), ',') FROM hpsort_query('SELECT x FROM $read') x");
			is("$err$out", $rows, "$name: hpsort_query");
			($out, $err) = $sql->($table, $answer, "SELECT array_to_string(hpsort_agg(x), ',', '') FROM $read");
			is("$err$out", $rows, "$name: hpsort_agg");
		}
		my ($out, $err) = $sql->('plain', 'function', "SELECT hpsort_column_array('tree', 'x'), hpsort_column_array('elsewhere', 'x'), hpsort_column_array('no_leaf', 'x')");
		is("$err$out", '{1,3}|{7,8,8,NULL}|', "others are read, $force");
		($out, $err) = $sql->('plain', 'table', "SELECT hpsort_column_array('plain', 'x')");
		is("$err$out", '{-4,5,6}', "if it does not answer the table is read, $force");
		# directions, bounds, types and errors are those of the pages
		for my $case (
			[ "hpsort_column_array('plain', 'x', descending => true)", '{NULL,8,8,7}' ],
			[ "hpsort_column_array('plain', 'x', descending => true, nulls_first => false)", '{8,8,7,NULL}' ],
			[ "hpsort_column_array('plain', 'x', 7, 8, nulls_first => true)", '{NULL,7,8,8}' ],
			[ "ARRAY(SELECT hpsort_column('plain', 'x', descending => true))", '{NULL,8,8,7}' ],
			[ "ARRAY(SELECT hpsort_column_runs('plain', 'x', 0))", '{"(7,1)","(8,2)","(,1)"}' ],
			[ "hpsort_column_array('plain', 'x', 0, 7)", qr/ERROR:  key is out of bounds/ ],
			[ "hpsort_column_runs('plain', 'x', 8)", qr/ERROR:  key is out of bounds/ ],
			[ "hpsort_column_multiset('plain', 'x', NULL, 7)", qr/ERROR:  key is out of bounds/ ],
			[ "hpsort_column('plain', 'z')", qr/ERROR:  column "z" of relation "plain" does not exist/ ])
		{
			my ($call, $want) = @$case;
			my ($out, $err) = $sql->('plain', 'other', "SELECT $call");
			ref $want ? like("$err$out", $want, "$call, $force") : is("$err$out", $want, "$call, $force");
		}
		my $days = "SELECT set_config('hpsort_test.other', 'days_elsewhere'::regclass::oid::text, false) \\gset\n";
		($out, $err) = $sql->('days', 'other', "${days}SELECT hpsort_column_array('days', 'd')");
		is("$err$out", '{-1,2}', "dates, $force");
		($out, $err) = $sql->('days', 'other', "${days}SELECT hpsort_column_array('days', 'i8')");
		like("$err$out", qr/ERROR:  key is out of range for type integer/, "int8, $force");
		# the rights that the query needs, and the snapshot of the statement
		for my $right ([ 'other', 'elsewhere' ], [ 'table', 'plain' ])
		{
			($out, $err) = $sql->('plain', $right->[0], "BEGIN; CREATE ROLE reader; SET LOCAL ROLE reader;\nSELECT hpsort_column_array('plain', 'x')");
			like("$err$out", qr/ERROR:  permission denied for table $right->[1]\b/, "no right to read $right->[1], $force");
		}
		($out, $err) = $sql->('plain', 'other', "BEGIN; INSERT INTO elsewhere VALUES (1);\n" .
			"WITH later AS (INSERT INTO elsewhere VALUES (2)) SELECT hpsort_column_array('plain', 'x');\n" .
			"SELECT hpsort_column_array('plain', 'x'); ROLLBACK");
		is("$err$out", "{1,7,8,8,NULL}\n{1,2,7,8,8,NULL}", "rows of the statement's snapshot, $force");
		# whatever core does to read a table
		for my $other ('enable_bitmapscan', 'enable_indexscan')
		{
			($out, $err) = $sql->('plain', 'table', "SET enable_seqscan = off; SET $other = off;\n" .
				"SELECT hpsort_column_array('plain', 'x'), hpsort_column_array('tree', 'x'), hpsort_column_array('plain', 'y')");
			is("$err$out", '{-4,5,6}|{1,3}|{1,2,3}', "by whatever scan, without $other, $force");
		}
	}
}

# --- hints

# An extension that wants a table read by an index has its way, loaded before hpsort or after
# it, also where core would rather not.  Where core itself prefers the index, the node
# may still save what is above the scan.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE hinted AS SELECT g AS id, g * 7919 % 1000 AS x, hashint4(g) AS y, repeat('f', 40) AS f FROM generate_series(1, 100000) g;
CREATE INDEX ON hinted (id);
CREATE INDEX ON hinted (x);
VACUUM ANALYZE hinted;
SQL
for my $order ("LOAD 'hpsort';\n$load", "${load}LOAD 'hpsort';\n")
{
	my $loaded = $order =~ /hpsort_test.*hpsort'/s ? 'hpsort last' : 'hpsort first';
	my $explain = sub {
		my ($answer, $query) = @_;

		return $node->safe_psql('postgres', "${order}SELECT set_config('hpsort_test.table', 'hinted'::regclass::oid::text, false) \\gset\n" .
			"SET hpsort_test.answer = '$answer'; EXPLAIN (COSTS OFF) $query");
	};

	for my $query ('SELECT x, count(y) FROM hinted GROUP BY x', 'SELECT x, count(DISTINCT y) FROM hinted GROUP BY x', 'SELECT * FROM hinted ORDER BY x')
	{
		# What is sorted in an order that an index has is not known to an hpsort whose hook is not the last.
		like($explain->('table', $query), qr/HpSort/, "$loaded: HpSort without a hint: $query")
			unless $query =~ /ORDER BY/ && $loaded eq 'hpsort first';
		like($explain->('index', $query), qr/Index/, "$loaded: the index that a hint wants: $query");
		unlike($explain->('index', $query), qr/HpSort Aggregate|Seq Scan/, "$loaded: no other scan: $query");
	}
	my $query = 'SELECT x, percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM hinted WHERE id <= 50000 GROUP BY x';
	like($explain->('table', "SELECT f FROM hinted WHERE id <= 50000"), qr/^Index Scan/, "$loaded: core prefers the index");
	like($explain->('table', $query), qr/HpSort Aggregate/, "$loaded: HpSort Aggregate where core prefers an index");
	unlike($explain->('table', "$query; SET enable_seqscan = off; EXPLAIN (COSTS OFF) $query") =~ s/.*?HpSort Aggregate//sr, qr/HpSort Aggregate/,
		"$loaded: no HpSort Aggregate without sequential scans");
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

# States that travel as text between nodes: as Citus calls transition and combine functions.
$node->safe_psql('postgres', <<"SQL");
CREATE FUNCTION state_finalfn(internal) RETURNS text LANGUAGE c AS '$module/hpsort_test', 'hpsort_test_agg_statefn';
CREATE FUNCTION combine_transfn(internal, oid, text) RETURNS internal LANGUAGE c AS '$module/hpsort_test', 'hpsort_test_agg_combinefn';
CREATE FUNCTION inner_transfn(internal, oid, int4multiset) RETURNS internal LANGUAGE c AS '$module/hpsort_test', 'hpsort_test_agg_transfn';
CREATE FUNCTION inner_transfn(internal, oid, int, int8) RETURNS internal LANGUAGE c AS '$module/hpsort_test', 'hpsort_test_agg_transfn';
CREATE AGGREGATE partial_agg(oid, int) (SFUNC = inner_transfn, STYPE = internal, FINALFUNC = state_finalfn);
CREATE AGGREGATE partial_agg(oid, int, int8) (SFUNC = inner_transfn, STYPE = internal, FINALFUNC = state_finalfn);
CREATE AGGREGATE partial_agg(oid, int4multiset) (SFUNC = inner_transfn, STYPE = internal, FINALFUNC = state_finalfn);
CREATE AGGREGATE combine_agg(oid, text) (SFUNC = combine_transfn, STYPE = internal, FINALFUNC = inner_finalfn);
CREATE TABLE daily AS SELECT g, d, int4multiset_agg(x) AS m FROM (SELECT g, x / 1000 AS x, x / 3000 % 50 AS d FROM numbers) n GROUP BY g, d;
INSERT INTO daily VALUES (1, 77, NULL), (2, 78, NULL);
SQL
for my $case (
	[ 'int4multiset_agg(int)', 'x', 'numbers' ], [ 'int4multiset_agg(int)', 'x', 'numbers WHERE x IS NULL' ], [ 'int4multiset_agg(int)', 'x', 'numbers WHERE g > 5' ],
	[ 'int4multiset_agg(int, int8)', 'x, g::int8', 'numbers' ], [ 'int4multiset_sum(int4multiset)', 'm', 'daily' ], [ 'int4multiset_sum(int4multiset)', 'm', 'daily WHERE m IS NULL' ])
{
	my ($aggregate, $arguments, $rows) = @$case;
	(my $call = $aggregate) =~ s/\(.*/($arguments)/;

	for my $node_of ('g', $rows =~ /daily/ ? 'd % 3' : 'x % 7')
	{
		is($node->safe_psql('postgres', "SELECT combine_agg('$aggregate'::regprocedure, state) FROM (SELECT partial_agg('$aggregate'::regprocedure, $arguments) AS state FROM $rows GROUP BY $node_of) s"),
			$node->safe_psql('postgres', "SELECT $call FROM $rows"), "states of $call FROM $rows travel by $node_of");
	}
	is($node->safe_psql('postgres', "SELECT run_inner('$aggregate'::regprocedure, $arguments) FROM $rows"),
		$node->safe_psql('postgres', "SELECT $call FROM $rows"), "$call FROM $rows by OID") if $arguments eq 'x';
}

$node->stop;

# --- with the extensions that this PostgreSQL has

chomp(my $libdir = `pg_config --pkglibdir`);
# pg_stat_kcache wants to be loaded behind pg_stat_statements.
my @there = grep { -e "$libdir/$_.so" } qw(pg_stat_statements auto_explain pgaudit pg_qualstats pg_stat_kcache pg_wait_sampling hypopg);
note("loaded with hpsort: @there");
my %settings = (
	auto_explain => "auto_explain.log_min_duration = 0\nauto_explain.log_analyze = on\nauto_explain.log_format = json\n",
	pgaudit => "pgaudit.log = 'read'\npgaudit.log_relation = on\n",
	pg_qualstats => "pg_qualstats.sample_rate = 1\n");
my @queries = (
	[ 'HpSort Aggregate', 'SELECT x, count(*), percentile_disc(0.5) WITHIN GROUP (ORDER BY y) FROM rows WHERE y > 0 GROUP BY x ORDER BY x' ],
	[ 'HpSort', 'SELECT id, x, y FROM rows WHERE id % 3 > 0 ORDER BY y, id' ],
	[ 'HpSort', 'SELECT id, x FROM (SELECT *, rank() OVER (PARTITION BY x ORDER BY y) AS r FROM rows) q WHERE r <= 3 ORDER BY x, id' ]);

for my $libraries ([ 'hpsort', @there ], [ @there, 'hpsort' ], [@there])
{
	my $in_session = $libraries->[0] ne 'hpsort' && $libraries->[-1] ne 'hpsort';
	my $name = $in_session ? 'hpsort in session_preload_libraries' : 'shared_preload_libraries = ' . join(',', @$libraries);
	my $server = new_cluster('neighbours' . ($in_session ? 0 : $libraries->[0] eq 'hpsort' ? 1 : 2));

	$server->append_conf('postgresql.conf', "autovacuum = off\nmax_parallel_workers_per_gather = 0\n" .
		"shared_preload_libraries = '" . join(',', @$libraries) . "'\n" . join('', map { $settings{$_} // '' } @there));
	$server->append_conf('postgresql.conf', "session_preload_libraries = 'hpsort'\n") if $in_session;
	$server->start;
	$server->safe_psql('postgres', join(';', map { "CREATE EXTENSION $_" } grep { $_ ne 'auto_explain' } 'hpsort', @there));
	$server->safe_psql('postgres', <<'SQL');
CREATE TABLE rows AS SELECT g AS id, g * 7919 % 1000 AS x, hashint4(g) AS y FROM generate_series(1, 100000) g;
VACUUM ANALYZE rows;
SQL
	for my $query (@queries)
	{
		my ($plan, $sql) = @$query;
		my $digest = "SELECT md5(string_agg(q::text, ' ')) FROM ($sql) q";
		my $off = 'SET hpsort.enable_sort = off; SET hpsort.enable_scan = off; SET hpsort.enable_aggregate = off;';

		like($server->safe_psql('postgres', "EXPLAIN (COSTS OFF) $digest"), qr/Custom Scan \($plan\)/, "$name: $plan in the plan");
		unlike($server->safe_psql('postgres', "$off EXPLAIN (COSTS OFF) $digest"), qr/HpSort/, "$name: not without");
		is($server->safe_psql('postgres', $digest), $server->safe_psql('postgres', "$off $digest"), "$name: rows by $plan");
	}
	my $log = -s $server->logfile;
	my $rows = $server->safe_psql('postgres', "$queries[0][1]; SELECT cardinality(hpsort_column_array('rows', 'x'))");
	my $logged = slurp_file($server->logfile, $log);
	like($rows, qr/^999\|.*\n100000$/m, "$name: rows");
	if (grep { $_ eq 'pg_stat_statements' } @there)
	{
		is($server->safe_psql('postgres', "SELECT calls, rows FROM pg_stat_statements WHERE query LIKE 'SELECT x, count(*), percentile_disc%'"),
			'1|1000', "$name: pg_stat_statements counts calls and rows");
	}
	like($logged, qr/"Custom Plan Provider": "HpSort Aggregate".*"Actual Rows": 1000\b/s, "$name: auto_explain logs the plan")
		if grep { $_ eq 'auto_explain' } @there;
	if (grep { $_ eq 'pgaudit' } @there)
	{
		like($logged, qr/AUDIT: SESSION,\d+,\d+,READ,SELECT,TABLE,public\.rows,"?SELECT x, count/, "$name: pgaudit logs what the node reads");
		like($logged, qr/AUDIT: SESSION,\d+,\d+,READ,SELECT,TABLE,public\.rows,.*hpsort_support_keys_agg/, "$name: pgaudit logs what a column function reads");
	}
	if (grep { $_ eq 'hypopg' } @there)
	{
		# auto_explain itself cannot name an index that is not there.
		my $plan = $server->safe_psql('postgres', "SET auto_explain.log_min_duration = -1; SELECT count(*) FROM hypopg_create_index('CREATE INDEX ON rows (y)'); EXPLAIN (COSTS OFF) SELECT * FROM rows ORDER BY y LIMIT 10");

		like($plan, qr/Index Scan using "?<\d+>btree_rows_y/, "$name: hypopg's index is taken instead of HpSort");
	}
	unlike(slurp_file($server->logfile), qr/terminated by signal|PANIC:|TRAP:/, "$name: nothing has crashed");
	$server->stop;
}
done_testing();
