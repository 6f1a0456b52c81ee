"""Broken shell commands: families, and the tasks that are drawn from them."""

from rlsh.tasks.shell.draft import Draft
from rlsh.tasks.shell.draw import Split, draw
from rlsh.tasks.shell.drills import FAMILIES, SET_OF, TaskSet

__all__ = ["FAMILIES", "SET_OF", "Draft", "Split", "TaskSet", "draw"]
