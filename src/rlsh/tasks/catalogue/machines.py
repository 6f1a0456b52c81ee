"""State machines and small interpreters."""

from rlsh.tasks.catalogue.reference import reference


@reference(lambda d: (d.pick(("a(b[c]{d})", "(]", "", "no")) + d.letters("()[]{}a", 6),))
def bracket_error(text: str) -> int:
    """Return the index of the first bracket, round, square or curly, that closes nothing or the wrong kind; if there
    is none, that of the last bracket left open, or -1."""
    closing = {")": "(", "]": "[", "}": "{"}
    open_at: list[int] = []
    for i, char in enumerate(text):
        if char in closing.values():
            open_at.append(i)
        elif char in closing:
            if not open_at or text[open_at[-1]] != closing[char]:
                return i
            open_at.pop()
    return open_at[-1] if open_at else -1


@reference(
    lambda d: (
        d.pick(
            (
                *(f"{d.number(-40, 40)} {d.number(-9, 9)} {op}" for op in "+-*//"),
                *(f"{d.number(-9, 9)} {d.number(1, 9)} {d.number(1, 5)} {pair}" for pair in ("+ *", "- /", "* -")),
                "5 1 2 + 4 * + 3 -",
                "1 +",
                "1 2",
                "2 3 ^",
            )
        ),
    )
)
def evaluate_postfix(expression: str) -> int:
    """Evaluate integers and the operators + - * / in postfix order, separated by blanks, where / rounds towards zero;
    raise ValueError for anything malformed and ZeroDivisionError for a division by 0."""
    stack: list[int] = []
    for token in expression.split():
        if token not in ("+", "-", "*", "/"):
            stack.append(int(token))
            continue
        if len(stack) < 2:
            raise ValueError("too few numbers")
        right, left = stack.pop(), stack.pop()
        if token == "+":
            stack.append(left + right)
        elif token == "-":
            stack.append(left - right)
        elif token == "*":
            stack.append(left * right)
        else:
            quotient = abs(left) // abs(right)
            stack.append(quotient if (left < 0) == (right < 0) else -quotient)
    if len(stack) != 1:
        raise ValueError("not one result")
    return stack[0]


@reference(
    lambda d: (
        d.pick(
            (
                e := "".join(
                    d.pick(("a", "b", "( a + b )", "( b ^ c )")) + d.pick((" + ", " - ", " * ", " ^ "))
                    for _ in range(d.number(0, 4))
                )
                + "c",
                e,
                e,
                e + " )",
                "( " + e,
            )
        ),
    )
)
def to_postfix(expression: str) -> list[str]:
    """Turn an expression of names, + - * ^ and parentheses, all separated by blanks, into postfix order: ^ binds
    strongest and from the right, then *, then + and -, both from the left; raise ValueError for parentheses that do
    not match."""
    strength = {"+": 1, "-": 1, "*": 2, "^": 3}
    output: list[str] = []
    waiting: list[str] = []
    for token in expression.split():
        if token in strength:
            while waiting and waiting[-1] != "(":
                above = strength[waiting[-1]]
                if above < strength[token] or (above == strength[token] and token == "^"):
                    break
                output.append(waiting.pop())
            waiting.append(token)
        elif token == "(":
            waiting.append(token)
        elif token == ")":
            while waiting and waiting[-1] != "(":
                output.append(waiting.pop())
            if not waiting:
                raise ValueError("nothing to close")
            waiting.pop()
        else:
            output.append(token)
    if "(" in waiting:
        raise ValueError("unclosed")
    return output + waiting[::-1]


@reference(lambda d: (d.letters("FFLRBx", 9), d.number(1, 3)))
def drive(commands: str, size: int) -> tuple[int, int, str]:
    """Drive a robot that starts at (0, 0) facing north: F and B move it one field forward or back, north being +y,
    and L and R turn it; a move that would leave -size to +size in x or y, and any other command, does nothing; return
    x, y and the direction, one of NESW."""
    x, y, heading = 0, 0, 0
    moves = [(0, 1), (1, 0), (0, -1), (-1, 0)]
    for command in commands:
        if command == "L":
            heading = (heading - 1) % 4
        elif command == "R":
            heading = (heading + 1) % 4
        elif command in "FB":
            sign = 1 if command == "F" else -1
            dx, dy = moves[heading]
            if abs(x + sign * dx) > size or abs(y + sign * dy) > size:
                continue
            x, y = x + sign * dx, y + sign * dy
    return x, y, "NESW"[heading]


@reference(
    lambda d: (d.many(lambda: d.pick(("type a", "type bc", "type d", "type e", "undo", "redo", "delete", "undo")), 10),)
)
def edit_text(commands: list[str]) -> str:
    """Return the text after commands: "type X" adds X, "delete" removes the last character, if any, "undo" takes back
    the last of these not yet undone, and "redo" the last undo unless a change came after it; both do nothing if there
    is none."""
    states = [""]
    current = 0
    for command in commands:
        if command == "undo":
            current = max(0, current - 1)
        elif command == "redo":
            current = min(len(states) - 1, current + 1)
        else:
            text = states[current]
            text = text[:-1] if command == "delete" else text + command.removeprefix("type ")
            states = [*states[: current + 1], text]
            current += 1
    return states[current]


@reference(lambda d: (d.letters("abc<<>>-#", 14),))
def typed(keys: str) -> tuple[str, int]:
    """Return the text and the cursor's index after keys: < and > move the cursor by one character as far as there are
    any, - deletes the character before it, # the one after it, if any, and every other key is inserted before the
    cursor."""
    text = ""
    cursor = 0
    for key in keys:
        if key == "<":
            cursor = max(0, cursor - 1)
        elif key == ">":
            cursor = min(len(text), cursor + 1)
        elif key == "#":
            text = text[:cursor] + text[cursor + 1 :]
        elif key == "-":
            if cursor > 0:
                text = text[: cursor - 1] + text[cursor:]
                cursor -= 1
        else:
            text = text[:cursor] + key + text[cursor:]
            cursor += 1
    return text, cursor


@reference(
    lambda d: (
        d.many(
            lambda: d.pick(
                (
                    "inc a",
                    "dec b",
                    "set a 3",
                    "set b a",
                    "jump 2 b",
                    "jump -1 a",
                    "add a b",
                    "print a",
                    "add b 2",
                    "jump -2 b",
                    "halt",
                )
            ),
            8,
        ),
        d.number(5, 30),
    )
)
def run_program(program: list[str], limit: int) -> list[int]:
    """Run instructions on the registers a and b, 0 at first: "inc R" and "dec R", "set R V" and "add R V" with a
    number or register V, "jump N R" to the instruction N after it unless R is 0, "print R", and "halt"; stop outside
    the program or after `limit` instructions, and return what was printed and then both registers."""
    registers = {"a": 0, "b": 0}
    printed: list[int] = []
    place = 0
    for _ in range(limit):
        if not 0 <= place < len(program) or program[place] == "halt":
            break
        name, first, *rest = program[place].split()
        place += 1
        if name == "jump":
            if registers[rest[0]] != 0:
                place += int(first) - 1
        elif name == "print":
            printed.append(registers[first])
        elif name in ("inc", "dec"):
            registers[first] += 1 if name == "inc" else -1
        else:
            value = registers[rest[0]] if rest[0] in registers else int(rest[0])
            registers[first] = value if name == "set" else registers[first] + value
    return [*printed, registers["a"], registers["b"]]
