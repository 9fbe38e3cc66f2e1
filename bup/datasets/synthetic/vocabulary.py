"""Words for the features of a drawn graph: those of a topic belong together."""

import numpy as np

# One line a topic; the commonest words of a topic come first.
TOPICS = [
    line.split()
    for line in (
        "star planet orbit telescope galaxy comet moon eclipse nebula asteroid meteor solstice",
        "cell protein gene enzyme neuron virus membrane tissue hormone bacteria plasma antibody",
        "market price bank loan interest trade wage tax budget profit inflation stock",
        "river forest mountain glacier valley desert coast volcano canyon meadow island lagoon",
        "engine wheel bridge turbine valve gear piston brake crane boiler rivet pulley",
        "poem novel chapter verse author rhyme fable stanza prose drama metaphor ballad",
        "court law judge verdict jury treaty appeal statute witness clause bail decree",
        "melody rhythm violin chord choir tempo piano sonata drum octave trumpet cello",
        "bread butter onion pepper garlic flour honey soup cheese vinegar basil saffron",
        "match goal league referee sprint medal racket stadium coach relay javelin penalty",
        "castle knight crown siege emperor dynasty armour throne crusade herald banner moat",
        "cloud storm rain frost thunder breeze hail drought monsoon fog blizzard humidity",
    )
]


def words_of(topic: np.ndarray) -> tuple[str, ...]:
    """A word for each feature, given the class [f] whose topic word it is; no word twice."""
    used: dict[int, int] = {}
    names = []
    for k in topic.tolist():
        names.append(_word(k, used.get(k, 0)))
        used[k] = used.get(k, 0) + 1
    return tuple(names)


def _word(topic: int, number: int) -> str:
    """The plain words of a topic, then pairs of them, then pairs with a number."""
    turn, place = divmod(topic, len(TOPICS))
    words = TOPICS[place]
    if number < len(words):
        word = words[number]
    else:
        times, pair = divmod(number - len(words), len(words) * (len(words) - 1))
        first, second = divmod(pair, len(words))
        # Along diagonals, so that the first pairs begin with different words.
        word = f"{words[second]}-{words[(first + second + 1) % len(words)]}"
        word += f"-{times + 1}" if times else ""
    return f"{word} {'I' * (turn + 1)}" if turn else word
