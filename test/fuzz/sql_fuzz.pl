# sql_fuzz.pl: the same random queries without hpsort, with it allowed, and with
# it forced; see sql_fuzz.sh.
#
#	sql_fuzz.pl --host DIR --port N --log FILE --output DIR
#
# Each round makes tables and queries from a seed of its own, so that the seed of
# a round that failed repeats it alone.
use strict;
use warnings;
use FindBin;
use Getopt::Long;
use Time::HiRes qw(time);
use lib $FindBin::Bin;
use FuzzSql::Compare;
use FuzzSql::Queries;
use FuzzSql::Random;
use FuzzSql::Relations;
use FuzzSql::Session;
use FuzzSql::Tables;

my %options = (host => $ENV{PGHOST}, port => $ENV{PGPORT} // 5432, database => $ENV{PGDATABASE} // 'postgres', user => $ENV{PGUSER} // 'postgres');
GetOptions(\%options, 'host=s', 'port=i', 'log=s', 'output=s') or exit 2;

my $seconds = $ENV{FUZZ_SECONDS} // 60;
my $seed = $ENV{FUZZ_SEED} // int(time() * 1000) % 1000000000;
my $only = $ENV{FUZZ_QUERY};
my $rounds = $ENV{FUZZ_ROUNDS} // ($only ? 1 : 1e9);
my $queries = $ENV{FUZZ_QUERIES} // 60;
my $most_failures = $ENV{FUZZ_FAILURES} // 10;

my %modes = (
	core => 'SET hpsort.enable_sort = off; SET hpsort.debug_sort = forbid; SET hpsort.enable_aggregate = off; SET hpsort.debug_aggregate = forbid; SET hpsort.enable_scan = off; SET hpsort.debug_scan = forbid',
	allow => 'SET hpsort.enable_sort = on; SET hpsort.debug_sort = allow; SET hpsort.enable_aggregate = on; SET hpsort.debug_aggregate = allow; SET hpsort.enable_scan = on; SET hpsort.debug_scan = allow',
	force => 'SET hpsort.enable_sort = on; SET hpsort.debug_sort = force; SET hpsort.enable_aggregate = on; SET hpsort.debug_aggregate = force; SET hpsort.enable_scan = on; SET hpsort.debug_scan = force');

my %count = map { $_ => 0 } qw(queries passed failed timeouts resources errors rounds plans);
my %kinds;
my %seconds;
my %used;
my @switches;
my $version;
my $session;
my $log_at = $options{log} && -e $options{log} ? -s $options{log} : 0;
my $start = time();

# --- settings

sub real { return sprintf('%.4g', exp(log($_[0]) + rand() * (log($_[1]) - log($_[0])))); }

# Settings for a query: the same ones however it is planned.
sub settings
{
	my %set = (
		work_mem => weighted('64kB' => 4, '100kB' => 1, '256kB' => 2, '1MB' => 2, '4MB' => 2, '64MB' => 2),
		max_parallel_workers_per_gather => weighted(0 => 5, 1 => 2, 2 => 4, 4 => 1),
		parallel_setup_cost => weighted(0 => 4, real(0.1, 2000) => 4, 1000 => 1),
		parallel_tuple_cost => weighted(0 => 4, real(0.0001, 0.2) => 3, 0.1 => 1),
		min_parallel_table_scan_size => weighted(0 => 5, '8MB' => 1),
		min_parallel_index_scan_size => weighted(0 => 3, '512kB' => 1),
		hash_mem_multiplier => pick(1, 1, 2, 4),
		cursor_tuple_fraction => pick(0.1, 0.1, 1, 0.001),
		plan_cache_mode => pick(qw(auto force_generic_plan force_custom_plan)),
		parallel_leader_participation => weighted(on => 4, off => 1),
		($version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode') => weighted(off => 8, on => 1, regress => 1),
		default_transaction_isolation => weighted('read committed' => 6, 'repeatable read' => 1, serializable => 1),
		join_collapse_limit => weighted(8 => 4, 1 => 1),
		'hpsort.algorithm' => weighted(auto => 8, zero_compressed => 1, radix => 1));

	for my $cost ([ seq_page_cost => 1 ], [ random_page_cost => 4 ], [ cpu_tuple_cost => 0.01 ], [ cpu_index_tuple_cost => 0.005 ], [ cpu_operator_cost => 0.0025 ])
	{
		my $value = real($cost->[1] / 50, $cost->[1] * 20);
		$set{ $cost->[0] } = chance(0.3) ? $value : $cost->[1];
	}
	for my $switch (@switches)
	{
		my $usual = $switch !~ /^enable_partitionwise/;
		$set{$switch} = chance($usual ? 0.15 : 0.5) ? ($usual ? 'off' : 'on') : ($usual ? 'on' : 'off');
	}
	# Joins of one kind, or of any; nested loops alone would take too long.
	my $join = weighted(any => 5, merge => 3, hash => 1);
	if ($join ne 'any')
	{
		$set{enable_nestloop} = 'off';
		$set{enable_hashjoin} = $join eq 'hash' ? 'on' : 'off';
		$set{enable_mergejoin} = $join eq 'merge' ? 'on' : 'off';
	}
	elsif ($set{enable_hashjoin} eq 'off')
	{
		$set{enable_mergejoin} = 'on';
	}
	return join('; ', map { "SET $_ = '$set{$_}'" } sort keys %set);
}

# --- running

sub connect_again
{
	$session = FuzzSql::Session->connect_when_ready(%options);
	if (!$session)
	{
		print "the server does not come back\n";
		finish();
	}
	return;
}

sub run_step
{
	my ($sql, $portal) = @_;
	return $portal ? $session->query_by_portal($sql, $portal->{fetch}, @{ $portal->{params} }) : $session->query($sql);
}

# Runs all steps of a query in a mode; the result of each.
sub run_query
{
	my ($query, $mode, $settings, $as_core) = @_;
	my @results;

	# An algorithm that is demanded of hpsort's own functions may be refused.
	$settings =~ s/(hpsort.algorithm = )'\w+'/$1'auto'/ if grep { $_->{sql} =~ /hpsort_?\w*\(/ } @{ $query->{steps} };
	my $set = $session->query("$settings; $modes{$mode}; SET statement_timeout = '5s'");
	die "settings: $set->{error}\n$settings\n" if $set->{code} && !$session->{lost};
	for my $step (@{ $query->{steps} })
	{
		my $sql = $as_core && $step->{core} ? $step->{core} : $step->{sql};
		push @results, run_step($sql, $step->{portal});
		last if $session->{lost};
	}
	$session->query_all('ROLLBACK; CLOSE ALL; DEALLOCATE ALL; RESET statement_timeout') if !$session->{lost};
	return \@results;
}

# The first result that has nothing to do with the query itself.
sub circumstances
{
	my ($results) = @_;

	for my $result (@$results)
	{
		my $code = $result->{code} // next;
		return 'timeouts' if $code eq '57014';
		return 'resources' if $code =~ /^53/;
	}
	return undef;
}

# What is wrong with a query's results besides differences.
sub accident
{
	my ($results) = @_;

	return "the connection was lost: $session->{lost}" if $session->{lost};
	for my $result (@$results)
	{
		return "internal error $result->{code}: $result->{error}" if ($result->{code} // '') =~ /^XX/;
	}
	for my $notice ($session->notices)
	{
		return $notice if $notice =~ /^WARNING.*(leak|still referenced|not closed|problem in alloc|write past|not owned)/;
	}
	return undef;
}

sub explains
{
	my ($query, $mode, $settings) = @_;

	return '' if !$query->{explain};
	my $results = $session->query_all("$settings; $modes{$mode}; EXPLAIN $query->{explain}");
	my $last = $results->[-1];
	$session->query_all('ROLLBACK') if !$session->{lost} && $last->{code};
	if (!$session->{lost} && ($last->{code} // '') =~ /^XX/ && $mode ne 'core')
	{
		# PostgreSQL has internal errors of its own: there is one in planning aggregates by partition.
		my $core = $session->query_all("$settings; $modes{core}; EXPLAIN $query->{explain}")->[-1];
		$session->query_all('ROLLBACK') if !$session->{lost} && $core->{code};
		return '' if ($core->{error} // '') eq $last->{error};
	}
	return accident($results) // '' if $session->{lost} || ($last->{code} // '') =~ /^XX/;
	return $last->{code} ? '' : \FuzzSql::Session::text($last);
}

# --- reports

sub report
{
	my ($round, $number, $query, $mode, $settings, $what, $step) = @_;
	my $file = sprintf('sql-%d-%d.sql', $round->{seed}, $number);
	my @mentioned = grep { my $name = $_->{name}; grep { ($_->{sql} . ($_->{core} // '')) =~ /\b$name\b/ } @{ $query->{steps} } } @{ $round->{tables} };

	$count{failed}++;
	print "\nFAIL $query->{kind}: query $number of the round with FUZZ_SEED=$round->{seed} (FUZZ_SEED=$round->{seed} FUZZ_QUERY=$number repeats it), mode $mode\n";
	print "$what\n";
	print "statement: $step\n" if $step;
	print "settings: $settings; $modes{$mode}\n";
	print "query:\n", map { '    ' . ($_->{core} ? "-- beside $_->{core}\n    " : '') . "$_->{sql};" . ($_->{portal} ? ' -- ' . join(', ', map { $_ // 'NULL' } @{ $_->{portal}{params} }) : '') . "\n" } @{ $query->{steps} };
	print "tables:\n", map { "    $_;\n" } map { @{ $_->{ddl} } } @mentioned;
	if ($options{output} && open(my $out, '>', "$options{output}/$file"))
	{
		print $out join(";\n", "LOAD 'hpsort'", 'CREATE EXTENSION IF NOT EXISTS hpsort', @{ $round->{ddl} }, split(/; /, "$settings; $modes{$mode}"), map { $_->{sql} } @{ $query->{steps} }), ";\n";
		close($out);
		print "all of it: $file\n";
	}
	print "\n";
	finish() if $count{failed} >= $most_failures;
	return;
}

sub finish
{
	my $elapsed = time() - $start;

	printf "seed %d, %d rounds, %d queries in %d s (%d only planned again, with other settings)\n", $seed, $count{rounds}, $count{queries}, $elapsed, $count{plans};
	print 'kinds: ', join(', ', map { sprintf('%d %s (%.0f s)', $kinds{$_}, $_, $seconds{$_} // 0) } sort keys %kinds), "\n";
	for my $mode (qw(allow force))
	{
		printf "plans, %s: %d with HpSort, %d with HpSort Aggregate, of %d\n", $mode, $used{"$mode HpSort"} // 0, $used{"$mode HpSort Aggregate"} // 0, $used{explained} // 0;
	}
	print "ended by an error, the same one everywhere: $count{errors}; by statement_timeout: $count{timeouts}"
	  . " (with hpsort only: " . ($count{late} // 0) . "); for lack of memory or disk: $count{resources}\n";

	# A tester that tests nothing says so.
	if (($used{explained} // 0) >= 200)
	{
		my $share = ($used{'force HpSort'} // 0) / $used{explained};
		if ($share < 0.4 || !$used{'force HpSort Aggregate'} || !$used{'allow HpSort'})
		{
			printf "hpsort was hardly used: in %.0f %% of the plans\n", 100 * $share;
			$count{failed}++;
		}
		if ($count{errors} + $count{timeouts} > $count{queries} / 8)
		{
			print "too many queries had no result\n";
			$count{failed}++;
		}
	}
	print "$count{passed} passed, $count{failed} failed\n";
	exit($count{failed} || !$count{passed} ? 1 : 0);
}

# Crashes that no client has seen, as of a worker's end.
sub look_at_log
{
	my ($round) = @_;

	return if !$options{log} || !open(my $log, '<', $options{log});
	seek($log, $log_at, 0);
	my @bad = grep { /terminated by signal|PANIC:|TRAP:/ } <$log>;
	$log_at = tell($log);
	close($log);
	if (@bad && !$round->{lost})
	{
		$count{failed}++;
		print "\nFAIL the server's log, in the round with FUZZ_SEED=$round->{seed}:\n", @bad, "\n";
	}
	return;
}

# --- a round

sub prepare_round
{
	my ($round) = @_;
	my @ddl = ('DISCARD TEMP', 'DROP SCHEMA IF EXISTS fuzz CASCADE', 'CREATE SCHEMA fuzz', 'SET search_path = fuzz, public', "SET timezone = 'UTC'",
		@FuzzSql::Tables::types_ddl, sprintf('SELECT setseed(%s)', ($round->{seed} % 1000003) / 1000003), map { @{ $_->{ddl} } } @{ $round->{tables} });

	$round->{ddl} = \@ddl;
	$session->query_all('RESET ALL');
	for my $sql (@ddl)
	{
		my $result = $session->query($sql);
		next if !$result->{code};
		if ($session->{lost})
		{
			$round->{lost} = 1;
			$count{failed}++;
			print "FAIL the connection was lost in the round with FUZZ_SEED=$round->{seed}: $sql\n";
			return 0;
		}
		die "FUZZ_SEED=$round->{seed}: $sql: $result->{error}\n";
	}
	return 1;
}

# One query in all modes; whether the connection is still there.
sub try_query
{
	my ($round, $number, $query, $settings, @sweep) = @_;
	my $core = run_query($query, 'core', $settings, 1);
	my $failed = 0;
	my $bad = accident($core);

	$count{queries}++;
	$kinds{ $query->{kind} }++;
	if ($bad)
	{
		report($round, $number, $query, 'core', $settings, $bad);
		return !$session->{lost};
	}
	if (my $why = circumstances($core))
	{
		$count{$why}++;
		return 1;
	}
	$count{errors}++ if grep { $_->{code} } @$core;
	print "$query->{kind}: $_->{code} $_->{error}\n" for grep { $ENV{FUZZ_VERBOSE} && $_->{code} } @$core;
	$session->query("SET statement_timeout = '20s'");
	my @supers = map { $_->{super} ? $session->query($_->{super}) : undef } @{ $query->{steps} };
	for my $mode ((grep { $_->{core} } @{ $query->{steps} }) ? 'core' : (), 'allow', 'force')
	{
		my $ours = run_query($query, $mode, $settings, 0);
		if ($bad = accident($ours))
		{
			report($round, $number, $query, $mode, $settings, $bad, $query->{steps}[$#$ours]{sql});
			return 0 if $session->{lost};
			$failed = 1;
			next;
		}
		if (my $why = circumstances($ours))
		{
			$count{$why}++;
			$count{late}++ if $why eq 'timeouts';
			next;
		}
		for my $i (0 .. $#{ $query->{steps} })
		{
			my $difference = difference($query->{steps}[$i], $core->[$i], $ours->[$i], $supers[$i]) // next;
			report($round, $number, $query, $mode, $settings, $difference, $query->{steps}[$i]{sql});
			$failed = 1;
			last;
		}
	}
	return 0 if !try_plans($round, $number, $query, $settings, @sweep);
	$count{passed}++ if !$failed;
	return 1;
}

# Whether a plan leaves a sort to core that HpSort has to do: free as it is when
# forced, it is cheaper by more than the planner takes for equal.
sub evades
{
	my ($query, $settings, $plan) = @_;

	return 0 if !$query->{forced} || $settings =~ /enable_sort = 'off'/ || $plan =~ /Custom Scan \(HpSort\)/;
	my ($total) = $plan =~ /cost=[\d.]+\.\.([\d.]+)/;
	my ($sorted, $input) = $plan =~ /(?:^|-> +)Sort  \(cost=([\d.]+)\.\..*\n *Sort Key.*\n.*cost=[\d.]+\.\.([\d.]+)/m or return 0;
	return $total < 1e9 && $sorted - $input > $total / 20;
}

# How the query is planned, and whether it can be under other costs, too.
sub try_plans
{
	my ($round, $number, $query, $settings, @sweep) = @_;
	my $explained = 0;

	for my $mode (qw(core allow force))
	{
		for my $set ($settings, @sweep)
		{
			next if $mode eq 'core' && $set ne $settings;
			my $plan = explains($query, $mode, $set);
			if (!ref $plan)
			{
				next if $plan eq '';
				report($round, $number, { %$query, steps => [ { sql => "EXPLAIN $query->{explain}" } ] }, $mode, $set, $plan);
				return 0 if $session->{lost};
				next;
			}
			$count{plans}++ if $set ne $settings;
			next if $set ne $settings;
			if ($mode eq 'core')
			{
				report($round, $number, $query, $mode, $settings, "hpsort in a plan where it is forbidden:\n$$plan") if $$plan =~ /HpSort/;
				$used{explained}++;
				next;
			}
			report($round, $number, $query, $mode, $settings, "core's sort where HpSort was forced:\n$$plan") if $mode eq 'force' && evades($query, $settings, $$plan);
			$used{"$mode HpSort"}++ if $$plan =~ /Custom Scan \(HpSort\)/;
			$used{"$mode HpSort Aggregate"}++ if $$plan =~ /Custom Scan \(HpSort Aggregate\)/;
		}
	}
	return 1;
}

sub run_round
{
	my ($round) = @_;

	srand($round->{seed});
	$round->{tables} = [ FuzzSql::Tables::make_all() ];
	@FuzzSql::Relations::tables = @{ $round->{tables} };
	# All is generated before anything runs: results decide nothing.
	my @queries = map { [ FuzzSql::Queries::make(), settings(), map { settings() } 1 .. 4 ] } 1 .. $queries;

	return if !prepare_round($round);
	$count{rounds}++;
	for my $number (1 .. $queries)
	{
		last if time() - $start > $seconds;
		next if $only && $number != $only;
		my $began = time();
		my $lost = !try_query($round, $number, @{ $queries[ $number - 1 ] });
		$seconds{ $queries[ $number - 1 ][0]{kind} } += time() - $began;
		if ($lost)
		{
			$round->{lost} = 1;
			last;
		}
	}
	return;
}

$| = 1;
print "seed $seed: FUZZ_SEED=$seed repeats this run\n";
connect_again();
$session->query_all('CREATE EXTENSION IF NOT EXISTS hpsort');
$version = int(FuzzSql::Session::text($session->query('SHOW server_version_num')) / 10000);
@switches = split /\n/, FuzzSql::Session::text($session->query("SELECT name FROM pg_settings WHERE name LIKE 'enable\\_%' ORDER BY name"));
for (my $i = 0; $i < $rounds && time() - $start < $seconds; $i++)
{
	my $round = { seed => $seed + $i };
	run_round($round);
	connect_again() if $session->{lost};
	look_at_log($round);
}
finish();
