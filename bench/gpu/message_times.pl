#!/usr/bin/perl
# message_times.pl FILE...: the medians of what the steps of queries took, from what message_times.c has written.
#
# A line for each number of GPUs and of look-ups that queries asked (so that different statements stand apart), in milliseconds.  The session:
# up to its first job (parsing, planning, walking the extents), opening the jobs, sending the lists of extents, waiting for all answers to these,
# for the sorted keys, look-ups, and up to the answer.  The service, of the GPU that took longest: lists, finishing (what the GPU still has to do
# then, and the sort), and look-ups, each from receiving the message to sending its answer.
use strict;
use warnings;

my ($open, $finish, $add_rows, $look_at, $look_sum, $grant, $lent, $finished) = (2, 5, 11, 12, 15, 34, 35, 36);
my (@events, %queries, %steps);

while (<>)
{
	my ($ns, $pid, $fd, $way, $type, $job, $chunk, $count) = split;
	push @events, { ms => $ns / 1e6, pid => $pid, fd => $fd, way => $way, type => $type };
}
@events = sort { $a->{ms} <=> $b->{ms} } @events;

# One session at a time asks: what the service does between its query and its answer is for it.
sub finish_query
{
	my ($pid, @all) = @_;
	my @mine = grep { $_->{pid} == $pid } @all;
	my @service = grep { $_->{pid} != $pid } @all;
	my $at = sub { my ($last, $way, $test) = @_; my @found = grep { $_->{way} eq $way && $_->{type} =~ /^\d/ && $test->($_->{type}) } @mine; return @found ? $found[$last ? -1 : 0]{ms} : undef; };
	my %fds = map { $_->{fd} => 1 } grep { $_->{type} eq $open } @mine;
	my $looks = grep { $_->{way} eq '+' && $_->{type} =~ /^\d/ && $_->{type} >= $look_at && $_->{type} <= $look_sum } @mine;
	my ($opened, $first, $last, $finishing, $sorted) = ($at->(0, '+', sub { $_[0] == $open }), $at->(0, '+', sub { $_[0] == $add_rows }), $at->(1, '+', sub { $_[0] == $add_rows }),
		$at->(0, '+', sub { $_[0] == $finish }), $at->(1, '-', sub { $_[0] == $finished }));
	my (%since, %work);

	return unless defined $sorted && defined $first;
	my $looked = $at->(1, '-', sub { $_[0] == $lent }) // $sorted;
	$looked = $sorted if $looked < $sorted;
	foreach my $e (@service)
	{
		my $step = $e->{type} !~ /^\d/ ? undef : $e->{type} == $add_rows || $e->{type} == $finish ? $e->{type} : $e->{type} >= $look_at && $e->{type} <= $look_sum ? $look_at : undef;
		$since{ $e->{fd} } //= [ $e->{ms}, $step ] if $e->{way} eq '-' && defined $step;
		if ($e->{way} eq '+' && ($e->{type} eq $lent || $e->{type} eq $finished) && $since{ $e->{fd} })
		{
			my ($ms, $what) = @{ delete $since{ $e->{fd} } };
			$work{$what}{ $e->{fd} } += $e->{ms} - $ms;
		}
	}
	push @{ $steps{ keys(%fds) . ' ' . $looks } },
		[ $mine[-1]{ms} - $mine[0]{ms}, $opened - $mine[0]{ms}, $first - $opened, $last - $first, $finishing - $last, $sorted - $finishing, $looked - $sorted, $mine[-1]{ms} - $looked,
			map { my @ms = sort { $b <=> $a } values %{ $work{$_} // {} }; $ms[0] // 0 } $add_rows, $finish, $look_at ];
}

foreach my $e (@events)
{
	push @{ $queries{$_} }, $e foreach grep { $e->{type} ne 'query' || $_ == $e->{pid} } keys %queries;
	$queries{ $e->{pid} } = [$e] if $e->{type} eq 'query';
	finish_query($e->{pid}, @{ delete $queries{ $e->{pid} } }) if $e->{type} eq 'answer' && $queries{ $e->{pid} };
}
print "gpus,looks,queries,all,to_first_job,open,send_lists,wait_for_lists,sort,look,to_answer,service_lists,service_finish,service_looks\n";
foreach my $kind (sort keys %steps)
{
	my @all = @{ $steps{$kind} };
	print join(',', split(' ', $kind), scalar(@all), map { my $i = $_; my @sorted = sort { $a <=> $b } map { $_->[$i] } @all; sprintf('%.3f', $sorted[@sorted / 2]) } 0 .. $#{ $all[0] }), "\n";
}
