"""A process and all that it has started, as one."""

import contextlib
import os
import signal
from pathlib import Path


def members_of(pid):
    """The process and all that it and they have started."""
    with contextlib.suppress(OSError):
        children = Path(f"/proc/{pid}/task").glob("*/children")
        found = [int(child) for file in children for child in file.read_text().split()]
        return [pid, *(member for child in found for member in members_of(child))]
    return []


def send(members, number):
    """A signal to each, as far as it has not ended."""
    for member in members:
        with contextlib.suppress(ProcessLookupError):
            os.kill(member, number)


def stop(pid):
    """Stop the family and return it; its members may start others until they are stopped
    themselves."""
    stopped = []
    while fresh := [member for member in members_of(pid) if member not in stopped]:
        send(fresh, signal.SIGSTOP)
        stopped += fresh
    return stopped


def go_on(members):
    send(members, signal.SIGCONT)


def kill(pid):
    """Kill the family at once and return it: none that a member starts meanwhile is left."""
    members = stop(pid)
    send(members, signal.SIGKILL)
    return members
