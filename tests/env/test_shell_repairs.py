"""Repairs that are as good as the reference's are rewarded, too: a check must not ask for one way of doing it."""

import re

import pytest

from rlsh.env.admission import LIMITS, record
from rlsh.env.verify import verify_calls
from rlsh.tasks.shell import draw
from rlsh.types import exec_call


def swap(*pairs):
    """The reference with one thing put for another, for each pair that it has."""
    return lambda draft: [draft.repair.replace(old, new) for old, new in pairs if old in draft.repair]


def rewritten(draft):
    command, _, rest = draft.repair.partition(" > ")
    name = rest.split()[-1]
    yield f'text=$({command}); printf "%s\\n" "$text" > {name}'
    yield f"{command} > /tmp/new; cat /tmp/new > {name}"
    if command.startswith("sort"):
        yield f"{command} -o {name}"


def either(draft):
    first, second, name = re.search(r"'(\w+)\|(\w+)' (\S+)$", draft.repair).groups()
    number = "-n " if "-n" in draft.repair else ""
    yield f"egrep {number}'{first}|{second}' {name} 2>/dev/null"
    yield f"grep {number}'{first}\\|{second}' {name}"
    yield f"cat {name} | grep {number}-e {first} -e {second}"


def found(draft):
    find, action = re.fullmatch(r"(find .*) -exec (.*) \{\} \\;", draft.repair).groups()
    yield f"{find} -exec {action} {{}} +"
    yield f"{find} | xargs {action}"
    yield f"for file in $({find}); do {action} $file; done"


def spaced(draft):
    find, action = re.fullmatch(r"(find .*) -print0 \| xargs -0 (.*)", draft.repair).groups()
    yield f"{find} -exec {action} {{}} \\;"
    yield f'{find} | while read -r file; do {action} "$file"; done'
    if action == "rm":
        yield f"{find} -delete"


def unpacked(draft):
    archive, place = re.search(r"-xzf (\S+) -C (\S+)", draft.repair).groups()
    yield f"mkdir -p {place}; cd {place}; tar xf ../../{archive}"
    yield f"mkdir {place.split('/')[0]} {place}; gzip -dc {archive} | tar -x -C {place}"


def redirected(draft):
    if "sort" in draft.repair:
        script, log = re.search(r"(sh \S+) .* > (\S+)", draft.repair).groups()
        yield f"({script} 2>&1) | sort -o {log}"
    else:
        yield draft.repair.replace(" 2>&1", "").replace(" >", " 2>&1 | cat >")
        yield draft.repair.replace(" 2>&1", "").replace(" >", " &>")


def decompressed(draft):
    name, command = re.fullmatch(r"gzip -dc (\S+) \| (.*)", draft.repair).groups()
    yield f"zcat {name} | {command}"
    yield f"gunzip -c < {name} | {command}"
    if command.startswith("grep"):
        yield f"z{command} {name}"


def in_place(*substitutions):
    """Orders to sed, for the script."""
    return lambda draft: [f"sed -i {order} {draft.script}" for order in substitutions]


def in_loop(draft):
    loop, out = re.fullmatch(r"(.*); done > (\S+)", draft.repair).groups()
    yield f"{loop} >> {out}; done"
    yield f"{loop} | tee -a {out}; done"


def restored(draft):
    if draft.repair.startswith("cp"):
        _, copy, name = draft.repair.split()
        yield f"cat {copy} > {name}"
        yield f"cp -f {copy} ./{name}"
    elif draft.repair.startswith("mv"):
        _, old, new = draft.repair.split()
        yield f"cp {old} {new} && rm {old}"
    else:
        yield draft.repair.replace("-s", "-sfn")


def read_line_by_line(draft):
    diff = draft.repair[0].arguments["edit_content"]
    folder, extension = re.search(r"^\+for file in (\w+)/\*\.(\w+); do", diff, re.MULTILINE).groups()
    loop = f'find {folder} -name "*.{extension}" | sort | while IFS= read -r file; do'
    return [f"sed -i '3s@.*@{loop}@' {draft.script}"]


def in_script(*orders):
    """Orders to sed, on the script."""
    return lambda draft: [f"sed -i {order} {draft.script}" for order in orders]


REPAIRS = {
    "every_match": swap(("/g'", "/g;'"), ("sed '", "sed -e '"), ("sed -i '", "sed -i -E '")),
    "either_level": either,
    "rewritten_file": rewritten,
    "largest_orders": swap(("sort -t, -k5,5nr", "sort -t, -rn -k5"), ("sort -t, -k5,5n ", "sort -n -t , -k 5,5 ")),
    "other_delimiter": swap(("cut -d';'", "cut -d ';'"), ("cut -d'|'", "cut -d\\|"), ("awk -F';'", "awk -F\\;")),
    "distinct_rooms": swap(("sort | uniq", "sort -s | uniq"), ("uniq -c", "uniq --count")),
    "totals": swap(("sort -rn", "sort -k1,1nr"), ("sort -rn", "sort -n | tac")),
    "program_in_pipeline": swap(("tail -n +2", "sed 1d"), ("cut -d, -f2", "awk -F, '{print $2}'")),
    "whole_folder": swap(("cp -r", "cp -R"), ("cp -r", "cp -a"), ("rm -r", "rm -rf")),
    "searched_folder": swap(("grep -r", "grep -R")),
    "deep_folder": swap((" && ", "; ")),
    "other_way_round": restored,
    "file_first": swap(("grep ", "grep -e "), ("sed ", "sed -e "), ("awk ", "awk -- ")),
    "edited_where_found": found,
    "spaced_path": swap(("'", '"')),
    "glob_for_find": swap(("'*", "\\*'"), ("'", '"')),
    "kept_lines": swap((">>", "| tee -a")),
    "collected_in_loop": in_loop,
    "tar_member": swap(("tar -xf", "tar xf"), ("tar -xzf", "tar xf")),
    "unpacked_elsewhere": unpacked,
    "kind_of_archive": swap(("tar -xf", "tar xf"), ("tar -xzf", "tar -xf"), ("tar -tf", "tar tf")),
    "both_streams": redirected,
    "names_with_spaces": spaced,
    "compressed_log": decompressed,
    "path_in_sed": swap(("|", "#"), ("|", ",")),
    "tight_brackets": in_script("""-E 's/\\[ \\$(team|city)=\\$wanted \\]/[ "$\\1" = "$wanted" ]/'"""),
    "text_as_number": in_script("'s/ -eq / = /; s/ -ne / != /'"),
    "carriage_returns": lambda draft: [f"tr -d '\\r' < {draft.script} > new; cat new > {draft.script}; rm new"],
    "no_execute_bit": lambda draft: [f"chmod 755 {draft.script}", f"chmod u+x {draft.script}"],
    "hidden_failure": in_script("'s/ if sort/ if [ -r $city.csv ] \\&\\& sort/'", "'2s/.*/set -o pipefail/'"),
    "loop_over_ls": read_line_by_line,
}
"""Family -> from its draft to commands that repair it as well."""


@pytest.mark.parametrize("family", sorted(REPAIRS))
def test_other_repairs_are_rewarded(sandbox, family):
    tried = 0
    for seed in range(5):
        draft, task = draw(family, seed, "train")
        repairs = list(REPAIRS[family](draft))
        if repairs:
            task = record(task, sandbox)
        for command in repairs:
            verdict = verify_calls(task, [exec_call(command)], sandbox, LIMITS)
            assert verdict.reward == 1.0, (command, verdict.reasons)
            tried += 1
    assert tried >= 2
