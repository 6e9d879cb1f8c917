#!/usr/bin/perl
# structure.pl: whether src is built as docs/architecture.md says, no file is too long, and no test
# depends on the environment's locale.
#
#	structure.pl [ROOT]
#
# A file and its header are one unit.  Checked are, from the #include lines:
#	- no circle of units: whoever reads a unit needs only what is below it;
#	- arrows between rooms point down: each room includes only the rooms listed here;
# that no file of src and cuda is longer than 800 lines, that tests in test/t make their
# clusters by new_cluster() of HpsortTest.pm, which gives them an encoding and a locale, and that
# whoever makes a tuple descriptor finalizes it (without which PostgreSQL 19 alone reads wrong offsets).
use strict;
use warnings;
use File::Find;

my $root = shift // '.';

# What each room may include, besides itself and PostgreSQL's and the system's headers.
# The longest name that fits is a file's room.
my %may = (
	'sort' => ['sort/published'],
	'sort/published' => ['sort'],
	'gpu' => ['sort'],
	'gpud' => ['gpu', 'sort'],
	'pg' => ['sort', 'gpu', 'pg/gpu', 'pg/nodes', 'pg/resident'],
	'pg/gpu' => ['pg', 'pg/resident', 'gpu', 'sort'],
	'pg/resident' => ['pg', 'sort'],
	'pg/values' => ['pg'],
	'pg/column' => ['pg', 'pg/resident', 'pg/values', 'sort'],
	'pg/functions' => ['pg', 'pg/gpu', 'pg/column', 'pg/resident', 'pg/values', 'sort'],
	'pg/multiset' => ['pg', 'pg/column', 'pg/functions', 'sort'],
	'pg/nodes' => ['pg', 'pg/column', 'pg/nodes/aggregate', 'pg/nodes/sort'],
	'pg/nodes/aggregate' => ['pg', 'pg/column', 'pg/functions', 'pg/multiset', 'pg/values', 'sort'],
	'pg/nodes/sort' => ['pg', 'pg/column', 'pg/nodes/sort/store', 'pg/values', 'sort'],
	'pg/nodes/sort/store' => ['pg', 'pg/values', 'sort'],
);

my (%includes, @failures);

sub room
{
	my ($path) = @_;
	(my $dir = $path) =~ s{/[^/]*$}{};

	$dir =~ s{/[^/]*$}{} or return undef until exists $may{$dir};
	return $dir;
}

find(
	{
		no_chdir => 1,
		wanted => sub {
			return unless /\.(c|h|cpp)$/;
			(my $unit = $_) =~ s{^\Q$root\E/src/}{};
			$unit =~ s/\.[^.]*$//;
			open my $file, '<', $_ or die "$_: $!\n";
			my $lines = 0;
			my ($made, $finalized) = (0, 0);
			while (my $line = <$file>)
			{
				$lines++;
				$made++ if $line =~ /\bCreateTemplateTupleDesc\(/;
				$finalized++ if $line =~ /\bcompat_finalize_tupdesc\([^)]*\);/;
				next unless $line =~ m{^\s*#\s*include "([^"]+)"} && -e "$root/src/$1";
				(my $other = $1) =~ s/\.[^.]*$//;
				$includes{$unit}{$other} = 1 if $other ne $unit;
			}
			push @failures, "$_ has $lines lines" if $lines > 800;
			push @failures, "$_ makes $made tuple descriptors and finalizes $finalized" if $made != $finalized;
		},
	},
	"$root/src");
die "no files in $root/src\n" unless %includes;

# The engine's arrows are those of its folders (docs/gpu-engine.md): only lengths are checked.
find(
	{
		no_chdir => 1,
		wanted => sub {
			return unless /\.(c|h|cu|cuh)$/;
			open my $file, '<', $_ or die "$_: $!\n";
			my $lines = () = <$file>;
			push @failures, "$_ has $lines lines" if $lines > 800;
		},
	},
	"$root/cuda");

for my $test (glob "$root/test/t/*.p[lm]")
{
	open my $file, '<', $test or die "$test: $!\n";
	push @failures, "$test makes a cluster without new_cluster()" if $test !~ /HpsortTest/ && grep { /->init\s*[(;]/ } <$file>;
}

for my $unit (sort keys %includes)
{
	my $room = room($unit) // do { push @failures, "$unit is in no room"; next };
	for my $other (sort keys %{ $includes{$unit} })
	{
		my $below = room($other);
		push @failures, "$unit includes $other: $room may not include " . ($below // 'what is in no room')
			unless defined $below && ($below eq $room || grep { $_ eq $below } @{ $may{$room} });
	}
}

# Depth first; a unit that is met again while it is open closes a circle.
my (%state, @path);
sub visit
{
	my ($unit) = @_;

	push @path, $unit;
	$state{$unit} = 'open';
	for my $other (sort keys %{ $includes{$unit} // {} })
	{
		if (!defined $state{$other})
		{
			visit($other);
		}
		elsif ($state{$other} eq 'open')
		{
			my @circle = @path;
			shift @circle while $circle[0] ne $other;
			push @failures, 'circle: ' . join(' -> ', @circle, $other);
		}
	}
	$state{$unit} = 'done';
	pop @path;
}
for my $unit (sort keys %includes)
{
	visit($unit) unless defined $state{$unit};
}

print "$_\n" for @failures;
printf "%d units, %d failures\n", scalar keys %includes, scalar @failures;
exit(@failures ? 1 : 0);
