# SPDX-License-Identifier: MIT
# perl peers_listen.pl SOCKET ADDRESS:PORT...: answers "here" to every client, for bench/peers.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use IO::Socket::UNIX;

my ($path, @addresses) = @ARGV;
my @listeners = map { IO::Socket::INET->new(LocalAddr => $_, Listen => 20, ReuseAddr => 1) or die "$_: $!\n" } @addresses;
push @listeners, (IO::Socket::UNIX->new(Local => $path, Listen => 20) or die "$path: $!\n");
chmod 0666, $path;
my $ready = IO::Select->new(@listeners);
$SIG{PIPE} = 'IGNORE';
while (my @some = $ready->can_read) {
    for my $listener (@some) {
        my $client = $listener->accept or next;
        # Protocols differ in which side sends first; here it is always the server.
        print $client "HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\nhere";
        close $client;
    }
}
