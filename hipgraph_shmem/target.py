"""Target: the processor and settings that a code object is made for, and which device takes it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PROCESSORS", "Target", "compatible", "why_not"]

FEATURES = ("sramecc", "xnack")

# LLVM, "User Guide for AMDGPU Backend", table EF_AMDGPU_MACH: the low byte of e_flags.
_MACHINES = (
    (0x20, "gfx600 gfx601 gfx700 gfx701 gfx702 gfx703 gfx704 - gfx801 gfx802 gfx803 gfx810"),
    (0x2C, "gfx900 gfx902 gfx904 gfx906 gfx908 gfx909 gfx90c gfx1010 gfx1011 gfx1012 gfx1030"),
    (0x37, "gfx1031 gfx1032 gfx1033 gfx602 gfx705 gfx805 gfx1035 gfx1034 gfx90a gfx940 gfx1100"),
    (0x42, "gfx1013 gfx1150 gfx1103 gfx1036 gfx1101 gfx1102 gfx1200 gfx1250 gfx1151 gfx941"),
    (0x4C, "gfx942 - gfx1201 gfx950 - gfx9-generic gfx10-1-generic gfx10-3-generic"),
    (0x54, "gfx11-generic gfx1152 - - gfx1153 gfx12-generic gfx1251 - - - - gfx9-4-generic"),
)

PROCESSORS = tuple(
    (first + step, name)
    for first, names in _MACHINES
    for step, name in enumerate(names.split())
    if name != "-"
)

# The same guide, table "AMDGPU Generic Processors".
_GENERIC = (
    ("gfx9-generic", "gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c"),
    ("gfx9-4-generic", "gfx940 gfx941 gfx942 gfx950"),
    ("gfx10-1-generic", "gfx1010 gfx1011 gfx1012 gfx1013"),
    ("gfx10-3-generic", "gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036"),
    ("gfx11-generic", "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153"),
    ("gfx12-generic", "gfx1200 gfx1201"),
)


@dataclass(frozen=True, slots=True)
class Target:
    """A processor, and the features that are named: None means any setting, or none at all."""

    processor: str
    sramecc: bool | None = None
    xnack: bool | None = None

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read a target such as gfx942:sramecc+:xnack-; the order of features is free.

        Raises:
            ValueError: a feature that is not a known name with + or -, or is named twice.
        """
        processor, *words = text.split(":")
        settings: dict[str, bool] = {}
        for word in words:
            name, sign = word[:-1], word[-1:]
            if name not in FEATURES or sign not in "+-" or name in settings:
                wanted = ", ".join(f"{feature}+ or {feature}-" for feature in FEATURES)
                raise ValueError(f"target={text!r}: {word!r} is not one of {wanted}, once each")
            settings[name] = sign == "+"
        if not processor.startswith("gfx"):
            raise ValueError(f"target={text!r}: a processor starts with gfx, for example gfx942")
        return cls(processor, settings.get("sramecc"), settings.get("xnack"))

    @property
    def named(self) -> tuple[tuple[str, bool], ...]:
        """The features that are named, with their setting."""
        settings = (("sramecc", self.sramecc), ("xnack", self.xnack))
        return tuple((name, setting) for name, setting in settings if setting is not None)

    def covers(self, processor: str) -> bool:
        """Whether code for this processor is code for the other, one processor or generic."""
        return (
            processor == self.processor
            or processor in dict(_GENERIC).get(self.processor, "").split()
        )

    def __str__(self) -> str:
        features = (f"{name}{'+' if setting else '-'}" for name, setting in self.named)
        return ":".join([self.processor, *features])


def compatible(object_target: Target, device_target: Target) -> bool:
    """Tell whether a device takes a code object.

    The processor must be the device's or generic over it; a feature that the object names must
    have the device's setting (a device without the feature takes no object that names it).
    """
    return not why_not(object_target, device_target)


def why_not(object_target: Target, device_target: Target) -> str:
    """Say why a device does not take a code object; empty if it does."""
    if not object_target.covers(device_target.processor):
        return f"object is for {object_target.processor}, device is {device_target.processor}"
    device = dict(device_target.named)
    for name, setting in object_target.named:
        wanted = f"{name}{'+' if setting else '-'}"
        if name not in device:
            return f"object needs {wanted}, device has no {name}"
        if device[name] is not setting:
            hint = f" (HSA_XNACK={int(setting)}?)" if name == "xnack" else ""
            return f"object needs {wanted}, device runs {name}{'-' if setting else '+'}{hint}"
    return ""
