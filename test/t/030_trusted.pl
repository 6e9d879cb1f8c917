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

# Tables of that name that a user without a superuser's rights has made members before the script makes its own: neither code nor settings of
# that user reach those who call hpsort_keep, and no declarations of other users' tables are made.
as('owner', 'postgres', 'CREATE DATABASE trapped');
as('owner', 'trapped', q{CREATE SCHEMA evil; CREATE SCHEMA trap; GRANT USAGE ON SCHEMA evil, trap TO public; CREATE EXTENSION hpsort VERSION '1.0' SCHEMA evil;
	CREATE TABLE trap.hpsort_kept (relation regclass, attribute name, PRIMARY KEY (relation, attribute));
	CREATE FUNCTION trap.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('search_path', 'evil, pg_catalog', false);
		INSERT INTO evil.hpsort_kept VALUES ('public.roots', 'x'); CREATE TABLE trap.sprung AS SELECT current_user AS who; RETURN new; END $$;
	CREATE TRIGGER note BEFORE INSERT ON trap.hpsort_kept FOR EACH ROW EXECUTE FUNCTION trap.note();
	CREATE CONSTRAINT TRIGGER later AFTER INSERT ON trap.hpsort_kept DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION trap.note();
	ALTER EXTENSION hpsort ADD TABLE trap.hpsort_kept});
is(as('owner', 'trapped', q{ALTER EXTENSION hpsort UPDATE; CREATE TABLE evil.own (x int); SELECT evil.hpsort_keep('evil.own', 'x')}), '', 'an update with another table of that name');
is($node->safe_psql('trapped', q{SET search_path = pg_catalog, public; CREATE TABLE public.roots (x int); SELECT evil.hpsort_keep('public.roots', 'x'); SHOW search_path}),
	"\npg_catalog, public", 'hpsort_keep by a superuser leaves the settings');
is($node->safe_psql('trapped', q{SELECT count(*) FROM trap.hpsort_kept}), '0', 'another table of that name is not written');
is($node->safe_psql('trapped', q{SELECT to_regclass('trap.sprung') IS NULL}), 't', 'nor are its triggers run');
is($node->safe_psql('trapped', q{SELECT string_agg(relation::text, ' ' ORDER BY relation::text) FROM evil.hpsort_kept}), 'evil.own roots', 'but the table of the script is');

# A trigger that a superuser adds acts as the table's owner: now, with settings of its own, and declares nothing else.
$node->safe_psql('trapped', q{CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM set_config('search_path', 'evil, pg_catalog', false); RETURN NULL; END $$;
	CREATE TRIGGER note AFTER INSERT ON evil.hpsort_kept FOR EACH ROW EXECUTE FUNCTION public.note()});
is($node->safe_psql('trapped', q{CREATE TABLE public.more (x int); SET search_path = public; SELECT evil.hpsort_keep('more', 'x'); SHOW search_path}), "\npublic", 'what a trigger sets ends with the statement');

# The trigger functions are of no use for other tables: not to all, and not as triggers of other events.
like(as('other', 'mine', 'CREATE TABLE others.q (a int); CREATE TRIGGER q BEFORE INSERT ON others.q FOR EACH ROW EXECUTE FUNCTION hpsort_support_kept_insert()'), qr/permission denied for function/, 'no trigger of a user');
as('other', 'mine', 'DROP TABLE others.q');
for my $trigger ('AFTER INSERT ON %s FOR EACH STATEMENT', 'BEFORE INSERT ON %s FOR EACH STATEMENT', 'BEFORE DELETE ON %s FOR EACH ROW', 'AFTER INSERT ON %s FOR EACH ROW')
{
	my ($rc, $out, $err) = $node->psql('mine', sprintf("CREATE TABLE odd (a int); CREATE TRIGGER q $trigger EXECUTE FUNCTION hpsort_support_kept_insert(); INSERT INTO odd VALUES (1); DELETE FROM odd", 'odd'));
	like($err, qr/is a trigger of table "hpsort_kept" only/, $trigger);
	$node->safe_psql('mine', 'DROP TABLE odd');
}
for my $columns ('', 'a text', 'a float8')
{
	my ($rc, $out, $err) = $node->psql('mine', "CREATE TABLE odd ($columns); CREATE TRIGGER q BEFORE INSERT ON odd FOR EACH ROW EXECUTE FUNCTION hpsort_support_kept_insert(); INSERT INTO odd DEFAULT VALUES");
	like($err, qr/is a trigger of table "hpsort_kept" only/, "a table of ($columns)");
	$node->safe_psql('mine', 'DROP TABLE odd');
}
like(as('owner', 'mine', q{INSERT INTO hpsort_kept VALUES (99999999::oid::regclass, 'x'); SELECT count(*) FROM hpsort_kept WHERE relation = 99999999::oid}), qr/^0$/, 'no declaration of what does not exist');

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
