# SPDX-License-Identifier: MIT
# doorkeeper.pl SOCKET CONTROL: lets ordinary users run CONTROL, as root, with words of small letters and digits. One connection is
# one call; the answer is its output and, in the last line, its exit status.
use strict;
use warnings;
use IO::Socket::UNIX;

my ($path, $control) = @ARGV;
my $door = IO::Socket::UNIX->new(Local => $path, Listen => 8) or die "$path: $!\n";
chmod 0666, $path;
while (my $visitor = $door->accept) {
    my $line = <$visitor> // "";
    if ($line !~ /^[a-z0-9-]+( [a-z0-9-]+)?\n\z/) {
        print $visitor "control: not a word\n2\n";
        next;
    }
    # A file, not a pipe: a process that CONTROL leaves running must not keep the answer open.
    open my $said, "+>", undef or die "temporary file: $!\n";
    my $child = fork // die "fork: $!\n";
    if (!$child) {
        open STDOUT, ">&", $said;
        open STDERR, ">&", $said;
        close $visitor;
        close $door;
        exec $control, split " ", $line;
    }
    waitpid $child, 0;
    my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
    seek $said, 0, 0;
    print {$visitor} <$said>, "$status\n";
}
