# SPDX-License-Identifier: MIT
# fault.pl NUMBER SIGNAL DELAY COMMAND...: starts COMMAND, waits until its NUMBER-th process appears (0: the command itself, then
# its descendants in the order of their start), waits DELAY microseconds more and sends it SIGNAL. It continues a stopped process
# after a fifth of a second. Prints the name of the process that got the signal, or `nobody`, on descriptor 3, and exits as COMMAND
# does: 128 + n after signal n.
use strict;
use warnings;
use POSIX ();
use Time::HiRes qw(usleep);

my ($number, $signal, $delay, @command) = @ARGV;
open my $told, '>&=', 3 or die "descriptor 3: $!";

my $program = fork // die "fork: $!";
if ($program == 0) {
    close $told;
    $SIG{$_} = 'DEFAULT' for qw(HUP INT QUIT);
    exec @command or POSIX::_exit(126);
}

sub read_file {
    open my $file, '<', $_[0] or return '';
    local $/;
    return <$file> // '';
}

# In the order of their start, if a single look finds no more than one new process.
my (@born, %known);

sub look {
    my @waiting = ($program);
    while (defined(my $process = shift @waiting)) {
        push @born, $process unless $known{$process}++;
        push @waiting, split ' ', read_file("/proc/$process/task/$process/children");
    }
}

my ($status, $name);
until (defined $status or defined $name) {
    look();
    if (defined(my $victim = $born[$number])) {
        usleep($delay) if $delay;
        $name = read_file("/proc/$victim/comm") || 'gone';
        chomp $name;
        kill $signal, $victim;
        if ($signal eq 'STOP') {
            usleep(200_000);
            kill 'CONT', $victim;
        }
    }
    $status = $? if !defined $name && waitpid($program, POSIX::WNOHANG()) == $program;
}
unless (defined $status) {
    waitpid $program, 0;
    $status = $?;
}
print $told $name // 'nobody', "\n";
exit($status & 127 ? 128 + ($status & 127) : $status >> 8);
