"""Shell lines that are pipelines of text tools, in words, with texts to work on and with faults."""

import random
import re

import pytest

from rlsh.tasks.harvest import harvest_shell, source_tree
from rlsh.tasks.harvest.outcome import UnfitError
from rlsh.tasks.harvest.pipeline import parse_pipeline
from rlsh.tasks.harvest.pipeline_faults import FAULTS
from rlsh.tasks.harvest.pipeline_words import delimiter, described, fields, lines_for, samples
from rlsh.tasks.harvest.shell import commands
from rlsh.tasks.world import World


def world(seed=0):
    return World(random.Random(seed), "train")


def harvested(tmp_path, script):
    (tmp_path / "a.sh").write_text(script)
    accepted, rejected = harvest_shell(source_tree(tmp_path))
    return accepted, {row.function: row.reason for row in rejected}


def reason(line):
    with pytest.raises(UnfitError) as error:
        parse_pipeline(line)
    return f"{error.value.kind}: {error.value.detail}".rstrip(": ")


# --- what is understood -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("refused", "why", "twin"),
    [
        ("npm list | grep x", "external program: npm", "sort a.txt | grep x"),
        ("grep x a.txt | xargs rm", "external program: xargs rm", "grep x a.txt | xargs echo"),
        ("$TOOL a.txt", "external program: in a variable", "sort $INPUT"),
        ("grep $WORD a.txt", "variable: $WORD", "grep '$WORD' a.txt"),
        ('grep "a$WORD" a.txt', "variable", 'grep "aWORD" "$1"'),
        ("head -n $N a.txt", "variable: the value of -n", "head -n 3 a.txt"),
        ('grep "$(date)" a.txt', "command substitution", "grep '$(date)' a.txt"),
        ("grep `date` a.txt", "command substitution: `date` a.txt", "grep date a.txt"),
        ("sort *.txt", "glob: *.txt", "grep 'x*' a.txt"),
        ("sort ~/a.txt", "home directory", "sort ../a.txt"),
        ("sort a.txt && rm b", "several commands: &&", "grep '&&' a.txt"),
        ("sort a.txt; ls", "several commands: ;", "sed 's/a/b/; s/c/d/' a.txt"),
        ("sort a.txt & ", "background process: &", "sort a.txt 2>/dev/null"),
        ("sort a.txt > /dev/stderr", "device: /dev/stderr", "sort a.txt > /tmp/b.txt"),
        ("sort < a.txt | uniq < b.txt", "not understood: a redirection within the pipeline", "sort < a.txt | uniq"),
        ("sort a.txt | grep x b.txt", "not understood: a later program reads a file", "sort a.txt | grep x -"),
        ("sort < | uniq", "not understood: what follows <", "sort < a.txt | uniq"),
        ("grep x a.txt | xargs -n 1 ls -x", "external program: xargs ls", "grep x a.txt | xargs -n 1 echo -x"),
        ("sort a.txt |", "not understood: an empty command", "sort a.txt # |"),
        ("sort a.txt >", "not understood: an empty command", "sort a.txt >> b"),
        ("sort --parallel 3 a.txt", "unknown option: sort --parallel", "sort -n a.txt"),
        ("sort -R a.txt", "unknown option: sort -R", "sort -rn a.txt"),
        ("tail -f a.txt", "unknown option: tail -f", "tail -5 a.txt"),
        ("sed -i s/a/b/ a.txt", "unknown option: sed -i", "sed -n 2p a.txt"),
        ("sed 's/a/b/w c' a.txt", "not understood: a sed program", "sed 's/a/w c/' a.txt"),
        ("sed 's/a/date/e' a.txt", "not understood: a sed program", "sed '/date/d' a.txt"),
        (
            "awk '{system($1)}' a.txt",
            "outside world: an awk program that runs, reads or writes something",
            "awk '{print $1}' a.txt",
        ),
        (
            "awk '{print > $1}' a.txt",
            "outside world: an awk program that runs, reads or writes something",
            "awk '$1 > 3 {print $2}' a.txt",
        ),
        ("echo hello", "reads no input: echo", 'echo "$TEXT" | sort'),
        ("seq 3 | sort", "reads no input: seq", "cat a.txt | sort"),
        (f"grep {'x' * 300} a.txt", "too long: 311 characters", f"grep {'x' * 200} a.txt"),
        ("sort 'a", "not understood: 'a", "sort 'a b'"),
    ],
)
def test_what_is_not_surely_understood_is_refused_and_its_twin_is_not(refused, why, twin):
    assert reason(refused).startswith(why)
    assert parse_pipeline(twin).stages


def test_a_pipeline_is_read_as_the_programs_read_it():
    found = parse_pipeline("grep -iE -A 2 -e 'a b' \"$1\" | cut -d, -f 2 | head -5 >> /tmp/x/out.txt")
    grep, cut, head = found.stages
    assert grep.options == (("i", ""), ("E", ""), ("A", "2"), ("e", "a b"))
    assert [grep.words[i].raw for i in grep.files] == ['"$1"']
    assert cut.options == (("d", ","), ("f", "2")) and not cut.files
    assert head.options == (("n", "5"),)
    assert (found.source, found.target, found.appends) == ("", "out.txt", True)
    assert parse_pipeline("sort | uniq -c").source == "input.txt"
    assert parse_pipeline("printf '%s\\n' \"${A[@]}\" | sort").source == "input.txt"


# --- scripts ----------------------------------------------------------------------------------------------------

SCRIPT = """#!/bin/sh
set -e
# The most frequent visitors.
cut -d' ' -f1 access.log | sort \\
  | uniq -c | sort -rn | head -n 3
count() {
    grep -c error "$1"
}
N=$(grep -v '^#' hosts.txt |
    wc -l)
cat <<EOF
sort not.a.command
EOF
python3 -c "
sort not.a.command.either
"
sort names.txt >> all.txt
grep -c error other.log
x=1
awk '{a[$1]++} END {for (k in a) print k}' b.txt
"""


def test_a_script_is_read_command_by_command(tmp_path):
    assert [number for number, _, _ in commands(SCRIPT)] == [2, 4, 6, 7, 8, 9, 11, 14, 17, 18, 19, 20]
    accepted, rejected = harvested(tmp_path, SCRIPT)
    assert [one.source_id for one in accepted] == ["a.sh::4", "a.sh::7", "a.sh::9", "a.sh::17"]
    assert rejected == {
        "line 2": "shell builtin: set",
        "line 6": "control structure: count",
        "line 8": "control structure: }",
        "line 11": "not understood: <<",
        "line 14": "external program: python3",
        "line 18": "duplicate: a.sh::7",
        "line 19": "assignment: x",
        "line 20": "nothing says what it does: awk '{a[$1]++} END {for (k in a) print k}' b.txt",
    }
    assert accepted[0].comment == "The most frequent visitors" and accepted[1].comment == ""


def test_a_comment_says_what_no_words_are_known_for(tmp_path):
    (one,), _ = harvested(
        tmp_path, "# Print each first field once.\nawk '{a[$1]++} END {for (k in a) print k}' b.txt\n"
    )
    assert re.fullmatch(
        r"From \w+\.txt: Print each first field once\.", one.draft("mistyped_program", world()).instruction
    )


def test_a_secret_in_a_line_or_its_comment_is_refused(tmp_path):
    assert harvested(tmp_path, "grep AKIA" + "ABCDEFGHIJKLMNOP a.txt\n")[1] == {"line 1": "secret: AWS key"}
    assert harvested(tmp_path, "# ask ada@" + "lovelace.name\ngrep x a.txt\n")[1] == {
        "line 2": "secret: e-mail address"
    }
    assert harvested(tmp_path, "# ask ada@example.org\ngrep x a.txt\n")[1] == {}
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    for line in (f"{key} {{", f"KEY={key} (", f"grep {key} *", f"xargs {key}", f"tail --{key}", f"awk '{key}' a.txt"):
        assert set(harvested(tmp_path, line + "\n")[1].values()) == {"secret: AWS key"}


# --- faults -----------------------------------------------------------------------------------------------------

# fault: (a line that has it, what it can become, a line without a place for it)
BROKEN = {
    "mistyped_program": ("sort a.txt", r"(?!sort )\w+ \w+\.txt", None),
    "dropped_flag": ("grep -ic x a.txt", r"grep -[ic] x \w+\.txt", "grep x a.txt"),
    "wrong_field": ("cut -d, -f2 a.csv", r"cut -d, -f3 \w+\.csv", "cut -c2 a.csv"),
    "wrong_delimiter": (
        "awk -F, '{print $2}' a.csv",
        r"awk -F'[;:|]' '\{print \$2\}' \w+\.csv",
        "awk '{print $2}' a.csv",
    ),
    "first_match_only": ("sed 's/g/h/g; s/i/j/' a.txt", r"sed 's/g/h/; s/i/j/' \w+\.txt", "sed 's/g/h/' a.txt"),
    "unsorted_uniq": ("cat a.txt | sort | uniq -c", r"cat \w+\.txt \| uniq -c", "sort a.txt | uniq"),
    "open_quote": ("grep 'a b' a.txt", r"grep 'a b \w+\.txt", "grep a a.txt"),
    "overwriting": ("sort a.txt >> b.txt", r"sort \w+\.txt > \w+\.txt", "sort a.txt > b.txt"),
    "count_as_file": ("head -n 3 a.txt", r"head 3 \w+\.txt", "head a.txt"),
    "other_end": ("tail -3 a.txt", r"head -3 \w+\.txt", "tail -n +3 a.txt"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_put_in_where_it_has_a_place(tmp_path, fault):
    line, wanted, without = BROKEN[fault]
    (one,), _ = harvested(tmp_path, line + "\n")
    assert fault in one.faults
    for seed in range(20):
        draft = one.draft(fault, world(seed))
        assert re.fullmatch(wanted, draft.broken), draft.broken
        assert draft.broken != draft.repair
    assert one.draft(fault, world(3)).broken == one.draft(fault, world(3)).broken
    if without:
        (other,), _ = harvested(tmp_path, without + "\n")
        assert fault not in other.faults
        with pytest.raises(UnfitError):
            other.draft(fault, world())


def test_what_is_read_by_redirection_and_a_delimiter_of_its_own_word(tmp_path):
    (one,), _ = harvested(tmp_path, "cut -d , -f 2 < a.csv\n")
    draft = one.draft("wrong_delimiter", world())
    assert re.fullmatch(r"cut -d , -f 2 < \w+\.csv", draft.repair)
    assert re.fullmatch(r"cut -d '[;:|]' -f 2 < \w+\.csv", draft.broken)
    assert re.fullmatch(r"cut -d , -f 3 < \w+\.csv", one.draft("wrong_field", world()).broken)


def test_a_draft_has_new_names_and_new_contents(tmp_path):
    (one,), _ = harvested(tmp_path, "grep -E 'warn|error' /var/log/app.log | sort > out.txt\n")
    w = world(1)
    draft = one.draft("dropped_flag", w)
    name, target = re.fullmatch(r"grep -E 'warn\|error' (\w+\.log) \| sort > (\w+\.txt)", draft.repair).groups()
    assert draft.instruction == (
        f"From {name}: keep the lines that match 'warn|error', then sort the lines. Write the result to {target}."
    )
    first, second = draft.fixtures(w), draft.fixtures(w)
    assert first.keys() == second.keys() == {name} and first != second
    lines = first[name].content.decode().splitlines()
    assert 2 <= sum(bool(re.search("warn|error", line)) for line in lines) < len(lines)
    appended = harvested(tmp_path, "sort a.txt >> b.txt\n")[0][0].draft("overwriting", w)
    assert len(appended.fixtures(w)) == 2


def test_a_copy_that_is_written_on_the_way_is_no_input(tmp_path):
    (one,), _ = harvested(tmp_path, "# Sorts names\nsort a.txt | tee b.log | head -n 3\n")
    w = world()
    draft = one.draft("other_end", w)
    name, copy = re.fullmatch(r"sort (\w+\.txt) \| tee (\w+\.log) \| head -n 3", draft.repair).groups()
    assert set(draft.fixtures(w)) == {name} and copy in draft.broken


# --- words ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("grep -vi x a", "keep the lines that do not match 'x' in any case"),
        ("grep -Fc x a", "count the lines that contain 'x'"),
        ("grep -o -e x -e y a", "print each match of 'x' or 'y' on a line of its own"),
        ("grep -n x a", "keep the lines that match 'x', with their line numbers"),
        ("sed 's/a/b/g; /c/d' a", "replace every match of 'a' by 'b' and delete the lines that match 'c'"),
        ("sed 's|a/b|c|' a", "replace the first match in each line of 'a/b' by 'c'"),
        ("sed -n '2,$p' a", "keep line 2 to the last"),
        ("sed 1d a", "delete line 1"),
        ("awk -F: '{print $NF}' a", "keep the last field of those separated by ':'"),
        ("awk '/x/ {print $2}' a", "keep field 2 of the lines that match 'x'"),
        ("awk '{s += $3} END {print s}' a", "add up field 3"),
        ("cut -f1,3 a", "keep field 1,3 of those separated by tabs"),
        ("cut -c1-3 a", "keep characters 1-3 of each line"),
        ("sort -t: -k2 -nr a", "sort the lines by number by field 2 of those separated by ':' in reverse"),
        ("sort -u a | uniq -d", "sort the lines without duplicates, then keep what is repeated in a row"),
        ("tr -d '\"' < a | tr a-z A-Z", "delete the characters '\"', then turn the characters 'a-z' into 'A-Z'"),
        ("head a | tail -n +2", "keep the first 10 lines, then keep everything from line 2 on"),
        ("paste -sd, a | rev", "join all lines to one with ',' between, then reverse each line"),
        ("cat a | wc -l", "count the lines"),
        ("fold -w 20 a | nl", "break lines after 20 characters, then number the lines"),
    ],
)
def test_what_a_pipeline_does_in_words(line, words):
    assert described(parse_pipeline(line)) == words


@pytest.mark.parametrize(
    "line",
    ["cat a", "grep -A 2 x a", "sed 2p a", "sed -n 2d a", "sed -e = a", "awk '$1 > 3' a", "comm a b", "tr -c x y < a",
     "sort -M a", "uniq -f 1 a", "head -c 5 a", "wc a", "paste a b", "cut -b 1 a"],
)  # fmt: skip
def test_what_there_are_no_words_for(line):
    with pytest.raises(UnfitError, match="nothing says"):
        described(parse_pipeline(line))


def test_samples_are_taken_from_every_program():
    line = "grep -F 'a.b' a | sed 's/cd/x/; /ef/d' | awk '/gh/ {print $1}' | tr i j"
    assert samples(parse_pipeline(line)) == ["a.b", "cd", "ef", "gh", "i"]


def test_of_alternatives_each_has_a_sample_in_the_syntax_that_is_asked_for():
    assert samples(parse_pipeline("grep -E 'a+|b\\+' a")) == ["a", "b+"]
    assert samples(parse_pipeline("grep 'a+|b\\|c\\+' a")) == ["a+|b", "c"]
    assert samples(parse_pipeline("sed -E 's/(a)+/b/' a | sed 's/(a)\\+/b/'")) == ["a", "(a)"]


def test_a_text_has_the_columns_and_the_length_that_the_pipeline_looks_at():
    found = parse_pipeline("cut -d: -f4 a | tail -n 30")
    assert (delimiter(found), fields(found)) == (":", 5)
    lines = lines_for(found, world())
    assert len(lines) > 60 and all(line.count(":") == 4 for line in lines)
    assert len(set(lines)) < len(lines)
    assert delimiter(parse_pipeline("cut -f2 a")) == "\t" and delimiter(parse_pipeline("sort a")) == " "
