"""Which tests belong to which command, and how many of those that are many of a kind."""

import os
import random

# What `make ci` runs and `make test` does not, by what it needs beyond deps-test, or takes.
LATER = {
    "http/test_confusion.py": "half a minute",
    "http/test_linear.py": "twenty seconds",
    "http/test_model_keys.py::Used": "every key of every config",
    "http/test_peers.py": "hundreds of configs",
    "interop/test_files.py::TorchTest": "torch",
    "interop/test_identify_arithmetic.py": "torch",
    "interop/test_identify_resized.py": "torch",
    "interop/test_python.py::Torch": "torch",
    "interop/test_readme.py::Examples": "torch, in one of the examples",
    "interop/test_readme.py::InAModel::test_torch": "torch",
    "interop/test_resized.py": "torch",
    "interop/test_verdicts.py": "torch",
    "interop/test_sidecar.py::Sidecar::test_with_torch": "torch",
    "http/test_apply_layouts.py": "torch",
    "http/test_apply_kernels.py": "torch",
    "http/test_apply_plans.py": "torch",
    "http/test_metrics.py::Metrics::test_promtool": "prometheus",
}

# Programs that draw: `make test` has a short form, `make ci` a longer one.
DRAWN = ("digits/",)

# Hundreds of tables to identify, sentences about them, and thousands of allocations that fail:
# `make test` runs some of these tests, `make ci` all.
MANY = (
    "http/test_claims.py",
    "http/test_identify_forms.py",
    "http/test_identify_laws.py",
    "http/test_identify_tables.py",
    "http/test_identify_relative.py",
    "http/test_memory.py",
)
# What says nothing of a sanitized server: what is measured, values that the plain build has
# shown (tests of the same code with fewer of them stay), and programs of the tests.
PLAIN = {
    "http/test_apply_kernels.py::Drawn": "rounding, by the code of its others",
    "http/test_command.py::Measured": "resident memory, seconds of processors",
    "http/test_command_random.py": "the command beside the server, as in test_command",
    "http/test_confusion.py": "hundreds of tables, some of which test_identify_tables has",
    "http/test_convert.py::LongBodies": "resident memory, 32 MiB at a time",
    "http/test_digests.py": "digests, which hold for every build",
    "http/test_floater.py::Load": "how long others wait",
    "http/test_linear.py": "seconds of processors",
    "http/test_memory_budget.py": "resident memory",
    "http/test_model_keys.py::Used": "every key of the configs that test_models sends",
    "http/test_mixed_load.py": "the load that valgrind and ThreadSanitizer watch",
    "http/test_peers.py": "hundreds of configs, of which test_models and the fuzzer send some",
    "http/test_price.py": "seconds of processors",
    "http/test_same_answers.py": "a program that compares two builds",
    "http/test_stability.py": "digests of tables, which hold for every build",
    "unit/suites.def::footprint": "bytes that are held, which no sanitizer counts",
    "unit/suites.def::price": "loops that are counted",
    "unit/suites.def::rounding": "entries that are counted",
}
# What asks the same code again and again, with other tables: some of it.
REPEATED = (
    *MANY,
    "http/test_apply_kernels.py",
    "http/test_apply_layouts.py",
    "http/test_compare_explained.py",
    "http/test_compare_verdicts.py",
    "http/test_event_threads.py",
    "http/test_identify.py",
    "http/test_identify_stored.py",
    "http/test_mistakes.py",
)

# Of which tests a part runs a share, drawn by the seed.
SHARES = {"test": ((MANY, 0.1),), "sanitized": ((REPEATED, 0.15),)}

# Where the tests have just passed on the same machine and only what they need is in question,
# TEST_SHARE=0.02 keeps this share of the tests of each file, at least one; at least one of each
# class where tests run programs of others.
OVERALL = float(os.environ.get("TEST_SHARE", "1"))

# These begin first: the longest ones of each command.
LONG = (
    "http/test_confusion.py",
    "unit/suites.def::starved",
    "contract/test_clients.py",
    "http/test_claims.py",
    "http/test_linear.py",
    "http/test_peers.py",
    "http/test_identify_forms.py",
    "golden/swin_v2",
    "interop/test_readme.py::Examples",
    "http/test_identify_tables.py",
    "http/test_memory.py::Stored",
    "http/test_apply.py::AllSchemes",
    "http/test_memory.py::Starting",
    "http/test_models.py::Facts",
    "http/test_soak.py",
    "http/test_identify_relative.py",
    "unit/suites.def::window",
    "unit/suites.def::identify",
    "http/test_apply_limits.py",
    "http/test_identify.py",
    "http/test_deadlines.py",
    "fuzz/identify.c",
)

PARTS = {
    "whole": "every test of the folders",
    "test": "what needs few packages, and some of those that are many of a kind",
    "ci": "what `test` leaves out",
    "sanitized": "what reaches the code once, for a server that is several times as slow",
}


def starts(nodeid, names):
    return any(nodeid.startswith(f"tests/{name}") for name in names)


def leaves_out(path, part):
    """Whether a part runs no test of a file, because of what the file needs."""
    return part == "test" and path.as_posix().removeprefix("tests/") in LATER


def left_out():
    """What the sanitized run leaves out, a line each."""
    return [
        *(f"sanitized: without {name}: {reason}" for name, reason in PLAIN.items()),
        *(
            f"sanitized: of {name} {share:.0%} of the tests of each class, drawn by the seed"
            for names, share in SHARES["sanitized"]
            for name in names
        ),
    ]


def set_seed():
    """The seed of samples, the same in every process; tests that draw use it, too."""
    os.environ.setdefault("TEST_SEED", str(random.SystemRandom().randrange(1_000_000)))
    return os.environ["TEST_SEED"]


def class_of(item):
    return item.nodeid.rsplit("::", 1)[0]


def file_or_class_of(item):
    return class_of(item) if starts(item.nodeid, ("interop/",)) else item.nodeid.split("::")[0]


def sampled(items, share, group_of=class_of):
    """A share of the items of each group, drawn by the seed, at least one."""
    draw, kept, groups = random.Random(os.environ["TEST_SEED"]), set(), {}
    for item in items:
        groups.setdefault(group_of(item), []).append(item)
    for tests in groups.values():
        kept.update(draw.sample(tests, max(1, round(len(tests) * share))))
    return kept


def split(items, part):
    """(the items of a part, the others)"""
    if part == "whole":
        return items, []
    if part == "ci":
        kept = {item for item in items if starts(item.nodeid, (*LATER, *DRAWN, *MANY))}
    else:
        later = LATER if part == "test" else PLAIN
        whole = [item for item in items if not starts(item.nodeid, later)]
        kept = set()
        for names, share in SHARES[part]:
            kept |= sampled([item for item in whole if starts(item.nodeid, names)], share)
            whole = [item for item in whole if not starts(item.nodeid, names)]
        kept |= set(whole)
    if OVERALL < 1:
        kept = sampled([item for item in items if item in kept], OVERALL, file_or_class_of)
    return [item for item in items if item in kept], [
        item for item in items if item not in kept
    ]
