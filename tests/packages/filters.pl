#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# filters.pl FILTERS.CC PROGRAM: counts how many of the generator's system-call filters of each architecture are in the program.
# Each begins with its architecture's number, so a filter can't be part of another architecture's filter.
use strict;
use warnings;
no warnings 'portable';

my ($source, $program) = @ARGV;
my $read = sub { open my $file, '<:raw', $_[0] or die "$_[0]: $!\n"; local $/; <$file> };
my $bytes = $read->($program);
my ($text, %filters, @order) = $read->($source);
while ($text =~ /^#if defined\(__(\w+)__\)\n(.*?)^#endif/gms) {
    my ($architecture, $block) = ($1, $2);
    push @order, $architecture;
    while ($block =~ /kProgram\d+\[\] = \{(.*?)\}/gs) {
        push @{$filters{$architecture}}, pack 'Q<*', map { hex } $1 =~ /0x[0-9a-f]+/g;
    }
}
for my $architecture (@order) {
    my $found = grep { index($bytes, $_) >= 0 } @{$filters{$architecture}};
    printf "%s %d of %d\n", $architecture, $found, scalar @{$filters{$architecture}};
}
