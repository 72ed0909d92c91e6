# SPDX-License-Identifier: MIT
# perl covers_open.pl FILE READY OVER: makes READY, checks whether FILE has a size until OVER exists, and prints for how many milliseconds
# it had one, one line each time.
use strict;
use warnings;
use Time::HiRes qw(time);

my ($file, $ready, $over) = @ARGV;
open my $made, '>', $ready or die "$ready: $!\n";
my ($began, @open);
for (my $turn = 0; $turn % 1000 || !-e $over; ++$turn) {
    my $size = -s $file;
    if ($size && !$began) { $began = time }
    elsif (!$size && $began) { push @open, 1000 * (time - $began); undef $began }
}
printf "%.3f\n", $_ for @open;
die "it is still open\n" if $began;
