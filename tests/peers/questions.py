"""The conversation with run.py: questions come as lines of JSON, answers go back as lines."""

import contextlib
import json
import os
import resource
import signal
import sys

import torch

SECONDS = 8  # of the processor for one config
MEMORY = 10 << 30  # bytes of addresses: what needs more fails as the library fails


class TooLong(Exception):
    """A config took longer than SECONDS."""


def give_up(*_):
    raise TooLong


def reply(question, defaults, answer):
    is_first = "defaults" in question
    signal.setitimer(signal.ITIMER_PROF, 0 if is_first else SECONDS)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return defaults() if is_first else answer(question)
    except TooLong:
        return {"unbuilt": "it takes too long"}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def serve(defaults, answer):
    """Answer questions by these functions until there are none."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)  # of what was in memory; they are slow
    signal.signal(signal.SIGPROF, give_up)
    out = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        out.write(json.dumps(reply(json.loads(line), defaults, answer)) + "\n")
        out.flush()
