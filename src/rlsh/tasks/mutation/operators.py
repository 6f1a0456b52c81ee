"""The operators by name, and the family of each: what is held out is held out by family."""

from __future__ import annotations

from rlsh.tasks.mutation.aliasing import ALIASING
from rlsh.tasks.mutation.comparison import BOOLEAN, COMPARISON
from rlsh.tasks.mutation.control import CONTROL, EXCEPTIONS
from rlsh.tasks.mutation.conversion import TEXT, TYPES
from rlsh.tasks.mutation.dropped import DROPPED
from rlsh.tasks.mutation.lookup import MAPPING, SLICES
from rlsh.tasks.mutation.naming import CLOSURE, IMPORTS, NAMES
from rlsh.tasks.mutation.numeric import ARITHMETIC, BOUNDARY
from rlsh.tasks.mutation.ordering import ORDER
from rlsh.tasks.mutation.subject import Operator
from rlsh.tasks.mutation.syntax import SYNTAX

FAMILIES: dict[str, tuple[Operator, ...]] = {
    "comparison": COMPARISON,
    "boolean": BOOLEAN,
    "arithmetic": ARITHMETIC,
    "boundary": BOUNDARY,
    "order": ORDER,
    "dropped": DROPPED,
    "control": CONTROL,
    "exceptions": EXCEPTIONS,
    "names": NAMES,
    "closure": CLOSURE,
    "imports": IMPORTS,
    "slices": SLICES,
    "mapping": MAPPING,
    "aliasing": ALIASING,
    "types": TYPES,
    "text": TEXT,
    "syntax": SYNTAX,
}
OPERATORS: dict[str, Operator] = {o.__name__: o for operators in FAMILIES.values() for o in operators}
FAMILY: dict[str, str] = {o.__name__: family for family, operators in FAMILIES.items() for o in operators}
