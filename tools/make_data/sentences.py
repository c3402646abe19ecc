"""English sentences with their French, written by a small grammar: right translations, as many as a lesson needs.

An English sentence has one translation here. Where English leaves a choice open, the choice is always the same: "you" is tu;
speakers, "you", "who", friends, children and teachers are masculine; the simple past is the passé composé; "they" and "them"
are masculine, unless the sentence named them. A clause's "he", "she", "it" or "they" may be the subject of the clause before;
"it" is nothing else, except in "finds the key and takes it", where it is the object. Questions take est-ce que, unless they
ask for the subject ("Qui dort ?"). After a negation "a" and "any" are de. As in French print, a space stands before ? and !.
"""
from tools.make_data.grammar import PEOPLE, Clause, english, french, join, pronoun, spell
from tools.make_data.lexicon import BE, IL, ILS, JE, KNOW, TU, Phrase
from tools.make_data.phrases import ALIVE, DOES, GOODS, NOUNS, PRONOUNS, RECIPIENT, TAKING, VERBS, Phrases

THEN = {"find": "take eat open give", "look for": "find see", "buy": "eat give like", "take": "eat open give", "write": "give like",
        "see": "take buy like"}                                # what else is done to the same thing
TODAY = ("today", "aujourd'hui")
TIMES = {True: [("yesterday", "hier"), TODAY], False: [("every day", "tous les jours"), TODAY]}          # past or present
COMMANDS = ["take", "eat", "write", "open", "help", "give", "speak to", "sleep", "sing", "work", "come", "leave", "go"]
LINKS = [("and", "et"), ("but", "mais"), ("because", "parce que")]
WHO = Phrase("who", "qui", IL, False, "adult")
UNSAID = Phrase("", "", TU, False, "adult")                    # the subject of a command
LONGEST = 25                                                   # tokens of an English sentence


class Writer(Phrases):
    """Writes sentences, each to one of the PLANS; a plan gives the English words, the French words and the mark at the end."""

    def sentence(self):
        """One English sentence and its translation."""
        self.begin()
        return spell(*self.pick(PLANS)(self))

    def statement(self):
        """He sleeps. Yesterday, he slept in the garden."""
        clause = self.clause(self.subject(ALIVE if self.past else list(NOUNS), plain=False), self.past)
        en, fr = english(clause), french(clause)
        if clause.verb.en[0] in ("be", "like") or clause.adverb[0] or not self.maybe(0.6):
            return en, fr, "."
        when, quand = self.pick(TIMES[self.past])
        if self.related or self.chance(0.3):                   # at the end it could belong to the relative clause
            return f"{when}, {en}", f"{quand}, {fr}", "."
        return f"{en} {when}", f"{fr} {quand}", "."

    def command(self):
        """Come! Don't open the door."""
        base = self.pick(COMMANDS)
        fr = VERBS[base].fr[TU]
        verb = VERBS[base]._replace(fr=("", fr[:-1] if fr.endswith(("es", "as")) else fr))
        self.past = False
        clause = self.clause(UNSAID, False, [verb])
        while clause.clitic and not clause.negative:           # the pronoun would follow: "Donne-le"
            clause = self.clause(UNSAID, False, [verb])
        if base == "go" and self.chance(0.1):
            clause = clause._replace(rest=("", ""))
        clause = clause._replace(adverb=("", ""))              # "Chante toujours" is rather "go on singing"
        return english(clause), french(clause), self.pick(".!")

    def question(self):
        """Does he sleep? Why does he sleep? Where did he go?"""
        word, fr = self.pick([("", "")] * 3 + [("why", "pourquoi"), ("when", "quand"), ("where", "où")])
        subject = self.subject(plain=False)
        unfit = ["like", "see"] + ["come", "leave", "take"] * (word == "where")
        verbs = [verb for verb in DOES[subject.kind] if verb.en[0] not in unfit]
        clause = self.clause(subject, self.past, verbs if word in ("when", "where") else None, plain=bool(word))
        if word == "where" and clause.verb.en[0] == "go":
            clause = clause._replace(rest=("", ""))
        if word in ("when", "where") or clause.verb is BE and subject.person == JE:
            clause = clause._replace(negative=False)           # of "I am not tired", the question has its own order
        return join(word, english(clause, asked=True)), f"{join(fr, 'est-ce que')} {french(clause)}", "?"

    def question_for_someone(self):
        """What does he eat? Who does he help? Who sleeps?"""
        if self.chance(0.5):
            clause = self.clause(WHO, self.past)
            return english(clause), french(clause), "?"
        subject = self.subject(plain=False)
        verb = self.pick([verb for verb in TAKING if subject.kind in verb.subjects])
        human = "adult" in verb.objects and self.chance(0.7) or verb.en[0] == "help"
        word, fr = ("who", "qui est-ce que") if human else ("what", "que est-ce que")
        clause = Clause(subject, verb, self.past)
        return f"{word} {english(clause, asked=True)}", f"{fr} {french(clause)}", "?"

    def next_clause(self, before):
        """A clause after another: often about the same subject, which is a pronoun now."""
        self.people = [phrase for phrase in PRONOUNS if phrase.person != ILS]
        subject = pronoun(before.subject) if self.chance(0.6) else self.subject()
        verbs = [verb for verb in [*DOES[subject.kind], *[BE] * 3 * (not self.past)] if verb != before.verb]
        return self.clause(subject, self.past, verbs)

    def joined(self):
        """Two clauses or three: He sleeps because he is tired, and ..."""
        clause = self.clause(self.subject(plain=False), self.past)
        en, fr = english(clause), french(clause)
        for and_, et in [self.pick(LINKS)] + LINKS[:1] * self.maybe(0.6):
            clause = self.next_clause(clause)
            en, fr = f"{en} {and_} {english(clause)}", f"{fr} {et} {french(clause)}"
        return en, fr, "."

    def conditional(self):
        """When he sleeps, she works."""
        when, quand = self.pick([("when", "quand"), ("if", "si")])
        self.past = False
        first = self.clause(self.subject(plain=False), False)
        second = self.next_clause(first)
        return f"{when} {english(first)}, {english(second)}", f"{quand} {french(first)}, {french(second)}", "."

    def knowing(self):
        """I know that he sleeps."""
        subject = self.subject(PEOPLE, plain=False)
        knowing = Clause(subject, KNOW, False)
        known = self.next_clause(knowing)
        clause = knowing._replace(rest=(f"that {english(known)}", f"que {french(known)}"))
        return english(clause), french(clause), "."

    def taking(self):
        """He finds the key and takes it; she looked for a letter but didn't find it."""
        first = VERBS[self.pick(list(THEN))]
        second = self.pick([VERBS[base] for base in THEN[first.en[0]].split()])
        subject, negative = self.subject(PEOPLE, plain=False), self.chance(0.3)
        kinds = [kind for kind in first.objects if kind in second.objects and kind in GOODS]
        thing = self.noun_phrase(kinds, plain=True)            # "that fell and ate it" would say something else
        several = thing.person == ILS
        rest, fr, clitic = "them" if several else "it", "", "les" if several else "la" if thing.feminine else "le"
        if second.en[0] in RECIPIENT:
            someone = self.person()
            rest, fr = f"{rest} to {someone.en}", f"à {someone.fr}"
        clause = Clause(subject, first, self.past, rest=(thing.en, thing.fr))
        again = Clause(subject._replace(en="", fr=""), second, self.past, negative, ("", ""), (rest, fr), clitic, thing)
        and_, et = LINKS[negative]
        return f"{english(clause)} {and_} {english(again)}", f"{french(clause)} {et} {french(again)}", "."


PLANS = [Writer.statement] * 6 + [Writer.joined] * 6 + [Writer.conditional, Writer.knowing, Writer.taking] * 2 + \
    [Writer.question] * 3 + [Writer.question_for_someone, Writer.command]


def sentence_pairs(count=30_000, seed=0):
    """`count` different English sentences of 2 to 25 tokens, each with its French, in a random order."""
    writer, pairs = Writer(seed), {}
    while len(pairs) < count:
        en, fr = writer.sentence()
        if len(en.split()) + en.count(",") + 1 <= LONGEST:     # the words, each comma, and the mark at the end
            pairs[en] = fr
    return sorted(pairs.items(), key=lambda pair: writer.random())
