# What ORDER BY by Custom Scan (HpSort) owes the server: it stops when told to
# at any point, its temporary files are limited, logged and gone afterwards,
# whatever ends the session, it frees its memory, and EXPLAIN knows it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run ();
use JSON::PP;
use Time::HiRes qw(time usleep);
use Test::More;

random_seed();

# Enough rows that segments are merged more than once; HPSORT_TEST_ROWS of some millions show
# how soon a cancel is obeyed.
my $rows = $ENV{HPSORT_TEST_ROWS} // 400000;

# malloc gives large blocks back to the system as soon as they are freed, so that a
# backend's resident memory shows what it has not freed.
$ENV{MALLOC_MMAP_THRESHOLD_} = 1 << 17;
$ENV{MALLOC_TRIM_THRESHOLD_} = 1 << 17;

my $node = new_cluster('order');
$node->append_conf('postgresql.conf', <<'CONF');
session_preload_libraries = 'hpsort'
hpsort.debug_sort = force
autovacuum = off
max_parallel_workers_per_gather = 0
max_worker_processes = 16
max_parallel_workers = 8
restart_after_crash = on
shared_buffers = 64MB
fsync = off
CONF
$node->start;
$node->safe_psql('postgres', <<"SQL");
CREATE TABLE t AS SELECT i AS id, (i::int8 * 7919 % 1000)::int AS few, (i::int8 * 2654435761 % 4294967296 - 2147483648)::int AS many,
	i::int8 * 1e12::int8 AS big, CASE WHEN i % 3 > 0 THEN 'row ' || hashint4(i) END AS v FROM generate_series(1, $rows) i;
CREATE TABLE small AS SELECT i AS id, i * 7919 % 100 AS x, i * 104729 % 997 AS y, repeat('s', i % 40) AS v FROM generate_series(1, 1000) i;
ANALYZE t, small;
SQL
my $version = $node->safe_psql('postgres', "SELECT current_setting('server_version_num')::int / 10000");

# Temporary files there are, of any session.
sub temporary_files
{
	return $node->safe_psql('postgres', 'SELECT count(*) FROM pg_ls_tmpdir()');
}

# Waits until there is none, not even where the server is just restarting: then
# psql is turned away, and must not be handed its query by a pipe.
sub no_temporary_file_at_last
{
	my $until = time() + 180;

	while (time() < $until)
	{
		my ($files, $error) = run_command([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', 'SELECT count(*) FROM pg_ls_tmpdir()' ]);

		return 1 if $files eq '0' && $error eq '';
		usleep(50000);
	}
	return 0;
}

# A session of its own, which says "done" after each command.
my ($session, $in, $out, $err, $pid, $deadline);

sub connect_session
{
	($in, $out, $err) = ('', '', '');
	$deadline = IPC::Run::timer(300);	# for each statement anew
	$session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$out, '2>', \$err, $deadline);
	chomp($pid = run('SELECT pg_backend_pid()'));
	return;
}

sub begin_run
{
	my ($sql) = @_;
	$out = '';
	$err = '';
	$in .= "$sql\n;\n\\echo done\n";
	$deadline->start(300);
	$session->pump_nb;
	return;
}

sub end_run
{
	$session->pump until $out =~ s/^done\n//m || $deadline->is_expired;
	die "session hangs" if $deadline->is_expired;
	return $out;
}

sub run
{
	begin_run(@_);
	return end_run();
}

# A line of /proc/PID/status in kB, or undef where there is none.
sub status_kb
{
	my ($line) = @_;
	open(my $file, '<', "/proc/$pid/status") or return undef;
	return (map { /^$line:\s+(\d+) kB/ ? $1 : () } <$file>)[0];
}

connect_session();

# --- cancel, at any time of a sort of each kind

# Whether a sort began after the last cancel: only then is there who catches one.
sub begun
{
	my ($after) = $err =~ /^.*obeyed [^\n]*\n(.*)\z/s;
	return ($after // $err) =~ /starts/;
}

# How long each of several cancels took that are spread over the sort's time.
sub cancel_often
{
	my ($query, $full, $times) = @_;

	begin_run(<<"SQL");
DO \$\$ BEGIN
	FOR i IN 1 .. $times LOOP
		BEGIN
			LOOP
				RAISE INFO 'starts';
				PERFORM count(*) FROM ($query OFFSET 0) q;
			END LOOP;
		EXCEPTION WHEN query_canceled THEN
			RAISE INFO 'obeyed %', extract(epoch FROM clock_timestamp());
		END;
	END LOOP;
END \$\$
SQL
	my @latencies;
	for my $i (1 .. $times)
	{
		$session->pump until begun() || $deadline->is_expired;
		# spread over all of the sort: filling, writing, sorting, returning
		usleep(1e6 * $full * 0.95 * ($i - rand()) / $times);
		my $asked = $node->safe_psql('postgres', "SELECT extract(epoch FROM clock_timestamp()) FROM pg_cancel_backend($pid)");
		$session->pump until (() = $err =~ /obeyed .*\n/g) >= $i || $out =~ /done/ || $deadline->is_expired;
		my @obeyed = $err =~ /obeyed ([0-9.]+)/g;
		last if @obeyed < $i;
		push @latencies, $obeyed[ $i - 1 ] - $asked;
	}
	end_run();
	return sort { $a <=> $b } @latencies;
}

sub cancels
{
	my ($name, $settings, $query) = @_;
	my $times = 5;
	my @latencies;

	run($settings);
	my $start = time();
	run("SELECT count(*) FROM ($query OFFSET 0) q");
	my $full = time() - $start;
	is($err, '', "$name: runs");
	run('SELECT sum(total_bytes) FROM pg_backend_memory_contexts');
	my $before = run('SELECT sum(total_bytes) FROM pg_backend_memory_contexts');
	# A busy machine may stop everything for a second, but hardly in each of
	# three rounds; what does not look for a cancel is late in all of them.
	for my $round (1 .. 3)
	{
		@latencies = cancel_often($query, $full, $times);
		last if @latencies < $times || $latencies[-1] < 1;
	}
	diag(sprintf('%s: %.2f s, cancelled after %s ms', $name, $full, join ' ', map { sprintf '%.0f', $_ * 1000 } @latencies));
	is(scalar(@latencies), $times, "$name: cancelled") or diag($err);
	cmp_ok($latencies[-1], '<', 1, "$name: each within a second");
	is(temporary_files(), 0, "$name: no temporary file left");
	cmp_ok(run('SELECT sum(total_bytes) FROM pg_backend_memory_contexts') - $before, '<', 1 << 20, "$name: no memory left");
	return;
}

cancels('rows by counting', "SET work_mem = '512MB'", 'SELECT * FROM t ORDER BY few');
cancels('rows by sorting', "SET work_mem = '512MB'", 'SELECT * FROM t ORDER BY many DESC');
cancels('rows by long codes', "SET work_mem = '512MB'", 'SELECT * FROM t ORDER BY big DESC, many');
cancels('rows and comparison', "SET work_mem = '512MB'", 'SELECT * FROM t ORDER BY few, v');
cancels('one group and comparison', "SET work_mem = '512MB'", 'SELECT id, v FROM t ORDER BY id IS NULL, v');
cancels('keys', "SET work_mem = '64MB'", 'SELECT many FROM t ORDER BY many');
cancels('keys from rows', "SET work_mem = '64MB'", 'SELECT many + 0 AS k FROM t ORDER BY k');
cancels('rows on disk', "SET work_mem = '1MB'", 'SELECT * FROM t ORDER BY many');
cancels('rows on disk, two keys', "SET work_mem = '1MB'", 'SELECT * FROM t ORDER BY few, many');
cancels('rows on disk and comparison', "SET work_mem = '256kB'", 'SELECT id, v FROM t ORDER BY id IS NULL, v');
cancels('keys on disk', "SET work_mem = '1MB'", 'SELECT many FROM t ORDER BY many');
cancels('LIMIT', "SET work_mem = '64MB'", 'SELECT * FROM (SELECT * FROM t ORDER BY many LIMIT 100000) l');

# --- statement_timeout

for my $query ('SELECT * FROM t ORDER BY few', 'SELECT * FROM t ORDER BY many', 'SELECT many FROM t ORDER BY many')
{
	for my $memory ('1MB', '512MB')
	{
		# keys alone are sorted within 10 ms where nothing else is going on
		my $timeout = $query =~ /\*/ ? '10ms' : '2ms';
		# the best of a few, because the machine may have other things to do
		my $least = 1e12;

		run("SET work_mem = '$memory'");
		for (my $try = 1; $try <= 5 && $least > 1; $try++)
		{
			# ends with the transaction: a RESET could be too slow for it itself
			run("BEGIN; SET LOCAL statement_timeout = '$timeout'");
			my $start = time();
			run("SELECT count(*) FROM ($query OFFSET 0) a, (SELECT 1) b");
			my $took = time() - $start;
			$least = $took if $took < $least;
			like($err, qr/canceling statement due to statement timeout/, "statement_timeout: $query, $memory");
			run('ROLLBACK');
		}
		cmp_ok($least, '<', 1, 'honoured in time');
	}
}
is(temporary_files(), 0, 'no temporary file left');

# --- temporary files: limited, and logged, as core's

my %says;
for my $mode ('forbid', 'force')
{
	for my $query ('SELECT * FROM t ORDER BY few', 'SELECT many FROM t ORDER BY many', 'SELECT * FROM t ORDER BY few, v')
	{
		run("SET hpsort.debug_sort = $mode; SET work_mem = '1MB'; SET temp_file_limit = '1MB'");
		run("SELECT count(*) FROM ($query OFFSET 0) q");
		$says{$mode} = $err =~ s/^psql:.*?: //r;
		like($says{$mode}, qr/^ERROR:  temporary file size exceeds "?temp_file_limit"? \(1024kB\)\n\z/, "$mode: temp_file_limit: $query");
		is($says{$mode}, $says{forbid}, 'the same words') if $mode eq 'force';
		is(temporary_files(), 0, 'no temporary file left');
		run('RESET temp_file_limit');

		my $offset = -s $node->logfile;
		run("SET log_temp_files = 0; SELECT count(*) FROM ($query OFFSET 0) q; RESET log_temp_files");
		is($out, "$rows\n", 'and without limit all rows');
		like(slurp_file($node->logfile, $offset), qr/LOG:  temporary file: path "base\/pgsql_tmp\/pgsql_tmp$pid\.\d+", size \d{6,}/, "$mode: log_temp_files: $query");
	}
}
# as much as core's, and a fifth more at most
my %size;
for my $mode ('forbid', 'force')
{
	my $plan = run("SET hpsort.debug_sort = $mode; SET work_mem = '4MB'; EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM t ORDER BY many");

	like($plan, qr/temp read=\d+ written=\d+/, "$mode: BUFFERS");
	($size{$mode}) = $plan =~ /Disk: (\d+)kB/;
}
cmp_ok($size{force}, '<', 1.2 * $size{forbid}, 'no more on disk than core');
cmp_ok($size{force}, '>', 0.5 * $size{forbid}, 'all of it told');

# --- cursors: what is on disk outlives savepoints and commits as core's does

my $fetches = '';
for my $mode ('forbid', 'force')
{
	my $got = run(<<"SQL");
SET hpsort.debug_sort = $mode; SET work_mem = '64kB';
BEGIN;
DECLARE c CURSOR FOR SELECT id, many FROM t ORDER BY many;
SAVEPOINT a;
FETCH 3 FROM c;
ROLLBACK TO a;
FETCH 3 FROM c;
SAVEPOINT b;
DECLARE d CURSOR WITH HOLD FOR SELECT many FROM t WHERE id < 100000 ORDER BY many DESC;
FETCH 2 FROM d;
RELEASE b;
MOVE FORWARD @{[ int($rows * 0.7) ]} FROM c;
FETCH 2 FROM c;
COMMIT;
FETCH 2 FROM d;
CLOSE d;
BEGIN;
SAVEPOINT a;
DECLARE c SCROLL CURSOR FOR SELECT id, many FROM t WHERE id < 50000 ORDER BY many;
FETCH LAST FROM c;
ROLLBACK TO a;
COMMIT;
DO \$\$ DECLARE r record; n int := 0; BEGIN
	FOR r IN SELECT many FROM t WHERE id < 60000 ORDER BY many LOOP
		n := n + 1;
		IF n % 20000 = 0 THEN COMMIT; RAISE INFO '% %', n, r.many; END IF;
	END LOOP;
END \$\$
SQL
	$got .= $err;
	$fetches = $got if $mode eq 'forbid';
	is($got, $fetches, 'cursors');
}
like($fetches, qr/\d+\|.*INFO: +40000/s, 'cursors return something');
is(temporary_files(), 0, 'no temporary file left');

# --- rescans give back what they took

for my $case (
	[ 'keys', '4MB', 'SELECT x FROM small WHERE id <> g ORDER BY x OFFSET 3' ],
	[ 'rows', '4MB', 'SELECT * FROM small WHERE id <> g ORDER BY x, y OFFSET 3' ],
	[ 'LIMIT', '4MB', 'SELECT * FROM small WHERE id <> g ORDER BY x LIMIT 5' ],
	[ 'comparison', '4MB', 'SELECT * FROM small WHERE id <> g ORDER BY x, v OFFSET 3' ],
	[ 'rows on disk', '64kB', 'SELECT *, v AS w, v AS z FROM small WHERE id <> g ORDER BY y OFFSET 3' ])
{
	my ($name, $memory, $query) = @$case;
	my @peak;

	$session->finish if $in .= "\\q\n";
	connect_session();
	run("SET work_mem = '$memory'; SET enable_material = off; SET jit = off");
	like(run("EXPLAIN (COSTS OFF) SELECT count(*) FROM generate_series(1, 10) g, LATERAL ($query) s"), qr/HpSort/, "rescans, $name: plan");
	for my $times (500, $memory eq '64kB' ? 2000 : at_length(6000, 20000))
	{
		my $n = run("SELECT count(s) > 0 FROM generate_series(1, $times) g, LATERAL ($query) s");
		is($n, "t\n", "rescans, $name: $times");
		push @peak, status_kb('VmHWM');
	}
	SKIP:
	{
		skip 'no /proc', 1 unless defined $peak[1];
		note("rescans, $name: $peak[0] kB, $peak[1] kB");
		# a huge page that the kernel makes of small ones meanwhile is 2 MB of it
		cmp_ok($peak[1] - $peak[0], '<', 4096, "rescans, $name: no memory stays");
	}
}
is(temporary_files(), 0, 'no temporary file left');

# --- sessions that end while rows are on disk

for my $signal ('TERM', 'KILL')
{
	for my $query ('SELECT * FROM t ORDER BY few', 'SELECT many + 0 AS k FROM t ORDER BY k')
	{
		my $max = 0;

		run("SET work_mem = '64kB'");
		begin_run("SELECT count(*) FROM generate_series(1, 100) g, LATERAL (SELECT g, q.* FROM ($query) q OFFSET g) s");
		for (1 .. 1000)
		{
			$max = $node->safe_psql('postgres', "SELECT coalesce(max(size), 0) FROM pg_ls_tmpdir() WHERE name LIKE 'pgsql_tmp$pid%'");
			last if $max > 1000000;
			usleep(5000);
		}
		cmp_ok($max, '>', 1000000, "$signal: in the middle of writing, $query");
		if ($signal eq 'TERM')
		{
			$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
		}
		else
		{
			kill 'KILL', $pid;
		}
		eval { $session->finish };
		like($err, qr/terminating connection due to administrator command|server closed the connection unexpectedly/, 'session gone');
		ok(no_temporary_file_at_last(), "$signal: no temporary file left");
		connect_session();
		is(run('SELECT count(*) FROM (SELECT * FROM small ORDER BY x OFFSET 0) q'), "1000\n", 'server usable');
	}
}

# --- EXPLAIN in all formats, with all options

# What opens is closed, in the order of XML.
sub balanced
{
	my ($xml) = @_;
	my @open;

	while ($xml =~ /<(\/?)([^\s>\/]+)[^>]*?(\/?)>/g)
	{
		next if $3;
		if ($1) { return 0 if (pop(@open) // '') ne $2; }
		else { push @open, $2; }
	}
	return @open == 0;
}

my @queries = (
	[ 'SELECT * FROM small ORDER BY x', '4MB' ], [ 'SELECT x FROM small ORDER BY x DESC', '4MB' ], [ 'SELECT * FROM small ORDER BY x, y, v', '4MB' ],
	[ 'SELECT * FROM small ORDER BY y DESC LIMIT 7', '4MB' ], [ 'SELECT *, v AS a, v AS b FROM small TABLESAMPLE system (100) ORDER BY y, v', '64kB' ],
	[ 'SELECT x, count(*) AS n FROM small GROUP BY x ORDER BY n', '4MB' ]);
for my $query (@queries)
{
	my ($sql, $memory) = @$query;

	for my $options ('', 'ANALYZE', 'VERBOSE', 'ANALYZE, BUFFERS, VERBOSE', 'ANALYZE, TIMING OFF, SUMMARY OFF, SETTINGS', 'ANALYZE, WAL')
	{
		my $list = join ', ', grep { $_ } $options, 'COSTS ' . (rand() < 0.5 ? 'on' : 'off');
		my $analyze = $options =~ /ANALYZE/;

		# Rows that stay in place may fit into the little memory; copied ones, as those of a sample, do not.
		run("SET work_mem = '$memory'");
		my $text = run("EXPLAIN ($list) $sql");
		like($text, qr/Custom Scan \(HpSort\).*\n(.*\n)*? +Sort Key: /, "EXPLAIN ($list) $sql");
		like($text, qr/Sort Method: \S.* on cpu  (Memory|Disk): \d+kB\n +Keys: \d+/, 'how it was sorted') if $analyze;
		unlike($text, qr/Sort Method/, 'not sorted') if !$analyze;
		like($text, qr/Disk: .*\n.*Segments: \d+/, 'segments') if $analyze && $memory eq '64kB';
		like($text, qr/Reason: \S/, 'why') if $analyze && $options =~ /VERBOSE/;

		my $json = eval { decode_json(run("EXPLAIN ($list, FORMAT json) $sql")) };
		ok(defined $json, "$list: valid json") or diag($out);
		my $plan = $json->[0]{Plan};
		$plan = $plan->{Plans}[0] while $plan && ($plan->{'Custom Plan Provider'} // '') ne 'HpSort';
		is(ref $plan->{'Sort Key'}, 'ARRAY', 'json: keys');
		is(join(' ', map { exists $plan->{$_} ? 1 : 0 } 'Sort Method', 'Sort Device', 'Sort Space Used', 'Sort Space Type', 'Keys', 'Reason'),
			join(' ', (($analyze ? 1 : 0)) x 6), 'json: how');
		my $xml = run("EXPLAIN ($list, FORMAT xml) $sql");
		ok(balanced($xml), "$list: valid xml");
		like($xml, qr/<Sort-Key>\s*<Item>/, 'xml: keys');
		my $yaml = run("EXPLAIN ($list, FORMAT yaml) $sql");
		like($yaml, qr/Custom Plan Provider: "HpSort"(.*\n)*? +Sort Key: *\n +- "/, "$list: yaml");
	}
}

# --- what each worker did

run(<<'SQL');
SET work_mem = '512MB'; SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
SET hpsort.debug_sort = allow;
SQL
for my $memory ('512MB', '1MB')
{
	run("SET work_mem = '$memory'");
	for my $query ('SELECT * FROM t ORDER BY few', 'SELECT v, many FROM t ORDER BY many', 'SELECT many FROM t ORDER BY many LIMIT 1000 OFFSET 10')
	{
		# keys without rows are cheaper to sort than to merge, unless most of them stay in the workers
		my $limit = $query =~ /LIMIT/;

		run('SET parallel_tuple_cost = ' . ($limit ? 1 : 0));
		my $text = run("EXPLAIN (ANALYZE, VERBOSE) $query");

		if ($text !~ /Gather Merge(.*\n)*.*HpSort/)
		{
			fail("$query, $memory: in workers");
			diag($text);
			next;
		}
		my $keys = 0;
		$keys += $_ for $text =~ /Keys: (\d+)/g;
		is($keys, $rows, "$query, $memory: all keys are counted, of the leader and of workers") or diag($text);
		like($text, qr/Worker 0:\s+Sort Method:/, 'worker by worker');
		my $json = decode_json(run("EXPLAIN (ANALYZE, FORMAT json) $query"));
		my $plan = $json->[0]{Plan};
		$plan = $plan->{Plans}[0] while $plan && ($plan->{'Custom Plan Provider'} // '') ne 'HpSort';
		is(ref $plan->{'Sort Workers'}, 'ARRAY', 'json: workers');
		ok(balanced(run("EXPLAIN (ANALYZE, FORMAT xml) $query")), 'xml: workers');
		like(run("EXPLAIN (ANALYZE, FORMAT yaml) $query"), qr/Sort Workers:/, 'yaml: workers');
		is(run($limit ? "SELECT md5(string_agg(many::text, ' ')) FROM ($query) q" : "SELECT count(*) FROM ($query OFFSET 0) q"),
			$limit ? run("SET hpsort.debug_sort = forbid; SELECT md5(string_agg(many::text, ' ')) FROM ($query) q; RESET hpsort.debug_sort; SET hpsort.debug_sort = allow")
				: "$rows\n", 'all rows');
	}
}
is(run("SELECT count(*) FROM generate_series(1, 4) g, LATERAL (SELECT few + g FROM t WHERE id % 3 = 0 ORDER BY few OFFSET g) q"), (4 * int($rows / 3) - 10) . "\n", 'rescans with workers');

# --- JIT

is(run("SET jit_above_cost = 0; SET jit_inline_above_cost = 0; SET jit_optimize_above_cost = 0; SET hpsort.debug_sort = force; SET max_parallel_workers_per_gather = 0;
	SELECT md5(string_agg(q::text, '')) FROM (SELECT * FROM small ORDER BY x % 10, y, id) q"),
	run("SET jit = off; SELECT md5(string_agg(q::text, '')) FROM (SELECT * FROM small ORDER BY x % 10, y, id) q"), 'JIT');

$in .= "\\q\n";
$session->finish;
$node->stop;
is(join('', grep { /PANIC:|TRAP:|temporary file leak|resource was not closed|still referenced|signal (?!9:)\d+: / } split /^/m, slurp_file($node->logfile)), '', 'nothing else in the log');
done_testing();
