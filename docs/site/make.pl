#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# perl docs/site/make.pl FOLDER: the pages of docs/site/navigation.list as HTML below FOLDER, from the root of the checkout.
#
# cmark-gfm turns each page into HTML of a very regular kind (no raw HTML passes it), so what is missing is added by a few
# substitutions: identifiers of headings in GitHub's spelling, so that one link works there and here; .md turned into .html; frames
# in which wide tables scroll alone. A page keeps its place (docs/network.md is docs/network.html), so relative links stay as they
# are. A link to a file of the repository that is not a page becomes its text: the site has no copy of it.
use strict;
use warnings;
use utf8;
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Spec;

my $site = shift // die "usage: make.pl FOLDER\n";
my $tall_rows = 40;          # A table of more rows scrolls in a frame of its own.
my $long_contents = 12;      # More entries than this are folded.

sub slurp { my $path = shift; open(my $file, '<', $path) or die "$path: $!\n"; local $/; return scalar <$file> }

sub escape { my $text = shift; $text =~ s/&/&amp;/g; $text =~ s/</&lt;/g; $text =~ s/>/&gt;/g; $text =~ s/"/&quot;/g; return $text }

sub write_page {
    my ($path, $text) = @_;
    make_path(dirname("$site/$path"));
    open(my $file, '>', "$site/$path") or die "$site/$path: $!\n";
    print $file $text;
    close($file) or die "$site/$path: $!\n";
}

sub address_of { my $source = shift; return 'index.html' if $source eq 'README.md'; (my $address = $source) =~ s/\.md$/.html/; return $address }

sub root_of { my $address = shift; return '../' x ($address =~ tr{/}{}) }

# ---- Navigation --------------------------------------------------------------------------------------------------------

my (@pages, %page_of, $group);
for my $line (split /\n/, slurp('docs/site/navigation.list')) {
    next if $line =~ /^\s*(#|$)/;
    if ($line =~ /^\s+(\S+)\s+(.+?)\s*$/) {
        my $page = {source => $1, label => $2, group => $group, address => address_of($1)};
        -f $page->{source} or die "docs/site/navigation.list names $1, which is not there\n";
        die "docs/site/navigation.list names $1 twice\n" if $page_of{$1};
        push @pages, $page;
        $page_of{$1} = $page;
    } else {
        ($group) = $line =~ /^(\S.*?)\s*$/;
    }
}
for my $source (sort(glob('*.md docs/*.md docs/*/*.md'))) {
    $page_of{$source} or die "$source is not in docs/site/navigation.list\n";
}

sub navigation_for {
    my ($current) = @_;
    my $root = root_of($current);
    my ($text, $open) = ('', '');
    for my $page (@pages) {
        if ($page->{group} ne $open) {
            $text .= "</ul>\n" if $open;
            $open = $page->{group};
            $text .= "<h2>$open</h2>\n<ul>\n";
        }
        my $here = $page->{address} eq $current ? ' aria-current="page"' : '';
        $text .= sprintf qq(<li><a href="%s%s"%s>%s</a></li>\n), $root, $page->{address}, $here, escape($page->{label});
    }
    return "$text</ul>";
}

# ---- Pages -------------------------------------------------------------------------------------------------------------

sub plain { my $text = shift; $text =~ s/<[^>]*>//g; return $text }

# GitHub's spelling: letters, digits, - and _ stay, blanks become -, a name that was there gets a number.
sub identifier {
    my ($html, $seen) = @_;
    my $name = lc plain($html);
    $name =~ s/&\w+;//g;
    $name =~ s/[^\w\- ]//g;
    $name =~ s/ /-/g;
    $name = 'section' if $name eq '';
    my $count = $seen->{$name}++;
    return $count ? "$name-$count" : $name;
}

# The path of what a link of a page names, from the root of the checkout.
sub full_path {
    my ($page, $link) = @_;
    my $full = File::Spec->abs2rel(File::Spec->rel2abs($link, dirname($page->{source})), '.');
    1 while $full =~ s{(^|/)(?!\.\./)[^/]+/\.\./}{$1};
    return $full;
}

# Where a link of a page leads on the site; nothing where the site has no such thing.
sub target_of {
    my ($page, $link) = @_;
    return $link if $link =~ m{^[a-z]+:} || $link =~ /^#/;
    my ($path, $anchor) = $link =~ /^([^#]*)(#.*)?$/;
    my $full = full_path($page, $path);
    -e $full or die "$page->{source} links to $link, which is not there\n";
    return undef if !$page_of{$full};
    my $relative = File::Spec->abs2rel($page_of{$full}{address}, dirname($page->{address}));
    return $relative . ($anchor // '');
}

sub add_links {
    my ($page, $html) = @_;
    $html =~ s{<a href="([^"]*)"([^>]*)>(.*?)</a>}{
        my ($link, $rest, $text) = ($1, $2, $3);
        my $target = target_of($page, $link);
        # A link that shows a path of the repository shows the page's name.
        $text = escape($page_of{$1}{label}) if defined $target && $text =~ m{^(?:[\w./-]+/)?[\w-]+\.md$} && full_path($page, $link) =~ /^([^#]+)/ && $page_of{$1};
        defined $target ? qq(<a href="$target"$rest>$text</a>) : $text;
    }gse;
    # An image stands in a frame in which it scrolls where it would become too small to read.
    $html =~ s{<p>(<img src="([^"]*)"[^>]*>)</p>}{
        my ($image, $path) = ($1, $2);
        my $full = full_path($page, $path);
        make_path(dirname("$site/$full"));
        copy($full, "$site/$full") or die "$page->{source} shows $path: $!\n";
        # A chart is narrow enough for any screen.
        $full =~ m{^docs/figures/} ? qq(<div class="chart">$image</div>) : qq(<div class="wide figure" tabindex="0">$image</div>);
    }gse;
    return $html;
}

sub add_headings {
    my ($page, $html) = @_;
    my %seen = map { $_ => 1 } qw(pages);
    $html =~ s{<h([1-6])>(.*?)</h\1>}{
        my ($level, $text) = ($1, $2);
        my $name = identifier($text, \%seen);
        push @{$page->{headings}}, {level => $level, text => $text, name => $name};
        qq(<h$level id="$name">$text<a class="anchor" href="#$name" aria-label="Link to this section">#</a></h$level>);
    }gse;
    return $html;
}

# Rows of settings get names, so that the index can lead to them. Entries of the lists further down may look like settings.
sub name_rows {
    my ($page, $html) = @_;
    return $html if $page->{source} ne 'docs/configuration.md';
    my ($settings, $lists) = $html =~ m{^(.*?)(<h2 id="lists".*)$}s or die "docs/configuration.md has no section of lists\n";
    $settings =~ s{<tr>\n<td><code>([a-z_]+\.[a-z_]+)</code></td>}{
        push @{$page->{settings}}, $1;
        qq(<tr id="setting-$1">\n<td><code>$1</code></td>);
    }ge;
    return $settings . $lists;
}

sub frame_tables {
    my $html = shift;
    $html =~ s{<table>(.*?)</table>}{
        my $table = $1 =~ s/<(t[hd]) align="right">/<$1 class="number">/gr;
        my $columns = () = $table =~ /<th[ >]/g;
        my $rows = () = $table =~ /<tr/g;
        my $tall = $rows > $tall_rows ? ' tall' : '';
        my $promises = $table =~ m{<th>promise</th>} ? ' promises' : '';
        qq(<div class="wide columns-$columns$tall$promises" tabindex="0"><table>$table</table></div>);
    }gse;
    return $html;
}

sub contents_of {
    my $page = shift;
    my @entries = grep { $_->{level} == 2 || $_->{level} == 3 } @{$page->{headings} // []};
    @entries = grep { $_->{level} == 2 } @entries if @entries > 80 && $page->{source} ne 'docs/configuration.md';
    return '' if @entries < 4;
    my $open = @entries > $long_contents ? '' : ' open="open"';
    my ($text, $depth) = ('', 2);
    for my $entry (@entries) {
        my $label = $entry->{text};
        $label =~ s{</?a[^>]*>}{}g;
        if ($entry->{level} > $depth) {
            # A page that begins with a third-level heading has no entry to hang it under.
            $text eq '' ? ($entry->{level} = 2) : ($text =~ s{</li>\n$}{\n<ul>\n});
        } elsif ($entry->{level} < $depth) {
            $text .= "</ul></li>\n";
        }
        $depth = $entry->{level};
        $text .= qq(<li><a href="#$entry->{name}">$label</a></li>\n);
    }
    $text .= "</ul></li>\n" if $depth == 3;
    return qq(<details class="contents"$open><summary>On this page</summary>\n<ul>\n$text</ul></details>);
}

sub neighbours_of {
    my ($number) = @_;
    my $root = root_of($pages[$number]{address});
    my @links;
    push @links, ['prev', '← ', '', $pages[$number - 1]] if $number > 0;
    push @links, ['next', '', ' →', $pages[$number + 1]] if $number < $#pages;
    return join "\n", map { my ($kind, $before, $after, $page) = @$_;
        qq(<a rel="$kind" href="$root$page->{address}">$before) . escape($page->{label}) . "$after</a>" } @links;
}

my $template = slurp('docs/site/template.html');
sub filled {
    my (%values) = @_;
    (my $text = $template) =~ s/\{\{(\w+)\}\}/$values{$1} \/\/ die "the template asks for $1\n"/ge;
    return $text;
}

for my $number (0 .. $#pages) {
    my $page = $pages[$number];
    open(my $pipe, '-|', qw(cmark-gfm --to html --extension table --extension strikethrough), $page->{source}) or die "cmark-gfm: $!\n";
    my $html = do { local $/; <$pipe> };
    close($pipe) or die "cmark-gfm failed on $page->{source}\n";
    $html = frame_tables(name_rows($page, add_headings($page, add_links($page, $html))));
    my ($title) = map { plain($_->{text}) } grep { $_->{level} == 1 } @{$page->{headings}};
    defined $title or die "$page->{source} has no heading of the first level\n";
    $page->{title} = $title;
    # The contents come after the page's first paragraphs.
    my $contents = contents_of($page);
    $html =~ s{(?=<h[23] )}{$contents\n} if $contents;
    write_page($page->{address}, filled(
        title => $page->{address} eq 'index.html' ? $title : "$title · agent-sandbox", root => root_of($page->{address}),
        group => escape($page->{group}), body => $html, neighbours => neighbours_of($number),
        navigation => navigation_for($page->{address})));
}
write_page('style.css', slurp('docs/site/style.css'));

# ---- The index ---------------------------------------------------------------------------------------------------------

sub list { return qq(<ul class="letters">\n) . join('', map { "<li>$_</li>\n" } @_) . "</ul>\n" }

my $configuration = $page_of{'docs/configuration.md'};
my @settings = map { qq(<a href="$configuration->{address}#setting-$_"><code>$_</code></a>) } sort @{$configuration->{settings}};
@settings or die "docs/configuration.md has no table of settings\n";

my (%verbs, %options);
for my $line (split /\n/, slurp('docs/cli.md')) {
    my ($cell) = $line =~ /^\| (`[a-z].*?) \| / or next;
    $verbs{$_}++ for $cell =~ /`([a-z][a-z-]*)/g;
}
for my $line (split /\n/, slurp('docs/configuration.md')) {
    last if $line eq '## Lists';
    my ($setting, $flag) = $line =~ /^\| `([a-z_]+\.[a-z_]+)` \|.*\| `(--[a-z-]+)` \|/ or next;
    $options{$flag} = $setting;
}
my @verbs = map { qq(<a href="docs/cli.html"><code>$_</code></a>) } sort keys %verbs;
my @options = map { qq(<a href="$configuration->{address}#setting-$options{$_}"><code>$_</code></a>) } sort keys %options;
my $headings = join '', map {
    my $page = $_;
    my @links = map { (my $text = $_->{text}) =~ s{</?a[^>]*>}{}g; qq(<a href="$page->{address}#$_->{name}">$text</a>) }
        grep { $_->{level} > 1 } @{$page->{headings}};
    qq(<h3><a href="$page->{address}">) . escape($page->{label}) . "</a></h3>\n" . (@links ? list(@links) : '');
} @pages;
write_page('find.html', filled(
    title => 'Index · agent-sandbox', root => '', group => 'Reference', neighbours => '', navigation => navigation_for('find.html'),
    body => "<h1>Index</h1>\n<p>Everything on one page: use the browser's own search.</p>\n<h2>Settings</h2>\n" . list(@settings)
        . "<h2>Options</h2>\n" . list(@options) . "<h2>Verbs</h2>\n" . list(@verbs) . "<h2>Headings, page by page</h2>\n$headings"));
printf "%d pages\n", @pages + 1;
