# A cancel is obeyed in the middle of a sort of any kind, the session goes on, and
# no memory stays behind.  Other requests to a session, as barriers and the logging of
# its memory, are served in the middle of a sort, too.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run ();
use Time::HiRes qw(time);
use Test::More;

random_seed();

# malloc gives large blocks back to the system as soon as they are freed, so that a
# backend's resident memory shows what it has not freed.
$ENV{MALLOC_MMAP_THRESHOLD_} = 1 << 17;
$ENV{MALLOC_TRIM_THRESHOLD_} = 1 << 17;

my $node = new_cluster('cancel');
$node->append_conf('postgresql.conf', "log_line_prefix = '%p '\nmax_parallel_workers_per_gather = 0\nautovacuum = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION hpsort');

# The session that is cancelled: its input, output and errors.
my $in = '';
my $out = '';
my $err = '';
my $session = IPC::Run::start(
	[ 'psql', '-XAtq', '-d', $node->connstr('postgres') ],
	'<', \$in, '>', \$out, '2>', \$err,
	my $deadline = IPC::Run::timer(300));	# for each statement anew

sub run
{
	my ($sql) = @_;
	$out = '';
	$err = '';
	$in .= "$sql\n;\n\\echo done\n";
	$deadline->start(300);
	$session->pump until $out =~ s/^done\n//m || $deadline->is_expired;
	die "session hangs at: $sql" if $deadline->is_expired;
	return $out;
}

sub memory { return run('SELECT sum(total_bytes) FROM pg_backend_memory_contexts'); }

# Resident memory in kB, or undef where there is no /proc.
sub resident
{
	my ($pid) = @_;
	open(my $file, '<', "/proc/$pid/status") or return undef;
	return (map { /^VmRSS:\s+(\d+) kB/ ? $1 : () } <$file>)[0];
}

chomp(my $pid = run('SELECT pg_backend_pid()'));

# An array of n keys: the first million arbitrary, then doubled, for speed.
my $make = q{
	a := ARRAY(SELECT %s FROM generate_series(1, 1000000) i);
	WHILE cardinality(a) < %d LOOP a := a || a; END LOOP;
};
my $wide = '(i::int8 * 2654435761 % 4294967296 - 2147483648)::int4';
my $narrow = '(i::int8 * 2654435761 % 1000)::int4';
my $middle = '(i::int8 * 2654435761 % 30000000)::int4';
my $threaded = '(i::int8 * 2654435761 % 20000000)::int4';

# Sorts without an end, cancelled again and again: how long one takes that is
# let be, and how long each cancel took.
sub cancel_often
{
	my ($keys, $n, $expression, $times) = @_;

	$in .= "DO \$\$ DECLARE a int4[]; t timestamptz; BEGIN " . sprintf($make, $keys, $n) . qq{
		t := clock_timestamp();
		PERFORM $expression;
		RAISE INFO 'took %', extract(epoch FROM clock_timestamp() - t);
		FOR i IN 1 .. $times LOOP
			BEGIN
				RAISE INFO 'starts';
				LOOP PERFORM $expression; END LOOP;
			EXCEPTION WHEN query_canceled THEN
				RAISE INFO 'obeyed %', extract(epoch FROM clock_timestamp());
			END;
		END LOOP; END \$\$;
		\\echo done\n};
	$out = $err = '';
	$deadline->start(300);
	$session->pump until $err =~ /took .*\n/ || $out =~ /done/ || $deadline->is_expired;
	$err =~ /took ([0-9.]+)/ or return;
	my $full = $1;
	my @latencies;
	for my $i (1 .. $times)
	{
		# early in a sort: another begins as soon as one is cancelled, but
		# between the two nobody would catch the error
		$session->pump until (() = $err =~ /starts/g) >= $i || $out =~ /done/ || $deadline->is_expired;
		Time::HiRes::sleep($full * 0.3 * rand());
		my $asked = $node->safe_psql('postgres', "SELECT extract(epoch FROM clock_timestamp()) FROM pg_cancel_backend($pid)");
		$session->pump until (() = $err =~ /obeyed .*\n/g) >= $i || $out =~ /done/ || $deadline->is_expired;
		my @obeyed = $err =~ /obeyed ([0-9.]+)/g;
		last if @obeyed < $i;
		push @latencies, $obeyed[ $i - 1 ] - $asked;
	}
	$session->pump until $out =~ /done/ || $deadline->is_expired;
	return ($full, sort { $a <=> $b } @latencies);
}

sub cancels
{
	my ($name, $keys, $expression, %options) = @_;
	my $n = 1000000 * ($options{millions} // 16) / at_length(2, 1);
	my $settings = join '', map { "SET $_ = $options{set}{$_};\n" } sort keys %{ $options{set} // {} };
	my $reset = join '', map { "RESET $_;\n" } sort keys %{ $options{set} // {} };
	my $times = 3;
	my ($full, @latencies);

	run($settings);
	my $before = memory();
	my $resident = resident($pid);
	# A busy machine may stop everything for a second, but hardly in each of
	# three rounds; what does not look for a cancel is late in all of them.
	for my $round (1 .. 3)
	{
		($full, @latencies) = cancel_often($keys, $n, $expression, $times);
		return fail("$name: $err") if !defined $full;
		note(sprintf('%s: %.3f s, cancelled after %s', $name, $full, join ' ', map { sprintf '%.3f', $_ } @latencies));
		last if @latencies < $times || $latencies[-1] < 1 && ($full < 0.3 || $latencies[0] < $full / 2);
	}

	is(scalar(@latencies), $times, "$name: cancelled") or diag($err);
	cmp_ok($latencies[-1], '<', 1, "$name: each within a second");
	# Were a cancel only seen after the sort, all would take more than half of
	# it; of a busy machine's delays, the shortest tells.
	SKIP:
	{
		skip "$name: too fast to tell", 1 if $full < 0.3;
		cmp_ok($latencies[0], '<', $full / 2, "$name: in the middle of it");
	}
	is(run("SELECT hpsort('{3,1,2}')"), "{1,2,3}\n", "$name: session usable");
	run($reset);
	cmp_ok(memory() - $before, '<', 2 << 20, "$name: no memory left");
	cmp_ok(resident($pid) - $resident, '<', 32 << 10, "$name: no memory left outside the contexts") if defined $resident;
}

# Once, small, for what a session keeps: plans, types, the functions themselves.
run("DO \$\$ DECLARE a int4[] := ARRAY(SELECT i FROM generate_series(1, 10000) i); BEGIN
	PERFORM hpsort(a), hpsort_order(a), (SELECT hpsort_agg(x) FROM unnest(a) x), (SELECT count(*) FROM hpsort_query('SELECT 1'));
	BEGIN PERFORM hpsort(a, 1, 2); EXCEPTION WHEN OTHERS THEN RAISE INFO 'error'; END; END \$\$");
memory();

cancels('hpsort, wide', $wide, 'hpsort(a)', millions => 32);
cancels('hpsort, wide, descending', $wide, 'hpsort(a, true)', millions => 32);
cancels('hpsort, narrow', $narrow, 'hpsort(a)', millions => 32);
cancels('hpsort, zero_compressed', $middle, 'hpsort(a)', set => { 'hpsort.algorithm' => 'zero_compressed' });
cancels('hpsort, comparison_free', $middle, 'hpsort(a)', set => { 'hpsort.algorithm' => 'comparison_free' });
my @papers = (
	[hp => $middle, 'hpsort(a)'], [zero_compressed_published => $middle, 'hpsort(a)'], [bucket_radix => $wide, 'hpsort(a)'],
	[bucket_bitonic => $wide, 'hpsort(a)'], [bucket_bitonic => $wide, 'hpsort_order(a)'], [bucket_bitonic => 5, 'hpsort_order(a)']);
cancels("$_->[2], $_->[0]", $_->[1], $_->[2], millions => 8, set => { 'hpsort.algorithm' => $_->[0], work_mem => "'2GB'" }) for @papers;
# a matrix of 16 million keys and ten values
cancels('hpsort, comparison_free_onehot', 'i % 10', 'hpsort(a)', set => { 'hpsort.algorithm' => 'comparison_free_onehot', work_mem => "'2GB'" });
# as many threads as there are processors, up to three
my %three = ('hpsort.algorithm' => 'comparison_free', max_parallel_workers_per_gather => 2);
cancels('hpsort, comparison_free, threads', $threaded, 'hpsort(a)', set => \%three);
run("SET hpsort.algorithm = comparison_free; SET max_parallel_workers_per_gather = 2;
	DO \$\$ DECLARE a int4[]; BEGIN " . sprintf($make, $threaded, 16000000) . " PERFORM hpsort(a); END \$\$");
is(run("SELECT threads - least(3, substring(name FROM '^[0-9]+')::int) FROM hpsort_last(), hpsort_devices() d WHERE d.device = 'cpu'"), "0\n", 'threads indeed');
run('RESET hpsort.algorithm; RESET max_parallel_workers_per_gather');
cancels('hpsort_order, wide', $wide, 'hpsort_order(a)');
cancels('hpsort_order, narrow', $narrow, 'hpsort_order(a)', millions => 32);
cancels('hpsort_set', $wide, '(SELECT count(x) FROM hpsort_set(a) x)', millions => 4);
cancels('hpsort_runs', $wide, '(SELECT count(r) FROM hpsort_runs(a) r)', millions => 4);
cancels('hpsort_agg, wide', $wide, '(SELECT hpsort_agg(x) FROM unnest(a) x)', millions => 4);
cancels('hpsort_agg, narrow', $narrow, '(SELECT hpsort_agg(x) FROM unnest(a) x)', millions => 4);
cancels('hpsort_runs_agg', $wide, '(SELECT hpsort_runs_agg(x) FROM unnest(a) x)', millions => 1);
cancels('hpsort_query', 'i', "(SELECT count(*) FROM hpsort_query('SELECT hashint4(i) FROM generate_series(1, 1000000) i'))", millions => 1);

# A query without an end, under statement_timeout: in time once of a few times,
# because the machine may have other things to do.  The setting ends with the
# transaction: a RESET could be too slow for it itself.
sub times_out
{
	my ($query, $name) = @_;
	my $least = 1e12;

	for (my $try = 1; $try <= 5 && $least > 0.3 + 1.5; $try++)
	{
		run("BEGIN; SET LOCAL statement_timeout = '300ms'");
		my $start = time();
		run($query);
		my $took = time() - $start;
		$least = $took if $took < $least;
		like($err, qr/canceling statement due to statement timeout/, $name);
		run('ROLLBACK');
	}
	cmp_ok($least, '<', 0.3 + 1.5, 'honoured in time');
	return;
}

# Where there is no call to the executor for seconds: a hundred sorts of few
# keys in one expression, each with a counter for every value between them.
sub many_sorts { return join ' + ', map { "cardinality(hpsort(ARRAY[i, i + 50000000 + $_]))" } 1 .. $_[0]; }
run('SET hpsort.algorithm = zero_compressed');
times_out('SELECT ' . many_sorts(100) . ' FROM generate_series(1, 1) i', 'statement_timeout within an expression');

# Who asks a session for something waits until an interrupt of it is served: in
# the middle of an expression, of which the rest goes on.  $ask returns when it is.
my $count = -time();
run('SELECT ' . many_sorts(2) . ' FROM generate_series(1, 1) i');
$count = int(8 / ($count + time()));	# some four seconds
$count = $count < 4 ? 4 : $count > 100 ? 100 : $count;

sub served
{
	my ($name, $ask) = @_;
	my ($took, $full);

	for my $try (1 .. 3)
	{
		$out = $err = '';
		$deadline->start(300);
		$in .= "DO \$\$ BEGIN RAISE INFO 'starts'; END \$\$;\nSELECT " . many_sorts($count) . " FROM generate_series(1, 1) i;\n\\echo done\n";
		$session->pump until $err =~ /starts/ || $deadline->is_expired;
		my $start = time();
		Time::HiRes::sleep(0.1);
		$took = -time();
		$ask->($try);
		$took += time();
		$session->pump until $out =~ s/^done\n//m || $deadline->is_expired;
		$full = time() - $start;
		note(sprintf('%s: served after %.3f s of %.3f', $name, $took, $full));
		is($out, 2 * $count . "\n", "$name: the sort goes on") or diag($err);
		last if $took < $full / 2;
	}
	cmp_ok($took, '<', $full / 2, "$name: served in the middle of a sort");
	return;
}
$node->safe_psql('postgres', "CREATE DATABASE gone$_") for 1 .. 3;
served('the barrier of DROP DATABASE', sub { $node->safe_psql('postgres', "DROP DATABASE gone$_[0]"); });
served('a request to log memory', sub {
	my $end = -s $node->logfile;
	$node->safe_psql('postgres', "SELECT pg_log_backend_memory_contexts($pid)");
	Time::HiRes::sleep(0.02) until slurp_file($node->logfile, $end) =~ /logging memory contexts of PID $pid/ || $deadline->is_expired;
});

# statement_timeout while rows are taken in, and with threads
run("RESET hpsort.algorithm");
for my $query (
	'SELECT hpsort_agg(hashint4(i)) FROM (SELECT generate_series(1, 1000000000) AS i) s',
	'SELECT hpsort_agg(i % 1000, 0, 999) FROM (SELECT generate_series(1, 1000000000) AS i) s',
	'SELECT hpsort_runs_agg(i % 1000) FROM (SELECT generate_series(1, 1000000000) AS i) s',
	q{SELECT count(*) FROM hpsort_query('SELECT generate_series(1, 1000000000)', 1, 1000000000)},
	q{SELECT hpsort_query('SELECT hashint4(i) FROM generate_series(1, 1000000000) i') LIMIT 1})
{
	times_out($query, "statement_timeout: $query");
}
is(run('SELECT hpsort_agg(x) FROM generate_series(3, 1, -1) x'), "{1,2,3}\n", 'session usable at last');
is(run('SELECT pg_backend_pid()'), "$pid\n", 'the same session');

$in .= "\\q\n";
$session->finish;
$node->stop;
is(join('', grep { /WARNING:|PANIC:|TRAP:|terminated by signal/ } split /^/m, slurp_file($node->logfile)), '', 'nothing else in the log');

done_testing();
