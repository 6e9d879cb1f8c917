# PostgreSQL's own aggregates, GROUP BY and DISTINCT answered by Custom Scan
# (HpSort Aggregate): random queries over tables of every shape, each run with the
# node forbidden and forced in the same session.  What the query determines must
# be the same: rows, their order as far as ORDER BY gives one, an error's words.
#
#	HPSORT_TEST_SEED=N			the same queries as the run that printed it
#	HPSORT_TEST_QUERIES=N		how many, 2,500 by default
#	HPSORT_TEST_QUERY=N			only that one
#	HPSORT_TEST_SHARE=N			percent of the queries that must be planned with the node, 75 by default
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../fuzz";
use FuzzSql::Aggregates;
use FuzzSql::Compare;
use FuzzSql::Random;
use FuzzSql::Relations;
use FuzzSql::Session;
use FuzzSql::Tables;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $seed = $ENV{HPSORT_TEST_SEED} // int(time() * 1000) % 1000000;
my $queries = $ENV{HPSORT_TEST_QUERIES} // 2500;
my $only = $ENV{HPSORT_TEST_QUERY};
my $least_share = $ENV{HPSORT_TEST_SHARE} // 75;
my $most_failures = 10;
diag("seed $seed");

my $node = PostgreSQL::Test::Cluster->new('aggregate');
$node->init;
$node->append_conf('postgresql.conf', <<'CONF');
session_preload_libraries = 'hpsort'
autovacuum = off
jit = off
fsync = off
max_parallel_workers_per_gather = 0
synchronize_seqscans = off
max_worker_processes = 16
max_parallel_workers = 8
timezone = 'UTC'
CONF
$node->start;

# --- Tables.  The columns of each type are made by the same expressions; id is different in each row.

my %columns = (
	i2 => [ 'int2', 'int', q{CASE g % 50 WHEN 1 THEN -32768 WHEN 2 THEN 32767 ELSE (random() * 60)::int - 30 END::int2} ],
	i4 => [ 'int4', 'int', q{(random() * 4294967295 - 2147483648)::int8::int4} ],
	i8 => [ 'int8', 'int', q{CASE WHEN random() < 0.02 THEN -9223372036854775808 WHEN random() < 0.02 THEN 9223372036854775807 ELSE (random() * 1e15)::int8 END} ],
	x => [ 'int4', 'int', q{(random() * 100)::int4 - 20} ],
	y => [ 'int4', 'int', q{(random() * 100000)::int4} ],
	s => [ 'int4', 'int', q{floor(power(random(), 8) * 3000)::int4} ],
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
	label => [ 'text', 'text', q{'row ' || floor(random() * 50)} ],
	late => [ 'int4', 'int', '(random() * 9)::int4' ],
	late_d => [ 'date', 'date', q{'2020-01-01'::date + (random() * 9)::int} ]);
my @all = qw(i2 i4 i8 x y d b c o m tm ts tz label);
my @tables;

sub sql_type { return $columns{ $_[0] }[0] eq 'char' ? '"char"' : $columns{ $_[0] }[0]; }

sub definition { return 'id int4, ' . join(', ', map { "$_ " . sql_type($_) } @_); }

# Rows, of which this share has NULL in a column.
sub insert
{
	my ($table, $from, $to, $nulls, @names) = @_;
	my @values = map { $nulls && !/^(one|none)$/ ? "CASE WHEN random() >= $nulls THEN $columns{$_}[2] END" : $columns{$_}[2] } @names;

	return "INSERT INTO $table (id, " . join(', ', @names) . ') SELECT g, ' . join(', ', @values) . " FROM generate_series($from, $to) g;\n";
}

# Tells the generator of a table.
sub table
{
	my ($name, $rows, $kind, @names) = @_;

	push @tables, {
		name => $name,
		kind => $kind,
		rows => $rows,
		columns => [ { name => 'id', type => 'int4', class => 'int', sql => 'int4' }, map { +{ name => $_, type => $columns{$_}[0], class => $columns{$_}[1], sql => sql_type($_) } } @names ]
	};
}

# Old and new versions of rows, and rows of others that were never committed.
sub dead
{
	my ($table, $column) = @_;
	return "UPDATE $table SET $column = $column WHERE id % 7 = 0; DELETE FROM $table WHERE id % 11 = 3;\n"
	  . "BEGIN; INSERT INTO $table SELECT * FROM $table WHERE id % 5 = 0; ROLLBACK;\n";
}

my $load = "CREATE EXTENSION hpsort;\n" . join(";\n", @FuzzSql::Tables::types_ddl) . ";\nSELECT setseed(" . $seed % 1000000 / 1000000 . ");\n";

# Columns that were dropped, and that rows are older than.
$load .= 'CREATE TABLE t (gone int, ' . definition(@all[ 0 .. 6 ]) . ', gone2 text, ' . join(', ', map { "$_ " . sql_type($_) } @all[ 7 .. $#all ]) . ");\n" . insert('t', 1, 2000, 0.07, @all);
$load .= "UPDATE t SET gone = id, gone2 = 'gone'; ALTER TABLE t DROP COLUMN gone; ALTER TABLE t DROP COLUMN gone2;\n";
$load .= "ALTER TABLE t ADD late int4 DEFAULT 77; ALTER TABLE t ADD late_d date;\n" . insert('t', 2001, 3000, 0.07, @all, 'late', 'late_d') . dead('t', 'x');
table('t', 3000, 'plain', @all, 'late', 'late_d');
# All pages all-visible, no NULLs.
$load .= 'CREATE TABLE full_pages (' . definition(@all) . ");\n" . insert('full_pages', 1, 2000, 0, @all);
table('full_pages', 2000, 'plain', @all);
# A few values have most rows.
$load .= 'CREATE TABLE skewed (' . definition(qw(k s x d one none)) . ");\n" . insert('skewed', 1, 6000, 0.02, qw(k s x d one none)) . dead('skewed', 's');
table('skewed', 6000, 'plain', qw(k s x d one none));
# Nearly as many groups as rows, with values far apart.
$load .= 'CREATE TABLE many (' . definition(qw(i8 i4 o tz y)) . ");\n" . insert('many', 1, 3000, 0.01, qw(i8 i4 o tz y)) . "INSERT INTO many SELECT id + 3000, i8, i4, o, tz, y FROM many WHERE id <= 600;\n";
table('many', 3600, 'plain', qw(i8 i4 o tz y));
$load .= 'CREATE TABLE nothing (' . definition(@all) . ');';
table('nothing', 0, 'plain', @all);
$load .= 'CREATE TABLE one_row (' . definition(@all) . ');' . insert('one_row', 1, 1, 0.2, @all);
table('one_row', 1, 'plain', @all);
$load .= 'CREATE TABLE all_null (' . definition(@all) . ');' . insert('all_null', 1, 100, 1, @all);
table('all_null', 100, 'plain', @all);
# Partitions, one with its columns elsewhere, one empty, one partitioned again.
my @some = qw(i2 x i8 d m ts label);
$load .= 'CREATE TABLE part (' . definition(@some) . ") PARTITION BY RANGE (id);\nCREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (MINVALUE) TO (900);\n"
  . 'CREATE TABLE part_2 (gone text, ' . join(', ', map { "$_ " . sql_type($_) } reverse @some) . ", id int4);\nALTER TABLE part_2 DROP COLUMN gone; ALTER TABLE part ATTACH PARTITION part_2 FOR VALUES FROM (900) TO (1500);\n"
  . "CREATE TABLE part_3 PARTITION OF part FOR VALUES FROM (1500) TO (MAXVALUE) PARTITION BY HASH (id);\n"
  . join('', map { "CREATE TABLE part_3_$_ PARTITION OF part_3 FOR VALUES WITH (MODULUS 2, REMAINDER $_);\n" } 0, 1) . insert('part', 1, 2500, 0.05, @some) . "DELETE FROM part_3_1;\n" . dead('part', 'x');
table('part', 2500, 'partitioned', @some);
$load .= 'CREATE TABLE parent (' . definition(@some) . ");\nCREATE TABLE child (more text DEFAULT 'more') INHERITS (parent); CREATE TABLE grandchild () INHERITS (child);\n"
  . insert('parent', 1, 500, 0.05, @some) . insert('child', 501, 1500, 0.05, @some) . insert('grandchild', 1501, 2000, 0.05, @some);
table('parent', 2000, 'inherited', @some);
$load .= "CREATE INDEX ON full_pages (x); CREATE INDEX ON t (id);\nVACUUM ANALYZE; DELETE FROM t WHERE id % 101 = 7;\n";
$node->safe_psql('postgres', $load);
@FuzzSql::Relations::tables = @tables;

# --- Running

my %options = (host => $node->host, port => $node->port, user => scalar getpwuid($<), database => 'postgres');
my $session = FuzzSql::Session->connect_when_ready(%options) or BAIL_OUT('no connection');
my $version = int(FuzzSql::Session::text($session->query('SHOW server_version_num')) / 10000);
my %modes = (
	core => 'SET hpsort.debug_sort = forbid; SET hpsort.debug_aggregate = forbid',
	force => 'SET hpsort.debug_sort = allow; SET hpsort.debug_aggregate = force');

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
		$set{ $version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode' } = 'regress' if chance(0.1);
	}
	$set{ pick(qw(enable_hashagg enable_sort enable_partitionwise_aggregate)) } = pick('on', 'off') if chance(0.3);
	return join('; ', map { "SET $_ = '$set{$_}'" } sort keys %set);
}

# Settings take effect all together or not at all.
sub set
{
	my ($sql) = @_;
	my ($error) = map { $_->{error} // () } @{ $session->query_all($sql) };
	BAIL_OUT("$error: $sql") if $error && !$session->{lost};
}

# All steps of a query; one result for each, or what went wrong besides.
sub run_query
{
	my ($query, $mode, $settings, $before) = @_;
	my @results;

	set("RESET ALL; $settings; $modes{$mode}; SET statement_timeout = '60s'");
	set("BEGIN; $before") if $before;
	for my $step (@{ $query->{steps} })
	{
		my $portal = $step->{portal};
		push @results, $portal ? $session->query_by_portal($step->{sql}, $portal->{fetch}, @{ $portal->{params} }) : $session->query($step->{sql});
		last if $session->{lost};
	}
	my ($wrong) = grep { /^WARNING.*(leak|still referenced|not closed|problem in alloc|write past|not owned)/ } $session->notices;
	$wrong //= "internal error: $_->{said}" for grep { ($_->{code} // '') =~ /^(XX|57014)/ } @results;
	$wrong = "connection lost: $session->{lost}" if $session->{lost};
	$session->query_all('ROLLBACK') if $before && !$session->{lost};
	$session->query_all('DEALLOCATE ALL') if !$session->{lost};
	return (\@results, $wrong);
}

sub planned
{
	my ($query, $settings, $before) = @_;

	set("RESET ALL; $settings; $modes{force}");
	set('BEGIN; ' . ($before // ''));
	my $result = $session->query("EXPLAIN (COSTS OFF) $query->{explain}");
	$session->query_all('ROLLBACK');
	return $result->{code} ? undef : FuzzSql::Session::text($result);
}

my %count = map { $_ => 0 } qw(queries errors rows failed);
my (%explained, %used);
my $began = time();

# Whether the session is still of use.
sub try_query
{
	my ($number, $query, $settings, $before) = @_;
	my ($core, $wrong) = run_query($query, 'core', $settings, $before);
	my ($ours, $difference, $at);

	$wrong = "core: $wrong" if $wrong;
	($ours, $wrong) = run_query($query, 'force', $settings, $before) if !$wrong;
	for my $i (0 .. $#{ $query->{steps} })
	{
		last if defined $wrong;
		$at = $query->{steps}[$i]{sql};
		$wrong = difference({ %{ $query->{steps}[$i] }, text => 1 }, $core->[$i], $ours->[$i]);
	}
	$count{queries}++;
	$count{errors}++ if grep { $_->{code} } @$core;
	$count{rows} += @{ $_->{rows} } for @$core;
	note("error: $_->{said} in $query->{steps}[0]{sql}") for grep { $_->{code} && $query->{kind} !~ /failing/ } @$core;
	if (defined $wrong)
	{
		$count{failed}++;
		fail("query $number");
		diag("HPSORT_TEST_SEED=$seed HPSORT_TEST_QUERY=$number repeats it\n$wrong\nstatement: " . ($at // '') . "\nsettings: $settings" . ($before ? "; BEGIN; $before" : '') . "\nquery:\n"
			  . join('', map { "  $_->{sql};\n" } @{ $query->{steps} }));
		return 0 if $session->{lost};
	}
	my $plan = planned($query, $settings, $before) // return 1;
	$explained{ $query->{kind} }++;
	$used{ $query->{kind} }++ if $plan =~ /Custom Scan \(HpSort Aggregate\)/;
	return 1;
}

# Each query has a seed of its own, so that it can be repeated alone.
srand($seed);
my @seeds = map { int(rand(2**31)) } 1 .. $only // $queries;
for my $number ($only // 1 .. @seeds)
{
	srand($seeds[ $number - 1 ]);
	FuzzSql::Relations::start_query();
	my $query = aggregates();
	my $settings = settings();
	# In a transaction that has changed rows itself.
	my $before = chance(0.07) ? pick('UPDATE t SET x = x + 1 WHERE id % 3 = 0', 'DELETE FROM part WHERE id % 4 = 1', 'INSERT INTO nothing SELECT * FROM full_pages WHERE id < 100', 'DELETE FROM t', 'TRUNCATE skewed') : undef;

	last if $count{failed} >= $most_failures;
	next if try_query($number, $query, $settings, $before);
	$session = FuzzSql::Session->connect_when_ready(%options) or BAIL_OUT('the server does not come back');
}

my ($n, $with) = (0, 0);
for my $kind (sort keys %explained)
{
	$n += $explained{$kind};
	$with += $used{$kind} // 0;
	diag(sprintf('%s: %d of %d planned with HpSort Aggregate', $kind, $used{$kind} // 0, $explained{$kind}));
}
diag(sprintf('%d queries, %d ended by an error, %d rows, in %d s; %.0f %% planned with HpSort Aggregate', @count{qw(queries errors rows)}, time() - $began, $n ? 100 * $with / $n : 0));
is($count{failed}, 0, 'the same results as core');
if (!$only)
{
	cmp_ok($count{queries}, '>=', $queries, 'all queries ran');
	cmp_ok($count{errors}, '<', $queries / 6 + 10, 'most have a result');
}

# --- Plans

cmp_ok($with, '>=', $n * $least_share / 100, "at least $least_share % of the queries get the node") if !$only;

$node->stop;
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC:|TRAP:/, 'no crash');
done_testing();
