"""The words of the grammar: what each is in English and in French, with every form it takes, and what it may go with."""
from typing import NamedTuple

JE, TU, IL, NOUS, ILS = range(5)                                # the persons, in the order of a verb's forms


class Phrase(NamedTuple):
    """Somebody or something, in both languages, and what must agree with it."""
    en: str
    fr: str
    person: int
    feminine: bool
    kind: str


class Noun(NamedTuple):
    """A noun in both languages; its kind says what it does, what is done to it and what it may be called."""
    kind: str
    en: tuple        # one, several
    fr: tuple
    feminine: bool


class Verb(NamedTuple):
    """A verb in both languages."""
    en: tuple        # base, third person, past
    fr: tuple        # present, the five persons
    participle: str
    auxiliary: str   # avoir, être, or se: être and a reflexive pronoun
    subjects: list   # the kinds that do it
    objects: list    # the kinds that it is done to


# Kind: English, plural, French, plural, gender
NOUNS = """
child: boy boys garçon garçons m, girl girls fille filles f, child children enfant enfants m
adult: man men homme hommes m, woman women femme femmes f, teacher teachers professeur professeurs m
kin: friend friends ami amis m, brother brothers frère frères m, sister sisters sœur sœurs f
animal: cat cats chat chats m, dog dogs chien chiens m, horse horses cheval chevaux m, bird birds oiseau oiseaux m,
    cow cows vache vaches f
food: apple apples pomme pommes f, orange oranges orange oranges f, egg eggs œuf œufs m, cake cakes gâteau gâteaux m
text: book books livre livres m, letter letters lettre lettres f, story stories histoire histoires f
box: box boxes boîte boîtes f, bag bags sac sacs m
opening: door doors porte portes f, window windows fenêtre fenêtres f
thing: key keys clé clés f, hat hats chapeau chapeaux m, flower flowers fleur fleurs f
vehicle: car cars voiture voitures f, boat boats bateau bateaux m
building: house houses maison maisons f, school schools école écoles f, hospital hospitals hôpital hôpitaux m,
    castle castles château châteaux m
outdoors: garden gardens jardin jardins m, park parks parc parcs m
plant: tree trees arbre arbres m
"""

GROUPS = {
    "people": "child adult kin", "alive": "child adult kin animal", "moving": "child adult kin vehicle",
    "falling": "child adult kin animal food box thing plant", "small": "food text box thing",
    "goods": "animal food text box thing vehicle",
    "seen": "child adult kin animal food text box opening thing vehicle building plant",
}

# English: base, third person, past | French: je, tu, il, nous, ils, participle, auxiliary | who does it | to what
VERBS = """
see, sees, saw | vois vois voit voyons voient vu avoir | alive | seen
find, finds, found | trouve trouves trouve trouvons trouvent trouvé avoir | alive | people goods
look for, looks for, looked for | cherche cherches cherche cherchons cherchent cherché avoir | alive | people goods building
take, takes, took | prends prends prend prenons prennent pris avoir | people | small
buy, buys, bought | achète achètes achète achetons achètent acheté avoir | people | goods
eat, eats, ate | mange manges mange mangeons mangent mangé avoir | alive | food
write, writes, wrote | écris écris écrit écrivons écrivent écrit avoir | people | text
open, opens, opened | ouvre ouvres ouvre ouvrons ouvrent ouvert avoir | people | opening box
help, helps, helped | aide aides aide aidons aident aidé avoir | people | people
like, likes, liked | aime aimes aime aimons aiment aimé avoir | people | goods building
give, gives, gave | donne donnes donne donnons donnent donné avoir | people | goods
speak to, speaks to, spoke to | parle parles parle parlons parlent parlé avoir | people |
sleep, sleeps, slept | dors dors dort dormons dorment dormi avoir | alive |
sing, sings, sang | chante chantes chante chantons chantent chanté avoir | people |
work, works, worked | travaille travailles travaille travaillons travaillent travaillé avoir | people |
come, comes, came | viens viens vient venons viennent venu être | alive |
leave, leaves, left | pars pars part partons partent parti être | moving |
fall, falls, fell | tombe tombes tombe tombons tombent tombé être | falling |
go, goes, went | vais vas va allons vont allé être | people |
stop, stops, stopped | arrête arrêtes arrête arrêtons arrêtent arrêté se | moving |
hide, hides, hid | cache caches cache cachons cachent caché se | alive |
"""
ETRE = ("suis", "es", "est", "sommes", "sont")
AVOIR = ("ai", "as", "a", "avons", "ont")
KNOW = Verb(("know", "knows", "knew"), ("sais", "sais", "sait", "savons", "savent"), "su", "avoir", [], [])
BE = Verb(("be", "is", "was"), ETRE, "été", "avoir", [], [])
REFLEXIVE = ("me", "te", "se", "nous", "se")

# English: masculine, plural, feminine, plural, and the masculine before a vowel where it is another
FORMS = """
small: petit petits petite petites, big: grand grands grande grandes, old: vieux vieux vieille vieilles vieil,
young: jeune jeunes jeune jeunes, beautiful: beau beaux belle belles bel, new: nouveau nouveaux nouvelle nouvelles nouvel,
red: rouge rouges rouge rouges, green: vert verts verte vertes, black: noir noirs noire noires,
white: blanc blancs blanche blanches, happy: heureux heureux heureuse heureuses,
sad: triste tristes triste tristes, tired: fatigué fatigués fatiguée fatiguées
"""
# What a kind of noun may be called: before the French noun | after it
CALLED = """
child: small young | happy sad tired
adult: young old | happy sad tired
kin: | happy sad tired
animal: small big old beautiful | black white tired
food: small big |
text: beautiful new old |
box: small big old | red green black white
opening: small big old new | red green black white
thing: small big beautiful | red black white
vehicle: small big beautiful new old | red green black white
building: small big beautiful old | white
outdoors: small big beautiful |
plant: small big beautiful old | green
"""

# English, plural | French: masculine, feminine, plural; "a any" is what negation makes of "a some"
DETERMINERS = """
the the | le la les, a some | un une des, a any | de de de, this these | ce cette ces, my my | mon ma mes, your your | ton ta tes,
his his | son sa ses, her her | son sa ses, our our | notre notre nos, their their | leur leur leurs
"""
BEFORE_VOWEL = {"ce": "cet", "ma": "mon", "ta": "ton", "sa": "son"}
VOWELS = tuple("aeiouhâéêîôœA")                                # an h is silent in every word here

# Who somebody is as a subject, and as an object | in French: whom, to whom, with whom
PRONOUNS = {
    Phrase("I", "je", JE, False, "adult"): "me | me me moi",
    Phrase("you", "tu", TU, False, "adult"): "you | te te toi",
    Phrase("he", "il", IL, False, "adult"): "him | le lui lui",
    Phrase("she", "elle", IL, True, "adult"): "her | la lui elle",
    Phrase("we", "nous", NOUS, False, "adult"): "us | nous nous nous",
    Phrase("they", "ils", ILS, False, "adult"): "them | les leur eux",
}
NAMES = [Phrase(name, name, IL, feminine, "adult") for name, feminine in (("Paul", False), ("Anna", True), ("Sophie", True))]
ADVERBS = [("often", "souvent"), ("always", "toujours")]
PLACES = [("in", "dans"), ("behind", "derrière"), ("in front of", "devant"), ("near", "près de")]


def kinds(text):
    """The kinds that are listed, with each group written out."""
    return [kind for word in text.split() for kind in GROUPS.get(word, word).split()]


def rows(table, between):
    """Pairs of what stands before and behind the mark, from entries parted by commas or ends of line."""
    entries = [entry.split(between) for entry in table.strip().replace(",\n", ",").replace("\n", ",").split(",")]
    return [(first.strip(), second.strip()) for first, second in entries]


def read_nouns():
    """Kind to its nouns."""
    nouns = {}
    for line in NOUNS.strip().replace(",\n", ",").split("\n"):
        kind, words = line.split(": ")
        for one, several, un, des, gender in map(str.split, words.split(",")):
            nouns.setdefault(kind, []).append(Noun(kind, (one, several), (un, des), gender == "f"))
    return nouns


def read_verbs():
    """English base to the verb."""
    verbs = {}
    for line in VERBS.strip().split("\n"):
        en, fr, subjects, objects = line.split("|")
        *persons, participle, auxiliary = fr.split()
        en = tuple(en.strip().split(", "))
        verbs[en[0]] = Verb(en, tuple(persons), participle, auxiliary, kinds(subjects), kinds(objects))
    return verbs
