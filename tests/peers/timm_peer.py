"""Answers what timm makes of a config.json of its own, from a checkout: timm_peer.py CHECKOUT.
Questions and answers are those of transformers_peer.py."""

import sys
import warnings

import stand_ins

sys.path.insert(0, sys.argv[1])
stand_ins.PACKAGES.update(torchvision="0.21.0", yaml=None)
stand_ins.install(False)
warnings.simplefilter("ignore")

import cheap  # noqa: E402
import numpy  # noqa: E402
from recorder import Recorder, describe_tables, describe_turns  # noqa: E402

cheap.Cheap().install()

import torch  # noqa: E402
from questions import TooLong, serve  # noqa: E402

arange = torch.arange


def really_arange(*args, **named):
    """Indices are computed, also by layers whose weights are on the meta device."""
    if str(named.get("device")) == "meta":
        del named["device"]
    return arange(*args, **named)


torch.arange = really_arange
torch.nn.functional.scaled_dot_product_attention = lambda query, key, value, *_, **__: value

cheap.randn = torch.zeros  # what layers give; rotations are tried with numbers of their own

import timm  # noqa: E402
from timm.layers import weight_init  # noqa: E402

weight_init._trunc_normal_ = lambda tensor, *_: tensor  # values of weights do not matter
RECORDER = Recorder()


class Turns:
    """Watches what turns queries and keys, but for tokens before those of the image."""

    prefix = 0

    def record(self, function, bound, result):
        if RECORDER.events and RECORDER.events[-1][1] == RECORDER.path():
            return  # keys turn as queries do
        RECORDER.rows = result.shape[-2]
        RECORDER.turn(function, bound, result)
        *event, turn = RECORDER.events.pop()
        if turn and turn["table"] is not None:
            still = numpy.ones((self.prefix, turn["table"].shape[1]))
            turn["table"] = numpy.concatenate([still, turn["table"]])
        RECORDER.events.append((*event, turn))

    def install(self):
        for name, module in list(sys.modules.items()):
            function = vars(module).get("apply_rot_embed_cat")
            if name.startswith("timm.") and function and not hasattr(function, "is_watched"):
                module.apply_rot_embed_cat = RECORDER.watched(function, self.record)


TURNS = Turns()


def defaults():
    """For each entry point a config, with the size of the images of its first weights."""
    found = {}
    for name in timm.list_models():
        weights = timm.models.get_pretrained_cfg(name)
        known = {
            key: getattr(weights, key)
            for key in ("input_size", "fixed_input_size")
            if getattr(weights, key, None)
        }
        found[name] = {"architecture": name, "pretrained_cfg": known}
    return {"release": timm.__version__, "defaults": found}


def describe(model):
    answer = {"class": type(model).__name__, "tables": describe_tables(model)}
    if getattr(model, "rope", None) is not None:
        TURNS.prefix = model.num_prefix_tokens
        rows = TURNS.prefix + model.patch_embed.num_patches
        embed = model.patch_embed
        sides = embed.img_size
        if not embed.strict_img_size:  # the image must be whole patches then
            sides = [n * side for n, side in zip(embed.grid_size, embed.patch_size)]
        image = torch.zeros(1, 3, *sides)
        RECORDER.begin(model, rows)
        failure = RECORDER.run(model, lambda: {"x": image})
        at = (0, 1, rows // 3, rows // 2, rows - 1)
        turns = [event for event in RECORDER.events if event[0] == "turn"]
        answer["turns"] = describe_turns(turns, {}, chosen=at)
        answer.update({"failure": failure} if failure else {})
    return {name: value for name, value in answer.items() if value}


def answer(question):
    """As create_model reads a config.json: pretrained_cfg and model_args are its arguments."""
    config = question["config"]
    arguments = config.get("model_args") or {}
    try:
        model = timm.create_model(
            config["architecture"],
            pretrained_cfg=config.get("pretrained_cfg") or None,
            **arguments,
        )
    except TooLong:
        raise
    except Exception as error:  # whatever the library raises
        word = "refused" if arguments else "unbuilt"
        return {word: f"{type(error).__name__}: {error}"[:200]}
    return describe(model.eval())


if __name__ == "__main__":
    RECORDER.install()
    TURNS.install()
    serve(defaults, answer)
