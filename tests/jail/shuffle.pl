# SPDX-License-Identifier: MIT
# shuffle.pl SEED COUNT DIRECTORY: renames, exchanges, links, removes and changes modes of entries below the directory, at random,
# and continues after every failure. The same seed does the same to the same tree.
use strict;
use warnings;
use Config;
use File::Find;

my ($seed, $count, $top) = @ARGV;
srand $seed;
my $renameat2 = $Config{archname} =~ /aarch64/ ? 276 : 316;
my ($here, $exchange) = (-100, 2);
my @fresh = qw(aside vendor data2 node_modules plain x.code-workspace build);

sub names {
    my @names;
    find({ no_chdir => 1, wanted => sub { push @names, $_ if $_ ne $top } }, $top);
    return sort @names;
}

for (1 .. $count) {
    no warnings;
    my @names = names();
    last unless @names;
    my ($one, $other) = map { $names[rand @names] } 1 .. 2;
    my $fresh = (rand 2 < 1 ? $top : $other =~ s{/[^/]*$}{}r) . "/" . $fresh[rand @fresh];
    my $act = int rand 9;
    if ($act < 3) { rename $one, $fresh unless -e $fresh }
    elsif ($act == 3) { syscall $renameat2, $here, "$one", $here, "$other", $exchange }
    elsif ($act == 4) { link $one, $fresh }
    elsif ($act == 5) { symlink rand 3 < 1 ? $fresh : $other, $fresh }
    elsif ($act == 6) { -d $one && !-l $one ? rmdir $one : rand 4 < 1 && unlink $one }
    elsif ($act == 7) { mkdir $fresh }
    elsif (-d $one && !-l $one) { chmod rand 2 < 1 ? 0 : 0755, $one }
}
