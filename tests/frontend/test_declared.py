"""Tables that declarations fill."""

import pytest

from rushlight.frontend.foundations.declared import Declared


def test_a_decorated_function_is_the_entry_of_all_its_keys() -> None:
    table: Declared[str, object] = Declared()

    @table.of("one", "two")
    def function() -> None: ...

    assert table == {"one": function, "two": function}


def test_nothing_is_declared_twice() -> None:
    table = Declared({"one": 1})
    with pytest.raises(ValueError, match="'one' is declared twice"):
        table.put(["zero", "one"], 2)
    assert table["one"] == 1
    table.exchange("one", 3)
    assert table["one"] == 3
