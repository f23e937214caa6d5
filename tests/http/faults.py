"""A server in which chosen allocations, mappings, thread starts and writes to files fail
(tests/faults/faults.c)."""

import mmap
import struct
import sys
import tempfile
import unittest
from pathlib import Path

import server

LIBRARY = Path(server.BINARY).with_name("faults.so")
SANITIZED = b"__asan_init" in Path(server.BINARY).read_bytes()

ALLOCATIONS, MAPPINGS, THREADS, WRITES = 1, 2, 4, 8
FOREVER = 2**63
MODULES = ("posenc", "libmicrohttpd", "jansson", "sqlite", "zlib", "libc", "others")
FIELDS = struct.Struct("=7Q")  # armed, kinds, first, count, asked, failed, askers


def need_an_allocator():
    """Skip the test, with a message, if the server's allocator cannot be replaced."""
    if SANITIZED:
        reason = "failing allocations: a sanitizer brings an allocator of its own"
        print(f"not tested: {reason}", file=sys.stderr)
        raise unittest.SkipTest(reason)


class Faults:
    """Shared memory between a test and one server."""

    def __init__(self):
        self.file = tempfile.NamedTemporaryFile()
        self.file.truncate(FIELDS.size)
        self.memory = mmap.mmap(self.file.fileno(), FIELDS.size)
        self.environment = {"FAULTS_FILE": self.file.name, "LD_PRELOAD": str(LIBRARY)}

    def close(self):
        self.memory.close()
        self.file.close()

    def arm(self, first, count=1, kinds=ALLOCATIONS | MAPPINGS):
        """From now on count requests of these kinds, and let `count` of them fail from `first`
        on."""
        self.memory[8:56] = struct.pack("=6Q", kinds, first, count, 0, 0, 0)
        self.memory[:8] = struct.pack("=Q", 1)

    def disarm(self):
        """(asked, failed, names of the modules that asked for what failed)"""
        self.memory[:8] = bytes(8)
        *_, asked, failed, askers = FIELDS.unpack(self.memory[: FIELDS.size])
        return asked, failed, {name for i, name in enumerate(MODULES) if askers >> i & 1}
