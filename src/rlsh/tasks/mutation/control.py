"""Steps that are taken in the wrong place, and exceptions that go the wrong way."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import libcst as cst

from rlsh.tasks.mutation.shapes import assigned, changed, mentioned
from rlsh.tasks.mutation.subject import Edit, Edits, Operator, Subject, only

LOOPS = (cst.For, cst.While)
LEAVES = (cst.Break, cst.Continue)
CONFUSED = {
    "ValueError": "TypeError",
    "TypeError": "ValueError",
    "KeyError": "IndexError",
    "IndexError": "KeyError",
    "AttributeError": "TypeError",
    "ZeroDivisionError": "ValueError",
    "OverflowError": "ValueError",
    "StopIteration": "IndexError",
    "UnicodeDecodeError": "UnicodeEncodeError",
    "RuntimeError": "ValueError",
    "NotImplementedError": "ValueError",
    "LookupError": "ValueError",
    "ArithmeticError": "ValueError",
}


def continue_for_break(f: Subject) -> Iterator[Edits]:
    """`break` to `continue`, and the reverse."""
    yield from f.tokens({cst.Break: "continue", cst.Continue: "break"})


def dropped_jump(f: Subject) -> Iterator[Edits]:
    """`break` to `pass`, `continue` to `pass`."""
    yield from f.tokens({cst.Break: "pass", cst.Continue: "pass"})


def indented(f: Subject) -> Iterator[Edits]:
    """The statement after a loop or an `if` slips into it: `return total` in the loop."""
    for statements in f.blocks():
        for one, other in pairwise(statements):
            if isinstance(one, (*LOOPS, cst.If)) and not one.orelse and isinstance(one.body, cst.IndentedBlock):
                last = one.body.body[-1]
                if not isinstance(only(last), (cst.Return, cst.Raise, *LEAVES)):
                    yield f.reindent(other, f.margin(last))


def dedented(f: Subject) -> Iterator[Edits]:
    """The last statement of a loop or an `if` slips out of it: `total += x` after the loop."""
    for node in f.nodes:
        if isinstance(node, (*LOOPS, cst.If)) and not node.orelse and isinstance(node.body, cst.IndentedBlock):
            last = node.body.body[-1]
            leaves = any(isinstance(n, LEAVES) for n in f.inside(last))
            if len(node.body.body) > 1 and not leaves:
                yield f.reindent(last, f.margin(node))


def if_for_elif(f: Subject) -> Iterator[Edits]:
    """`elif a:` to `if a:`."""
    for node in f.find(cst.If):
        if f.field(node) == "orelse":
            start = f.span(node)[0]
            yield f.cut(start, start + len("el"))


def initialiser_in_loop(f: Subject) -> Iterator[Edits]:
    """`total = 0` slips into the loop that adds to `total`."""
    for statements in f.blocks():
        for i, statement in enumerate(statements):
            pair = assigned(only(statement))
            loop = next((s for s in statements[i + 1 :] if pair and pair[0] in mentioned(f, s)), None)
            if pair and isinstance(loop, LOOPS) and isinstance(loop.body, cst.IndentedBlock):
                first = loop.body.body[0]
                if pair[0] in changed(f, loop.body):
                    moved = f"{f.text(statement)}{f.module.default_newline}{f.margin(first)}"
                    yield f.drop(statement) + f.insert(f.span(first)[0], moved)


def return_for_yield(f: Subject) -> Iterator[Edits]:
    """`yield a` to `return a`."""
    for node in f.find(cst.Expr):
        if isinstance(node.value, cst.Yield) and isinstance(node.value.value, cst.BaseExpression):
            yield f.put(node, f"return {f.text(node.value.value)}")


def print_for_return(f: Subject) -> Iterator[Edits]:
    """`return a` to `print(a)`."""
    for node in f.find(cst.Return):
        if node.value:
            yield f.put(node, f"print({f.text(node.value)})")


# --- exceptions -----------------------------------------------------------------------------------------------


def wrong_caught(f: Subject) -> Iterator[Edits]:
    """`except KeyError:` to `except IndexError:`."""
    for handler in f.find(cst.ExceptHandler):
        for name in f.inside(handler.type) if handler.type else ():
            if isinstance(name, cst.Name) and name.value in CONFUSED:
                yield f.put(name, CONFUSED[name.value])


def wrong_raised(f: Subject) -> Iterator[Edits]:
    """`raise ValueError(a)` to `raise TypeError(a)`."""
    for node in f.find(cst.Raise):
        name = node.exc.func if isinstance(node.exc, cst.Call) else node.exc
        if isinstance(name, cst.Name) and name.value in CONFUSED:
            yield f.put(name, CONFUSED[name.value])


def narrowed(f: Subject) -> Iterator[Edits]:
    """`except (KeyError, ValueError):` to `except KeyError:`, or to `except ValueError:`."""
    for handler in f.find(cst.ExceptHandler):
        if isinstance(handler.type, cst.Tuple):
            yield from (f.put(handler.type, f.text(element)) for element in handler.type.elements)


def dropped_raise(f: Subject) -> Iterator[Edits]:
    """`raise ValueError(a)` to `ValueError(a)`."""
    for node in f.find(cst.Raise):
        if node.exc:
            yield f.put(node, f.text(node.exc))


def swallowed(f: Subject) -> Iterator[Edits]:
    """What an exception is answered with becomes `pass`."""
    for handler in f.find(cst.ExceptHandler):
        if len(handler.body.body) == 1 and not isinstance(only(handler.body.body[0]), LEAVES):
            yield f.put(handler.body, "pass")


def finally_for_except(f: Subject) -> Iterator[Edits]:
    """`except ValueError:` to `finally:`, so that the return in it overrides every other."""
    for node in f.find(cst.Try):
        alone = len(node.handlers) == 1 and not node.orelse and not node.finalbody
        for handler in node.handlers if alone else ():
            if not handler.name and any(isinstance(n, cst.Return) for n in f.inside(handler)):
                start = f.span(handler)[0]
                yield (Edit(start, f.span(handler.type)[1] if handler.type else start + len("except"), "finally"),)


def dropped_try(f: Subject) -> Iterator[Edits]:
    """`try: a` with its handlers to `a`."""
    for node in f.find(cst.Try):
        if isinstance(node.body, cst.IndentedBlock) and not node.orelse and not node.finalbody:
            moved = [f.reindent(statement, f.margin(node)) for statement in node.body.body]
            if all(moved):
                header = f.cut(f.lines(node)[0], f.span(node.body.header)[1])
                yield header + sum(moved, ()) + f.cut(f.lines(node.body)[1], f.lines(node)[1])


CONTROL: tuple[Operator, ...] = (
    continue_for_break,
    dropped_jump,
    indented,
    dedented,
    if_for_elif,
    initialiser_in_loop,
    return_for_yield,
    print_for_return,
)
EXCEPTIONS: tuple[Operator, ...] = (
    wrong_caught,
    wrong_raised,
    narrowed,
    dropped_raise,
    swallowed,
    finally_for_except,
    dropped_try,
)
