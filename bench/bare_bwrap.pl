# SPDX-License-Identifier: MIT
# perl bare_bwrap.pl DIRECTORY <plan.json: prints the bwrap command line with the mounts of a plan, for the comparison in bench/launch.
# Files of the same size in DIRECTORY replace the files that the program would make.
use strict;
use warnings;
use JSON::PP;

my $directory = shift;
my $plan = decode_json(do { local $/; <STDIN> });
my $made = 0;

# Makes a file of this size, for a mount that needs one.
sub stand_in {
    my $name = "$directory/made." . $made++;
    open(my $file, '>', $name) or die "$name: $!\n";
    print $file 'x' x shift;
    close $file;
    return $name;
}

my %render = (
    bind_readonly => sub { ('--ro-bind', $_[0]{source} // $_[0]{target}, $_[0]{target}) },
    bind_writable => sub { ('--bind', $_[0]{source} // $_[0]{target}, $_[0]{target}) },
    bind_device => sub { ('--dev-bind', $_[0]{source} // $_[0]{target}, $_[0]{target}) },
    tmpfs => sub { ('--tmpfs', $_[0]{target}) },
    directory => sub { ('--dir', $_[0]{target}) },
    symlink => sub { ('--symlink', $_[0]{source}, $_[0]{target}) },
    file => sub { ('--ro-bind', stand_in($_[0]{bytes}), $_[0]{target}) },
    private_file => sub { ('--bind', stand_in($_[0]{bytes}), $_[0]{target}) },
    empty_file => sub { ('--ro-bind', '/dev/null', $_[0]{target}) },
    proc => sub { ('--proc', $_[0]{target}) },
    dev => sub { ('--dev', $_[0]{target}) },
    queues => sub { ('--mqueue', $_[0]{target}) },
    # The socket of a helper process, which a bare jail does not have; a file replaces it.
    helper_socket => sub { ('--ro-bind', '/dev/null', $_[0]{target}) },
    seal => sub { ('--remount-ro', $_[0]{target}) },
);

my @words = qw(bwrap --unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-net --die-with-parent --cap-drop ALL);
# The program makes a placeholder while it runs; here it exists during the whole measurement.
use File::Path 'make_path';
make_path($_->{path}) for @{$plan->{files}{placeholders}}, @{$plan->{files}{new_directories}};
for my $mount (@{$plan->{files}{mounts}}) {
    (my $kind = $mount->{kind}) =~ tr/ -/__/;
    my $rule = $render{$kind} or die "a kind of mount that this script does not know: $mount->{kind}\n";
    push @words, $rule->($mount);
}
push @words, '--chdir', $plan->{working_directory};
print join(' ', map { my $word = $_; $word =~ s/'/'\\''/g; "'$word'" } @words), "\n";
