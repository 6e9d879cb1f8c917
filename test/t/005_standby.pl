# On a hot standby: everything that only reads works, and gives way to recovery
# in the middle of a sort.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use GpuService qw(use_stub);
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run ();
use Time::HiRes qw(time);
use Test::More;

my $primary = new_cluster('primary', allows_streaming => 1);
$primary->append_conf('postgresql.conf', "autovacuum = off\nhpsort.enable_sort = off\n");
$primary->start;
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->append_conf('postgresql.conf', "max_standby_streaming_delay = 0\n");
use_stub();
$standby->start;

$primary->safe_psql('postgres', 'CREATE EXTENSION hpsort; CREATE TABLE t AS SELECT i * 7919 % 1000 AS x FROM generate_series(1, 10000) i');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

is($standby->safe_psql('postgres', 'SELECT pg_is_in_recovery()'), 't', 'a standby');
is($standby->safe_psql('postgres', q{
	SELECT hpsort_agg(x) = array_agg(x ORDER BY x), hpsort(array_agg(x), true) = array_agg(x ORDER BY x DESC),
		(SELECT array_agg(q) FROM hpsort_query('SELECT x FROM t') q) = array_agg(x ORDER BY x),
		(SELECT sum(r.count) FROM unnest(hpsort_runs_agg(x)) r) = count(*)
	FROM t}), 't|t|t|t', 'sorts');
is($standby->safe_psql('postgres', q{SET hpsort.device = gpu; SELECT hpsort('{3,1,2}'), (SELECT state FROM hpsort_stat_gpu)}), '{1,2,3}|running', 'has a GPU service of its own');
# PostgreSQL's own aggregates, some of them by way of a temporary file.
$primary->safe_psql('postgres', 'CREATE TABLE g AS SELECT i % 500 AS x, i::int8 * 1000003 % 99999989 AS y FROM generate_series(1, 1000000) i; VACUUM ANALYZE g; DELETE FROM g WHERE x % 7 = 3');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
my $groups = 'SELECT x, count(*), sum(y), percentile_disc(0.3) WITHIN GROUP (ORDER BY y) FROM g GROUP BY x';
my $settings = "LOAD 'hpsort'; SET max_parallel_workers_per_gather = 0; SET work_mem = '64kB'; SET hash_mem_multiplier = 1;";
my ($core, $ours) = map { $standby->safe_psql('postgres', "$settings SET hpsort.debug_aggregate = $_; $groups ORDER BY x") } qw(forbid force);
is(scalar(split /\n/, $core), 429, 'groups');
is($ours, $core, 'the same with HpSort Aggregate');
like($standby->safe_psql('postgres', "$settings SET hpsort.debug_aggregate = force; EXPLAIN (ANALYZE, COSTS OFF) $groups"), qr/HpSort Aggregate.*Disk: \d/s, 'which wrote to disk');
my ($rc, $out, $err) = $standby->psql('postgres', q{SELECT hpsort_query('DELETE FROM t RETURNING x')});
like($err, qr/query must be a SELECT, TABLE or VALUES that only reads/, 'and only reads');

# Recovery does not wait for queries here (max_standby_streaming_delay): a query that it
# conflicts with must end in the middle of one sort that takes seconds, in which
# PostgreSQL's own code looks for no interrupt.

# A session of the standby that evaluates the expression: when it has begun, $cause
# is done on the primary.  Returns how long the session goes on from then, and what it says.
sub evaluate
{
	my ($db, $begin, $do, $cause) = @_;
	my ($out, $err) = ('', '');
	my $in = "SET max_parallel_workers_per_gather = 2; $begin\n$do\n";
	my $deadline = IPC::Run::timer(300);
	my $session = IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $standby->connstr($db) ],
		'<', \$in, '>', \$out, '2>', \$err, $deadline);

	$session->pump until $err =~ /starts/ || !$session->pumpable;
	Time::HiRes::sleep(0.2);
	$cause->();
	my $since = time();
	$session->finish;
	return (time() - $since, $err);
}

sub conflicts
{
	my ($name, $db, $begin, $do, $cause, $expected) = @_;
	my ($full, $took, $said);

	($full, $said) = evaluate("${db}0", $begin, $do, sub { });
	like($said, qr/INFO:  ends/, "$name: none yet");
	for my $try (1 .. 3)
	{
		($took, $said) = evaluate("$db$try", $begin, $do, sub { $cause->($try) });
		note(sprintf('%s: gone after %.3f s of %.3f', $name, $took, $full));
		last if $took < $full / 2;
	}
	like($said, $expected, "$name: told so");
	unlike($said, qr/INFO:  ends/, "$name: not at the end");
	cmp_ok($took, '<', $full / 2, "$name: in the middle of a sort");
	return;
}

for my $i (0 .. 3)
{
	$primary->safe_psql('postgres', "CREATE DATABASE here$i");
	$primary->safe_psql('postgres', "CREATE DATABASE gone$i");
	$primary->safe_psql($_, 'CREATE EXTENSION hpsort; CREATE TABLE v AS SELECT generate_series(1, 1000) AS x') for "here$i", "gone$i";
}
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

my $begin = 'SET hpsort.algorithm = zero_compressed; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM v;';
# each sort has counters to zero and to look at, 200 MB of them; so many that they take some four seconds
sub few_sorts { return join ' + ', map { "cardinality(hpsort(ARRAY[i, i + 50000000 + $_]))" } 1 .. $_[0]; }
my $count = -time();
$standby->safe_psql('postgres', 'SET hpsort.algorithm = zero_compressed; SELECT ' . few_sorts(2) . ' FROM generate_series(1, 1) i');
$count = int(8 / ($count + time()));
$count = $count < 4 ? 4 : $count > 100 ? 100 : $count;
my $do = "i int := 1; n int; BEGIN RAISE INFO 'starts'; n := " . few_sorts($count) . "; RAISE INFO 'ends'; END";
my $vacuum = sub {
	$primary->safe_psql("here$_[0]", 'DELETE FROM v');
	$primary->safe_psql("here$_[0]", 'VACUUM v');
};
conflicts('a snapshot', 'here', $begin, "DO \$\$ DECLARE $do \$\$;", $vacuum,
	qr/ERROR:  canceling statement due to conflict with recovery/);
$primary->safe_psql("here$_", 'INSERT INTO v SELECT generate_series(1, 1000)') for 0 .. 3;
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
conflicts('a snapshot, below a subtransaction', 'here', $begin,
	"DO \$\$ BEGIN DECLARE $do; EXCEPTION WHEN division_by_zero THEN RAISE INFO 'caught'; END \$\$;", $vacuum,
	qr/FATAL:  terminating connection due to conflict with recovery/);

# with threads, if there is more than one processor
my $many = join ' + ', map { "cardinality(hpsort(a))" } 1 .. 40;
conflicts('a database', 'gone', 'SET hpsort.algorithm = comparison_free;',
	"DO \$\$ DECLARE a int[] := ARRAY(SELECT (i::int8 * 2654435761 % 2000000)::int FROM generate_series(1, 2000000) i); n int;
	BEGIN RAISE INFO 'starts'; n := $many; RAISE INFO 'ends'; END \$\$;",
	sub { $primary->safe_psql('postgres', "DROP DATABASE gone$_[0]") },
	qr/FATAL:  terminating connection due to conflict with recovery/);
is($standby->safe_psql('postgres', q{SELECT hpsort('{3,1,2}')}), '{1,2,3}', 'the standby goes on');

$standby->stop;
$primary->stop;
is(join('', grep { /WARNING:|PANIC:|TRAP:|terminated by signal/ } split /^/m, slurp_file($standby->logfile)), '', 'nothing in the log');

done_testing();
