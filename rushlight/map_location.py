"""What the `map_location` of loaders means: data in memory, or tensors without data."""

from __future__ import annotations

__all__ = ["NO_CARD", "check_location", "check_target", "means_meta"]

NO_CARD = (
    "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If "
    "you are running on a CPU-only machine, please use torch.load with "
    "map_location=torch.device('cpu') to map your storages to the CPU."
)
"""torch's words for tensors that shall go to a card."""


def _location(map_location: object) -> str:
    """Where data of the CPU shall go; nobody knows that of functions, which count as "cpu"."""
    if isinstance(map_location, dict):
        map_location = map_location.get("cpu")
    return "cpu" if map_location is None or callable(map_location) else str(map_location)


def means_meta(map_location: object) -> bool:
    """Whether tensors shall lie on the device `meta`: a name, a device, or a dict says so."""
    return _location(map_location).partition(":")[0] == "meta"


def check_location(map_location: object, *others: str) -> None:
    """Accept what means the CPU: None, a name, a device, a dict or a function of locations.

    `others` are devices that will do as well.

    Raises:
        RuntimeError: it means another device.
    """
    if map_location is None or callable(map_location):
        return
    wanted = map_location.values() if isinstance(map_location, dict) else (map_location,)
    for location in wanted:
        if str(location).partition(":")[0] not in ("cpu", *others):
            raise RuntimeError(f"map_location {map_location!r}: only 'cpu' exists here")


def check_target(map_location: object) -> None:
    """Refuse a device that tensors shall go to and that is not there.

    Raises:
        RuntimeError: it is such.
    """
    location = _location(map_location)
    kind = location.partition(":")[0]
    if kind == "cuda":
        raise RuntimeError(NO_CARD)
    if kind not in ("cpu", "meta"):
        raise RuntimeError(
            "don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
            f"{location})"
        )
