# SPDX-License-Identifier: MIT
# silent_mount.pl POINT: a file system (FUSE) whose server answers the kernel's first request and no other, like a network file
# system whose server is down: a process that looks at POINT waits. Creates the file POINT.ready when it is mounted. It exits when
# POINT.end exists, or with the process that started it; then every access to POINT fails at once.
use strict;
use warnings;

# <linux/fuse.h>
use constant {HELLO => 26, MAJOR => 7, MINOR => 31};

my ($point) = @ARGV;
$^F = 255;    # mount(8) passes the descriptor to the kernel
open my $kernel, "+<:unix", "/dev/fuse" or die "/dev/fuse: $!";
my $options = "fd=" . fileno($kernel) . ",rootmode=40000,user_id=0,group_id=0,allow_other";
system("mount", "-i", "-t", "fuse", "-o", $options, "silent", $point) == 0 or die "mount";
sysread($kernel, my $request, 1 << 20) or die "read: $!";
my (undef, $operation, $unique) = unpack "LLQ", $request;
$operation == HELLO or die "operation $operation";
# length, error, unique; then major, minor, readahead, flags, background, congestion, write, granularity, pages, alignment, unused
my $answer = pack "LLLLSSLLSSL8", MAJOR, MINOR, 0, 0, 12, 9, 4096, 1, 0, 0, (0) x 8;
syswrite $kernel, pack("LlQ", 16 + length $answer, 0, $unique) . $answer or die "write: $!";
open my $ready, ">", "$point.ready" or die "$point.ready: $!";
close $ready;

my $parent = getppid;
select undef, undef, undef, 0.05 until -e "$point.end" || getppid != $parent;
