# Tables of random layouts and histories: the column reader, alone and with
# workers, in functions and in plans, returns what PostgreSQL returns; on a hot
# standby too, where nothing is all-visible by its pages alone.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

random_seed();

my $tables = $ENV{HPSORT_TEST_TABLES} // at_length(10, 20);

my $primary = new_cluster('primary', allows_streaming => 1);
$primary->append_conf('postgresql.conf', <<'CONF');
autovacuum = off
hpsort.enable_sort = off
max_worker_processes = 16
max_parallel_workers = 8
shared_buffers = 1MB
CONF
$primary->start;
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->append_conf('postgresql.conf', "hot_standby_feedback = on\n");
$standby->start;

sub pick { return $_[int(rand(@_))]; }

$primary->safe_psql('postgres', <<'SQL');
CREATE EXTENSION hpsort;
CREATE DOMAIN small AS int2;
CREATE DOMAIN key AS int4;

-- One column read in every way beside PostgreSQL's own, as a list of what differs.
CREATE FUNCTION differences(rel regclass, attribute name) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	type text := (SELECT format_type(coalesce(nullif(t.typbasetype, 0), t.oid), NULL) FROM pg_attribute a JOIN pg_type t ON a.atttypid = t.oid
		WHERE attrelid = rel AND attname = attribute);
	x text := CASE type WHEN 'date' THEN format('(%I - date ''2000-01-01'')', attribute) ELSE format('%I::int4', attribute) END;
	up int4[];
	down int4[];
	runs text;
	got text;
	got_up int4[];
	got_down int4[];
	filter text := 'id % 3 <> 1';
	found text := '';
BEGIN
	SET LOCAL hpsort.debug_scan = 'forbid';
	SET LOCAL hpsort.debug_aggregate = 'forbid';
	EXECUTE format('SELECT array_agg(x ORDER BY x), array_agg(x ORDER BY x DESC) FROM (SELECT %s AS x FROM %s) s', x, rel) INTO up, down;
	EXECUTE format('SELECT string_agg(concat(x, '':'', n), '','' ORDER BY x) FROM (SELECT %s AS x, count(*) AS n FROM %s GROUP BY 1) s', x, rel) INTO runs;

	IF hpsort_column_array(rel, attribute) IS DISTINCT FROM up THEN found := found || ' array'; END IF;
	IF hpsort_column_array(rel, attribute, descending => true) IS DISTINCT FROM down THEN found := found || ' array-desc'; END IF;
	IF (SELECT array_agg(v) FROM hpsort_column(rel, attribute) v) IS DISTINCT FROM up THEN found := found || ' set'; END IF;
	IF (SELECT string_agg(concat(key, ':', count), ',') FROM hpsort_column_runs(rel, attribute)) IS DISTINCT FROM runs THEN found := found || ' runs'; END IF;
	IF type <> 'date' THEN
		EXECUTE format('SELECT array_agg(v) FROM hpsort_query(''SELECT %I FROM %s'') v', attribute, rel) INTO got_up;
		IF got_up IS DISTINCT FROM up THEN found := found || ' query'; END IF;
	END IF;

	-- hpsort_query's own, by pages
	SET LOCAL hpsort.debug_aggregate = 'force';
	IF type <> 'date' THEN
		EXECUTE format('SELECT array_agg(v) FROM hpsort_query(''SELECT %I FROM %s'') v', attribute, rel) INTO got_up;
		IF got_up IS DISTINCT FROM up THEN found := found || ' query-forced'; END IF;
	END IF;

	-- in plans, where the column can be an argument
	IF type IN ('smallint', 'integer') THEN
		EXECUTE format('SELECT hpsort_agg(%1$I), hpsort_agg(%1$I, NULL, NULL, true) FROM %2$s', attribute, rel) INTO got_up, got_down;
		IF got_up IS DISTINCT FROM up THEN found := found || ' agg'; END IF;
		IF got_down IS DISTINCT FROM down THEN found := found || ' agg-desc'; END IF;
		EXECUTE format('SELECT string_agg(concat((r).key, '':'', (r).count), '','') FROM (SELECT unnest(hpsort_runs_agg(%I)) AS r FROM %s) s', attribute, rel) INTO got;
		IF got IS DISTINCT FROM runs THEN found := found || ' runs_agg'; END IF;

		EXECUTE format('SELECT array_agg(x ORDER BY x), array_agg(x ORDER BY x DESC) FROM (SELECT %s AS x FROM %s WHERE %s) s', x, rel, filter) INTO up, down;
		EXECUTE format('SELECT hpsort_agg(%1$I), hpsort_agg(%1$I, NULL, NULL, true) FROM %2$s WHERE %3$s', attribute, rel, filter) INTO got_up, got_down;
		IF got_up IS DISTINCT FROM up THEN found := found || ' filter'; END IF;
		IF got_down IS DISTINCT FROM down THEN found := found || ' filter-desc'; END IF;
		EXECUTE format('SELECT array_agg(v) FROM hpsort_query(''SELECT %I FROM %s WHERE %s'') v', attribute, rel, filter) INTO got_up;
		IF got_up IS DISTINCT FROM up THEN found := found || ' query-filter'; END IF;
	END IF;
	RETURN found;
END $$;
SQL

my %types = (
	int2 => sub { 'CASE WHEN random() < 0.9 THEN (random() * 65535 - 32768)::int::int2 END' },
	small => sub { '(random() * 100)::int::int2' },
	int4 => sub { pick('(random() * 4294967295 - 2147483648)::int8::int4', '(i % 1000)::int4', 'CASE WHEN i % 4 > 0 THEN i::int4 END', 'NULL::int4') },
	key => sub { '(random() * 1000000)::int4' },
	int8 => sub { '(random() * 4294967295 - 2147483648)::int8' },
	date => sub { pick("date '2000-01-01' + (random() * 10000 - 5000)::int", "CASE WHEN i % 9 > 0 THEN date '1999-12-31' + (i % 7)::int END") });
my %others = (
	text => sub { pick("repeat('x', (random() * 300)::int)", "CASE WHEN i % 3 = 0 THEN 'row ' || i END", "''", 'NULL::text') },
	varchar => sub { "repeat('v', (i % 140)::int)" },
	bool => sub { 'i % 2 = 0' },
	'"char"' => sub { "'c'::\"char\"" },
	numeric => sub { pick('i::numeric', 'random()::numeric', 'NULL::numeric') },
	float8 => sub { 'random()' },
	bytea => sub { "decode(repeat('ab', (random() * 20)::int), 'hex')" },
	'int4[]' => sub { pick("ARRAY[1, 2, i]::int4[]", "'{}'::int4[]") },
	name => sub { "'name'::name" },
	box => sub { "box(point(i, i), point(0, 0))" },
	# long enough to be toasted, and stored so that it is
	'text STORAGE EXTERNAL' => sub { "CASE WHEN i % 40 = 0 THEN repeat('t', 5000) ELSE 'short' END" });

my @all;
for my $t (1 .. $tables)
{
	my @columns = ('id');
	my %make = (id => sub { 'i' });
	my @definitions = ('id int8');
	my %key;
	my $n = pick(0, 1, 50, 400, 2000, 5000);

	for my $c (1 .. 1 + int(rand(9)))
	{
		my $name = "c$c";
		my $is_key = rand() < 0.5 || $c == 1;
		my $type = $is_key ? pick(sort keys %types) : pick(sort keys %others);

		# STORAGE in CREATE TABLE is PostgreSQL 16's
		my ($plain) = $type =~ /^(.*?)(?: STORAGE.*)?$/;
		push @columns, $name;
		push @definitions, "$name $plain";
		$make{$name} = $is_key ? $types{$type} : $others{$type};
		$key{$name} = 1 if $is_key;
	}
	my $table = "t$t";
	my $fill = sub {
		my ($rows) = @_;
		return "INSERT INTO $table (" . join(', ', @columns) . ') SELECT ' .
			join(', ', map { $make{$_}->() } @columns) . " FROM generate_series(1, $rows) i;\n";
	};
	my $sql = "CREATE " . pick('', '', 'UNLOGGED ') . "TABLE $table (" . join(', ', @definitions) .
		') WITH (fillfactor = ' . pick(100, 60) . ");\n";
	my $logged = $sql !~ /UNLOGGED/;
	$sql .= "ALTER TABLE $table ALTER $_ SET STORAGE EXTERNAL;\n"
		for grep { my $d = $_; grep { $_ eq "$d text" } @definitions } @columns;
	$sql .= $fill->($n);

	# what happens to a table
	for my $step (1 .. 2 + int(rand(6)))
	{
		my $what = pick('insert', 'update', 'delete', 'abort', 'vacuum', 'freeze', 'add', 'add_null', 'drop', 'hint', 'subxact', 'truncate');
		my ($a_key) = grep { $key{$_} } sort { rand() <=> 0.5 } @columns;

		$sql .= $fill->(pick(1, 30, 700)) if $what eq 'insert';
		$sql .= "UPDATE $table SET id = id + 1 WHERE id % 5 = 0;\n" if $what eq 'update';
		$sql .= "DELETE FROM $table WHERE id % 7 = " . int(rand(7)) . ";\n" if $what eq 'delete';
		$sql .= "BEGIN;\n" . $fill->(50) . "UPDATE $table SET id = -id WHERE id < 90;\nROLLBACK;\n" if $what eq 'abort';
		$sql .= "BEGIN;\nSAVEPOINT s;\n" . $fill->(20) . "RELEASE s;\nSAVEPOINT s;\nDELETE FROM $table WHERE id % 2 = 0;\nROLLBACK TO s;\nSELECT 1 FROM $table WHERE id = 3 FOR UPDATE;\nCOMMIT;\n" if $what eq 'subxact';
		$sql .= "VACUUM $table;\n" if $what eq 'vacuum';
		$sql .= "VACUUM (FREEZE) $table;\n" if $what eq 'freeze';
		$sql .= "SELECT count(*) FROM $table;\n" if $what eq 'hint';
		$sql .= "TRUNCATE $table;\n" . $fill->(100) if $what eq 'truncate' && rand() < 0.3;
		if ($what eq 'add' || $what eq 'add_null')
		{
			my $name = "a$step";
			my $type = pick('int2', 'int4', 'int8');

			$sql .= "ALTER TABLE $table ADD COLUMN $name $type" . ($what eq 'add' ? ' DEFAULT ' . int(rand(100)) : '') . ";\n";
			push @columns, $name;
			$make{$name} = $types{$type};
			$key{$name} = 1;
		}
		if ($what eq 'drop' && @columns > 3)
		{
			my $victim = $columns[1 + int(rand(@columns - 1))];

			next if $key{$victim} && keys(%key) == 1;
			$sql .= "ALTER TABLE $table DROP COLUMN $victim;\n";
			@columns = grep { $_ ne $victim } @columns;
			delete $key{$victim};
		}
	}
	my ($rc, $out, $err) = $primary->psql('postgres', $sql, on_error_stop => 1);
	is($rc, 0, "$table is made") or diag("$sql\n$err");

	my @keys = sort keys %key;
	my $checks = join("\n", map {
		my $workers = $_;
		"SET max_parallel_workers_per_gather = $workers; SET parallel_leader_participation = " . ($workers == 1 ? 'off' : 'on') . ';' .
			join('', map { "SELECT '$workers workers, $_:' || differences('$table', '$_') WHERE differences('$table', '$_') <> '';" } @keys)
	} (0, 1, 3));
	my $settings = "SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET synchronize_seqscans = " . pick('on', 'off') . ';';

	is($primary->safe_psql('postgres', "$settings\n$checks"), '', "$table equals core") or diag($sql);
	push @all, [ $table, "$settings\n$checks", $sql ] if $logged;
}

# a tree of tables with different layouts, pruned and not
$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE tree (id int8, note text, x int4) PARTITION BY RANGE (id);
CREATE TABLE tree_1 PARTITION OF tree FOR VALUES FROM (MINVALUE) TO (1000);
CREATE TABLE tree_2 (x int4, gone int8, id int8, note text);
ALTER TABLE tree_2 DROP COLUMN gone;
ALTER TABLE tree ATTACH PARTITION tree_2 FOR VALUES FROM (1000) TO (2000);
CREATE TABLE tree_3 PARTITION OF tree FOR VALUES FROM (2000) TO (MAXVALUE) PARTITION BY RANGE (id);
CREATE TABLE tree_3a PARTITION OF tree_3 FOR VALUES FROM (2000) TO (3000);
CREATE TABLE tree_3b PARTITION OF tree_3 DEFAULT;
INSERT INTO tree SELECT i, CASE WHEN i % 3 > 0 THEN 'note ' || i END, (i * 7919 % 500)::int4 FROM generate_series(1, 5000) i;
VACUUM tree_1, tree_3b;
CREATE TABLE parent (id int8, x int4);
CREATE TABLE child (more text) INHERITS (parent);
CREATE TABLE other (x int4, y text, id int8);
ALTER TABLE other INHERIT parent;
INSERT INTO parent SELECT i, i % 10 FROM generate_series(1, 500) i;
INSERT INTO child SELECT i, i % 20, 'm' FROM generate_series(1, 500) i;
INSERT INTO other SELECT i % 40, 'y', i FROM generate_series(1, 500) i;
SQL
for my $table (qw(tree tree_3 parent child))
{
	my $checks = join('', map { "SET max_parallel_workers_per_gather = $_; SELECT '$_ workers:' || differences('$table', 'x') WHERE differences('$table', 'x') <> '';" } (0, 2));

	$checks = "SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; $checks";
	is($primary->safe_psql('postgres', $checks), '', "$table equals core");
	push @all, [ $table, $checks, '' ];
}

# The queries that hpsort_query and the column functions run, which nobody can EXPLAIN, as
# auto_explain sees them.  Of a wide table an index-only scan would cost less, and workers
# save less than they cost.
SKIP:
{
	my (undef, undef, $no_module) = $primary->psql('postgres', q{LOAD 'auto_explain'});

	skip 'auto_explain is not installed', 2 if $no_module =~ /could not access file/;
	$primary->safe_psql('postgres', <<'SQL');
LOAD 'auto_explain';
SET auto_explain.log_min_duration = 0;
SET auto_explain.log_nested_statements = on;
LOAD 'hpsort';
SELECT hpsort_query('SELECT x FROM tree WHERE id > 10') LIMIT 1;
CREATE TABLE wide AS SELECT i x, repeat('w', 1000) w FROM generate_series(1, 20000) i;
CREATE INDEX ON wide (x);
VACUUM ANALYZE wide;
SELECT hpsort_column_array('wide', 'x') IS NULL;
SQL
	like(slurp_file($primary->logfile), qr/\(SELECT x FROM tree WHERE id > 10\) AS q\(x\)\s+(?:Query Parameters: .*\s+)?Custom Scan \(HpSort Aggregate\)/, 'the plan of hpsort_query');
	like(slurp_file($primary->logfile), qr/FROM public\.wide\s+(?:Query Parameters: .*\s+)?Finalize Aggregate .*\s+->  Gather .*\s+Workers Planned: .*\s+->  Parallel Custom Scan \(HpSort Aggregate\) on wide/, 'the plan of a column function');
}

# errors in the middle of a scan, in the session and in its workers, leave nothing behind
for my $workers (0, 2)
{
	my $settings = "SET max_parallel_workers_per_gather = $workers; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; " .
		"SET parallel_tuple_cost = 0; SET parallel_leader_participation = off; LOAD 'hpsort'; SET hpsort.debug_aggregate = force;";

	for my $query ("SELECT hpsort_column_array('tree', 'x', 0, 10)", 'SELECT hpsort_agg(x, 0, 10) FROM tree',
		'SELECT hpsort_agg(x) FROM tree WHERE 1 / (x - 400) IS NOT NULL')
	{
		my ($rc, $out, $err) = $primary->psql('postgres',
			"$settings\n$query;\nSELECT 'still ' || (hpsort_column_array('tree', 'x') = array_agg(x ORDER BY x)) FROM tree;", on_error_stop => 0);

		like($err, qr/ERROR:  (key is out of bounds|division by zero)/, "$workers workers: $query");
		# ... which is where it happened
		like($err, qr/CONTEXT:  parallel worker/, 'in a worker') if $workers;
		is($out, 'still true', 'and goes on');
	}
	my ($rc, $out, $err) = $primary->psql('postgres', "$settings\nBEGIN;\nSET LOCAL statement_timeout = 100;\n" .
		"SELECT hpsort_agg(x) FROM tree WHERE pg_sleep(0.01) IS NOT NULL;\nROLLBACK;\n" .
		"SELECT 'still ' || (hpsort_column_array('tree', 'x') = array_agg(x ORDER BY x)) FROM tree;", on_error_stop => 0);
	like($err, qr/canceling statement due to statement timeout/, "$workers workers: cancelled");
	is($out, 'still true', 'and goes on');
}

# many sessions on one table that changes all the time, each beside core in one statement
$primary->safe_psql('postgres', 'CREATE TABLE busy (id int8, x int4); INSERT INTO busy SELECT i, i % 100 FROM generate_series(1, 20000) i; VACUUM busy');
my $script = $primary->basedir . '/busy.sql';
append_to_file($script, <<'SQL');
\set r random(1, 20000)
UPDATE busy SET x = x + 1 WHERE id BETWEEN :r AND :r + 20;
SELECT 1 / (array_agg(x ORDER BY x) = hpsort_column_array('busy', 'x'))::int FROM busy;
DELETE FROM busy WHERE id = :r;
INSERT INTO busy VALUES (:r, :r % 100);
SELECT 1 / ((SELECT hpsort_agg(x) FROM busy) = (SELECT array_agg(x ORDER BY x) FROM busy))::int;
SQL
my $vacuum = $primary->basedir . '/vacuum.sql';
append_to_file($vacuum, "VACUUM busy;\nVACUUM (FREEZE) busy;\n");
{
	local $ENV{PGOPTIONS} = '-c session_preload_libraries=hpsort -c hpsort.debug_aggregate=force -c max_parallel_workers_per_gather=0';
	$primary->command_ok([ 'pgbench', '-n', '-c', '4', '-t', '60', '-f', "$script\@9", '-f', "$vacuum\@1", 'postgres' ],
		'a table that changes meanwhile');
}

# the same tables on the standby, where all-visible pages are looked at row by row
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
for my $check (@all)
{
	my ($table, $checks, $sql) = @$check;

	is($standby->safe_psql('postgres', $checks), '', "$table equals core on the standby") or diag($sql);
}

$standby->stop;
$primary->stop;
for my $node ($primary, $standby)
{
	is(join('', grep { /PANIC:|TRAP:|terminated by signal|still referenced|leak|resource was not closed/ } split /^/m, slurp_file($node->logfile)), '',
		'nothing in the log of the ' . $node->name);
}

done_testing();
