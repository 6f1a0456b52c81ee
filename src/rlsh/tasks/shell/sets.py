"""Every family of shell tasks, by the set it belongs to.

Drills are the demo's, for the smallest models. Of the realistic families those of "shell_never_met" are kept for
evaluation: no other family has a fault of their kinds.
"""

from __future__ import annotations

from rlsh.tasks.shell import archives, chores, drills, files, filters, quoting, redirects, reports, scripts, tables
from rlsh.tasks.shell.draft import Family

SETS: dict[str, tuple[Family, ...]] = {
    "demonstrated": drills.SETS["demonstrated"],
    "reward_only": drills.SETS["reward_only"],
    "never_met": drills.SETS["never_met"],
    "shell": (
        filters.program_in_pipeline,
        filters.long_option,
        filters.every_match,
        filters.either_level,
        filters.repeated_digits,
        filters.rewritten_file,
        tables.column_by_name,
        tables.other_delimiter,
        tables.largest_orders,
        tables.distinct_rooms,
        tables.requests_by,
        tables.field_of_log,
        tables.totals,
        files.module_path,
        files.whole_folder,
        files.searched_folder,
        files.deep_folder,
        files.backed_up_folder,
        files.other_way_round,
        files.file_first,
        redirects.edited_where_found,
        quoting.spaced_path,
        quoting.variable_in_quotes,
        quoting.awk_in_double_quotes,
        quoting.glob_for_find,
        quoting.glob_in_quotes,
        quoting.open_ended,
        redirects.kept_lines,
        redirects.collected_in_loop,
        archives.tar_member,
        archives.unpacked_elsewhere,
        archives.kind_of_archive,
        archives.zip_member,
        archives.file_at_tag,
        archives.log_option,
        scripts.tight_brackets,
        scripts.text_as_number,
        scripts.other_variable,
        scripts.no_execute_bit,
        reports.merged_logs,
        reports.best_orders,
        chores.stored_notes,
        reports.frequent_rooms,
        reports.failed_services,
        chores.tidy_names,
        chores.checked_release,
        chores.gathered_notes,
    ),
    "shell_never_met": (
        quoting.path_in_sed,
        redirects.both_streams,
        redirects.names_with_spaces,
        archives.compressed_log,
        scripts.carriage_returns,
        scripts.hidden_failure,
        scripts.loop_over_ls,
    ),
}
SET_OF: dict[str, str] = {f.__name__: s for s, families in SETS.items() for f in families}
FAMILIES: dict[str, Family] = {f.__name__: f for families in SETS.values() for f in families}
