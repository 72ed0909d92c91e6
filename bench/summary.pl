# SPDX-License-Identifier: MIT
# perl summary.pl ROUND.json...: the rounds of hyperfine together, as one table.
use strict;
use warnings;
use JSON::PP;

my (%times, @order);
for my $name (@ARGV) {
    open(my $file, '<', $name) or die "$name: $!\n";
    for my $result (@{decode_json(do { local $/; <$file> })->{results}}) {
        push @order, $result->{command} unless $times{$result->{command}};
        push @{$times{$result->{command}}}, @{$result->{times}};
    }
}

sub quantile {
    my ($share, @sorted) = @_;
    return 1000 * $sorted[int($share * $#sorted + 0.5)];
}

printf "%-14s %8s %8s %8s %8s %6s\n", 'milliseconds', 'minimum', 'median', '90 %', 'ratio', 'runs';
my $reference = quantile(0.5, sort { $a <=> $b } @{$times{bubblewrap}});
for my $command (@order) {
    my @sorted = sort { $a <=> $b } @{$times{$command}};
    my $median = quantile(0.5, @sorted);
    printf "%-14s %8.2f %8.2f %8.2f %8.2f %6d\n", $command, quantile(0, @sorted), $median, quantile(0.9, @sorted),
        $median / $reference, scalar @sorted;
}
print "ratio: median against bare bubblewrap with the same mounts\n";
