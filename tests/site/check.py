#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# check.py links|outside|identifiers|navigation|weight FOLDER: checks one property of all pages of the site below FOLDER; prints what
# breaks it.
# check.py sources FILE.md...: checks links of the sources themselves, as a reader on a forge follows them.
# check.py same FOLDER FILE.md...: checks that the site shows of these sources what a forge shows: the same text, headings, lists, tables
# and code.
import collections
import html.parser
import pathlib
import posixpath
import re
import subprocess
import sys

LOADED = {"link": "href", "img": "src", "script": "src", "iframe": "src", "source": "src", "object": "data", "embed": "src"}
SHOWN = {"h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "table", "th", "td", "pre", "code", "em", "strong", "img"}
# The most bytes of pages with long tables.
LARGE = {"docs/configuration.html": 450_000, "docs/promises.html": 200_000, "docs/performance.html": 160_000}
VOID = {"img", "link", "meta", "input", "br", "hr"}
problems = 0


def problem(*words):
    global problems
    print(*words)
    problems += 1


class Page(html.parser.HTMLParser):
    """Links, identifiers and other parts of a page; `shown` has the tags and words of its main part, without links to pages."""

    def __init__(self, text, has_frame):
        super().__init__()
        self.links, self.loaded, self.identifiers, self.next = [], [], collections.Counter(), None
        self.navigation, self.current, self.titles, self.tags = [], [], [], collections.Counter()
        self.shown, self.headings, self.open, self.main = [], [], [], None if has_frame else 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags[tag] += 1
        self.open.append(tag)
        if found.get("role") == "main":
            self.main = len(self.open)
        self.links += [found[name] for name in ("href", "src") if name in found]
        self.loaded += [found[LOADED[tag]]] if found.get(LOADED.get(tag)) else []
        self.identifiers.update([found["id"]] if "id" in found else [])
        classes = (found.get("class") or "").split()
        if "dropdown-item" in classes:
            self.navigation.append(found["href"])
            self.current += [found["href"]] if "active" in classes else []
        if found.get("rel") == "next":
            self.next = found.get("href")
        if self.is_main() and tag in SHOWN:
            self.shown.append(f"<{tag}>")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append("")
        if tag == "a":
            # Instead of a link to another file, the site has its text.
            self.leads_to_page = re.search(r"^#|^[a-z]+:|\.(md|html)(#|$)", found.get("href", ""))
        if tag in VOID:
            self.open.pop()

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass
        if self.main and len(self.open) < self.main:
            self.main = None

    def handle_data(self, data):
        if "title" in self.open:
            self.titles.append(data)
        if any(re.fullmatch("h[1-6]", tag) for tag in self.open):
            self.headings[-1] += data
        if self.is_main() and not ("a" in self.open and self.leads_to_page):
            self.shown += data.split()

    def is_main(self):
        return self.main is not None


def of_forge(source):
    made = subprocess.run(["cmark-gfm", "--to", "html", "--extension", "table", source], stdout=subprocess.PIPE, check=True)
    return Page(made.stdout.decode(), has_frame=False)


# ---- Sources -----------------------------------------------------------------------------------------------------------


def anchors_of(page):
    seen, anchors = collections.Counter(), set()
    for heading in page.headings:
        name = re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))
        anchors.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return anchors


def is_outside(link):
    return re.match("(https?|mailto):", link)


def check_sources(*sources):
    sources = [posixpath.normpath(source) for source in sources]
    pages = {source: of_forge(source) for source in sources}
    for source, page in pages.items():
        for link in page.links:
            path, _, anchor = link.partition("#")
            file = posixpath.normpath(posixpath.join(posixpath.dirname(source), path)) if path else source
            if is_outside(link):
                continue
            if not pathlib.Path(file).exists():
                problem(f"{source}: {link} is not there")
            elif anchor and file in pages and anchor not in anchors_of(pages[file]):
                problem(f"{source}: {link} has no such heading")


def check_same(folder, *sources):
    for source in map(posixpath.normpath, sources):
        address = "index.html" if source == "README.md" else re.sub(r"\.md$", ".html", source)
        site, forge = Page(pathlib.Path(folder, address).read_text(encoding="utf-8"), has_frame=True).shown, of_forge(source).shown
        # Both may divide a word at a mark, such as a quote.
        if "".join(site) != "".join(forge):
            place = next((n for n, (one, other) in enumerate(zip(site, forge)) if one != other), min(len(site), len(forge)))
            problem(f"{source}: the site has '{' '.join(site[place : place + 12])}', a forge '{' '.join(forge[place : place + 12])}'")


# ---- Pages -------------------------------------------------------------------------------------------------------------


class Site:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.files = {str(path.relative_to(folder)): path for path in sorted(self.folder.rglob("*")) if path.is_file()}
        self.pages = {name: Page(path.read_text(encoding="utf-8"), True) for name, path in self.files.items() if name.endswith(".html")}
        if not self.pages:
            sys.exit(f"no page below {folder}")

    # The file that a link of a page names. A link to a folder is a link to its index.
    def target(self, page, path):
        joined = posixpath.normpath(path[1:] or "." if path.startswith("/") else posixpath.join(posixpath.dirname(page), path))
        return posixpath.normpath(posixpath.join(joined, "index.html")) if (self.folder / joined).is_dir() else joined

    # Every page of ours: the one that a server sends for a wrong address has no place in the navigation.
    def documents(self):
        return {name: page for name, page in self.pages.items() if name != "404.html"}

    def links(self):
        for name, page in self.pages.items():
            for link in page.links:
                path, _, anchor = link.partition("#")
                file = self.target(name, path) if path else name
                if is_outside(link):
                    continue
                if file not in self.files:
                    problem(f"{name}: {link} is not there")
                elif anchor and not self.pages[file].identifiers[anchor]:
                    problem(f"{name}: {link} has no such place")
        for name, path in self.files.items():
            for link in re.findall(r"url\([\"']?([^\"')#?]+)", path.read_text(encoding="utf-8")) if name.endswith(".css") else []:
                if not link.startswith("data:") and self.target(name, link) not in self.files:
                    problem(f"{name}: {link} is not there")

    def outside(self):
        for name, page in self.pages.items():
            for link in page.loaded:
                if re.match("([a-z]+:)?//", link):
                    problem(f"{name} loads {link}")
        for name, path in self.files.items():
            if name.endswith((".css", ".svg")):
                text = re.sub(r'xmlns(:\w+)?="[^"]*"', "", path.read_text(encoding="utf-8"))
                for found in re.findall(r"@import[^;]*|url\([\"']?(?:[a-z]+:)?//[^)]*\)|<script|href=\"[^#][^\"]*", text):
                    problem(f"{name} loads something: {found}")

    def identifiers(self):
        for name, page in self.pages.items():
            for identifier, count in page.identifiers.items():
                if count > 1:
                    problem(f"{name}: id {identifier} {count} times")

    def navigation(self):
        named = {self.target("index.html", link) for link in self.pages["index.html"].navigation}
        for name, page in self.documents().items():
            if name not in named:
                problem(f"{name} is not in the navigation")
            if [self.target(name, link) for link in page.current] != [name]:
                problem(f"{name} marks {page.current} as its own entries")
            if not "".join(page.titles).strip():
                problem(f"{name} has no title")
            if page.tags["h1"] != 1:
                problem(f"{name} has {page.tags['h1']} headings of the first level")
        # From the first page, "next" leads through all of them.
        page, been = "index.html", []
        while page not in been:
            been.append(page)
            page = self.target(page, self.pages[page].next) if self.pages[page].next else page
        if len(been) != len(self.documents()):
            problem(f"'next' leads to {len(been)} pages of {len(self.documents())}")

    # Without the theme: its fonts and scripts are the same for every page.
    def weight(self):
        for name in self.pages:
            most = LARGE.get(name, 80_000)
            size = self.files[name].stat().st_size
            if size > most:
                problem(f"{name} has {size} bytes")
        size = sum(path.stat().st_size for path in self.files.values())
        if size > 5_000_000:
            problem(f"the site has {size} bytes")


check, *rest = sys.argv[1:]
sys.stdout.reconfigure(encoding="utf-8")
if check in ("sources", "same"):
    {"sources": check_sources, "same": check_same}[check](*rest)
else:
    getattr(Site(rest[0]), check)()
sys.exit(problems > 0)
