"""Run the unit suites of the store on memory, SQLite and PostgreSQL: suite.py
build/postgres/unit-tests"""

import os
import subprocess
import sys

from cluster import Cluster

SUITES = ("store", "changes")


def main():
    with Cluster() as cluster:
        environment = {
            **os.environ,
            "STORE_DATABASE_URL": cluster.new_database() + "?connect_timeout=30",
        }
        ended = [
            subprocess.run([sys.argv[1], suite], check=False, env=environment)
            for suite in SUITES
        ]
    return max(each.returncode for each in ended)


if __name__ == "__main__":
    sys.exit(main())
