"""What stands for modules that were left out of a package.

The package holds this file itself, so it imports nothing.
"""

_USES = """
    add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor radd rsub rmul
    rmatmul rtruediv rfloordiv rmod rdivmod rpow rlshift rrshift rand ror rxor iadd isub imul
    imatmul itruediv ifloordiv imod ipow ilshift irshift iand ior ixor neg pos abs invert complex
    int float index round trunc floor ceil bool len length_hint iter next reversed contains getitem
    setitem delitem missing call enter exit aenter aexit await aiter anext get set delete lt le eq
    ne gt ge hash dir setattr delattr getattr instancecheck subclasscheck copy deepcopy reduce
    reduce_ex getnewargs getnewargs_ex getstate setstate bytes fspath sizeof
"""


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


def _refused(use: str) -> object:
    def refuse(self: MockedObject, *args: object, **kwargs: object) -> None:
        raise NotImplementedError(
            f"Object '{self._name}' was mocked out during packaging but it is being used in {use}"
        )

    return refuse


for _use in _USES.split():
    setattr(MockedObject, f"__{_use}__", _refused(f"__{_use}__"))
