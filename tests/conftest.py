"""The runner of all tests in Python and of those that are programs: pytest, see tests/README.md."""

import contract
import order
import parts
import summary
from order import pytest_xdist_make_scheduler  # noqa: F401
from programs import pytest_collect_file  # noqa: F401
from summary import (  # noqa: F401
    pytest_runtest_makereport,
    pytest_runtest_setup,
    pytest_terminal_summary,
)


def pytest_addoption(parser):
    group = parser.getgroup("posenc")
    group.addoption("--part", choices=parts.PARTS, default="whole", help=str(parts.PARTS))
    group.addoption("--contract", action="store_true", help="through a validating proxy")
    group.addoption("--name", help="before the number of tests in the last line")
    group.addoption("--leaves-out", help="a line before the last one")


def pytest_configure(config):
    seed = parts.set_seed()
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(summary.LastLine(config), "last-line")
        if config.getoption("part") in parts.SHARE:
            print(f"SEED={seed} draws what is sampled; with it the same tests run again")
    if config.getoption("contract"):
        contract.begin(config)


def pytest_collection_modifyitems(config, items):
    kept, others = parts.split(items, config.getoption("part"))
    if others:
        config.hook.pytest_deselected(items=others)
    items[:] = kept
    order.sort(items)
