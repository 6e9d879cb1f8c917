# Resident columns while their tables change: test/stress.sh for some seconds.
#
#	STRESS_RESTARTS=N			how many shutdowns, crashes, and crashes of one process; 1 by default
#	HPSORT_TEST_SEED=N			the clients' random numbers, as of the run that printed it
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use ResidentColumns;
use Test::More;
use Time::HiRes qw(usleep);

my $seed = random_seed();
my $seconds = $ENV{STRESS_SECONDS} // at_length(5, 15);

# Memory for a part of the columns only, so that some are given up.
my $node = new_node('stress', "hpsort.resident_memory = 1MB\nhpsort.resident_fill = eager\nsynchronous_commit = off\n");
$node->safe_psql('postgres', slurp_file('test/stress/setup.sql'));
my ($hits, $refreshes) = (0, 0);
# On a machine that has other things to do, some seconds may be too few for what is counted.
for my $round (0 .. 9)
{
	$node->command_ok(
		[
			'pgbench', '-n', '-T', $seconds, '-c', 6, '-j', 2, '--random-seed=' . ($seed + $round), '-h', $node->host, '-p', $node->port,
			(map { ('-f', "test/stress/$_") } split /\n/, slurp_file('test/stress/mix')),
			'postgres'
		],
		"no wrong answer in $seconds seconds, seed $seed, round $round");
	($hits, $refreshes) = split /\|/, $node->safe_psql('postgres', 'SELECT sum(hits), sum(refreshes) FROM hpsort_resident');
	last if $hits > 0 && $refreshes > 0;
}
cmp_ok($hits, '>', 0, "$hits blocks were read from memory");
cmp_ok($refreshes, '>', 0, "$refreshes extents were looked at again");

# --- Restarts and crashes under load: what the server finds then is right before anybody has changed anything

my $restarts = $ENV{STRESS_RESTARTS} // at_length(1, 5);
my ($taken, $rounds) = (0, 0);

# Waits until the server answers.
sub wait_for_server
{
	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return if eval { ($node->psql('postgres', 'SELECT 1', on_error_die => 0))[0] == 0 };
		usleep(100000);
	}
	BAIL_OUT('no server');
}

# All processes of the server at once.
sub kill_server
{
	my ($postmaster) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;
	my @children = split ' ', `ps -o pid= --ppid $postmaster`;

	kill('KILL', $postmaster, @children);
	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		last if !kill(0, $postmaster, @children);
		usleep(100000);
	}
	$node->{_pid} = undef;
}

$node->append_conf('postgresql.conf', "fsync = on\nfull_page_writes = on\nrecovery_init_sync_method = syncfs\nshared_preload_libraries = hpsort\nhpsort.resident_memory = 8MB\nhpsort.resident_save = 1s\nrestart_after_crash = on\n");
$node->restart;
# On a machine that has other things to do, nothing may have been saved before any of few ends.
for (my $round = 1; $round <= 3 * $restarts || ($taken == 0 && $round <= 12); $round++)
{
	my $kind = ('shutdown', 'crash', 'crash of a process')[$round % 3];
	my $log = '';
	my $load = IPC::Run::start(
		[
			'pgbench', '-n', '-T', 60, '-c', 4, '--random-seed=' . ($seed + $round), '-h', $node->host, '-p', $node->port,
			(map { ('-f', "test/stress/$_") } split /\n/, slurp_file('test/stress/mix')), 'postgres'
		],
		'>', \my $out, '2>', \$log);
	my $before = () = slurp_file($node->logfile) =~ /took back [1-9]/g;

	usleep(int((0.5 + rand(2)) * 1e6));
	if ($kind eq 'shutdown') { $node->stop('fast') }
	elsif ($kind eq 'crash') { kill_server() }
	else
	{
		my $pid = $node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1});

		kill('KILL', $pid) if $pid;
	}
	$load->finish;
	unlike($log, qr/resident columns (are wrong|differ)/, "no wrong answer before a $kind") or diag($log);
	$node->start if $kind ne 'crash of a process';
	wait_for_server();
	is($node->safe_psql('postgres', 'SELECT count(stress_read(t, w)) || \' \' || (SELECT coalesce(sum(differing), 0) FROM hpsort_resident_check(\'stress_1\')) + (SELECT coalesce(sum(differing), 0) FROM hpsort_resident_check(\'stress_2\'))
		FROM generate_series(1, 2) t, generate_series(1, 17, 3) w'), '12 0', "answers are right after a $kind");
	$rounds++;
	$taken += (() = slurp_file($node->logfile) =~ /took back [1-9]/g) > $before;
}
cmp_ok($taken, '>', 0, "after $taken of $rounds starts extents were taken back");
$node->stop;
is(join('', grep { /PANIC:|TRAP:|ERROR:  XX|terminated by signal (?!9)/ } split /^/m, slurp_file($node->logfile)), '', 'nothing in the log');
done_testing();
