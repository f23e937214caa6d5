"""Holds the rotary tables of runtimes against each other and against exact ones, for the
models of runtimes.json: writes runtimes.tsv, which runtimes.md explains.

    runtimes.py [--python PROGRAM] [--only NAME,…] [--work FOLDER] [--again]
                RUNTIME=FOLDER[:TRANSFORMERS]…

RUNTIME is transformers, vllm, sglang, llama.cpp or megatron, or one of them with a label
(transformers@4.57); FOLDER has its source, of which these parts are read:

    transformers  src                                     of huggingface/transformers
    vllm          vllm/config, vllm/model_executor, vllm/transformers_utils
                                                          of vllm-project/vllm
    sglang        python/sglang/srt                       of sgl-project/sglang
    llama.cpp     convert_hf_to_gguf.py, gguf-py          of ggml-org/llama.cpp
    megatron      megatron/core                           of NVIDIA/Megatron-LM

as `git archive COMMIT PARTS | tar -x -C FOLDER` takes them from a clone. TRANSFORMERS is a
folder with the release that reads configs for the runtime (that which it asks for; by default
the first transformers=). PROGRAM is a Python 3 with torch 2 (`make deps-peers`; see python.sh).
Nothing of a source is built or kept; --again judges what --work has kept of an earlier run."""

import argparse
import collections
import concurrent.futures
import contextlib
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from server import Server

HERE = Path(__file__).resolve().parent
LONGEST = 1 << 20  # positions, however many a model has
BOUND = 1e-3
FIXED = (100, 4096, 32768, 131071)
MARKS = (100, 4096, 32768, 131072)  # the largest difference below each
KEYS = ("model", "part", "context", "runtime", "rows", "largest", "at", "first")
KEYS += (*(f"to {mark}" for mark in MARKS), "kinds", "detail")


def known_configs():
    """The configs of api/models/known_models.def."""
    text = (HERE.parent.parent / "api/models/known_models.def").read_text()
    found = re.findall(r'^KNOWN\("([^"]+)", "[^"]*",\s*(\{.*?\})\)$', text, re.M | re.S)
    return {name: json.loads(config) for name, config in found}


def positions_of(context, marks):
    """Positions below a context: the first 64, twelve an octave, and marks with neighbours."""
    spread = [round(64 * 2 ** (i / 12)) for i in range(12 * 24)]
    near = [mark + step for mark in marks for step in (-1, 0, 1)]
    chosen = {*range(64), *spread, *FIXED, *near, context - 1}
    return sorted(p for p in chosen if 0 <= p < context)


class Model:
    """A model: its config, the parts of posenc's plan, the contexts that are tried."""

    def __init__(self, asked, server):
        self.asked, self.name = asked, asked["name"]
        plan = post(server, "/v1/models", asked["config"])
        self.parts = [
            part
            for part in plan["parts"]
            if part["kind"] == "rope" and part["layers"] and "vision" not in part["component"]
        ]
        self.facts = {
            part["name"]: {name: fact["value"] for name, fact in part["facts"].items()}
            for part in self.parts
        }
        self.biases = [part for part in plan["parts"] if part["kind"] in ("alibi", "t5")]
        self.runs = {}
        if self.parts:
            self.choose_contexts()
        elif self.biases:
            self.runs = {0: None}

    def choose_contexts(self):
        facts = self.facts[self.parts[0]["name"]]
        longest = facts["positions"]
        original = facts.get("original_max_position_embeddings", longest)
        contexts = {min(2 * longest, LONGEST)}
        if facts.get("rope_type") in ("longrope", "dynamic"):
            contexts |= {original, original + 1, longest}
        marks = (original, longest)
        self.runs = {context: positions_of(context, marks) for context in sorted(contexts)}

    def question(self):
        parts = [
            {"name": part["name"], "layers": part["layers"], "facts": self.facts[part["name"]]}
            for part in self.parts
        ]
        return json.dumps({**self.asked, "runs": self.runs, "parts": parts})

    def exact(self, part, context, server):
        """cos and sin in float64, of the context's positions."""
        taken = {name: fact["value"] for name, fact in part["arguments"].items()}
        taken.pop("length", None)
        if taken.get("rope_type") in ("longrope", "dynamic") and not taken.get("alpha"):
            taken["seq_len"] = context
        taken |= {"positions": self.runs[context], "dtype": "f64", "format": "json"}
        answer = post(server, "/v1/encodings/rope", taken)
        found = {tensor["name"]: np.array(tensor["data"]) for tensor in answer["tensors"]}
        return found["cos"], found["sin"]

    def exact_bias(self, server):
        """Slopes in float64, or the buckets of the distances 0 to 1024 of a decoder."""
        part = self.biases[-1]
        taken = {name: fact["value"] for name, fact in part["arguments"].items()}
        taken |= {"length": 1025, "query_length": 1, "format": "json"}
        answer = post(server, f"/v1/encodings/{part['scheme']}", taken)
        found = {tensor["name"]: np.array(tensor["data"]) for tensor in answer["tensors"]}
        return found["slopes"] if "slopes" in found else found["bucket"].ravel()[::-1]


def post(server, target, document):
    reply = server.request(
        "POST", target, {"Content-Type": "application/json"}, json.dumps(document)
    )
    if reply.status != 200:
        raise RuntimeError(f"{target}: {reply.body[:300]}")
    return reply.json()


# ---- differences ----


def angles_and_sizes(cos, sin):
    return np.arctan2(sin, cos), np.hypot(cos, sin)


def kinds_of(positions, exact, given):
    """What kinds of difference two tables have, and figures of each."""
    (cos, sin), (x, y) = exact, given
    kinds, detail = [], []
    if cos.shape[1] != x.shape[1]:
        return ["width"], [f"{x.shape[1]} frequencies, not {cos.shape[1]}"]
    _, size = angles_and_sizes(cos, sin)
    _, found = angles_and_sizes(x, y)
    ratio = float(np.median(found / size))
    if abs(ratio - 1) > 1e-5:
        kinds.append("magnitude")
        detail.append(f"times {np.median(found):.6g}, not {np.median(size):.6g}")
    one = positions.index(1)
    wanted, got = np.arctan2(sin[one], cos[one]), np.arctan2(y[one], x[one])
    relative = np.abs(got / wanted - 1)
    if relative.max() > 1e-5:
        kinds.append("frequencies")
        count, worst = int((relative > 1e-5).sum()), int(relative.argmax())
        changed = got[worst] / wanted[worst]
        detail.append(
            f"{count} of {len(wanted)} frequencies, number {worst} times {changed:.4g}"
        )
    apart = np.abs(np.stack([x - cos, y - sin])).max(axis=(0, 2))
    steps = np.array(positions)
    angle = np.maximum(np.abs(steps), 1) * 2.0**-21  # of a few float32 operations
    if not kinds and (apart > angle + 1e-6).any():
        kinds.append("rows")
        where = int(np.argmax(apart > angle + 1e-6))
        detail.append(f"other values from position {positions[where]} on")
    return kinds or ["rounding"], detail


def compare(model, part, context, table, exact):
    """A row of the table of differences."""
    positions = [p for p in model.runs[context] if table["rows"] is None or p < table["rows"]]
    count = min(len(positions), len(table["cos"]))
    positions = positions[:count]
    cos, sin = (side[:count] for side in exact)
    x, y = table["cos"][:count].astype(float), table["sin"][:count].astype(float)
    kinds, detail = kinds_of(positions, (cos, sin), (x, y))
    if "dtype" in model.asked and kinds != ["rounding"]:
        kinds, detail = [model.asked["dtype"]], []
    row = {"rows": table["rows"] or "", "largest": "", "at": "", "first": ""}
    if kinds != ["width"]:
        apart = np.abs(np.stack([x - cos, y - sin])).max(axis=(0, 2))
        beyond = np.flatnonzero(apart > BOUND)
        row |= {"largest": f"{apart.max():.2g}", "at": positions[int(apart.argmax())]}
        for mark in MARKS:
            below = apart[np.array(positions) < mark]
            row[f"to {mark}"] = f"{below.max():.2g}" if len(below) else ""
        row["first"] = positions[int(beyond[0])] if len(beyond) else ""
    if table["layers"] is not None and sorted(table["layers"]) != part["layers"]:
        kinds = [k for k in kinds if k != "rounding"] + ["layers"]
        detail.append(f"{len(table['layers'])} layers, not {len(part['layers'])}")
    if table["style"] and table["style"] != part["pairing"]:
        detail.append(f"pairs {table['style']}, not {part['pairing']}")
    row |= {"kinds": "+".join(kinds), "detail": "; ".join(detail)}
    return row


def part_of(model, table):
    """The part of the plan that a table belongs to: that with most of its layers."""
    if len(model.parts) == 1:
        return model.parts[0]
    if table["kind"]:
        return next(part for part in model.parts if part["name"].endswith(table["kind"]))
    layers = set(table["layers"] or [])
    return max(model.parts, key=lambda part: len(layers & set(part["layers"])))


# ---- runtimes ----


def ask_runtime(label, folder, transformers, models, options):
    """Let a runtime make its tables, which are kept in the folder of work."""
    work = Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    command = [*options.python.split(), "-B", str(HERE / "runtime_code.py")]
    command += [label.split("@")[0], folder, transformers, str(work / f"{label}.npz")]
    asked = "\n".join(model.question() for model in models if model.runs)
    with open(work / f"{label}.log", "w") as log:
        ended = subprocess.run(
            command, input=asked, stdout=subprocess.PIPE, stderr=log, text=True, check=True
        )
    (work / f"{label}.jsonl").write_text(ended.stdout)


def kept_answers(label, options):
    """What a runtime has made: {(model, context): its tables, or why there are none}."""
    found, kept = {}, np.load(Path(options.work) / f"{label}.npz")
    for line in (Path(options.work) / f"{label}.jsonl").read_text().splitlines():
        if not line.startswith('{"name"'):  # what a library prints
            continue
        said = json.loads(line)
        key = said["name"], int(said["context"])
        for index, table in enumerate(said.get("tables", [])):
            for side in ("cos", "sin"):
                table[side] = kept[f"{key[0]}/{key[1]}/{index}/{side}"]
        found[key] = said.get("tables") or said["failure"]
    return found


def rows_of(models, runtimes, server):
    """Rows of the table, for each model, context and runtime."""
    for model in models:
        if model.biases and not model.parts:
            yield from bias_rows(model, runtimes, server)
            continue
        for context in model.runs:
            exact = {part["name"]: model.exact(part, context, server) for part in model.parts}
            for label, found in runtimes.items():
                answer = found.get((model.name, context), "not tried")
                head = {"model": model.name, "context": context, "runtime": label}
                if isinstance(answer, str):
                    yield {**head, "kinds": "not run", "detail": answer}
                    continue
                for table in answer:
                    part = part_of(model, table)
                    row = compare(model, part, context, table, exact[part["name"]])
                    yield {**head, "part": part["name"], **row, "table": table}


def bias_rows(model, runtimes, server):
    exact = model.exact_bias(server)
    for label, found in runtimes.items():
        answer = found.get((model.name, 0), "not tried")
        row = {"model": model.name, "part": model.biases[-1]["name"], "runtime": label}
        if isinstance(answer, str):
            yield {**row, "kinds": "not run", "detail": answer}
            continue
        apart = np.abs(answer[0]["cos"] - exact)
        kinds = "rounding" if apart.max() < 1e-6 else "values"
        yield {
            **row,
            "largest": f"{apart.max():.2g}",
            "at": int(apart.argmax()),
            "kinds": kinds,
        }


def summary(rows):
    """A line for each runtime: the models that agree, differ and were not run, and the largest
    differences below each mark where they agree."""
    lines = []
    for label in dict.fromkeys(row["runtime"] for row in rows):
        mine = [row for row in rows if row["runtime"] == label and row["kinds"] != "bfloat16"]
        by_model = collections.defaultdict(set)
        for row in mine:
            by_model[row["model"].removesuffix("-bfloat16")].add(row["kinds"])
        counts = collections.Counter(
            "not run" if "not run" in kinds else "agree" if kinds == {"rounding"} else "differ"
            for kinds in by_model.values()
        )
        largest = [
            max(
                (
                    float(r[f"to {m}"])
                    for r in mine
                    if r["kinds"] == "rounding" and r.get(f"to {m}")
                ),
                default=0,
            )
            for m in MARKS
        ]
        words = [label, *(counts[word] for word in ("agree", "differ", "not run"))]
        lines.append(" | ".join(map(str, [*words, *(f"{x:.1g}" for x in largest)])))
    return lines


def pairs(rows):
    """A line for each two runtimes: the tables that both have and that agree, how many of them
    are equal bit by bit, and the largest difference of the others."""
    agreed = collections.defaultdict(dict)
    for row in rows:
        if row["kinds"] == "rounding" and "table" in row:
            agreed[row["runtime"]][row["model"], row["context"], row["part"]] = row["table"]
    lines = []
    for first, second in itertools.combinations(agreed, 2):
        shared = agreed[first].keys() & agreed[second].keys()
        apart = [difference(agreed[first][key], agreed[second][key]) for key in shared]
        equal = sum(each == 0 for each in apart)
        lines.append(f"{first} | {second} | {len(shared)} | {equal} | {max(apart):.1g}")
    return lines


def difference(first, second):
    """The largest difference of two tables, over the rows that both have."""
    count = min(len(first["cos"]), len(second["cos"]))
    return max(
        float(np.abs(first[side][:count] - second[side][:count]).max())
        for side in ("cos", "sin")
    )


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default="")
    parser.add_argument("--work", default="/tmp/posenc-runtimes")
    parser.add_argument("--again", action="store_true", help="judge what --work has kept")
    parser.add_argument("sources", nargs="+", metavar="RUNTIME=FOLDER[:TRANSFORMERS]")
    return parser.parse_args()


def main():
    options = read_options()
    configs = known_configs()
    asked = json.loads((HERE / "runtimes.json").read_text())
    only = set(filter(None, options.only.split(",")))
    chosen = [entry for entry in asked if not only or entry["name"] in only]
    server = Server()
    try:
        models = [
            Model({"config": configs.get(e.get("known", e["name"])), **e}, server)
            for e in chosen
        ]
        runtimes = run_all(models, options)
        with contextlib.ExitStack() as stack:
            out = sys.stdout if only else stack.enter_context(open(HERE / "runtimes.tsv", "w"))
            print(*KEYS, sep="\t", file=out)
            rows = list(rows_of(models, runtimes, server))
            for row in rows:
                print(*(row.get(key, "") for key in KEYS), sep="\t", file=out)
        print(*summary(rows), *pairs(rows), sep="\n", file=sys.stderr)
    finally:
        server.stop()


def run_all(models, options):
    """What each runtime answers, two at a time."""
    sources = [source.partition("=")[::2] for source in options.sources]
    first = next((f for label, f in sources if label.startswith("transformers")), "")

    def run(source):
        label, (folder, _, reader) = source[0], source[1].partition(":")
        reader = reader or (folder if label.startswith("transformers") else first)
        if not options.again:
            ask_runtime(label, folder, reader, models, options)
        return label, kept_answers(label, options)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(pool.map(run, sources))


if __name__ == "__main__":
    main()
