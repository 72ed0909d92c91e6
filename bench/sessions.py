# SPDX-License-Identifier: MIT
# sessions.py COUNT FOLDER COMMAND...: starts the command COUNT times at once, in FOLDER/1, FOLDER/2 …; "%" in its words is replaced by
# that folder. Each must write "up". Prints the milliseconds until the last one has done so, or the other output; then waits for a line of
# standard input, ends all, and prints "gone" when they have exited. For bench/sessions.
import os
import select
import subprocess
import sys
import time

count, folder, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
answers, writing = os.pipe()
began = time.monotonic()
started = []
for number in range(1, count + 1):
    words = [word.replace("%", f"{folder}/{number}") for word in command]
    with open(f"{folder}/{number}.said", "w") as said:
        started.append(subprocess.Popen(words, cwd=f"{folder}/{number}", stdin=subprocess.DEVNULL, stdout=writing, stderr=said))
os.close(writing)

text = b""
while text.count(b"up\n") < count and select.select([answers], [], [], max(began + 120 - time.monotonic(), 0))[0]:
    part = os.read(answers, 4096)
    if not part:
        break
    text += part
up = text.count(b"up\n")
print(f"{1000 * (time.monotonic() - began):.1f}" if up == count else f"only {up} of {count} came up", flush=True)
sys.stdin.readline()
for process in started:
    process.terminate()
# Some tools ignore the first signal; kill them.
late = time.monotonic() + 20
for process in started:
    try:
        process.wait(max(late - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
print("gone", flush=True)
