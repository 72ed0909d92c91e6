# SPDX-License-Identifier: MIT
# perl sessions.pl COUNT FOLDER COMMAND...: starts the command COUNT times at once, in FOLDER/1, FOLDER/2 …; "%" in its words is replaced by
# that folder. Each must write "up". Prints the milliseconds until the last one has done so, or the other output; then waits for a line of
# standard input, ends all, and prints "gone" when they have exited. For bench/sessions.
use strict;
use warnings;
use Time::HiRes qw(time sleep);

my ($count, $folder, @command) = @ARGV;
$| = 1;
$SIG{PIPE} = 'IGNORE';
pipe(my $answers, my $say) or die "pipe: $!\n";
my $began = time;
my @started;
for my $number (1 .. $count) {
    my $child = fork // die "fork: $!\n";
    if ($child == 0) {
        open(STDIN, '<', '/dev/null');
        open(STDOUT, '>&', $say);
        open(STDERR, '>', "$folder/$number.said");
        chdir "$folder/$number" or die "$folder/$number: $!\n";
        my @words = map { s/%/$folder\/$number/gr } @command;
        exec @words or exit 127;
    }
    push @started, $child;
}
close $say;

my $up = 0;
my $text = '';
local $SIG{ALRM} = sub { print "only $up of $count came up\n"; $up = -1 };
alarm 120;
while ($up >= 0 && $up < $count) {
    my $got = sysread($answers, my $part, 4096) or last;
    $up += () = $part =~ /up\n/g;
}
alarm 0;
if ($up == $count) { printf "%.1f\n", 1000 * (time - $began) }
elsif ($up >= 0) { print "only $up of $count came up\n" }
my $line = <STDIN>;
kill TERM => @started;
# Some tools ignore the first signal; kill them.
my $late = time + 20;
for my $child (@started) {
    until (waitpid($child, 1) != 0) {
        if (time > $late) { kill KILL => $child; $late = time + 5 }
        sleep 0.005;
    }
}
print "gone\n";
