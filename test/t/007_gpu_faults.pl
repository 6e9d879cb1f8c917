# The GPU service commits each fault at each point.  Sessions get the right answer from
# the CPU with the reason, or an error under hpsort.device = gpu; the same session goes
# on, and no descriptor, memory or process is left behind.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use GpuService;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

only_at_length('faults');

# Timeouts are short only where a test waits in vain: on a busy machine a service that
# is well may not answer for a while.
my $patience = '20s';
my $node = new_server('faults', "hpsort.gpu_wait_timeout = '$patience'", "max_connections = 130");
make_keys($node);
my %checks = checks();
wait_running($node);
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
my $session = open_session($node);

# Sorts by both settings first: the descriptors that a session keeps open are counted after them.
foreach my $device (qw(gpu auto))
{
	run($session, "SET hpsort.device = $device");
	run($session, $checks{$_}) foreach sort keys %checks;
}
my $descriptors = descriptors($session->{pid}, qr/socket|memfd/);

sub memory { return run($session, 'SELECT sum(total_bytes) FROM pg_backend_memory_contexts'); }
memory();
my $memory = memory();

# The faults, where each is committed, and what is said of it.
my $lost = qr/GPU service closed the connection|lost the connection to the GPU service|no connection to the GPU service|GPU service (is|was)/;
my $bad = qr/bad message from the GPU service|$lost/;
my $late = qr/did not answer in time/;
my @faults;
push @faults, [ "kill:$_", $lost ] foreach qw(hello open chunk chunk:2 add add:2 finish read);
push @faults, [ "hang:$_", $late, '400ms' ] foreach qw(hello open add finish read);
push @faults, [ "garbage:$_", $bad ] foreach qw(hello open add finish read);
push @faults, [ "short:$_", $bad ] foreach qw(hello finish read);
push @faults, [ "oversize:$_", $bad ] foreach qw(hello finish read);
push @faults, [ 'version:hello', qr/speaks protocol/ ], [ 'build:hello', qr/another build/ ], [ 'uid:hello', qr/another user/ ];
push @faults, [ "oom:$_", qr/out of device memory/ ] foreach qw(open add finish);
push @faults, [ "sticky:$_", qr/CUDA error|$lost/ ] foreach qw(open add finish);
# the service gives up after three quarters of it, and the client must hear that in the last one
push @faults, [ 'nochunks:chunk:0', qr/no pinned memory became free/, '4s' ];

my @names = sort keys %checks;
my $turn = 0;
foreach my $fault (@faults)
{
	my ($spec, $words, $timeout) = @$fault;
	# another function each time, but only the streamed ones have a second chunk
	my $name = $spec =~ /:2$/ ? 'aggregate' : $names[ $turn++ % @names ];
	my $fallbacks;

	# Under "auto" nobody waits longer than 250 ms to be greeted: where the machine
	# was busy for so long, the fault was not met, and is committed once more.
	my @devices = qw(auto gpu);
	my $again = 4;

	while (my $device = shift @devices)
	{
		# A client that knows the service connected before the fault was made.
		run($session, 'SET hpsort.device = auto');
		configure($node, stub => $spec, 'hpsort.gpu_wait_timeout' => $timeout // $patience);
		wait_for('service with the fault', sub { service($node, 'state') eq 'running' });
		$fallbacks = service($node, 'fallbacks');
		run($session, "SET hpsort.device = $device");
		my $result = run($session, $checks{$name});
		if ($device eq 'auto')
		{
			my ($on, $reason) = split /\|/, run($session, 'SELECT device, reason FROM hpsort_last()'), 2;

			if ($reason =~ $late && $words != $late && $again-- > 0)
			{
				note("$spec: busy, once more");
				unshift @devices, $device;
				configure($node, stub => '', 'hpsort.gpu_wait_timeout' => $patience);
				wait_running($node);
				next;
			}
			is($result, 't', "$spec, $name: right");
			is($on, 'cpu', "$spec, $name: on the CPU");
			like($reason, $words, "$spec, $name: because of it");
			cmp_ok(service($node, 'fallbacks'), '>', $fallbacks, "$spec, $name: counted");
		}
		elsif ($result eq 't')
		{
			# It may have found the service restarted, without the fault again.
			is(run($session, 'SELECT device FROM hpsort_last()'), 'gpu', "$spec, $name: gpu");
		}
		else
		{
			like($session->{err}, qr/^ERROR:  .*($words|device "gpu" is not available)/s, "$spec, $name: an error");
		}
		configure($node, stub => '', 'hpsort.gpu_wait_timeout' => $patience);
		wait_running($node);
	}
	run($session, 'SET hpsort.device = gpu');
	my $result = run($session, $checks{$name});
	is($result, 't', "$spec, $name: the next query works") or diag($session->{err});
}
cmp_ok(descriptors($session->{pid}, qr/socket|memfd/), '<=', $descriptors, 'no descriptor left in the session');
cmp_ok(memory() - $memory, '<', 1 << 20, 'no memory left in it');
ok(settled($node), 'no job left in the service');
my $columns = 'connect > 0, protocol > 0, timeout > 0, lost > 0, no_memory > 0, no_chunks > 0, device_error > 0, restarts > 0';
is(service($node, $columns), join('|', ('t') x 8), 'each kind was counted');

# The supervisor replaces a service that answers no client.
configure($node, stub => 'hang:hello:0');
wait_for('running', sub { service($node, 'state') eq 'running' });
my $hung = service($node, 'pid');
my $start = time();
is($node->safe_psql('postgres', "$checks{array}; SELECT device FROM hpsort_last()"), "t\ncpu", 'nobody is greeted: the CPU sorts');
cmp_ok(time() - $start, '<', 10, 'and does not wait long');
ok(wait_for('hung service', sub { service($node, 'coalesce(pid, 0)') ne $hung }), 'the supervisor replaces the service');
like(slurp_file($node->logfile), qr/GPU service \(PID $hung\) does not answer: terminating it/, 'and says so');
configure($node, stub => '');
wait_running($node);

# The same of a service that greets, but whose device does not sort a key.
configure($node, stub => 'hang:finish:0', 'hpsort.gpu_wait_timeout' => '500ms');
wait_for('running', sub { service($node, 'state') eq 'running' });
$hung = service($node, 'pid');
is($node->safe_psql('postgres', "$checks{array}; SELECT device FROM hpsort_last()"), "t\ncpu", 'nothing is sorted: the CPU sorts');
ok(wait_for('hung device', sub { service($node, 'coalesce(pid, 0)') ne $hung }), 'the supervisor replaces the service');
like(slurp_file($node->logfile), qr/GPU service \(PID $hung\) does not answer: terminating it/, 'and says so');
configure($node, stub => '', 'hpsort.gpu_wait_timeout' => $patience);
wait_running($node);

# A service that refuses its settings is not started again and again.
configure($node, stub => 'nonsense');
ok(wait_for('failed', sub { service($node, 'state') eq 'failed' }), 'invalid fault: refused');
# a session tries once more after a reload that it has not seen before
is(run($session, "SET hpsort.device = auto; $checks{array}"), 't', 'the CPU sorts');
wait_for('failed', sub { service($node, 'state') eq 'failed' });
is(run($session, $checks{array}), 't', 'the CPU sorts again');
like(run($session, 'SELECT reason FROM hpsort_last()'), qr/no GPU: .*invalid fault/, 'and says why');
configure($node, stub => '');
wait_running($node);

# Waiting is cancelled, times out and is terminated at once.
configure($node, stub => 'hang:finish:0', 'hpsort.gpu_wait_timeout' => '0');
wait_for('running', sub { service($node, 'state') eq 'running' });
foreach my $name (qw(array order aggregate query))
{
	# The best of a few, because the machine may have other things to do.  The
	# setting ends with the transaction: a RESET could be too slow for it itself.
	my $least = 1e12;

	run($session, "SET hpsort.device = gpu; SET hpsort.gpu_wait_timeout = 0");
	for (my $try = 1; $try <= 5 && $least > 0.5 + 0.4; $try++)
	{
		run($session, "BEGIN; SET LOCAL statement_timeout = '500ms'");
		my $start = time();
		run($session, $checks{$name});
		my $took = time() - $start;
		$least = $took if $took < $least;
		like($session->{err}, qr/canceling statement due to statement timeout/, "$name: statement_timeout while waiting");
		run($session, 'ROLLBACK');
	}
	cmp_ok($least, '<', 0.5 + 0.4, "$name: in time");
}
# The time from a cancel to the end of the query, as the session sees it: the best of a
# few, because the machine may be busy.
my @latencies;
foreach my $try (1 .. 5)
{
	$session->{out} = $session->{err} = '';
	$session->{in} .= "DO \$\$ BEGIN PERFORM hpsort(a) FROM keys; EXCEPTION WHEN query_canceled THEN RAISE INFO 'obeyed %', extract(epoch FROM clock_timestamp()); END \$\$;\n\\echo done\n";
	ok(wait_for('waiting', sub {
		$session->{run}->pump_nb;
		return $node->safe_psql('postgres', "SELECT wait_event_type FROM pg_stat_activity WHERE pid = $session->{pid}") eq 'Extension';
	}), 'waits by a latch');
	like($node->safe_psql('postgres', "SELECT wait_event FROM pg_stat_activity WHERE pid = $session->{pid}"), qr/^(HpsortGpu|Extension)$/, 'under a name');
	my $asked = $node->safe_psql('postgres', "SELECT extract(epoch FROM clock_timestamp()) FROM pg_cancel_backend($session->{pid})");
	pump_session($session, sub { $session->{out} =~ /^done/m }, 'a cancel');
	push @latencies, $session->{err} =~ /obeyed ([0-9.]+)/ ? $1 - $asked : 1e12;
}
@latencies = sort { $a <=> $b } @latencies;
note("cancelled after @latencies s");
cmp_ok($latencies[0], '<', 0.1, 'cancel obeyed within 100 ms');
cmp_ok($latencies[-1], '<', 10, 'every time');
{
	my $victim = open_session($node);

	run($victim, "SET hpsort.device = gpu; SET hpsort.gpu_wait_timeout = 0");
	$victim->{in} .= "$checks{array};\n";
	wait_for('waiting', sub {
		$victim->{run}->pump_nb;
		return $node->safe_psql('postgres', "SELECT wait_event_type FROM pg_stat_activity WHERE pid = $victim->{pid}") eq 'Extension';
	});
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($victim->{pid}, 30000)");
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE pid = $victim->{pid}"), '0', 'terminated while waiting');
	$victim->{run}->kill_kill;
}
configure($node, stub => '', 'hpsort.gpu_wait_timeout' => $patience);
wait_running($node);
run($session, 'RESET hpsort.gpu_wait_timeout');

# A job ends with its subtransaction, and with its cursor.
run($session, 'SET hpsort.device = gpu');
is(run($session, q{DO $$ BEGIN
	FOR i IN 1 .. 3 LOOP
		BEGIN PERFORM hpsort_agg(x) FROM (SELECT x FROM many UNION ALL SELECT 1 / (x * 0) FROM many) t; EXCEPTION WHEN division_by_zero THEN NULL; END;
	END LOOP; END $$}), '', 'errors while keys are streamed');
ok(settled($node), 'leave no job');
is(run($session, "BEGIN; DECLARE c CURSOR FOR SELECT hpsort_agg(x) OVER (ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) IS NULL FROM (SELECT x FROM many) t; SAVEPOINT s; FETCH 1 FROM c; ROLLBACK TO s; FETCH 1 FROM c; COMMIT"), "f\nf", 'a cursor that outlives the subtransaction of its first row');
ok(settled($node), 'leaves no job');
is(run($session, $checks{aggregate}), 't', 'and the session goes on');

# Out of file descriptors: in the session, then in the service.
my $stranger = open_session($node);
# it needs no file
my $no_file = 'SELECT hpsort(a) = (SELECT array_agg(x ORDER BY x) FROM unnest(a) x) FROM (SELECT array_agg(hashint4(i)) AS a FROM generate_series(1, 100000) i) t';
run($stranger, "SET work_mem = '256MB'; SET jit = off; SET hpsort.device = $_; $no_file") foreach qw(cpu auto);
configure($node, 'hpsort.gpu_pinned_memory' => '30MB');	# its connection is gone with the service
wait_running($node);
SKIP:
{
	skip 'no prlimit', 5 if system("prlimit --version >/dev/null 2>&1") != 0;
	# What is open stays so; nothing more can be opened, not even after the socket
	# of the service that is gone, or a file of PostgreSQL's, is closed.
	system_or_bail('prlimit', '--pid', $stranger->{pid}, '--nofile=' . full_limit($stranger->{pid}, qr/socket|memfd|base|global/) . ':');
	is(run($stranger, $no_file), 't', 'no descriptor in the session: right') or diag($stranger->{err});
	like(run($stranger, 'SELECT device, reason FROM hpsort_last()'), qr/^cpu\|.*(socket|files|connection|shared memory)/, 'on the CPU, with the reason');
	system_or_bail('prlimit', '--pid', $stranger->{pid}, '--nofile=1000:');
	my $service = service($node, 'pid');
	system_or_bail('prlimit', '--pid', $service, '--nofile=' . full_limit($service) . ':');
	is($node->safe_psql('postgres', $checks{array}), 't', 'no descriptor in the service: right');
	is($node->safe_psql('postgres', "$checks{array}; SELECT device FROM hpsort_last()"), "t\ncpu", 'on the CPU');
	system_or_bail('prlimit', '--pid', $service, '--nofile=1000:');
	ok(wait_for('descriptors', sub { $node->safe_psql('postgres', "$checks{array}; SELECT device FROM hpsort_last()") eq "t\ngpu" }), 'and later on the GPU again');
}

# A hundred sessions at once, through little memory.
configure($node, 'hpsort.gpu_pinned_memory' => '8MB', 'hpsort.gpu_wait_timeout' => '30s');
wait_running($node);
my $script = $node->basedir . '/crowd.sql';
append_to_file($script, join(";\n", map { $checks{$_} =~ s/^SELECT (.*) (FROM \w+)$/SELECT 1 \/ ($1)::int $2/r } qw(array order)) . ";\n");
$node->safe_psql('postgres', 'SELECT hpsort_stat_gpu_reset()');
$node->command_ok([ 'pgbench', '-n', '-c', 100, '-j', 4, '-t', 1, '-f', $script, '-h', $node->host, '-p', $node->port, 'postgres' ], '100 sessions at once');
is(service($node, 'jobs + fallbacks'), '200', 'each sorted, on the one or the other');
ok(settled($node), 'no job left');
my $service = service($node, 'pid');
ok(wait_for('descriptors', sub { descriptors($service) < 20 }), 'no descriptor left in the service');

is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'the same server');
$node->stop;
ok(wait_for('gone', sub { !services_alive($node) }), 'no process left');
is(bad_log_lines($node), '', 'nothing bad in the log');
done_testing();
