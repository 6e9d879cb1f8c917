# The life of the GPU service: started on demand or with the server, one in a
# cluster, restarted, reloaded, stopped, and gone with the server in any case.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Cwd ();
use IO::Socket::UNIX;
use GpuService;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_server('service');
make_keys($node);
my %checks = checks();
my ($rc, $out, $err);
my $tries;

# The result of a query and the device of its sort, in a new session in which "auto"
# should use the service.  "auto" does so if the service greets within 250 ms: on a
# busy machine several sessions may have to try.  Of a session that leaves at once the service
# may see the end of the connection before the end of the job, which counts as done all the same.
sub where_auto_sorts
{
	my ($sql) = @_;
	my $said;

	for ($tries = 1; $tries <= 5; $tries++)
	{
		$said = $node->safe_psql('postgres', "$sql; SELECT device || coalesce(substring(reason FROM ' did not answer in time'), '') FROM hpsort_last()");
		last if $said !~ /did not answer in time$/;
	}
	return $said;
}

# The error of a statement, after as many tries.
sub why_not
{
	my ($sql) = @_;

	for (1 .. 5)
	{
		($rc, $out, $err) = $node->psql('postgres', $sql);
		last if $err !~ /did not answer in time/;
	}
	return $err;
}

# No service runs before it is needed, and hpsort_devices() does not start it.
is(service($node, 'state, pid, jobs, fallbacks'), 'stopped||0|0', 'not started');
is($node->safe_psql('postgres', "SELECT usable, state FROM hpsort_devices() WHERE device = 'gpu'"), 'f|stopped', 'not by hpsort_devices() either');
is($node->safe_psql('postgres', 'SELECT hpsort(ARRAY[3,1,2])'), '{1,2,3}', 'a small sort');
is(scalar(services_alive($node)), 0, 'has no use for it');

# "auto" has the service started, and does not wait for it.
$out = $node->safe_psql('postgres', "$checks{array}; SELECT device, reason FROM hpsort_last()");
like($out, qr/^t\ncpu\|.*; no GPU: GPU service is (starting|not running)/, 'auto: the CPU answers meanwhile');
ok(wait_for('started on demand', sub { service($node, 'state') eq 'running' }), 'started on demand');
is(where_auto_sorts($checks{array}), "t\ngpu", 'auto: in a new session, at once');
is(service($node, 'jobs, keys, bytes_sent, fallbacks, not_running'), "1|200000|800000|$tries|1", 'counted');
ok(settled($node), 'no job left');
is($node->safe_psql('postgres', "SELECT usable, state, reason, jobs, jobs_running FROM hpsort_devices() WHERE device = 'gpu'"), 't|ready||1|0', 'its device');
is(scalar(services_alive($node)), 1, 'one service');

# With hpsort.device = gpu every function uses the service, and hpsort_last() says so.
foreach my $name (sort keys %checks)
{
	foreach my $device (qw(auto gpu))
	{
		is(where_auto_sorts("SET hpsort.device = $device; $checks{$name}"), "t\ngpu", "$name, $device");
	}
}
# Keys that the CPU would have counted, and small groups
$out = $node->safe_psql('postgres', q{SET hpsort.device = gpu;
	SELECT hpsort_agg(x % 100) = array_agg(x % 100 ORDER BY x % 100) FROM many; SELECT device FROM hpsort_last();
	SELECT bool_and(a = b), count(*) FROM (SELECT hpsort_agg(x) a, array_agg(x ORDER BY x) b FROM (SELECT x FROM many LIMIT 3000) t GROUP BY x % 200) t;
	SELECT device FROM hpsort_last();
	SELECT bool_and(a = b) FROM (SELECT x, hpsort_agg(x) OVER w a, array_agg(x) OVER w b FROM generate_series(1, 30) x WINDOW w AS (ORDER BY x)) t;
	SELECT hpsort(ARRAY[]::int[], 1, 2), hpsort_order('{}'), hpsort(ARRAY[NULL, 5, NULL]::int[])});
like($out, qr/^t\ngpu\nt\|\d+\ngpu\nt\n\{\}\|\{\}\|\{5,NULL,NULL\}$/, 'gpu: what the CPU would have counted');
# In two groups at once, each large enough to be streamed
is($node->safe_psql('postgres', q{SELECT bool_and(a = b), count(*) FROM
	(SELECT hpsort_agg(x) a, array_agg(x ORDER BY x) b FROM (SELECT x, i % 2 AS g FROM many, generate_series(0, 3) i) t GROUP BY g) t}), 't|2', 'two streams');
# While keys are streamed, a query for the devices or a new timeout leaves the client alone
$out = $node->safe_psql('postgres', q{SET hpsort.device = gpu;
	SELECT hpsort_agg(x) = (SELECT array_agg(hashint4(i) ORDER BY hashint4(i)) FROM generate_series(1, 2900000) i)
	FROM (SELECT hashint4(i) AS x, CASE WHEN i % 400000 = 0
		THEN set_config('hpsort.gpu_wait_timeout', (i / 100000) || 's', false) || (SELECT count(d) FROM (SELECT hpsort_devices() AS d OFFSET 0) s WHERE i > 0) END AS y
		FROM generate_series(1, 2900000) i) t WHERE y IS NULL OR y <> ''; SELECT device FROM hpsort_last()});
is($out, "t\ngpu", 'devices in the middle of a stream');
# Parallel workers send keys to the leader, who has them sorted
$out = $node->safe_psql('postgres', q{SET hpsort.device = gpu; SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
	SELECT hpsort_agg(x) = (SELECT s FROM many_sorted) FROM many; SELECT device FROM hpsort_last();
	SELECT hpsort_agg(x % 10) = (SELECT array_agg(x % 10 ORDER BY x % 10) FROM many) FROM many; SELECT device FROM hpsort_last()});
is($out, "t\ngpu\nt\ngpu", 'gpu: parallel');
# The service's device, too, uses a forced algorithm, or says why it cannot.
foreach my $device (qw(auto gpu))
{
	my $set = "SET hpsort.device = $device; SET hpsort.algorithm =";
	my $used = $device eq 'gpu' ? 'algorithm || device' : "algorithm || 'gpu'";

	foreach my $algorithm (qw(hp one_hp zero_compressed_published bucket_radix comparison_free comparison_free_onehot bucket_bitonic))
	{
		$out = $node->safe_psql('postgres', "$set $algorithm; SELECT hpsort(ARRAY[3,1,2]); SELECT $used FROM hpsort_last()");
		is($out, "{1,2,3}\n${algorithm}gpu", "$algorithm, $device: used");
	}
	foreach my $algorithm (qw(hp one_hp zero_compressed_published bucket_radix comparison_free))
	{
		like(why_not("$set $algorithm; SELECT hpsort_order(ARRAY[3,1,2])"), qr/ERROR:  algorithm "$algorithm" cannot return a permutation/, "$algorithm, $device: no permutation");
	}
	foreach my $algorithm (qw(comparison_free_onehot bucket_bitonic))
	{
		is($node->safe_psql('postgres', "$set $algorithm; SELECT hpsort_order(ARRAY[3,1,2,1])"), '{2,4,3,1}', "$algorithm, $device: permutation");
	}
	like(why_not("$set one_hp; SELECT hpsort(ARRAY[3,1,3])"), qr/ERROR:  key 3 occurs more than once, and one_hp sorts distinct keys only/, "one_hp, $device: a duplicate");
	like(why_not("$set hp; SELECT hpsort(ARRAY[2147483647,-2147483648])"), qr/ERROR:  algorithm "hp" needs 34359738380 bytes of memory for 2 keys/, "hp, $device: too much memory");
	foreach my $algorithm (qw(radix comparison_free zero_compressed))
	{
		$out = $node->safe_psql('postgres', "$set $algorithm; SELECT hpsort(array_agg(x % 1000)) = array_agg(x % 1000 ORDER BY x % 1000) FROM many; SELECT algorithm FROM hpsort_last()");
		is($out, "t\n$algorithm", "$algorithm, $device: used");
	}
}
ok(settled($node), 'no job left');

# Only roles with the privilege can reset the statistics.
$node->safe_psql('postgres', 'CREATE ROLE somebody LOGIN');
is($node->safe_psql('postgres', 'SET ROLE somebody; SELECT jobs > 0 FROM hpsort_stat_gpu'), 't', 'statistics are for everybody');
($rc, $out, $err) = $node->psql('postgres', 'SET ROLE somebody; SELECT hpsort_stat_gpu_reset()');
like($err, qr/permission denied for function hpsort_stat_gpu_reset/, 'resetting them is not');
$node->safe_psql('postgres', 'SELECT hpsort_stat_gpu_reset()');
is(service($node, 'jobs, keys, bytes_sent, bytes_received, fallbacks, stats_reset > now() - interval \'1 minute\''), '0|0|0|0|0|t', 'reset');

# Only the owner may use the socket.
my $socket = $node->data_dir . '/pg_stat_tmp/hpsort_gpu.sock';
ok(-S $socket, 'socket in the data directory');
is(sprintf('%o', (stat($socket))[2] & 0777), '600', 'for its owner only');

# A reload with other settings replaces the service, one with the same does not.
my $pid = service($node, 'pid');
$node->reload;
sleep 0.3;
is(service($node, 'pid'), $pid, 'reload: the same settings, the same service');
configure($node, 'hpsort.gpu_pinned_memory' => '16MB');
isnt(wait_running($node), $pid, 'reload: another service');
my ($alive) = services_alive($node);
like(slurp_file("/proc/$alive/cmdline"), qr/--pinned-memory.16777216\b/, 'with the new settings');
($rc, $out, $err) = $node->psql('postgres', "LOAD 'hpsort'; ALTER SYSTEM SET hpsort.gpu_devices = '0;rm'");
like($err, qr/invalid value for parameter "hpsort.gpu_devices".*DETAIL:  It must be "auto" or a list/s, 'devices are checked');
($rc, $out, $err) = $node->psql('postgres', q{LOAD 'hpsort'; SET hpsort.gpu = off});
like($err, qr/parameter "hpsort.gpu" cannot be changed now/, 'and the service is the cluster\'s');

# hpsort.gpu is switched off, and on again.
configure($node, 'hpsort.gpu' => 'off');
ok(wait_for('switched off', sub { !services_alive($node) }), 'hpsort.gpu = off stops it');
$out = $node->safe_psql('postgres', "$checks{array}; SELECT device, reason FROM hpsort_last()");
like($out, qr/^t\ncpu\|(?!.*GPU)/, 'auto: not even mentioned');
foreach my $name (sort keys %checks)
{
	($rc, $out, $err) = $node->psql('postgres', "SET hpsort.device = gpu; $checks{$name}");
	like($err, qr/device "gpu" is not available.*DETAIL:  The setting hpsort.gpu is off.*HINT:  Set hpsort.device to "auto"/s, "gpu, $name: an error");
}
is($node->safe_psql('postgres', "SELECT usable, state, reason FROM hpsort_devices() WHERE device = 'gpu'"), 'f|off|the setting hpsort.gpu is off', 'hpsort_devices() says it, too');
configure($node, 'hpsort.gpu' => 'on');
$pid = wait_running($node);

# A host without GPU or driver: the service tries once, and once more after a reload.
configure($node, stub => 'devices:0');
ok(wait_for('no device', sub { service($node, 'state') eq 'no device' }), 'no device') or diag(service($node, '*'));
ok(wait_for('no worker', sub { supervisors_alive($node) == 0 }), 'and no worker');
$out = $node->safe_psql('postgres', "$checks{array}; SELECT device, reason FROM hpsort_last()");
like($out, qr/^t\ncpu\|.*; no GPU: no NVIDIA driver/, 'auto: the reason');
my $log = -s $node->logfile;
$node->safe_psql('postgres', "SET hpsort.device = auto; $checks{array}") for 1 .. 3;
unlike(substr(slurp_file($node->logfile), $log), qr/GPU service/, 'not probed again');
($rc, $out, $err) = $node->psql('postgres', "SET hpsort.device = gpu; $checks{array}");
like($err, qr/device "gpu" is not available.*DETAIL:  No NVIDIA driver/s, 'gpu: an error, at once');
configure($node, stub => '');
wait_running($node);
is(service($node, 'state'), 'running', 'probed again after a reload');

# The service is terminated: the supervisor starts another one, and counts restarts.
$pid = wait_running($node);
my $restarts = service($node, 'restarts');
kill 'KILL', $pid;
ok(wait_for('restarted', sub { service($node, 'restarts') > $restarts && service($node, 'state') eq 'running' }), 'restarted after kill -9');
isnt(service($node, 'pid'), $pid, 'as another process');
is($node->safe_psql('postgres', "SET hpsort.device = gpu; $checks{array}"), 't', 'and it sorts');

# The supervisor is terminated: the service ends with it.
my $supervisor = (split ' ', slurp_file('/proc/' . service($node, 'pid') . '/stat') =~ s/^.*\) //sr)[1];
kill 'TERM', $supervisor;
ok(wait_for('terminated', sub { service($node, 'state') eq 'stopped' && !services_alive($node) }), 'supervisor terminated');
ok(!-e $socket, 'the socket is gone');
wait_running($node);

# Another program listens at the socket's path.
configure($node, 'hpsort.gpu' => 'off');
wait_for('off', sub { !services_alive($node) });
unlink $socket;
my $cwd = Cwd::getcwd();
chdir($node->data_dir) or die;	# a path from here has no length to fear
my $squatter = IO::Socket::UNIX->new(Local => 'pg_stat_tmp/hpsort_gpu.sock', Listen => 5) or die "$socket: $!";
chdir($cwd) or die;
configure($node, 'hpsort.gpu' => 'on');
$out = $node->safe_psql('postgres', "$checks{array}; SELECT device, reason FROM hpsort_last()");
like($out, qr/^t\ncpu\|/, 'socket path occupied: auto');
ok(wait_for('found out', sub { $node->safe_psql('postgres', "SELECT reason FROM hpsort_devices() WHERE device = 'gpu'") =~ /could not listen/ }), 'socket path occupied: said');
($rc, $out, $err) = $node->psql('postgres', "SET hpsort.gpu_wait_timeout = '300ms'; SET hpsort.device = gpu; $checks{array}");
like($err, qr/device "gpu" is not available.*DETAIL:  .*(could not listen|starting)/is, 'socket path occupied: gpu');
close($squatter);
unlink $socket;
wait_running($node);

# The least memory there can be.
configure($node, 'hpsort.gpu_pinned_memory' => '1MB');
wait_running($node);
is($node->safe_psql('postgres', "SET hpsort.device = gpu; $checks{$_}"), 't', "$_ through a single chunk") foreach sort keys %checks;
configure($node, 'hpsort.gpu_pinned_memory' => '32MB');
wait_running($node);

# Fast and immediate shutdown: no process and no file is left.
foreach my $mode (qw(fast immediate))
{
	wait_running($node);
	$node->stop($mode);
	ok(wait_for("gone after $mode shutdown", sub { !services_alive($node) }), "$mode shutdown: no process left");
	ok(!-e $socket, "$mode shutdown: no socket left") if $mode eq 'fast';
	$node->start;
}

# The supervisor is killed: the server restarts all its processes, as for any other
# one, and there is one service again when it is needed.
wait_running($node);
$supervisor = (split ' ', slurp_file('/proc/' . service($node, 'pid') . '/stat') =~ s/^.*\) //sr)[1];
$log = -s $node->logfile;
kill 'KILL', $supervisor;
ok(wait_for('supervisor killed', sub { !services_alive($node) }), 'supervisor killed: no service left');
# a session that connects before the restart is thrown out
ok(wait_for('restart', sub { slurp_file($node->logfile, $log) =~ /reinitializing/ }), 'the server restarts its processes');
ok(wait_server($node), 'the server is back');
wait_running($node);
is(scalar(services_alive($node)), 1, 'one service again');
$node->stop;

# The postmaster is killed. It is our child here: a zombie would hold its data directory.
my $postmaster = fork() // die $!;
if ($postmaster == 0)
{
	open(STDOUT, '>>', $node->logfile);
	open(STDERR, '>&', \*STDOUT);
	exec($node->config_data('--bindir') . '/postgres', '-D', $node->data_dir) or POSIX::_exit(1);
}
ok(wait_server($node), 'started');
wait_running($node);
my $session = open_session($node);
run($session, "SET hpsort.device = gpu; $checks{array}");
kill 'KILL', $postmaster;
waitpid($postmaster, 0);
ok(wait_for('postmaster killed', sub { !services_alive($node) }), 'postmaster killed: no service left');
$session->{run}->kill_kill;
# as long as one of its processes lives, no other server starts there
ok(wait_for('postmaster killed', sub { !processes_alive($node, qr/./) }), 'nor any other process');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'hpsort'\n");
$node->start;
is($node->safe_psql('postgres', $checks{array}), 't', 'and the next server serves');

# Preloaded: the service runs before a session needs it.
ok(wait_for('preloaded', sub { service($node, 'state') eq 'running' }), 'preloaded: started with the server');
is(scalar(services_alive($node)), 1, 'one service');
is(where_auto_sorts($checks{array}), "t\ngpu", 'the first query of all uses it');
$node->stop;

# A server that pg_upgrade starts runs no service.
my $bindir = $node->config_data('--bindir');
system_or_bail("$bindir/pg_ctl", '-D', $node->data_dir, '-l', $node->logfile, '-w', '-o', '-b', 'start');
sleep 0.5;
is(scalar(services_alive($node)), 0, 'binary upgrade mode: no service');
system_or_bail("$bindir/pg_ctl", '-D', $node->data_dir, '-m', 'fast', '-w', 'stop');
is(scalar(services_alive($node)), 0, 'nothing left at the end');

unlike(slurp_file($node->logfile), qr/PANIC:|TRAP:/, 'no crash in the log');
done_testing();
