"""What operators ask of the tree: what a node is, what a statement changes, what one more or one less is."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from rlsh.tasks.mutation.subject import Edits, Subject

JUMPS = (cst.Return, cst.Raise, cst.Continue, cst.Break)
SUMS = (cst.Add, cst.Subtract)
TERMS = (cst.BinaryOperation, cst.UnaryOperation)
PRODUCTS = (cst.Multiply, cst.Divide, cst.FloorDivide, cst.Modulo, cst.Power)
MAPPINGS = ("dict", "defaultdict", "Counter", "OrderedDict")
MAPPING_METHODS = ("get", "items", "keys", "values", "setdefault")


def named(node: cst.CSTNode | None, *names: str) -> bool:
    """Whether `node` is one of these plain names."""
    return isinstance(node, cst.Name) and node.value in names


def call_of(node: cst.CSTNode | None, *names: str) -> cst.Call | None:
    """`node`, if it calls one of these plain names."""
    return node if isinstance(node, cst.Call) and named(node.func, *names) else None


def is_single(loop: cst.CompFor) -> bool:
    """Whether a comprehension has this one loop and no condition."""
    return not loop.ifs and not loop.inner_for_in


def integer(node: cst.CSTNode | None) -> int | None:
    """The value of a decimal integer, a minus before it included."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        value = integer(node.expression)
        return None if value is None else -value
    return int(node.value) if isinstance(node, cst.Integer) and node.value.isdecimal() else None


def is_step(node: cst.BinaryOperation) -> bool:
    """Whether it is `n + 1` or `n - 1`."""
    return isinstance(node.operator, SUMS) and integer(node.right) == 1


def in_subscript(f: Subject, node: cst.CSTNode) -> bool:
    """Whether `node` is an index, a bound of a slice, or a term of one."""
    parent = f.parent(node)
    return isinstance(f.parent(parent) if isinstance(parent, TERMS) else parent, (cst.Index, cst.Slice))


def ungrouped(f: Subject, kind: type[cst.BinaryOperation] | type[cst.BooleanOperation]) -> Iterator[Edits]:
    """Operations within operations, each without its parentheses."""
    for node in f.find(kind):
        if node.lpar and isinstance(f.parent(node), (kind, cst.UnaryOperation)):
            start, end = f.span(node)
            yield f.cut(start, f.span(node.left)[0]) + f.cut(f.span(node.right)[1], end)


def shifted(f: Subject, node: cst.BaseExpression, by: int) -> str:
    """The text of `node` one more or less, as somebody would write it: one more than `n - 1` is `n`."""
    value = integer(node)
    if value is not None:
        return str(value + by)
    text = f.atom(node)
    if isinstance(node, cst.BinaryOperation):
        step = integer(node.right)
        if isinstance(node.operator, SUMS) and step is not None and not node.lpar:
            by += step if isinstance(node.operator, cst.Add) else -step
            text = f.text(node.left)
        elif isinstance(node.operator, SUMS + PRODUCTS):
            text = f.text(node)
    return f"{text} {'+' if by > 0 else '-'} {abs(by)}" if by else text


def base(node: cst.CSTNode) -> str:
    """The name that `a`, `a.b`, `a[b]` and `a.b(c)` begin with; empty where they begin with none."""
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else ""


def changed(f: Subject, part: cst.CSTNode) -> set[str]:
    """The names that `part` binds or whose values it may change in place, be it by a method or as an argument."""
    names = set()
    for node in f.inside(part):
        if isinstance(node, cst.Name) and f.binds(node):
            names.add(node.value)
        elif isinstance(node, (cst.Subscript, cst.Attribute)) and f.field(node) == "target":
            names.add(base(node))
        elif isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
            names.update((base(node.value), *(base(argument.value) for argument in node.value.args)))
    return names


def mentioned(f: Subject, part: cst.CSTNode) -> set[str]:
    return {n.value for n in f.inside(part) if isinstance(n, cst.Name) and f.field(n) not in ("attr", "keyword")}


def assigned(statement: cst.BaseSmallStatement | None) -> tuple[str, cst.BaseExpression] | None:
    """The name and the value of `name = value`, with or without an annotation."""
    if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0].target, statement.value
    elif isinstance(statement, cst.AnnAssign) and statement.value is not None:
        target, value = statement.target, statement.value
    else:
        return None
    return (target.value, value) if isinstance(target, cst.Name) else None


def counters(f: Subject) -> set[str]:
    """Names that hold integers, as far as ranges, enumerations, literals and lengths tell."""
    names = set()
    for node in f.nodes:
        target: cst.CSTNode | None = None
        if isinstance(node, (cst.For, cst.CompFor)):
            if call_of(node.iter, "range"):
                target = node.target
            elif call_of(node.iter, "enumerate") and isinstance(node.target, cst.Tuple):
                target = node.target.elements[0].value
        elif isinstance(node, cst.AugAssign) and integer(node.value) is not None:
            target = node.target
        elif isinstance(node, cst.BaseSmallStatement):
            name, value = assigned(node) or ("", None)
            if integer(value) is not None or call_of(value, "len"):
                names.add(name)
        if isinstance(target, cst.Name):
            names.add(target.value)
    return names


def mappings(f: Subject) -> set[str]:
    """Texts of what holds a mapping, as far as values, annotations and methods tell."""
    names = {f.text(attribute.value) for _, attribute in f.methods(*MAPPING_METHODS)}
    for node in f.nodes:
        if isinstance(node, cst.BaseSmallStatement):
            name, value = assigned(node) or ("", None)
            if isinstance(value, cst.BaseDict) or call_of(value, *MAPPINGS):
                names.add(name)
        elif isinstance(node, cst.Param) and node.annotation:
            annotation = f.text(node.annotation.annotation).lower()
            names.update([node.name.value] if annotation.startswith(("dict", "mapping")) else [])
    return names


def misspelt(word: str) -> str:
    """As a hurried hand writes it: without its plural s, or with two letters in the middle the wrong way round."""
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    middle = len(word) // 2
    for i in (*range(middle, len(word) - 1), *range(middle)):
        if word[i] != word[i + 1]:
            return word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    return word + word[-1]


def is_guard(statement: cst.BaseStatement) -> bool:
    """Whether it is an `if` without another branch that ends in leaving: a guard."""
    if not isinstance(statement, cst.If) or statement.orelse:
        return False
    last = statement.body.body[-1]
    return isinstance(last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last, JUMPS)
