"""Holds POST /v1/models against the code of libraries: `make peers TRANSFORMERS=CHECKOUT`.

    run.py [--transformers CHECKOUT]… [--diffusers CHECKOUT]… [--timm CHECKOUT]…
           [--python PROGRAM] [--types bert,llama] [--variations N] [--seed N] [--record]
           [--again]

For every model type that posenc lists and the checkout has: the class's own config and
variations of it go to the library's code (transformers_peer.py, diffusers_peer.py,
timm_peer.py) and to a server of its own, and are compared (answers.py). timm's types are its
architectures. --record keeps the numbers in tests/models/peers.jsonl and writes
api/models/checked.def; --again judges what was kept, without a library, and writes both anew.
COMMIT= names that of a checkout without git."""

import argparse
import collections
import datetime
import json
import math
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import answers
import kept
import variations
from server import Server

HERE = Path(__file__).resolve().parent
IMAGE, CELL = [256, 320], 16  # pixels of a picture's sides, and of a token of diffusers
FRAMES = 3  # of the latents of a video
PATCHED = {  # towers that take pictures of any size, as rows of patches
    "cohere_compass_vision",
    "ernie4_5_vl_moe_vision",
    "exaone4_5_vision",
    "glm4v_moe_vision",
    "glm4v_vision",
    "glm_ocr_vision",
    "kimi_k25_vision",
    "minimax_m3_vl_vision",
    "muse_glimmer_vision",
    "paddleocr_vl_vision",
    "pixtral",
    "qwen2_5_omni_vision_encoder",
    "qwen2_5_vl_vision",
    "qwen2_vl_vision",
    "qwen3_omni_moe_vision_encoder",
    "qwen3_vl_vision",
    "video_llama_3_vision",
}
SINES = ("sinusoidal_2d", "detr_sine_2d")
NO_SIZE = "the config has no image size"  # in a plan: it takes an example
LONG = 150  # rows where buckets of distances are looked up
RELEASES = {"timm": r"\d+\.\d+\.\d+"}  # the third number is that of a release with new models
BATCH = 10  # types that are recorded together
WORDS = ("right", "noted", "refused", "wrong", "not known", "the library refuses")


class Library:
    """A checkout that answers questions, in a process of its own."""

    def __init__(self, name, python, checkout):
        self.name = name
        program = HERE / f"{name}_peer.py"
        self.process = subprocess.Popen(
            [*python, program, checkout],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        known = self.ask({"defaults": True})
        self.release = re.match(RELEASES.get(name, r"\d+\.\d+"), known["release"])[0]
        self.defaults = known["defaults"]
        git = ["git", "-C", str(checkout), "rev-parse", "--short=10", "HEAD"]
        found = subprocess.run(git, capture_output=True, text=True, check=False)
        self.commit = os.environ.get("COMMIT") or found.stdout.strip()

    def ask(self, question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(
                f"the library's process has ended; run {self.name}_peer.py alone"
            )
        return json.loads(line)

    def query(self):
        """What asks posenc for this library and release."""
        is_old = self.name == "transformers" and int(self.release.split(".")[0]) < 5
        return kept.CONVENTION_4 if is_old else {}

    def source(self):
        """As the first lines of the file have it."""
        return {
            "library": self.name,
            "release": self.release,
            "commit": self.commit,
            "read": datetime.date.today().strftime("%Y-%m"),
        }

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def cases_of(model_type, library, post, options):
    """(name, config, query) of a model type: the class's own config, and variations."""
    config = library.defaults[model_type]
    if library.name == "timm":
        yield from cases_of_timm(config, library, post, options)
        return
    if library.name == "diffusers":
        yield "default", {"_class_name": model_type, **config}, {}
        yield "bare", {"_class_name": model_type}, {}
        return
    if isinstance(config, str):  # the class cannot be made without arguments
        config = {}
    config = variations.published(model_type, variations.shrink(config))
    config = {**config, "model_type": model_type}
    yield "default", config, {}
    if variations.bare(model_type, config) != config:
        yield "bare", variations.bare(model_type, config), {}
    plan, _ = answers.ask(post, config, library.query())
    parts = plan.parts if plan else []
    pairs = [
        len(plan.tensor(part, "inv_freq")[1])
        for part in parts
        if part["kind"] == "rope" and plan.tensor(part, "inv_freq")
    ]
    varied = variations.rotary(config, pairs[0]) if pairs else {}
    if {part["kind"] for part in parts} - {"rope"}:
        varied.update(variations.tables(config))
    if model_type in PATCHED:  # whose patches are squares
        varied.pop("patch_size [8, 16]", None)
    yield from sample(varied, model_type, library, options)


def sample(varied, model_type, library, options):
    """As many of {name: (config, query)} as are asked for, as (name, config, query)."""
    chosen = random.Random(f"{options.seed} {model_type} {library.release}")
    names = sorted(varied)
    if options.variations is not None and options.variations < len(names):
        names = chosen.sample(names, options.variations)
    for name in names:
        yield (name, *varied[name])


def cases_of_timm(config, library, post, options):
    """The same of an architecture. One whose positions posenc does not know has none."""
    plan, problem = answers.ask(post, config)
    if problem and any(e["parameter"] == "architecture" for e in problem["errors"]):
        return
    yield "default", config, {}
    varied = variations.arguments(plan and plan.model_type, config)
    yield from sample(varied, config["architecture"], library, options)


def patch_of(library, config):
    """Pixels a side of a patch, where pictures are rows of patches; or None."""
    model_type = config.get("model_type")
    if model_type not in PATCHED:
        return None
    patch = config.get("patch_size", library.defaults[model_type].get("patch_size"))
    return patch if isinstance(patch, int) else None


def sizes_in(config):
    """Sides of pictures that a config or one within it names, as [height, width]."""
    for name, value in config.items():
        if name == "image_size" and value:
            yield [value, value] if isinstance(value, int) else list(value)
        if isinstance(value, dict):
            yield from sizes_in(value)


def judge_case(library, post, name, config, query):
    """A case as it is kept, and the verdicts of its parts."""
    rows, image = answers.ROWS, IMAGE
    query = {**query, **library.query()}
    patch = patch_of(library, config)
    plan, _ = answers.ask(post, config, query)
    sines = [part for part in plan.parts if part["kind"] in SINES] if plan else []
    if NO_SIZE in str([part.get("arguments") for part in sines]):
        whole = {**library.defaults[config["model_type"]], **config}
        query["image"] = ",".join(map(str, next(sizes_in(whole), image)))
    if library.name == "diffusers" or patch:
        image = [8 * patch, 12 * patch] if patch else IMAGE
        query["image"] = ",".join(map(str, image))
        rows = math.prod(side // (patch or CELL) for side in image)
    question = {"config": config, "rows": rows, "image": image, "frames": 1}
    if "Transformer3D" in config.get("_class_name", ""):
        query["frames"] = question["frames"] = FRAMES
        question["rows"] = rows = FRAMES * rows
    answer = library.ask(question)
    if any("row" in lookup for lookup in answer.get("lookups", [])):
        rows = LONG
        answer = library.ask({**question, "rows": rows})
    case = {"name": name, "config": config, "query": query, "rows": rows, "answer": answer}
    return kept.judge(case, post)


def show(case, verdicts, type_):
    for part, verdict, why, *_ in verdicts:
        if verdict in ("wrong", "refused"):
            print(f"    {type_}, {case['name']}: {part}: {verdict}: {why}", flush=True)


def compare(library, post, listed, options):
    """The cases of all types, type by type."""
    for model_type in options.types or (library.defaults if library.name == "timm" else listed):
        if model_type not in library.defaults:
            continue
        cases = []
        for name, config, query in cases_of(model_type, library, post, options):
            case, verdicts = judge_case(library, post, name, config, query)
            cases.append(case)
            show(case, verdicts, model_type)
        yield model_type, cases


def result_of(cases):
    """One word for a type: that of its worst case."""
    words = {case["result"] for case in cases}
    for word in ("wrong", "refused", "right", "noted"):
        if word in words:
            return word
    return "not known"


def print_table(release, found, seconds):
    by_result = collections.defaultdict(list)
    for model_type, cases in found.items():
        by_result[result_of(cases)].append(model_type)
    counts = collections.Counter(case["result"] for cases in found.values() for case in cases)
    print(f"\n{release}: {len(found)} types in {seconds:.0f} s")
    for word in WORDS[:-1]:
        print(f"  {word:20} {len(by_result[word]):5} types")
        if word != "right" and by_result[word]:
            print(f"      {' '.join(by_result[word])}")
    unseen = [name for name in by_result["right"] if any(c.get("unseen") for c in found[name])]
    print(
        f"  {len(unseen)} of the right ones have parts that were not seen: {' '.join(unseen)}"
    )
    print(f"  configs: {', '.join(f'{counts[word]} {word}' for word in WORDS if counts[word])}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--transformers", action="append", default=[], metavar="CHECKOUT")
    parser.add_argument("--diffusers", action="append", default=[], metavar="CHECKOUT")
    parser.add_argument("--timm", action="append", default=[], metavar="CHECKOUT")
    parser.add_argument("--python", default=sys.executable, help="with torch 2")
    parser.add_argument("--types", type=lambda text: text.split(","))
    parser.add_argument("--variations", type=int, help="of each type; all without it")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    if not (options.transformers or options.diffusers or options.timm or options.again):
        parser.error(
            "which library? TRANSFORMERS=CHECKOUT, DIFFUSERS=CHECKOUT or TIMM=CHECKOUT"
        )
    return options


def main():
    options = parse()
    server = Server()
    try:
        post, types = kept.poster(server), kept.list_types(server)
        listed = [model_type for own in types.values() for model_type in own]
        if options.again:
            for (model_type, release), case, verdicts in kept.judge_again(post, types):
                show(case, verdicts, f"{model_type} of {release}")
            return
        print(f"TEST_SEED={options.seed}")
        words = set()
        peers = [("transformers", checkout) for checkout in options.transformers]
        peers += [("diffusers", checkout) for checkout in options.diffusers]
        peers += [("timm", checkout) for checkout in options.timm]
        for name, checkout in peers:
            began = time.monotonic()
            library = Library(name, options.python.split(), checkout)
            if options.record and not library.commit:
                sys.exit(f"{checkout} is no git repository: name its COMMIT=")
            found, pending = {}, {}
            for model_type, cases in compare(library, post, listed, options):
                found[model_type] = pending[model_type] = cases
                if options.record and len(pending) == BATCH:
                    kept.record(library.source(), pending, types)
                    pending = {}
            if options.record:
                kept.record(library.source(), pending, types)
            library.stop()
            print_table(f"{library.name} {library.release}", found, time.monotonic() - began)
            words |= {case["result"] for cases in found.values() for case in cases}
        sys.exit(not options.record and not words.isdisjoint(("wrong", "refused")))
    finally:
        server.stop()


if __name__ == "__main__":
    main()
