# coreregress.pl PLAIN FORCED ALLOWED: compares two directories of results of
# PostgreSQL's regression suite, see coreregress.sh.  Each statement's output is
# compared for itself: query plans are left out, rows are compared in order,
# and, where the test is allowed to, in any order.
use strict;
use warnings;

my ($plain, $forced, $allowed_file) = @ARGV;

# What is allowed: a test's name, "order" or the number of results that may
# differ, and the reason; and apart the number of results whose ORDER BY leaves
# rows equal, which then come in any order.
my %allowed;
my %ties;
my %reason;
open(my $list, '<', $allowed_file) or die "$allowed_file: $!";
while (<$list>)
{
	next if /^\s*(#|$)/;
	/^(\S+)\s+(order|(?:ties\s+)?\d+)\s+(\S.*)$/ or die "$allowed_file: $_";
	my ($name, $what, $why) = ($1, $2, $3);
	if ($what =~ /^ties\s+(\d+)/)
	{
		$ties{$name} = $1;
	}
	else
	{
		$allowed{$name} = $what;
	}
	$reason{$name} = join('; ', $reason{$name} // (), $why);
}

sub lines
{
	my ($file) = @_;
	open(my $in, '<', $file) or return undef;
	my @lines = <$in>;
	return \@lines;
}

# Splits results into blocks: a table with its header and footer, or one other
# line.  A block is [kind, header, rows...].
sub blocks
{
	my ($lines) = @_;
	my @blocks;
	my $i = 0;

	while ($i < @$lines)
	{
		# A header is followed by a line of dashes; its rows end with "(n rows)".
		if ($i + 1 < @$lines && $lines->[ $i + 1 ] =~ /^-+(\+-+)*-?\n$/)
		{
			my $header = $lines->[$i];
			my @rows;
			$i += 2;
			while ($i < @$lines && $lines->[$i] !~ /^\(\d+ rows?\)$/)
			{
				push @rows, $lines->[ $i++ ];
			}
			$i++;
			my $plan = $header =~ /QUERY PLAN|explain|jsonb_pretty|initially_multibatch/ || grep { /(Seq Scan|Custom Scan \(HpSort\)|"Node Type"|Node-Type|-> +(Sort|Index|Hash|Nested|Merge))/ } @rows;
			$header =~ s/^\s+|\s+$//g;
			push @blocks, [ $plan ? 'plan' : 'table', $header, $plan ? () : @rows ];
		}
		else
		{
			push @blocks, [ 'line', '', $lines->[ $i++ ] ];
		}
	}
	return \@blocks;
}

# Whether the statement whose result is block number i ends in an ORDER BY of its own.
sub is_ordered
{
	my ($blocks, $i) = @_;
	my $statement = '';

	while (--$i >= 0 && $blocks->[$i][0] eq 'line')
	{
		my $line = $blocks->[$i][2];

		last if $statement ne '' && $line =~ /;\s*(--.*)?$/;
		$statement = $line . $statement unless $line =~ /^\s*(--.*)?$/;
	}
	return $statement =~ /\border\s+by\b(?:[^()]|\([^()]*\))*;\s*(--.*)?$/i;
}

my ($same, $reordered, $bad, $tests) = (0, 0, 0, 0);
my %unused = (%allowed, %ties);
opendir(my $dir, $plain) or die "$plain: $!";
for my $name (sort grep { s/\.out$// } readdir($dir))
{
	my $left = lines("$plain/$name.out");
	my $right = lines("$forced/$name.out");

	$tests++;
	if (!$right)
	{
		print "FAIL $name: no result\n";
		$bad++;
		next;
	}
	my @left = @{ blocks($left) };
	my @right = @{ blocks($right) };
	my @problems;
	my $order = 0;
	my $differ = 0;
	my $tied = 0;
	my $may_differ = ($allowed{$name} // 'order') eq 'order' ? 0 : $allowed{$name};

	# Plans printed by other means have more or fewer lines: leave them out.
	for my $blocks (\@left, \@right)
	{
		@$blocks = grep { $_->[0] ne 'plan' } @$blocks;
	}
	push @problems, scalar(@left) . ' blocks of output, ' . scalar(@right) . ' with hpsort' if @left != @right;
	for my $i (0 .. (@left < @right ? $#left : $#right))
	{
		my @a = @{ $left[$i] };
		my @b = @{ $right[$i] };
		next if "@a" eq "@b";
		if ($a[0] eq 'table' && $b[0] eq 'table' && $a[1] eq $b[1] && join('', sort @a) eq join('', sort @b))
		{
			if (is_ordered(\@left, $i))
			{
				next if $tied++ < ($ties{$name} // 0);
			}
			else
			{
				$order++;
				next if $allowed{$name};
			}
		}
		elsif ($differ++ < $may_differ)
		{
			next;
		}
		push @problems, "- " . join("- ", grep { defined } @a[ 1 .. ($#a < 12 ? $#a : 12) ]) . "\n+ " . join("+ ", grep { defined } @b[ 1 .. ($#b < 12 ? $#b : 12) ]);
		last if @problems > 6;
	}
	delete $unused{$name} if $order || $differ || $tied;
	if (@problems)
	{
		print "FAIL $name\n", map { "$_\n" } @problems;
		$bad++;
	}
	elsif ($order || $differ || $tied)
	{
		print "ok   $name: $order results in another order, $tied among equal rows, $differ differ: $reason{$name}\n";
		$reordered++;
	}
	else
	{
		$same++;
	}
}
die "no results in $plain\n" if $tests < 100;
print "note $_: allowed, but it did not differ\n" for sort keys %unused;
print "$same tests equal but for plans, $reordered with unspecified results, $bad failed\n";
exit($bad ? 1 : 0);
