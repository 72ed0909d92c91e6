# SPDX-License-Identifier: MIT
# without_call.pl NUMBER COMMAND...: runs a command for which this system call returns ENOSYS. For calls that strace has no name
# for; their numbers are the same on every architecture.
use strict;
use warnings;
use Config;

my $number = shift @ARGV;
my $prctl = $Config{archname} =~ /aarch64/ ? 167 : 157;
my ($no_new_privileges, $set_seccomp, $filter_mode) = (38, 22, 2);
my ($load, $compare, $return) = (0x20, 0x15, 0x06);
my ($allowed, $missing) = (0x7fff0000, 0x00050000 | 38);

my @program = ([$load, 0, 0, 0], [$compare, 0, 1, $number], [$return, 0, 0, $missing], [$return, 0, 0, $allowed]);
my $code = join '', map { pack 'SCCL', @$_ } @program;
my $filter = pack 'Sx![P]P', scalar @program, $code;
syscall($prctl, $no_new_privileges, 1, 0, 0, 0) == 0 or die "no new privileges: $!\n";
syscall($prctl, $set_seccomp, $filter_mode, $filter, 0, 0) == 0 or die "filter: $!\n";
exec @ARGV or die "$ARGV[0]: $!\n";
