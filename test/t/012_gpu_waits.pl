# Waiting for the GPU service blocks nothing else: a session that waits still serves
# interrupts, and so does the supervisor while it finds out whether the service still
# answers.  Where there is no service no session waits, no process is started, and
# the server's log says nothing.
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

my $patience = 30;    # seconds, for what takes none
my ($rc, $out, $err);

sub new_primary
{
	my ($name, @settings) = @_;
	my $node = new_cluster($name, allows_streaming => 1);

	$node->append_conf('postgresql.conf', join("\n", "autovacuum = off", "max_parallel_workers_per_gather = 0",
		"hpsort.gpu_pinned_memory = '4MB'", @settings) . "\n");
	$node->start;
	$node->safe_psql('postgres', q{CREATE EXTENSION hpsort;
		CREATE TABLE keys AS SELECT array_agg(hashint4(i)) AS a FROM generate_series(1, 1000000) i;
		CREATE TABLE old AS SELECT i FROM generate_series(1, 1000) i});
	return $node;
}

# A session that waits for a service that does not answer; returns when it does.
sub waiting_session
{
	my ($node, $watcher) = @_;
	my $session = open_session($node);

	run($session, "SET hpsort.device = gpu; SET hpsort.gpu_wait_timeout = 0");
	$session->{out} = $session->{err} = '';
	$session->{in} .= "SELECT hpsort(a) IS NULL FROM keys;\n\\echo done\n";
	ok(wait_for('waiting', sub {
		$session->{run}->pump_nb;
		return run($watcher, "SELECT wait_event FROM pg_stat_activity WHERE pid = $session->{pid}") =~ /^(HpsortGpu|Extension)$/;
	}), 'a session waits for the service');
	return $session;
}

sub still_waits
{
	my ($session, $watcher) = @_;

	return run($watcher, "SELECT wait_event FROM pg_stat_activity WHERE pid = $session->{pid}") =~ /^(HpsortGpu|Extension)$/;
}

# --- There is no service

my $node = new_primary('none', "shared_preload_libraries = 'hpsort'", "log_min_messages = debug1");
my $nothing = qr/GPU service|gpu supervisor|hpsort-gpud/i;

SKIP:
{
	skip 'built with CUDA', 8
		if $node->safe_psql('postgres', "SELECT reason FROM hpsort_devices() WHERE device = 'gpu'") ne 'built without CUDA';
	$out = $node->safe_psql('postgres', 'SELECT cardinality(hpsort(a)) FROM keys; SELECT device, reason FROM hpsort_last()');
	like($out, qr/^1000000\ncpu\|.*no GPU: built without CUDA$/, 'auto: the reason');
	is($node->safe_psql('postgres', "SELECT usable, state, reason FROM hpsort_devices() WHERE device = 'gpu'"),
		'f|no device|built without CUDA', 'hpsort_devices() says it, too');
	($rc, $out, $err) = $node->psql('postgres', 'SET hpsort.device = gpu; SELECT hpsort(a) FROM keys');
	like($err, qr/ERROR:  device "gpu" is not available\nDETAIL:  Built without CUDA\.\nHINT:  Set hpsort.device to "auto"/, 'gpu: an error');
	is(service($node, 'state, pid'), 'stopped|', 'nothing was started');
	is(supervisors_alive($node), 0, 'no worker');
	$node->reload;
	is($node->safe_psql('postgres', 'SELECT cardinality(hpsort(a)) FROM keys'), '1000000', 'nor after a reload');
	# a stop writes all that there is to write
	$node->stop;
	unlike(slurp_file($node->logfile), $nothing, 'not a word in the log');
	$node->start;
	ok(!services_alive($node), 'no process');
}
# another service is another matter, without CUDA, too
$node->stop;
use_stub();
$node->append_conf('postgresql.conf', "log_min_messages = warning\n");
$node->start;
ok(wait_running($node), 'the service of tests runs');
$node->stop;

# --- The supervisor suspects its service

$node = new_primary('doubts', "hpsort.gpu_wait_timeout = '120s'");
configure($node, stub => 'hang:finish:0');
my $watcher = open_session($node);

sub make_doubt
{
	# Only the service's answer takes too long, not its start.
	$node->safe_psql('postgres', 'SELECT cardinality(hpsort(a)) FROM keys');
	wait_for('running', sub { service($node, 'state') eq 'running' });

	my ($rc, $out, $err) = $node->psql('postgres', "SET hpsort.device = gpu; SET hpsort.gpu_wait_timeout = '500ms'; SELECT hpsort(a) FROM keys");

	like($err, qr/did not answer in time/, 'a session waited in vain');
	# the supervisor's own job, which hangs as well
	ok(wait_for('the doubt', sub { run($watcher, "SELECT jobs_running FROM hpsort_devices() WHERE device = 'gpu'") eq '1' }), 'and the supervisor looks after the service');
	# that job could have been the session's, on its way out
	sleep 1;
}
make_doubt();
my $hung = service($node, 'pid');
my $start = time();
$node->safe_psql('postgres', 'CREATE DATABASE going');
($rc, $out, $err) = $node->psql('postgres', "SET statement_timeout = '${patience}s'; DROP DATABASE going");
is($err, '', 'a database is dropped meanwhile');
stub($node, '');
$node->append_conf('postgresql.conf', "hpsort.gpu_memory_limit = 2000000\nhpsort.gpu_wait_timeout = '20s'\n");
$node->reload;
ok(wait_for('reload', sub { service($node, 'coalesce(pid, 0)') ne $hung && time() < $start + $patience + 30 }), 'a reload is obeyed meanwhile');
cmp_ok(time() - $start, '<', $patience + 30, 'and does not wait for the end of it');
wait_running($node);
is($node->safe_psql('postgres', 'SET hpsort.device = gpu; SELECT cardinality(hpsort(a)) FROM keys'), '1000000', 'the new service sorts');

# --- A session waits

configure($node, stub => 'hang:finish:0', 'hpsort.gpu_wait_timeout' => '120s');
wait_for('running', sub { service($node, 'state') eq 'running' });
my $session = waiting_session($node, $watcher);
$node->safe_psql('postgres', 'CREATE DATABASE going');
($rc, $out, $err) = $node->psql('postgres', "SET statement_timeout = '${patience}s'; DROP DATABASE going");
is($err, '', 'a database is dropped while it waits');
my $log = -s $node->logfile;
run($watcher, "SELECT pg_log_backend_memory_contexts($session->{pid})");
ok(wait_for('its memory in the log', sub { slurp_file($node->logfile, $log) =~ /logging memory contexts of PID $session->{pid}/ }), 'its memory is logged');
# which it may still be writing
ok(wait_for('waiting again', sub { still_waits($session, $watcher) }), 'and it still waits');
run($watcher, "SELECT pg_cancel_backend($session->{pid})");
pump_session($session, sub { $session->{out} =~ /^done/m }, 'a cancel');
like($session->{err}, qr/canceling statement due to user request/, 'until it is cancelled');

# --- On a standby

$node->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'copy', has_streaming => 1);
$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = '1s'\n");
$standby->start;
$node->wait_for_catchup($standby);
my $standby_watcher = open_session($standby);
$session = waiting_session($standby, $standby_watcher);
# what it watches with must not be in the way itself
$node->safe_psql('postgres', 'DELETE FROM old');
$node->safe_psql('postgres', 'VACUUM old');
pump_session($session, sub { $session->{out} =~ /^done/m }, 'a recovery conflict');
like($session->{err}, qr/ERROR:  canceling statement due to conflict with recovery/, 'a recovery conflict ends the wait, and says so');
ok(settled($standby), 'no job left') if $session->{out} =~ /^done/m;
$standby->stop;
$node->stop;
unlike(slurp_file($_->logfile), qr/PANIC:|TRAP:/, 'no crash in the log') foreach $node, $standby;
done_testing();
