"""English-French pairs: what a French teacher would check, by rules that know nothing of the grammar."""
import re
import zipfile
from collections import Counter

import pytest

from helpers.data.translation import load_translation
from helpers.text import split_words
from tools.make_data.sentences import Writer, sentence_pairs

PAIRS = load_translation()
FRENCH = [fr for _, fr in PAIRS]
TOKENS = [split_words(fr) for fr in FRENCH]

GENDER = {"masculine": "garçon enfant homme professeur ami frère chat chien cheval oiseau œuf gâteau livre sac chapeau bateau "
                       "hôpital château jardin parc arbre",
          "feminine": "fille femme sœur vache pomme orange lettre histoire boîte porte fenêtre clé fleur voiture maison école"}
NOUNS = {noun: (gender, False) for gender, nouns in GENDER.items() for noun in nouns.split()}
NOUNS |= {noun[:-1] + "ux" if noun in ("cheval", "hôpital") else noun + ("x" if noun.endswith("eau") else "s"): (gender, True)
          for noun, (gender, _) in NOUNS.items()}
FORMS = {("masculine", False): "petit grand vieux vieil jeune beau bel nouveau nouvel rouge vert noir blanc heureux triste fatigué "
                               "le l' un ce cet mon ton son notre leur du au de d'",
         ("feminine", False): "petite grande vieille jeune belle nouvelle rouge verte noire blanche heureuse triste fatiguée "
                              "la l' une cette ma ta sa mon ton son notre leur de d'",
         ("masculine", True): "petits grands vieux jeunes beaux nouveaux rouges verts noirs blancs heureux tristes fatigués "
                              "les des ces mes tes ses nos leurs aux de d'",
         ("feminine", True): "petites grandes vieilles jeunes belles nouvelles rouges vertes noires blanches heureuses tristes "
                             "fatiguées les des ces mes tes ses nos leurs aux de d'"}
FORMS = {key: set(words.split()) for key, words in FORMS.items()}
KNOWN_WORDS = set().union(*FORMS.values())
ADJECTIVES = {word for words in FORMS.values() for word in words if len(word) > 2} - set(
    "une cet cette mon ton son notre leur les des ces mes tes ses nos leurs aux".split())

# Written by hand, for one sentence of the corpus and more for each construction.
KNOWN = """
The woman hid. | La femme s'est cachée.
You didn't stop. | Tu ne t'es pas arrêté.
When I write, I stop. | Quand j'écris, je m'arrête.
When do we stop? | Quand est-ce que nous nous arrêtons ?
Today, we hid. | Aujourd'hui, nous nous sommes cachés.
Come! | Viens !
Go! | Va !
Eat some big oranges! | Mange de grandes oranges !
Don't speak to the boys. | Ne parle pas aux garçons.
Don't give them his hat! | Ne leur donne pas son chapeau !
Go to the castle. | Va au château.
Go to the house. | Va à la maison.
Who is sad? | Qui est triste ?
What did we buy? | Qu'est-ce que nous avons acheté ?
Where did he hide? | Où est-ce qu'il s'est caché ?
Where does Anna go? | Où est-ce qu'Anna va ?
You don't eat an apple. | Tu ne manges pas de pomme.
He doesn't write a book today. | Il n'écrit pas de livre aujourd'hui.
I didn't speak to them. | Je ne leur ai pas parlé.
We came with them. | Nous sommes venus avec eux.
This new window is black. | Cette nouvelle fenêtre est noire.
The new door isn't big. | La nouvelle porte n'est pas grande.
Who went to this beautiful hospital? | Qui est allé à ce bel hôpital ?
They ate my orange. | Ils ont mangé mon orange.
She ate Anna's egg. | Elle a mangé l'œuf d'Anna.
I fall near the small tree. | Je tombe près du petit arbre.
If they fall, they come. | S'ils tombent, ils viennent.
They know that they help him. | Ils savent qu'ils l'aident.
Her sisters know that they hide. | Ses sœurs savent qu'elles se cachent.
He sleeps because he is tired. | Il dort parce qu'il est fatigué.
Did the girls that he found like the boat? | Est-ce que les filles qu'il a trouvées ont aimé le bateau ?
They like the key that fell. | Ils aiment la clé qui est tombée.
Open the window of the old school! | Ouvre la fenêtre de la vieille école !
The new door of this white hospital is red. | La nouvelle porte de cet hôpital blanc est rouge.
He saw his car and bought it. | Il a vu sa voiture et l'a achetée.
I took her bags but didn't open them. | J'ai pris ses sacs mais ne les ai pas ouverts.
You take an orange but don't eat it. | Tu prends une orange mais ne la manges pas.
Who often saw us? | Qui nous a souvent vus ?
The women know that they are happy. | Les femmes savent qu'elles sont heureuses.
Why didn't Anna hide? | Pourquoi est-ce qu'Anna ne s'est pas cachée ?
We gave her the bag. | Nous lui avons donné le sac.
They found her. | Ils l'ont trouvée.
"""


def known():
    return [tuple(line.split(" | ")) for line in KNOWN.strip().split("\n")]


def test_there_are_many_pairs_and_no_english_sentence_twice():
    assert len(PAIRS) == len({en for en, _ in PAIRS}) == 30_000


def test_an_english_sentence_has_one_translation():
    writer, seen = Writer(seed=1), dict(PAIRS)
    for _ in range(20_000):
        en, fr = writer.sentence()
        assert seen.setdefault(en, fr) == fr, en


def test_lengths_are_spread_over_all_buckets_and_any_part_is_a_fair_sample():
    def shares(pairs):
        lengths = [len(split_words(en)) for en, _ in pairs]
        assert 2 <= min(lengths) and max(lengths) <= 25
        counts = [sum(low <= length <= high for length in lengths) for low, high in ((2, 6), (7, 11), (12, 16), (17, 25))]
        return [count / len(lengths) for count in counts]
    assert min(shares(PAIRS)) >= 0.12
    assert shares(PAIRS[:2000]) == pytest.approx(shares(PAIRS), abs=0.03)


def test_the_vocabulary_is_small_and_every_english_word_frequent():
    english, french = (Counter(token for pair in PAIRS for token in split_words(pair[side])) for side in (0, 1))
    assert len(english) <= 250 and len(french) <= 370
    assert min(english.values()) >= 30


def test_another_seed_gives_other_pairs():
    assert sentence_pairs(300, seed=5) == sentence_pairs(300, seed=5) != sentence_pairs(300, seed=6)


@pytest.mark.parametrize(("en", "fr"), known())
def test_known_sentences(en, fr):
    assert dict(PAIRS)[en] == fr


@pytest.mark.parametrize("wrong", [
    r"\b(le|la|je|me|te|se|ne|de|que) [aeiouéêîôœh]", r"\bsi ils?\b",
    r"\bde les?\b", r"\bà les?\b", r"\b(du|au|ce) [aeiouéêîôœh]", r"\b(ma|ta|sa) [aeiouéêîôœh]",
    r"\b(beau|vieux|nouveau) (arbre|ami|enfant|homme|hôpital|oiseau|œuf)\b", r"\bcet [^aeiouéêîôœh]",
    r"\b(bel|vieil|nouvel) [^aeiouéêîôœh]", r"\bpas (un|une|des|du)\b", r"\bdes (petit|grand|vieux|vieille|beau|belle|nouve|jeune)",
    r"\b([jlmtsdn]|qu)'[^aeiouéêîôœh]",
    r"[^ ][?!]", r" [.,]", r"  ", r"'\s",
])
def test_what_a_teacher_would_strike_out_never_occurs(wrong):
    found = [fr for fr in FRENCH if re.search(wrong, fr.lower())]
    assert found == []


def test_determiners_and_adjectives_agree_with_their_noun():
    checked = 0
    for tokens in TOKENS:
        for i, token in enumerate(tokens):
            if token in NOUNS:
                words, before, after = FORMS[NOUNS[token]], i - 1, i + 1
                while tokens[before] in ADJECTIVES:
                    before -= 1
                while tokens[after] in ADJECTIVES:
                    after += 1
                assert set(tokens[before:i] + tokens[i + 1:after]) <= words, tokens
                checked += after - before - 1
    assert checked > 50_000


ENDINGS = {"je": r"(ai|suis|vais|.*[esx])", "j'": r"(ai|.*[es])", "tu": ".*s", "il": r"(a|va|.*[etd])", "elle": r"(a|va|.*[etd])",
           "nous": "(sommes|.*ons)", "ils": ".*nt", "elles": ".*nt"}
STARTS = set("qu' que et mais quand si s' , qui".split())
CLITICS = set("ne n' me m' te t' se s' le la l' les lui leur nous".split())


def test_verbs_agree_with_subject_pronouns():
    checked = Counter()
    for tokens in TOKENS:
        for i, token in enumerate(tokens):
            if token in ENDINGS and (i == 0 or tokens[i - 1] in STARTS) and not (token == "nous" and i and tokens[i - 1] == "qui"):
                verb = next(word for word in tokens[i + 1:] if word not in CLITICS)
                assert re.fullmatch(ENDINGS[token], verb), tokens
                checked[token] += 1
    assert set(checked) == set(ENDINGS) and min(checked.values()) > 50


def test_a_negation_has_both_its_halves():
    for fr in FRENCH:
        assert len(re.findall(r"\b(?:ne|n')\b", fr.lower())) == len(re.findall(r"\bpas\b", fr)), fr


ETRE = r"(?:venu|parti|tombé|allé|arrêté|caché)"


@pytest.mark.parametrize(("who", "ending"), [("il", ""), ("elle", "e"), ("ils", "s"), ("elles", "es"), ("anna", "e"), ("paul", "")])
def test_participles_with_etre_agree_with_the_subject(who, ending):
    found = [match for fr in FRENCH for match in re.findall(
        rf"(?:^|que |qu'|et |mais |si |s'|quand |, ){who} (?:ne |n')?(?:se |s')?(?:est|sont) "
        rf"(?:pas )?(?:souvent |toujours )?{ETRE}(e?s?)\b", fr.lower())]
    assert len(found) > 10 and set(found) == {ending}


@pytest.mark.parametrize(("noun", "ending"), [
    ("fille|femme|pomme|orange|lettre|clé|boîte|vache|histoire|école|fleur", "e"),
    ("filles|femmes|pommes|oranges|lettres|clés|boîtes|vaches|histoires|fleurs", "es"),
    ("garçon|homme|livre|chat|chien|gâteau|chapeau|sac|hôpital|château", ""),
    ("garçons|hommes|livres|chats|chiens|gâteaux|chapeaux|sacs", "s"),
])
def test_participles_with_avoir_agree_with_an_object_that_stands_before(noun, ending):
    participle = "(?:trouvé|cherché|acheté|mangé|donné|aidé|aimé|ouvert|écrit|vu)"
    adjective, have = f"(?: (?:{'|'.join(ADJECTIVES)}))?", "(?:ai|as|a|avons|ont)"
    relative = rf"qu(?:e |')(?:j'|je |tu |il |elle |nous |ils |paul |anna |sophie )(?:n'|ne )?{have}"
    again = rf"(?:et|mais) (?:ne )?(?:l'|les ){have}"
    determiner = "(?:le|la|les|l'|un|une|ce|cet|cette|ces|mon|ma|mes|ton|ta|tes) ?(?:petite?s? |grande?s? )?"
    found = [match for fr in FRENCH for link in (relative, again) for match in re.findall(
        rf"(?<!de )(?<!des )\b{determiner}(?:{noun}){adjective} {link} (?:pas )?{participle}(e?s?)\b", fr.lower())]
    assert len(found) > 20 and set(found) == {ending}


def test_word_order_crosses_where_the_adjective_follows():
    swapped = {"red": "rouge", "black": "noir", "white": "blanc", "green": "vert", "tired": "fatigué"}
    nouns = {"cat": "chat", "dog": "chien", "key": "clé", "car": "voiture", "door": "porte", "house": "maison", "girl": "fille"}
    checked = 0
    for en, fr in PAIRS:
        for adjective, noun in re.findall(rf"\b({'|'.join(swapped)}) ({'|'.join(nouns)})s?\b", en):
            assert re.search(rf"\b{nouns[noun]}s? {swapped[adjective]}", fr), (en, fr)
            checked += 1
        for noun in re.findall(rf"\bsmall ({'|'.join(nouns)})s?\b", en):
            assert re.search(rf"\bpetite?s? {nouns[noun]}s?\b", fr), (en, fr)
    assert checked > 1000


def test_english_is_in_order():
    for en, _ in PAIRS:
        assert re.match(r"[A-Z]", en) and re.search(r"\w[.!?]$", en), en
        assert not re.search(r"\ba [aeiou]|\ban [^aeiou]|  | [,.?!]", en), en
        if not re.search("(?i)do|did", en):                    # no helping verb, so the verb itself has the ending
            assert not re.search(r"\b(?:he|she|it|Paul|Anna) (?:often |always )?(?:are|am|see|eat|go|give|work|like)\b", en), en
        assert not re.search(r"(?:don't|doesn't|didn't) (?:often |always )?(?:is|are|saw|sees|went|goes|ate|liked|likes)\b", en), en


# ---- published pairs, and one's own -----------------------------------------------------------------------------------

PUBLISHED = "Run!\tCours\u202f!\nStop, \"now\".\tArrête\u2009!\nHi.\tSa\u00adlut\u00a0!\u200b\n"
READ = [("Run!", "Cours !"), ('Stop, "now".', "Arrête !"), ("Hi.", "Salut !")]


def test_another_name_is_refused():
    with pytest.raises(ValueError, match=r"""no pairs are called 'fra': choose "grammar" or "fra-eng", or give a path$"""):
        load_translation("fra")


@pytest.mark.parametrize("text", [
    PUBLISHED, PUBLISHED.replace("\n", "\tCC-BY 2.0 (France)\n"), PUBLISHED.replace("\n", "\r\n"), "\ufeff" + PUBLISHED,
    PUBLISHED.removesuffix("\n"), PUBLISHED + "\n",
    "source\tFrench\tEnglish\n" + "".join(f"x\t{fr}\t{en}\n" for en, fr in READ),
])
def test_tables_with_two_and_more_columns(tmp_path, text):
    (tmp_path / "mine.txt").write_bytes(text.encode())
    assert load_translation(path=tmp_path / "mine.txt") == READ


def test_the_published_archive_has_a_second_text_that_is_not_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "fra-eng.zip", "w") as archive:
        archive.writestr("_about.txt", "** Info **")
        archive.writestr("fra.txt", PUBLISHED)
    assert load_translation(path=tmp_path / "fra-eng.zip") == READ


def test_parallel_text_in_two_files_or_their_folder(tmp_path):
    for part in ("train", "dev"):
        (tmp_path / f"{part}.en").write_text(f"One, {part}.\n\nTwo\tmore.\n", encoding="utf-8")
        (tmp_path / f"{part}.fr").write_text(f"Un, {part}.\nPersonne.\nDeux\tautres.\n", encoding="utf-8")
    pairs = [("One, train.", "Un, train."), ("Two\tmore.", "Deux\tautres.")]
    assert load_translation(path=tmp_path) == pairs
    assert load_translation(path=(tmp_path / "train.en", str(tmp_path / "train.fr"))) == pairs
    (tmp_path / "train.fr").write_text("Un.\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"train.en has 3 lines, .*train.fr 1: as many are needed"):
        load_translation(path=tmp_path)


def test_a_line_that_is_no_pair_is_named(tmp_path):
    (tmp_path / "fra.txt").write_text(PUBLISHED + "Go.\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"fra.txt, line 4: .*Go.*, where a table with english, french is needed"):
        load_translation(path=tmp_path)


def test_the_published_pairs(published, capsys):
    published("fra-eng/fra.txt")
    pairs = load_translation("fra-eng")
    assert len(pairs) == 163_698 and pairs[0] == ("Go.", "Va !")
    assert {("I lost.", "J'ai perdu."), ("I lost it.", "Je l’ai perdu.")} <= set(pairs)
    assert all(len(pair) == 2 and min(map(len, pair)) > 0 for pair in pairs)
    assert not re.search("[\u00a0\u2009\u202f\u00ad\u200b\t\n]", "".join(map("".join, pairs)))
    assert capsys.readouterr().out == ""                      # a known edition
