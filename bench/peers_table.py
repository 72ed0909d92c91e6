# SPDX-License-Identifier: MIT
# peers_table.py FOLDER NAME...: the results of bench/peers as a Markdown table.
import sys

ROWS = {
    "read-key": "read a key in `~/.ssh`",
    "read-other": "read another project",
    "read-env-file": "read the project's `.env`",
    "write-outside": "write outside the project",
    "write-hook": "write `.git/hooks`",
    "environment": "see a secret variable",
    "see-process": "see a process outside",
    "trace-process": "read the environment of a process outside (asks for the right to trace)",
    "type": "type into the terminal (TIOCSTI)",
    "unix-socket": "use a Unix socket like Docker's",
    "web-unnamed": "reach a host that no rule names",
    "web-paste": "reach a paste site",
    "web-metadata": "reach a cloud's metadata address",
    "web-loopback": "reach a service on the host's loopback",
    "mail-port": "reach a mail server",
}

folder, *names = sys.argv[1:]
results = {}
for name in names:
    with open(f"{folder}/result.{name}") as file:
        results[name] = dict(line.split()[:2] for line in file if len(line.split()) >= 2)


def print_row(*cells):
    print("|", " | ".join(map(str, cells)), "|")


print_row("attempt", *names)
print("|---" * (len(names) + 1) + "|")
for probe, text in ROWS.items():
    print_row(text, *[results[name].get(probe, "?") for name in names])
print_row(f"held, of {len(ROWS)}", *[sum(results[name].get(probe) == "held" for probe in ROWS) for name in names])
