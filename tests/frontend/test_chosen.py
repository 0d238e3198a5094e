"""What programs choose for a process, and what threads make beside them."""

from threading import Event

import pytest

from rushlight.frontend.foundations import beside
from rushlight.frontend.foundations.beside import Beside
from rushlight.frontend.foundations.chosen import Chosen


def test_what_is_chosen_holds_until_it_is_exchanged() -> None:
    chosen = Chosen("usual")
    assert chosen.exchange("one") == "usual"
    with chosen.within("two"):
        assert chosen.asked() == "two"
    assert chosen.now == "one"


def test_what_a_thread_makes_is_under_way_until_it_is_made() -> None:
    under_way, go_on, made = Beside[str]("making"), Event(), Event()

    def make() -> None:
        go_on.wait()
        made.set()

    under_way.begin("it", make)
    assert "it" in under_way
    assert len(under_way) == 1
    go_on.set()
    assert made.wait(60)
    while "it" in under_way:
        pass


def test_a_forked_child_begins_anew() -> None:
    under_way, again = Beside[str]("making"), list[str]()
    go_on = Event()
    under_way.begin("it", go_on.wait, lambda: again.append("it"))
    under_way.begin("other", go_on.wait)
    under_way.forget()
    go_on.set()
    assert again == ["it"]
    assert not under_way


def test_what_no_thread_can_make_is_not_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    under_way = Beside[str]("making")
    for message in ("can't start new thread", "another"):
        monkeypatch.setattr(beside.Thread, "start", lambda _, message=message: _fail(message))
        if message == "another":
            with pytest.raises(RuntimeError, match="another"):
                under_way.begin("it", _nothing)
        else:
            under_way.begin("it", _nothing)
        assert "it" not in under_way


def test_what_an_interrupt_kept_from_beginning_is_not_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    under_way = Beside[str]("making")
    monkeypatch.setattr(beside.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        under_way.begin("it", _nothing)
    assert "it" not in under_way


def _fail(message: str) -> None:
    raise RuntimeError(message)


def _nothing() -> None: ...
