"""The runner of tests in Python and of tests that are programs: tests/README.md."""

import os

import contract
import order
import parts
import programs
import replay
import summary


def pytest_addoption(parser):
    group = parser.getgroup("posenc")
    group.addoption("--part", choices=parts.PARTS, default="whole", help=str(parts.PARTS))
    group.addoption("--contract", action="store_true", help="through a validating proxy")
    group.addoption(
        "--contract-share", type=float, default=1, help="of exchanges like others, drawn"
    )
    group.addoption("--module", action="store_true", help="the WebAssembly module, too")
    group.addoption("--name", help="before the number of tests in the last line")
    group.addoption("--leaves-out", help="a line before the last one")


def pytest_configure(config):
    seed = parts.set_seed()
    if config.getoption("part") == "sanitized" or config.getoption("module"):
        os.environ["TEST_FEW"] = "1"  # the plain run has all, and looks at their values
    for module in (order, programs, summary):
        config.pluginmanager.register(module)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(summary.LastLine(config), "last-line")
        if config.getoption("part") in parts.SHARES:
            print(f"SEED={seed} draws what is sampled: make test SEED={seed} draws it again")
        if config.getoption("part") == "sanitized":
            print(*parts.left_out(), sep="\n")
    if config.getoption("contract"):
        contract.begin(config)
    if config.getoption("module"):
        replay.begin(config)


def pytest_ignore_collect(collection_path, config):
    """What a part leaves out may import what is not installed."""
    part = config.getoption("part")
    return parts.leaves_out(collection_path.relative_to(config.rootpath), part) or None


def pytest_collection_modifyitems(config, items):
    kept, others = parts.split(items, config.getoption("part"))
    if others:
        config.hook.pytest_deselected(items=others)
    items[:] = kept
    order.sort(items)
