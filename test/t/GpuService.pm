# What the tests of the GPU service share: a server whose service has the stub of a
# GPU (test/gpu_stub), sessions that stay open, and ways to see what is left of processes,
# descriptors and memory.
package GpuService;

use Cwd ();

use strict;
use warnings;
use Exporter 'import';
use FindBin;
use IPC::Run ();
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(use_stub stub new_server configure service service_row wait_for wait_running services_alive processes_alive
	supervisors_alive wait_server make_keys checks open_session run pump_session settled bad_log_lines descriptors
	full_limit);

# Servers that are started from now on have the stub of a GPU for a service.
sub use_stub
{
	$ENV{HPSORT_GPUD} = Cwd::abs_path("$FindBin::Bin/../../build/gpu_stub/hpsort-gpud");
	die "build/gpu_stub/hpsort-gpud is missing: make gpu-stub\n" unless -x ($ENV{HPSORT_GPUD} // '');
	return;
}

# "auto" prefers the service wherever it considers a GPU, and delays are the shortest, so
# that tests do not wait.
sub new_server
{
	my ($name, @settings) = @_;
	my $node = new_cluster($name);

	use_stub();

	$node->append_conf('postgresql.conf', join("\n",
		"autovacuum = off", "hpsort.enable_sort = off", "restart_after_crash = on", "log_statement = none",
		"log_line_prefix = '%p %b '", "max_parallel_workers_per_gather = 0",
		"hpsort.gpu_pinned_memory = '32MB'",
		"hpsort.cost_factor = 1000000", @settings) . "\n");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION hpsort');
	return $node;
}

# One column of the statistics, or several.
sub service
{
	my ($node, $columns) = @_;

	return $node->safe_psql('postgres', "SELECT $columns FROM hpsort_stat_gpu");
}

# All columns, with their names: why the CPU has taken over, for a test that has failed.
sub service_row
{
	my ($node) = @_;

	return $node->safe_psql('postgres', 'SELECT * FROM hpsort_stat_gpu', extra_params => ['-x']);
}

# Waits up to a minute for a condition.
sub wait_for
{
	my ($what, $condition) = @_;
	my $until = time() + 60;

	while (time() < $until)
	{
		return 1 if $condition->();
		sleep 0.02;
	}
	diag("waited in vain: $what");
	return 0;
}

# Waits until the server takes connections; asking with psql would break its pipe.
sub wait_server
{
	my ($node) = @_;

	return wait_for('server', sub {
		return system('pg_isready', '-q', '-h', $node->host, '-p', $node->port) == 0;
	});
}

# Starts the service, if need be, and returns its process id.
sub wait_running
{
	my ($node) = @_;
	my $sort = "SET hpsort.device = gpu; SELECT hpsort('{2,1}')";

	wait_for('service is running', sub {
		# A reload starts one that has failed at once.
		$node->reload if service($node, 'state') eq 'restarting';
		my ($rc, $out) = $node->psql('postgres', $sort);
		return $rc == 0 && service($node, 'state') eq 'running';
	});
	return service($node, 'pid');
}

# What the stub does in a service that starts from now on.
sub stub
{
	my ($node, $spec) = @_;

	open my $file, '>', $node->data_dir . '/gpu_stub' or die $!;
	print $file "$spec\n";
	close $file;
	return;
}

# Services that were replaced for what the stub does.
my $replaced = 0;

# Changes settings of the configuration file, and what the stub does (stub => SPEC, see
# test/gpu_stub/faults.c), and returns when a service that ran was replaced by one that has them.  A service that is just starting is waited for: it
# could be taken for its successor.
sub configure
{
	my ($node, %settings) = @_;
	my $before;

	# One that was just killed may not have been missed yet, and would be taken for another one.
	wait_for('service is not about to start', sub {
		my ($state, $pid) = split /\|/, service($node, 'state, coalesce(pid, 0)');
		$before = $pid;
		return $state !~ /starting|restarting/ && ($pid eq '0' || grep { $_ == $pid } services_alive($node));
	});

	if (defined(my $spec = delete $settings{stub}))
	{
		stub($node, $spec);
		# Only another argument has a service replaced.
		$settings{'hpsort.gpu_memory_limit'} //= 1000000 + ++$replaced;
	}
	$node->append_conf('postgresql.conf', join('', map { "$_ = '$settings{$_}'\n" } sort keys %settings));
	$node->reload;
	wait_for('service took the settings', sub { service($node, "coalesce(pid, 0)") ne $before })
		if $before ne '0';
}

# Process ids of all services of a data directory, without zombies, which may have no
# parent that collects them.
sub services_alive
{
	my ($node) = @_;

	return processes_alive($node, qr/hpsort-gpud/);
}

# The same of all programs that a pattern fits.
sub processes_alive
{
	my ($node, $programs) = @_;
	my $data = Cwd::abs_path($node->data_dir);
	my @alive;

	foreach my $directory (glob('/proc/[0-9]*'))
	{
		my $cwd = readlink("$directory/cwd") // next;
		my $program = readlink("$directory/exe") // next;

		push @alive, $directory =~ /(\d+)$/ if $cwd eq $data && $program =~ $programs;
	}
	return @alive;
}

# How many of the server's processes are supervisors.  A supervisor has no database, and
# so no row in pg_stat_activity.
sub supervisors_alive
{
	my ($node) = @_;

	return scalar(grep { (eval { slurp_file("/proc/$_/cmdline") } // '') =~ /hpsort gpu supervisor/ } processes_alive($node, qr/postgres$/));
}

# Keys with their order as found by core: a has the keys, s the sorted keys, o the
# positions, r the runs.
# Streamed aggregates need over a million.
sub make_keys
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{
		CREATE TABLE keys AS
		SELECT a, (SELECT array_agg(x ORDER BY x) FROM unnest(a) x) AS s,
			(SELECT array_agg(p::int ORDER BY x, p) FROM unnest(a) WITH ORDINALITY t(x, p)) AS o,
			(SELECT md5(string_agg(x || ' ' || c, ',' ORDER BY x)) FROM (SELECT x, count(*) AS c FROM unnest(a) x GROUP BY x) t) AS r
		FROM (SELECT array_agg(hashint4(i)) AS a FROM generate_series(1, 200000) i) t;
		CREATE TABLE many AS SELECT hashint4(i) AS x FROM generate_series(1, 1200000) i;
		CREATE TABLE many_sorted AS SELECT array_agg(x ORDER BY x) AS s FROM many;
		VACUUM ANALYZE keys, many, many_sorted;
	});
}

# Each compares what hpsort says with what core has said.
sub checks
{
	return (
		array => 'SELECT hpsort(a) = s FROM keys',
		order => 'SELECT hpsort_order(a) = o FROM keys',
		runs => q{SELECT (SELECT md5(string_agg(key || ' ' || count, ',')) FROM hpsort_runs(a)) = r FROM keys},
		set => 'SELECT ARRAY(SELECT hpsort_set(a)) = s FROM keys',
		aggregate => 'SELECT (SELECT hpsort_agg(x) FROM many) = s FROM many_sorted',
		query => q{SELECT ARRAY(SELECT hpsort_query('SELECT x FROM many')) = s FROM many_sorted});
}

# Seconds that the slowest machine may take for what a session waits for.
my $longest = 300;

# A session that stays.
sub open_session
{
	my ($node) = @_;
	my %session = (in => '', out => '', err => '');

	$session{timer} = IPC::Run::timer($longest);
	$session{run} = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres') ],
		'<', \$session{in}, '>', \$session{out}, '2>', \$session{err}, $session{timer});
	my $self = \%session;
	$self->{pid} = run($self, 'SELECT pg_backend_pid()');
	return $self;
}

# Runs statements in it; returns what they print, without the last newline.
sub run
{
	my ($session, $sql) = @_;

	$session->{out} = $session->{err} = '';
	$session->{in} .= "$sql\n;\n\\echo done\n";
	pump_session($session, sub { $session->{out} =~ s/^done\n//m }, $sql);
	chomp(my $result = $session->{out});
	return $result;
}

# Waits for what it says.
sub pump_session
{
	my ($session, $condition, $sql) = @_;

	$session->{timer}->start($longest);
	$session->{run}->pump until $condition->() || $session->{timer}->is_expired;
	die "session hangs at: $sql" if $session->{timer}->is_expired;
	return;
}

# The number of open descriptors of a process that a pattern fits.
sub descriptors
{
	my ($pid, $kind) = @_;
	my @all = grep { !$kind || (readlink($_) // '') =~ $kind } glob("/proc/$pid/fd/*");

	return scalar @all;
}

# The limit (RLIMIT_NOFILE) under which a process can open no descriptor, not even one
# in place of a descriptor of that kind that it closes: the lowest descriptor that is
# free, or of that kind.
sub full_limit
{
	my ($pid, $kind) = @_;

	for (my $limit = 0;; $limit++)
	{
		my $open = readlink("/proc/$pid/fd/$limit");

		return $limit if !defined $open || ($kind && $open =~ $kind);
	}
}

# Whether the service has no job, not even one whose client is gone.
sub settled
{
	my ($node) = @_;

	return wait_for('no job is left', sub {
		$node->safe_psql('postgres', "SELECT coalesce(sum(jobs_running), 0) FROM hpsort_devices()") eq '0';
	});
}

# Lines of the log that no fault of the service may cause.
sub bad_log_lines
{
	my ($node) = @_;

	return join('', grep { /PANIC:|TRAP:|terminated by signal|reinitializing|was leaked|leak:/ && !/GPU service/ }
		split /^/m, slurp_file($node->logfile));
}

1;
