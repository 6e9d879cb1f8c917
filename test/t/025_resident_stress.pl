# Resident columns while their tables change: test/stress.sh for some seconds.
#
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
$node->stop;
is(join('', grep { /PANIC:|TRAP:|ERROR:  XX|terminated by signal/ } split /^/m, slurp_file($node->logfile)), '', 'nothing in the log');
done_testing();
