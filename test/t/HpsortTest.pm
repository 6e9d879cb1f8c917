# HpsortTest: what all tests of this directory share.
#
#	new_cluster(NAME, ...)		a server's data directory, with init's parameters
#	random_seed()				what srand() was given, to be repeated by HPSORT_TEST_SEED
#	at_length(QUICK, ALL)		how many of something: ALL where HPSORT_TEST_ALL is set
#	only_at_length(WHY)			skips the test where it is not
#
# make test-all sets HPSORT_TEST_ALL for one PostgreSQL; test/run.sh finds the tests that have more to do then
# by the names of the last two functions.
package HpsortTest;

use strict;
use warnings;
use Exporter 'import';
use PostgreSQL::Test::Cluster;
use Test::More;
use Time::HiRes ();

our @EXPORT = qw(new_cluster start_cluster random_seed at_length only_at_length);

# Seconds for pg_ctl to start or stop a server, which syncs the disk of all that a machine is doing beside it.
$ENV{PGCTLTIMEOUT} //= 300;

# Encoding and locale are the tests' own: without them, initdb takes the environment's, and
# collations, messages and order of texts are others on each machine.
sub new_cluster
{
	my ($name, %params) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(%params, extra => [ '--locale=C', '--encoding=UTF8', @{ $params{extra} // [] } ]);
	return $node;
}

# A started cluster of these settings in which only queries run, and repeat what they did.
sub start_cluster
{
	my ($name, $settings) = @_;
	my $node = new_cluster($name);

	$node->append_conf('postgresql.conf', <<"CONF");
session_preload_libraries = 'hpsort'
autovacuum = off
jit = off
fsync = off
max_parallel_workers_per_gather = 0
synchronize_seqscans = off
max_worker_processes = 16
max_parallel_workers = 8
timezone = 'UTC'
CONF
	$node->append_conf('postgresql.conf', $settings) if defined $settings;
	$node->start;
	return $node;
}

# A seed below a million: tests give setseed() a millionth of it.  A commit's may be larger.
sub random_seed
{
	my $seed = ($ENV{HPSORT_TEST_SEED} // int(Time::HiRes::time() * 1000)) % 1000000;

	srand($seed);
	diag("HPSORT_TEST_SEED=$seed");
	return $seed;
}

sub at_length { return $ENV{HPSORT_TEST_ALL} ? $_[1] : $_[0]; }

sub only_at_length
{
	my ($why) = @_;

	plan skip_all => "$why: only with HPSORT_TEST_ALL" if !$ENV{HPSORT_TEST_ALL};
	return;
}

1;
