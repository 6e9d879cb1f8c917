# Out of memory is an error like any other: reported as such, the session and
# the server go on, and what was taken is given back.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run ();
use Test::More;

plan skip_all => 'needs /proc and prlimit' unless -r '/proc/self/status' && `prlimit --version 2>/dev/null`;

my $node = new_cluster('memory');
$node->append_conf('postgresql.conf', "max_parallel_workers_per_gather = 0\nautovacuum = off\njit = off\nhpsort.enable_sort = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION hpsort');
my $postmaster = slurp_file($node->data_dir . '/postmaster.pid');

my ($in, $out, $err) = ('', '', '');
my $session = IPC::Run::start(
	[ 'psql', '-XAtq', '-v', 'VERBOSITY=verbose', '-d', $node->connstr('postgres') ],
	'<', \$in, '>', \$out, '2>', \$err,
	my $deadline = IPC::Run::timer(300));

sub run
{
	my ($sql) = @_;
	$out = $err = '';
	$in .= "$sql\n;\n\\echo done\n";
	$deadline->start(300);
	$session->pump until $out =~ s/^done\n//m || $deadline->is_expired;
	die "session hangs at: $sql" if $deadline->is_expired;
	return $out;
}
chomp(my $pid = run('SELECT pg_backend_pid()'));

# Lets the session grow by so many megabytes, or without a limit.
sub limit
{
	my ($megabytes) = @_;
	my ($size) = slurp_file("/proc/$pid/limits") =~ /^Max address space\s+\S+\s+(\S+)/m;
	if (defined $megabytes)
	{
		my ($kb) = slurp_file("/proc/$pid/status") =~ /^VmSize:\s+(\d+) kB/m;
		$size = ($kb + 1024 * $megabytes) * 1024;
	}
	system_or_bail('prlimit', '--pid', $pid, "--as=$size:");
}
sub memory { return run('SELECT sum(total_bytes) FROM pg_backend_memory_contexts'); }

# What a session keeps anyway
run(q{SELECT hpsort('{2,1}'), hpsort_order('{2,1}'); SELECT hpsort_agg(hashint4(i)) FROM (SELECT generate_series(1, 10) AS i) s;
	SELECT hpsort_runs_agg(i) FROM (SELECT generate_series(1, 10) AS i) s; SELECT hpsort_query('SELECT generate_series(1, 10)');
	SELECT hpsort_set('{2,1}'); SELECT hpsort_runs('{2,1}')});
memory();
run('SELECT 1/0');
my $before = memory();

sub fails
{
	my ($name, $query, $megabytes, $by, %set) = @_;
	run(join ';', map { "SET $_ = $set{$_}" } sort keys %set);
	limit($megabytes);
	run($query);
	my $result = $err;
	is(run(q{SELECT hpsort('{3,1,2}'), (SELECT hpsort_agg(x) FROM generate_series(1, 3) x)}),
		"{1,2,3}|{1,2,3}\n", "$name: session usable") unless $set{'hpsort.algorithm'};
	limit();
	like($result, qr/ERROR:  53200: out of memory/, "$name: out of memory") or diag($out);
	like($result, qr/DETAIL:  hpsort could not get memory for its keys/, "$name: in the sorter") if $by eq 'sorter';
	run(join ';', map { "RESET $_" } sort keys %set);
	cmp_ok(memory() - $before, '<', 1 << 20, "$name: nothing left behind");
}

my $rows = '(SELECT generate_series(1, 60000000) AS i) s';
fails('hpsort_agg', "SELECT hpsort_agg(hashint4(i)) FROM $rows", 40, 'sorter');
fails('hpsort_agg, groups', "SELECT i % 2, hpsort_agg(hashint4(i)) FROM $rows GROUP BY 1", 60, 'anyone');
fails('hpsort_runs_agg', "SELECT hpsort_runs_agg(hashint4(i)) FROM $rows", 40, 'sorter');
fails('hpsort_query', "SELECT hpsort_query('SELECT hashint4(i) FROM (SELECT generate_series(1, 60000000) AS i) s') LIMIT 1", 40, 'sorter');

# Few keys, many counters
my %counting = ('hpsort.algorithm' => 'zero_compressed');
my %free = ('hpsort.algorithm' => 'comparison_free');
my $apart = q{'{0,60000000}'};
fails('hpsort, zero_compressed', "SELECT hpsort($apart)", 100, 'sorter', %counting);
fails('hpsort, comparison_free', "SELECT hpsort($apart)", 100, 'sorter', %free);
fails('hpsort_order, zero_compressed', "SELECT hpsort_order($apart)", 100, 'sorter', %counting);
fails('hpsort_set, zero_compressed', "SELECT hpsort_set($apart)", 100, 'sorter', %counting);
fails('hpsort_runs, zero_compressed', "SELECT hpsort_runs($apart)", 100, 'sorter', %counting);
fails('hpsort_agg, zero_compressed', "SELECT hpsort_agg(i) FROM (VALUES (0), (60000000)) v(i)", 100, 'sorter', %counting);
fails('hpsort_agg, comparison_free', "SELECT hpsort_agg(i) FROM (VALUES (0), (60000000)) v(i)", 100, 'sorter', %free);

# An error caught is an error survived, again and again
limit(60);
run("DO \$\$ BEGIN FOR attempt IN 1 .. @{[ at_length(5, 20) ]} LOOP BEGIN PERFORM hpsort_agg(hashint4(i)) FROM $rows;
	RAISE INFO 'no error'; EXCEPTION WHEN out_of_memory THEN NULL; END; END LOOP; RAISE INFO 'survived'; END \$\$");
limit();
like($err, qr/survived/, 'caught in PL/pgSQL');
unlike($err, qr/no error/, 'each time');
cmp_ok(memory() - $before, '<', 1 << 20, 'nothing left behind');

# Threads that cannot be started are done without.
run("CREATE TEMP TABLE big AS SELECT array_agg((i * 7919 % 65536)::int4) AS a FROM generate_series(1, 1000000::int8) i;
	CREATE TEMP TABLE core AS SELECT array_agg(x ORDER BY x) AS a FROM big, unnest(big.a) x; SELECT count(a) FROM big");
run('SET hpsort.algorithm = comparison_free; SET max_parallel_workers_per_gather = 999');
is(run('SELECT hpsort(big.a) = core.a FROM big, core'), "t\n", 'as many threads as wanted');
is(run("SELECT threads - least(3, substring(name FROM '^[0-9]+')::int) FROM hpsort_last(), hpsort_devices() d WHERE d.device = 'cpu'"), "0\n", 'and as pay');
limit(40);
my $result = run('SELECT hpsort(big.a) = core.a FROM big, core');
limit();
is($result, "t\n", 'threads without memory for them') or diag($err);

# Enough memory, and the same works.
run('RESET hpsort.algorithm; RESET max_parallel_workers_per_gather');
is(run('SELECT cardinality(hpsort_agg(hashint4(i))) FROM (SELECT generate_series(1, 3000000) AS i) s'), "3000000\n", 'works with memory');
is(run('SELECT pg_backend_pid()'), "$pid\n", 'the same session');
is(slurp_file($node->data_dir . '/postmaster.pid'), $postmaster, 'the same server');

$in .= "\\q\n";
$session->finish;
$node->stop;
is(join('', grep { /WARNING:|PANIC:|TRAP:|terminated by signal/ } split /^/m, slurp_file($node->logfile)), '', 'no crash in the log');

done_testing();
