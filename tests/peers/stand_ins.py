"""What a library imports and positions do not need, so that its code runs with torch alone:
modules whose every name is an empty class or a function that does nothing."""

import dataclasses
import functools
import importlib.machinery
import importlib.metadata
import re
import sys
import types

import torch

# The packages, with the releases that a library is told. Where one is installed it is not used.
PACKAGES = {
    "PIL": "11.1.0",  # of diffusers
    "accelerate": None,
    "click": None,
    "hf_xet": None,
    "httpcore": None,
    "httpx": None,
    "huggingface_hub": "1.29.0",
    "requests": "2.32.3",
    "rich": None,
    "safetensors": "0.8.0",
    "shellingham": None,
    "tokenizers": "0.22.1",
    "typer": None,
}
OLD_RELEASES = {"huggingface_hub": "0.33.0", "tokenizers": "0.21.1"}  # before transformers 5


class Anything:
    """Is called, and has every attribute."""

    def __init__(self, *args, **named):
        pass

    def __call__(self, *args, **named):
        return Anything()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()


class Anyone(type):
    """The class of classes that have every attribute."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything()


class StandIn(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if re.match(r"[A-Z]{2,}(_|$)", name):
            value = "/nonexistent"  # a constant, such as HF_HUB_CACHE
        elif name[0].isupper():
            error = name.endswith(("Error", "Exception", "Timeout", "Enabled"))
            subscript = classmethod(lambda cls, item: cls)
            members = {"__init__": Anything.__init__, "__class_getitem__": subscript}
            value = Anyone(name, (Exception if error else object,), members)
        else:
            value = Anything()
        setattr(self, name, value)
        return value


class Finder:
    """Finds a stand-in for each module of PACKAGES."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in PACKAGES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = StandIn(spec.name)
        module.__version__ = PACKAGES[spec.name.split(".")[0]] or "0"
        return module

    def exec_module(self, module):
        pass


def strict(cls=None, *, accept_kwargs=False):
    """huggingface_hub's decorator of configs: it calls all their validate_… when one is made.
    The kinds of values are not checked."""
    del accept_kwargs  # the library's own classes see to it
    if cls is None:
        return strict
    checks = [getattr(cls, name) for name in dir(cls) if name.startswith("validate_")]
    initialise = cls.__init__

    def validate(self):
        for check in checks:
            check(self)

    @functools.wraps(initialise)
    def initialise_and_validate(self, *args, **named):
        initialise(self, *args, **named)
        self.validate()

    cls.validate, cls.__init__ = validate, initialise_and_validate
    return cls


def as_validated_field(validator):
    """huggingface_hub's decorator of a check: what makes a dataclass's field, without it."""
    del validator
    return lambda **named: dataclasses.field(**named)


def install(is_old):
    """Let imports find the stand-ins; `is_old`: as a library from before transformers 5 wants
    them."""
    sys.meta_path.insert(0, Finder())
    PACKAGES.update(OLD_RELEASES if is_old else {})
    installed = importlib.metadata.version

    def version(name):
        return PACKAGES.get(name.replace("-", "_")) or installed(name)

    importlib.metadata.version = version
    import huggingface_hub
    import huggingface_hub.constants
    import huggingface_hub.dataclasses
    import huggingface_hub.utils

    huggingface_hub.is_offline_mode = lambda: True
    huggingface_hub.utils.is_torch_available = lambda: True
    huggingface_hub.dataclasses.strict = strict
    huggingface_hub.dataclasses.as_validated_field = as_validated_field
    checks = types.ModuleType("transformers.dependency_versions_check")
    checks.dep_version_check = lambda *args, **named: None
    sys.modules[checks.__name__] = checks


class Elsewhere(torch.nn.Module):
    """In place of a model of timm."""


def let_packages_be_missing(library):
    """Let classes be made that ask for packages which are not there, as far as these do not
    make their positions; before the library's modules of models are imported."""
    for module in (library.utils, library.utils.import_utils):
        module.requires_backends = lambda *args: None
    texts = sys.modules.get("transformers.utils.auto_docstring")
    if texts:  # which asks for lists of processors that are not there
        texts.get_placeholders_dict = lambda *args: {}
    try:
        configs, models = (
            importlib.import_module(f"transformers.models.timm_wrapper.{kind}_timm_wrapper")
            for kind in ("configuration", "modeling")
        )
    except ImportError:  # an old release
        return
    configs.infer_imagenet_subset = lambda config: None
    models._create_timm_model_with_error_handling = lambda *args, **named: Elsewhere()
