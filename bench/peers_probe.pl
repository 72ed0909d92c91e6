# SPDX-License-Identifier: MIT
# perl peers_probe.pl SOCKET: a dozen attempts from inside a tool, for bench/peers. Prints "probe NAME open" for a success, "held" for a
# failure. Writes are judged outside. For HTTP it uses the proxy in the environment, as clients do.
use strict;
use warnings;
use IO::Socket::INET;
use IO::Socket::UNIX;

my $socket = shift;
my $project = do { require Cwd; Cwd::getcwd() };
(my $home = $project) =~ s{/code/app$}{};

sub answer { my ($name, $open) = @_; print "probe $name ", ($open ? 'open' : 'held'), "\n" }
sub reads { my ($path, $text) = @_; open(my $file, '<', $path) or return 0; my $line = <$file>; return defined $line && $line =~ /\Q$text/ }

answer('read-key', reads("$home/.ssh/id_ed25519", 'the key'));
answer('read-other', reads("$home/code/other/secret", 'the other project'));
answer('read-env-file', reads("$project/.env", 'the token'));
answer('environment', ($ENV{AWS_SECRET_ACCESS_KEY} // '') eq 'the-secret');

my $outside;
for my $path (glob('/proc/[0-9]*/cmdline')) {
    ($outside) = $path =~ m{/proc/(\d+)/} if reads($path, "sleep\00098765");
}
answer('see-process', defined $outside);
# Needs the same permission as ptrace.
answer('trace-process', defined $outside && reads("/proc/$outside/environ", 'of-a-process-outside'));

# Through the tool's proxy, or directly.
sub web {
    my ($host, $port) = @_;
    my $proxy = $ENV{http_proxy} // $ENV{HTTP_PROXY};
    my ($via, $way) = defined $proxy && $proxy =~ m{^http://(?:[^@/]*@)?([^/:]+:\d+)} ? ($1, "http://$host:$port/") : ("$host:$port", '/');
    my $reached = 0;
    eval {
        local $SIG{ALRM} = sub { die "too long\n" };
        alarm 5;
        my $server = IO::Socket::INET->new(PeerAddr => $via, Timeout => 3) or die "no\n";
        print $server "GET $way HTTP/1.0\r\nHost: $host\r\n\r\n";
        my $text = join '', <$server>;
        $reached = $text =~ / 200 OK.*here$/s;
    };
    alarm 0;
    return $reached;
}
answer('web-unnamed', web('unnamed.example', 80));
answer('web-paste', web('pastebin.com', 80));
answer('web-metadata', web('169.254.169.254', 80));
answer('web-loopback', web('127.0.0.1', 8080));

sub direct {
    my $address = shift;
    my $reached = 0;
    eval {
        local $SIG{ALRM} = sub { die "too long\n" };
        alarm 5;
        my $server = IO::Socket::INET->new(PeerAddr => $address, Timeout => 3) or die "no\n";
        $reached = join('', <$server>) =~ /here$/;
    };
    alarm 0;
    return $reached;
}
answer('mail-port', direct('mail.example:25'));

my $engine = IO::Socket::UNIX->new(Peer => $socket);
answer('unix-socket', $engine && join('', <$engine>) =~ /here$/);

# Types a letter into the terminal from which it was started.
my $letter = 'x';
my $terminal;
answer('type', open($terminal, '+<', '/dev/tty') && ioctl($terminal, 0x5412, $letter));

if (open(my $hook, '>', "$project/.git/hooks/pre-commit")) { print $hook "#!/bin/sh\n"; close $hook }
if (open(my $file, '>', "$home/planted")) { print $file "planted\n"; close $file }
