# Who owns a database, and is no superuser, creates the extension there, and restores dumps that have it: all of them,
# or without some of the tables that have declared columns.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_cluster('trusted');
$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\nhpsort.resident_memory = 16MB\n");
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN CREATEDB; CREATE ROLE other LOGIN; CREATE ROLE owner2 LOGIN CREATEDB');

# A statement of a role: what it prints, or its error.
sub as
{
	my ($role, $database, $sql) = @_;
	my ($rc, $out, $err) = $node->psql($database, $sql, connstr => $node->connstr($database) . " user=$role");

	return $rc == 0 ? $out : $err;
}

# A dump of a database, by its owner, restored into another one, by the same or another owner.
sub restore
{
	my ($into, $role, @dump) = @_;
	my $file = $node->basedir . "/$into.dump";

	$node->command_ok([ 'pg_dump', '-Fc', '-f', $file, '-d', $node->connstr('mine') . ' user=owner', @dump ], "$into: pg_dump @dump");
	as($role, 'postgres', "CREATE DATABASE $into");
	$node->command_ok([ 'pg_restore', '--exit-on-error', $role eq 'owner' ? () : '--no-owner', '-d', $node->connstr($into) . " user=$role", $file ], "$into: pg_restore by $role");
	return as($role, $into, "SELECT string_agg(relation || '.' || attribute, ' ' ORDER BY relation::text, attribute) FROM hpsort_kept");
}

as('owner', 'postgres', 'CREATE DATABASE mine');
unlike(as('owner', 'mine', 'CREATE EXTENSION hpsort'), qr/ERROR|session_preload_libraries/, 'CREATE EXTENSION by the owner of the database');
is(as('owner', 'mine', q{SELECT rolname FROM pg_extension JOIN pg_roles r ON r.oid = extowner WHERE extname = 'hpsort'}), 'owner', 'who owns it');
is(as('owner', 'mine', q{SELECT count(*) FROM pg_depend d JOIN pg_proc p ON classid = 'pg_proc'::regclass AND objid = p.oid JOIN pg_roles r ON r.oid = proowner
	WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'hpsort') AND NOT rolsuper}), '0', 'but none of its functions');
like(as('other', 'mine', 'CREATE EXTENSION hpsort SCHEMA pg_temp'), qr/ERROR/, 'others do not create it');
like(as('owner', 'mine', "LOAD 'hpsort'"), qr/access to library "hpsort" is not allowed/, 'nor does the owner load the library');
like(as('owner', 'mine', 'SELECT hpsort_stat_gpu_reset()'), qr/permission denied/, "or reset the server's statistics");

# Declarations are of own tables, whichever way they are made.
as('owner', 'mine', q{CREATE SCHEMA big; CREATE TABLE big.facts AS SELECT i % 10 AS x, i AS "Y" FROM generate_series(1, 1000) i; CREATE TABLE big.more AS TABLE big.facts;
	CREATE TABLE small AS TABLE big.facts; CREATE SCHEMA others; GRANT ALL ON SCHEMA others TO other; GRANT CREATE ON SCHEMA public TO other});
as('other', 'mine', 'CREATE TABLE others.t AS SELECT 1 AS x');
as('owner', 'mine', q{SELECT hpsort_keep('big.facts', 'x', 'Y'), hpsort_keep('big.more', 'x', 'Y'), hpsort_keep('small', 'x')});
like(as('owner', 'mine', q{INSERT INTO hpsort_kept VALUES ('others.t', 'x')}), qr/must be owner of table t/, 'no declaration for others');
like(as('other', 'mine', q{INSERT INTO hpsort_kept VALUES ('others.t', 'x')}), qr/permission denied for table hpsort_kept/, 'nor by others');
like(as('owner', 'mine', q{DELETE FROM hpsort_kept}), qr/permission denied for table hpsort_kept/, 'nor otherwise than by hpsort_forget');
as('other', 'mine', q{SELECT hpsort_keep('others.t', 'x')});
is(as('other', 'mine', q{SELECT count(*) FROM hpsort_kept WHERE relation = 'others.t'::regclass}), '1', 'hpsort_keep is for all');
as('other', 'mine', 'DROP TABLE others.t');

# A table of that name that the owner has made a member, and that is found first: those who call hpsort_keep run no code of
# the owner with their own rights.
as('owner', 'postgres', 'CREATE DATABASE trapped');
as('owner', 'trapped', q{CREATE EXTENSION hpsort; CREATE SCHEMA trap; CREATE TABLE trap.hpsort_kept (relation regclass, attribute name, PRIMARY KEY (relation, attribute));
	CREATE FUNCTION trap.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN CREATE TABLE trap.sprung AS SELECT current_user AS who; RETURN NULL; END $$;
	CREATE CONSTRAINT TRIGGER note AFTER INSERT ON trap.hpsort_kept DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION trap.note();
	ALTER EXTENSION hpsort ADD TABLE trap.hpsort_kept});
$node->safe_psql('trapped', 'ALTER EXTENSION hpsort DROP TABLE public.hpsort_kept; ALTER EXTENSION hpsort ADD TABLE public.hpsort_kept; CREATE TABLE roots (x int)');
my ($rc, $out, $err) = $node->psql('trapped', q{SELECT hpsort_keep('roots', 'x')});
like($err, qr/security-restricted operation/, 'a deferred trigger does not wait for the rights of the caller');
is($node->safe_psql('trapped', q{SELECT to_regclass('trap.sprung') IS NULL}), 't', 'and is not run');

# Dumps.
my $all = 'big.facts.Y big.facts.x big.more.Y big.more.x small.x';
is(restore('all_of_it', 'owner'), $all, 'declarations are restored');
is(restore('by_another', 'owner2'), $all, 'by another owner');
is(restore('without_one', 'owner', '--exclude-table=big.facts'), 'big.more.Y big.more.x small.x', 'without a table, its declarations are left out');
is(restore('without_some', 'owner', '--exclude-schema=big'), 'small.x', 'without a schema');
is(as('owner', 'without_some', q{SELECT hpsort_keep('small', 'Y'); SELECT count(*) FROM hpsort_kept}), "\n2", 'and others are made');

# An older version is updated, and all is dropped, by the owner.
as('owner', 'postgres', 'CREATE DATABASE updated');
as('owner', 'updated', q{CREATE EXTENSION hpsort VERSION '1.0'; ALTER EXTENSION hpsort UPDATE; CREATE TABLE t AS SELECT 1 AS x});
is(as('owner', 'updated', q{SELECT hpsort_keep('t', 'x'); INSERT INTO hpsort_kept VALUES ('public.nothing', 'x'); SELECT relation, attribute FROM hpsort_kept}), "\nt|x", 'ALTER EXTENSION UPDATE by the owner');
is(as('owner', 'updated', 'DROP EXTENSION hpsort; SELECT count(*) FROM pg_extension WHERE extname = $$hpsort$$'), '0', 'DROP EXTENSION by the owner');
$node->stop;
is(join('', grep { /PANIC:|TRAP:|terminated by signal/ } split /^/m, slurp_file($node->logfile)), '', 'no process has died');
done_testing();
