# SPDX-License-Identifier: MIT
# perl connect.pl PATH: prints the greeting of listen.pl, or the error.
use strict;
use warnings;
use Socket;

my $path = shift;
my $address = $path =~ s/^@// ? "\0$path" : $path;
socket(my $connection, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!\n";
connect($connection, pack_sockaddr_un($address)) or die "connect: $!\n";
print scalar <$connection>;
