"""What stands for modules that were left out of a package.

The package holds this file itself, so it imports nothing.
"""

_TYPES = (int, complex, str, bytes, list, dict, set, memoryview, type, type(iter(())))

_OTHER_USES = """
    __matmul__ __rmatmul__ __trunc__ __call__ __enter__ __exit__ __aenter__ __aexit__ __await__
    __aiter__ __anext__ __get__ __set__ __delete__ __getattr__ __setattr__ __delattr__ __missing__
    __copy__ __deepcopy__ __fspath__ __complex__ __bytes__
"""

_ALLOWED = (
    "__new__ __init__ __repr__ __str__ __format__ __class__ __dict__ __doc__ __getattribute__"
)

_OF_CLASSES = "__init_subclass__ __subclasshook__ __mro__ __base__ __basicsize__ __class_getitem__"


class MockedObject:
    """Something of a module that was left out: it may be imported, and every use of it fails."""

    _name: str

    def __new__(
        cls, *args: object, _suppress_err: bool = False, **kwargs: object
    ) -> "MockedObject":
        if not _suppress_err:
            raise NotImplementedError(
                f"Object '{cls.__module__}.{cls.__name__}' was mocked out during packaging but it "
                "is being used in __new__"
            )
        return super().__new__(cls)

    def __init__(self, name: str, _suppress_err: bool) -> None:
        self.__dict__["_name"] = name

    def __repr__(self) -> str:
        return f"MockedObject({self._name})"


def _uses() -> set[str]:
    """The special methods that Python's own types have, and those that statements call."""
    names = {name for kind in _TYPES for name in dir(kind) if callable(getattr(kind, name, None))}
    names.update(_OTHER_USES.split())
    turned = {name for name in names if name[:3] == "__r" and f"__{name[3:]}" in names}
    names.update(f"__i{name[3:]}" for name in turned)  # `__iadd__` of `__radd__`
    special = {name for name in names if name.startswith("__") and name.endswith("__")}
    return special - set(_ALLOWED.split()) - set(_OF_CLASSES.split())


def _refused(use: str) -> object:
    def refuse(self: MockedObject, *args: object, **kwargs: object) -> None:
        raise NotImplementedError(
            f"Object '{self._name}' was mocked out during packaging but it is being used in {use}"
        )

    return refuse


for _use in sorted(_uses()):
    setattr(MockedObject, _use, _refused(_use))
