"""Tasks: drawn from a seed, stored as JSONL. No torch."""

from rlsh.tasks.task import Task, read_tasks, write_tasks

__all__ = ["Task", "read_tasks", "write_tasks"]
