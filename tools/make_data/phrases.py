"""Noun phrases and clauses, put together at random from words that make sense together, in English and French at once."""
import random

from tools.make_data import lexicon
from tools.make_data.grammar import CALLED, DETERMINERS, PEOPLE, Clause, adjective_form, describe, determine, english, french, join
from tools.make_data.lexicon import ADVERBS, BE, IL, ILS, JE, NAMES, NOUS, PLACES, TU, Phrase

NOUNS, VERBS = lexicon.read_nouns(), lexicon.read_verbs()
PRONOUNS = {phrase: forms.replace("|", "").split() for phrase, forms in lexicon.PRONOUNS.items()}
WHOM, TO_WHOM, WITH_WHOM = 1, 2, 3                             # which French form of a pronoun; 0 is the English one
THE, A, NO, THIS, *POSSESSIVES = DETERMINERS
ALIVE, GOODS = lexicon.kinds("alive"), lexicon.kinds("goods")
DOES = {kind: [verb for verb in VERBS.values() if kind in verb.subjects] for kind in NOUNS}
RECIPIENT = {"give": "to ", "speak to": ""}
TAKING = [verb for verb in VERBS.values() if verb.objects and verb.en[0] not in RECIPIENT]
COMPANY = [VERBS[base] for base in ("sleep", "sing", "work", "come", "leave", "go")]


class Phrases:
    """Makes phrases and clauses at random, to what `begin` sets for a sentence."""

    def __init__(self, seed):
        self.random = random.Random(seed).random               # the one method that no version of Python changes
        self.begin()

    def begin(self):
        """Choose anew: how much is added to a phrase (0 to 1), the tense, and the pronouns that may stand for somebody."""
        self.richness, self.past = self.random() ** 0.5, self.chance(0.5)
        self.people, self.related = list(PRONOUNS), False      # related: a relative clause was written

    def pick(self, options):
        return options[int(self.random() * len(options))]

    def chance(self, p):
        return self.random() < p

    def maybe(self, p):
        return self.random() < p * self.richness

    def noun_phrase(self, kinds, definite=False, negative=False, plain=False, several=None):
        """A noun of one of the kinds, with its determiner, adjectives and, unless it is plain, more about it."""
        noun = self.pick(NOUNS[self.pick(kinds)])
        if several is None:
            several = noun.kind not in ("building", "outdoors") and self.chance(0.3)
        phrase = Phrase(noun.en[several], noun.fr[several], ILS if several else IL, noun.feminine, noun.kind)
        before, after = CALLED[noun.kind]
        if after and self.maybe(0.5):
            phrase = describe(self.pick(after), phrase)
        described = bool(before) and self.maybe(0.5)
        if described:
            phrase = describe(self.pick(before), phrase)
        if noun.kind == "opening" and not plain and self.maybe(0.5):
            whole = self.noun_phrase(["building"], definite=True, plain=True)
            return determine(THE, phrase._replace(en=f"{phrase.en} of {whole.en}", fr=f"{phrase.fr} de {whole.fr}"))
        if noun.kind in GOODS and not plain and self.maybe(0.3):
            owner = self.person(several=False)
            owned = determine(THE, phrase._replace(fr=f"{phrase.fr} de {owner.fr}"))
            return owned._replace(en=f"{owner.en}'s {phrase.en}")
        choices = [THE, THE, THE, THIS] + [NO if negative else A] * 2 * (not definite) + POSSESSIVES * (noun.kind in GOODS)
        determiner = self.pick(POSSESSIVES if noun.kind == "kin" else choices)
        phrase = determine(determiner, phrase, described)
        return self.relative(phrase) if determiner == THE and not plain and self.maybe(0.4) else phrase

    def relative(self, phrase):
        """The phrase with a clause that says which one: who sleeps, that he eats."""
        self.related, past = True, self.past or self.chance(0.4)
        takers = [verb for verb in TAKING if phrase.kind in verb.objects]
        if DOES[phrase.kind] and (not takers or self.chance(0.5)):
            who = phrase._replace(en="who" if phrase.kind in PEOPLE else "that", fr="qui")
            clause = self.clause(who, past, DOES[phrase.kind], plain=True)
            return phrase._replace(en=f"{phrase.en} {english(clause)}", fr=f"{phrase.fr} {french(clause)}")
        if not takers:
            return phrase
        clause = Clause(self.subject(PEOPLE), self.pick(takers), past, self.chance(0.15), ahead=phrase)
        return phrase._replace(en=f"{phrase.en} that {english(clause)}", fr=f"{phrase.fr} que {french(clause)}")

    def person(self, several=None):
        """Somebody with a name, or somebody's plain description."""
        return self.pick(NAMES) if self.chance(0.3) else self.noun_phrase(PEOPLE, definite=True, plain=True, several=several)

    def subject(self, kinds=ALIVE, plain=True):
        """Who or what does it: a pronoun, a name or a noun."""
        if self.chance(0.4):
            return self.pick(self.people)
        return self.pick(NAMES) if self.chance(0.25) else self.noun_phrase(kinds, definite=True, plain=plain)

    def other(self, subject):
        """A pronoun for somebody else than the subject."""
        own = (JE, NOUS) if subject.person in (JE, NOUS) else (TU,) if subject.person == TU else ()
        return self.pick([phrase for phrase in self.people if phrase.person not in own])

    def clause(self, subject, past, verbs=None, plain=False):
        """A clause about the subject, with one of the verbs or any that it may have."""
        if verbs is None:
            verbs = DOES[subject.kind]
            if not past and (not verbs or self.chance(0.15)):
                verbs = [BE]                                   # was and were would be another tense: était
        verb, negative = self.pick(verbs), self.chance(0.2)
        rest, clitic, ahead = self.complement(verb, subject, negative, plain)
        if subject.kind in PEOPLE and verb in COMPANY and self.maybe(0.3):
            someone = self.other(subject)
            rest.append((f"with {PRONOUNS[someone][0]}", f"avec {PRONOUNS[someone][WITH_WHOM]}"))
        if not plain and verb.en[0] not in ("be", "like", "go", "come", "leave") and self.maybe(0.35):
            rest.append(self.place())
        adverb = ("", "")
        if not plain and subject.kind in ALIVE and verb.en[0] not in ("be", "like") and self.maybe(0.2):
            adverb = self.pick(ADVERBS)
        return Clause(subject, verb, past, negative, adverb, tuple(join(*words) for words in zip(*rest)) or ("", ""), clitic, ahead)

    def complement(self, verb, subject, negative, plain):
        """What the verb is done to: the words after it, the pronoun before the French one, the direct object before it."""
        base = verb.en[0]
        if verb is BE:
            before, after = CALLED[subject.kind]               # "When the cow is black" would be odd, and so is "if he is young"
            words = ["happy", "sad", "tired"] if subject.kind in ALIVE else [word for word in before + after if word != "new"]
            adjective = self.pick([word for word in words if word not in subject.en.split()] or words)
            return [(adjective, adjective_form(adjective, subject))], "", None
        rest, clitic, ahead = [], "", None
        if base == "go":
            goal = self.noun_phrase(["building"], definite=True, plain=plain)
            rest = [(f"to {goal.en}", f"à {goal.fr}")]
        elif "adult" in verb.objects and self.chance(0.3):
            ahead = self.other(subject)
            rest, clitic = [(PRONOUNS[ahead][0], "")], PRONOUNS[ahead][WHOM]
        elif verb.objects and not (base in ("eat", "write") and self.chance(0.1)):
            rest = [self.noun_phrase(verb.objects, base == "like", negative, plain)[:2]]
        if base in RECIPIENT and self.chance(0.5):
            someone = self.other(subject)
            rest, clitic = [(PRONOUNS[someone][0], ""), *rest], PRONOUNS[someone][TO_WHOM]
        elif base in RECIPIENT:
            someone = self.person()
            rest.append((RECIPIENT[base] + someone.en, f"à {someone.fr}"))
        return rest, clitic, ahead

    def place(self):
        preposition, fr = self.pick(PLACES)
        kinds = ["building", "outdoors" if preposition == "in" else "plant"]
        where = self.noun_phrase(kinds, definite=True, plain=True, several=False)
        return f"{preposition} {where.en}", f"{fr} {where.fr}"
