# SPDX-License-Identifier: MIT
# The fences of the pages: the world of each fence, and the commands in it that a reader would type.
#
# The info string of a fence is its language and its world. In `sh` every line is a command; in `console` the lines that begin with
# "$ " are commands, and the lines after one are its output. A command continues over lines that end in \, over open quotes and
# here-documents. CONTRIBUTING.md, "Docs are tests", is the contract with the authors of pages.
package Fences;
use strict;
use warnings;
use utf8;

our %worlds = (
    user     => "an ordinary user with a project, without a network",
    tutorial => "the same, all fences of a page in one shell",
    network  => "the same on an internet of its own",
    slurm    => "the same on a cluster of its own",
    agents   => "the same with the real agents",
    root     => "root on a clean Debian with the program installed",
    clone    => "root in a checkout of the sources",
);

# Languages of fences without commands. `bash`, `shell` and similar names are not in the list: a command would get past the tests.
our %illustrations = map { $_ => 1 } "", qw(text toml json jsonc ini lua yaml c cpp cmake diff html);

# Commands that are not run, each with its reason.
our @exempt = (
    [clone => qr/^make run\s*$/,             "starts a shell; `make run CMD=` is run, and the tour by whoever runs `make run`"],
    [clone => qr{^sh tests/gpu/try\.sh },    "needs a graphics processor"],
    [clone => qr/^make test(-agents)?\s*$/,  "is what runs this"],
);

# A line of an illustration must not look like a command: a reader would copy it, and no test has run it.
my $looks_like_a_command = qr/^\s*(?:\$ |(?:agent-sandbox|make|sudo|apt|apt-get|git|npm|pip|cargo) +[^\s:=(])/;
# A form to fill in is not a command.
my $is_a_form = qr/\b[A-Z]{3,}\b/;

# A fence: file, line, language, world, commands (each: line, text, expected status, output lines or undef, key).
sub of_page {
    my ($root, $page) = @_;
    open(my $in, "<:encoding(UTF-8)", "$root/$page") or die "$root/$page: $!\n";
    chomp(my @lines = <$in>);
    my (@fences, $fence, $closing);
    for my $number (1 .. @lines) {
        my $text = $lines[$number - 1];
        if ($fence) {
            if ($text =~ /^\s*\Q$closing\E`*\s*$/) {
                push @fences, $fence;
                $fence = undef;
                next;
            }
            my $indent = $fence->{indent};
            $text =~ s/^ {0,$indent}// if $indent;
            push @{$fence->{lines}}, $text;
        } elsif ($text =~ /^( *)(`{3,})\s*(\S*)\s*(\S*)/) {
            $closing = $2;
            $fence = {file => $page, line => $number, indent => length $1, language => $3, world => $4, lines => []};
            $fence->{world} ||= "user" if $fence->{language} =~ /^(?:sh|console)$/;
        }
    }
    die "$page:$fence->{line}: this fence has no end\n" if $fence;
    parse($_) for @fences;
    return @fences;
}

sub of_pages {
    my ($root) = @_;
    return map { of_page($root, $_) } pages($root);
}

sub pages {
    my ($root) = @_;
    my @pages = grep { -e "$root/$_" } qw(README.md SECURITY.md CONTRIBUTING.md);
    my @folders = ("docs");
    while (defined(my $folder = shift @folders)) {
        for my $path (sort glob("$root/$folder/*")) {
            (my $name = $path) =~ s{^\Q$root\E/}{};
            push @folders, $name if -d $path;
            push @pages, $name if $name =~ /\.md$/;
        }
    }
    return @pages;
}

sub parse {
    my ($fence) = @_;
    my @lines = @{$fence->{lines}};
    my $is_console = $fence->{language} eq "console";
    return if !$is_console && $fence->{language} ne "sh";
    $fence->{commands} = [];
    my $number = $fence->{line};
    while (@lines) {
        my $text = shift @lines;
        my $at = ++$number;
        if ($is_console) {
            if ($text !~ s/^\$ //) {
                die "$fence->{file}:$at: output before the first command\n" if !@{$fence->{commands}};
                push @{$fence->{commands}[-1]{output}}, $text;
                next;
            }
        } elsif ($text =~ /^\s*(?:#.*)?$/) {
            next;
        }
        while (@lines && is_unfinished($text)) {
            my $more = shift @lines;
            $more =~ s/^> ?// if $is_console;
            $text .= "\n$more";
            $number++;
        }
        my $comment = comment_of($text);
        push @{$fence->{commands}}, {
            line => $at, text => $text, output => $is_console ? [] : undef,
            status => $comment =~ /\bexit (\d+)/ ? $1 : 0,
            key => $comment =~ /Ctrl-C/ ? "\003" : $comment =~ /\bq (?:quits|leaves)/ ? "q" : undef,
        };
    }
}

# Walks over quotes: returns the quote that is still open at the end, and where a comment begins in the last line.
sub walk {
    my ($text) = @_;
    my ($quote, $comment, $before) = ("", undef, " ");
    for (my $at = 0; $at < length $text; $at++) {
        my $letter = substr($text, $at, 1);
        if ($letter eq "\\" && $quote ne "'") { $at++; $before = "x"; next }
        if ($quote) { $quote = "" if $letter eq $quote }
        elsif ($letter =~ /['"]/) { $quote = $letter }
        elsif ($letter eq "#" && $before =~ /\s/) {
            my $end = index($text, "\n", $at);
            $comment = $at;
            last if $end < 0;
            $at = $end;
            $letter = "\n";
        }
        $before = $letter;
    }
    return ($quote, $comment);
}

sub comment_of {
    my ($text) = @_;
    # Ignore the body of a here-document: the comment with the status is on the first line.
    ($text) = split /\n/, $text if $text =~ /<<-?\s*['"]?\w/;
    my (undef, $comment) = walk($text);
    return defined $comment ? substr($text, $comment) : "";
}

sub is_unfinished {
    my ($text) = @_;
    if ($text =~ /^[^\n]*<<-?\s*['"]?(\w+)/) { return $text !~ /\n\s*\Q$1\E$/ }
    my ($quote, $comment) = walk($text);
    return 1 if $quote;
    return 0 if defined $comment;
    return $text =~ /\\$/;
}

sub exemption {
    my ($fence, $command) = @_;
    (my $words = $command->{text}) =~ s/\s+#.*//s;
    for my $row (@exempt) {
        return $row->[2] if $row->[0] eq $fence->{world} && $words =~ $row->[1];
    }
    return undef;
}

# Complaints about the fences of all pages, as FILE:LINE: sentence.
sub complaints {
    my @fences = @_;
    my (@found, %count);
    for my $fence (@fences) {
        my $place = "$fence->{file}:$fence->{line}";
        if ($fence->{commands}) {
            if (!$worlds{$fence->{world}}) {
                push @found, "$place: there is no world '$fence->{world}'; there are: " . join(", ", sort keys %worlds);
                next;
            }
            push @found, "$place: there is no command in it" if !@{$fence->{commands}};
            $count{$fence->{world}} += @{$fence->{commands}};
            next;
        }
        push @found, "$place: '$fence->{language}' is no language of our pages; commands are 'sh' or 'console'"
            if !$illustrations{$fence->{language}};
        # A file of settings or a program is not typed.
        next if $fence->{language} ne "" && $fence->{language} ne "text";
        my $number = $fence->{line};
        for my $text (@{$fence->{lines}}) {
            $number++;
            push @found, "$fence->{file}:$number: looks like a command, and no test runs it: $text"
                if $text =~ $looks_like_a_command && $text !~ $is_a_form;
        }
    }
    for my $world (sort keys %worlds) {
        push @found, "no page has a command of the world '$world'" if !$count{$world};
    }
    return @found;
}

1;
