# SPDX-License-Identifier: MIT
# perl egress_table.pl FOLDER most|least MEASURE...: the best round of each FOLDER/MEASURE.CONTESTANT, as a table with tabs. The ratio is
# that of the first measure to the floor's.
use strict;
use warnings;

my ($folder, $best, @measures) = @ARGV;
my %heading = (
    stream => 'MB/s',
    tunnels => 'tunnels',
    requests => 'requests',
    first => 'median',
    first99 => '99 %',
    'memory-1' => 'one tunnel',
    'memory-1000' => '1,000 tunnels',
);
my %shown = (
    'agent-sandbox-connect' => 'agent-sandbox by CONNECT',
    pasta => 'pasta, no rules',
);

# The best round: the machine disturbed it least.
sub best {
    my ($measure, $contestant) = @_;
    open(my $file, '<', "$folder/$measure.$contestant") or return undef;
    my @values = sort { $a <=> $b } grep { /^[0-9.]+$/ && $_ > 0 } map { chomp; $_ } <$file>;
    return $best eq 'most' ? $values[-1] : $values[0];
}

open(my $names, '<', "$folder/contestants") or die "no contestants: $!\n";
print join("\t", 'way', (map { $heading{$_} } @measures), 'ratio'), "\n";
for my $contestant (split ' ', <$names>) {
    my @values = map { best($_, $contestant) } @measures;
    next unless grep { defined } @values;
    my $floor = best($measures[0], 'floor');
    print join("\t", $shown{$contestant} // $contestant, (map { defined $_ ? sprintf('%.0f', $_) : '-' } @values),
        $floor && defined $values[0] ? sprintf('%.2f', $values[0] / $floor) : '-'), "\n";
}
