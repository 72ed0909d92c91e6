#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# perl check.pl links|outside|identifiers|navigation|weight FOLDER: checks one property of all pages below FOLDER; prints what breaks it.
# perl check.pl sources FILE.md...: checks links of the sources themselves, as a reader on GitHub follows them.
use strict;
use warnings;
use utf8;
use File::Basename qw(dirname);
use File::Find;

my ($check, @rest) = @ARGV;
my $problems = 0;
sub problem { print "@_\n"; $problems++ }

sub slurp { my $path = shift; open(my $file, '<:encoding(UTF-8)', $path) or die "$path: $!\n"; local $/; return scalar <$file> }

sub joined {
    my ($from, $link) = @_;
    my @parts;
    for my $part (split m{/}, dirname($from) . "/$link") {
        next if $part eq '' || $part eq '.';
        if ($part eq '..' && @parts && $parts[-1] ne '..') { pop @parts } else { push @parts, $part }
    }
    return join '/', @parts;
}

# ---- Sources -----------------------------------------------------------------------------------------------------------

sub anchors_of_source {
    my $html = shift;
    my (%seen, %anchors);
    while ($html =~ m{<h[1-6]>(.*?)</h[1-6]>}gs) {
        my $name = lc($1 =~ s/<[^>]*>//gr =~ s/&\w+;//gr);
        $name =~ tr/ /-/;
        $name =~ s/[^\w-]//g;
        $anchors{$seen{$name}++ ? "$name-" . ($seen{$name} - 1) : $name} = 1;
    }
    return \%anchors;
}

sub html_of {
    my $path = shift;
    open(my $pipe, '-|:encoding(UTF-8)', qw(cmark-gfm --to html --extension table), $path) or die "cmark-gfm: $!\n";
    local $/;
    return scalar <$pipe>;
}

sub check_sources {
    my (%html, %anchors);
    $html{$_} = html_of($_) for @_;
    $anchors{$_} = anchors_of_source($html{$_}) for @_;
    for my $source (@_) {
        while ($html{$source} =~ m{<(?:a href|img src)="([^"]*)"}g) {
            my $link = $1;
            next if $link =~ m{^(?:https?|mailto):};
            my ($path, $anchor) = $link =~ /^([^#]*)#?(.*)$/;
            my $file = $path eq '' ? $source : joined($source, $path);
            if (!-e $file) { problem("$source: $link is not there") }
            elsif ($anchor ne '' && $anchors{$file} && !$anchors{$file}{$anchor}) { problem("$source: $link has no such heading") }
        }
    }
}

# ---- Pages -------------------------------------------------------------------------------------------------------------

my (%pages, %files);
sub read_pages {
    my $folder = shift;
    find({no_chdir => 1, wanted => sub {
        return if !-f;
        (my $name = $_) =~ s{^\Q$folder\E/}{};
        $files{$name} = -s $_;
        $pages{$name} = slurp($_) if /\.html$/;
    }}, $folder);
    %pages or die "no page below $folder\n";
}

my %identifiers;
sub identifiers {
    my $page = shift;
    return $identifiers{$page} if $identifiers{$page};
    my %count;
    $count{$_}++ for $pages{$page} =~ /\sid="([^"]*)"/g;
    return $identifiers{$page} = \%count;
}

my %checks = (
    links => sub {
        for my $page (sort keys %pages) {
            while ($pages{$page} =~ m{\s(?:href|src)="([^"]*)"}g) {
                my $link = $1;
                next if $link =~ m{^(?:https?|mailto):};
                my ($path, $anchor) = $link =~ /^([^#]*)#?(.*)$/;
                my $file = $path eq '' ? $page : joined($page, $path);
                $file =~ s{^\./}{};
                if (!$files{$file}) { problem("$page: $link is not there") }
                elsif ($anchor ne '' && !identifiers($file)->{$anchor}) { problem("$page: $link has no such place") }
            }
        }
    },
    outside => sub {
        for my $page (sort keys %pages) {
            problem("$page loads $1") while $pages{$page} =~ m{<(?:link|img|script|iframe|source|object|embed)\b[^>]*?(?:href|src|data)="((?:[a-z]+:)?//[^"]*)"}g;
            problem("$page has a script") if $pages{$page} =~ /<script/;
            problem("$page has a style of its own") if $pages{$page} =~ /\sstyle="|<style/;
        }
        for my $name (grep { /\.(?:css|svg)$/ } sort keys %files) {
            my $text = slurp("$rest[0]/$name");
            $text =~ s{xmlns(?::\w+)?="[^"]*"}{}g;
            problem("$name names something outside: $1") while $text =~ m{((?:https?:)?//[a-z][^\s"')]*|\@import|url\([^#][^)]*\)|<script)}g;
        }
    },
    identifiers => sub {
        for my $page (sort keys %pages) {
            my $count = identifiers($page);
            problem("$page: id $_ " . $count->{$_} . ' times') for grep { $count->{$_} > 1 } sort keys %$count;
        }
    },
    navigation => sub {
        my ($navigation) = $pages{'index.html'} =~ m{<nav\b.*?>(.*?)</nav>}s or die "index.html has no navigation\n";
        my %named = map { $_ => 1 } $navigation =~ /href="([^"]*)"/g;
        for my $page (sort keys %pages) {
            next if $page eq 'find.html';
            problem("$page is not in the navigation") if !$named{$page};
            my $current = () = $pages{$page} =~ /aria-current="page"/g;
            problem("$page marks $current entries as its own") if $current != 1;
            problem("$page has no title") if $pages{$page} !~ m{<title>[^<]+</title>};
            my $headings = () = $pages{$page} =~ /<h1[ >]/g;
            problem("$page has $headings headings of the first level") if $headings != 1;
        }
        # From the first page, "next" leads through all of them.
        my ($page, %been) = ('index.html');
        while (!$been{$page}++) {
            my ($next) = $pages{$page} =~ /rel="next" href="([^"]*)"/ or last;
            $page = joined($page, $next);
            $page =~ s{^\./}{};
        }
        problem("'next' leads to " . keys(%been) . ' pages') if keys(%been) != keys(%pages) - 1;
    },
    weight => sub {
        my $all = 0;
        for my $name (sort keys %files) {
            $all += $files{$name};
            my $most = $name =~ /configuration\.html$/ ? 450_000 : $name =~ m{(?:^find|promises)\.html$} ? 160_000 : 80_000;
            problem("$name has $files{$name} bytes") if $files{$name} > $most;
        }
        problem("the site has $all bytes") if $all > 2_000_000;
    },
);

binmode(STDOUT, ':encoding(UTF-8)');
if ($check eq 'sources') {
    check_sources(@rest);
} else {
    my $sub = $checks{$check} or die "no check '$check'\n";
    read_pages($rest[0]);
    $sub->();
}
exit($problems ? 1 : 0);
