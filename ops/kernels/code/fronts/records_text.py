"""The native side of eager calls that want gradients: where operands came from, and the node.

What `gradients/recording/native_records.py` writes down of the calls of a way is in 64-bit words:

    told     the address of the book; flags; a mask of the operator's arguments that must be floats;
             how many arguments have gradients, and the address of their places; how many arguments
             there are, and the address of four words for each; a mask of those whose gradient
             needs the result; the node's class, row, places and way back; who ends a call that gave
             something else; who chooses the class, and who looks at the operands, or 0; a mask
             of the results that are read; which argument is a list; a mask as below of its
             tensors; what several views are told that they are among, or 0; how long the list is;
             a mask of the arguments that must be whole numbers; the address of what is told of
             calls with others, or 0; the address of keys of operands' sizes, the list of what nodes
             are told of them and of the classes of these, and whether they follow from sizes; where
             the first argument is written, which of those that have gradients it is, or None; a
             mask of the arguments that may not require gradients
    argument a mask of the arguments whose gradients need it, -1 for what is no tensor; whether its
             sizes are kept where it is not; whether how it lies is, too; its number among those
             that have gradients, -1 for others

A mask has a bit for each of the operator's arguments.  The flags are: 1 the result is a view of the
first one, or several are; 2 there are several; 4 there are no gradients, but whoever ends the call
is asked of results that are no whole numbers; 8 there are none whatever the results are; 16 what
has gradients is the list among the arguments, whose elements are what is counted and placed; 32
another argument is a list of tensors, of whole numbers; 64 the first argument is written.  Where
one is a list, places are those of the others.
The book is the same for all: what `BOOK` names.  Where anything is not as usual, the call is left
to what records it in Python, before the operator has run.
"""

from __future__ import annotations

from typing import Final

from .history_text import HISTORY
from .kept_text import KEPT

__all__ = ["BOOK", "RECORDS", "SHAPES_BITS", "SHAPES_WORDS"]

SHAPES_BITS: Final = 4
"""Sizes of operands of which nodes share what they are told: two to this power for each way."""
SHAPES_WORDS: Final = 10
"""Words of a key for an operand: its dtype, its rank and sizes, of up to eight dimensions."""

BOOK: Final = (
    *("turns", "anomalies", "memories", "packings", "bounding", "is_plain", "numbers"),
    *("ask_edge", "ask_version", "describe", "saved_type", "meta_type", "unread"),
    *("ending", "end_type", "end_word"),
    *("node_word", "number_word", "version_word", "no_bounds", "zero", "one"),
    *("retains_word", "copy_before", "part_type", "behind"),
    *("s_array", "s_edge", "s_handle", "s_number", "s_packed", "s_version"),
    *("m_columns", "m_kind", "m_sizes"),
    *("n_attached", "n_bounds", "n_edges", "n_sequence", "n_arguments", "n_bound", "n_places"),
    *("n_results", "n_shapes", "n_back", "n_count", "n_lie"),
    *("e_variable", "w_inner", "w_lies", "w_own", "n_writes_for", "soon"),
)
"""Lists whose one element says whether history changes, is traced for errors, or has to do with
memory for inference, packed tensors or bounds; who says that neither of the latter is so here;
where nodes get their numbers; who knows where a tensor came from, which
version its memory has, and how a tensor lies that is not kept; types; a list that is empty unless
Python makes the node of a leaf just now, the type of such nodes, and by which name leaves know
them; the names of what tensors know; objects; the name of what says whether a tensor's gradient is
kept, what copies a tensor that will be written, the type of nodes of tensors a view of which was,
and a version that memory never has; and where in a `Saved`, a `Meta`, a node, one of a leaf and one
of a written view their parts lie; what numbers of leaves' nodes are less than."""

RECORDS: Final = (
    HISTORY
    + KEPT
    + """
define internal ptr @chosen(ptr %table, ptr %told, ptr %handles, ptr %values, i64 %who, \
ptr %result) {
entry:
  %room = alloca [{handles_room} x ptr], align 64
{front_loads}
  %count = load i64, ptr %told at i64 5
  %chooser = inttoptr i64 %who to ptr
  %is_alone = icmp eq ptr %result, null
  %before = select i1 %is_alone, i64 0, i64 1
  store ptr %result, ptr %room
  %given = getelementptr ptr, ptr %room, i64 %before
  %total = add i64 %count, %before
next:
  %i = phi i64 [0, %entry], [%i1, %look]
  br ult i64 %i, %count, label %look, label %ask
look:
  %tensor = load ptr, ptr %handles at ptr %i
  %value = load ptr, ptr %values at ptr %i
  %is_plain = icmp eq ptr %tensor, null
  %one_of = select i1 %is_plain, ptr %value, ptr %tensor
  store ptr %one_of, ptr %given at ptr %i
  %i1 = add i64 %i, 1
  br label %next
ask:
  %answer = call ptr %call_with(ptr %chooser, ptr %room, i64 %total, ptr null)
  ret ptr %answer
}

define internal ptr @new_node(ptr %table, ptr %told, ptr %handles, ptr %values, ptr %edges, \
i64 %smooth, ptr %tensors, ptr %arrays) {
entry:
  %place_of_class = alloca ptr
  %book = load ptr, ptr %told
{front_loads}
{book_loads}
  %class = load ptr, ptr %told at i64 8
  %bound = load ptr, ptr %told at i64 9
  %places = load ptr, ptr %told at i64 10
  %back = load ptr, ptr %told at i64 11
  %chooser = load i64, ptr %told at i64 13
  %looks = load i64, ptr %told at i64 14
  %flags = load i64, ptr %told at i64 1
  %list_flag = and i64 %flags, 16
  %is_of_list = icmp ne i64 %list_flag, 0
  %smooth_arrays = select i1 %is_of_list, ptr %arrays, ptr %values
  %shapes = call ptr @known_shapes(ptr %table, ptr %told, ptr %smooth_arrays, ptr %place_of_class)
  br eq ptr %shapes, null, label %drop_edges
  %arguments = call ptr @kept_arguments(ptr %table, ptr %told, ptr %handles, ptr %values, \
ptr %edges, i64 %smooth, ptr %tensors, ptr %arrays, ptr %shapes)
  br eq ptr %arguments, null, label %drop_shapes, label %choose
choose:
  %is_one = icmp eq i64 %chooser, 0
  br i1 %is_one, label %make
  %its_class_place = load ptr, ptr %place_of_class
  %follows_word = load i64, ptr %told at i64 24
  %follows = icmp ne i64 %follows_word, 0
  %has_place = icmp ne ptr %its_class_place, null
  %may_be_known = and i1 %follows, %has_place
  br not i1 %may_be_known, label %ask_class
  %its_class = load ptr, ptr %its_class_place
  br eq ptr %its_class, %none, label %ask_class, label %take_class
take_class:
  call void %hold(ptr %its_class)
  br label %make
ask_class:
  %picked = call ptr @chosen(ptr %table, ptr %told, ptr %handles, ptr %values, i64 %chooser, \
ptr null)
  br eq ptr %picked, null, label %drop_arguments, label %note_class
note_class:
  br i1 %may_be_known, label %put_class, label %make
put_class:
  call void %hold(ptr %picked)
  %before = load ptr, ptr %its_class_place
  store ptr %picked, ptr %its_class_place
  call void %drop(ptr %before)
make:
  %kind = phi ptr [%class, %choose], [%its_class, %take_class], [%picked, %note_class], \
[%picked, %put_class]
  %node = call ptr @instance(ptr %kind)
  br i1 %is_one, label %made
  call void %drop(ptr %kind)
made:
  br eq ptr %node, null, label %drop_arguments
  call void @put(ptr %node, ptr %n_edges, ptr %edges)
  call void @put(ptr %node, ptr %n_arguments, ptr %arguments)
  call void %hold(ptr %none)
  call void @put(ptr %node, ptr %n_attached, ptr %none)
  call void %hold(ptr %no_bounds)
  call void @put(ptr %node, ptr %n_bounds, ptr %no_bounds)
  call void %hold(ptr %bound)
  call void @put(ptr %node, ptr %n_bound, ptr %bound)
  call void %hold(ptr %places)
  call void @put(ptr %node, ptr %n_places, ptr %places)
  call void %hold(ptr %back)
  call void @put(ptr %node, ptr %n_back, ptr %back)
  call void %hold(ptr %one)
  call void @put(ptr %node, ptr %n_count, ptr %one)
  %number = call ptr %next_of(ptr %numbers)
  call void @put(ptr %node, ptr %n_sequence, ptr %number)
  call void @put(ptr %node, ptr %n_shapes, ptr %shapes)
  br eq i64 %looks, 0, label %no_look, label %look
look:
  %lie = call ptr @chosen(ptr %table, ptr %told, ptr %handles, ptr %values, i64 %looks, \
ptr null)
  br eq ptr %lie, null, label %drop_node, label %note_lie
no_look:
  call void %hold(ptr %zero)
note_lie:
  %lies = phi ptr [%lie, %look], [%zero, %no_look]
  call void @put(ptr %node, ptr %n_lie, ptr %lies)
  ret ptr %node
drop_node:
  call void %drop(ptr %node)
  ret ptr null
drop_arguments:
  call void %drop(ptr %arguments)
drop_shapes:
  call void %drop(ptr %shapes)
drop_edges:
  call void %drop(ptr %edges)
  ret ptr null
}

define internal ptr @kept_results(ptr %table, ptr %told, ptr %made, ptr %result, i64 %smooth) {
entry:
  %book = load ptr, ptr %told
{front_loads}
{book_loads}
  %mask = load i64, ptr %told at i64 7
  %of = and i64 %mask, %smooth
  %is_kept = icmp ne i64 %of, 0
  %count = select i1 %is_kept, i64 1, i64 0
  %list = call ptr %make_tuple(i64 %count)
  br eq ptr %list, null, label %failed
  br not i1 %is_kept, label %done
  %times = call i64 @kept_version(ptr %table, ptr %book, ptr %result)
  br slt i64 %times, 0, label %lost
  call void %hold(ptr %none)
  %kept = call ptr @saved(ptr %table, ptr %book, ptr %result, ptr %none, ptr %none, ptr %zero, \
i64 %times)
  br eq ptr %kept, null, label %lost
  store ptr %kept, ptr %list at i8 {tuple_at}
done:
  ret ptr %list
lost:
  call void %drop(ptr %list)
failed:
  ret ptr null
}

define internal i1 @note_base(ptr %table, ptr %told, ptr %made, ptr %result, ptr %base) {
entry:
  %book = load ptr, ptr %told
{front_loads}
{book_loads}
  %flags = load i64, ptr %told at i64 1
  %view_flag = and i64 %flags, 1
  br not ne i64 %view_flag, 0, label %good
  %base_bytes = ptrtoint ptr %base_slot to i64
  call void %hold(ptr %base)
  store ptr %base, ptr %made at i8 %base_bytes
  call void %drop(ptr %none)
  %version = call i64 @kept_version(ptr %table, ptr %book, ptr %result)
  br eq i64 %version, 0, label %good
  br slt i64 %version, 0, label %bad
  %times = call ptr %make_int(i64 %version)
  %noted = call i32 %set_attribute(ptr %made, ptr %version_word, ptr %times)
  call void %drop(ptr %times)
  br eq i32 %noted, 0, label %good, label %bad
good:
  ret i1 true
bad:
  ret i1 false
}

define internal ptr @recorded(ptr %table, ptr %told, ptr %handles, ptr %values, ptr %edges, \
ptr %result, ptr %tensors, ptr %arrays) {
entry:
  %book = load ptr, ptr %told
{front_loads}
{book_loads}
  %smooth = call i64 @active_mask(ptr %table, ptr %told, ptr %edges)
  %base = load ptr, ptr %handles
  %made = call ptr @handle_of(ptr %table, ptr %result)
  br eq ptr %made, null, label %drop_edges
  %node_made = call ptr @new_node(ptr %table, ptr %told, ptr %handles, ptr %values, ptr %edges, \
i64 %smooth, ptr %tensors, ptr %arrays)
  br eq ptr %node_made, null, label %drop_made
  %kept = call ptr @kept_results(ptr %table, ptr %told, ptr %made, ptr %result, i64 %smooth)
  br eq ptr %kept, null, label %drop_node
  call void @put(ptr %node_made, ptr %n_results, ptr %kept)
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  call void %hold(ptr %always)
  store ptr %always, ptr %made at i8 %wants_bytes
  call void %drop(ptr %never)
  %set = call i32 %set_attribute(ptr %made, ptr %node_word, ptr %node_made)
  call void %drop(ptr %node_made)
  br not eq i32 %set, 0, label %drop_made
  %is_noted = call i1 @note_base(ptr %table, ptr %told, ptr %made, ptr %result, ptr %base)
  br not i1 %is_noted, label %drop_made
  ret ptr %made
drop_node:
  call void %drop(ptr %node_made)
drop_made:
  call void %drop(ptr %made)
  ret ptr null
drop_edges:
  call void %drop(ptr %edges)
  ret ptr null
}

define internal i1 @tell_one(ptr %table, ptr %told, ptr %made, ptr %array, ptr %node, ptr %base, \
i64 %number) {
entry:
  %book = load ptr, ptr %told
{front_loads}
{book_loads}
  %wants_bytes = ptrtoint ptr %wants_slot to i64
  call void %hold(ptr %always)
  store ptr %always, ptr %made at i8 %wants_bytes
  call void %drop(ptr %never)
  %set = call i32 %set_attribute(ptr %made, ptr %node_word, ptr %node)
  br eq i64 %number, 0, label %view
  %place = call ptr %make_int(i64 %number)
  %placed = call i32 %set_attribute(ptr %made, ptr %number_word, ptr %place)
  call void %drop(ptr %place)
view:
  %is_noted = call i1 @note_base(ptr %table, ptr %told, ptr %made, ptr %array, ptr %base)
  %among = load ptr, ptr %told at i64 18
  br eq ptr %among, null, label %done
  %forbidden = call i32 %set_attribute(ptr %made, ptr %among_name, ptr %among)
done:
  ret i1 %is_noted
}

define internal i1 @tell_all(ptr %table, ptr %told, ptr %node, ptr %made, ptr %base, i64 %smooth) {
entry:
  %book = load ptr, ptr %told
{front_loads}
{book_loads}
  %needed = load i64, ptr %told at i64 7
  %read = load i64, ptr %told at i64 15
  %of = and i64 %needed, %smooth
  %is_needed = icmp ne i64 %of, 0
  %reads = select i1 %is_needed, i64 %read, i64 0
  %reads_some = icmp ne i64 %reads, 0
  %count = load i64, ptr %made at i8 {head}
  %items = getelementptr i8, ptr %made, i64 {tuple_at}
  %room = select i1 %reads_some, i64 %count, i64 0
  %list = call ptr %make_tuple(i64 %room)
  br eq ptr %list, null, label %failed, label %begin
begin:
  call void @put(ptr %node, ptr %n_results, ptr %list)
  %kept = getelementptr i8, ptr %list, i64 {tuple_at}
next:
  %i = phi i64 [0, %begin], [%i1, %told_one]
  %number = phi i64 [0, %begin], [%number1, %told_one]
  br not ult i64 %i, %count, label %done
  %i1 = add i64 %i, 1
  %item = load ptr, ptr %items at ptr %i
  %slot_bytes = ptrtoint ptr %slot to i64
  %array = load ptr, ptr %item at i8 %slot_bytes
  %is_smooth = call i1 @is_of_floats(ptr %array)
  %adds = select i1 %is_smooth, i64 1, i64 0
  %number1 = add i64 %number, %adds
  br not i1 %is_smooth, label %keep
  %is_told = call i1 @tell_one(ptr %table, ptr %told, ptr %item, ptr %array, ptr %node, ptr %base, \
i64 %number)
  br i1 %is_told, label %keep, label %failed
keep:
  br not i1 %reads_some, label %told_one
  %bit = shl i64 1, %i
  %its = and i64 %reads, %bit
  br ne i64 %its, 0, label %save, label %leave
leave:
  call void %hold(ptr %none)
  br label %put_in
save:
  %times = call i64 @kept_version(ptr %table, ptr %book, ptr %array)
  br slt i64 %times, 0, label %failed
  br i1 %is_smooth, label %numbered, label %unnumbered
numbered:
  %place = call ptr %make_int(i64 %number)
  br label %hold_it
unnumbered:
  call void %hold(ptr %none)
hold_it:
  %its_number = phi ptr [%place, %numbered], [%none, %unnumbered]
  call void %hold(ptr %none)
  %saved = call ptr @saved(ptr %table, ptr %book, ptr %array, ptr %none, ptr %none, \
ptr %its_number, i64 %times)
  call void %drop(ptr %its_number)
  br eq ptr %saved, null, label %failed, label %put_in
put_in:
  %one_kept = phi ptr [%none, %leave], [%saved, %hold_it]
  store ptr %one_kept, ptr %kept at ptr %i
told_one:
  br label %next
done:
  %total = call ptr %make_int(i64 %number)
  call void @put(ptr %node, ptr %n_count, ptr %total)
  call void %drop(ptr %one)
  ret i1 true
failed:
  ret i1 false
}

define internal ptr @recorded_all(ptr %table, ptr %told, ptr %handles, ptr %values, ptr %edges, \
ptr %made) {
entry:
{front_loads}
  %smooth = call i64 @active_mask(ptr %table, ptr %told, ptr %edges)
  %node = call ptr @new_node(ptr %table, ptr %told, ptr %handles, ptr %values, ptr %edges, \
i64 %smooth, ptr null, ptr null)
  br eq ptr %node, null, label %failed
  %base = load ptr, ptr %handles
  %is_told = call i1 @tell_all(ptr %table, ptr %told, ptr %node, ptr %made, ptr %base, \
i64 %smooth)
  call void %drop(ptr %node)
  br not i1 %is_told, label %failed
  ret ptr %made
failed:
  call void %drop(ptr %made)
  ret ptr null
}
"""
)
