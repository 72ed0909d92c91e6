# SPDX-License-Identifier: MIT
# fault.py NUMBER SIGNAL DELAY COMMAND...: starts COMMAND, waits until its NUMBER-th process appears (0: the command itself, then
# its descendants in the order of their start), waits DELAY microseconds more and sends it SIGNAL. It continues a stopped process
# after a fifth of a second. Prints the name of the process that got the signal, or `nobody`, on descriptor 3, and exits as COMMAND
# does: 128 + n after signal n.
import os
import signal
import sys
import time

number, wanted, delay = int(sys.argv[1]), signal.Signals["SIG" + sys.argv[2]], int(sys.argv[3])
command = sys.argv[4:]
INHERITED = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXFSZ)

program = os.fork()
if program == 0:
    os.close(3)
    for each in INHERITED:
        signal.signal(each, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    finally:
        os._exit(126)


def read_file(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


# In the order of their start, if a single look finds no more than one new process.
born = []


def look():
    waiting = [program]
    while waiting:
        process = waiting.pop(0)
        if process not in born:
            born.append(process)
        waiting += map(int, read_file(f"/proc/{process}/task/{process}/children").split())


def send(signal_number, process):
    try:
        os.kill(process, signal_number)
    except (ProcessLookupError, PermissionError):
        # It has ended, or it is a set-user-ID program such as firejail.
        pass


ended, name = 0, None
while not ended and name is None:
    look()
    if number < len(born):
        time.sleep(delay / 1e6)
        name = read_file(f"/proc/{born[number]}/comm").strip() or "gone"
        send(wanted, born[number])
        if wanted == signal.SIGSTOP:
            time.sleep(0.2)
            send(signal.SIGCONT, born[number])
    else:
        ended, status = os.waitpid(program, os.WNOHANG)
if not ended:
    status = os.waitpid(program, 0)[1]
os.write(3, (name or "nobody").encode() + b"\n")
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
