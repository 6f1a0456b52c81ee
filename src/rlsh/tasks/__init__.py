"""Tasks: drawn from a seed, stored as JSONL. No torch."""

from rlsh.tasks.task import Hidden, Task, read_tasks, write_tasks

__all__ = ["Hidden", "Task", "read_tasks", "write_tasks"]
