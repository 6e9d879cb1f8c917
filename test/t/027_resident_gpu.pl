# Resident columns whose extents the GPU service keeps copies of, and counts: the answers are
# core's, whatever the service has, lacks, refuses or dies of.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use GpuService;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use ResidentColumns ();
use Test::More;

my $seed = $ENV{HPSORT_SEED} // int(rand(1 << 20));
srand($seed);
diag("seed $seed");

# The device is the service's CPU, and the setting that makes every session use it is "gpu".
my $node = new_server('resident_gpu', 'session_preload_libraries = hpsort', 'synchronize_seqscans = off', 'jit = off',
	'hpsort.debug_aggregate = force', 'hpsort.resident_memory = 64MB', "hpsort.resident_gpu_memory = '16MB'",
	'hpsort.device = gpu');
$node->safe_psql('postgres', $ResidentColumns::functions);

sub sql { return $node->safe_psql('postgres', $_[0]); }

# Values with every width, NULLs, and a table that is not all of it all-visible.
sql(q{CREATE TABLE t (id int, x int, y int, s smallint, b bigint, d date, n int, filler text);
INSERT INTO t SELECT i, i % 1000 - 500, (i::int8 * 7919 % 1000000)::int, i % 200, i % 70000 - 2147483648, date '2026-01-01' + i % 400,
	CASE WHEN i % 3 > 0 THEN i % 50 END, repeat('f', 30) FROM generate_series(1, 60000) i;
SELECT hpsort_keep('t', 'x', 'y', 's', 'b', 'd', 'n')});
sql('VACUUM ANALYZE t');
my @columns = qw(x y s b d n);

# What is asked of a column; the answer of each is one value.
my @questions = (
	'SELECT md5(string_agg(v || \':\' || c, \' \' ORDER BY v)) FROM (SELECT %1$s::text AS v, count(*) AS c FROM %2$s GROUP BY %1$s OFFSET 0) q',
	'SELECT count(*) FROM (SELECT DISTINCT %1$s FROM %2$s OFFSET 0) q',
	'SELECT count(DISTINCT %1$s) || \' \' || count(%1$s) || \' \' || count(*) || \' \' || min(%1$s) || \' \' || max(%1$s) FROM %2$s',
	'SELECT percentile_disc(array[0, 0.25, 0.5, 0.99, 1]) WITHIN GROUP (ORDER BY %1$s) FROM %2$s',
	'SELECT md5(string_agg(v, \' \')) FROM (SELECT %1$s::text AS v FROM %2$s ORDER BY %1$s OFFSET 0) q',
	'SELECT md5(string_agg(v::text, \' \')) FROM (SELECT %1$s AS v FROM (SELECT %1$s FROM %2$s ORDER BY %1$s DESC NULLS LAST OFFSET 0) q) r');
my $core = 'SET hpsort.enable_aggregate = off; SET hpsort.debug_aggregate = forbid; SET hpsort.debug_sort = forbid; SET hpsort.enable_resident = off;';

sub same
{
	my ($name, $table, @which) = @_;

	$table //= 't';
	foreach my $column (@which ? @which : @columns)
	{
		my @all = map { sprintf($_, $column, $table) } @questions;

		is(sql(join(';', @all)), sql($core . join(';', @all)), "$name: $table.$column");
	}
	# The column functions, of what they take.
	foreach my $column (grep { /^[xysn]$/ } (@which ? @which : @columns))
	{
		is(sql("SELECT md5(hpsort_column_array('$table', '$column')::text)"),
			sql("$core SELECT md5(array_agg($column ORDER BY $column)::text) FROM $table"), "$name: array of $table.$column");
	}
}

# Blocks that the GPU has counted, and those of the table.
sub gpu_blocks
{
	my ($column, $table) = @_;
	my $plan = sql("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT $column, count(*) FROM " . ($table // 't') . " GROUP BY $column");

	return $plan =~ /Resident Blocks: \d+ of \d+, (\d+) on the GPU/ ? $1 : 0;
}

sub warm { my ($table) = @_; sql("SELECT answer('$table', c), answer('$table', c), answer('$table', c) FROM unnest(array['x', 'y', 's', 'b', 'd', 'n']) c"); }

wait_running($node);
same('as they are captured');
warm('t');
my $all = sql("SELECT blocks_valid FROM hpsort_resident WHERE attribute = 'x'");
cmp_ok($all, '>', 500, 'resident');
is(gpu_blocks('x'), $all, 'all of them are counted by the service');
same('kept there');
is(service($node, 'fallbacks'), 0, 'nothing has failed');
is(sql("SET hpsort.device = cpu; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT x, count(*) FROM t GROUP BY x") =~ /on the GPU/, '', 'not where the CPU is asked for');
unlike(sql("SET hpsort.verify_resident = on; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT x, count(*) FROM t GROUP BY x"), qr/differs/, 'verified');
same('in processes side by side: set by role', 't', 'x', 'n') if sql("ALTER ROLE CURRENT_USER SET max_parallel_workers_per_gather = 2; ALTER ROLE CURRENT_USER SET parallel_setup_cost = 0;
	ALTER ROLE CURRENT_USER SET parallel_tuple_cost = 0; ALTER ROLE CURRENT_USER SET min_parallel_table_scan_size = 0; SELECT 1");
sql('ALTER ROLE CURRENT_USER RESET ALL');

# --- Rows change: other blocks are read from their pages, and the service's copies of these are not used

for my $round (1 .. 4)
{
	my $part = int(rand(60000));
	my $size = 1 + int(rand(3000));

	sql("UPDATE t SET x = x + 1, n = NULL WHERE id BETWEEN $part AND $part + $size");
	same("updated, round $round", 't', 'x', 'n');
	sql('DELETE FROM t WHERE id % 100 = ' . $round);
	same("deleted, round $round", 't', 'y');
	sql('VACUUM t') if $round % 2 == 0;
	same("vacuumed, round $round", 't', 'x', 'b');
}
is(sql("BEGIN; UPDATE t SET x = 7 WHERE id < 20000; SELECT md5(answer('t', 'x')) = md5(answer_of_core('t', 'x'));"), 't', 'own changes');

# --- Memory: little, none, and again

sql('CREATE TABLE big AS SELECT i::int8 * 7919 % 1000 AS x FROM generate_series(1, 600000) i');
sql("ALTER TABLE big ALTER x TYPE int; SELECT hpsort_keep('big', 'x')");
sql('VACUUM big');
sql("CREATE TABLE u AS SELECT * FROM t; SELECT hpsort_keep('u', 'x', 'y', 's', 'b', 'd', 'n')");
sql('VACUUM t; VACUUM u');
warm($_) for qw(t u);
configure($node, 'hpsort.resident_gpu_memory' => '1MB');
wait_running($node);
same('little memory', $_, 'x', 'y', 'n') for qw(t u t);
sql("SELECT answer('big', 'x')") for 1 .. 3;
my $counted = gpu_blocks('x', 'big');
my $kept = sql("SELECT blocks_valid FROM hpsort_resident WHERE relation = 'big'::regclass");
ok($counted > 0 && $counted < $kept, "as much as fits: $counted of $kept");
is(sql("SELECT md5(answer('big', 'x'))"), sql("SELECT md5(answer_of_core('big', 'x'))"), 'the rest is from memory');
configure($node, 'hpsort.resident_gpu_memory' => '0');
wait_running($node);
same('no memory', 't', 'x', 'n');
is(gpu_blocks('x'), 0, 'none there');
configure($node, 'hpsort.resident_gpu_memory' => '16MB');
wait_running($node);
same('memory again', 't', 'x', 'y');
cmp_ok(gpu_blocks('x'), '>', 100, 'it is used');

# --- The service is killed: between queries, and while it takes and adds extents

for my $round (1 .. 3)
{
	kill 'KILL', service($node, 'pid');
	same("killed before, round $round", 't', 'x') if wait_running($node);
}

# Each fault at each point: whoever does not insist on the GPU gets the answer from memory.
my $expected = sql("SELECT md5(answer_of_core('big', 'x'))");
my $ask = "SET hpsort.device = auto; SELECT md5(answer('big', 'x'))";
is(sql($ask), $expected, 'captured') for 1 .. 3;
foreach my $fault (qw(kill:keep kill:extents garbage:extents oom:keep sticky:extents hang:extents))
{
	# A service that was just started has no extents, and so both points are met.
	configure($node, 'hpsort.gpu_fault' => $fault, 'hpsort.gpu_wait_timeout' => $fault =~ /hang/ ? '400ms' : '20s');
	wait_for('service with the fault', sub { service($node, 'state') eq 'running' });
	my $fallbacks = service($node, 'fallbacks');
	my $met = 0;
	for (1 .. 5)
	{
		is(sql($ask), $expected, "$fault: right");
		$met = service($node, 'fallbacks') > $fallbacks;
		last if $met || $fault eq 'oom:keep';
	}
	# Without room for an extent the job goes on without it.
	ok($met, "$fault: it was met, and counted") if $fault ne 'oom:keep';
	configure($node, 'hpsort.gpu_fault' => '', 'hpsort.gpu_wait_timeout' => '20s');
	wait_running($node);
	is(sql($ask), $expected, "$fault: and the next one");
}

# --- The server crashes, and its LSNs and generations are given anew: what the service had is forgotten

sql('CHECKPOINT');
for my $round (1 .. 2)
{
	my $pid = sql('SELECT pid FROM pg_stat_activity WHERE backend_type = \'checkpointer\'');

	kill 'KILL', $pid;
	wait_for('the server is up again', sub { my ($rc, $out) = $node->psql('postgres', 'SELECT 1'); return $rc == 0 && !grep { $_ == $pid } split /\n/, ($node->psql('postgres', 'SELECT pid FROM pg_stat_activity'))[1] // ''; });
	wait_running($node);
	# The same generations are now those of another table's extents.
	warm($round % 2 ? 'u' : 't');
	warm($round % 2 ? 't' : 'u');
	same("after a crash, round $round", $_, 'x', 'n') for qw(u t);
	cmp_ok(gpu_blocks('x', $_), '>', 100, "used again: $_") for qw(t u);
}

$node->stop;
is(scalar(services_alive($node)), 0, 'no service is left');
done_testing();
