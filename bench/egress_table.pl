# SPDX-License-Identifier: MIT
# egress_table.pl FOLDER CONTESTANT...: the best of FOLDER/MEASURE.CONTESTANT as a table, each with its ratio to the floor.
use strict;
use warnings;

my ($folder, @contestants) = @ARGV;
my @measures = (
    ["stream",      "stream MB/s",           "most"],
    ["tunnels",     "tunnels/s, 16 clients", "most"],
    ["first",       "first byte us"],
    ["memory-1",    "memory KiB"],
    ["memory-1000", "with 1,000 tunnels"],
);

# The round that the machine disturbed least.
sub best {
    open(my $file, "<", "$folder/$_[0]->[0].$_[1]") or return undef;
    my @values = sort { $a <=> $b } grep { /^[0-9.]+$/ } map { chomp; $_ } <$file>;
    return $_[0]->[2] ? $values[-1] : $values[0];
}

printf "%-22s", "";
printf " %24s", $_->[1] for @measures;
print "\n";
for my $contestant (@contestants) {
    printf "%-22s", $contestant;
    for my $measure (@measures) {
        my ($value, $floor) = (best($measure, $contestant), best($measure, "floor"));
        if (!defined $value) { printf " %24s", "-"; next }
        my $ratio = $floor ? sprintf("%.2fx", $value / $floor) : "";
        printf " %15.0f %8s", $value, $ratio;
    }
    print "\n";
}
