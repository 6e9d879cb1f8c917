# The GPU service is killed at random moments while sessions sort: no answer is
# ever wrong, and none is missing.  HPSORT_TEST_KILLS is how often (50).
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use GpuService;
use IPC::Run ();
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

only_at_length('kills');

my $wanted = $ENV{HPSORT_TEST_KILLS} // 50;
random_seed();
diag("$wanted kills");

my $node = new_server('kills', "hpsort.gpu_pinned_memory = '4MB'");
make_keys($node);
my %checks = checks();
wait_running($node);
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
my $session = open_session($node);

# A wrong answer divides by zero, which ends pgbench's client with an error.
my $script = $node->basedir . '/kills.sql';
append_to_file($script, join(";\n", map { $checks{$_} =~ s/^SELECT (.*) (FROM \w+)$/SELECT 1 \/ ($1)::int $2/r } qw(array order runs array set order aggregate)) . ";\n");
my ($out, $err) = ('', '');
my $bench = IPC::Run::start(
	[ 'pgbench', '-n', '-c', 3, '-j', 3, '-T', 3600, '-f', $script, '-h', $node->host, '-p', $node->port, 'postgres' ],
	'>', \$out, '2>', \$err);

my $killed = 0;
my $pid = 0;
my $until = time() + 300 + 5 * $wanted;
my $sorted = 0;
while ($killed < $wanted && time() < $until && $bench->pumpable)
{
	my ($state, $now) = split /\|/, run($session, 'SELECT state, pid FROM hpsort_stat_gpu');

	if ($state ne 'running' || $now eq $pid)
	{
		# A reload starts it at once.
		$node->reload if $state eq 'restarting';
		sleep 0.002;
		next;
	}
	# On a slow machine no job might end before a kill: now and then one is let.
	if ($killed % 5 == 0)
	{
		wait_for('a job done', sub { $bench->pump_nb; run($session, 'SELECT jobs FROM hpsort_stat_gpu') > $sorted });
		$sorted = run($session, 'SELECT jobs FROM hpsort_stat_gpu');
	}
	# while sessions still connect, or well into their work
	sleep rand() < 0.5 ? rand() * 0.01 : rand() * 0.08;
	$pid = $now;
	$killed++ if kill 'KILL', $pid;
	$bench->pump_nb;
}
is($killed, $wanted, "killed $wanted times");
ok($bench->pumpable, 'pgbench still runs') or diag("$out\n$err");
$bench->signal('TERM');		# INT is ignored below a shell's background job
$bench->finish;
unlike($err, qr/ERROR|abort/, 'no wrong answer, and none missing') or diag($err);

my $work = service($node, 'jobs, lost + not_running + connect, restarts');
my ($jobs, $lost, $restarts) = split /\|/, $work;
note("$jobs jobs, $lost fallbacks, $restarts restarts");
cmp_ok($jobs, '>', $wanted / 10, 'the service sorted meanwhile');
cmp_ok($lost, '>', $wanted / 10, 'and failed to');
cmp_ok($restarts, '>=', $wanted, 'each kill was followed by a restart');
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'the same server');
wait_running($node);
is($node->safe_psql('postgres', "SET hpsort.device = gpu; $checks{array}; SELECT device FROM hpsort_last()"), "t\ngpu", 'it sorts at last');
ok(settled($node), 'no job left');
is(scalar(services_alive($node)), 1, 'one service');
$node->stop;
ok(wait_for('gone', sub { !services_alive($node) }), 'no process left');
is(bad_log_lines($node), '', 'nothing bad in the log');
done_testing();
