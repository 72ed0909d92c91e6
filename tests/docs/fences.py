# SPDX-License-Identifier: MIT
# The fences of the pages: the world of each fence, and the commands in it that a reader would type.
#
# The info string of a fence is its language and its world. In `sh` every line is a command; in `console` the lines that begin with
# "$ " are commands, and the lines after one are its output. A command continues over lines that end in \, over open quotes and
# here-documents. CONTRIBUTING.md, "Docs are tests", is the contract with the authors of pages.
import collections
import pathlib
import re
import sys

WORLDS = {
    "user": "an ordinary user with a project, without a network",
    "tutorial": "the same, all fences of a page in one shell",
    "network": "the same on an internet of its own",
    "slurm": "the same on a cluster of its own",
    "agents": "the same with the real agents",
    "root": "root on a clean Debian with the program installed",
    "clone": "root in a checkout of the sources",
}

# Languages of fences without commands. `bash`, `shell` and similar names are not in the list: a command would get past the tests.
ILLUSTRATIONS = {"", *"text toml json jsonc ini lua yaml c cpp cmake diff html".split()}

# Commands that are not run, each with its reason.
EXEMPT = [
    ("clone", r"make run\s*$", "starts a shell; `make run CMD=` is run, and the tour by whoever runs `make run`"),
    ("clone", r"sh tests/gpu/try\.sh ", "needs a graphics processor"),
    ("clone", r"make test(-agents)?\s*$", "is what runs this"),
]

# A line of an illustration must not look like a command: a reader would copy it, and no test has run it.
LOOKS_LIKE_A_COMMAND = re.compile(r"\s*(\$ |(agent-sandbox|make|sudo|apt|apt-get|git|npm|pip|cargo) +[^\s:=(])")
# A form to fill in is not a command.
A_FORM = re.compile(r"\b[A-Z]{3,}\b")


class Fence:
    """`commands` is None for an illustration."""

    def __init__(self, file, line, indent, language, world):
        self.file, self.line, self.indent, self.language = file, line, indent, language
        self.has_commands = language in ("sh", "console")
        self.world = world or ("user" if self.has_commands else "")
        self.lines, self.commands = [], None

    def parse(self):
        if not self.has_commands:
            return
        self.commands = []
        lines = collections.deque(enumerate(self.lines, self.line + 1))
        is_console = self.language == "console"
        while lines:
            at, text = lines.popleft()
            if is_console and not text.startswith("$ "):
                if not self.commands:
                    sys.exit(f"{self.file}:{at}: output before the first command")
                self.commands[-1].output.append(text)
                continue
            if not is_console and re.fullmatch(r"\s*(#.*)?", text):
                continue
            text = text.removeprefix("$ ") if is_console else text
            while lines and is_unfinished(text):
                more = lines.popleft()[1]
                text += "\n" + (re.sub("^> ?", "", more) if is_console else more)
            self.commands.append(Command(at, text, is_console))


class Command:
    def __init__(self, line, text, has_output):
        comment = comment_of(text)
        status = re.search(r"\bexit (\d+)", comment)
        self.line, self.text = line, text
        self.output = [] if has_output else None
        self.status = int(status[1]) if status else 0
        # The key that ends it, as printf writes it.
        self.key = "\\003" if "Ctrl-C" in comment else "q" if re.search(r"\bq (quits|leaves)", comment) else None


def pages(root):
    found = [page for page in ("README.md", "SECURITY.md", "CONTRIBUTING.md") if (root / page).exists()]
    folders = ["docs"]
    while folders:
        for path in sorted((root / folders.pop(0)).glob("*")):
            name = str(path.relative_to(root))
            if path.is_dir():
                folders.append(name)
            elif path.suffix == ".md":
                found.append(name)
    return found


def of_page(root, page):
    fences, fence, closing = [], None, None
    for number, text in enumerate((root / page).read_text(encoding="utf-8").split("\n"), 1):
        opening = re.match(r"( *)(`{3,})\s*(\S*)\s*(\S*)", text)
        if fence and re.fullmatch(rf"\s*{closing}`*\s*", text):
            fences.append(fence)
            fence = None
        elif fence:
            fence.lines.append(re.sub(f"^ {{0,{fence.indent}}}", "", text))
        elif opening:
            closing = opening[2]
            fence = Fence(page, number, len(opening[1]), opening[3], opening[4])
    if fence:
        sys.exit(f"{page}:{fence.line}: this fence has no end")
    for fence in fences:
        fence.parse()
    return fences


def of_pages(root):
    root = pathlib.Path(root)
    return [fence for page in pages(root) for fence in of_page(root, page)]


# Walks over quotes: returns the quote that is still open at the end, and where a comment begins in the last line.
def walk(text):
    quote, comment, before, at = "", None, " ", -1
    while at + 1 < len(text):
        at += 1
        letter = text[at]
        if letter == "\\" and quote != "'":
            at += 1
            letter = "x"
        elif quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "#" and before.isspace():
            comment = at
            end = text.find("\n", at)
            if end < 0:
                break
            at, letter = end, "\n"
        before = letter
    return quote, comment


def comment_of(text):
    # Ignore the body of a here-document: the comment with the status is on the first line.
    if re.search(r"<<-?\s*['\"]?\w", text):
        text = text.split("\n")[0]
    comment = walk(text)[1]
    return "" if comment is None else text[comment:]


def is_unfinished(text):
    document = re.match(r"[^\n]*<<-?\s*['\"]?(\w+)", text)
    if document:
        return not re.search(rf"\n\s*{document[1]}$", text)
    quote, comment = walk(text)
    return bool(quote) or comment is None and text.endswith("\\")


# The reason why a command is not run, or None.
def exemption(fence, command):
    words = re.sub(r"\s+#.*", "", command.text, flags=re.DOTALL)
    return next((reason for world, pattern, reason in EXEMPT if world == fence.world and re.match(pattern, words)), None)


# The mistakes in the fences of all pages, as FILE:LINE: sentence.
def mistakes(fences):
    found, count = [], collections.Counter()
    for fence in fences:
        place = f"{fence.file}:{fence.line}"
        if fence.has_commands and fence.world not in WORLDS:
            found.append(f"{place}: there is no world '{fence.world}'; there are: {', '.join(sorted(WORLDS))}")
        elif fence.has_commands:
            if not fence.commands:
                found.append(f"{place}: there is no command in it")
            count[fence.world] += len(fence.commands)
        elif fence.language not in ILLUSTRATIONS:
            found.append(f"{place}: '{fence.language}' is no language of our pages; commands are 'sh' or 'console'")
        # A file of settings or a program is not typed.
        if fence.language in ("", "text"):
            for number, text in enumerate(fence.lines, fence.line + 1):
                if LOOKS_LIKE_A_COMMAND.match(text) and not A_FORM.search(text):
                    found.append(f"{fence.file}:{number}: looks like a command, and no test runs it: {text}")
    return found + [f"no page has a command of the world '{world}'" for world in sorted(WORLDS) if not count[world]]
