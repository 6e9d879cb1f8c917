# coreregress.pl PLAIN OURS SQL ALLOWED MODE: compares two directories of results of
# PostgreSQL's regression suite, see coreregress.sh.  Each statement's output is
# compared for itself: query plans are left out, rows are compared in order,
# and, where the statement is listed, in any order.
use strict;
use warnings;

my ($plain, $ours, $sql, $allowed_file, $mode) = @ARGV;

# What is allowed, see there: for each test its entries, with the beginnings of
# their statements; and the functions that return plans.
my %allowed;
my @plan_functions;
read_allowed();

sub read_allowed
{
	my $entry;

	open(my $list, '<', $allowed_file) or die "$allowed_file: $!";
	while (<$list>)
	{
		chomp;
		next if /^\s*(#|$)/;
		if (/^\*\s+plan\s+(.*)/)
		{
			$entry = undef;
			push @plan_functions, split(' ', $1);
		}
		elsif (/^(\w+)\s+(order|ties|differ)\s+(\S.*)$/)
		{
			$entry = { kind => $2, why => $3 };
			push @{ $allowed{$1} }, $entry;
		}
		elsif (/^\s+(\S.*)$/ && $entry)
		{
			push @{ $entry->{statements} }, { text => $1, used => 0 };
		}
		else
		{
			die "$allowed_file, line $.: $_\n";
		}
	}
	return;
}

sub lines
{
	my ($file) = @_;
	open(my $in, '<', $file) or return undef;
	my @lines = <$in>;
	return \@lines;
}

# A test's statements, each [text, lines of its result...], and whether all of the
# script was found.  psql repeats what it reads, but for empty lines, the data of
# COPY ... FROM STDIN, and what stands under another \set ECHO; what is not in the
# script is a result, of the statement that ended last.
sub statements
{
	my ($output, $script) = @_;
	my @statements = ([ '' ]);
	my $at = 0;
	my $text = '';

	for my $i (0 .. $#$output)
	{
		my $line = $output->[$i];

		if ($at < @$script && follows(\@statements, $line, $script->[$at]))
		{
			$text .= $script->[ $at++ ];
			next if $text !~ /;\s*(--.*)?$/ && $line !~ /^\s*\\\w/ && $line !~ /\\(g\w*|crosstabview|watch)\b[^']*$/;
			push @statements, [ plain_text($text) ];
			my @copies = $statements[-1][0] =~ /\bcopy\b[^;]*?\bfrom\s+std(?:in|out)\b/gi;
			for (@copies)
			{
				# One that fails may have no data: what follows it is repeated, as what follows \; is.
				my $next = $i + 1;
				$next++ while $next < @$output && $output->[$next] =~ /^(?:ERROR|LINE|DETAIL|HINT|CONTEXT)\b|^ *\^$/;
				last if $text !~ /\\;\s*$/ && $next < @$output && $at < @$script && $output->[$next] eq $script->[$at];
				$at++ while $at < @$script && $script->[$at] !~ /^\\\.\s*$/;
				$at++;
			}
			if ($line =~ /^\\set ECHO (none|errors)/)
			{
				$at++ while $at < @$script && $script->[$at] !~ /^\\set ECHO all/;
				$at++;
			}
			last if $line =~ /^\\q(uit)?$/;
			$text = '';
		}
		else
		{
			push @{ $statements[-1] }, $line;
		}
	}
	# Where the script was lost, results would be other statements'.
	return (\@statements, $at >= @$script || $statements[-1][0] =~ /^\\q(uit)?$/);
}

# Whether a line of output is the script's next one; what \echo -n has written
# stands before it.
sub follows
{
	my ($statements, $line, $next) = @_;
	return 1 if $line eq $next;
	return $statements->[-1][0] =~ /^\\echo -n/ && substr($line, -length($next)) eq $next;
}

# On one line, without comments.
sub plain_text
{
	my ($text) = @_;

	$text =~ s/^\s*--.*$//mg;
	$text =~ s{/\*.*?\*/}{}sg;
	$text =~ s/\s+/ /g;
	$text =~ s/^ | $//g;
	return $text;
}

sub is_plan
{
	my ($text) = @_;
	return 1 if $text =~ /^explain\b/i;
	for my $function (@plan_functions)
	{
		return 1 if $text =~ /\b\Q$function\E\s*\(/i && $text !~ /^create\b/i;
	}
	return 0;
}

# Whether it ends in an ORDER BY of its own.
sub is_ordered
{
	return $_[0] =~ /\border\s+by\b(?:[^()]|\((?:[^()]|\([^()]*\))*\))*$/i;
}

# How two results of a statement differ: "order", "ties" or "differ".
sub difference
{
	my ($text, $left, $right) = @_;
	return 'differ' if join('', sort @$left) ne join('', sort @$right);
	return is_ordered($text) ? 'ties' : 'order';
}

# Whether this difference of a statement is allowed, and why.
sub reason
{
	my ($name, $text, $kind) = @_;

	for my $entry (@{ $allowed{$name} // [] })
	{
		# What may be another result may also be the same in another order.
		next if $entry->{kind} ne $kind && $entry->{kind} ne 'differ';
		for my $statement (@{ $entry->{statements} // [] })
		{
			next if index($text, $statement->{text}) != 0;
			$statement->{used}++;
			return $entry->{why};
		}
	}
	return undef;
}

my ($same, $different, $bad, $tests) = (0, 0, 0, 0);
opendir(my $dir, $plain) or die "$plain: $!";
for my $name (sort grep { s/\.out$// } readdir($dir))
{
	my $script = lines("$sql/$name.sql");
	if ($script && @$script)
	{
		# psql repeats the last line with an end, whether the script has one or not.
		$script->[-1] =~ s/\n?$/\n/;
		$script = [ grep { $_ ne "\n" } @$script ];
	}
	my $right = lines("$ours/$name.out");
	my @problems;
	my %why;

	$tests++;
	if (!$right || !$script)
	{
		print "FAIL $name: no " . ($script ? 'result' : 'script') . "\n";
		$bad++;
		next;
	}
	my ($a, $whole_a) = statements(lines("$plain/$name.out"), $script);
	my ($b, $whole_b) = statements($right, $script);
	push @problems, "the output does not follow $name.sql to its end\n" if !$whole_a || !$whole_b;
	push @problems, scalar(@$a) . ' statements, ' . scalar(@$b) . " with hpsort\n" if @$a != @$b;
	for my $i (0 .. (@$a < @$b ? $#$a : $#$b))
	{
		my ($text, @left) = @{ $a->[$i] };
		my (undef, @right) = @{ $b->[$i] };

		next if "@left" eq "@right" || is_plan($text);
		my $kind = difference($text, \@left, \@right);
		# Workers' rows come as they come.
		my $why = $kind eq 'order' && $mode eq 'parallel' ? 'rows of parallel plans' : reason($name, $text, $kind);
		if ($why)
		{
			$why{"$kind: $why"}++;
			next;
		}
		push @problems, "$kind: $text\n" . join('', map { "- $_" } grep { defined } @left[ 0 .. ($#left < 12 ? $#left : 12) ]) . join('', map { "+ $_" } grep { defined } @right[ 0 .. ($#right < 12 ? $#right : 12) ]);
	}
	if (@problems)
	{
		print "FAIL $name\n", @problems > 6 ? (@problems[ 0 .. 5 ], '... ' . (@problems - 6) . " more\n") : @problems;
		$bad++;
	}
	elsif (%why)
	{
		print "ok   $name, but for what the statements leave open:\n", map { "       $why{$_} $_\n" } sort keys %why;
		$different++;
	}
	else
	{
		$same++;
	}
}
die "no results in $plain\n" if $tests < 100;
my @unused = grep { !$_->{used} } map { @{ $_->{statements} // [] } } map { @$_ } values %allowed;
print scalar(@unused), " of the statements listed did not differ\n" if @unused;
print "$same tests equal but for plans, $different with unspecified results, $bad failed\n";
exit($bad ? 1 : 0);
