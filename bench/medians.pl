# SPDX-License-Identifier: MIT
# perl medians.pl FILE REFERENCE WHAT...: FILE has lines of "WHO<TAB>WHAT<TAB>NUMBER". Prints a table with one row for each WHO and, for
# each WHAT, its median and the ratio to that of REFERENCE; "-" if it is missing.
use strict;
use warnings;

my ($name, $reference, @columns) = @ARGV;
my (%values, @order);
open(my $file, '<', $name) or die "$name: $!\n";
while (<$file>) {
    chomp;
    my ($who, $what, $number) = split /\t/;
    push @order, $who unless $values{$who};
    push @{$values{$who}{$what}}, $number;
}

sub median {
    my @sorted = sort { $a <=> $b } @{$values{$_[0]}{$_[1]} // []};
    return @sorted ? $sorted[$#sorted / 2] : undef;
}

sub shown { my $value = shift; return sprintf($value >= 100 ? '%.0f' : $value >= 10 ? '%.1f' : '%.2f', $value) }

print join("\t", 'where', map { ($_, @columns > 1 ? "ratio of $_" : 'ratio') } @columns), "\n";
for my $who (@order) {
    my @cells;
    for my $what (@columns) {
        my ($value, $base) = (median($who, $what), median($reference, $what));
        push @cells, defined $value ? (shown($value), $base ? sprintf('%.2f', $value / $base) : '-') : ('-', '-');
    }
    print join("\t", $who eq 'nothing' ? 'outside' : $who, @cells), "\n";
}
