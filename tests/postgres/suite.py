"""Run the unit suite of the store on memory, SQLite and PostgreSQL: suite.py build/postgres/unit-tests"""

import os
import subprocess
import sys

from cluster import Cluster


def main():
    with Cluster() as cluster:
        ended = subprocess.run([sys.argv[1], "store"], check=False,
                               env={**os.environ, "STORE_DATABASE_URL": cluster.new_database()})
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())
