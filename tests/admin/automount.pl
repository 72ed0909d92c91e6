# SPDX-License-Identifier: MIT
# automount.pl POINT SOURCE: an automounter that uses the kernel's autofs. POINT/NAME becomes SOURCE/NAME when a process other than
# this one first looks it up. Creates the file POINT.ready when it listens.
use strict;
use warnings;

# <linux/auto_fs.h>: one packet for each request, and the ioctls that answer it.
use constant {PACKET => 304, MISSING_INDIRECT => 3, READY => 0x9360, FAIL => 0x9361};

my ($point, $source) = @ARGV;
$^F = 255;    # mount(8) must inherit the end of the pipe that the kernel writes to
setpgrp 0, 0;
pipe my $requests, my $theirs or die "pipe: $!";
my $options = "fd=" . fileno($theirs) . ",pgrp=" . getpgrp() . ",minproto=5,maxproto=5,indirect";
system("mount", "-i", "-t", "autofs", "-o", $options, "automount", $point) == 0 or die "mount";
close $theirs;
open my $root, "<", $point or die "$point: $!";
open my $ready, ">", "$point.ready" or die "$point.ready: $!";
close $ready;

# It exits with the command that started it.
my $parent = getppid;
while (1) {
    my $waiting = '';
    vec($waiting, fileno $requests, 1) = 1;
    my $count = select $waiting, undef, undef, 0.2;
    last if getppid != $parent;
    next if $count <= 0;
    sysread($requests, my $packet, PACKET) or last;
    my (undef, $type, $token, undef, undef, undef, undef, undef, undef, $length, $name) = unpack "iiLLQLLLLLa256", $packet;
    $name = substr $name, 0, $length;
    my $is_mounted = 0;
    if ($type == MISSING_INDIRECT && -d "$source/$name") {
        mkdir "$point/$name";
        $is_mounted = system("mount", "-i", "--bind", "$source/$name", "$point/$name") == 0;
    }
    ioctl $root, $is_mounted ? READY : FAIL, $token;
}
