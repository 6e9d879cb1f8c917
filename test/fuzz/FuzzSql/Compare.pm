# FuzzSql::Compare: whether two results of a statement agree in what its query
# determines (FuzzSql::Queries says what that is).
package FuzzSql::Compare;

use strict;
use warnings;
use Exporter 'import';
use FuzzSql::Session;
use JSON::PP ();
our @EXPORT = qw(difference);

# Whether two results agree in what the query determines: nothing, or in which
# way they do not.  A step whose errors must have the same words has "text".
sub difference
{
	my ($step, $core, $ours, $super) = @_;
	my ($a, $b) = ($core->{rows}, $ours->{rows});
	my $compare = $step->{compare};
	my $keys = $step->{keys};

	if (($core->{code} // '') ne ($ours->{code} // ''))
	{
		return 'error ' . ($ours->{code} ? "$ours->{code} ($ours->{error})" : 'none') . ' instead of ' . ($core->{code} ? "$core->{code} ($core->{error})" : 'none');
	}
	return "$ours->{said} instead of $core->{said}" if $core->{code} && $step->{text} && $ours->{said} ne $core->{said};
	return undef if $core->{code};
	if ($compare eq 'explain')
	{
		return bad_plan($step->{format}, FuzzSql::Session::text($ours));
	}
	return "command tag $ours->{tag} instead of $core->{tag}" if ($core->{tag} // '') ne ($ours->{tag} // '');
	return undef if $compare eq 'nothing';
	return @$b . ' rows instead of ' . @$a if @$a != @$b;
	if ($compare eq 'rows')
	{
		for my $i (0 .. $#$a)
		{
			return differs_at($i, $a->[$i], $b->[$i]) if $a->[$i] ne $b->[$i];
		}
		return undef;
	}
	return differs_from_peers($step, $b, $super) if $compare eq 'peers' || $compare eq 'firsts';
	if ($compare ne 'set' && $keys)
	{
		for my $i (0 .. $#$a)
		{
			return differs_at($i, $a->[$i], $b->[$i]) if FuzzSql::Session::leading($a->[$i], $keys) ne FuzzSql::Session::leading($b->[$i], $keys);
		}
	}
	if ($compare eq 'keys' || $compare eq 'set')
	{
		my @left = sort @$a;
		my @right = sort @$b;
		for my $i (0 .. $#left)
		{
			return 'in order of bytes: ' . differs_at($i, $left[$i], $right[$i]) if $left[$i] ne $right[$i];
		}
	}
	elsif ($compare eq 'some' && $super && !$super->{code})
	{
		my %left;
		$left{$_}++ for @{ $super->{rows} };
		for my $i (0 .. $#$b)
		{
			return "row $i is none without LIMIT, or comes too often: " . FuzzSql::Session::readable($b->[$i]) if !$left{ $b->[$i] }--;
		}
	}
	return undef;
}

# Rows of which those with equal keys may come in any order, beside "super": the number of each
# row's peer group, and the row.  Of a group that LIMIT or OFFSET divides, any rows may come.  As
# "firsts" there is one row of each group, and "super" has another column between number and row.
sub differs_from_peers
{
	my ($step, $rows, $super) = @_;
	my $skipped = $step->{offset} // 0;
	my $at = 0;
	my $last;
	my @groups;

	for my $row (@{ $super->{rows} })
	{
		my $number = FuzzSql::Session::leading($row, 1);
		push @groups, [] if !defined $last || $number ne $last;
		push @{ $groups[-1] }, substr($row, 2 + length($step->{compare} eq 'firsts' ? FuzzSql::Session::leading($row, 2) : $number));
		$last = $number;
	}
	for my $group (@groups)
	{
		my $here = $step->{compare} eq 'firsts' ? 1 : @$group;
		if ($skipped >= $here)
		{
			$skipped -= $here;
			next;
		}
		my %left;
		$left{$_}++ for @$group;
		for (1 .. $here - $skipped)
		{
			return undef if $at >= @$rows;
			return "row $at has other keys, or comes too often: " . FuzzSql::Session::readable($rows->[$at]) if !$left{ substr($rows->[$at], 2) }--;
			$at++;
		}
		$skipped = 0;
	}
	return $at < @$rows ? "row $at is one too many: " . FuzzSql::Session::readable($rows->[$at]) : undef;
}

sub differs_at
{
	my ($i, $a, $b) = @_;
	return "row $i is\n    " . FuzzSql::Session::readable($b) . "\ninstead of\n    " . FuzzSql::Session::readable($a);
}

# What is wrong with a plan's text, as far as it can be told without a parser.
sub bad_plan
{
	my ($format, $text) = @_;

	return 'an empty plan' if $text !~ /\S/;
	if ($format eq 'json')
	{
		eval { JSON::PP->new->decode($text); 1 } or return "no JSON: $@\n$text";
	}
	elsif ($format eq 'xml')
	{
		my @open;
		for my $tag ($text =~ /<([^<>]*)>/g)
		{
			next if $tag =~ m{/$};
			if ($tag =~ m{^/(.*)})
			{
				return "no XML: </$1> closes <" . ($open[-1] // '') . ">\n$text" if !@open || pop(@open) ne $1;
			}
			else
			{
				push @open, $tag =~ /^([\w.-]+)/ ? $1 : return "no XML: <$tag>\n$text";
			}
		}
		return "no XML: <$open[-1]> stays open\n$text" if @open;
	}
	elsif ($format eq 'yaml')
	{
		/^\s*(- )*(("[^"]+"|[\w.() \/-]+): ?.*|"([^"\\]|\\.)*"|\[.*\]|[^:]*)$/ or return "no YAML: $_\n$text" for split /\n/, $text;
	}
	return undef;
}

1;
