# SPDX-License-Identifier: MIT
# perl closed_namespaces.pl WAY COMMAND [ARGUMENT...]: runs the command where user namespaces are disabled, for it and its children only.
# Started by root.
#
#   limit    user.max_user_namespaces is 0, in a new user namespace for the command: the limit is per namespace, so nothing on the
#            host changes. User ids stay the same, but root there has no power over devices, which firejail needs.
#   refuse   a filter returns EPERM for new user namespaces, as container engines do. Set-user-ID programs keep their power.
#   nothing  as refuse, and no program gains power by being executed, as in a container with no-new-privileges.
#   call     a filter returns ENOSYS for open_tree, as a kernel before 5.2 does. User namespaces are enabled.
#   moves    a filter returns EPERM for move_mount, as a kernel does for a process without privileges.
use strict;
use warnings;
use Config;

my $is_arm = $Config{archname} =~ /aarch64/;
my %number = $is_arm ? (unshare => 97, clone => 220, prctl => 167) : (unshare => 272, clone => 56, prctl => 157);
@number{qw(open_tree move_mount clone3)} = (428, 429, 435);
use constant { NEW_USER => 0x10000000, NEW_MOUNTS => 0x00020000, NO_NEW_PRIVILEGES => 38, SECCOMP => 22, FILTER => 2 };
use constant { EPERM => 1, ENOSYS => 38 };
my ($load, $equal, $any_bit, $answer) = (0x20, 0x15, 0x45, 0x06);
my ($allow, $refuse) = (0x7fff0000, 0x00050000);

sub control { syscall($number{prctl}, @_) == 0 or die "prctl: $!\n" }

sub install_filter {
    my $program = join '', map { pack 'SCCL', @$_ } @_;
    control(SECCOMP, FILTER, pack('S x![Q] P', scalar @_, $program), 0, 0);
}

sub refuse_call {
    my ($name, $error) = @_;
    install_filter(
        [$load, 0, 0, 0],
        [$equal, 0, 1, $number{$name}],
        [$answer, 0, 0, $refuse | $error],
        [$answer, 0, 0, $allow],
    );
}

# The flags of clone3 are in memory, which a filter can't read. So it returns ENOSYS, and callers fall back to clone.
sub refuse_user_namespaces {
    install_filter(
        [$load, 0, 0, 0],                         # the call's number
        [$equal, 5, 0, $number{clone3}],          # to the ENOSYS answer
        [$equal, 1, 0, $number{unshare}],
        [$equal, 0, 4, $number{clone}],
        [$load, 0, 0, 16],                        # its first argument
        [$any_bit, 0, 2, NEW_USER],
        [$answer, 0, 0, $refuse | EPERM],
        [$answer, 0, 0, $refuse | ENOSYS],
        [$answer, 0, 0, $allow],
    );
}

# A process in the parent namespace has to write the maps of the new one.
sub enter_limited_namespace {
    my $outside = $$;
    pipe my $entered, my $entering or die;
    pipe my $mapped, my $mapping or die;
    my $mapper = fork // die;
    if ($mapper == 0) {
        close $entering;
        <$entered>;
        for my $map (qw(uid_map gid_map)) {
            open my $file, '>', "/proc/$outside/$map" or die "$map: $!\n";
            print $file "0 0 4294967295\n";
            close $file or die "$map: $!\n";
        }
        exit 0;
    }
    syscall($number{unshare}, NEW_USER | NEW_MOUNTS) == 0 or die "unshare: $!\n";
    close $entering;
    waitpid $mapper, 0;
    $? == 0 or die "no map\n";
    open my $limit, '>', '/proc/sys/user/max_user_namespaces' or die "the limit: $!\n";
    print $limit "0\n";
    close $limit or die "the limit: $!\n";
}

my $way = shift;
if ($way eq 'limit') {
    enter_limited_namespace();
} elsif ($way eq 'call') {
    refuse_call('open_tree', ENOSYS);
} elsif ($way eq 'moves') {
    refuse_call('move_mount', EPERM);
} else {
    control(NO_NEW_PRIVILEGES, 1, 0, 0, 0) if $way eq 'nothing';
    refuse_user_namespaces();
}
exec @ARGV or die "$ARGV[0]: $!\n";
