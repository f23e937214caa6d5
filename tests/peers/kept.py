"""What is kept of a comparison with a library: tests/models/peers.jsonl, numbers alone, and
api/models/checked.def, which types of models were right.

The first lines of the file are sources: {"library", "release", "commit", "read"}. Each other
line is a case: "type", "release", "name", "config" (or "change" from that of the type's first
case), "query", "rows", "model_type" (of timm, whose architectures are types here: the row of
posenc's that plans it), "answer" (recorder.py; or "same", the case that has the same one) and
"result": "right" must stay so; "noted" is a difference that a note of the plan tells; "wrong"
and "refused" are known differences, which stand here until they are right. "unseen" are the
model types of parts that the library's code did not show."""

import json
import textwrap
from pathlib import Path

import answers
import variations

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "tests/models/peers.jsonl"
TABLE = ROOT / "api/models/checked.def"
KEPT = ("right", "noted", "wrong", "refused")
CONVENTION_4 = {"convention": "transformers-4.53"}


def poster(server):
    """What answers.ask needs of a server."""

    def post(target, config):
        body = json.dumps(config).encode()
        return server.request("POST", target, {"Content-Type": "application/json"}, body)

    return post


def list_types(server):
    """The types of each library that posenc plans: {library: [type, …]}."""
    types = {}
    for row in server.request("GET", "/v1/models").json()["model_types"]:
        types.setdefault(row["source"]["library"], []).append(row["model_type"])
    return types


def judge(case, post):
    """The case with its result, and the verdicts of its parts."""
    for word, result in (("refused", "the library refuses"), ("unbuilt", "not known")):
        if word in case["answer"]:
            why = case["answer"][word]
            return {**case, "result": result}, [answers.Verdict("config", result, why)]
    plan, problem = answers.ask(post, case["config"], case["query"], case["rows"])
    if plan is None:
        errors = problem.get("errors", [])
        why = "; ".join(f"{e.get('parameter')} must be {e.get('allowed')}" for e in errors)
        return {**case, "result": "refused"}, [answers.Verdict("config", "refused", why[:200])]
    verdicts = answers.judge(case["answer"], plan)
    unseen = sorted({v.model_type for v in verdicts if v.verdict == "not known"})
    found = {"result": answers.sum_up(verdicts, plan), "unseen": unseen}
    if "model_type" not in case["config"] and "architecture" in case["config"]:
        found["model_type"] = plan.model_type
    return {**case, **found}, verdicts


def read():
    """The sources, and the cases as {(type, release): [case, …]}."""
    sources, cases = [], {}
    for line in FILE.read_text(encoding="utf-8").splitlines() if FILE.exists() else []:
        case = json.loads(line)
        if "library" in case:
            sources.append(case)
            continue
        group = cases.setdefault((case["type"], case["release"]), [])
        if "change" in case:
            case["config"] = variations.changed(group[0]["config"], case.pop("change"))
        if "same" in case:
            same = case.pop("same")
            case["answer"] = next(c["answer"] for c in group if c["name"] == same)
        if case["config"].get("architecture") == case["type"]:
            case["model_type"] = case.get("model_type", group[0]["model_type"] if group else "")
        elif "_class_name" not in case["config"]:
            case["config"] = {"model_type": case["type"], **case["config"]}
        group.append({"query": {}, "rows": answers.ROWS, **case})
    return sources, cases


def written(case, group):
    """A case as a line, without what is as usual."""
    base = group[0]
    line = {"type": case["type"], "release": case["release"], "name": case["name"]}
    if case is base or base["name"] != "default" or case["name"] == "bare":
        line["config"] = {k: v for k, v in case["config"].items() if k != "model_type"}
    else:
        line["change"] = variations.change_from(base["config"], case["config"])
    if case["query"]:
        line["query"] = case["query"]
    if case["rows"] != answers.ROWS:
        line["rows"] = case["rows"]
    if case.get("unseen"):
        line["unseen"] = case["unseen"]
    if case.get("model_type", "") != base.get("model_type", "") or case is base:
        line.update({"model_type": case["model_type"]} if "model_type" in case else {})
    line["result"] = case["result"]
    same = next(other["name"] for other in group if other["answer"] == case["answer"])
    line.update({"answer": case["answer"]} if same == case["name"] else {"same": same})
    return json.dumps(line, separators=(",", ":"))


def write(sources, cases, types):
    """Write both files; types as of list_types."""
    lines = [json.dumps(source) for source in sources]
    for key in sorted(cases):
        group = [
            case for case in cases[key] if case["result"] in KEPT or case["name"] == "default"
        ]
        lines += [written(case, group) for case in group]
    whole = FILE.with_suffix(".new")  # so that a run that is stopped loses nothing
    whole.write_text("\n".join(lines) + "\n", encoding="utf-8")
    whole.replace(FILE)
    TABLE.write_text(table_text(*read(), types), encoding="utf-8")


def checked_types(cases, release):
    """Types all of whose cases of a release are right, and all of whose parts were seen, if
    only as those of a type of their own."""
    groups = {}
    for (name, of), group in cases.items():
        for case in group if of == release else []:
            groups.setdefault(case.get("model_type", name), []).append(case)
    right = {
        name
        for name, group in groups.items()
        if {case["result"] for case in group if case["result"] in KEPT} - {"noted"} == {"right"}
    }
    seen = {
        name
        for name in right
        if not any(name in case.get("unseen", ()) for case in groups[name])
    }
    return sorted(
        name
        for name in seen
        if all(seen.issuperset(case.get("unseen", ())) for case in groups[name])
    )


def table_text(sources, cases, types):
    """checked.def: of each release the types that are checked, or those that are not, whichever
    are fewer."""
    lines = [
        "/* Which model types agree with a library's own code, in all configs of",
        " * tests/models/peers.jsonl (CHECKED), or have not been seen to (UNCHECKED):",
        " * `make peers` writes this file, nobody else does. */",
        "/* clang-format off */",
    ]
    for source in sources:
        texts = [source[name] for name in ("library", "release", "commit", "read")]
        checked = checked_types(cases, source["release"])
        others = sorted(set(types[source["library"]]).difference(checked))
        kind, names = min(("CHECKED", checked), ("UNCHECKED", others), key=lambda k: len(k[1]))
        lines.append(f"SOURCE({', '.join(json.dumps(text) for text in texts)}, {kind},")
        names = " ".join(f'"{name}",' for name in names)
        lines.append(textwrap.fill(names + ")", 96, break_on_hyphens=False))
    return "\n".join(lines) + "\n"


def record(source, found, types):
    """Put the cases of one release in place of those that were kept of it."""
    sources, cases = read()
    release = source["release"]
    sources = [s for s in sources if s["release"] != release] + [source]
    sources.sort(
        key=lambda s: [int(number) for number in s["release"].split(".")], reverse=True
    )
    for name, group in found.items():
        cases[name, release] = [{"type": name, "release": release, **case} for case in group]
    write(sources, cases, types)


def judge_again(post, types):
    """Judge all cases anew, one by one, and then write both files."""
    sources, cases = read()
    for key, group in cases.items():
        for i, case in enumerate(group):
            group[i], verdicts = judge(case, post)
            yield key, group[i], verdicts
    write(sources, cases, types)
