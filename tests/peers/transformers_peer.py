"""Answers what Hugging Face's transformers does about the positions of a config, from a
checkout: transformers_peer.py CHECKOUT. Reads questions as lines of JSON, writes answers so.

{"defaults": true}: the configs of all model types that the checkout has. {"config": …,
"rows": …, "image": [height, width]}: that config's model is made and run; see recorder.py."""

import copy
import importlib
import inspect
import json
import os
import re
import sys
import warnings
from pathlib import Path

import stand_ins

# Sub-configs whose class of models no list of the library names
CLASSES = {
    "dia_encoder": "dia.modeling_dia.DiaEncoder",
    "dia_decoder": "dia.modeling_dia.DiaDecoder",
    "voxtral_realtime_text": "voxtral_realtime.modeling_voxtral_realtime"
    ".VoxtralRealtimeTextModel",
    "paddleocr_vl_text": "paddleocr_vl.modeling_paddleocr_vl.PaddleOCRTextModel",
    "qwen2_5_omni": "qwen2_5_omni.modeling_qwen2_5_omni.Qwen2_5OmniForConditionalGeneration",
    "qwen3_omni_moe": "qwen3_omni_moe.modeling_qwen3_omni_moe"
    ".Qwen3OmniMoeForConditionalGeneration",
    "idefics_vision": "idefics.vision.IdeficsVisionTransformer",
    "lw_detr_vit": "lw_detr.modeling_lw_detr.LwDetrViTBackbone",
    "rf_detr_dinov2": "rf_detr.modeling_rf_detr.RfDetrDinov2Backbone",
    "sam3_detr_encoder": "sam3.modeling_sam3.Sam3DetrEncoder",
    "sam3_detr_decoder": "sam3.modeling_sam3.Sam3DetrDecoder",
    "sam3_geometry_encoder": "sam3.modeling_sam3.Sam3GeometryEncoder",
    "sam3_lite_text_detr_encoder": "sam3_lite_text.modeling_sam3_lite_text"
    ".Sam3LiteTextDetrEncoder",
    "sam3_lite_text_detr_decoder": "sam3_lite_text.modeling_sam3_lite_text"
    ".Sam3LiteTextDetrDecoder",
    "sam3_lite_text_geometry_encoder": "sam3_lite_text.modeling_sam3_lite_text"
    ".Sam3LiteTextGeometryEncoder",
    "t5_gemma_module": "t5gemma.modeling_t5gemma.T5GemmaEncoder",
    "musicgen": "musicgen.modeling_musicgen.MusicgenForConditionalGeneration",
    "musicgen_melody": "musicgen_melody.modeling_musicgen_melody"
    ".MusicgenMelodyForConditionalGeneration",
    "musicgen_decoder": "musicgen.modeling_musicgen.MusicgenForCausalLM",
    "musicgen_melody_decoder": "musicgen_melody.modeling_musicgen_melody"
    ".MusicgenMelodyForCausalLM",
}
LISTS = [
    "MODEL_MAPPING",
    "MODEL_FOR_CAUSAL_LM_MAPPING",
    "MODEL_FOR_PRETRAINING_MAPPING",
    "MODEL_FOR_OBJECT_DETECTION_MAPPING",
    "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING",
    "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING",
]
BOOKS = ("musicgen_decoder", "musicgen_melody_decoder")  # have ids of several codes
SEES = re.compile(r"CLIP|Siglip|Owl|Clip|Flava|Align|Blip|GroupViT")  # beside reading


def load(checkout):
    """Import the checkout's package, with stand-ins for what positions do not need."""
    folder = Path(checkout)
    folder = folder / "src" if (folder / "src").is_dir() else folder
    sys.path.insert(0, str(folder))
    release = re.search(
        r'__version__ = "(\d+)', (folder / "transformers/__init__.py").read_text()
    )
    is_old = int(release[1]) < 5
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="critical")
    stand_ins.install(is_old)
    return is_old


IS_OLD = load(sys.argv[1])
warnings.simplefilter("ignore")

from cheap import Cheap, randn  # noqa: E402
from recorder import Recorder, describe  # noqa: E402

Cheap().install()  # before the library keeps functions of torch

import torch  # noqa: E402
import transformers  # noqa: E402
from questions import TooLong, serve  # noqa: E402

stand_ins.let_packages_be_missing(transformers)
# a log's text compares with the class's own config, which some classes do not have
transformers.PretrainedConfig.__repr__ = object.__repr__

from transformers.models.auto import modeling_auto  # noqa: E402
from transformers.models.auto.configuration_auto import CONFIG_MAPPING  # noqa: E402

MODELS = "transformers.models."
RECORDER = Recorder()


def models_beside(config):
    """The module of models that belongs to a config's class."""
    return importlib.import_module(
        type(config).__module__.replace("configuration_", "modeling_")
    )


def class_of(config):
    named = CLASSES.get(config.model_type)
    if named:
        module, name = named.rsplit(".", 1)
        return getattr(importlib.import_module(MODELS + module), name)
    for name in LISTS:
        listed = getattr(modeling_auto, name, {})
        if type(config) in listed:
            found = listed[type(config)]
            return found[0] if isinstance(found, (list, tuple)) else found
    base = transformers.PreTrainedModel
    fitting = [
        found
        for found in vars(models_beside(config)).values()
        if inspect.isclass(found)
        and issubclass(found, base)
        and getattr(found, "config_class", None) is type(config)
        and not found.__name__.endswith("PreTrainedModel")
    ]
    named = type(config).__name__.removesuffix("Config")
    fitting = fitting or [
        found
        for key, found in vars(models_beside(config)).items()
        if key.startswith(named) and inspect.isclass(found) and issubclass(found, base)
    ]
    if not fitting:
        raise LookupError(f"no class of models for {type(config).__name__}")
    return min(fitting, key=lambda found: len(found.__name__))


def build(config):
    made = class_of(config)
    RECORDER.wrap(MODELS)
    failure = None
    for attention in ("eager", "sdpa", None):
        chosen = copy.deepcopy(config)
        if attention:
            chosen._attn_implementation = attention
        named = {"torch_dtype" if IS_OLD else "dtype": torch.float32}
        try:
            is_whole = hasattr(made, "_from_config")
            model = made._from_config(chosen, **named) if is_whole else made(chosen)
        except TooLong:
            raise
        except Exception as error:  # whatever the library raises
            failure = failure or error
            continue
        RECORDER.wrap(MODELS)
        return model.eval()
    raise failure


def sound_for(takes, config, rows):
    """Features of sounds that give so many rows, or some."""
    config = getattr(config, "encoder_config", None) or config
    bands = getattr(config, "num_mel_bins", None) or getattr(config, "input_feat_size", 80)
    inputs = {}
    if "input_values" in takes:  # samples for so many frames of the usual convolutions
        inputs["input_values"] = randn(1, 400 + 320 * (rows - 1))
        if config.model_type == "audio-spectrogram-transformer":
            inputs["input_values"] = randn(1, config.max_length, bands)
        if getattr(config, "audio_channels", None):
            inputs["input_values"] = inputs["input_values"].repeat(1, config.audio_channels, 1)
    if "input_features" in takes and "decoder_input_ids" not in takes:
        width = getattr(config, "feature_projection_input_dim", None)
        factor = 1 if width else getattr(config, "subsampling_factor", 1)
        inputs["input_features"] = randn(1, factor * rows, width or bands)
    if "past_values" in takes and hasattr(config, "num_input_channels"):
        inputs["past_values"] = randn(1, config.context_length, config.num_input_channels)
    if "audio_mel" in takes:
        inputs["audio_mel"] = randn(1, 16 * rows, bands)
        inputs["audio_mel_mask"] = torch.zeros(1, 16 * rows, dtype=torch.bool)
    return inputs


def inputs_of(model, config, rows, image):
    """Tokens or pixels for a forward, by what it takes; `image` has the sides of a picture."""
    takes = inspect.signature(model.forward).parameters
    text = getattr(config, "text_config", None)
    words = getattr(config, "vocab_size", None) or getattr(text, "vocab_size", None) or 100
    inputs = {}
    for name in ("input_ids", "decoder_input_ids"):
        if name in takes:
            books = (
                getattr(config, "num_codebooks", None) or 1 if config.model_type in BOOKS else 1
            )
            ids = torch.arange(10, 10 + rows).clamp(max=words - 1)
            inputs[name] = ids.repeat(books, 1)
    inputs.update(sound_for(takes, config, rows))
    if "grid_thw" in takes:  # patches of a picture, one row each
        height, width = (side // config.patch_size for side in image)
        channels = getattr(config, "in_channels", None) or getattr(config, "num_channels", 3)
        frames = getattr(config, "temporal_patch_size", 1)
        name = "hidden_states" if "hidden_states" in takes else "pixel_values"
        inputs[name] = randn(rows, channels * frames * config.patch_size**2)
        if config.model_type == "kimi_k25_vision":
            inputs[name] = inputs[name].view(rows, channels, *2 * [config.patch_size])
        inputs["grid_thw"] = torch.tensor([[1, height, width]])
        if "merge_sizes" in takes:
            inputs["merge_sizes"] = torch.tensor([1])
        return inputs
    if "pixel_values_videos" in takes and "input_ids" not in takes:
        side, frames = getattr(config, "crop_size", 64), getattr(config, "frames_per_clip", 4)
        inputs["pixel_values_videos"] = randn(1, frames, 3, side, side)
        if "context_mask" in takes:  # the first half of the tokens tells the second
            count = (side // config.patch_size) ** 2 * (frames // config.tubelet_size)
            inputs["context_mask"] = [torch.arange(count // 2)[None]]
            inputs["target_mask"] = [torch.arange(count // 2, count)[None]]
        return inputs
    main = getattr(model, "main_input_name", "pixel_values")
    sees = main == "pixel_values" or SEES.search(type(model).__name__)
    if "pixel_values" in takes and ("input_ids" not in takes or sees):
        towers = (getattr(config, f"{name}_config", None) for name in ("vision", "backbone"))
        vision = next(filter(None, towers), config)
        size = getattr(vision, "image_size", None) or image
        sides = size if isinstance(size, (list, tuple)) else [size, size]
        if isinstance(size, dict):
            sides = [size["height"], size["width"]]
        if "image_sizes" in takes:
            sides = image
            inputs["image_sizes"] = torch.tensor([image])
        frames = getattr(vision, "num_frames", None) if "tubelet" in str(vars(vision)) else None
        shape = [getattr(vision, "num_channels", 3), *sides]
        inputs["pixel_values"] = randn(1, *([frames] if frames else []), *shape)
    if "hidden_states" in takes and not inputs:
        width = getattr(config, "input_dim", None) or config.hidden_size
        inputs["hidden_states"] = randn(1, rows, width)
    if "t_cond" in takes:
        inputs["t_cond"] = randn(1, 1, config.hidden_size)
    if "use_cache" in takes:
        inputs["use_cache"] = False
    return inputs


# Keys that no positions depend on
OTHER = re.compile(
    r"dropout|_act$|activation|eps$|initializer|_std$|id2label|label2id"
    r"|^(bos|eos|sep|cls|mask)_token|version|use_cache|^tie_|^_|drop_path|loss|_cost$"
    r"|_coef|^ffn|aux|quant|^stage_names|^out_features|^out_indices"
)


def is_config(name, value):
    return name.endswith("_config") and isinstance(value, dict) and "model_type" in value


def trimmed(config, common, kept=("model_type",)):
    """A config without what every class has, and without keys that no positions depend on."""
    within = ("model_type", "out_features")  # without which a backbone gives one stage
    return {
        name: trimmed(value, common, within) if is_config(name, value) else value
        for name, value in config.items()
        if name in kept or not OTHER.search(name) and common.get(name, "no") != value
    }


def defaults():
    """The classes' own configs, as they would be saved."""
    found = {}
    common = transformers.PretrainedConfig().to_dict()
    for name in CONFIG_MAPPING.keys():
        try:
            config = trimmed(CONFIG_MAPPING[name]().to_dict(), common)
            found[name] = json.loads(json.dumps(config, default=str))
        except Exception as error:  # whatever the library raises
            found[name] = f"{type(error).__name__}: {error}"[:200]
    return {"release": transformers.__version__, "defaults": found}


ANSWERS = {}  # to the last question: configs that say less may make the same model


def answer(question):
    """What the library makes of a config; "refused" where it takes it for wrong."""
    config = question["config"]
    try:
        config = CONFIG_MAPPING[config["model_type"]].from_dict(copy.deepcopy(config))
    except TooLong:
        raise
    except Exception as error:  # whatever the library raises
        return {"refused": f"{type(error).__name__}: {error}"[:200]}
    key = json.dumps([config.to_dict(), {**question, "config": None}], default=str)
    if key not in ANSWERS:
        ANSWERS.clear()
        ANSWERS[key] = answer_made(config, question)
    return ANSWERS[key]


def models_in(module):
    """The models that a model consists of, without those within them."""
    for child in module.children():
        if isinstance(child, transformers.PreTrainedModel):
            yield child
        else:
            yield from models_in(child)


def run(model, config, question):
    """Run a model, or if that fails those that it consists of; the first failure of these."""
    rows, image = question["rows"], question["image"]
    failure = RECORDER.run(model, lambda: inputs_of(model, config, rows, image))
    within = list(models_in(model))
    if not failure or not within:
        return failure
    seen, RECORDER.events = RECORDER.events, []
    failures = [run(part, part.config, question) for part in within]
    if any(failures):
        RECORDER.events = seen + RECORDER.events
    return failure if all(failures) else next(filter(None, failures), None)


def answer_made(config, question):
    """What the model of a config does."""
    try:
        model = build(config)
    except TooLong:
        raise
    except Exception as error:  # whatever the library raises
        return {"unbuilt": f"{type(error).__name__}: {error}"[:200]}
    RECORDER.events = None
    failure = "no forward"
    if not question.get("still"):
        RECORDER.begin(model, question["rows"])
        try:
            failure = run(model, config, question)
        except TooLong:
            failure = "it takes too long"
    found = {"class": type(model).__name__, **describe(model, RECORDER)}
    return {**found, "failure": failure} if failure else found


if __name__ == "__main__":
    torch.manual_seed(0)
    RECORDER.install()
    serve(defaults, answer)
