# SPDX-License-Identifier: MIT
# perl listen.pl PATH: a Unix socket that greets every client. A path that starts with @ is an abstract name.
use strict;
use warnings;
use Socket;

my $path = shift;
my $address = $path =~ s/^@// ? "\0$path" : $path;
socket(my $listener, AF_UNIX, SOCK_STREAM, 0) or die "socket: $!\n";
bind($listener, pack_sockaddr_un($address)) or die "bind: $!\n";
listen($listener, 16) or die "listen: $!\n";
chmod 0777, $address unless $address =~ /^\0/;
while (accept(my $caller, $listener)) {
    syswrite $caller, "hello from outside\n";
    close $caller;
}
