# SPDX-License-Identifier: MIT
# Hooks of mkdocs (mkdocs.yml). The pages are written for a forge, in GitHub's Markdown, and every page keeps its place:
# docs/network.md is docs/network.html. So a relative link works there and here.
#
# docs/site/navigation.list names the pages in their order. A link to a file of the repository that is not a page becomes its text:
# the site has no copy of the file.
import pathlib
import posixpath
import re

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAVIGATION = "docs/site/navigation.list"
STYLE = "docs/site/style.css"
FENCE = re.compile(r"^( *```.*?^ *```[ \t]*$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\(([^()\s]+)\)")
IMAGE = re.compile(r"!\[[^\]]*\]\(([^()\s]+)\)")


def read_navigation():
    """The groups with their pages, as mkdocs wants them: [{group: [{label: path}]}]."""
    groups = []
    for line in (ROOT / NAVIGATION).read_text(encoding="utf-8").splitlines():
        page = re.fullmatch(r"\s+(\S+)\s+(.+?)\s*", line)
        if page:
            next(iter(groups[-1].values())).append({page[2]: page[1]})
        elif line.strip() and not line.startswith("#"):
            groups.append({line.strip(): []})
    return groups


def labels(navigation):
    return {path: label for group in navigation for pages in group.values() for page in pages for label, path in page.items()}


def check_navigation(paths):
    for path in paths:
        if not (ROOT / path).is_file():
            raise PluginError(f"{NAVIGATION} names {path}, which is not there")
    for pattern in "*.md", "docs/*.md", "docs/*/*.md":
        for page in sorted(ROOT.glob(pattern)):
            if str(page.relative_to(ROOT)) not in paths:
                raise PluginError(f"{page.relative_to(ROOT)} is not in {NAVIGATION}")


# GitHub's spelling: letters, digits, - and _ stay, and each blank becomes a -.
def identifier(text, _separator):
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def on_config(config):
    config.nav = read_navigation()
    check_navigation(labels(config.nav))
    config.mdx_configs["toc"]["slugify"] = identifier
    return config


# The files of the theme stay. The others are the pages, and the images that a page shows.
def on_files(files, config):
    for file in [file for file in files if file.abs_src_path.startswith(config.docs_dir)]:
        files.remove(file)
    pages = labels(config.nav)
    images = {resolve(page, link) for page in pages for link in IMAGE.findall((ROOT / page).read_text(encoding="utf-8"))}
    for path in [*pages, *sorted(images), STYLE]:
        files.append(File(path, str(ROOT), config.site_dir, config.use_directory_urls))
    return files


def resolve(page, link):
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), link))


def on_page_markdown(markdown, page, config, files):
    names = labels(config.nav)

    def link(match):
        text, target = match.groups()
        path = resolve(page.file.src_uri, target.partition("#")[0])
        if re.match("[a-z]+:|#", target):
            return match[0]
        if path not in names and (ROOT / path).exists():
            return text
        # A link that shows a path of the repository shows the page's name.
        return f"[{names[path]}]({target})" if path in names and re.fullmatch(r"[\w./-]+\.md", text) else match[0]

    parts = FENCE.split(markdown)
    parts[::2] = [without_escaped_pipes(LINK.sub(link, part)) for part in parts[::2]]
    # The second word after the backticks is for the tests of the pages.
    parts[1::2] = [re.sub(r"^( *```+\w+) [^\n]*", r"\1", part) for part in parts[1::2]]
    return "".join(parts)


# In code in a table, a forge needs a backslash before a |, and Python's Markdown needs none.
def without_escaped_pipes(text):
    return re.sub(r"^\|.*$", lambda row: re.sub(r"`[^`]+`", lambda code: code[0].replace("\\|", "|"), row[0]), text, flags=re.MULTILINE)
