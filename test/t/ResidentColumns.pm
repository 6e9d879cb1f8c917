# What the tests of resident columns share: a server that keeps columns, tables whose columns are
# resident, and answers with and without them.
package ResidentColumns;

use strict;
use warnings;
use Exporter 'import';
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = qw($functions new_node start_worker vacuum_visible resident_table same_after same);

our $common = <<'CONF';
autovacuum = off
fsync = off
session_preload_libraries = hpsort
max_parallel_workers_per_gather = 0
synchronize_seqscans = off
jit = off
hpsort.debug_aggregate = force
hpsort.resident_memory = 64MB
hpsort.resident_fill = on_use
CONF

# What the tests ask: how often each value occurs, with resident columns and by core; and how many
# blocks are resident.
our $functions = <<'SQL';
CREATE FUNCTION answer(rel text, col text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
	EXECUTE format('SELECT string_agg(x || '':'' || n, '' '' ORDER BY x) FROM (SELECT %1$s AS x, count(*) AS n FROM %2$s GROUP BY %1$s OFFSET 0) q', col, rel) INTO result;
	RETURN result;
END $$;
CREATE FUNCTION answer_of_core(rel text, col text) RETURNS text LANGUAGE sql
	SET hpsort.enable_aggregate = off SET hpsort.debug_scan = forbid SET hpsort.debug_aggregate = forbid SET hpsort.enable_resident = off AS $$ SELECT answer(rel, col) $$;
CREATE FUNCTION hits(rel text, col text) RETURNS int LANGUAGE sql AS $$ SELECT coalesce(sum(hits)::int, 0) FROM hpsort_resident WHERE relation = to_regclass(rel) AND attribute = col $$;
-- The blocks that a read took from memory.
CREATE FUNCTION resident_blocks(rel text, col text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE before int := hits(rel, col);
BEGIN
	PERFORM answer(rel, col);
	RETURN hits(rel, col) - before;
END $$;
-- Twice is enough for values to be kept, but on PostgreSQL 19 a first read may set bits of the map.  A read waits a second for the background
-- worker, and where it has not begun by then, as on a busy machine, or is just ending, the next half minute's reads do not.
CREATE FUNCTION warm(rel text, col text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 200 LOOP
		PERFORM answer(rel, col), answer(rel, col), answer(rel, col);
		EXIT WHEN NOT EXISTS (SELECT FROM hpsort_resident WHERE relation = to_regclass(rel) AND attribute = col AND reason = 'no background worker');
		PERFORM pg_sleep(0.3);
	END LOOP;
	RETURN resident_blocks(rel, col);
END $$;
-- Some 85 blocks; x has few values, changes of which show.
CREATE FUNCTION fill(rel text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('INSERT INTO %s SELECT i, i %% 7, i %% 1000 + 100000, repeat(''f'', 60) FROM generate_series(1, 7000) i', rel);
END $$;
CREATE FUNCTION make(rel text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE %s (id int, x int, y int, filler text)', rel);
	PERFORM fill(rel), hpsort_keep(rel::regclass, 'x', 'y');
END $$;
SQL

sub new_node
{
	my ($name, $conf) = @_;
	my $node = new_cluster($name);

	$node->append_conf('postgresql.conf', $common . ($conf // ''));
	$node->start;
	$node->safe_psql('postgres', "CREATE EXTENSION hpsort;\n$functions");
	return $node;
}

# Has the background worker started, so that it has memory for the columns whose first reads are looked at.
sub start_worker
{
	my ($node) = @_;

	$node->safe_psql('postgres', "SELECT make('first_kept')");
	$node->safe_psql('postgres', 'VACUUM first_kept');
	$node->safe_psql('postgres', "SELECT warm('first_kept', 'x'), hpsort_forget('first_kept')");
	$node->safe_psql('postgres', 'DROP TABLE first_kept');
	return;
}

# Vacuums a table until its blocks, but for some, are all-visible: a worker that fills columns may have a snapshot of before the rows, for
# which VACUUM does not mark their blocks.
sub vacuum_visible
{
	my ($node, $table) = @_;

	for (1 .. 1800)
	{
		return if $node->safe_psql('postgres', "VACUUM $table; SELECT relallvisible > 0 AND relallvisible + least(64, 1 + relpages / 8) > relpages FROM pg_class WHERE oid = '$table'::regclass") eq 't';
		usleep(100_000);
	}
	fail("$table is all-visible");
	return;
}

# A new table of 7,000 rows whose x and y are resident.
sub resident_table
{
	my ($node, $table) = @_;

	$node->safe_psql('postgres', "SELECT make('$table')");
	$node->safe_psql('postgres', "VACUUM ANALYZE $table");
	for my $column ('x', 'y')
	{
		cmp_ok($node->safe_psql('postgres', "SELECT warm('$table', '$column')"), '>=', 80, "$table.$column is resident");
	}
}

# That both answers are the same, after some statements in the same session, and that no block in memory differs from the table.
sub same_after
{
	my ($node, $name, $sql, $table, $column) = @_;
	my $out = $node->safe_psql('postgres', "$sql;\nSELECT coalesce(answer('$table', '$column'), 'none') AS ours, coalesce(answer_of_core('$table', '$column'), 'none') AS core \\gset\n" .
		"\\echo :ours\n\\echo :core\nSELECT coalesce(sum(differing), 0) FROM hpsort_resident_check('$table');\n");
	my @answers = (split /\n/, $out)[-3 .. -1];

	is("$answers[0], blocks that differ: $answers[2]", "$answers[1], blocks that differ: 0", $name);
}

sub same
{
	my ($node, $name, $table, $column) = @_;

	same_after($node, $name, 'SELECT 1', $table, $column // 'x');
}

1;
