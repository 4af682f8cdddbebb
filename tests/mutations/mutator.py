"""Where a fault can be planted in a source file, and what the file says then. Reads text, returns text.

A fault replaces one piece of the text: a comparison, a condition, a constant, an answer, a statement, a row of a table,
a lock. What is only there for a type checker, for a log or for people who read the code is left out.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, replace

_OPPOSITES: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
_SWAPPED = {"any": "all", "all": "any", "min": "max", "max": "min"}
_SWAPPED_SIGNS: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.BitAnd: "|", ast.BitOr: "&"}
_NOT_MEANT = frozenset({"dataclass", "TypeVar", "ParamSpec", "getLogger"})
"""Calls in which nothing is planted."""
_LOGS = frozenset({"debug", "info", "warning", "error", "exception"})


@dataclass(frozen=True)
class Fault:
    """One piece of one file, and what it becomes. `number` tells equal ones of a function apart."""

    file: str
    """Within src/toryo, with slashes."""
    function: str
    """`Class.method`; empty at the top of the file."""
    kind: str
    old: str
    new: str
    line: int
    start: int
    """Bytes from the beginning of the file."""
    number: int = 0
    within: bool = False
    """Whether it runs with a function, and not when its file is imported."""

    @property
    def package(self) -> str:
        return self.file.split("/", maxsplit=1)[0]

    @property
    def name(self) -> str:
        """What it is called as long as its function says the same."""
        nth = f" #{self.number + 1}" if self.number else ""
        return f"{self.file} {self.function or 'top'}: {self.kind}{nth}: {short(self.old)} -> {short(self.new)}"

    def planted(self, source: str) -> str:
        """The source with this fault in it."""
        data = source.encode()
        end = self.start + len(self.old.encode())
        assert data[self.start : end].decode() == self.old
        return (data[: self.start] + self.new.encode() + data[end:]).decode()


def short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 90 else f"{words[:60]} … {words[-25:]}"


def faults(file: str, source: str) -> list[Fault]:
    """Every fault that can be planted in a file, in the order of its lines."""
    found = sorted(_Finder(file, source).found, key=lambda fault: (fault.start, fault.kind, fault.new))
    seen: Counter[tuple[str, str, str, str]] = Counter()
    result = []
    for fault in found:
        key = (fault.function, fault.kind, short(fault.old), short(fault.new))
        result.append(replace(fault, number=seen[key]))
        seen[key] += 1
    return result


class _Finder(ast.NodeVisitor):
    def __init__(self, file: str, source: str) -> None:
        self.file = file
        self.found: list[Fault] = []
        self._data = source.encode()
        self._line_starts = [0]
        for line in self._data.splitlines(keepends=True):
            self._line_starts.append(self._line_starts[-1] + len(line))
        self._names: list[str] = []
        self._returns: list[str] = []
        self._keys: set[ast.expr] = set()
        self.visit(ast.parse(source))

    def _text(self, node: ast.AST) -> str:
        start, end = self._span(node)
        return self._data[start:end].decode()

    def _span(self, node: ast.AST) -> tuple[int, int]:
        assert isinstance(node, (ast.expr, ast.stmt))
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._line_starts[node.lineno - 1] + node.col_offset,
            self._line_starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _plant(self, kind: str, node: ast.expr | ast.stmt, *texts: str) -> None:
        for new in texts:
            function = ".".join(self._names)
            old = self._text(node)
            self.found.append(
                Fault(self.file, function, kind, old, new, node.lineno, self._span(node)[0], within=bool(self._returns))
            )

    # What is entered, and what is not

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._names.append(node.name)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self._returns.append("" if node.returns is None else ast.unparse(node.returns))
        self._body(node.body)
        self._returns.pop()
        self._names.pop()
        for decorator in node.decorator_list:
            self.visit(decorator)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - ast's own name

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._names.append(node.name)
        self._body(node.body)
        self._names.pop()

    def _body(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Python before 3.12 does not say where the parts of such a text stand."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """For the type checker."""

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):  # a docstring
            return
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr in _LOGS:
                return
            self._plant("statement dropped", node, "pass")
        elif isinstance(node.value, (ast.Yield, ast.YieldFrom)):
            self._plant("statement dropped", node, "pass")
        self.generic_visit(node)

    # Statements

    def visit_If(self, node: ast.If) -> None:
        test = ast.unparse(node.test)
        if test == "TYPE_CHECKING":
            return
        leaves = not node.orelse and isinstance(node.body[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))
        # A tuple, so that what the condition assigns is assigned all the same.
        self._plant("guard removed" if leaves else "never", node.test, f"({self._text(node.test)}, False)[1]")
        self._plant("always", node.test, f"({self._text(node.test)}, True)[1]")
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._plant("never", node.test, f"({self._text(node.test)}, False)[1]")
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._plant("raise dropped", node, "pass")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        returns = self._returns[-1]
        if node.value is None:
            return
        if not isinstance(node.value, ast.Constant):
            if returns.startswith(("bool", "TypeGuard")):
                self._plant("answer", node, "return True", "return False")
            else:
                self._plant("answer", node, "return None")
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets):
            self._plant("statement dropped", node, "pass")
        if not any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._plant("statement dropped", node, "pass")
        self.generic_visit(node)

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            if item.optional_vars is None:
                self._plant("with dropped", item.context_expr, '__import__("contextlib").nullcontext()')
        self.generic_visit(node)

    visit_AsyncWith = visit_With  # noqa: N815 - ast's own name

    # Expressions

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [f"({self._text(each)})" for each in (node.left, *node.comparators)]
        for at, operator in enumerate(node.ops):
            for sign in _OPPOSITES[type(operator)]:
                signs = [sign if n == at else _sign(each) for n, each in enumerate(node.ops)]
                rest = "".join(f" {each} {operand}" for each, operand in zip(signs, operands[1:], strict=True))
                self._plant("comparison", node, f"({operands[0]}{rest})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word, other = (" and ", " or ") if isinstance(node.op, ast.And) else (" or ", " and ")
        operands = [f"({self._text(each)})" for each in node.values]
        self._plant("and/or", node, f"({other.join(operands)})")
        for at in range(len(operands)):
            if node in self._keys and at == len(operands) - 1:
                continue
            if not any(isinstance(each, ast.NamedExpr) for each in ast.walk(node.values[at])):
                kept = [each for n, each in enumerate(operands) if n != at]
                self._plant("operand removed", node, f"({word.join(kept)})")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._plant("not removed", node, f"bool({self._text(node.operand)})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        sign = _SWAPPED_SIGNS.get(type(node.op))
        texts = any(isinstance(each, (ast.Constant, ast.JoinedStr)) for each in (node.left, node.right))
        if sign is not None and (not texts or _number(node.left) or _number(node.right)) and self._names:
            self._plant("sign", node, f"({self._text(node.left)}) {sign} ({self._text(node.right)})")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._plant("never", node.test, f"({self._text(node.test)}, False)[1]")
        self._plant("always", node.test, f"({self._text(node.test)}, True)[1]")
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self._plant("filter removed", condition, f"({self._text(condition)}, True)[1]")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._plant("constant", node, str(not node.value))
        elif isinstance(node.value, (int, float)):
            self._plant("constant", node, *(f"({node.value + more})" for more in (1, -1)))

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in _NOT_MEANT:
            return
        if isinstance(node.func, ast.Name) and name in _SWAPPED:
            self._plant("swapped", node.func, _SWAPPED[name])
        if name == "get" and node.args:
            self._is_key(node.args[0])
        if name == "zip":  # `strict` is an assertion
            node.keywords = []
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._is_key(node.slice)
        self.generic_visit(node)

    def _is_key(self, node: ast.expr) -> None:
        """Of `found.get(name or "")`, the `or` is for the type checker: None finds nothing either."""
        if isinstance(node, ast.BoolOp) and isinstance(last := node.values[-1], ast.Constant) and last.value == "":
            self._keys.add(node)

    # Rows of tables

    def _rows(self, node: ast.List | ast.Tuple | ast.Set) -> None:
        if isinstance(node.ctx if not isinstance(node, ast.Set) else None, ast.Store) or not self._is_table(node):
            self.generic_visit(node)
            return
        for each in node.elts:
            self._plant("row removed", each, "*()")
        self.generic_visit(node)

    visit_List = visit_Tuple = visit_Set = _rows  # noqa: N815 - ast's own names

    def visit_Dict(self, node: ast.Dict) -> None:
        if not self._names:
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None:
                    (start, _), (_, end) = self._span(key), self._span(value)
                    old = self._data[start:end].decode()
                    self.found.append(Fault(self.file, "", "row removed", old, "**{}", key.lineno, start))
        self.generic_visit(node)

    def _is_table(self, node: ast.List | ast.Tuple | ast.Set) -> bool:
        """A constant of the module that lists things; `a, b = 1, 2` and `x[a, b]` list nothing."""
        written = self._text(node)
        return not self._names and len(node.elts) > 1 and written[:1] in "([{" and not _only_numbers(node)


def _sign(operator: ast.cmpop) -> str:
    return {
        ast.Eq: "==",
        ast.NotEq: "!=",
        ast.Lt: "<",
        ast.LtE: "<=",
        ast.Gt: ">",
        ast.GtE: ">=",
        ast.Is: "is",
        ast.IsNot: "is not",
        ast.In: "in",
        ast.NotIn: "not in",
    }[type(operator)]


def _number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def _only_numbers(node: ast.List | ast.Tuple | ast.Set) -> bool:
    return all(_number(each) for each in node.elts)


def compiles(text: str) -> bool:
    """Whether it is still Python."""
    try:
        compile(text, "planted", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def function_at(source: str, line: int) -> str:
    """`Class.method` of a line; empty at the top of the file."""
    names: list[str] = []
    inner: list[ast.AST] = [ast.parse(source)]
    while inner:
        node = inner.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                if child.lineno <= line <= (child.end_lineno or 0):
                    names.append(child.name)
                    inner = [child]
                    break
            else:
                inner.append(child)
    return ".".join(names)
