"""Matrices and boards: lists of rows."""

from collections import deque

from rlsh.tasks.catalogue.reference import reference


@reference(
    lambda d: (
        d.matrix(lambda: d.number(-4, 4), d.number(1, 3), k := d.number(1, 3)),
        d.matrix(lambda: d.number(-4, 4), d.pick((k, k, k, 2)), d.number(1, 3)),
    )
)
def multiply(left: list[list[int]], right: list[list[int]]) -> list[list[int]]:
    """Return the product of two matrices; raise ValueError if the rows of `left` are not as long as `right` is
    high."""
    if len(left[0]) != len(right):
        raise ValueError("the shapes do not fit")
    product = []
    for row in left:
        cells = []
        for column in zip(*right, strict=True):
            cells.append(sum(a * b for a, b in zip(row, column, strict=False)))
        product.append(cells)
    return product


@reference(lambda d: (d.matrix(lambda: d.number(0, 9), d.number(1, 4), d.number(1, 4)), d.number(-5, 5)))
def rotate_grid(grid: list[list[int]], turns: int) -> list[list[int]]:
    """Return `grid` rotated clockwise by `turns` quarter turns, counterclockwise if negative, as new lists."""
    result = [list(row) for row in grid]
    for _ in range(turns % 4):
        result = [list(column) for column in zip(*reversed(result), strict=True)]
    return result


@reference(lambda d: (d.matrix(lambda: d.number(0, 9), d.number(1, 4), d.number(1, 4)),))
def spiral(grid: list[list[int]]) -> list[int]:
    """Return the cells of `grid` in the order of a clockwise spiral inwards from the top left corner."""
    top, bottom, left, right = 0, len(grid) - 1, 0, len(grid[0]) - 1
    cells = []
    while top <= bottom and left <= right:
        for column in range(left, right + 1):
            cells.append(grid[top][column])
        for row in range(top + 1, bottom + 1):
            cells.append(grid[row][right])
        if top < bottom and left < right:
            for column in range(right - 1, left - 1, -1):
                cells.append(grid[bottom][column])
            for row in range(bottom - 1, top, -1):
                cells.append(grid[row][left])
        top, bottom, left, right = top + 1, bottom - 1, left + 1, right - 1
    return cells


@reference(lambda d: (d.matrix(lambda: d.number(-4, 4), n := d.number(0, 4), n),))
def determinant(matrix: list[list[int]]) -> int:
    """Return the determinant of a square matrix of integers, 1 for the empty one."""
    if not matrix:
        return 1
    total = 0
    for column, factor in enumerate(matrix[0]):
        if factor == 0:
            continue
        minor = [row[:column] + row[column + 1 :] for row in matrix[1:]]
        sign = -1 if column % 2 else 1
        total += sign * factor * determinant(minor)
    return total


@reference(lambda d: (d.matrix(lambda: d.pick("..#"), d.number(1, 5), d.number(1, 5)),))
def life_step(grid: list[list[str]]) -> list[str]:
    """Return the next generation of Conway's Life as strings, "#" being alive and cells outside `grid` dead: a live
    cell stays alive with 2 or 3 live cells among its 8 neighbours, a dead one comes to life with 3."""
    height, width = len(grid), len(grid[0])
    result = []
    for row in range(height):
        line = ""
        for column in range(width):
            alive = 0
            for r in range(max(0, row - 1), min(height, row + 2)):
                for c in range(max(0, column - 1), min(width, column + 2)):
                    if (r, c) != (row, column) and grid[r][c] == "#":
                        alive += 1
            lives = alive == 3 or (alive == 2 and grid[row][column] == "#")
            line += "#" if lives else "."
        result.append(line)
    return result


@reference(
    lambda d: (
        d.matrix(lambda: d.number(0, 1), d.number(2, 4), d.number(2, 4)),
        d.number(0, 2),
        d.number(0, 2),
        d.number(0, 2),
    )
)
def flood_fill(grid: list[list[int]], row: int, column: int, value: int) -> list[list[int]]:
    """Return a copy of `grid` in which the cell at `row` and `column` and all cells of the same value that are
    connected to it by sides have the new `value`; raise IndexError if there is no such cell."""
    old = grid[row][column]
    result = [list(line) for line in grid]
    waiting = [(row, column)]
    seen = set()
    while waiting:
        r, c = waiting.pop()
        inside = 0 <= r < len(grid) and 0 <= c < len(grid[0])
        if not inside or (r, c) in seen or grid[r][c] != old:
            continue
        seen.add((r, c))
        result[r][c] = value
        waiting += [(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)]
    return result


@reference(
    lambda d: (
        [
            "".join(d.pick((cell, cell, cell, cell, ".")) for cell in row)
            for row in d.pick(
                (
                    ["".join(row) for row in d.matrix(lambda: d.pick("...#"), d.number(1, 4), d.number(1, 4))],
                    ["...", "##.", "...", ".##", "..."],
                    ["..#...", "#.#.#.", "#...#."],
                )
            )
        ],
    )
)
def shortest_walk(maze: list[str]) -> int | None:
    """Return the fewest steps, up, down, left or right, from the top left to the bottom right cell without entering a
    "#", or None if there is no way or one of these two cells is a "#"."""
    height, width = len(maze), len(maze[0])
    queue = deque([(0, 0, 0)])
    seen = {(0, 0)}
    while queue:
        row, column, steps = queue.popleft()
        if maze[row][column] == "#":
            continue
        if (row, column) == (height - 1, width - 1):
            return steps
        for r, c in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            if 0 <= r < height and 0 <= c < width and (r, c) not in seen:
                seen.add((r, c))
                queue.append((r, c, steps + 1))
    return None


@reference(lambda d: (["".join(row) for row in d.matrix(lambda: d.pick("..*"), d.number(1, 4), d.number(1, 5))],))
def mine_counts(field: list[str]) -> list[str]:
    """Return `field` with each "." replaced by the number of mines, "*", among its up to 8 neighbours, or left as it
    is where that is 0."""
    result = []
    for row, line in enumerate(field):
        shown = ""
        for column, cell in enumerate(line):
            if cell == "*":
                shown += "*"
                continue
            around = [other[max(0, column - 1) : column + 2] for other in field[max(0, row - 1) : row + 2]]
            count = "".join(around).count("*")
            shown += str(count) if count else "."
        result.append(shown)
    return result


@reference(lambda d: (["".join(row) for row in d.matrix(lambda: d.pick("...#"), d.number(0, 5), d.number(1, 5))],))
def crop(picture: list[str]) -> list[str]:
    """Cut off the outer rows and columns of `picture` that consist of "." alone; nothing is left of a picture that is
    all "."."""
    rows = [i for i, line in enumerate(picture) if line.strip(".")]
    if not rows:
        return []
    left = min(len(line) - len(line.lstrip(".")) for line in picture)
    right = max(len(line.rstrip(".")) for line in picture)
    return [line[left:right] for line in picture[rows[0] : rows[-1] + 1]]


@reference(lambda d: (["".join(row) for row in d.matrix(lambda: d.pick("XXOO."), 3, 3)],))
def tic_tac_toe(board: list[str]) -> str:
    """Return "X" or "O" if that player has a row, column or diagonal of the 3 by 3 `board`, "both" if each has one,
    and otherwise "open" while a cell is ".", or "draw"."""
    columns = ["".join(column) for column in zip(*board, strict=True)]
    diagonals = ["".join(board[i][i] for i in range(3)), "".join(board[i][2 - i] for i in range(3))]
    lines = board + columns + diagonals
    winners = [player for player in "XO" if player * 3 in lines]
    if len(winners) == 2:
        return "both"
    if winners:
        return winners[0]
    return "open" if any("." in row for row in board) else "draw"


@reference(lambda d: (d.matrix(lambda: d.number(0, 5), d.number(1, 4), d.number(1, 4)),))
def saddle_points(grid: list[list[int]]) -> list[tuple[int, int]]:
    """Return the (row, column) positions, counted from 1, of all cells that are largest in their row and smallest in
    their column, equal ones allowed, row by row."""
    found = []
    columns = list(zip(*grid, strict=True))
    for i, row in enumerate(grid):
        for j, value in enumerate(row):
            if value == max(row) and value == min(columns[j]):
                found.append((i + 1, j + 1))
    return found


@reference(lambda d: (d.matrix(lambda: d.number(0, 9), d.number(1, 4), d.number(1, 4)), d.chance(0.5)))
def diagonals(grid: list[list[int]], rising: bool) -> list[list[int]]:
    """Return the diagonals of `grid`, each from left to right: if `rising`, those that go up, beginning in the top
    left corner of the grid, else those that go down, beginning in its top right corner."""
    height, width = len(grid), len(grid[0])
    result = []
    for start in range(height + width - 1):
        line = []
        for column in range(width):
            row = start - column if rising else column - (width - 1) + start
            if 0 <= row < height:
                line.append(grid[row][column])
        result.append(line)
    return result
