# Custom Scan (HpSort Scan): where it is put into plans, and that its rows, errors and calls of functions are
# those of core's sequential scan: under EvalPlanQual, by cursors, in both directions, in changes of the table
# itself, with row security, in parallel plans.  What random queries say is in 017, 028, 032 and 036.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use HpsortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_cluster('scan', <<'CONF');
shared_preload_libraries = hpsort
hpsort.resident_memory = 64MB
max_parallel_workers_per_gather = 0
autovacuum = off
CONF
my $core = 'SET hpsort.enable_scan = off; SET hpsort.enable_aggregate = off; SET hpsort.enable_sort = off;';

sub sql { return $node->safe_psql('postgres', $_[0]); }

sub said
{
	my ($out, $err);

	$node->psql('postgres', $_[0], stdout => \$out, stderr => \$err, on_error_stop => 0);
	return "$out\n" . join("\n", map { s/^psql:<stdin>:\d+: //r } grep { !/^LINE|^ *\^/ } split /\n/, $err);
}

sub plan { return sql("EXPLAIN (COSTS OFF) $_[0]"); }

# The same by the node and by core; $_[1] is set before.
sub same
{
	my ($query, $before) = (@_, '');
	my $got = said("$before; $query");
	my $want = said("$before; SET hpsort.debug_scan = forbid; $core $query");

	is($got, $want, $query =~ s/\s+/ /gr);
	return $got;
}

sub takes { like(plan($_[0]), qr/Custom Scan \(HpSort Scan\)/, "taken: $_[0]"); }

sub leaves { unlike(plan($_[0]), qr/HpSort Scan/, "left to core: $_[0]"); }

sql(<<'SQL');
CREATE EXTENSION hpsort;
CREATE FUNCTION h(i int, salt int) RETURNS int LANGUAGE sql IMMUTABLE RETURN hashint4(i * 31 + salt) & 2147483647;
CREATE TABLE t AS SELECT i AS id, h(i, 1) % 1000 AS a, h(i, 2) % 50 AS b, 'text ' || h(i, 3) % 300 AS c, h(i, 4) / 7.0 AS f, CASE WHEN i % 9 > 0 THEN h(i, 5) % 100 END AS n,
	repeat('x', h(i, 6) % 120) AS pad FROM generate_series(1, 40000) i;
CREATE TABLE kept AS TABLE t;
CREATE TABLE small AS SELECT * FROM t LIMIT 1000;
CREATE TABLE unlike (LIKE t);
CREATE TABLE parts (LIKE t) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (15001);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (15001) TO (40001);
INSERT INTO parts TABLE t;
CREATE TABLE counted (n int);
CREATE SEQUENCE calls;
CREATE FUNCTION call(i int) RETURNS bool LANGUAGE plpgsql COST 10000 AS $$ BEGIN PERFORM nextval('calls'); RETURN i % 2 = 0; END $$;
CREATE FUNCTION silent(i int) RETURNS bool LANGUAGE plpgsql LEAKPROOF COST 0.0001 AS $$ BEGIN PERFORM nextval('calls'); RETURN true; END $$;
CREATE FUNCTION divide(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE COST 10 AS $$ BEGIN RETURN 100 / i; END $$;
SQL
sql('VACUUM (ANALYZE, FREEZE)');
sql("SELECT hpsort_keep('kept', '{id,a,b,c,f,n}', true)");

# --- Where it is in plans

takes('SELECT * FROM t WHERE a < 10');
takes('SELECT c FROM t WHERE b = 3 AND a * 2 > f');
takes("SELECT * FROM t WHERE c LIKE '%7%'");
takes('SELECT * FROM t WHERE n IS NULL');
takes('SELECT * FROM kept WHERE f < 1e5');
takes('SELECT * FROM t WHERE a IN (1, 2, 3) ORDER BY pad');
takes('SELECT * FROM parts WHERE a = 7');
takes('SELECT * FROM t JOIN small s USING (a) WHERE t.b < 40 AND s.b = 1');
takes('WITH w AS MATERIALIZED (SELECT * FROM t WHERE a < 10) SELECT * FROM w');
takes('UPDATE t SET b = 1 WHERE a = 3');
takes('DELETE FROM t WHERE a = 3');
takes('INSERT INTO unlike SELECT * FROM t WHERE a = 3');
takes('SELECT * FROM t WHERE a = 3 FOR UPDATE');
leaves('SELECT * FROM t');
leaves('SELECT * FROM t WHERE a = (SELECT min(a) FROM small)');
leaves("SELECT * FROM t WHERE c LIKE 'text_7'");
leaves('SELECT * FROM small WHERE a < 10');
leaves('SELECT * FROM t WHERE a * 2 > 5');
leaves('SELECT * FROM t WHERE f < 1e5');
leaves("SELECT * FROM kept WHERE upper(c) = 'TEXT 7'");
leaves('SELECT * FROM t WHERE a < 900 LIMIT 10');
leaves('SELECT * FROM t WHERE a < 10 AND (SELECT b FROM small WHERE small.id = t.b) > 3');
leaves('SELECT count(*) FROM t WHERE a < 10');
leaves('SELECT * FROM small WHERE EXISTS (SELECT FROM t WHERE a < 900)');
takes('SELECT * FROM small WHERE EXISTS (SELECT FROM (SELECT max(id) AS id FROM (SELECT id FROM t WHERE a < 900 OFFSET 0) r) q WHERE id > 0) OR a = (SELECT id FROM t WHERE id = 7)');
leaves('SELECT * FROM small s WHERE (SELECT count(*) FROM (SELECT FROM t WHERE t.a = s.a LIMIT 1) q) > 0');
sql('SET hpsort.enable_scan = off; EXPLAIN SELECT * FROM t WHERE a < 10') =~ /HpSort/ ? fail('enable_scan') : pass('enable_scan');
like(sql('EXPLAIN (ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF, VERBOSE) SELECT b + 1 AS more, c FROM kept WHERE a = 77'), qr/HpSort Scan\).*actual rows=.*\n.*Output: .*\n.*Resident Blocks: (\d+) of \1\n.*Seq Scan on public.kept .*actual/, 'EXPLAIN');
my ($rows, $removed) = sql('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM t WHERE a < 500 AND a * 2 > b') =~ /Seq Scan.*rows=(\d+).*Rows Removed by Filter: (\d+)/s;
is($rows + $removed, 40000, 'rows are returned or removed');
like(sql('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM t WHERE a < 5 LIMIT 50'), qr/HpSort Scan.*Seq Scan.*rows=50\b.*Rows Removed by Filter: [1-9]/s, 'and before the end');

like(sql('SET hpsort.debug_scan = force; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM kept WHERE a = 5 LIMIT 3'), qr/HpSort Scan.*Resident Blocks: \d.*Seq Scan.*rows=3\b.*Rows Removed by Filter: [1-9]/s, 'also in memory');
SKIP:
{
	skip 'no JIT', 1 if sql('SELECT pg_jit_available()') eq 'f';
	my ($functions) = sql(q{SET jit = on; SET jit_above_cost = 0; SET hpsort.debug_scan = force;
		EXPLAIN (ANALYZE, COSTS OFF) SELECT count(*) FROM generate_series(1, 100) g, LATERAL (SELECT id FROM t WHERE f < 1000 AND id < g AND a * 2 < g OFFSET 0) q}) =~ /Functions: (\d+)/;
	cmp_ok($functions, '<', 60, 'JIT compiles nothing for each outer row');
}

# A Gather that only gathers is left out where a process finds the rows in memory.
my $parallel = 'SET max_parallel_workers_per_gather = 2; SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 200; SET parallel_tuple_cost = 0;';
unlike(sql("$parallel EXPLAIN SELECT id FROM kept WHERE a = 77"), qr/Gather/, 'one process for few rows in memory');
like(sql("$parallel EXPLAIN SELECT id FROM t WHERE a < 900"), qr/Gather.*HpSort Scan.*Parallel Seq Scan/s, 'workers for pages');
is(sql("$parallel SELECT id AS first, a AS second FROM kept WHERE a = 77 ORDER BY 1"), sql("$core SELECT id, a FROM kept WHERE a = 77 ORDER BY 1"), 'its columns');
for my $table (qw(t kept parts))
{
	is(sql("$parallel SET parallel_setup_cost = 0; SET hpsort.debug_scan = force; SELECT count(*), sum(id) FROM (SELECT id FROM $table WHERE b < 20 AND a % 3 = 1 OFFSET 0) q"),
		sql("$core SELECT count(*), sum(id) FROM (SELECT id FROM $table WHERE b < 20 AND a % 3 = 1 OFFSET 0) q"), "$table by workers");
}
like(sql("$parallel SET parallel_setup_cost = 0; SET hpsort.debug_scan = force; EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM kept a JOIN kept b USING (id) WHERE a.a < 500 AND b.a < 700"), qr/Resident Blocks: (\d+) of \1\n/, 'blocks of all processes');

# --- Rows, errors, calls

for my $table (qw(t kept parts unlike))
{
	same("SELECT count(*), sum(id), md5(string_agg(q::text, ' ' ORDER BY id)) FROM (SELECT * FROM $table WHERE $_ OFFSET 0) q")
	  for 'a < 10', 'a >= 0', 'a < 0', "c LIKE '%7%' AND n > 50", 'n IS NULL', 'a < 500 AND b * 3 > n', 'a IN (1, 5, 999, NULL)', 'f < 1e7 AND a > 3', 'NOT a < 990', 'b = 7 AND divide(b) > 3',
	  "ctid < '(10,1)' AND a < 300", "tableoid = '$table'::regclass AND a = 5", 'random() >= 0 AND a < 10';
	same("PREPARE p(int, text) AS SELECT count(*), min(id) FROM (SELECT * FROM $table WHERE a < \$1 AND c <> \$2 OFFSET 0) q; EXECUTE p(10, 'text 5'); EXECUTE p(NULL, ''); EXECUTE p(990, NULL); EXECUTE p(990, 'x')", "SET plan_cache_mode = $_")
	  for qw(force_generic_plan force_custom_plan);
	same("SELECT s.id, q.* FROM (SELECT * FROM small LIMIT 20) s, LATERAL (SELECT count(*), max(id) FROM (SELECT * FROM $table WHERE a = s.a AND b > s.b OFFSET 0) i) q ORDER BY s.id");
	same("SELECT id, ctid, xmin IS NULL, tableoid::regclass, $table FROM $table WHERE a = 13 ORDER BY id");
}

# A row that a condition refuses, or that is behind the last one wanted, raises no error that core does not raise; and the other way round.
same('SELECT id FROM t WHERE divide(b) > 3 AND a < 5');
same('SELECT id FROM t WHERE a < 5 AND divide(a) > 3');
same('SELECT id FROM t WHERE a < 900 AND divide(n) > 0 ORDER BY id LIMIT 1');
same('SELECT count(*) FROM (SELECT id FROM t WHERE a < 500 AND call(id) LIMIT 5) q; SELECT last_value FROM calls', 'ALTER SEQUENCE calls RESTART');
same('SELECT count(*) FROM (SELECT id FROM t WHERE a < 500 AND call(id)) q; SELECT last_value FROM calls', 'ALTER SEQUENCE calls RESTART');

same('SELECT id FROM t WHERE a < a AND b = (SELECT 1 / (min(id) - min(id)) FROM small)');
same('SELECT id FROM t WHERE (a < b OR b = (SELECT 1 / (min(id) - min(id)) FROM small)) AND a < -1');
same("SELECT id FROM t WHERE a < a AND c LIKE 'text 1\\'");
same("SELECT id FROM t WHERE a < 900 AND c LIKE CASE WHEN id > 3 THEN 'text 1\\' ELSE '%' END LIMIT 2");
same('SELECT count(*) FROM (SELECT id FROM t WHERE silent(b) AND a < 100 OFFSET 0) q; SELECT last_value FROM calls', 'ALTER SEQUENCE calls RESTART');
same('ALTER TABLE t ADD gone int; ALTER TABLE t DROP gone; INSERT INTO t (id, a) SELECT id + 50000, a FROM t WHERE a = 3; SELECT count(*), sum(id) FROM t; DELETE FROM t WHERE id > 50000');

# --- Cursors

for my $kind ('', 'SCROLL', 'NO SCROLL')
{
	for my $table (qw(t kept))
	{
		my $cursor = "BEGIN; DECLARE c $kind CURSOR FOR SELECT id FROM $table WHERE a < 100";

		same("$cursor; FETCH 3 FROM c; FETCH 100 FROM c; MOVE 1000 IN c; FETCH 2 FROM c; FETCH ALL FROM c; FETCH 1 FROM c; COMMIT");
		same("$cursor; FETCH 7 FROM c; FETCH BACKWARD 3 FROM c; FETCH FIRST FROM c; FETCH LAST FROM c; FETCH ABSOLUTE 20 FROM c; COMMIT");
		same("$cursor; FETCH 5 FROM c; UPDATE $table SET pad = 'here' WHERE CURRENT OF c RETURNING id; FETCH 1 FROM c; DELETE FROM $table WHERE CURRENT OF c RETURNING id; SELECT count(*), sum(id) FROM $table WHERE pad = 'here'; ROLLBACK");
		same("BEGIN; DECLARE c $kind CURSOR WITH HOLD FOR SELECT id FROM $table WHERE a < 100; FETCH 3 FROM c; COMMIT; FETCH 4 FROM c; CLOSE c");
	}
}

# --- Changes of the table that is read

for my $table (qw(t kept parts))
{
	same("BEGIN; UPDATE $table SET a = a + 1 WHERE a < 20 RETURNING id; SELECT count(*), sum(a) FROM (SELECT * FROM $table WHERE a < 30 OFFSET 0) q; ROLLBACK");
	same("BEGIN; DELETE FROM $table WHERE a BETWEEN 5 AND 9; SAVEPOINT s; UPDATE $table SET b = -1 WHERE a < 20; ROLLBACK TO s; SELECT count(*), sum(b) FROM (SELECT * FROM $table WHERE a < 30 OFFSET 0) q; ROLLBACK");
	same("BEGIN; INSERT INTO $table SELECT * FROM $table WHERE a = 3; SELECT count(*) FROM (SELECT * FROM $table WHERE a = 3 OFFSET 0) q; ROLLBACK");
	same("BEGIN; UPDATE $table x SET b = y.b + 1 FROM $table y WHERE x.id = y.id + 1 AND x.a < 50 AND y.a < 500; SELECT sum(b) FROM $table; ROLLBACK");
	same("BEGIN; SELECT id FROM $table WHERE a = 3 ORDER BY id FOR UPDATE; MERGE INTO $table x USING small y ON x.id = y.id AND x.a < 300 WHEN MATCHED THEN UPDATE SET b = 7; SELECT sum(b) FROM $table; ROLLBACK");
}

# Rows are changed, and so locked, in the order of the table, whichever blocks are in memory: two sessions that
# change the same rows wait for each other, but not in a circle.
sql(<<'SQL');
CREATE TABLE locked AS SELECT i AS id, i % 100 AS k, i % 1000 AS v, repeat('p', 100) AS pad FROM generate_series(1, 60000) i;
CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.1); RETURN new; END $$;
CREATE TRIGGER sleep BEFORE UPDATE ON locked FOR EACH ROW WHEN (new.id % 5000 = 2) EXECUTE FUNCTION sleep();
VACUUM (ANALYZE, FREEZE) locked;
SELECT hpsort_keep('locked', '{id,k,v}', true);
SQL
{
	my @sessions = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 2;

	for my $session (@sessions)
	{
		$session->query_safe("SET hpsort.debug_scan = force; SET deadlock_timeout = '200ms'");
		$session->query_until(qr/begun/, "\\echo begun\nUPDATE locked SET k = k WHERE v < 5;\n");
		select(undef, undef, undef, 0.4);
	}
	$_->query('SELECT 1') for @sessions;
	$_->quit for @sessions;
	unlike(slurp_file($node->logfile), qr/deadlock detected/, 'no deadlock');
}

# Somebody else changes the rows meanwhile: the new version decides.
for my $table (qw(t kept))
{
	for my $level ('read committed', 'repeatable read')
	{
		my @results;

		for my $set ('', $core)
		{
			sql("DROP TABLE IF EXISTS x; CREATE TABLE x AS TABLE $table; VACUUM (ANALYZE, FREEZE) x");
			sql("SELECT hpsort_keep('x', '{id,a,b}', true)") if $table eq 'kept';
			my $one = $node->background_psql('postgres', on_error_stop => 0);
			my $two = $node->background_psql('postgres', on_error_stop => 0);

			$one->query_safe('BEGIN; UPDATE x SET a = 5000 WHERE id % 3 = 0 AND a < 30; UPDATE x SET a = 7 WHERE id = 1; DELETE FROM x WHERE id % 5 = 0 AND a < 30');
			$two->query_safe("$set SET hpsort.debug_scan = force; SET default_transaction_isolation = '$level'");
			$two->query_safe("SET hpsort.debug_scan = forbid") if $set;
			$two->query_until(qr/begun/, "\\echo begun\nUPDATE x SET b = 1000 WHERE a < 30 AND b * 2 < 60 RETURNING id;\n");
			$node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted");
			$one->query_safe('COMMIT');
			$two->query('SELECT 1');
			push @results, sql('SELECT count(*), sum(b), sum(a), md5(string_agg(x::text, chr(10) ORDER BY id)) FROM x');
			$_->quit for $one, $two;
		}
		is($results[0], $results[1], "$table, $level: rows changed meanwhile");
	}
}

# --- Rights

sql(<<'SQL');
CREATE ROLE reader;
GRANT SELECT ON t, kept TO reader;
CREATE POLICY p ON t USING (b < 10);
CREATE POLICY p ON kept USING (b < 10);
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
ALTER TABLE kept ENABLE ROW LEVEL SECURITY;
CREATE FUNCTION tell(i int) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN IF i > 990 THEN RAISE NOTICE 'seen %', i; END IF; RETURN true; END $$;
SQL
for my $table (qw(t kept))
{
	same("SELECT count(*), max(b) FROM (SELECT * FROM $table WHERE a > 900 AND tell(a) OFFSET 0) q", 'SET ROLE reader');
	same("SELECT pad FROM $table WHERE a = 900 ORDER BY id", 'REVOKE SELECT ON t, kept FROM reader; GRANT SELECT (id, a) ON t, kept TO reader; SET ROLE reader');
}
$node->stop;
unlike(slurp_file($node->logfile), qr/terminated by signal|PANIC:|TRAP:/, 'no crash');
done_testing();
