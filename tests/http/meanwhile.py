"""Whether small requests are answered while one that takes long is worked on: by their order,
never by a time, so that it can be said on a machine of any speed, which may stand still
meanwhile."""

import threading
import time

from server import PATIENCE


def answered_meanwhile(ask_long, ask_small, count=10):
    """Call `ask_long` in a thread, again and again, and `ask_small` meanwhile, until that has
    returned `count` times before the other call did. Returns what `ask_long` has returned. If
    small requests wait for the long one, none is answered before it, however often both are
    asked."""
    deadline, answered, replies = time.monotonic() + PATIENCE, 0, []
    while answered < count:
        if time.monotonic() > deadline:
            raise AssertionError(f"{answered} of {count} were answered before {len(replies)}")
        asked = len(replies) + 1
        asker = threading.Thread(target=lambda: replies.append(ask_long()))
        asker.start()
        while asker.is_alive() and answered < count:
            ask_small()
            answered += asker.is_alive()
        asker.join()
        if len(replies) != asked:
            raise AssertionError("the long request failed: see above")
    return replies
