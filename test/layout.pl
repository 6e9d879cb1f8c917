#!/usr/bin/perl
# layout.pl: whether the C files of src are laid out as PostgreSQL's own.
#
#	layout.pl [--write] [ROOT]
#
# Runs pg_bsd_indent (Debian: pg-bsd-indent) with pgindent's options, but for lines of 99 columns,
# and with pgindent's treatment of what pg_bsd_indent cannot parse.  Names of types are those that
# src and the headers of PostgreSQL define (PG_CONFIG, or the pg_config of PATH).  Shows what would
# change, and fails if anything would; --write changes the files.
use strict;
use warnings;
use File::Find;
use File::Temp;

my $write = @ARGV && $ARGV[0] eq '--write' && shift;
my $root = shift // '.';
my $options = '-bad -bap -bbb -bc -bl -cli1 -cp33 -cdb -nce -d0 -di12 -nfc1 -i4 -l99 -lp -lpl -nip -npro -sac -tpg -ts4';

sub read_file
{
	my ($path) = @_;

	open my $file, '<', $path or die "$path: $!\n";
	local $/;
	return <$file>;
}

sub write_file
{
	my ($path, $text) = @_;

	open my $file, '>', $path or die "$path: $!\n";
	print $file $text;
	close $file or die "$path: $!\n";
	return;
}

# The names of types that the C files below some folders define, one a line.
sub types_of
{
	my (%types, @files);

	find({ no_chdir => 1, follow => 1, wanted => sub { push @files, $_ if /\.[ch]$/ && -f } }, @_);
	for my $path (@files)
	{
		my $text = read_file($path);
		my $body;

		$body = qr/\{(?:[^{}]|(??{$body}))*\}/;
		$text =~ s{/\*.*?\*/}{}gs;
		while ($text =~ /\btypedef\b([^;{}]*$body?[^;{}]*);/gs)
		{
			my $type = $1 =~ s/$body//r;
			$types{$1} = 1
				if $type =~ /\(\s*\*\s*(\w+)\s*\)/ || $type =~ /(\w+)\s*\(/ || $type =~ /(\w+)\s*(?:\[[^\]]*\]\s*)*$/;
		}
	}
	return \%types;
}

my %standard = map { $_ => 1 } qw(bool FILE size_t ssize_t pid_t uid_t va_list sigset_t atomic_bool atomic_int
	int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t pthread_t pthread_mutex_t pthread_cond_t);
my $pg_config = $ENV{PG_CONFIG} // 'pg_config';
chomp(my $headers = `$pg_config --includedir-server`);
die "layout.pl: no headers of PostgreSQL\n" unless -d $headers;

my %own = (%standard, %{ types_of("$root/src") });
# ReadStream is a type of PostgreSQL 17 and later.
my %with_postgres = (%own, ReadStream => 1, %{ types_of($headers) });

# Names that are types in a few of PostgreSQL's headers, and variables elsewhere: pgindent leaves
# them out, too.
delete @with_postgres{qw(ANY FD_SET LookupSet boolean date digit duration element_type inquiry interval
	iterator other pointer pos rep state symbol timestamp type wrap)};

# pg_bsd_indent leaves a copy of each file in the current folder.
my $folder = File::Temp->newdir;

my $changed = 0;
sub check_file
{
	my ($path) = @_;
	my $text = read_file($path);
	my $types = $text =~ /"postgres\.h"/ || $path =~ m{/src/pg/} ? \%with_postgres : \%own;
	my $list = File::Temp->new;
	my $copy = File::Temp->new;
	my $new = $text;

	$new =~ s{/\* +---}{/*---X_X}g;
	$new =~ s{(^#ifdef[ \t]+__cplusplus.*\nextern[ \t]+"C"[ \t]*\n)\{[ \t]*$}{$1/* Open extern "C" */}gm;
	$new =~ s{(^#ifdef[ \t]+__cplusplus.*\n)\}[ \t]*$}{$1/* Close extern "C" */}gm;
	write_file($list->filename, join '', map { "$_\n" } sort keys %$types);
	write_file($copy->filename, $new);
	my $errors = `cd $folder && pg_bsd_indent $options -U$list $copy 2>&1`;
	if ($? || $errors ne '')
	{
		$changed++;
		print "$path: $errors\n";
		return;
	}
	$new = read_file($copy->filename);
	$new =~ s{^/\* Open extern "C" \*/$}{\{}gm;
	$new =~ s{^/\* Close extern "C" \*/$}{\}}gm;
	$new =~ s{/\*---X_X}{/* ---}g;
	$new =~ s{\*/(/\*.*\*/)$}{*/\t$1}gm;
	$new =~ s{^([A-Za-z_]\S*)[ \t]+\*$}{$1 *}gm;
	return if $new eq $text;

	$changed++;
	if ($write)
	{
		write_file($path, $new);
	}
	else
	{
		write_file($copy->filename, $new);
		print `diff -u --label $path --label 'laid out' $path $copy`;
	}
	return;
}

my $files = 0;
find({ no_chdir => 1, wanted => sub { $files++, check_file($_) if /\.[ch]$/ } }, "$root/src");
die "no files in $root/src\n" unless $files;
printf "%d files, %d %s\n", $files, $changed, $write ? 'changed' : 'not laid out as PostgreSQL\'s own';
exit($changed && !$write ? 1 : 0);
