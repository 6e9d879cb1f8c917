# ALTER EXTENSION hpsort UPDATE: an extension that was updated has the same objects as
# a new one of that version, and the scripts of released versions stay as they are.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Digest::SHA;
use File::Copy qw(copy);
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# --- sql/released.sha256 has the scripts that were released

my %released = map { reverse split } split /\n/, slurp_file('sql/released.sha256');
ok(exists $released{'hpsort--1.0.sql'}, 'the first release is among the released scripts');
for my $script (sort keys %released)
{
	is(Digest::SHA->new(256)->addfile("sql/$script")->hexdigest, $released{$script},
		"$script is as it was released: a change belongs into a script that updates to the next version");
}

my $node = new_cluster('node');
$node->append_conf('postgresql.conf', "client_min_messages = warning\nautovacuum = off\n");
$node->start;

# --- What an extension consists of

# Each member with all that a script can say of it, as lines of text.  A kind of object
# without a definition here is an error, so that whoever adds the first one adds that.
my $members = q{
	SELECT string_agg(line, E'\n' ORDER BY line COLLATE "C") FROM (
		SELECT concat_ws(' | ', i.type, i.identity,
			CASE
				WHEN d.classid = 'pg_proc'::regclass AND p.prokind = 'a' THEN
					(SELECT (to_jsonb(a) || jsonb_build_object('aggfnoid', NULL, 'transition', a.aggtransfn::regprocedure, 'final', a.aggfinalfn,
						'aggtranstype', a.aggtranstype::regtype, 'aggmtranstype', a.aggmtranstype::regtype,
						'arguments', pg_get_function_arguments(p.oid), 'result', pg_get_function_result(p.oid),
						'attributes', ARRAY[p.proparallel::text, p.provolatile::text, p.proisstrict::text]))::text FROM pg_aggregate a WHERE a.aggfnoid = p.oid)
				WHEN d.classid = 'pg_proc'::regclass THEN pg_get_functiondef(p.oid)
				WHEN d.classid = 'pg_class'::regclass AND c.relkind = 'v' THEN pg_get_viewdef(c.oid)
				WHEN d.classid = 'pg_class'::regclass AND c.relkind = 'r' THEN
					(SELECT string_agg(format('%s %s %s %s', attname, format_type(atttypid, atttypmod), attnotnull, col_description(attrelid, attnum)), ', ' ORDER BY attnum)
					 FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) ||
					(SELECT string_agg(pg_get_constraintdef(k.oid), ', ' ORDER BY conname) FROM pg_constraint k WHERE conrelid = c.oid) ||
					(SELECT string_agg(concat_ws(' ', pg_get_triggerdef(g.oid), tgenabled, obj_description(g.oid, 'pg_trigger')), ', ' ORDER BY tgname)
					 FROM pg_trigger g WHERE tgrelid = c.oid)
				WHEN d.classid = 'pg_type'::regclass AND t.typtype = 'c' THEN
					(SELECT string_agg(format('%s %s', attname, format_type(atttypid, atttypmod)), ', ' ORDER BY attnum)
					 FROM pg_attribute WHERE attrelid = t.typrelid AND attnum > 0 AND NOT attisdropped)
				WHEN d.classid = 'pg_type'::regclass AND t.typtype = 'b' AND t.typcategory <> 'A' THEN
					concat_ws(' ', t.typlen, t.typalign, t.typstorage, t.typcategory, t.typinput, t.typoutput, t.typreceive, t.typsend)
				WHEN d.classid = 'pg_type'::regclass AND t.typtype = 'd' THEN
					concat_ws(' ', t.typbasetype::regtype, t.typnotnull, t.typdefault, t.typcategory)
				WHEN d.classid = 'pg_operator'::regclass THEN
					(SELECT concat_ws(' ', o.oprcode::regprocedure, o.oprresult::regtype, o.oprcom::regoperator, o.oprnegate::regoperator,
						o.oprrest, o.oprjoin, o.oprcanmerge, o.oprcanhash) FROM pg_operator o WHERE o.oid = d.objid)
				WHEN d.classid = 'pg_cast'::regclass THEN
					(SELECT concat_ws(' ', k.castfunc::regprocedure, k.castcontext, k.castmethod) FROM pg_cast k WHERE k.oid = d.objid)
				WHEN d.classid = 'pg_opclass'::regclass THEN
					(SELECT concat_ws(' ', f.opfname, k.opcintype::regtype, k.opcdefault, k.opckeytype::regtype)
					 FROM pg_opclass k JOIN pg_opfamily f ON k.opcfamily = f.oid WHERE k.oid = d.objid)
				WHEN d.classid = 'pg_opfamily'::regclass THEN
					concat_ws(' ',
						(SELECT string_agg(concat_ws(' ', amopstrategy, amopopr::regoperator), ', ' ORDER BY amopstrategy) FROM pg_amop WHERE amopfamily = d.objid),
						(SELECT string_agg(concat_ws(' ', amprocnum, amproc::regprocedure), ', ' ORDER BY amprocnum) FROM pg_amproc WHERE amprocfamily = d.objid))
				-- made with their element and row types
				WHEN d.classid = 'pg_type'::regclass AND t.typcategory = 'A' THEN 'array'
				ELSE ('no definition of ' || i.type)::int::text
			END,
			'comment ' || obj_description(d.objid, d.classid::regclass::name),
			'rights ' || coalesce(p.proacl, c.relacl, t.typacl)::text,
			'initially ' || (SELECT string_agg(n.initprivs::text, ' ') FROM pg_init_privs n WHERE n.classoid = d.classid AND n.objoid = d.objid)) AS line
		FROM pg_extension e
			JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
			CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, d.objsubid) i
			LEFT JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
			LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND d.objid = c.oid
			LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND d.objid = t.oid
		WHERE e.extname = 'hpsort'
		UNION ALL
		SELECT concat_ws(' | ', 'extension', extversion, extrelocatable::text, extconfig::regclass[]::text, extcondition::text) FROM pg_extension WHERE extname = 'hpsort'
	) AS lines};

my $databases = 0;

# The extension's objects after these statements in a new database, by \dx+ and by $members.
sub objects_after
{
	my (@statements) = @_;
	my $database = 'db' . $databases++;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, join('', map { "$_;\n" } @statements));
	my $objects = $node->safe_psql($database, "\\dx+ hpsort\n$members");
	$node->safe_psql('postgres', "DROP DATABASE $database");
	return $objects;
}

# Both have a line for each of the extension's functions.
my $version = $node->safe_psql('postgres', "SELECT default_version FROM pg_available_extensions WHERE name = 'hpsort'");
my $new = objects_after('CREATE EXTENSION hpsort');
like($new, qr/^function hpsort_preload\(\)$/m, 'a new extension in \dx+');
like($new, qr/^function \| public\.hpsort_preload\(\) \| CREATE OR REPLACE FUNCTION/m, 'and by definitions');
is(objects_after('CREATE EXTENSION hpsort'), $new, 'the same in another database');

# The comparison finds whatever an update could leave out.
for my $change (
	'ALTER EXTENSION hpsort DROP FUNCTION hpsort_last()',
	'CREATE FUNCTION hpsort_more() RETURNS int LANGUAGE sql RETURN 1; ALTER EXTENSION hpsort ADD FUNCTION hpsort_more()',
	"COMMENT ON FUNCTION hpsort_last() IS 'something else'",
	'COMMENT ON VIEW hpsort_stat_gpu IS NULL',
	'ALTER FUNCTION hpsort_order COST 201',
	'ALTER FUNCTION hpsort_order PARALLEL RESTRICTED',
	'ALTER FUNCTION hpsort_order STRICT',
	'ALTER FUNCTION hpsort_query ROWS 7',
	'GRANT EXECUTE ON FUNCTION hpsort_stat_gpu_reset() TO PUBLIC',
	'REVOKE SELECT ON hpsort_stat_gpu FROM PUBLIC',
	'REVOKE EXECUTE ON FUNCTION hpsort_agg(int4) FROM PUBLIC',
	'ALTER TYPE hpsort_run ADD ATTRIBUTE more int',
	'ALTER VIEW hpsort_stat_gpu RENAME COLUMN jobs TO sorts',
	'ALTER TABLE hpsort_kept ALTER relation TYPE oid',
	'ALTER TABLE hpsort_kept DROP CONSTRAINT hpsort_kept_pkey, ADD PRIMARY KEY (attribute, relation)',
	'ALTER TABLE hpsort_kept ENABLE TRIGGER hpsort_kept_changed',
	'COMMENT ON COLUMN hpsort_kept.attribute IS NULL',
	'COMMENT ON TRIGGER hpsort_kept_changed ON hpsort_kept IS NULL',
	"UPDATE pg_extension SET extcondition = '{}' WHERE extname = 'hpsort'",
	'ALTER TYPE int4multiset SET (STORAGE = extended)',
	'ALTER OPERATOR @> (int4multiset, int4) SET (RESTRICT = NONE)',
	'ALTER EXTENSION hpsort DROP CAST (int4multiset AS int4[]); DROP CAST (int4multiset AS int4[])',
	'ALTER OPERATOR FAMILY int4multiset_ops USING hash DROP FUNCTION 2 (int4multiset, int4multiset)',
	'COMMENT ON OPERATOR CLASS int4multiset_ops USING btree IS NULL',
	'CREATE OR REPLACE AGGREGATE hpsort_agg(int4) (SFUNC = hpsort_support_agg_transfn, STYPE = internal, SSPACE = 193,
		FINALFUNC = hpsort_support_agg_finalfn, COMBINEFUNC = hpsort_support_agg_combine, SERIALFUNC = hpsort_support_agg_serialize,
		DESERIALFUNC = hpsort_support_agg_deserialize, PARALLEL = SAFE)')
{
	isnt(objects_after('CREATE EXTENSION hpsort', $change), $new, "a difference: $change");
}

# --- Every version that there is can be updated to the default one

for my $old (split /\n/, $node->safe_psql('postgres', qq{SELECT version FROM pg_available_extension_versions
	WHERE name = 'hpsort' AND version <> '$version' ORDER BY version}))
{
	is(objects_after("CREATE EXTENSION hpsort VERSION '$old'", "ALTER EXTENSION hpsort UPDATE TO '$version'"), $new, "$old updated to $version");
}

# --- A next version, as the one to come will be made

SKIP:
{
	skip 'extensions of other directories: PostgreSQL 18', 5 if $node->pg_version < 18;

	my $dir = PostgreSQL::Test::Utils::tempdir();
	my $addition = q{
		CREATE FUNCTION hpsort_next(keys int4[]) RETURNS int4[] AS 'MODULE_PATHNAME', 'hpsort' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
		COMMENT ON FUNCTION hpsort_next(int4[]) IS 'added by the next version';
		ALTER FUNCTION hpsort_order(int4[], bool, bool) COST 300;
	};
	my $updated = sub {
		my ($update) = @_;

		append_to_file("$dir/extension/hpsort--$version--99.sql.new", $update);
		rename("$dir/extension/hpsort--$version--99.sql.new", "$dir/extension/hpsort--$version--99.sql") or die $!;
		return objects_after("CREATE EXTENSION hpsort VERSION '$version'", 'ALTER EXTENSION hpsort UPDATE');
	};

	mkdir "$dir/extension" or die $!;
	copy("sql/hpsort--$version.sql", "$dir/extension/hpsort--$version.sql") or die $!;
	copy("sql/hpsort--$version.sql", "$dir/extension/hpsort--99.sql") or die $!;
	append_to_file("$dir/extension/hpsort--99.sql", $addition);
	(my $control = slurp_file('hpsort.control')) =~ s/^default_version = .*$/default_version = '99'/m or die;
	append_to_file("$dir/extension/hpsort.control", $control);
	$node->append_conf('postgresql.conf', "extension_control_path = '$dir:\$system'\n");
	$node->reload;

	my $next = objects_after('CREATE EXTENSION hpsort');
	like($next, qr/^extension \| 99 \|/m, 'a next version');
	isnt($next, $new, 'has other objects');
	is($updated->($addition), $next, 'updated to it: the same objects');
	isnt($updated->($addition =~ s/COMMENT [^;]*;//r), $next, 'a comment left out of the update is found');
	isnt($updated->($addition =~ s/ALTER FUNCTION [^;]*;//r), $next, 'a changed attribute left out of the update is found');
}

$node->stop;
done_testing();
