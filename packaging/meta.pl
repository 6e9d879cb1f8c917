#!/usr/bin/perl
# meta.pl [DIR]: prints the version that releases carry, which is DIR/hpsort.control's
# default_version as three numbers.
#
# Fails where the other files of DIR that name a version differ from it (META.json,
# debian/changelog, CHANGELOG.md, the extension script), and where META.json is not what the PGXN
# Meta Spec 1.0.0 (https://pgxn.org/spec/) allows.
use strict;
use warnings;

use File::Basename qw(dirname);
use JSON::PP;

my $root = shift // dirname(__FILE__) . '/..';
my @errors;

my $number = qr/(?:0|[1-9][0-9]*)/;
my $version = qr/$number\.$number\.$number(?:-[0-9A-Za-z.-]+)?/;
my $range = qr/(?:0|(?:[<>]=?|[!=]=)?\s*$version(?:\s*,\s*(?:[<>]=?|[!=]=)?\s*$version)*)/;
my $term = qr{[^\s/\\[:cntrl:]]{2,}};
my $tag = qr{[^/\\[:cntrl:]]{1,255}};
my $uri = qr{[a-z][a-z0-9+.-]*:\S+};
my $path = qr{(?!/)[^\\]+};
my $license = qr/agpl_3|apache_1_1|apache_2_0|artistic_1|artistic_2|bsd|freebsd|gfdl_1_[23]|
	gpl_[123]|lgpl_2_1|lgpl_3_0|mit|mozilla_1_[01]|openssl|perl_5|postgresql|qpl_1_0|ssleay|sun|
	zlib|open_source|restricted|unrestricted|unknown/x;
my $any = qr/.+/s;

# A rule is one of:
#	a pattern		a string that it matches from end to end
#	[RULE]			a list of at least one of them; a string is a list of one
#	{KEY => RULE}	a map of these keys and of x_...; "!KEY" has to be there,
#					"*" stands for all keys that match the pattern '*key'
#	a function		given value and name
my $rules = {
	'!name' => $term,
	'!version' => $version,
	'!abstract' => $any,
	'!maintainer' => [$any],
	'!license' => sub {
		my ($value, $name) = @_;
		check($value, $name, ref $value eq 'HASH' ? {'*' => $uri, '*key' => $any} : [$license]);
	},
	'!provides' => {
		'*key' => $term,
		'*' => {'!file' => $path, '!version' => $version, abstract => $any, docfile => $path},
	},
	'!meta-spec' => {'!version' => qr/1\.0\.[0-9]+/, url => $uri},
	description => $any,
	generated_by => $any,
	release_status => qr/stable|testing|unstable/,
	tags => [$tag],
	no_index => {file => [$path], directory => [$path]},
	prereqs => {
		'*key' => qr/configure|build|test|runtime|develop/,
		'*' => {
			'*key' => qr/requires|recommends|suggests|conflicts/,
			'*' => {'*key' => $term, '*' => $range},
		},
	},
	resources => {
		homepage => $uri,
		bugtracker => {web => $uri, mailto => $any},
		repository => {url => $uri, web => $uri, type => qr/[a-z]+/},
	},
};

sub check
{
	my ($value, $name, $rule) = @_;

	if (ref $rule eq 'CODE')
	{
		$rule->($value, $name);
	}
	elsif (ref $rule eq 'HASH')
	{
		return push @errors, "META.json: $name is not a map" if ref $value ne 'HASH';
		push @errors, "META.json: $name is empty" if !%$value;
		for my $key (map { /^!(.*)/ } sort keys %$rule)
		{
			push @errors, "META.json: $name lacks $key" if !exists $value->{$key};
		}
		for my $key (sort keys %$value)
		{
			my $of_key = $rule->{$key} // $rule->{"!$key"};

			next if $key =~ /^x_/i;
			$of_key //= $rule->{'*'} if $rule->{'*'} && $key =~ /^$rule->{'*key'}$/;
			if ($of_key) { check($value->{$key}, "$name.$key", $of_key); }
			else { push @errors, "META.json: $name may not have $key"; }
		}
	}
	elsif (ref $rule eq 'ARRAY')
	{
		my @list = ref $value eq 'ARRAY' ? @$value : ($value);

		push @errors, "META.json: $name is empty" if !@list;
		check($_, $name, $rule->[0]) for @list;
	}
	else
	{
		push @errors, "META.json: $name is not as the specification wants it: " . encode_json([$value])
			if !defined $value || ref $value || $value !~ /^(?:$rule)$/;
	}
}

sub contents
{
	my ($name) = @_;
	open my $file, '<', "$root/$name" or die "$root/$name: $!\n";
	local $/;
	return <$file>;
}

my ($control) = contents('hpsort.control') =~ /^default_version = '([0-9.]+)'/m
	or die "hpsort.control: no default_version\n";
my $release = $control =~ tr/.// == 1 ? "$control.0" : $control;

my $meta = eval { decode_json(contents('META.json')) } or die "META.json: $@";
check($meta, 'the file', $rules);

my ($debian) = contents('debian/changelog') =~ /^hpsort \(([^)]*)-[^-)]*\)/;
my ($news) = contents('CHANGELOG.md') =~ /^## (\S+) \(/m;
my $provides = $meta->{provides}{hpsort} // {};
my %found = (
	'META.json: version' => $meta->{version},
	'META.json: provides.hpsort.version' => $provides->{version},
	'debian/changelog: version' => $debian,
	'CHANGELOG.md: first version' => $news);
for (sort keys %found)
{
	my $version_found = $found{$_} // 'missing';
	push @errors, "$_ is $version_found; hpsort.control says $release" if $version_found ne $release;
}
for my $key (qw(file docfile))
{
	my $name = $provides->{$key} // '';
	push @errors, "META.json: provides.hpsort.$key: no file $name" if !-f "$root/$name";
}
# An extension may be created by an older script and those that update it.
push @errors, "no sql/hpsort--$control.sql nor a script that updates to $control"
	if !-f "$root/sql/hpsort--$control.sql" && !glob "$root/sql/hpsort--*--$control.sql";

die join '', map { "$_\n" } @errors if @errors;
print "$release\n";
