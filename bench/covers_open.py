# SPDX-License-Identifier: MIT
# covers_open.py FILE READY OVER: makes READY, checks whether FILE has a size until OVER exists, and prints for how many milliseconds
# it had one, one line each time.
import os
import sys
import time

file, ready, over = sys.argv[1:]
open(ready, "w").close()
began, times, turn = None, [], 0
while turn % 1000 or not os.path.exists(over):
    turn += 1
    try:
        size = os.stat(file).st_size
    except OSError:
        size = 0
    if size and began is None:
        began = time.monotonic()
    elif not size and began is not None:
        times.append(1000 * (time.monotonic() - began))
        began = None
for each in times:
    print(f"{each:.3f}")
if began is not None:
    sys.exit("it is still open")
