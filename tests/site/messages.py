#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# perl messages.pl PAGE FOREIGN FOLDER...: every heading of PAGE that shows a message must match the program. The parts between …
# must be in the sources below the FOLDERs, where string literals over several lines are joined, or begin an entry of the list
# FOREIGN. Prints the parts that it does not find, and the number of messages.
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
# Variable names join the parts of a message that is built at run time: a literal ends, another begins.
$text =~ s/\\"/"/g;
my @foreign = map { /^(.+?)  \S/ ? $1 : () } grep { !/^#/ } split /\n/, slurp($foreign);

my ($count, $missing, %used) = (0, 0);
for my $heading (slurp($page) =~ /^### .*?`(.+)`$/mg) {
    next if $heading =~ /^\.[a-z]+$/;   # A path, not a message.
    $count++;
    (my $message = $heading) =~ s/^agent-sandbox: //;
    # The page has an example number, name or value where the program inserts its own.
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
        # The program builds a message from parts: what, why, what to do; and the name of a setting, a backend or a verb.
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
