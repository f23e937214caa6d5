"""What `make install` has put below the folder INSTALLED."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PREFIX = Path(os.environ.get("INSTALLED", ROOT / "build" / "installed")).resolve()
PROGRAM, COMMAND = PREFIX / "bin" / "posenc-server", PREFIX / "bin" / "posenc"
MANUALS = PREFIX / "share" / "man" / "man1"
BASH = PREFIX / "share" / "bash-completion" / "completions"
ZSH = PREFIX / "share" / "zsh" / "site-functions"
MANUAL = MANUALS / "posenc-server.1"
DOCUMENTS = PREFIX / "share" / "doc" / "posenc" / "documents.html"
UNITS = PREFIX / "lib" / "systemd" / "system"
PATIENCE = 60  # seconds until what does not end has failed

ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("POSENC_", "MAKE", "MFLAGS"))
}
ENVIRONMENT["PKG_CONFIG_PATH"] = str(PREFIX / "lib" / "pkgconfig")


def run(*command, **options):
    """What a command prints; it must succeed and say nothing on stderr."""
    ended = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        **{"env": ENVIRONMENT, "stdin": subprocess.DEVNULL, **options},
    )
    if ended.returncode != 0 or ended.stderr:
        raise AssertionError(
            f"{command}: status {ended.returncode}\n{ended.stderr}{ended.stdout}"
        )
    return ended.stdout
