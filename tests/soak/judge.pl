# SPDX-License-Identifier: MIT
# judge.pl SAMPLES...: reads the lines of tests/soak/sample.bash and prints for each series whether it grew, as TAP: it compares the
# medians of the second and the last quarter. It ignores the first quarter: caches fill, and the first action of each kind loads
# what it needs.
# judge.pl --table KIND,KIND SAMPLES...: prints the series of these kinds as a table over minutes instead.
use strict;
use warnings;

my @kinds = ($ARGV[0] // "") eq "--table" ? (shift, split /,/, shift)[1 .. 9] : ();
my (%kind, %value, @order, @failures);
my $last = 0;
while (<>) {
    chomp;
    my ($minute, $kind, $name, $value) = split /\t/, $_, 4;
    if ($kind eq "failure") { push @failures, "$name, minute $minute: $value"; next }
    push @order, $name unless exists $kind{$name};
    ($kind{$name}, $value{$name}{$minute}) = ($kind, $value);
    $last = $minute if $minute > $last;
}
die "judge.pl: no samples\n" unless @order;

if (@kinds) {
    my %wanted = map { $_ => 1 } grep { defined } @kinds;
    my @shown = grep { $wanted{$kind{$_}} } @order;
    print join("\t", "minute", @shown), "\n";
    print join("\t", $_, row($_, @shown)), "\n" for 1 .. $last;
    exit;
}

# The permitted growth: no count may grow by one, memory may grow by the slack of an allocator.
my %allowed = (
    memory      => sub { my $before = shift; $before * 0.05 > 256 ? $before * 0.05 : 256 },
    descriptors => sub { 0 },
    count       => sub { 0 },
    kept        => sub { 9**9 },    # One a session, kept for thirty days.
);

my $number = 0;
my $bad = 0;
print "1..", @order + 1, "\n";
for my $name (@order) {
    my @all = grep { defined } map { $value{$name}{$_} } 1 .. $last;
    my $quarter = int(@all / 4) || 1;
    my $before = median(@all < 4 ? $all[0] : @all[$quarter .. 2 * $quarter - 1]);
    my $after = median(@all[@all - $quarter .. $#all]);
    my $missing = $last - @all;
    my $good = !$missing && $after - $before <= $allowed{$kind{$name}}->($before);
    report($good, sprintf "%s: %s, then %s%s", $name, $before, $after, $missing ? ", missing in $missing samples" : "");
}
report(!@failures, sprintf "every act went as it should%s", @failures ? ": " . @failures . " did not" : "");
print "# $_\n" for @failures;
exit($bad ? 1 : 0);

sub report {
    my ($good, $text) = @_;
    $bad ||= !$good;
    print $good ? "ok " : "not ok ", ++$number, " $text\n";
}

sub row {
    my ($minute, @names) = @_;
    return map { $value{$_}{$minute} // "-" } @names;
}

sub median {
    my @sorted = sort { $a <=> $b } @_;
    return @sorted % 2 ? $sorted[$#sorted / 2] : ($sorted[@sorted / 2 - 1] + $sorted[@sorted / 2]) / 2;
}
