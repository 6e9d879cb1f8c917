#!/usr/bin/perl
# structure.pl: whether src is built as docs/internals/architecture.md says, no file, function or line is too
# long, the project stays within its budget of lines, and no test depends on the environment's locale.
#
#	structure.pl [ROOT]
#
# A file and its header are one unit.  Checked are
#	- from the #include lines: no circle of units, so that whoever reads a unit needs only what is
#	  below it; arrows between rooms point down, as each room includes only the rooms listed here, and
#	  of each of these its entry header alone;
#	- from the calls: no circle of files that call each other's functions, whichever header declares
#	  the functions;
#	- the budget below for src and cuda together; at most 800 lines a file, 100 lines a function,
#	  100 columns a line and 20 files of code a folder;
#	- tests in test/t make their clusters by new_cluster() of HpsortTest.pm, which gives them an
#	  encoding and a locale;
#	- whoever makes a tuple descriptor finalizes it (without which PostgreSQL 19 alone reads wrong
#	  offsets).
use strict;
use warnings;
use File::Find;

my $root = shift // '.';

# Lines of src and cuda together.  Lower it with what a change removes; what raises it says why in
# the message of its commit.
my $budget = 111_830;

# What each room may include, besides itself and PostgreSQL's and the system's headers.
# The longest name that fits is a file's room.  Of a room marked in %library each header may be
# included from outside; of any other room one header, which says what the room offers.
my @sort = ('sort', map { "sort/$_" } qw(kernels published extents runs device sorter multiset rows));
my %library = map { $_ => 1 } qw(gpu gpud pg), grep { $_ ne 'sort/multiset' } @sort;
my @resident = map { "pg/resident/$_" } qw(memory extents filter gpu source);
my %may = (
	'sort' => [],
	'sort/kernels' => ['sort'],
	'sort/published' => ['sort', 'sort/kernels'],
	'sort/extents' => ['sort', 'sort/kernels'],
	'sort/runs' => ['sort', 'sort/extents', 'sort/kernels'],
	'sort/device' => ['sort', map { "sort/$_" } qw(extents kernels published runs)],
	'sort/sorter' => ['sort', map { "sort/$_" } qw(device extents kernels runs)],
	'sort/multiset' => ['sort', 'sort/runs', 'sort/sorter'],
	'sort/rows' => ['sort', 'sort/device', 'sort/kernels'],
	'gpu' => [@sort],
	'gpud' => ['gpu', @sort],
	'pg' => [@sort, 'gpu', 'pg/functions', 'pg/gpu', 'pg/nodes', 'pg/resident/memory'],
	'pg/gpu' => ['pg', 'pg/resident/memory', 'gpu', @sort],
	'pg/values' => ['pg', @sort],
	'pg/pages' => ['pg', 'pg/values'],
	'pg/resident/memory' => ['pg'],
	'pg/resident/extents' => ['pg', 'pg/pages', 'pg/resident/memory', 'pg/values', @sort],
	'pg/resident/filter' => ['pg', 'pg/resident/extents', 'pg/values', @sort],
	'pg/resident/gpu' => ['pg', 'pg/resident/extents', 'pg/resident/filter', 'pg/values', @sort],
	'pg/resident/source' => ['pg', 'pg/pages', @resident, 'pg/values', @sort],
	'pg/column' => ['pg', 'pg/pages', @resident, 'pg/values', @sort],
	'pg/functions' => ['pg', 'pg/gpu', 'pg/column', @resident, 'pg/values', @sort],
	'pg/multiset' => ['pg', 'pg/functions', @sort],
	'pg/nodes' => ['pg', 'pg/nodes/aggregate/plan', 'pg/nodes/scan', 'pg/nodes/sort/plan', 'pg/nodes/sort/exec'],
	'pg/nodes/scan' => ['pg', 'pg/column', 'pg/pages', 'pg/resident/source', 'pg/values'],
	'pg/nodes/aggregate/plan' => ['pg', 'pg/column', 'pg/functions', 'pg/multiset', 'pg/resident/source', 'pg/values'],
	'pg/nodes/aggregate/read' => ['pg', 'pg/column', 'pg/nodes/aggregate/plan', 'pg/values', @sort],
	'pg/nodes/aggregate/results' => ['pg', 'pg/column', 'pg/functions', 'pg/multiset', 'pg/nodes/aggregate/plan', 'pg/values'],
	'pg/nodes/aggregate/pairs' => ['pg', 'pg/nodes/aggregate/read', @sort],
	'pg/nodes/aggregate/groups' =>
	  ['pg', 'pg/column', 'pg/nodes/aggregate/pairs', 'pg/nodes/aggregate/read', 'pg/nodes/aggregate/results', @sort],
	'pg/nodes/aggregate/parallel' => ['pg', 'pg/nodes/aggregate/groups', 'pg/nodes/aggregate/pairs', 'pg/nodes/aggregate/read', @sort],
	'pg/nodes/aggregate' => ['pg', 'pg/functions', 'pg/multiset', 'pg/resident/gpu', @sort,
		map { "pg/nodes/aggregate/$_" } qw(groups parallel plan read results)],
	'pg/nodes/sort/store' => ['pg', 'pg/values', @sort],
	'pg/nodes/sort/plan' => ['pg', 'pg/nodes/sort/store', 'pg/resident/source', 'pg/values', @sort],
	'pg/nodes/sort/exec' =>
	  ['pg', 'pg/column', 'pg/pages', 'pg/resident/gpu', 'pg/nodes/sort/plan', 'pg/nodes/sort/store', 'pg/values', @sort],
);

my (%includes, %offers, %calls, %definitions, %files_of, @failures);
my $total = 0;

sub room
{
	my ($path) = @_;
	(my $dir = $path) =~ s{/[^/]*$}{};

	$dir =~ s{/[^/]*$}{} or return undef until exists $may{$dir};
	return $dir;
}

sub read_file
{
	my ($path) = @_;

	open my $file, '<', $path or die "$path: $!\n";
	local $/;
	return <$file>;
}

# The lengths of a file, its lines and its functions, which begin and end in the first column.
sub check_lengths
{
	my ($path, $text) = @_;
	my @lines = split /\n/, $text;
	my ($name, $start);

	$total += @lines;
	$files_of{ $path =~ s{/[^/]*$}{}r }++ unless $path =~ /\.(h|cuh)$/;
	push @failures, "$path has " . @lines . ' lines' if @lines > 800;
	for my $i (0 .. $#lines)
	{
		my $line = $lines[$i];

		1 while $line =~ s/^([^\t]*)\t/$1 . ' ' x (4 - length($1) % 4)/e;
		# A message is not divided, so that it can be found.
		push @failures, "$path:" . ($i + 1) . ' has ' . length($line) . ' columns'
			if length $line > 100 && $line !~ /"[^"]{40,}"/;
		$name = $1 if $line =~ /^(\w+)\(/;
		$start = $i if $line eq '{';
		if ($line eq '}' && defined $start)
		{
			push @failures, "$path: " . ($name // 'a function') . ' has ' . ($i - $start + 1) . ' lines'
				if $i - $start + 1 > 100;
			undef $start;
		}
	}
}

find(
	{
		no_chdir => 1,
		wanted => sub {
			return unless /\.(c|h|cpp|cu|cuh)$/;
			my $path = $_;
			my $text = read_file($path);
			check_lengths($path =~ s{^\Q$root\E/}{}r, $text);

			# The engine's arrows are those of its folders (docs/internals/gpu-engine.md): only lengths are checked.
			return unless $path =~ m{^\Q$root\E/src/};
			(my $unit = $path) =~ s{^\Q$root\E/src/}{};
			$unit =~ s/\.[^.]*$//;
			for my $other ($text =~ m{^\s*#\s*include "([^"]+)"}mg)
			{
				next unless -e "$root/src/$other";
				$other =~ s/\.[^.]*$//;
				$includes{$unit}{$other} = 1 if $other ne $unit;
			}
			$includes{$unit} //= {};
			my $made = () = $text =~ /\bCreateTemplateTupleDesc\(/g;
			my $finalized = () = $text =~ /\bTupleDescFinalize\([^)]*\);/g;
			push @failures, "$path makes $made tuple descriptors and finalizes $finalized" if $made != $finalized;

			# What the unit calls, and what its source file defines for others.  A function that is only
			# named, as those of an interface are, is called by whoever is given it.
			$text =~ s{/\*.*?\*/|"(?:[^"\\\n]|\\.)*"}{}gs;
			my $code = $text =~ s!^extern\b[^;{]*;!!mgr;
			$calls{$unit}{$_} = 1 for $code =~ /(?<![\w.>])([A-Za-z_]\w*)\(/g;
			return if $path =~ /\.h$/;
			while ($text =~ /^(?!static\b)\w[\w *]*\n(\w+)\(([^;{}]*?)\)\s*\n\{/mg)
			{
				$definitions{$1} = $unit unless $2 =~ /PG_FUNCTION_ARGS/;
			}
		},
	},
	"$root/src",
	"$root/cuda");
die "no files in $root/src\n" unless %includes;
die "no functions in $root/src\n" unless %definitions;

push @failures, "src and cuda have $total lines: the budget is $budget" if $total > $budget;
for my $folder (sort keys %files_of)
{
	push @failures, "$folder has $files_of{$folder} files of code"
		if $files_of{$folder} > 20;
}

for my $test (glob "$root/test/t/*.p[lm]")
{
	push @failures, "$test makes a cluster without new_cluster()"
		if $test !~ /HpsortTest/ && read_file($test) =~ /->init\s*[(;]/;
}

for my $unit (sort keys %includes)
{
	my $room = room($unit) // do { push @failures, "$unit is in no room"; next };
	for my $other (sort keys %{ $includes{$unit} })
	{
		my $below = room($other);
		push @failures, "$unit includes $other: $room may not include " . ($below // 'what is in no room')
			unless defined $below && ($below eq $room || grep { $_ eq $below } @{ $may{$room} });
		$offers{$below}{$other} = 1 if defined $below && $below ne $room;
	}
}
for my $room (sort keys %offers)
{
	my @headers = sort keys %{ $offers{$room} };

	push @failures, "of $room other rooms include " . join(', ', @headers) . ': only one header may be'
		if @headers > 1 && !$library{$room};
}

# check_circles(GRAPH, KIND): depth first; a unit that is met again while it is open closes a circle.
sub check_circles
{
	my ($graph, $kind) = @_;
	my (%state, @path, $visit);

	no warnings 'recursion';
	$visit = sub {
		my ($unit) = @_;

		push @path, $unit;
		$state{$unit} = 'open';
		for my $other (sort keys %{ $graph->{$unit} // {} })
		{
			if (!defined $state{$other})
			{
				$visit->($other);
			}
			elsif ($state{$other} eq 'open')
			{
				my @circle = @path;
				shift @circle while $circle[0] ne $other;
				push @failures, "circle of $kind: " . join(' -> ', @circle, $other);
			}
		}
		$state{$unit} = 'done';
		pop @path;
	};
	for my $unit (sort keys %$graph)
	{
		$visit->($unit) unless defined $state{$unit};
	}
}

my %calls_units;
for my $unit (keys %calls)
{
	for my $name (keys %{ $calls{$unit} })
	{
		my $other = $definitions{$name};
		$calls_units{$unit}{$other} = 1 if defined $other && $other ne $unit;
	}
}
check_circles(\%includes, 'headers');
check_circles(\%calls_units, 'calls');

print "$_\n" for @failures;
printf "%d lines, %d units, %d failures\n", $total, scalar keys %includes, scalar @failures;
exit(@failures ? 1 : 0);
