"""What the teacher's page says that can be computed: plans of sessions, the mistakes that `check` names, and the answers."""
import functools
import html
import itertools
import math
import re
from typing import NamedTuple

from helpers.exercises import EXERCISES
from tests.notebooks import PATHS, is_solution, read, text_cells
from tools.site.prose import anchor

SESSION, SLACK = 95, 5                                       # minutes, and how many more a session may have
GOALS = {6: {0, 7}, 10: {0, 15}, 14: set(range(len(PATHS)))}     # sessions: the lessons that they lead to
WORK = 4                                                     # a word of an exercise takes as long as so many words that are read
SPLIT = 150                                                  # ending a session inside a lesson costs as much as 12 minutes too many


class Lesson(NamedTuple):
    """What the card of a lesson says; needs and helps: numbers of other lessons."""

    number: int
    name: str
    title: str
    minutes: int
    runs: str
    needs: frozenset[int]
    helps: frozenset[int]


class Part(NamedTuple):
    """A section or exercise of a lesson, with its share of the lesson's minutes: that of its words, code included."""

    lesson: Lesson
    heading: str
    place: str                                               # its anchor on the lesson's page
    minutes: float

    def link(self):
        return f"[*{self.heading}*]({self.lesson.name}.ipynb#{self.place})"


@functools.cache
def lesson(path):
    sources = [cell.source for cell in text_cells(read(path))]
    card = next(source for source in sources if "| **Time** |" in source)
    minutes, runs = re.search(r"\*\*Time\*\* \| (\d+) minutes.*?; the code (?:runs in|takes) (.*?) \|", card).groups()
    needs, _, helps = re.search(r"\*\*You need\*\* \| (.*?) \|", card)[1].partition(";")
    numbers = [frozenset(map(int, re.findall(r"\((\d\d)_\w+\.ipynb", text))) for text in (needs, helps)]
    return Lesson(int(path.stem[:2]), path.stem, re.match(r"# ([^:\n]*)", sources[0])[1], int(minutes), runs, *numbers)


@functools.cache
def parts(path):
    """The sections of a lesson, and each exercise. What stands before the first heading belongs to the first of them, and the
    recap to the last."""
    words, places, heading, recap = {}, {}, "", False
    for cell in read(path).cells:
        if cell.cell_type == "markdown" and (found := re.search(r"^##+ (?!Exercises)(.*)|^\*\*(\d)\. ", cell.source, flags=re.M)):
            if recap:                                        # what follows is an appendix
                break
            recap = found[1] == "Recap"
            if not recap:
                heading = found[1] or f"exercise {found[2]}"
                places[heading] = anchor(found[1]) if found[1] else cell.id
        factor = 0 if is_solution(cell) else WORK if heading.startswith("exercise ") and not recap else 1
        words[heading] = words.get(heading, 0) + factor * len(cell.source.split())
    opening = words.pop("")
    words[next(iter(words))] += opening
    about = lesson(path)
    return [Part(about, heading, places[heading], about.minutes * count / sum(words.values())) for heading, count in words.items()]


def with_needed(goals, lessons):
    """The numbers of these lessons and of all that they need."""
    return goals.union(*(with_needed(lessons[number].needs, lessons) for number in goals))


def sessions(sections, number):
    """The sections in so many runs, as equal in minutes as can be, that rather end where a lesson ends."""
    sections = list(sections)
    mean = sum(part.minutes for part in sections) / number
    starts = {i for i, part in enumerate(sections) if not i or sections[i - 1].lesson is not part.lesson}

    @functools.cache
    def best(start, left):
        """(cost, ends of the sessions) from a section on."""
        if not left:
            return (0, ()) if start == len(sections) else (math.inf, ())
        found = [(math.inf, ())]
        for end in range(start + 1, len(sections) + 1):
            minutes = sum(part.minutes for part in sections[start:end])
            if minutes > SESSION + SLACK:
                break
            cost, ends = best(end, left - 1)
            found.append((cost + (minutes - mean) ** 2 + SPLIT * (end < len(sections) and end not in starts), (end, *ends)))
        return min(found)
    cost, ends = best(0, number)
    if math.isinf(cost):
        raise ValueError(f"{len(sections)} sections of {mean * number:.0f} minutes do not fit into {number} sessions of {SESSION}")
    return [sections[start:end] for start, end in zip((0, *ends), ends)]


def described(session):
    """Each lesson of a session, as a link, with links to the headings between which it is read if that is not all of it."""
    texts = []
    for about in dict.fromkeys(part.lesson for part in session):
        whole, now = parts(PATHS[about.number]), [part for part in session if part.lesson is about]
        bounds = [f"from {now[0].link()}" if now[0] != whole[0] else "",
                  f"to the end of {now[-1].link()}" if now[-1] != whole[-1] else ""]
        texts.append(" ".join([f"[{about.title}]({about.name}.ipynb)", *filter(None, bounds)]))
    return "; ".join(texts)


def plan(number):
    """A table of so many sessions, in Markdown."""
    lessons = [lesson(path) for path in PATHS]
    chosen = sorted(with_needed(GOALS[number], lessons))
    planned = sessions(itertools.chain(*(parts(PATHS[n]) for n in chosen)), number)
    rows = [f"| {i} | {sum(part.minutes for part in session):.0f} | {described(session)} |" for i, session in enumerate(planned, 1)]
    return "\n".join(["| session | minutes | what is read and tried |", "| --- | --- | --- |", *rows])


def lesson_table():
    """Every lesson with its minutes and what it needs, in Markdown."""
    def links(numbers):
        return ", ".join(f"[{n}]({PATHS[n].name})" for n in sorted(numbers)) or "-"
    rows = [f"| [{one.title}]({one.name}.ipynb) | {one.minutes} | {one.runs} | {links(one.needs)} | {links(one.helps)} |"
            for one in map(lesson, PATHS)]
    return "\n".join(["| lesson | minutes | its code runs in | needs | helpful |", "| --- | --- | --- | --- | --- |", *rows])


def exercises(notebook):
    """(title, name of the function) of each exercise that `check` can check, in the order of the lesson."""
    title = None
    for cell in notebook.cells:
        title = next(iter(re.findall(r"^\*\*(\d\. .*?)\.\*\*", cell.source, flags=re.M)[-1:]), title)
        asked = re.search(r"^check\((\w+)\)", cell.source, flags=re.M)
        if asked and cell.cell_type == "code" and not is_solution(cell):
            yield title, asked[1]


def mistakes():
    """Of each lesson's exercises the mistakes that `check` answers by name, in Markdown; what `check` prints, as HTML."""
    lines = []
    for path in PATHS:
        lines.append(f"### {lesson(path).title}")
        for title, name in exercises(read(path)):
            items = "".join(f"<li>{html.escape(mistake, quote=False)}</li>\n" for mistake in EXERCISES[name].mistakes)
            items = re.sub("`(.*?)`", r"<code>\1</code>", items)
            lines += [f"**{title}** (`{name}`)", f'<ul class="mistakes">\n{items}</ul>']
    return "\n\n".join(lines)


def answers():
    """(lesson, the cells of its exercises that are questions or solutions) of every lesson, those for the curious at the end."""
    for path in PATHS:
        cells = read(path).cells
        first = next(i for i, cell in enumerate(cells) if cell.source.startswith("## Exercises"))
        cells[first].source = cells[first].source.removeprefix("## Exercises").replace("<details>", "<details open>")
        asked = list(itertools.takewhile(lambda cell: not cell.source.startswith("## "), cells[first:]))
        later = cells[first + len(asked):]
        for i, cell in enumerate(later):
            if is_solution(cell):
                asked += [next(before for before in reversed(later[:i]) if before.cell_type == "markdown"), cell]
        yield lesson(path), [cell for cell in asked if cell.cell_type == "markdown" or is_solution(cell)]
