"""The soak's short form."""

import os
import unittest

import faults
from soak import soak


class Soak(unittest.TestCase):
    def test_the_resident_size_stays_under_its_bound_by_bytes(self):
        seconds = 4 if faults.SANITIZED else 11
        self.assertEqual(soak(seconds, os.environ.get("SOAK_SEED", "1")), [])


if __name__ == "__main__":
    unittest.main()
