"""What a run did, as one HTML file that opens anywhere."""

from rlsh.report.html import write_run_report

__all__ = ["write_run_report"]
