# Dump and restore, pg_upgrade, and loading by configuration.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Cwd ();
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $old = new_cluster('old');
# preloaded: settings from the file are checked, and no CREATE EXTENSION is needed for them
$old->append_conf('postgresql.conf', "shared_preload_libraries = 'hpsort'\nhpsort.cost_factor = 2\nautovacuum = off\n");
$old->start;
is($old->safe_psql('postgres', 'SHOW hpsort.cost_factor'), '2', 'setting from the configuration file');
my ($rc, $out, $err) = $old->psql('postgres', 'SET hpsort.cost_factors = 1');
like($err, qr/invalid configuration parameter name "hpsort.cost_factors"/, 'prefix reserved from the start');

# Objects of every kind that can use it.
$old->safe_psql('postgres', q{
	CREATE SCHEMA tools;
	CREATE EXTENSION hpsort SCHEMA tools VERSION '1.0';
	ALTER EXTENSION hpsort UPDATE;
	CREATE TABLE t (id int PRIMARY KEY, a int4[], sorted int4[] GENERATED ALWAYS AS (tools.hpsort(a)) STORED,
		CHECK (tools.hpsort(a, -1000, 100000) IS NOT NULL));
	CREATE INDEX t_sorted ON t (tools.hpsort(a, true));
	INSERT INTO t SELECT n, ARRAY(SELECT n * i % 17 FROM generate_series(1, n) i) FROM generate_series(0, 50) n;
	CREATE VIEW v AS SELECT id, tools.hpsort_order(a) AS o, (SELECT tools.hpsort_agg(x) FROM unnest(a) x) AS s,
		(SELECT tools.hpsort_agg(x, 0, 100, true) FROM unnest(a) x) AS d, ARRAY(SELECT tools.hpsort_set(a)) AS h FROM t;
	CREATE MATERIALIZED VIEW m AS SELECT tools.hpsort_runs_agg(x) AS runs FROM t, unnest(a) x;
	CREATE TABLE r (run tools.hpsort_run, runs tools.hpsort_run[]);
	INSERT INTO r SELECT runs[1], runs FROM m;
	-- in the row, out of line, compressed, and indexed
	CREATE TABLE s (id int, m tools.int4multiset, small tools.int4multiset UNIQUE, median float8 GENERATED ALWAYS AS (tools.median(m)) STORED);
	ALTER TABLE s ALTER m SET STORAGE extended;
	INSERT INTO s SELECT n, tools.int4multiset_agg(i * n, i), tools.int4multiset_agg(n, i) FROM generate_series(1, 3) n, generate_series(1, n * n * 2000) i GROUP BY n;
	CREATE INDEX ON s USING hash (small);
	CREATE MATERIALIZED VIEW sums AS SELECT tools.int4multiset_sum(m) AS m FROM s;
	-- columns declared resident; what is left of a dropped table and of a dropped column is not dumped
	CREATE TABLE "Kept" (x int, "Y" int, gone int);
	CREATE TABLE dropped (x int);
	CREATE MATERIALIZED VIEW kept_view AS SELECT x FROM "Kept";
	SELECT tools.hpsort_keep('"Kept"', 'x', 'Y', 'gone'), tools.hpsort_keep('kept_view', 'x'), tools.hpsort_keep('dropped', 'x');
	DROP TABLE dropped;
	ALTER TABLE "Kept" DROP gone;
	CREATE FUNCTION f(int4[]) RETURNS SETOF int4 LANGUAGE sql AS 'SELECT tools.hpsort_set($1)';
	-- what is restored is run with an empty search_path
	CREATE FUNCTION named() RETURNS SETOF int4 LANGUAGE sql SET search_path = public, tools
		AS $$SELECT hpsort_query('SELECT id FROM t WHERE id < 5', descending => true)$$;
	CREATE MATERIALIZED VIEW q AS SELECT tools.hpsort_query('SELECT id FROM public.t WHERE id < 5') AS x, named() AS y;
	ALTER DATABASE postgres SET hpsort.algorithm = 'radix';
});
my $contents = q{SELECT string_agg(t::text, ' ' ORDER BY id) FROM t; SELECT string_agg(v::text, ' ' ORDER BY id) FROM v;
	SELECT runs FROM m; SELECT id, md5(m::text), small, median FROM s ORDER BY small; SELECT md5(m::text), tools.nth(m, 500000) FROM sums;
	SELECT x, y FROM q; SELECT run, runs FROM r; SELECT f('{3,1,2}'); SELECT relation, attribute FROM tools.hpsort_kept JOIN pg_class ON pg_class.oid = relation
	WHERE attribute <> 'gone' ORDER BY relation::text, attribute; SELECT extversion, extnamespace::regnamespace FROM pg_extension WHERE extname = 'hpsort'};
my $expected = $old->safe_psql('postgres', $contents);
like($expected, qr/1\.1\|tools$/, 'contents');
is($old->safe_psql('postgres', 'SHOW hpsort.algorithm'), 'radix', 'setting of a database');
is($old->safe_psql('postgres', 'SELECT * FROM tools.hpsort_preload()'), 't|shared_preload_libraries|', 'preloaded');
$old->safe_psql('postgres', 'CREATE DATABASE other');
($rc, $out, $err) = $old->psql('other', 'CREATE EXTENSION hpsort');
is($err, '', 'and so CREATE EXTENSION has nothing to say');
$old->safe_psql('postgres', 'DROP DATABASE other');

# Dump and restore
my $dump = $old->basedir . '/dump';
$old->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $old->connstr('postgres') ], 'pg_dump');
$old->safe_psql('postgres', 'CREATE DATABASE restored');
$old->command_ok([ 'pg_restore', '--exit-on-error', '-d', $old->connstr('restored'), $dump ], 'pg_restore');
is($old->safe_psql('restored', $contents), $expected, 'the same after pg_restore');
is($old->safe_psql('restored', 'SELECT count(*) FROM tools.hpsort_kept'), '3', 'and no declaration of what was dropped');
my @plain = map {
	my ($stdout, $stderr) = run_command([ 'pg_dump', '-d', $old->connstr($_) ]);
	# a random word since 2025
	$stdout =~ s/^\\(un)?restrict .*$//mg;
	$stdout;
} qw(postgres restored);
is($plain[1], $plain[0], 'the same dump');
like($plain[0], qr/CREATE EXTENSION IF NOT EXISTS hpsort WITH SCHEMA tools/, 'dumped as an extension');
unlike($plain[0], qr/CREATE (FUNCTION|AGGREGATE|TYPE) tools\.hpsort/, 'and not as its members');
my ($binary) = run_command([ 'pg_dump', '--binary-upgrade', '-d', $old->connstr('postgres') ]);
like($binary, qr/binary_upgrade_create_empty_extension\('hpsort'/, 'pg_dump --binary-upgrade');
$old->safe_psql('postgres', 'DROP DATABASE restored');

$old->stop;
is(join('', grep { /WARNING:|PANIC:|TRAP:|terminated by signal/ } split /^/m, slurp_file($old->logfile)), '', 'old server: nothing in the log');

# pg_upgrade, to the same version: the library is loaded in binary upgrade mode.
my $new = new_cluster('new');
$new->append_conf('postgresql.conf', "shared_preload_libraries = 'hpsort'\nautovacuum = off\n");
my $bindir = $old->config_data('--bindir');
my $cwd = Cwd::getcwd();
chdir($new->basedir) or die;
my ($stdout, $stderr) = run_command(
	[
		'pg_upgrade', '--no-sync', '-d', $old->data_dir, '-D', $new->data_dir, '-b', $bindir, '-B', $bindir,
		'-s', $new->host, '-p', $old->port, '-P', $new->port
	]);
chdir($cwd);
like($stdout, qr/Upgrade Complete/, 'pg_upgrade') or diag("$stdout\n$stderr");
$new->start;
is($new->safe_psql('postgres', $contents), $expected, 'the same after pg_upgrade');
is($new->safe_psql('postgres', 'SHOW hpsort.algorithm'), 'radix', 'setting of a database after pg_upgrade');
$new->safe_psql('postgres', 'ALTER EXTENSION hpsort SET SCHEMA public; DROP MATERIALIZED VIEW m; DROP EXTENSION hpsort CASCADE');
is($new->safe_psql('postgres', q{SELECT count(*) FROM pg_proc WHERE proname ~ '^hpsort'}), '0', 'and gone');
$new->safe_psql('postgres', 'CREATE EXTENSION hpsort');

# Settings that make no sense are refused, or warned of when it is too late to refuse.
for my $bad ([ 'hpsort.cost_factor', '-1' ], [ 'hpsort.algorithm', 'quick' ], [ 'hpsort.device', 'tpu' ])
{
	($rc, $out, $err) = $new->psql('postgres', "ALTER SYSTEM SET $bad->[0] = '$bad->[1]'");
	isnt($rc, 0, "ALTER SYSTEM SET $bad->[0]: refused");
	like($err, qr/$bad->[0]/, 'by name');
}
$new->safe_psql('postgres', 'ALTER SYSTEM RESET ALL');

# Loaded by each session, without any CREATE EXTENSION; and by LOAD.
$new->append_conf('postgresql.conf', "shared_preload_libraries = ''\nsession_preload_libraries = 'hpsort'\nhpsort.cost_factor = 3\n");
$new->restart;
is($new->safe_psql('template1', 'SHOW hpsort.cost_factor'), '3', 'session_preload_libraries');
is($new->safe_psql('postgres', 'SELECT * FROM hpsort_preload()'), 't|session_preload_libraries|', 'preloaded');
$new->append_conf('postgresql.conf', "session_preload_libraries = ''\n");
$new->reload;
$new->safe_psql('postgres', 'CREATE DATABASE dumped');
($rc, $out, $err) = $new->psql('dumped', 'CREATE EXTENSION hpsort');
like($err, qr/NOTICE:  the first query of a session is planned without hpsort\n.*run: ALTER DATABASE dumped SET session_preload_libraries = 'hpsort';$/s,
	'CREATE EXTENSION says how to preload hpsort');
($stdout) = run_command([ 'pg_dump', '-d', $new->connstr('dumped') ]);
$new->safe_psql('postgres', 'CREATE DATABASE restored');
($rc, $out, $err) = $new->psql('restored', $stdout);
is($err, '', 'a dump that is restored does not');
is($new->safe_psql('restored', 'SELECT count(*) FROM hpsort_preload()'), '1', 'although it creates the extension');
$new->append_conf('postgresql.conf', "session_preload_libraries = ''\nhpsort.cost_factor = -1\n");
$new->restart;
($rc, $out, $err) = $new->psql('template1', "LOAD 'hpsort'; SHOW hpsort.cost_factor; SHOW hpsort.device");
is($out, "1\nauto", 'LOAD, and the default for what is impossible');
like($err, qr/WARNING:  -1 is outside the valid range for parameter "hpsort.cost_factor"/, 'which is said');
$new->stop;
is(join('', grep { /PANIC:|TRAP:|terminated by signal/ } split /^/m, slurp_file($new->logfile)), '', 'new server: no crash in the log');

done_testing();
