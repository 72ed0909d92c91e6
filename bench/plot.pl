#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# bench/plot.pl FILE.tsv >FILE.svg: draws a table of figures (bench/record.bash).
#
# bars: a group for each row, with its name above its bars, so that long names fit on a narrow screen. Each value is printed, with its ratio
# after it if the table has one. lines: the first column is x, and each other column is a line with its own marks. 460 units wide with
# letters of size 14: on a telephone they are still ten units high. Colours follow the reader's light or dark screen, and no line is
# distinguished by its colour alone.
use strict;
use warnings;
use utf8;
use FindBin;
use lib $FindBin::Bin;
use Figures qw(read_table formatted is_number is_ratio kind_of_plot);
use POSIX qw(ceil floor);
binmode(STDOUT, ':encoding(UTF-8)');
use open ':std', ':encoding(UTF-8)';

my $width = 460;
my $margin = 14;
# One colour, dash and mark for each series.
my @light = map { "#$_" } qw(2b6cb0 c05621 2f855a 805ad5 b83280 5f6b7a 8a6d00 0f7d86);
my @dark = map { "#$_" } qw(63a4e8 f0975a 63c28c b794f4 f687b3 a9b4c3 d9bd4a 5ec4cd);
my @dashes = ('none', '7 4', '2 3', '9 3 2 3', '4 4', '1 4', '12 3', '5 2 1 2');
my $letter = 8.2;    # The width of a letter of size 14, with a margin for usual fonts.

my $table = read_table(shift // die "usage: plot.pl FILE.tsv\n");
my $kind = kind_of_plot($table) // die "$table->{path} says no kind of plot\n";
my ($first, @columns) = @{$table->{columns}};
my %scale = map { $_ => 1 } split /,\s*/, $table->{scale} // '';
my %named = map { $_ => 1 } split /,\s*/, $table->{shown} // '';
# Indices of the drawn columns: those that the table names, its medians, or all with its unit.
%named = (median => 1) if !%named && grep { $_ eq 'median' } @columns;
my @drawn = grep { %named ? $named{$columns[$_ - 1]} : !is_ratio($columns[$_ - 1]) && $columns[$_ - 1] !~ /^(?:aim|runs)\b/ } 1 .. @columns;
@drawn or die "$table->{path} has no column to draw\n";
# The ratio of a whole row is printed after its value, or after its name if there are several values.
my ($ratio) = $kind eq 'bars' ? grep { $columns[$_ - 1] =~ /^ratio$/ } 1 .. @columns : ();

# ---- Text and numbers ----------------------------------------------------------------------------------------------------

my %entities = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;', '`' => '');
sub escape { my $text = shift; $text =~ s/([&<>"`])/$entities{$1}/g; return $text }

sub wrapped {
    my ($text, $room) = @_;
    my @lines = ('');
    for my $word (split / /, $text =~ tr/`//dr) {
        push @lines, '' if $lines[-1] ne '' && length("$lines[-1] $word") * $letter > $room;
        $lines[-1] .= ($lines[-1] eq '' ? '' : ' ') . $word;
    }
    return @lines;
}

my @body;
my $y = 0;
sub text {
    my ($x, $at, $class, $text) = @_;
    push @body, sprintf '<text class="%s" x="%.1f" y="%.1f">%s</text>', $class, $x, $at, escape($text);
}

# A scale from values to positions: {place, ticks}.
sub scale_of {
    my ($logarithmic, $from_zero, $tight, $start, $end, @values) = @_;
    my ($least, $most) = (sort { $a <=> $b } @values)[0, -1];
    if ($logarithmic) {
        my @positive = sort { $a <=> $b } grep { $_ > 0 } @values or die "$table->{path}: a logarithmic scale without a positive value\n";
        # Bars need a visible stump for the lowest value; lines need no space below it.
        my $low = floor(log($positive[0]) / log(10) - ($from_zero ? 0.3 : 0));
        my $high = log($positive[-1]) / log(10);
        $high = ceil($high - 1e-9) if !$tight;
        $high = $low + 1 if $high <= $low;
        my $each = ceil(($high - $low) / 6 - 1e-9);
        return {
            ticks => [map { 10 ** $_ } grep { ($_ - $low) % $each == 0 } $low .. floor($high + 1e-9)],
            place => sub {
                my $value = $_[0] < 10 ** $low ? 10 ** $low : $_[0];
                return $start + ($end - $start) * (log($value) / log(10) - $low) / ($high - $low);
            },
        };
    }
    $least = 0 if $from_zero || $least > 0;
    $most = $least + 1 if $most <= $least;
    my $rough = ($most - $least) / 5;
    my $step = 10 ** floor(log($rough) / log(10));
    $step *= (grep { $step * $_ >= $rough } 1, 2, 5, 10)[0];
    my $top = ceil($most / $step - 1e-9) * $step;
    # An x axis ends with its data, a value axis at a round number.
    $top = $most if $tight;
    return {
        ticks => [grep { $_ <= $top + 1e-9 } map { $least + $_ * $step } 0 .. ceil(($top - $least) / $step - 1e-9)],
        place => sub { $start + ($end - $start) * ($_[0] - $least) / ($top - $least) },
    };
}

sub tick_text {
    my $value = shift;
    return sprintf('%gM', $value / 1e6) if abs $value >= 1e6;
    return sprintf('%gk', $value / 1e3) if abs $value >= 1e4;
    return formatted(sprintf '%.6g', $value) =~ s/(\.\d*?)0+$/$1/r =~ s/\.$//r;
}

# ---- The parts -----------------------------------------------------------------------------------------------------------

sub heading {
    for my $line (wrapped($table->{title}, ($width - 2 * $margin) * 0.94)) { $y += 20; text($margin, $y, 'head', $line) }
    my $against = defined $table->{ratio} ? "ratio to $table->{ratio}" : 'ratio';
    my $unit = $table->{unit} . (defined $ratio ? "; in brackets the $against" : '');
    $unit = $against if grep { is_ratio($columns[$_ - 1]) } @drawn;
    $unit .= '; logarithmic' if %scale;
    for my $line (wrapped($unit, $width * 1.15)) { $y += 17; text($margin, $y, 'small', $line) }
    $y += 8;
}

# A mark for each series: its shape identifies it without the colour.
sub mark {
    my ($number, $x, $at) = @_;
    my @shapes = (
        sprintf('M%.1f %.1fm-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0', $x, $at), sprintf('M%.1f %.1fm-4 -4h8v8h-8z', $x, $at),
        sprintf('M%.1f %.1fm0 -5l5 9h-10z', $x, $at), sprintf('M%.1f %.1fm0 -5l5 5l-5 5l-5 -5z', $x, $at),
        sprintf('M%.1f %.1fm0 5l-5 -9h10z', $x, $at), sprintf('M%.1f %.1fm-5 -2h10v4h-10z', $x, $at),
        sprintf('M%.1f %.1fm-2 -5h4v10h-4z', $x, $at), sprintf('M%.1f %.1fm-5 5l5 -4l5 4v-10l-5 4l-5 -4z', $x, $at));
    return sprintf '<path class="fill%d" d="%s"/>', $number % @light, $shapes[$number % @shapes];
}

sub legend {
    my $lines = shift;
    my $x = $margin;
    $y += 14;
    for my $number (0 .. $#drawn) {
        my $name = $columns[$drawn[$number] - 1] =~ s/^ratio of //r;
        my $room = 20 + $letter * length($name) + 16;
        if ($x > $margin && $x + $room > $width - $margin) { $x = $margin; $y += 19 }
        push @body, $lines ? mark($number, $x + 6, $y - 4)
            : sprintf('<rect class="fill%d" x="%.1f" y="%.1f" width="12" height="12" rx="2"/>', $number % @light, $x, $y - 10);
        text($x + 18, $y, 'label', $name);
        $x += $room;
    }
    $y += 6;
}

sub ratio_of { my $row = shift; return defined $ratio && is_number($row->[$ratio]) ? ' (' . formatted($row->[$ratio]) . ')' : '' }

sub bars {
    my @values = grep { is_number($_) } map { my $row = $_; map { $row->[$_] } @drawn } @{$table->{rows}};
    @values or die "$table->{path} has nothing to draw\n";
    legend(0) if @drawn > 1;
    my %written;
    for my $row (@{$table->{rows}}) {
        for my $place (@drawn) {
            my $text = formatted($row->[$place]);
            $text .= ratio_of($row) if @drawn == 1;
            $written{$row}{$place} = $text;
        }
    }
    my ($longest) = sort { $b <=> $a } map { map { length } values %$_ } values %written;
    my $scale = scale_of($scale{'log-y'} || $scale{'log-x'}, 1, 0, $margin, $width - $margin - 6 - $longest * $letter, @values);
    my $ours = @drawn == 1 && grep { $_->[0] =~ /agent-sandbox/ } @{$table->{rows}};
    for my $row (@{$table->{rows}}) {
        $y += 6;
        my $name = $row->[0] . (@drawn > 1 ? ratio_of($row) : '');
        for my $line (wrapped($name, $width - 2 * $margin)) { $y += 16; text($margin, $y, 'label', $line) }
        for my $number (0 .. $#drawn) {
            my $value = $row->[$drawn[$number]];
            my $end = is_number($value) ? $scale->{place}->($value) : $margin;
            my $class = $ours && $row->[0] !~ /agent-sandbox/ ? 'other' : 'fill' . $number % @light;
            my $length = $end - $margin > 1 ? $end - $margin : 1;
            push @body, sprintf '<rect class="%s" x="%d" y="%.1f" width="%.1f" height="15" rx="2"/>', $class, $margin, $y + 5, $length if is_number($value);
            text($end + 6, $y + 17, 'value', $written{$row}{$drawn[$number]});
            $y += 18;
        }
        $y += 4;
    }
}

sub lines {
    my @xs = map { $_->[0] } @{$table->{rows}};
    is_number($_) or die "$table->{path}: '$_' is no number, and x of a line\n" for @xs;
    my @values = grep { is_number($_) } map { my $row = $_; map { $row->[$_] } @drawn } @{$table->{rows}};
    legend(1);
    $y += 12;
    my ($top, $bottom) = ($y, $y + 240);
    my $up = scale_of($scale{'log-y'}, 0, 0, $bottom, $top, @values);
    my ($longest) = sort { $b <=> $a } map { length tick_text($_) } @{$up->{ticks}};
    my $left = $margin + $longest * $letter + 6;
    my $across = scale_of($scale{'log-x'}, 0, 1, $left, $width - $margin - 12, @xs);
    for my $tick (@{$up->{ticks}}) {
        my $at = $up->{place}->($tick);
        push @body, sprintf '<path class="grid" d="M%.1f %.1fH%.1f"/>', $left, $at, $width - $margin;
        text($left - 6, $at + 5, 'end small', tick_text($tick));
    }
    for my $tick (@{$across->{ticks}}) {
        my $at = $across->{place}->($tick);
        push @body, sprintf '<path class="grid" d="M%.1f %.1fv5"/>', $at, $bottom;
        text($at, $bottom + 20, 'middle small', tick_text($tick));
    }
    my @ends;
    for my $number (0 .. $#drawn) {
        my @points = map { [$across->{place}->($_->[0]), $up->{place}->($_->[$drawn[$number]]), $_->[$drawn[$number]]] }
            grep { is_number($_->[$drawn[$number]]) } @{$table->{rows}};
        next if !@points;
        push @body, sprintf '<path class="line%d" d="M%s"/>', $number % @light, join 'L', map { sprintf '%.1f %.1f', @$_[0, 1] } @points;
        # With many points, marks on each would form a band.
        push @body, map { mark($number, @$_[0, 1]) } @points <= 30 ? @points : $points[-1];
        push @ends, [$points[-1][0], $points[-1][1] - 7, formatted($points[-1][2])];
    }
    # If lines end close to each other, print their values below each other.
    my @placed;
    for my $end (sort { $a->[1] <=> $b->[1] } @ends) {
        my ($x, $at, $value) = @$end;
        for my $other (@placed) { $at = $other->[1] + 14 if abs($x - $other->[0]) < 50 && $at < $other->[1] + 14 }
        push @placed, [$x, $at];
        text($x + 6 > $width - $margin ? $width - $margin : $x + 6, $at, 'end value halo', $value);
    }
    $y = $bottom + 40;
    text(($left + $width - $margin) / 2, $y, 'middle small', $first);
}

# ---- The drawing ---------------------------------------------------------------------------------------------------------

heading();
$kind eq 'bars' ? bars() : $kind eq 'lines' ? lines() : die "$table->{path}: no plot '$kind'\n";
my $height = ceil($y + 12);
sub colours { my @colours = @_; return join ' ', map { ".fill$_ { fill: $colours[$_]; } .line$_ { stroke: $colours[$_]; }" } 0 .. $#colours }

my ($title, $unit, $shape) = (escape($table->{title}), escape($table->{unit}), $kind eq 'bars' ? 'Bars' : 'Lines');
my $measured = defined $table->{by} ? ' Measured by ' . escape($table->{by}) . (defined $table->{measured} ? " on $table->{measured}." : '.') : '';
my ($light, $dark) = (colours(@light), colours(@dark));
my $lines = join ' ', map { ".line$_ { fill: none; stroke-width: 2; stroke-dasharray: $dashes[$_]; }" } 0 .. $#dashes;
my $body = join '', map { "$_\n" } @body;
print <<"SVG";
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $height" width="$width" height="$height" role="img" aria-labelledby="title description">
<!-- SPDX-License-Identifier: MIT -->
<title id="title">$title</title>
<desc id="description">$shape, $unit; the table beside it has the same values.$measured</desc>
<style>
  .paper { fill: #ffffff; } .grid { stroke: #d6dbe3; fill: none; } .other { fill: #a3adbb; } $light
  $lines
  text { fill: #1d2430; font: 14px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; } .head { font-size: 15px; font-weight: 700; }
  .small { font-size: 12.5px; fill: #4a5465; } .value { font-variant-numeric: tabular-nums; }
  .halo { paint-order: stroke; stroke: #ffffff; stroke-width: 3px; } .end { text-anchor: end; } .middle { text-anchor: middle; }
  \@media (prefers-color-scheme: dark) {
    .paper { fill: #14181f; } .grid { stroke: #323a47; } .other { fill: #6b7686; } $dark
    text { fill: #dde3ec; } .halo { stroke: #14181f; } .small { fill: #aab4c3; }
  }
</style>
<rect class="paper" width="$width" height="$height"/>
$body</svg>
SVG
