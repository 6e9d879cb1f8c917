# FuzzSql::Session: one connection to a server, speaking PostgreSQL's protocol
# over its socket.  Rows stay as the bytes that came: equal rows are equal bytes.
package FuzzSql::Session;

use strict;
use warnings;
use IO::Select;
use IO::Socket::UNIX;
use Time::HiRes qw(sleep time);

# Longer than this without a byte from the server is a hang: statement_timeout
# ends whatever can be ended.
my $silence = 300;

# Options: host (the socket's directory), port, user, database, and settings by name, to which RESET
# returns.
sub connect
{
	my ($class, %options) = @_;
	my $path = "$options{host}/.s.PGSQL.$options{port}";
	my $socket = IO::Socket::UNIX->new(Peer => $path) or return undef;
	my $self = bless { socket => $socket, select => IO::Select->new($socket), buffer => '', notices => [] }, $class;
	my $hello = pack('N', 196608);

	$hello .= "$_->[0]\0$_->[1]\0" for [ user => $options{user} ], [ database => $options{database} ],
	  [ application_name => 'sql_fuzz' ], [ client_encoding => 'UTF8' ], map { [ $_ => $options{settings}{$_} ] } sort keys %{ $options{settings} // {} };
	$hello .= "\0";
	$self->send_bytes(pack('N', 4 + length $hello) . $hello);
	my $results = $self->results;
	return undef if $self->{lost} || ($results->[0] && $results->[0]{code});
	return $self;
}

# Connects to a server that may be starting.
sub connect_when_ready
{
	my ($class, %options) = @_;
	my $end = time() + 120;

	while (time() < $end)
	{
		my $session = eval { $class->connect(%options) };
		return $session if $session;
		sleep 0.2;
	}
	return undef;
}

sub send_bytes
{
	my ($self, $bytes) = @_;
	my $sent = 0;

	local $SIG{PIPE} = 'IGNORE';
	while ($sent < length $bytes)
	{
		my $n = syswrite($self->{socket}, $bytes, length($bytes) - $sent, $sent);
		if (!defined $n)
		{
			$self->{lost} = "write: $!";
			return;
		}
		$sent += $n;
	}
}

sub send_message
{
	my ($self, $type, $body) = @_;
	$self->send_bytes($type . pack('N', 4 + length $body) . $body);
}

# The next message: its type and body, or nothing if the connection is lost.
sub message
{
	my ($self) = @_;

	return if $self->{lost};
	for (;;)
	{
		if (length $self->{buffer} >= 5)
		{
			my ($type, $length) = unpack('aN', $self->{buffer});
			if (length $self->{buffer} > $length)
			{
				my $body = substr($self->{buffer}, 5, $length - 4);
				substr($self->{buffer}, 0, $length + 1, '');
				return ($type, $body);
			}
		}
		if (!$self->{select}->can_read($silence))
		{
			$self->{lost} = "no answer for $silence seconds";
			return;
		}
		my $n = sysread($self->{socket}, my $more, 1 << 20);
		if (!$n)
		{
			$self->{lost} = defined $n ? 'connection closed' : "read: $!";
			return;
		}
		$self->{buffer} .= $more;
	}
}

sub error_fields
{
	my ($body) = @_;
	my %fields = map { substr($_, 0, 1) => substr($_, 1) } grep { length } split /\0/, $body;
	return \%fields;
}

# All that an error says to a user.
sub said
{
	my ($fields) = @_;
	return join(' / ', "$fields->{S}: $fields->{M}", map { $fields->{$_} // () } qw(D H));
}

# Reads up to ReadyForQuery.  Each statement's result is { rows, tag } or
# { code, error, said }: SQLSTATE, message, and message with detail and hint.
sub results
{
	my ($self) = @_;
	my @results;
	my @rows;

	while (my ($type, $body) = $self->message)
	{
		if ($type eq 'D')
		{
			push @rows, $body;
		}
		elsif ($type eq 'C')
		{
			push @results, { rows => [@rows], tag => substr($body, 0, -1) };
			@rows = ();
		}
		elsif ($type eq 'E')
		{
			my $fields = error_fields($body);
			push @results, { rows => [@rows], code => $fields->{C}, error => "$fields->{S}: $fields->{M}", said => said($fields) };
			@rows = ();
			# A fatal error is the last that is heard.
			$self->{lost} = $fields->{M} if $fields->{S} eq 'FATAL' || $fields->{S} eq 'PANIC';
		}
		elsif ($type eq 'N')
		{
			my $fields = error_fields($body);
			push @{ $self->{notices} }, "$fields->{S}: $fields->{M}";
		}
		last if $type eq 'Z';
	}
	push @results, { rows => [@rows], code => 'LOST', error => $self->{lost}, said => $self->{lost} } if $self->{lost};
	return \@results;
}

# Runs one statement or several; the results of all of them.
sub query_all
{
	my ($self, $sql) = @_;
	$self->send_message('Q', "$sql\0");
	return $self->results;
}

# Runs one statement; its result.
sub query
{
	my ($self, $sql) = @_;
	my $results = $self->query_all($sql);
	return $results->[-1] // { rows => [], tag => '' };
}

# Runs a statement with parameters as drivers do, fetching so many rows at a time
# (0: all at once); one result with all rows.
sub query_by_portal
{
	my ($self, $sql, $fetch, @params) = @_;
	my @rows;

	$self->send_message('P', "\0$sql\0" . pack('n', 0));
	$self->send_message('B', "\0\0" . pack('nn', 0, scalar @params)
		  . join('', map { defined $_ ? pack('N', length $_) . $_ : pack('N', 0xffffffff) } @params) . pack('n', 0));
	for (;;)
	{
		delete $self->{suspended};
		$self->send_message('E', "\0" . pack('N', $fetch));
		# Sync ends the portal's transaction: only a Flush keeps it.
		$self->send_message('H', '');
		my $result = $self->portal_result;
		push @rows, @{ $result->{rows} };
		next if $self->{suspended};
		$self->send_message('S', '');
		$self->results;
		$result->{rows} = \@rows;
		return $self->{lost} ? { rows => \@rows, code => 'LOST', error => $self->{lost}, said => $self->{lost} } : $result;
	}
}

sub portal_result
{
	my ($self) = @_;
	my @rows;

	while (my ($type, $body) = $self->message)
	{
		if ($type eq 'D')
		{
			push @rows, $body;
		}
		elsif ($type eq 's')
		{
			$self->{suspended} = 1;
			return { rows => \@rows };
		}
		elsif ($type eq 'C')
		{
			return { rows => \@rows, tag => substr($body, 0, -1) };
		}
		elsif ($type eq 'E')
		{
			my $fields = error_fields($body);
			$self->{lost} = $fields->{M} if $fields->{S} eq 'FATAL' || $fields->{S} eq 'PANIC';
			return { rows => \@rows, code => $fields->{C}, error => "$fields->{S}: $fields->{M}", said => said($fields) };
		}
		elsif ($type eq 'N')
		{
			my $fields = error_fields($body);
			push @{ $self->{notices} }, "$fields->{S}: $fields->{M}";
		}
	}
	return { rows => \@rows, code => 'LOST', error => $self->{lost}, said => $self->{lost} };
}

# What the server has said besides results since the last call.
sub notices
{
	my ($self) = @_;
	my @notices = @{ $self->{notices} };
	$self->{notices} = [];
	return @notices;
}

# The first columns of a row, as bytes.
sub leading
{
	my ($row, $columns) = @_;
	my $at = 2;

	for (1 .. $columns)
	{
		my $length = unpack('N', substr($row, $at, 4));
		$at += 4 + ($length == 0xffffffff ? 0 : $length);
	}
	return substr($row, 2, $at - 2);
}

# A row as people read it.
sub readable
{
	my ($row) = @_;
	my $columns = unpack('n', $row);
	my $at = 2;
	my @values;

	for (1 .. $columns)
	{
		my $length = unpack('N', substr($row, $at, 4));
		$at += 4;
		if ($length == 0xffffffff)
		{
			push @values, 'NULL';
			next;
		}
		my $value = substr($row, $at, $length);
		push @values, $length > 60 ? substr($value, 0, 50) . "...($length)" : $value;
		$at += $length;
	}
	return join(' | ', @values);
}

# The first column of each row, as text.
sub text
{
	my ($result) = @_;
	return join("\n", map { my $l = unpack('N', substr($_, 2, 4)); $l == 0xffffffff ? '' : substr($_, 6, $l) } @{ $result->{rows} });
}

1;
