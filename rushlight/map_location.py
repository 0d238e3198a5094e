"""What the `map_location` of loaders means: data in memory, or tensors without data."""

from __future__ import annotations

__all__ = ["check_location", "means_meta"]


def means_meta(map_location: object) -> bool:
    """Whether tensors shall lie on the device `meta`: a name, a device, or a dict says so."""
    if isinstance(map_location, dict):
        map_location = map_location.get("cpu")
    return not callable(map_location) and str(map_location).partition(":")[0] == "meta"


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
