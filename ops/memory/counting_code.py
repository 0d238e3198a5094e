"""The native code of `ops/memory/allocation.py`, as LLVM's text.

A *ledger* is four 64-bit numbers: the bytes taken, how many may be taken, the bytes of the request
that was refused (0 if none was), and what is granted once on top of the limit when a request is
refused, so that the error can be told.  A thread's ledger is found under a key of the C library; a
thread that has none allocates as ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["ALLOCATOR", "ARENAS", "COUNTING", "native_text"]

COUNTING: Final = """
define internal i1 @fits(ptr %ledger, i64 %size) {
  %absurd = icmp ugt i64 %size, 4611686018427387904
  br i1 %absurd, label %refuse, label %try
try:
  %before = atomicrmw add ptr %ledger, i64 %size monotonic
  %taken = add i64 %before, %size
  %limits = getelementptr i64, ptr %ledger, i64 1
  %limit = load atomic i64, ptr %limits monotonic, align 8
  %over = icmp sgt i64 %taken, %limit
  br i1 %over, label %undo, label %allow
allow:
  ret i1 1
undo:
  %undone = atomicrmw sub ptr %ledger, i64 %size monotonic
  br label %refuse
refuse:
  ret i1 0
}

define internal i1 @charge(ptr %ledger, i64 %size) {
  %granted = call i1 @fits(ptr %ledger, i64 %size)
  br i1 %granted, label %allow, label %refuse
allow:
  ret i1 1
refuse:
  %refusals = getelementptr i64, ptr %ledger, i64 2
  store atomic i64 %size, ptr %refusals monotonic, align 8
  %reserves = getelementptr i64, ptr %ledger, i64 3
  %reserve = atomicrmw xchg ptr %reserves, i64 0 monotonic
  %raised = getelementptr i64, ptr %ledger, i64 1
  %ignored = atomicrmw add ptr %raised, i64 %reserve monotonic
  ret i1 0
}

define internal void @adjust(ptr %ledger, i64 %by) {
  %ignored = atomicrmw add ptr %ledger, i64 %by monotonic
  ret void
}

define i64 @swap(i64 %ledger) {
  %found = call ptr $get(i64 $key)
  %before = ptrtoint ptr %found to i64
  %new = inttoptr i64 %ledger to ptr
  %status = call i32 $set(i64 $key, ptr %new)
  ret i64 %before
}
"""
"""What all allocators use; `swap` gives the calling thread another ledger, 0 for none.  Without an
arena Python takes each small object as a large one, so an arena that is refused is no error yet,
and grants nothing."""

ALLOCATOR: Final = """
define ptr @$name_malloc(ptr %context, i64 %size) {
  %ledger = call ptr $get(i64 $key)
  %free = icmp eq ptr %ledger, null
  br i1 %free, label %plain, label %counted
plain:
  %p = call ptr $malloc(ptr $context, i64 %size)
  ret ptr %p
counted:
  %granted = call i1 @charge(ptr %ledger, i64 %size)
  br i1 %granted, label %take, label %refused
take:
  %q = call ptr $malloc(ptr $context, i64 %size)
  %usable = call i64 $usable(ptr %q)
  %more = sub i64 %usable, %size
  call void @adjust(ptr %ledger, i64 %more)
  ret ptr %q
refused:
  ret ptr null
}

define ptr @$name_calloc(ptr %context, i64 %count, i64 %each) {
  %ledger = call ptr $get(i64 $key)
  %free = icmp eq ptr %ledger, null
  br i1 %free, label %plain, label %counted
plain:
  %p = call ptr $calloc(ptr $context, i64 %count, i64 %each)
  ret ptr %p
counted:
  %product = call {i64, i1} @llvm.umul.with.overflow.i64(i64 %count, i64 %each)
  %size = extractvalue {i64, i1} %product, 0
  %overflows = extractvalue {i64, i1} %product, 1
  br i1 %overflows, label %refused, label %ask
ask:
  %granted = call i1 @charge(ptr %ledger, i64 %size)
  br i1 %granted, label %take, label %refused
take:
  %q = call ptr $calloc(ptr $context, i64 %count, i64 %each)
  %usable = call i64 $usable(ptr %q)
  %more = sub i64 %usable, %size
  call void @adjust(ptr %ledger, i64 %more)
  ret ptr %q
refused:
  ret ptr null
}

define ptr @$name_realloc(ptr %context, ptr %old, i64 %size) {
  %ledger = call ptr $get(i64 $key)
  %free = icmp eq ptr %ledger, null
  br i1 %free, label %plain, label %counted
plain:
  %p = call ptr $realloc(ptr $context, ptr %old, i64 %size)
  ret ptr %p
counted:
  %had = call i64 $usable(ptr %old)
  %grows = icmp ugt i64 %size, %had
  br i1 %grows, label %ask, label %take
ask:
  %growth = sub i64 %size, %had
  %granted = call i1 @charge(ptr %ledger, i64 %growth)
  br i1 %granted, label %take, label %refused
take:
  %charged = phi i64 [ 0, %counted ], [ %growth, %ask ]
  %q = call ptr $realloc(ptr $context, ptr %old, i64 %size)
  %failed = icmp eq ptr %q, null
  br i1 %failed, label %undo, label %done
undo:
  %back = sub i64 0, %charged
  call void @adjust(ptr %ledger, i64 %back)
  ret ptr null
done:
  %has = call i64 $usable(ptr %q)
  %gained = sub i64 %has, %had
  %more = sub i64 %gained, %charged
  call void @adjust(ptr %ledger, i64 %more)
  ret ptr %q
refused:
  ret ptr null
}

define void @$name_free(ptr %context, ptr %old, i64 %size) {
  %ledger = call ptr $get(i64 $key)
  %free = icmp eq ptr %ledger, null
  br i1 %free, label %plain, label %counted
counted:
  %had = call i64 $usable(ptr %old)
  %back = sub i64 0, %had
  call void @adjust(ptr %ledger, i64 %back)
  br label %plain
plain:
  call void $free(ptr $context, ptr %old, i64 %size)
  ret void
}
"""
"""An allocator with another one below it; Python's own take no size when they free, which does no
harm: the callee does not look at what it does not know of."""

ARENAS: Final = """
define ptr @arena_malloc(ptr %context, i64 %size) {
  %ledger = call ptr $get(i64 $key)
  %free = icmp eq ptr %ledger, null
  br i1 %free, label %plain, label %counted
counted:
  %granted = call i1 @fits(ptr %ledger, i64 %size)
  br i1 %granted, label %plain, label %refused
plain:
  %p = call ptr $malloc(ptr $context, i64 %size)
  ret ptr %p
refused:
  ret ptr null
}

define void @arena_free(ptr %context, ptr %old, i64 %size) {
  %ledger = call ptr $get(i64 $key)
  %free = icmp eq ptr %ledger, null
  br i1 %free, label %plain, label %counted
counted:
  %back = sub i64 0, %size
  call void @adjust(ptr %ledger, i64 %back)
  br label %plain
plain:
  call void $free(ptr $context, ptr %old, i64 %size)
  ret void
}
"""
"""The arenas in which Python keeps its small objects."""


def native_text(template: str, addresses: Mapping[str, int | str]) -> str:
    """A template with names, and addresses as LLVM writes them, in place of its `$words`."""
    for word in sorted(addresses, key=len, reverse=True):
        value = addresses[word]
        if word != "key" and isinstance(value, int):
            value = f"inttoptr (i64 {value} to ptr)" if value else "null"
        template = template.replace(f"${word}", str(value))
    return template
