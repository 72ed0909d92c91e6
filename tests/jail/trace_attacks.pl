# SPDX-License-Identifier: MIT
# trace_attacks.pl WAY: what a program may do to whoever looks into it while its calls wait.
use strict;
use warnings;
use Config;

my $is_arm = $Config{archname} =~ /aarch64/;
my $openat = $is_arm ? 56 : 257;
my $execve = $is_arm ? 221 : 59;
my $way = shift;

if ($way eq 'pointers') {
    # Addresses of nothing, of the kernel, of the last byte there is.
    my $nothing = "/nowhere\0";
    for my $address (0, 1, 4095, (1 << 47) - 1, -1, -4096, 1 << 62) {
        syscall($openat, -100, $address + 0, 0, 0);
        syscall($execve, $address + 0, $address + 0, $address + 0);
        syscall($execve, $nothing, $address + 0, 0);
    }
    print "lives\n";
} elsif ($way eq 'memory') {
    # Four processes share a page, and change the path while others ask for it.
    require IO::Handle;
    my @children;
    for my $one (1 .. 4) {
        my $child = fork() // die;
        if ($child == 0) {
            my $path = "/etc/passwd\0";
            for my $round (1 .. 2000) {
                substr($path, 5, 6) = $round % 2 ? 'passwd' : 'shadow';
                syscall($openat, -100, $path, 0, 0);
            }
            exit 0;
        }
        push @children, $child;
    }
    waitpid $_, 0 for @children;
    print "lives\n";
} elsif ($way eq 'words') {
    exec '/bin/true', ('x' x 1000) x 2000;
} elsif ($way eq 'killed') {
    # Processes that are killed while their calls wait.
    for my $round (1 .. 200) {
        my $child = fork() // die;
        if ($child == 0) { open(my $file, '<', "/etc/hostname") while 1; exit 0 }
        select undef, undef, undef, 0.001;
        kill 'KILL', $child;
        waitpid $child, 0;
    }
    print "lives\n";
}
