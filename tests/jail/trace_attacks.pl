# SPDX-License-Identifier: MIT
# trace_attacks.pl WAY: attacks of a program on the tracer, which reads the program's memory while its calls wait.
use strict;
use warnings;
use Config;

my $is_arm = $Config{archname} =~ /aarch64/;
my $openat = $is_arm ? 56 : 257;
my $execve = $is_arm ? 221 : 59;
my $way = shift;

if ($way eq 'pointers') {
    # Addresses that are not mapped, in the kernel, and at the very end of the address space.
    my $nothing = "/nowhere\0";
    for my $address (0, 1, 4095, (1 << 47) - 1, -1, -4096, 1 << 62) {
        syscall($openat, -100, $address + 0, 0, 0);
        syscall($execve, $address + 0, $address + 0, $address + 0);
        syscall($execve, $nothing, $address + 0, 0);
    }
    print "lives\n";
} elsif ($way eq 'memory') {
    # One process passes a path, another changes it in its memory all the time.
    my $path = "/etc/passwd\0";
    my $address = unpack 'J', pack 'p', $path;
    my $child = fork() // die;
    if ($child == 0) {
        for (1 .. 5000) {
            syscall($openat, -100, $path, 0, 0);
            syscall($is_arm ? 57 : 3, 3);    # close
        }
        exit 0;
    }
    my @texts = ("/etc/passwd\0", "/etc/shadow\0", "/nowhere/at\0", "xxxxxxxxxxxx");
    my $written = 0;
    for (my $round = 0; waitpid($child, 1) == 0; ++$round) {
        my $text = $texts[$round % @texts];
        my $here = pack 'JJ', unpack('J', pack 'p', $text), length $text;
        my $there = pack 'JJ', $address, length $text;
        ++$written if syscall($is_arm ? 271 : 311, $child, $here, 1, $there, 1, 0) > 0;
    }
    print $written ? "lives\n" : "could not write\n";
} elsif ($way eq 'words') {
    exec '/bin/true', ('x' x 1000) x 2000;
} elsif ($way eq 'faked') {
    # execve() calls that fail because of their arguments, of a program that exists.
    my $name = "/bin/true\0";
    my $words = pack 'pJ', $name, 0;
    my $broken = pack 'pJJ', $name, 1, 0;
    my $empty = "\0";
    my $execveat = $is_arm ? 281 : 322;
    syscall($execve, $name, 1, 0);
    syscall($execve, $name, $broken, 0);
    syscall($execve, $name, $words, 1);
    open my $file, '<', '/bin/true' or die;
    syscall($execveat, fileno $file, 1, $words, 0, 0x1000);
    syscall($execveat, fileno $file, $empty, $words, 0, 0);
    print "lives\n";
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
