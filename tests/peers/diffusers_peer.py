"""Answers what Hugging Face's diffusers does about the positions of a config, from a checkout:
diffusers_peer.py CHECKOUT. Questions and answers are those of transformers_peer.py; beside the
config a question has the sides of an "image" in pixels, and the "frames" of the latents."""

import inspect
import json
import re
import sys
import warnings
from pathlib import Path

import stand_ins

sys.path.insert(0, str(Path(sys.argv[1], "src")))
stand_ins.install(False)
warnings.simplefilter("ignore")

from recorder import Cheap, describe_tables, describe_turn, spread  # noqa: E402

Cheap().install()

import diffusers  # noqa: E402
import torch  # noqa: E402
from questions import TooLong, serve  # noqa: E402

CELL = 16  # pixels a side of what the transformers see as one token
LATENT = 8  # pixels a side of a latent


def flux(rope, height, width, _):
    cells = [[0, y, x] for y in range(height) for x in range(width)]
    cos, sin = rope(torch.tensor(cells, dtype=torch.float32))
    return torch.complex(cos[:, ::2].double(), sin[:, ::2].double())


def qwen(rope, height, width, _):
    return rope([(1, height, width)], device=torch.device("cpu"), max_txt_seq_len=7)[0]


def wan(rope, height, width, frames):
    latents = [frames, *(side * CELL // LATENT for side in (height, width))]
    cos, sin = rope(torch.zeros(1, 16, *latents))
    cos, sin = (values.reshape(-1, values.shape[-1])[:, ::2].double() for values in (cos, sin))
    return torch.complex(cos, sin)


ROPES = {"FluxPosEmbed": flux, "QwenEmbedRope": qwen, "WanRotaryPosEmbed": wan}


def defaults():
    """The classes' own configs."""
    found = {}
    for name in dir(diffusers):
        if not re.match(r"(UNet2D|\w*Transformer[23]D).*Model$", name):
            continue
        signature = inspect.signature(getattr(diffusers, name).__init__).parameters
        values = {key: p.default for key, p in signature.items() if key != "self"}
        found[name] = json.loads(json.dumps(values, default=lambda value: None))
    return {"release": diffusers.__version__, "defaults": found}


def describe(model, question):
    made, turns = [], []
    height, width = (side // CELL for side in question["image"])
    for name, module in model.named_modules():
        kind = type(module).__name__
        if kind == "Timesteps" and not made:
            steps = torch.arange(question["rows"]) / module.scale
            output = module(steps.float())
            made.append({"path": name, "shape": list(output.shape), **spread(output)})
        elif kind == "PatchEmbed" and module.pos_embed is not None:
            for parameter in module.proj.parameters():
                torch.nn.init.zeros_(parameter)  # so that positions alone come out
            latents = (side // LATENT for side in question["image"])
            table = module(torch.zeros(1, module.proj.in_channels, *latents))
            made.append({"path": name, "shape": list(table.shape), **spread(table)})
        elif kind in ROPES:
            table = ROPES[kind](module, height, width, question["frames"])[
                : question["rows"]
            ].numpy()
            turn = {"pairing": "interleaved", "table": table}
            described = describe_turn(name, [2 * table.shape[1]], turn, {}, len(table))
            turns.append({**described, "layers": [-1]})
    answer = {"turns": turns, "made": made, "tables": describe_tables(model)[:4]}
    return {name: value for name, value in answer.items() if value}


def answer(question):
    config = dict(question["config"])
    made = getattr(diffusers, config.pop("_class_name"))
    try:
        model = made.from_config(config)
    except TooLong:
        raise
    except Exception as error:  # whatever the library raises
        return {"refused": f"{type(error).__name__}: {error}"[:200]}
    with torch.no_grad():
        return {"class": type(model).__name__, **describe(model, question)}


if __name__ == "__main__":
    serve(defaults, answer)
