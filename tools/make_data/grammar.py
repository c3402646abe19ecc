"""The rules of the grammar: how phrases and clauses agree, and how they are ordered and spelled in English and in French."""
import re
from typing import NamedTuple

from tools.make_data import lexicon
from tools.make_data.lexicon import BE, IL, ILS, NOUS, Phrase, Verb

FORMS = {en: fr.split() for en, fr in lexicon.rows(lexicon.FORMS, ":")}
CALLED = {kind: [words.split() for words in line.split("|")] for kind, line in lexicon.rows(lexicon.CALLED, ":")}
DETERMINERS = {tuple(en.split()): fr.split() for en, fr in lexicon.rows(lexicon.DETERMINERS, "|")}
PEOPLE = lexicon.kinds("people")
ELIDED = re.compile(rf"\b(le|la|je|me|te|se|ne|de|que) (?=[{''.join(lexicon.VOWELS)}])")
CONTRACTED = [("si il", "s'il"), (" de le ", " du "), (" de les ", " des "), (" à le ", " au "), (" à les ", " aux ")]


class Clause(NamedTuple):
    """One verb and what goes with it. `ahead`: the direct object, where French puts it before the verb."""
    subject: Phrase
    verb: Verb
    past: bool
    negative: bool = False
    adverb: tuple = ("", "")                                   # English, French; so is the rest
    rest: tuple = ("", "")
    clitic: str = ""
    ahead: Phrase = None


def join(*words):
    """The words that are not empty, with a space between them."""
    return " ".join(filter(None, words))


def english(clause, asked=False):
    """The clause in English words, the helping verb first where it is asked."""
    verb, person, helper = clause.verb, clause.subject.person, ""
    main = verb.en[2] if clause.past else verb.en[person == IL]
    if verb is BE:
        helper, main = ("am", "are", "is", "are", "are")[person], ""
    elif asked or clause.negative:
        helper, main = "did" if clause.past else "does" if person == IL else "do", verb.en[0]
    if clause.negative:
        helper += " not" if helper == "am" else "n't"
    first, second = (helper, clause.subject.en) if asked else (clause.subject.en, helper)
    return join(first, second, clause.adverb[0], main, clause.rest[0])


def french(clause):
    """The clause in French words, each in full: l', du and the like come last, in `spell`."""
    subject, verb, no = clause.subject, clause.verb, clause.negative
    finite, participle, clitic = verb.fr[subject.person], "", clause.clitic
    if verb.auxiliary == "se":
        clitic = lexicon.REFLEXIVE[subject.person]
    if clause.past:
        having = verb.auxiliary == "avoir"
        finite = (lexicon.AVOIR if having else lexicon.ETRE)[subject.person]
        participle = agree(verb.participle, clause.ahead if having else subject)
    return join(subject.fr, "ne" * no, clitic, finite, "pas" * no, clause.adverb[1], participle, clause.rest[1])


def agree(participle, phrase):
    """The participle in the gender and number of the phrase, if there is one."""
    if phrase is None:
        return participle
    word = participle + "e" * phrase.feminine
    return word + "s" * (phrase.person >= NOUS and not word.endswith("s"))


def spell(en, fr, mark):
    """Both sentences as they are written: an, l', du, a capital, and the mark at the end."""
    en = re.sub(r"\ba (?=[aeiou])", "an ", en)
    fr = ELIDED.sub(lambda word: word[1][:-1] + "'", fr)
    for full, short in CONTRACTED:
        fr = fr.replace(full, short)
    return en[0].upper() + en[1:] + mark, fr[0].upper() + fr[1:] + " " * (mark != ".") + mark


def determine(determiner, phrase, described=False):
    """The phrase with its determiner in front; des is de where an adjective follows it."""
    several = phrase.person == ILS
    form = DETERMINERS[determiner][2 if several else phrase.feminine]
    if phrase.fr.startswith(lexicon.VOWELS):
        form = lexicon.BEFORE_VOWEL.get(form, form)
    form = "de" if form == "des" and described else form
    return phrase._replace(en=f"{determiner[several]} {phrase.en}", fr=f"{form} {phrase.fr}")


def describe(adjective, phrase):
    """The phrase with an adjective, which stands before the French noun or after it."""
    form, several = adjective_form(adjective, phrase), phrase.person == ILS
    fr = f"{phrase.fr} {form}"
    if adjective in CALLED[phrase.kind][0]:
        vowel = len(FORMS[adjective]) == 5 and phrase.fr.startswith(lexicon.VOWELS) and not (several or phrase.feminine)
        fr = f"{FORMS[adjective][4] if vowel else form} {phrase.fr}"
    return phrase._replace(en=f"{adjective} {phrase.en}", fr=fr)


def adjective_form(adjective, phrase):
    """The French adjective in the gender and number of the phrase."""
    return FORMS[adjective][2 * phrase.feminine + (phrase.person >= NOUS)]


def pronoun(phrase):
    """The subject pronoun for a phrase named before; "it" for animals and things."""
    if phrase in lexicon.PRONOUNS:
        return phrase
    several = phrase.person == ILS
    en = "they" if several else "it" if phrase.kind not in PEOPLE else "she" if phrase.feminine else "he"
    return phrase._replace(en=en, fr=("elle" if phrase.feminine else "il") + "s" * several)
