"""Broken shell commands: families, and the tasks that are drawn from them."""

from rlsh.tasks.shell.draft import Draft
from rlsh.tasks.shell.draw import draw, redrawn, task_of
from rlsh.tasks.shell.drills import TaskSet
from rlsh.tasks.shell.sets import FAMILIES, SET_OF, SETS

__all__ = ["FAMILIES", "SETS", "SET_OF", "Draft", "TaskSet", "draw", "redrawn", "task_of"]
