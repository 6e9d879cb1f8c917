# FuzzSql::Runner: random queries in one session, each by core alone and by
# hpsort, under the same settings.  What the query determines must be the same.  Who
# makes queries, tables and settings is not known here; a failure is reported with
# what repeats it, by Test::More.
package FuzzSql::Runner;

use strict;
use warnings;
use FuzzSql::Compare;
use FuzzSql::Session;
use Test::More;
use Time::HiRes qw(time);

# A new one has the options
#
#	connection		for FuzzSql::Session
#	prepare			what a new session is sent first
#	seed			of the run
#	modes			what is set in each mode; "core" is the one that the others are compared with
#	explain			EXPLAIN's options
#	planned			called with each query's kind and plan, if it is asked for, in the mode "force"
#	scan			of which Custom Scan such plans are counted
#	most_failures	after so many it ends
sub new
{
	my ($class, %options) = @_;
	my $self = bless { prepare => '', most_failures => 10, explain => 'COSTS OFF', %options }, $class;

	$self->{count} = { map { $_ => 0 } qw(queries errors rows failed) };
	$self->{began} = time();
	$self->connect;
	$self->{version} = int(FuzzSql::Session::text($self->{session}->query('SHOW server_version_num')) / 10000);
	return $self;
}

sub connect
{
	my ($self) = @_;

	$self->{session} = FuzzSql::Session->connect_when_ready(%{ $self->{connection} }) or BAIL_OUT('the server cannot be reached');
	$self->set($self->{prepare}) if $self->{prepare};
	return;
}

# Settings take effect all together or not at all.
sub set
{
	my ($self, $sql) = @_;
	my ($error) = map { $_->{error} // () } @{ $self->{session}->query_all($sql) };

	BAIL_OUT("$error: $sql") if $error && !$self->{session}{lost};
	return;
}

# All steps of a query, with what each is compared with if that is another query (by core); one
# result for each, or what went wrong besides.
sub run_query
{
	my ($self, $query, $mode, $settings, $before) = @_;
	my $session = $self->{session};
	my (@results, @supers);

	$self->set("RESET ALL; $settings; $self->{modes}{$mode}; SET statement_timeout = '240s'");
	$self->set("BEGIN; $before") if $before;
	for my $step (@{ $query->{steps} })
	{
		my $portal = $step->{portal};
		push @results, $portal ? $session->query_by_portal($step->{sql}, $portal->{fetch}, @{ $portal->{params} }) : $session->query($step->{sql});
		last if $session->{lost};
		# A query that failed is compared by its error, and may have ended the transaction.
		push @supers, $mode eq 'core' && $step->{super} && !$results[-1]{code} ? $session->query($step->{super}) : undef;
	}
	my ($wrong) = grep { /^WARNING.*(leak|still referenced|not closed|problem in alloc|write past|not owned)/ } $session->notices;
	$wrong //= "internal error: $_->{said}" for grep { ($_->{code} // '') =~ /^(XX|57014)/ } @results;
	$wrong //= "what to compare with: $_->{said}" for grep { $_ && $_->{code} } @supers;
	$wrong = "connection lost: $session->{lost}" if $session->{lost};
	$session->query_all('ROLLBACK') if $before && !$session->{lost};
	$session->query_all('DEALLOCATE ALL') if !$session->{lost};
	return (\@results, $wrong, \@supers);
}

sub plan_of
{
	my ($self, $query, $settings, $before) = @_;

	$self->set("RESET ALL; $settings; $self->{modes}{force}");
	$self->set('BEGIN; ' . ($before // ''));
	my $result = $self->{session}->query("EXPLAIN ($self->{explain}) $query->{explain}");
	$self->{session}->query_all('ROLLBACK') if !$self->{session}{lost};
	return $result->{code} ? undef : FuzzSql::Session::text($result);
}

# One query in all modes, of which "core" need not be named; whether the session is still of use.
sub try_query
{
	my ($self, $number, $query, $settings, $before, @modes) = @_;
	my ($core, $wrong, $supers) = $self->run_query($query, 'core', $settings, $before);
	my ($ours, $at, $failed_mode);

	$wrong = "core: $wrong" if $wrong;
	for my $mode (@modes)
	{
		last if defined $wrong;
		$failed_mode = $mode;
		($ours, $wrong) = $self->run_query($query, $mode, $settings, $before);
		for my $i (0 .. $#{ $query->{steps} })
		{
			last if defined $wrong;
			my $theirs = $core->[$i];
			$at = $query->{steps}[$i]{sql};
			# A LIMIT may end core's query before the row that raises the error.
			if ($ours->[$i]{code} && !$theirs->{code} && $at =~ /^(.*) (?:LIMIT|FETCH FIRST) [^()]*$/s && @{ $query->{steps} } == 1)
			{
				($theirs) = map { $_->[0] } $self->run_query({ steps => [ { sql => $1 } ] }, 'core', $settings, $before);
			}
			$wrong = difference({ %{ $query->{steps}[$i] }, text => 1 }, $theirs, $ours->[$i], $supers->[$i]);
		}
	}
	my $count = $self->{count};
	$count->{queries}++;
	$count->{errors}++ if grep { $_->{code} } @$core;
	$count->{rows} += @{ $_->{rows} } for @$core;
	note("error: $core->[$_]{said} in $query->{steps}[$_]{sql}") for grep { $core->[$_]{code} && $query->{kind} !~ /failing/ } 0 .. $#$core;
	if (defined $wrong)
	{
		$count->{failed}++;
		fail("query $number");
		diag("HPSORT_TEST_SEED=$self->{seed} HPSORT_TEST_QUERY=$number repeats it\n$query->{kind}, " . ($failed_mode // 'core') . ": $wrong\nstatement: " . ($at // '') . "\nsettings: $settings"
			  . ($before ? "; BEGIN; $before" : '') . "\nquery:\n" . join('', map { "  $_->{sql};" . ($_->{portal} ? ' -- ' . join(', ', map { $_ // 'NULL' } @{ $_->{portal}{params} }) : '') . "\n" } @{ $query->{steps} }));
	}
	elsif ($query->{explain})
	{
		my $plan = $self->plan_of($query, $settings, $before);
		$self->count_plan($query->{kind}, $plan) if defined $plan;
	}
	return !$self->{session}{lost};
}

sub count_plan
{
	my ($self, $kind, $plan) = @_;

	$self->{planned}->($kind, $plan) if $self->{planned};
	return if !defined $self->{scan};
	$self->{plans}{$kind}{all}++;
	$self->{plans}{$kind}{scan} += $plan =~ /Custom Scan \(\Q$self->{scan}\E\)/;
	return;
}

# Tests whether at least this part of all plans, or of the kinds that match $of, has the Custom Scan that is counted.
sub ok_scan
{
	my ($self, $least, $of) = @_;
	my %sum = (all => 0, scan => 0);

	for my $kind (grep { $_ =~ ($of // qr/^/) } sort keys %{ $self->{plans} })
	{
		my $plans = $self->{plans}{$kind};

		note("$kind: $plans->{scan} of $plans->{all} planned with $self->{scan}");
		$sum{$_} += $plans->{$_} for keys %sum;
	}
	cmp_ok($sum{scan}, '>=', $sum{all} * $least, "$sum{scan} of $sum{all} plans have $self->{scan}" . ($of ? ", $of" : ''));
	return;
}

# As many queries, or only the one of this number.  Each has a seed of its own, so that it can
# be repeated alone; make returns it with its settings, what its transaction has done before (undef:
# there is no transaction), and its modes.
sub run
{
	my ($self, $queries, $only, $make) = @_;

	srand($self->{seed});
	my @seeds = map { int(rand(2**31)) } 1 .. $only // $queries;
	for my $number ($only // 1 .. @seeds)
	{
		srand($seeds[ $number - 1 ]);
		my @query = $make->();

		last if $self->{count}{failed} >= $self->{most_failures};
		$self->connect if !$self->try_query($number, @query);
	}
	return;
}

# What there was to do, in words.
sub summary
{
	my ($self) = @_;
	return sprintf('%d queries, %d ended by an error, %d rows, in %d s', @{ $self->{count} }{qw(queries errors rows)}, time() - $self->{began});
}

# The tests of a run as a whole.
sub ok_all
{
	my ($self, $queries, $only) = @_;

	is($self->{count}{failed}, 0, 'the same results as core');
	return if $only;
	cmp_ok($self->{count}{queries}, '>=', $queries, 'all queries ran');
	cmp_ok($self->{count}{errors}, '<', $queries / 6 + 10, 'most have a result');
	return;
}

1;
