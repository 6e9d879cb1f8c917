# FuzzSql::Random: choices.  Perl's rand() is the same sequence everywhere after
# the same srand(); nothing else decides what is generated.
package FuzzSql::Random;

use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(chance pick between some weighted);

# Whether something with this probability happens.
sub chance { return rand() < $_[0]; }

sub pick { return $_[ int(rand(@_)) ]; }

# An integer, bounds included.
sub between { return $_[0] + int(rand($_[1] - $_[0] + 1)); }

# N different ones of a list, in any order.
sub some
{
	my ($n, @list) = @_;
	my @taken;

	push @taken, splice(@list, int(rand(@list)), 1) while @list && @taken < $n;
	return @taken;
}

# weighted(what => weight, ...)
sub weighted
{
	my @pairs = @_;
	my $total = 0;

	$total += $pairs[ $_ * 2 + 1 ] for 0 .. $#pairs / 2;
	my $at = rand() * $total;
	for my $i (0 .. $#pairs / 2)
	{
		$at -= $pairs[ $i * 2 + 1 ];
		return $pairs[ $i * 2 ] if $at < 0;
	}
	return $pairs[0];
}

1;
