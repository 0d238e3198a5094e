"""The native code of members that tell numbers of a tensor: its one element, its sizes, strides.

They lie beside `parts_text`, whose table they share: whatever is not as usual is left to what does
the same in Python.
"""

from __future__ import annotations

from typing import Final

__all__ = ["TOLD"]

_ELEMENT: Final = """
define internal i1 @is_one(ptr %array) {
entry:
  %rank32 = load i32, ptr %array at i8 {rank_at}
  %rank = zext i32 %rank32 to i64
  %sizes = load ptr, ptr %array at i8 {sizes_at}
next:
  %i = phi i64 [0, %entry], [%i1, %look]
  br ult i64 %i, %rank, label %look, label %yes
look:
  %i1 = add i64 %i, 1
  %size = load i64, ptr %sizes at i64 %i
  br eq i64 %size, 1, label %next, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i32 @element_of(ptr %array, ptr %number, ptr %whole) {
entry:
  %is_one = call i1 @is_one(ptr %array)
  %data = load ptr, ptr %array at i8 {head}
  %dtype = load ptr, ptr %array at i8 {dtype_at}
  %kind = load i8, ptr %dtype at i8 {kind_at}
  %width = load i64, ptr %dtype at i8 {width_at}
  %kind_word = zext i8 %kind to i64
  %high = shl i64 %kind_word, 8
  %which = or i64 %high, %width
  br not i1 %is_one, label %none
  switch i64 %which, label %none [
    i64 26116, label %f4
    i64 26120, label %f8
    i64 26881, label %i1_
    i64 26882, label %i2
    i64 26884, label %i4
    i64 26888, label %i8_
    i64 29953, label %u1
    i64 25089, label %b1 ]
f4:
  %as_f4 = load float, ptr %data, align 1
  %from_f4 = fpext float %as_f4 to double
  store double %from_f4, ptr %number
  ret i32 1
f8:
  %as_f8 = load double, ptr %data, align 1
  store double %as_f8, ptr %number
  ret i32 1
i1_:
  %as_i1 = load i8, ptr %data
  %from_i1 = sext i8 %as_i1 to i64
  br label %whole_number
i2:
  %as_i2 = load i16, ptr %data, align 1
  %from_i2 = sext i16 %as_i2 to i64
  br label %whole_number
i4:
  %as_i4 = load i32, ptr %data, align 1
  %from_i4 = sext i32 %as_i4 to i64
  br label %whole_number
i8_:
  %as_i8 = load i64, ptr %data, align 1
  br label %whole_number
u1:
  %as_u1 = load i8, ptr %data
  %from_u1 = zext i8 %as_u1 to i64
whole_number:
  %found = phi i64 [%from_i1, %i1_], [%from_i2, %i2], [%from_i4, %i4], [%as_i8, %i8_], \
[%from_u1, %u1]
  store i64 %found, ptr %whole
  ret i32 2
b1:
  %as_b1 = load i8, ptr %data
  %is_true = icmp ne i8 %as_b1, 0
  %from_b1 = zext i1 %is_true to i64
  store i64 %from_b1, ptr %whole
  ret i32 3
none:
  ret i32 0
}

define internal i32 @element_in(ptr %table, ptr %tensor, i64 %n, ptr %names, i64 %how, \
ptr %number, ptr %whole) {
entry:
  %wanted = alloca i64
{parts_loads}
  %is_usual = call i1 @is_usual(ptr %table, i64 %n, i64 0, ptr %names)
  br not i1 %is_usual, label %none_there
  store i64 %how, ptr %wanted
  %array = call ptr @array_of(ptr %table, ptr %tensor, ptr %wanted)
  br not ne ptr %array, null, label %none_there
  %kind = call i32 @element_of(ptr %array, ptr %number, ptr %whole)
  call void %drop(ptr %array)
  ret i32 %kind
none_there:
  ret i32 0
}
"""

_TELLING: Final = """
define internal ptr @tell_{name}(ptr %tensor, ptr %given, i64 %n, ptr %names) {
entry:
  %number = alloca double
  %whole = alloca i64
  %table = load ptr, ptr @parts_table
{parts_loads}
  %kind = call i32 @element_in(ptr %table, ptr %tensor, i64 %n, ptr %names, i64 {how}, \
ptr %number, ptr %whole)
{lines}slow:
  %slow_result = call ptr @all_given(ptr %given, i64 %n, ptr %names, \
ptr %{name}_slowly)
  ret ptr %slow_result
}
"""
"""A member that tells the one element, by lines of its own from its `%kind` on."""

_AS_ELEMENT: Final = """\
  %its_double = load double, ptr %number
  %its_whole = load i64, ptr %whole
  switch i32 %kind, label %slow [i32 1, label %float i32 2, label %int i32 3, label %truth]
float:
  %as_float = call ptr %make_float(double %its_double)
  ret ptr %as_float
int:
  %as_whole = call ptr %make_int(i64 %its_whole)
  ret ptr %as_whole
truth:
  %is_true = icmp ne i64 %its_whole, 0
  %as_truth = select i1 %is_true, ptr %always, ptr %never
  call void %hold(ptr %as_truth)
  ret ptr %as_truth
"""

_AS_FLOAT: Final = """\
  switch i32 %kind, label %slow [i32 1, label %float i32 2, label %int i32 3, label %int]
float:
  %its_double = load double, ptr %number
  %as_float = call ptr %make_float(double %its_double)
  ret ptr %as_float
int:
  %its_whole = load i64, ptr %whole
  %rounded = sitofp i64 %its_whole to double
  %from_whole = call ptr %make_float(double %rounded)
  ret ptr %from_whole
"""

_AS_INT: Final = """\
  switch i32 %kind, label %slow [i32 1, label %float i32 2, label %int i32 3, label %int]
float:
  %its_double = load double, ptr %number
  %size = call double @llvm.fabs.f64(double %its_double)
  %is_within = fcmp olt double %size, 0x43D0000000000000
  br i1 %is_within, label %cut, label %slow
cut:
  %its_integer = fptosi double %its_double to i64
  %from_float = call ptr %make_int(i64 %its_integer)
  ret ptr %from_float
int:
  %its_whole = load i64, ptr %whole
  %as_whole = call ptr %make_int(i64 %its_whole)
  ret ptr %as_whole
"""

_AS_TRUTH: Final = """\
  switch i32 %kind, label %slow [i32 1, label %float i32 2, label %int i32 3, label %int]
float:
  %its_double = load double, ptr %number
  %is_not_zero = fcmp une double %its_double, 0.0
  br label %told
int:
  %its_whole = load i64, ptr %whole
  %is_not_none = icmp ne i64 %its_whole, 0
  br label %told
told:
  %is_true = phi i1 [%is_not_zero, %float], [%is_not_none, %int]
  %truth = select i1 %is_true, ptr %always, ptr %never
  call void %hold(ptr %truth)
  ret ptr %truth
"""


def _telling(name: str, how: int, lines: str) -> str:
    told = _TELLING.replace("{name}", name).replace("{how}", str(how))
    return told.replace("{lines}", lines)


_TELLINGS: Final = "".join(
    (
        _telling("element", 5, _AS_ELEMENT),
        _telling("float", 0, _AS_FLOAT),
        _telling("int", 5, _AS_INT),
        _telling("truth", 5, _AS_TRUTH),
    )
)

_FORM: Final = """
define internal ptr @looked_at(ptr %table, ptr %tensor, i64 %n, ptr %names) {
entry:
  %wanted = alloca i64
{parts_loads}
  %has_one = call i1 @is_usual(ptr %table, i64 %n, i64 1, ptr %names)
  %has_none = call i1 @is_usual(ptr %table, i64 %n, i64 0, ptr %names)
  %is_usual = or i1 %has_one, %has_none
  br not i1 %is_usual, label %none_there
  store i64 5, ptr %wanted
  %array = call ptr @array_of(ptr %table, ptr %tensor, ptr %wanted)
  ret ptr %array
none_there:
  ret ptr null
}

define internal i64 @dimension_of(ptr %table, ptr %array, ptr %given) {
entry:
  %number = alloca i64
{parts_loads}
  %object = load ptr, ptr %given
  %is_number = call i1 @number_of(ptr %table, ptr %object, ptr %number)
  br not i1 %is_number, label %no
  %rank32 = load i32, ptr %array at i8 {rank_at}
  %rank = zext i32 %rank32 to i64
  %dim = load i64, ptr %number
  %is_behind = icmp slt i64 %dim, 0
  %added = select i1 %is_behind, i64 %rank, i64 0
  %at = add i64 %dim, %added
  br not ult i64 %at, %rank, label %no
  ret i64 %at
no:
  ret i64 -1
}

define internal ptr @tell_size(ptr %tensor, ptr %given, i64 %n, ptr %names) {
entry:
  %table = load ptr, ptr @parts_table
{parts_loads}
  %array = call ptr @looked_at(ptr %table, ptr %tensor, i64 %n, ptr %names)
  br not ne ptr %array, null, label %slow
  br not eq i64 %n, 0, label %one
  %shape = call ptr @shape_of(ptr %table, ptr %array)
  call void %drop(ptr %array)
  ret ptr %shape
one:
  %dim = call i64 @dimension_of(ptr %table, ptr %array, ptr %given)
  %sizes = load ptr, ptr %array at i8 {sizes_at}
  call void %drop(ptr %array)
  br not sge i64 %dim, 0, label %slow
  %size = load i64, ptr %sizes at i64 %dim
  %told = call ptr %make_int(i64 %size)
  ret ptr %told
slow:
  %slow_result = call ptr @all_given(ptr %given, i64 %n, ptr %names, ptr %size_slowly)
  ret ptr %slow_result
}

define internal ptr @get_size(ptr %sizes, ptr %given, i64 %n, ptr %names) {
entry:
  %number = alloca i64
  %table = load ptr, ptr @parts_table
{parts_loads}
  %is_usual = call i1 @is_usual(ptr %table, i64 %n, i64 1, ptr %names)
  %type = load ptr, ptr %sizes at i8 {type_at}
  %are_sizes = icmp eq ptr %type, %size_type
  %is_known = and i1 %is_usual, %are_sizes
  br not i1 %is_known, label %slow
  %key = load ptr, ptr %given
  %is_number = call i1 @number_of(ptr %table, ptr %key, ptr %number)
  br not i1 %is_number, label %slow
  %count = load i64, ptr %sizes at i8 {head}
  %place = load i64, ptr %number
  %is_behind = icmp slt i64 %place, 0
  %added = select i1 %is_behind, i64 %count, i64 0
  %at = add i64 %place, %added
  br not ult i64 %at, %count, label %slow
  %items = getelementptr i8, ptr %sizes, i64 {tuple_at}
  %item = load ptr, ptr %items at ptr %at
  call void %hold(ptr %item)
  ret ptr %item
slow:
  %slow_result = call ptr @all_given(ptr %given, i64 %n, ptr %names, \
ptr %get_size_slowly)
  ret ptr %slow_result
}

define internal i1 @steps_between(ptr %array, ptr %found) {
entry:
  %rank32 = load i32, ptr %array at i8 {rank_at}
  %rank = zext i32 %rank32 to i64
  %sizes = load ptr, ptr %array at i8 {sizes_at}
  %strides = load ptr, ptr %array at i8 {strides_at}
  %dtype = load ptr, ptr %array at i8 {dtype_at}
  %width = load i64, ptr %dtype at i8 {width_at}
  br ule i64 %rank, {part_most}, label %next, label %no
next:
  %left = phi i64 [%rank, %entry], [%d, %kept]
  %behind = phi i64 [1, %entry], [%beyond, %kept]
  br not ugt i64 %left, 0, label %yes
  %d = sub i64 %left, 1
  %size = load i64, ptr %sizes at i64 %d
  %stride = load i64, ptr %strides at i64 %d
  br eq i64 %size, 0, label %no, label %kept
kept:
  %own = sdiv exact i64 %stride, %width
  %is_one = icmp eq i64 %size, 1
  %is_unsaid = icmp eq i64 %stride, 0
  %is_made = and i1 %is_one, %is_unsaid
  %step = select i1 %is_made, i64 %behind, i64 %own
  store i64 %step, ptr %found at i64 %d
  %beyond = mul i64 %step, %size
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

define internal ptr @tuple_of(ptr %table, ptr %numbers, i64 %count) {
entry:
{parts_loads}
  %made = call ptr %make_tuple(i64 %count)
  %items = getelementptr i8, ptr %made, i64 {tuple_at}
  br eq ptr %made, null, label %failed, label %next
next:
  %i = phi i64 [0, %entry], [%i1, %give]
  br not ult i64 %i, %count, label %done
  %number = load i64, ptr %numbers at i64 %i
  %object = call ptr %make_int(i64 %number)
  br eq ptr %object, null, label %give_up, label %give
give:
  %i1 = add i64 %i, 1
  store ptr %object, ptr %items at ptr %i
  br label %next
done:
  ret ptr %made
give_up:
  call void %drop(ptr %made)
failed:
  ret ptr null
}

define internal ptr @tell_stride(ptr %tensor, ptr %given, i64 %n, ptr %names) {
entry:
  %steps = alloca [{part_most} x i64], align 8
  %table = load ptr, ptr @parts_table
{parts_loads}
  %array = call ptr @looked_at(ptr %table, ptr %tensor, i64 %n, ptr %names)
  br not ne ptr %array, null, label %slow
  %rank32 = load i32, ptr %array at i8 {rank_at}
  %rank = zext i32 %rank32 to i64
  %is_known = call i1 @steps_between(ptr %array, ptr %steps)
  %is_all = icmp eq i64 %n, 0
  br not i1 %is_known, label %not_here
  br not i1 %is_all, label %one
  call void %drop(ptr %array)
  %strides = call ptr @tuple_of(ptr %table, ptr %steps, i64 %rank)
  ret ptr %strides
one:
  %dim = call i64 @dimension_of(ptr %table, ptr %array, ptr %given)
  br not sge i64 %dim, 0, label %not_here
  call void %drop(ptr %array)
  %step = load i64, ptr %steps at i64 %dim
  %told = call ptr %make_int(i64 %step)
  ret ptr %told
not_here:
  call void %drop(ptr %array)
slow:
  %slow_result = call ptr @all_given(ptr %given, i64 %n, ptr %names, \
ptr %stride_slowly)
  ret ptr %slow_result
}

define internal ptr @tell_length(ptr %tensor, ptr %given, i64 %n, ptr %names) {
entry:
  %wanted = alloca i64
  %table = load ptr, ptr @parts_table
{parts_loads}
  %is_usual = call i1 @is_usual(ptr %table, i64 %n, i64 0, ptr %names)
  br not i1 %is_usual, label %slow
  store i64 5, ptr %wanted
  %array = call ptr @array_of(ptr %table, ptr %tensor, ptr %wanted)
  br not ne ptr %array, null, label %slow
  %rank = load i32, ptr %array at i8 {rank_at}
  %sizes = load ptr, ptr %array at i8 {sizes_at}
  call void %drop(ptr %array)
  br eq i32 %rank, 0, label %slow
  %size = load i64, ptr %sizes
  %told = call ptr %make_int(i64 %size)
  ret ptr %told
slow:
  %slow_result = call ptr @all_given(ptr %given, i64 %n, ptr %names, \
ptr %length_slowly)
  ret ptr %slow_result
}
"""

TOLD: Final = _ELEMENT + _TELLINGS + _FORM
