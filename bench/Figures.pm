# SPDX-License-Identifier: MIT
# Tables of figures in the format of bench/record.bash, for bench/plot.pl and scripts/promises.
package Figures;
use strict;
use warnings;
use utf8;
use Exporter qw(import);
our @EXPORT_OK = qw(read_table value_of formatted is_number is_ratio kind_of_plot);

# {title, unit, plot, scale, ratio, note, machine, measured, by, shown; columns: names; rows: lists of cells}
sub read_table {
    my $path = shift;
    open(my $file, '<:encoding(UTF-8)', $path) or die "$path: $!\n";
    my %table = (path => $path, rows => []);
    while (my $line = <$file>) {
        chomp $line;
        if ($line =~ /^# ([a-z]+): (.*)$/) { $table{$1} = $2; next }
        next if $line eq '';
        my @cells = split /\t/, $line, -1;
        if (!$table{columns}) { $table{columns} = \@cells; next }
        @cells == @{$table{columns}} or die "$path, line $.: " . @cells . ' columns, not ' . @{$table{columns}} . "\n";
        push @{$table{rows}}, \@cells;
    }
    $table{$_} // die "$path has no $_\n" for qw(title unit columns);
    @{$table{rows}} or die "$path has no rows\n";
    # If the table names columns to draw, only those have its unit; the others count something else.
    my @chosen = split /,\s*/, $table{shown} // '';
    $table{has_unit} = {map { $_ => 1 } @chosen ? @chosen : grep { !is_ratio($_) } @{$table{columns}}};
    return \%table;
}

sub is_number { return $_[0] =~ /^-?\d+(?:\.\d+)?$/ }

# Columns without the table's unit: they are printed, not drawn.
sub is_ratio { return $_[0] =~ /\bratio\b/ }

# bars, lines or nothing. If each column has its own ratio ("ratio of getppid"), the ratios are drawn, because only they can be compared.
sub kind_of_plot {
    my $table = shift;
    return $table->{plot} if defined $table->{plot};
    my @ratios = grep { /^ratio of / } @{$table->{columns}} or return undef;
    $table->{shown} = join ', ', @ratios;
    return 'bars';
}

# Three significant digits; whole numbers stay whole, with a separator for thousands.
sub formatted {
    my $cell = shift;
    return $cell eq '-' ? '–' : $cell if !is_number($cell);
    if ($cell =~ /\./) {
        my $size = abs $cell;
        $cell = sprintf '%.' . ($size >= 100 ? 0 : $size >= 10 ? 1 : 2) . 'f', $cell;
    }
    1 while $cell =~ s/^(-?\d+)(\d{3})(?=$|,|\.)/$1,$2/;
    return $cell;
}

# The cell of a row and a column by their names; nothing if it does not exist.
sub value_of {
    my ($table, $row, $column) = @_;
    my ($place) = grep { $table->{columns}[$_] eq $column } 1 .. $#{$table->{columns}} or return undef;
    my ($found) = grep { $_->[0] eq $row } @{$table->{rows}};
    return $found && $found->[$place];
}

1;
