"""What the code of a formula may do that comes from outside: a web form, a file.

Code is read as a tree (`ast`) and never evaluated here.  Everything that is not allowed by name is
refused, so that what is not thought of is refused too.
"""

import ast
import operator
from collections.abc import Callable, Collection, Container, Mapping
from types import ModuleType
from typing import Any, NoReturn

from sgmc.formula.evaluation.allowlist import CONTRASTS, OF_PYTHON, name_of, names_of
from sgmc.formula.evaluation.functions import IN_PART
from sgmc.formula.evaluation.transforms import MOST_DEGREE
from sgmc.formula.evaluation.widths import TENSOR, degree_of, fitted_word, own_columns

DEEPEST = 40  # nodes within each other
LARGEST = 1e15  # whole number
LARGEST_POWER = 64
MOST_BASIS = 100  # columns of a spline or polynomial of one covariate
MOST_TENSOR = 400  # of one of several
MOST_OF_FILES = 10_000  # the same in files of formulas of one's own, whose transforms are checked
MOST_COUNT = 1000  # intervals, differences and digits
BASES = ("bs", "cr", "cc", "te", "ns", "poly")
TEXTUAL = ("C", "factor", "relevel", "Surv", "ns", "bs", "Categorical", "cut", "qcut", "isin")
TEXTUAL += ("where", "select", *CONTRASTS)  # functions whose arguments may be text
COUNTED = (*BASES, "cut", "qcut", "diff", "round", "around")  # what follows x is a count
POWERS = ("power", "float_power", "pow", "left_shift", "bitwise_left_shift")
UNBOUNDED = ("python", "math")  # homes of functions whose numbers have any number of digits
# what would write into an array, leave it unwritten, or compute with objects of Python
NOT_GIVEN = ("out", "where", "signature", "sig", "casting", "subok", "extobj")
DTYPES = ("float64", "float32", "int64", "int32", "bool", "float", "int")
FOLDED: dict[type[Any], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd)
OPERATORS += (ast.BitOr, ast.BitXor, ast.USub, ast.UAdd, ast.Not, ast.Invert)
REASONS = {
    ast.Lambda: "a lambda is a function of its own",
    ast.Subscript: "brackets take what is no column",
    ast.Attribute: "a dot takes what belongs to an object",
    ast.JoinedStr: "text with code in it",
    ast.NamedExpr: "':=' changes names",
    ast.IfExp: "'if' is no arithmetic: use np.where()",
    ast.Starred: "a star takes arguments apart",
    ast.Dict: "a dict is no column",
    ast.Set: "a set is no column",
    ast.Await: "'await' is no arithmetic",
}
REASONS |= dict.fromkeys(
    (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), "a comprehension is a loop"
)


class Refused(Exception):
    """Code that is not allowed: the piece of it, and why."""

    def __init__(self, piece: str, reason: str) -> None:
        super().__init__(f"{piece!r}: {reason}")
        self.piece, self.reason = piece, reason


class Check:
    """Looks through code; raises `Refused`.

    Parameters
    ----------
    columns : container of str
        Names that are columns.
    functions : dict
        Name -> function or module that the code would call.
    own : container of str
        Of these, names that the user has given for this code.
    transforms : container of str
        Names of fitted transforms, of which ``name.transform(...)`` is called.
    bounded : bool
        Whether splines and the like are at most as wide as formulas from outside may have them.
    """

    def __init__(
        self,
        columns: Container[str],
        functions: Mapping[str, Any],
        own: Collection[str] = (),
        transforms: Collection[str] = (),
        bounded: bool = True,
    ) -> None:
        self.columns, self.functions = columns, functions
        self.own, self.transforms, self.bounded = own, transforms, bounded

    def code(self, code: str) -> None:
        """Look through an expression."""
        self.text = code
        try:
            tree = ast.parse(code.strip(), mode="eval")
        except (SyntaxError, ValueError) as error:
            raise Refused(code, f"it is no expression ({error.args[0]})") from error
        except (RecursionError, MemoryError) as error:
            raise Refused(code[:40], "it is too deep") from error
        self.text = code.strip()
        self.value(tree.body, 0)

    def refuse(self, node: Any, reason: str) -> NoReturn:
        """Raise `Refused` for a node."""
        raise Refused(ast.get_source_segment(self.text, node) or self.text, reason)

    def value(self, node: Any, depth: int, text: bool = False, columns: bool = True) -> None:
        """Look through what is to have a value; `text` where it may be text or a list, `columns`
        where columns may be in it.
        """
        if depth > DEEPEST:
            self.refuse(node, f"it is deeper than {DEEPEST} levels")
        down = depth + 1
        if isinstance(node, ast.Constant):
            self.constant(node, text)
        elif isinstance(node, ast.Name):
            self.name(node, text, columns)
        elif isinstance(node, ast.Call):
            self.call(node, down, columns)
        elif isinstance(node, ast.BinOp | ast.UnaryOp) and isinstance(node.op, OPERATORS):
            for part in operands(node):
                self.value(part, down, columns=columns)
            if isinstance(node.op, ast.Pow):
                self.power(node, node.left, node.right)
            self.number(node)
        elif isinstance(node, ast.BoolOp):
            for part in node.values:
                self.value(part, down, columns=columns)
        elif isinstance(node, ast.Compare):
            for part in (node.left, *node.comparators):
                self.value(part, down, text=True, columns=columns)
        elif isinstance(node, ast.List | ast.Tuple) and text:
            for part in node.elts:
                self.value(part, down, text=True, columns=columns)
        elif isinstance(node, ast.Attribute):
            self.attribute(node)
            if callable(getattr(self.module(node), node.attr, None)):
                self.refuse(node, "a function is called, with parentheses after it")
        else:
            kind = "a list stands in a call" if isinstance(node, ast.List | ast.Tuple) else None
            self.refuse(node, REASONS.get(type(node), kind or "it is no arithmetic of columns"))

    def constant(self, node: Any, text: bool) -> None:
        """A plain value."""
        if isinstance(node.value, str):
            if not text:
                self.refuse(
                    node, "text is compared with a column, or is a level in C() or the like"
                )
        elif isinstance(node.value, int) and abs(node.value) > LARGEST:
            self.refuse(node, "the number is too large")
        elif not isinstance(node.value, int | float | bool | None):
            self.refuse(
                node, f"{type(node.value).__name__} is no number, text, True, False or None"
            )

    def name(self, node: Any, text: bool, columns: bool) -> None:
        """A name that is not called: a column, or coding of levels as in ``C(g, Sum)``."""
        if node.id in self.columns:
            if not columns:
                self.refuse(node, "an argument by name is a plain value")
        elif not (text and node.id in CONTRASTS and self.known(node.id)):
            self.refuse(node, "it is no column")

    def known(self, name: str) -> bool:
        """Whether a name is that of a listed function, or of one that the user has given."""
        value = self.functions.get(name)
        return value is not None and (name in self.own or name_of(value) is not None)

    def call(self, node: Any, depth: int, columns: bool) -> None:
        """A call of a listed function."""
        function = node.func
        if isinstance(function, ast.Attribute):
            name = self.attribute(function)
        elif isinstance(function, ast.Name):
            name = function.id
            if name in self.columns or not self.known(name):
                self.refuse(function, "it is not in the list of functions")
            if isinstance(self.functions[name], ModuleType):
                self.refuse(function, "a module is not called")
        else:
            self.refuse(node, "only functions are called, by their names")
        text = name in self.own or (name in TEXTUAL and name not in OF_PYTHON)
        lists = text or name in BASES
        if name in POWERS and len(node.args) > 1:
            self.power(node, *node.args[:2])
        for place, part in enumerate(node.args):
            self.argument(part, name, depth, lists, columns)
            if place and name in COUNTED and name != TENSOR:
                self.count(part, name)
        for part in node.keywords:
            if part.arg is None:
                self.refuse(part.value, "two stars take arguments apart")
            if part.arg in NOT_GIVEN and name not in self.own:
                self.refuse(node, f"{part.arg}= is not for formulas")
            if part.arg == "dtype" and name not in self.own:
                self.dtype(part.value)
            if name in COUNTED:
                self.count(part.value, name)
            named = name in IN_PART and columns
            self.argument(part.value, name, depth, True, named)
        if name in BASES:
            self.basis(node, name)

    def basis(self, node: Any, name: str) -> None:
        """Refuse a basis of too many columns, or of too high a degree."""
        if name == "bs" and degree_of(node) > MOST_DEGREE:
            self.refuse(node, f"the degree of bs() is at most {MOST_DEGREE}")
        most = (MOST_TENSOR if name == TENSOR else MOST_BASIS) if self.bounded else MOST_OF_FILES
        if own_columns(node) > most:
            self.refuse(node, f"{name}() has at most {most:,} columns")

    def argument(self, node: Any, name: str, depth: int, text: bool, columns: bool) -> None:
        """An argument of a call."""
        self.value(node, depth, text=text, columns=columns)

    def count(self, node: Any, name: str) -> None:
        """What follows the first argument of a call that makes as much of it: plain values."""
        if isinstance(node, ast.List | ast.Tuple):
            return
        if not isinstance(node, ast.Constant):
            node = node.operand if isinstance(node, ast.UnaryOp) else node
            if not isinstance(node, ast.Constant):
                self.refuse(node, f"in {name}() what follows the first argument is a plain value")
        if isinstance(node.value, int | float) and not abs(node.value) <= MOST_COUNT:
            self.refuse(node, f"in {name}() numbers such as this one are at most {MOST_COUNT:,}")

    def dtype(self, node: Any) -> None:
        """The type of numbers that a function is to compute with."""
        if not (isinstance(node, ast.Constant) and node.value in DTYPES):
            self.refuse(node, f"dtype is one of {', '.join(DTYPES)}, as text")

    def attribute(self, node: Any) -> str:
        """What follows a dot: a listed function of a module, or a transform's; its last name."""
        base = node.value
        if isinstance(base, ast.Name) and base.id in self.transforms and node.attr == "transform":
            return fitted_word(base.id)
        module = self.module(node)
        if module is None:
            self.refuse(node, REASONS[ast.Attribute])
        root: Any = base
        while isinstance(root, ast.Attribute):
            root = root.value
        if root.id in self.own:
            if node.attr.startswith("_") or not isinstance(base, ast.Name):
                self.refuse(node, "only functions of the module itself can be called")
            return node.attr
        if node.attr not in names_of(module.__name__):
            self.refuse(node, f"it is not in the list of functions of {module.__name__}")
        return node.attr

    def module(self, node: Any) -> ModuleType | None:
        """The module before the last dot, None where there is none that is listed or given."""
        base = node.value
        if isinstance(base, ast.Name):
            found = None if base.id in self.columns else self.functions.get(base.id)
            if found is not None and base.id in self.own:
                return found
            return found if isinstance(found, ModuleType) and name_of(found) else None
        if isinstance(base, ast.Attribute):
            above = self.module(base)
            if above is not None and above.__name__ == "scipy" and base.attr == "special":
                return above.special
        return None

    def power(self, node: Any, base: Any, exponent: Any) -> None:
        """Refuse powers that Python would compute with all their digits."""
        for part in (*ast.walk(base), *ast.walk(exponent)):
            if isinstance(part, ast.Call) and self.home(part.func) in UNBOUNDED:
                self.refuse(node, "powers are of columns and numbers, not of what Python computes")
        size = self.number(exponent)
        if size is None and plain(exponent) or size is not None and abs(size) > LARGEST_POWER:
            self.refuse(node, f"powers are at most {LARGEST_POWER}")

    def home(self, function: Any) -> str:
        """Where a listed function is from: the module, "python" or the like."""
        if isinstance(function, ast.Attribute):
            return getattr(self.module(function), "__name__", "")
        found = self.functions.get(function.id) if isinstance(function, ast.Name) else None
        return str(name_of(found)).partition(".")[0]

    def number(self, node: Any) -> Any:
        """The number that an expression of numbers is, None for any other; refused if too large."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int | float) else None
        if not isinstance(node, ast.BinOp | ast.UnaryOp) or type(node.op) not in FOLDED:
            return None
        parts = [self.number(part) for part in operands(node)]
        if None in parts:
            return None
        if isinstance(node.op, ast.Pow) and abs(parts[1]) > LARGEST_POWER:
            self.refuse(node, f"powers are at most {LARGEST_POWER}")
        try:
            found = FOLDED[type(node.op)](*parts)
        except ArithmeticError as error:
            self.refuse(node, f"it is no number ({error})")
        if isinstance(found, complex) or isinstance(found, int) and abs(found) > LARGEST:
            self.refuse(node, "the number is too large, or complex")
        return found


def operands(node: Any) -> tuple[Any, ...]:
    """The operands of an operation."""
    return (node.operand,) if isinstance(node, ast.UnaryOp) else (node.left, node.right)


def plain(node: Any) -> bool:
    """Whether a node is of numbers alone."""
    return not any(isinstance(part, ast.Name) for part in ast.walk(node))
