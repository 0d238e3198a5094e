# Functions that cannot be scripted, each for one reason; what torch says of each is in refused.json.
# ruff: noqa
# fmt: off
def try_(x):
    try:
        return x
    finally:
        pass


def lambda_(x):
    f = lambda v: v
    return x


def yield_(x):
    yield x


def walrus(x):
    return (y := x) + y


def nested_function(x):
    y = x + 1

    def inner(z):
        return z

    return y


def nested_class(x):
    class C:
        pass

    return x


def import_(x):
    import math

    return x


def import_from(x):
    from math import pi

    return x


def global_(x):
    global y
    return x


def set_(x):
    return {1, 2}


def set_comprehension(x):
    return {y for y in x}


def floor_divide_in_place(x):
    x //= 2
    return x


def matmul_in_place(x):
    x[0].y @= x
    return x


def bare_declaration(x):
    y: int
    return x


def bytes_(x):
    return b"abc"


def two_generators(x):
    return [y for y in x for z in x]


def condition(x):
    return {y: 1 for y in x if y > 1}


def conversion(x):
    return 1 + len(f"{x!r}")


def format_(x):
    return f"{x:3}"


def keywords(x):
    return len(x=3, **x)


def dict_expansion(x):
    return {**x, "a": 1}


def later_dict_expansion(x):
    return {"a": 1, **x}


def unary_plus(x):
    return +x


def bare_raise(x):
    raise


def for_else(x):
    for i in x:
        pass
    else:
        pass


def while_else(x):
    while x:
        pass
    else:
        pass


def reserved(x):
    __jit_y = 3
    return x


def attribute_annotation(x):
    x.y = 2
    self.x: int = 3
    return x


def stars(x, *xs):
    return x


def double_stars(x, **kw):
    return x


def keyword_default(x, *, k: int = 3):
    return x


def match_(x):
    match x:
        case 1:
            return x


def wide(x):
    s = "éé"
    y = {1, x}
    return x


def few_types(x, y):
    # type: (int) -> int
    return x


def type_comment_of_statement(x):
    y = []  # type: List[int]
    return y


def misspelt_type_comment(x):
    # type : (int) -> int
    return x


class Indented:
    def method(self, x):
        a = 1
        b = 2
        c = [lambda: 3, 4]
        return x


class Async:
    async def method(self, x):
        return x


anonymous = lambda x: x
