#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# perl messages.pl PAGE FOREIGN FOLDER...: every heading of PAGE that shows a message says what the program says. The parts between …
# must be in the sources below the FOLDERs, strings that go on in the next line joined, or begin an entry of the list FOREIGN.
# Prints what is found nowhere, and how many were looked at.
use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));
use File::Find;

my ($page, $foreign, @folders) = @ARGV;
sub slurp { open(my $file, '<', $_[0]) or die "$_[0]: $!\n"; local $/; return scalar <$file> }

my $text = '';
find({no_chdir => 1, wanted => sub { $text .= slurp($_) . "\n" if -f && /\.(?:cc|h|list|toml|txt)$/ }}, @folders);
$text =~ s/"\s*\n\s*"//g;        # A literal over several lines.
# What is put together at run time is joined by names of variables: a literal ends, another begins.
$text =~ s/\\"/"/g;
my @foreign = map { /^(.+?)  \S/ ? $1 : () } grep { !/^#/ } split /\n/, slurp($foreign);

my ($count, $missing, %used) = (0, 0);
for my $heading (slurp($page) =~ /^### .*?`(.+)`$/mg) {
    next if $heading =~ /^\.[a-z]+$/;   # A path, no message.
    $count++;
    (my $message = $heading) =~ s/^agent-sandbox: //;
    # A number, a name or a value of the example stands where the program puts its own.
    my $long = 0;
    for my $part (split /…/, $message) {
        $part =~ s/^[\s:;,"'()\[\]=]+|[\s:;,"'()\[\]=]+$//g;
        next if length $part < 4;
        $long = 1 if length $part >= 8;
        my $is_foreign = 0;
        for my $known (@foreign) {
            (my $bare = $known) =~ s/[\s:;,"'()\[\]=]+$//;
            if (index($part, $bare) >= 0) { $is_foreign = 1; $used{$known} = 1 }
        }
        # Where a message is put together: what, why, what to do; and a setting, a backend or a verb that is named.
        my @pieces = split /[;:] |":"|\[|\b(?:network\.mode|limits\.\w+|sbatch|Landlock alone|cannot|ps(?= is for)|\/etc\/agent-sandbox\/config\.toml)\b/, $part;
        for my $piece (@pieces) {
            $piece =~ s/^[\s:;,"'()\[\]=]+|[\s:;,"'()\[\]=]+$//g;
            next if length $piece < 4 || $is_foreign || index($text, $piece) >= 0;
            print "### $heading\n  is said by nobody: '$piece'\n";
            $missing++;
        }
    }
    if (!$long) { print "### $heading\n  has no words to look for\n"; $missing++ }
}
for my $known (grep { !$used{$_} } @foreign) { print "$foreign: no heading has '$known'\n"; $missing++ }
print "$count messages\n";
exit($missing || $count < 30 ? 1 : 0);
