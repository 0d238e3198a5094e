"""The native code of `tensor[key] = value` (see `parts_text`), for numbers that the tensor's dtype
has, and for tensors of that dtype which spread over the part, from memory elsewhere.

What is put lies at `from`, so many bytes apart in each of the part's dimensions as `steps` says.
Whose memory that is is held until it is written: who counts the write may be Python's code.
"""

from __future__ import annotations

from typing import Final

__all__ = ["PUT"]

PUT: Final = """
@no_steps = internal constant [{part_most} x i64] zeroinitializer

define internal void @put_row(ptr %to, ptr %from, i64 %count, i64 %apart, i64 %step, i64 %width) {
entry:
next:
  %i = phi i64 [0, %entry], [%i1, %put]
  br not ult i64 %i, %count, label %done
  %i1 = add i64 %i, 1
  %to_bytes = mul i64 %i, %apart
  %from_bytes = mul i64 %i, %step
  %target = getelementptr i8, ptr %to, i64 %to_bytes
  %source = getelementptr i8, ptr %from, i64 %from_bytes
  switch i64 %width, label %of_8 [ i64 4, label %of_4 i64 2, label %of_2 i64 1, label %of_1 ]
of_8:
  %word_8 = load i64, ptr %source, align 1
  store i64 %word_8, ptr %target, align 1
  br label %put
of_4:
  %word_4 = load i32, ptr %source, align 1
  store i32 %word_4, ptr %target, align 1
  br label %put
of_2:
  %word_2 = load i16, ptr %source, align 1
  store i16 %word_2, ptr %target, align 1
  br label %put
of_1:
  %word_1 = load i8, ptr %source, align 1
  store i8 %word_1, ptr %target, align 1
put:
  br label %next
done:
  ret void
}

define internal void @put_all(ptr %part, i64 %dim, ptr %to, ptr %from, ptr %steps, i64 %width) {
entry:
  %rank = load i64, ptr %part at i64 1
  %sizes = getelementptr i64, ptr %part, i64 2
  %strides = getelementptr i64, ptr %sizes, i64 {part_most}
  %inner = add i64 %dim, 1
  br not eq i64 %rank, 0, label %look
  call void @put_row(ptr %to, ptr %from, i64 1, i64 0, i64 0, i64 %width)
  ret void
look:
  %size = load i64, ptr %sizes at i64 %dim
  %apart = load i64, ptr %strides at i64 %dim
  %step = load i64, ptr %steps at i64 %dim
  br not eq i64 %inner, %rank, label %next
  call void @put_row(ptr %to, ptr %from, i64 %size, i64 %apart, i64 %step, i64 %width)
  ret void
next:
  %i = phi i64 [0, %look], [%i1, %within]
  br ult i64 %i, %size, label %within, label %done
within:
  %i1 = add i64 %i, 1
  %to_bytes = mul i64 %i, %apart
  %from_bytes = mul i64 %i, %step
  %target = getelementptr i8, ptr %to, i64 %to_bytes
  %source = getelementptr i8, ptr %from, i64 %from_bytes
  call void @put_all(ptr %part, i64 %inner, ptr %target, ptr %source, ptr %steps, i64 %width)
  br label %next
done:
  ret void
}

define internal i64 @count_of(ptr %part) {
entry:
  %rank = load i64, ptr %part at i64 1
  %sizes = getelementptr i64, ptr %part, i64 2
  %strides = getelementptr i64, ptr %sizes, i64 {part_most}
next:
  %i = phi i64 [0, %entry], [%i1, %apart]
  %product = phi i64 [1, %entry], [%times, %apart]
  br not ult i64 %i, %rank, label %done
  %i1 = add i64 %i, 1
  %size = load i64, ptr %sizes at i64 %i
  %stride = load i64, ptr %strides at i64 %i
  %times = mul i64 %product, %size
  br eq i64 %stride, 0, label %not_here, label %apart
apart:
  br label %next
done:
  ret i64 %product
not_here:
  ret i64 -1
}

define internal void @reach(i64 %data, i64 %rank, ptr %sizes, ptr %strides, i64 %width, ptr %ends) {
entry:
  %first_end = add i64 %data, %width
next:
  %i = phi i64 [0, %entry], [%i1, %look]
  %low = phi i64 [%data, %entry], [%lower, %look]
  %high = phi i64 [%first_end, %entry], [%higher, %look]
  br ult i64 %i, %rank, label %look, label %done
look:
  %i1 = add i64 %i, 1
  %size = load i64, ptr %sizes at i64 %i
  %stride = load i64, ptr %strides at i64 %i
  %last = sub i64 %size, 1
  %far = mul i64 %last, %stride
  %is_back = icmp slt i64 %far, 0
  %down = select i1 %is_back, i64 %far, i64 0
  %up = select i1 %is_back, i64 0, i64 %far
  %lower = add i64 %low, %down
  %higher = add i64 %high, %up
  br label %next
done:
  store i64 %low, ptr %ends
  store i64 %high, ptr %ends at i64 1
  ret void
}

define internal i1 @steps_of(ptr %array, ptr %part, ptr %steps) {
entry:
  %own_rank = load i64, ptr %part at i64 1
  %own_sizes = getelementptr i64, ptr %part, i64 2
  %rank32 = load i32, ptr %array at i8 {rank_at}
  %rank = zext i32 %rank32 to i64
  %sizes = load ptr, ptr %array at i8 {sizes_at}
  %strides = load ptr, ptr %array at i8 {strides_at}
  %missing = sub i64 %own_rank, %rank
  br sge i64 %missing, 0, label %next, label %no
next:
  %i = phi i64 [0, %entry], [%i1, %give]
  br ult i64 %i, %own_rank, label %look, label %yes
look:
  %i1 = add i64 %i, 1
  %at = sub i64 %i, %missing
  br slt i64 %at, 0, label %give, label %compare
compare:
  %size = load i64, ptr %sizes at i64 %at
  %stride = load i64, ptr %strides at i64 %at
  %own_size = load i64, ptr %own_sizes at i64 %i
  br eq i64 %size, %own_size, label %give, label %perhaps_one
perhaps_one:
  br eq i64 %size, 1, label %give, label %no
give:
  %step = phi i64 [0, %look], [%stride, %compare], [0, %perhaps_one]
  store i64 %step, ptr %steps at i64 %i
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i1 @lies_apart(ptr %array, ptr %part, i64 %width) {
  %ends = alloca [2 x i64], align 8
  %its_ends = alloca [2 x i64], align 8
  %data = load i64, ptr %part
  %own_rank = load i64, ptr %part at i64 1
  %own_sizes = getelementptr i64, ptr %part, i64 2
  %own_strides = getelementptr i64, ptr %own_sizes, i64 {part_most}
  %its = load i64, ptr %array at i8 {head}
  %rank32 = load i32, ptr %array at i8 {rank_at}
  %rank = zext i32 %rank32 to i64
  %sizes = load ptr, ptr %array at i8 {sizes_at}
  %strides = load ptr, ptr %array at i8 {strides_at}
  call void @reach(i64 %data, i64 %own_rank, ptr %own_sizes, ptr %own_strides, i64 %width, \
ptr %ends)
  call void @reach(i64 %its, i64 %rank, ptr %sizes, ptr %strides, i64 %width, ptr %its_ends)
  %low = load i64, ptr %ends
  %high = load i64, ptr %ends at i64 1
  %its_low = load i64, ptr %its_ends
  %its_high = load i64, ptr %its_ends at i64 1
  %is_before = icmp ule i64 %high, %its_low
  %is_behind = icmp ule i64 %its_high, %low
  %is_apart = or i1 %is_before, %is_behind
  ret i1 %is_apart
}

define internal i1 @is_the_part(ptr %array, ptr %part, ptr %steps) {
entry:
  %data = load i64, ptr %part
  %its = load i64, ptr %array at i8 {head}
  %rank = load i64, ptr %part at i64 1
  %sizes = getelementptr i64, ptr %part, i64 2
  %strides = getelementptr i64, ptr %sizes, i64 {part_most}
  br eq i64 %data, %its, label %next, label %no
next:
  %i = phi i64 [0, %entry], [%i1, %look]
  br ult i64 %i, %rank, label %look, label %yes
look:
  %i1 = add i64 %i, 1
  %stride = load i64, ptr %strides at i64 %i
  %step = load i64, ptr %steps at i64 %i
  br eq i64 %stride, %step, label %next, label %no
yes:
  ret i1 true
no:
  ret i1 false
}

define internal i1 @bits_of(ptr %table, ptr %value, i8 %kind, i64 %width, ptr %bits) {
entry:
  %number = alloca i64
{parts_loads}
  %type = load ptr, ptr %value at i8 {type_at}
  br eq ptr %type, %float_type, label %float
  %is_int = call i1 @number_of(ptr %table, ptr %value, ptr %number)
  br i1 %is_int, label %int
  %is_true = icmp eq ptr %value, %always
  %is_false = icmp eq ptr %value, %never
  %is_truth = or i1 %is_true, %is_false
  %takes_truths = icmp eq i8 %kind, 98
  %is_taken = and i1 %is_truth, %takes_truths
  %word_of_truth = zext i1 %is_true to i64
  store i64 %word_of_truth, ptr %bits
  ret i1 %is_taken
int:
  %whole = load i64, ptr %number
  %above = add i64 %whole, 9007199254740992
  %is_exact = icmp ule i64 %above, 18014398509481984
  switch i8 %kind, label %no [
    i8 102, label %int_as_float
    i8 105, label %signed
    i8 117, label %bytes ]
int_as_float:
  %as_float = sitofp i64 %whole to double
  br i1 %is_exact, label %of_float, label %no
signed:
  %bits_there = mul i64 %width, 8
  %free = sub i64 64, %bits_there
  %up = shl i64 %whole, %free
  %back = ashr i64 %up, %free
  %fits = icmp eq i64 %back, %whole
  store i64 %whole, ptr %bits
  ret i1 %fits
bytes:
  %is_byte = icmp eq i64 %width, 1
  %is_small = icmp ule i64 %whole, 255
  %is_one = and i1 %is_byte, %is_small
  store i64 %whole, ptr %bits
  ret i1 %is_one
float:
  %given = load double, ptr %value at i8 {head}
  br eq i8 %kind, 102, label %of_float, label %no
of_float:
  %exact = phi double [%as_float, %int_as_float], [%given, %float]
  switch i64 %width, label %no [i64 8, label %double i64 4, label %single]
double:
  store double %exact, ptr %bits
  ret i1 true
single:
  %size = call double @llvm.fabs.f64(double %exact)
  %is_within = fcmp ole double %size, 0x47EFFFFFE0000000
  %rounded = fptrunc double %exact to float
  store float %rounded, ptr %bits
  ret i1 %is_within
no:
  ret i1 false
}

declare double @llvm.fabs.f64(double)

define internal ptr @taken(ptr %table, ptr %value, i64 %width, ptr %array, ptr %part, \
ptr %steps, ptr %from) {
entry:
  %wanted = alloca i64
{parts_loads}
  %type = load ptr, ptr %value at i8 {type_at}
  br not eq ptr %type, %tensor_type, label %no
  store i64 0, ptr %wanted
  %source = call ptr @array_of(ptr %table, ptr %value, ptr %wanted)
  br not ne ptr %source, null, label %no
  %dtype = load ptr, ptr %array at i8 {dtype_at}
  %its_dtype = load ptr, ptr %source at i8 {dtype_at}
  br not eq ptr %dtype, %its_dtype, label %not_this
  %data = load ptr, ptr %source at i8 {head}
  store ptr %data, ptr %from
  %fits = call i1 @steps_of(ptr %source, ptr %part, ptr %steps)
  br not i1 %fits, label %not_this
  %is_apart = call i1 @lies_apart(ptr %source, ptr %part, i64 %width)
  br i1 %is_apart, label %yes
  %is_the_part = call i1 @is_the_part(ptr %source, ptr %part, ptr %steps)
  br not i1 %is_the_part, label %not_this
  store ptr null, ptr %from
yes:
  ret ptr %source
not_this:
  call void %drop(ptr %source)
no:
  ret ptr null
}

define internal ptr @set_part(ptr %tensor, ptr %given, i64 %n, ptr %names) {
entry:
  %part = alloca [{part_words} x i64], align 8
  %steps = alloca [{part_most} x i64], align 8
  %wanted = alloca i64
  %bits = alloca i64
  %from = alloca ptr
  %table = load ptr, ptr @parts_table
{parts_loads}
  %is_usual = call i1 @is_usual(ptr %table, i64 %n, i64 2, ptr %names)
  %watching = load i64, ptr %watched at i8 {head}
  %is_unwatched = icmp eq i64 %watching, 0
  %is_sure = and i1 %is_usual, %is_unwatched
  br not i1 %is_sure, label %slow
  store i64 0, ptr %wanted
  %array = call ptr @array_of(ptr %table, ptr %tensor, ptr %wanted)
  br not ne ptr %array, null, label %slow
  %flags = load i32, ptr %array at i8 {flags_at}
  %write_flag = and i32 %flags, 1024
  %dtype = load ptr, ptr %array at i8 {dtype_at}
  %kind = load i8, ptr %dtype at i8 {kind_at}
  %width = load i64, ptr %dtype at i8 {width_at}
  br not ne i32 %write_flag, 0, label %not_here
  switch i64 %width, label %not_here [
    i64 1, label %find_part
    i64 2, label %find_part
    i64 4, label %find_part
    i64 8, label %find_part ]
find_part:
  %key = load ptr, ptr %given
  %value = load ptr, ptr %given at ptr 1
  %is_part = call i1 @part_of(ptr %table, ptr %array, ptr %key, ptr %part)
  br i1 %is_part, label %measure
  %is_put_there = call i1 @set_places(ptr %table, ptr %array, ptr %key, ptr %value)
  br i1 %is_put_there, label %done, label %not_here
measure:
  %count = call i64 @count_of(ptr %part)
  br not ule i64 %count, {part_elements}, label %not_here
  store ptr %bits, ptr %from
  %is_number = call i1 @bits_of(ptr %table, ptr %value, i8 %kind, i64 %width, ptr %bits)
  br i1 %is_number, label %number, label %perhaps_tensor
number:
  call void %hold(ptr %none)
  br label %tell
perhaps_tensor:
  %its_array = call ptr @taken(ptr %table, ptr %value, i64 %width, ptr %array, ptr %part, \
ptr %steps, ptr %from)
  br ne ptr %its_array, null, label %tell, label %not_here
tell:
  %by = phi ptr [@no_steps, %number], [%steps, %perhaps_tensor]
  %held = phi ptr [%none, %number], [%its_array, %perhaps_tensor]
  %is_counted = call i1 @count_write(ptr %table, ptr %array)
  br not i1 %is_counted, label %refused
  %source = load ptr, ptr %from
  %to = load ptr, ptr %part
  %is_there_already = icmp eq ptr %source, null
  %is_empty = icmp eq i64 %count, 0
  %is_done = or i1 %is_there_already, %is_empty
  br i1 %is_done, label %release
  call void @put_all(ptr %part, i64 0, ptr %to, ptr %source, ptr %by, i64 %width)
release:
  call void %drop(ptr %held)
done:
  call void %drop(ptr %array)
  call void %hold(ptr %none)
  ret ptr %none
refused:
  call void %drop(ptr %held)
  call void %drop(ptr %array)
  ret ptr null
not_here:
  call void %drop(ptr %array)
slow:
  %slow_result = call ptr @all_given(ptr %given, i64 %n, ptr %names, ptr %set_slowly)
  ret ptr %slow_result
}
"""
