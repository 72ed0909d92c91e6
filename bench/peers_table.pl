# SPDX-License-Identifier: MIT
# perl peers_table.pl FOLDER NAME...: the results of bench/peers as a Markdown table.
use strict;
use warnings;

my ($folder, @names) = @ARGV;
my @rows = (
    ['read-key', 'read a key in `~/.ssh`'],
    ['read-other', 'read another project'],
    ['read-env-file', "read the project's `.env`"],
    ['write-outside', 'write outside the project'],
    ['write-hook', 'write `.git/hooks`'],
    ['environment', 'see a secret variable'],
    ['see-process', 'see a process outside'],
    ['trace-process', 'read the environment of a process outside (asks for the right to trace)'],
    ['type', 'type into the terminal (TIOCSTI)'],
    ['unix-socket', 'use a Unix socket like Docker\'s'],
    ['web-unnamed', 'reach a host that no rule names'],
    ['web-paste', 'reach a paste site'],
    ['web-metadata', "reach a cloud's metadata address"],
    ['web-loopback', "reach a service on the host's loopback"],
    ['mail-port', 'reach a mail server'],
);
my %result;
for my $name (@names) {
    open(my $file, '<', "$folder/result.$name") or die "$name: $!\n";
    while (<$file>) { $result{$name}{$1} = $2 if /^(\S+) (\S+)/ }
}
print '| attempt | ', join(' | ', @names), " |\n|---", '|---' x @names, "|\n";
for my $row (@rows) {
    my ($probe, $text) = @$row;
    print "| $text | ", join(' | ', map { $result{$_}{$probe} // '?' } @names), " |\n";
}
print '| held, of ', scalar(@rows), ' | ', join(' | ', map { my $one = $_; scalar grep { ($result{$one}{$_->[0]} // '') eq 'held' } @rows } @names), " |\n";
