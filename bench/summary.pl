# SPDX-License-Identifier: MIT
# perl summary.pl REFERENCE ROUND.json...: combines the rounds of hyperfine into one table with tabs, in milliseconds. The ratio is that of
# the medians to REFERENCE's.
use strict;
use warnings;
use JSON::PP;

my ($against, @files) = @ARGV;
my (%times, @order);
for my $name (@files) {
    open(my $file, '<', $name) or die "$name: $!\n";
    for my $result (@{decode_json(do { local $/; <$file> })->{results}}) {
        push @order, $result->{command} unless $times{$result->{command}};
        push @{$times{$result->{command}}}, @{$result->{times}};
    }
}

sub quantile {
    my ($share, $command) = @_;
    my @sorted = sort { $a <=> $b } @{$times{$command} or die "nothing was measured as $command\n"};
    return 1000 * $sorted[int($share * $#sorted + 0.5)];
}

print join("\t", 'way', 'median', 'minimum', '90 %', 'ratio'), "\n";
my $reference = quantile(0.5, $against);
for my $command (@order) {
    print join("\t", $command, (map { sprintf '%.2f', quantile($_, $command) } 0.5, 0, 0.9), sprintf '%.2f', quantile(0.5, $command) / $reference), "\n";
}
