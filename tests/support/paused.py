"""Run a command on a machine that stands still now and then:

    paused.py COMMAND…

Everything that the command has started is stopped for five seconds and goes on, again and
again, at moments that a seed draws (PAUSE_SEED; it is printed). A test that is red here and
green elsewhere relies on time. The exit status is that of the command."""

import os
import random
import subprocess
import sys
import time

from family import go_on, stop

PAUSE = 5  # seconds
APART = 0.2, 20  # seconds from one pause to the next: at least, at most


def main():
    seed = os.environ.get("PAUSE_SEED", str(time.time_ns() % 10**9))
    chance, pauses = random.Random(seed), 0
    command = subprocess.Popen(sys.argv[1:])
    while True:
        try:
            status = command.wait(chance.uniform(*APART))
            break
        except subprocess.TimeoutExpired:
            stopped = stop(command.pid)
            time.sleep(PAUSE)
            go_on(stopped)
            pauses += 1
    print(f"paused.py: PAUSE_SEED={seed}, {pauses} pauses, status {status}", file=sys.stderr)
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
