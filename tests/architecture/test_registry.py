"""The registry: names of classes' own, plain subclasses that replace nobody, specifications."""

import importlib
import inspect

import pytest

import sgmc
from sgmc import registry
from sgmc.core.spec import SamplerSpec
from sgmc.errors import ArgumentError


@pytest.mark.parametrize("kind", sorted(registry.ROOMS))
def test_rooms_hold_classes_with_a_name_of_their_own(kind):
    room = registry.room(kind)
    assert room
    for name, cls in room.items():
        assert vars(cls)["name"] == name == name.lower()
        assert name.isidentifier()
        assert cls.room == kind
        assert registry.lookup(kind, name.upper(), kind) is cls
        assert inspect.getdoc(cls)


def test_a_plain_subclass_replaces_nobody(monkeypatch):
    rooms = {kind: dict(registry.room(kind)) for kind in registry.ROOMS}
    room = rooms["samplers"]
    monkeypatch.setattr(registry, "room", rooms.__getitem__)

    class Mine(sgmc.SGLD):
        """A variant."""

    with pytest.raises(ArgumentError, match="Mine needs a class attribute `name` of its own"):
        registry.register(Mine)
    assert room["sgld"] is sgmc.SGLD

    class Named(sgmc.SGLD):
        """A variant with a name."""

        name = "mine"

    assert registry.register(Named) is Named and room["mine"] is Named and room["sgld"] is sgmc.SGLD
    assert registry.sampler_and_gradient("mine-cv", None) == (Named(), "cv")
    with pytest.raises(ArgumentError, match="Homeless is neither a sampler"):
        registry.register(type("Homeless", (), {"name": "homeless"}))


def test_a_module_that_imports_a_class_does_not_rename_it(monkeypatch):
    module = importlib.import_module("sgmc.samplers.langevin")
    monkeypatch.setattr(
        module,
        "Copy",
        type("Copy", (module.SGLD,), {"__doc__": "A plain subclass."}),
        raising=False,
    )
    registry.room.cache_clear()
    try:
        assert registry.room("samplers")["sgld"] is module.SGLD
    finally:
        registry.room.cache_clear()


@pytest.mark.parametrize("name", sorted(registry.room("samplers")))
def test_specifications_are_small_picklable_values(name):
    import pickle

    cls = registry.room("samplers")[name]
    for spec in [cls(), *(cls(**{p.name: c}) for p in cls.parameters for c in p.choices)]:
        again = pickle.loads(pickle.dumps(spec))
        assert again == spec and hash(again) == hash(spec) and repr(again) == repr(spec)
        assert eval(repr(spec), {cls.__name__: cls}) == spec
    assert cls.describe().startswith(f"{name}: ")
    assert all(p.name in cls.describe() for p in cls.parameters)
    assert issubclass(cls, SamplerSpec)
