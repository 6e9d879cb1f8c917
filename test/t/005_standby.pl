# On a hot standby: everything that only reads works.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', "autovacuum = off\nhpsort.enable_sort = off\n");
$primary->start;
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->append_conf('postgresql.conf', "hpsort.gpu_devices = 'cpu'\n");
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
my ($rc, $out, $err) = $standby->psql('postgres', q{SELECT hpsort_query('DELETE FROM t RETURNING x')});
like($err, qr/query must be a SELECT, TABLE or VALUES that only reads/, 'and only reads');

$standby->stop;
$primary->stop;
is(join('', grep { /WARNING:|PANIC:|TRAP:|terminated by signal/ } split /^/m, slurp_file($standby->logfile)), '', 'nothing in the log');

done_testing();
