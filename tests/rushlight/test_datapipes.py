"""Pipes of samples; the expected values are those of torch 2.13."""

from __future__ import annotations

import io
import pickle
import warnings
from typing import Any

import pytest

import rushlight as torch
from rushlight.utils.data import (
    DataChunk,
    DataLoader,
    IterDataPipe,
    functional_datapipe,
    guaranteed_datapipes_determinism,
    non_deterministic,
)
from rushlight.utils.data.datapipes.iter import (
    FileLister,
    FileOpener,
    IterableWrapper,
    Sampler,
    StreamReader,
)
from rushlight.utils.data.datapipes.map import SequenceWrapper
from rushlight.utils.data.datapipes.utils.common import StreamWrapper, validate_input_col
from rushlight.utils.data.datapipes.utils.decoder import Decoder, basichandlers, handle_extension
from rushlight.utils.data.datapipes.utils.snapshot import _simple_graph_snapshot_restoration
from rushlight.utils.data.graph import traverse_dps
from rushlight.utils.data.graph_settings import apply_sharding, get_all_graph_pipes


def numbers(end: int = 6) -> Any:
    return IterableWrapper(range(end))


def double(x: int) -> int:
    return 2 * x


def is_even(x: int) -> bool:
    return x % 2 == 0


def is_odd(x: int) -> int:
    return x % 2


def third(x: int) -> int:
    return x % 3


def fail(x: int) -> int:
    raise ValueError("no")


def add(x: int, y: int) -> int:
    return x + y


def test_functions_of_samples_and_of_columns() -> None:
    assert list(numbers().map(double).filter(is_even)) == [0, 2, 4, 6, 8, 10]
    rows = IterableWrapper([(1, 2, 3), (4, 5, 6)])
    assert list(rows.map(add, input_col=[0, 2])) == [(4, 2), (10, 5)]
    assert list(rows.map(add, input_col=[0, 2], output_col=1)) == [(1, 4, 3), (4, 10, 6)]
    assert list(rows.map(double, input_col=1, output_col=-1)) == [(1, 2, 3, 4), (4, 5, 6, 10)]
    with pytest.raises(ValueError, match="The function add takes 2 parameters, but 3 are required"):
        rows.map(add, input_col=[0, 1, 2])
    with pytest.raises(ValueError, match="takes 2 positional parameters, but 1 are required"):
        validate_input_col(add, 0)
    with pytest.raises(ValueError, match="`output_col` must be None when"):
        rows.map(double, output_col=1)


def test_batches_and_groups() -> None:
    assert list(numbers(5).batch(2)) == [[0, 1], [2, 3], [4]]
    assert isinstance(next(iter(numbers().batch(2))), DataChunk)
    assert len(numbers(5).batch(2, drop_last=True)) == 2
    assert list(numbers(4).batch(2).batch(2).unbatch(-1)) == [0, 1, 2, 3]
    with pytest.raises(IndexError, match="unbatch_level 2 exceeds the depth of the DataPipe"):
        list(numbers(4).batch(2).unbatch(2))
    assert list(numbers(8).groupby(third)) == [[0, 3, 6], [1, 4, 7], [2, 5]]
    small = numbers(8).groupby(third, buffer_size=4, group_size=3, guaranteed_group_size=2)
    assert list(small) == [[0, 3], [1, 4], [2, 5], [6], [7]]


def test_several_pipes() -> None:
    assert list(numbers(2).concat(numbers(3))) == [0, 1, 0, 1, 2]
    assert list(numbers(2).zip(numbers(3))) == [(0, 0), (1, 1)]
    assert list(numbers(3).mux(numbers(5), numbers(3))) == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    one, two = numbers(4).fork(2)
    assert list(zip(one, two, strict=True)) == [(0, 0), (1, 1), (2, 2), (3, 3)]
    even, odd = numbers(6).demux(2, is_odd)
    assert (list(odd), list(even)) == ([1, 3, 5], [0, 2, 4])


def test_a_child_may_not_run_ahead_of_its_buffer() -> None:
    one, _ = numbers(4).fork(2, buffer_size=1)
    ahead = iter(one)
    assert next(ahead) == 0
    with pytest.raises(BufferError, match="ForkerIterDataPipe buffer overflow,buffer size 1"):
        next(ahead)
    even, _ = numbers(9).demux(2, is_even, buffer_size=2)
    with pytest.raises(BufferError, match="DemultiplexerIterDataPipe buffer overflow, buffer size"):
        list(even)


def test_a_pipe_has_one_iterator() -> None:
    pipe = numbers(3)
    first = iter(pipe)
    assert next(first) == 0
    second = iter(pipe)
    assert next(second) == 0
    with pytest.raises(RuntimeError, match="This iterator has been invalidated because another"):
        next(first)
    one, _ = numbers(3).fork(2)
    old = iter(one)
    next(old)
    with pytest.warns(UserWarning, match="Some child DataPipes are not exhausted"):
        iter(one)
    with pytest.raises(RuntimeError, match="one of the ChildDataPipes of _ForkerIterDataPipe"):
        next(old)


def test_errors_name_the_pipe() -> None:
    with pytest.raises(ValueError, match="no") as caught:
        list(numbers(2).map(fail).batch(2))
    told = "no\nThis exception is thrown by __iter__ of MapperIterDataPipe(datapipe="
    assert str(caught.value).startswith(told)


def test_orders_are_drawn_as_torch_draws_them() -> None:
    assert list(numbers(10).shuffle().set_seed(0)) == [6, 7, 0, 3, 8, 5, 9, 2, 4, 1]
    assert list(numbers(10).shuffle(buffer_size=3).set_seed(1)) == [0, 2, 3, 1, 5, 6, 8, 9, 4, 7]
    torch.manual_seed(3)
    assert list(numbers(6).shuffle()) == [1, 2, 5, 3, 4, 0]
    assert list(SequenceWrapper(range(6)).shuffle().set_seed(0)) == [4, 2, 1, 0, 5, 3]
    assert list(Sampler(numbers(3))) == [0, 1, 2]


def test_loaders() -> None:
    torch.manual_seed(0)
    loader = DataLoader(numbers().shuffle(), shuffle=True, batch_size=3)
    assert [batch.tolist() for batch in loader] == [[4, 0, 3], [5, 2, 1]]
    assert [batch.tolist() for batch in loader] == [[3, 4, 0], [2, 5, 1]]
    kept = DataLoader(numbers().shuffle(), shuffle=False, batch_size=3)
    assert [batch.tolist() for batch in kept] == [[0, 1, 2], [3, 4, 5]]
    assert len(kept) == 2
    with pytest.warns(UserWarning, match="the datapipe does not contain a `Shuffler`"):
        DataLoader(numbers(), shuffle=True)
    by_key = DataLoader(SequenceWrapper(range(4)).map(double), batch_size=2)
    assert [batch.tolist() for batch in by_key] == [[0, 2], [4, 6]]


def test_mappings() -> None:
    pipe = SequenceWrapper(range(5)).map(double)
    assert (list(pipe.batch(2)), len(pipe.batch(2))) == ([[0, 2], [4, 6], [8]], 3)
    assert list(pipe.concat(SequenceWrapper([7]))) == [0, 2, 4, 6, 8, 7]
    assert list(pipe.zip(SequenceWrapper("ab"))) == [(0, "a"), (2, "b")]
    with pytest.raises(IndexError, match="Index 9 is out of range"):
        pipe.concat(SequenceWrapper([7]))[9]


def test_shares_and_graphs() -> None:
    pipe = numbers(7).shuffle().sharding_filter().map(double)
    apply_sharding(pipe.shuffle(), 3, 1)
    sharded = pipe.datapipe
    assert (sharded.num_of_instances, sharded.instance_id, len(pipe)) == (3, 1, 2)
    names = [str(each) for each in get_all_graph_pipes(traverse_dps(pipe))]
    assert names == [
        "MapperIterDataPipe",
        "ShardingFilterIterDataPipe",
        "ShufflerIterDataPipe",
        "IterableWrapperIterDataPipe",
    ]
    with pytest.raises(RuntimeError, match="Sharding twice on a single pipeline"):
        apply_sharding(pipe.sharding_filter(), 2, 0)


def test_pickles_and_snapshots() -> None:
    pipe = numbers().map(double).batch(2)
    again = pickle.loads(pickle.dumps(pipe))
    assert list(again) == [[0, 2], [4, 6], [8, 10]]
    _simple_graph_snapshot_restoration(again, 2)
    assert list(again) == [[8, 10]]
    with pytest.raises(RuntimeError, match="Fast-forward BatcherIterDataPipe by 4 iterations"):
        _simple_graph_snapshot_restoration(pipe, 4)
    even, _ = pickle.loads(pickle.dumps(numbers(4).demux(2, is_even)))
    assert list(even) == [1, 3]


def test_files(tmp_path: Any) -> None:
    (tmp_path / "b.txt").write_text("beta")
    (tmp_path / "a.txt").write_text("alpha")
    (tmp_path / "c.json").write_text("[1, 2]")
    paths = FileLister(str(tmp_path), "*.txt")
    read = StreamReader(FileOpener(paths, mode="rt"), chunk=3)
    assert [part for _, part in read] == ["alp", "ha", "bet", "a"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decoded = FileOpener(FileLister(str(tmp_path)), mode="b").routed_decode()
    assert [value for _, value in decoded] == ["alpha", "beta", [1, 2]]
    with pytest.raises(ValueError, match="Invalid mode w"):
        FileOpener(paths, mode="w")


def test_decoders() -> None:
    decoder = Decoder(handle_extension("seg.x x", len), basichandlers)
    assert decoder([("a.cls", b"12"), ("_n", b"t"), ("b.x", b"abc")]) == {
        "a.cls": 12,
        "_n": "t",
        "b.x": 3,
    }
    saved = io.BytesIO()
    torch.save(torch.ones(2), saved)
    assert basichandlers("pt", saved.getvalue()).tolist() == [1, 1]


def test_streams_close_with_the_last_that_was_made_of_them() -> None:
    parent = StreamWrapper(io.StringIO("x"))
    child = StreamWrapper(io.StringIO("y"), parent, name="c")
    parent.autoclose()
    assert not parent.closed
    assert repr(child).startswith("StreamWrapper<c,<_io.StringIO")
    child.close()
    assert parent.closed
    assert parent.file_obj.closed


def test_decorators() -> None:
    @functional_datapipe("tripled_for_this_test")
    class Tripled(IterDataPipe[int]):
        def __init__(self, source: Any) -> None:
            self.source = source

        def __iter__(self) -> Any:
            for x in self.source:
                yield 3 * x

    assert list(numbers(3).tripled_for_this_test()) == [0, 3, 6]
    with pytest.raises(Exception, match="as it is already taken"):
        functional_datapipe("tripled_for_this_test")(Tripled)
    marked = non_deterministic(Tripled)
    assert list(marked(numbers(2))) == [0, 3]
    with guaranteed_datapipes_determinism(), pytest.raises(TypeError, match="non-deterministic"):
        marked(numbers(2))
