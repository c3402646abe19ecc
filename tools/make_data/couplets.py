"""Writes couplets, from words by the place they take in a line, and the lexicon of their characters."""
import random
import unicodedata

# Words by the place they take in a line. The words of a group (between bars) answer one another, the nearest most often.
WORDS = {
    "breath": "春风 秋雨 冬雪 | 和风 细雨 | 暖风 寒雨",
    "mist": "淡雾 轻烟 | 早雾 晚霞",
    "light": "淡月 疏星 | 暖日 寒星 | 皎月 红日 | 晓日 晚星",
    "sky": "明月 清风 | 细雨 和风 | 淡月 疏星 | 白雪 红霞 | 晓露 晚霞",
    "land": "绿水 青山 | 碧海 青天 | 平野 大江 | 远岭 长川 | 古道 新桥 长亭 | 旧院 新楼",
    "plant": "绿柳 红花 | 嫩柳 娇花 | 红杏 绿杨 白梨 | 碧草 丹枫 | 芳草 幽兰 | 翠竹 青松 | 新叶 旧枝",
    "bird": "紫燕 黄莺 | 白鹭 黄鹂 | 粉蝶 黄蜂 | 早雁 晚鸦",
    "person": "远客 故人 | 渔父 牧童 樵翁 | 少女 老翁 | 酒友 诗仙",
    "art": "古画 新诗 | 旧曲 新歌 | 浊酒 清茶",
    "when": "昔日 今朝 | 昨夜 今朝 | 春夜 秋朝 | 半夜 三更",
    "where": "月下 风前 | 花下 柳边 | 岭上 溪边 | 桥下 楼头 | 梦里 心中 | 村外 城中 山间 | 塞北 江南 | 海上 天边 | 门外 窗前",
    "range": "万里 千秋 | 千里 万年 | 四海 九州",
    "count": "一双 两只 | 几双 一对",
    "touch": "吹 洗 润 染 | 拂 摇",
    "veil": "锁 遮 | 掩 围",
    "shine": "照 映",
    "pass": "穿 绕 过 | 入 出",
    "greet": "送 迎 邀 | 望 思",
    "give": "赠 留 | 寄 传 | 爱 寻",
    "move": "去 来 归 | 舞 飞 鸣",
    "soar": "欲舞 争飞 | 又去 重来 | 已至 初归",
    "bloom": "正绿 初红 | 欲落 初开 | 正艳 犹香",
    "scene": "柳绿 花红 | 柳暗 花明 | 叶落 花开 | 鸟语 花香 | 燕舞 莺歌 | 雨去 风来 | 雨细 风和 | 雾散 云开 | 月朗 星稀"
             " | 月落 日升 | 地阔 天高 | 水秀 山清 | 水远 山长 | 酒暖 茶香 | 客至 人归 | 燕去 雁来 | 夜静 更深",
}
GROUPS = {place: [group.split() for group in groups.split("|")] for place, groups in WORDS.items()}
PATTERNS = [
    "scene scene", "where scene", "when scene",                                                             # 4 characters
    "breath touch plant", "mist veil land", "light shine land", "bird pass plant", "person greet sky", "person give art",
    "when bird move",                                                                                       # 5
    "scene scene scene", "where bird soar", "where plant bloom",                                            # 6
    "where breath touch plant", "where mist veil land", "range light shine land", "count bird pass plant",
    "when person greet sky", "when person give art", "scene scene breath move",                             # 7
    "scene scene bird soar", "where scene when scene",                                                      # 8
    "scene scene breath touch plant", "where scene bird pass plant", "when scene person greet sky",         # 9
]
WEIGHTS = [6, 3, 1]                                    # how often a word gets its nearest answer, the next one, the farthest

LEXICON = """
春 chūn spring, 秋 qiū autumn, 冬 dōng winter, 风 fēng wind, 雨 yǔ rain, 雪 xuě snow, 云 yún cloud, 雾 wù fog, 烟 yān mist,
霞 xiá glow, 露 lù dew, 天 tiān sky, 地 dì earth, 日 rì sun, 月 yuè moon, 星 xīng star, 山 shān mountain, 水 shuǐ water,
海 hǎi sea, 江 jiāng great river, 川 chuān stream, 溪 xī brook, 野 yě plain, 岭 lǐng ridge, 道 dào road, 桥 qiáo bridge,
亭 tíng pavilion, 院 yuàn courtyard, 楼 lóu tower, 门 mén door, 窗 chuāng window, 村 cūn village, 城 chéng town,
塞 sài frontier, 州 zhōu province, 柳 liǔ willow, 花 huā flower, 杏 xìng apricot, 杨 yáng poplar, 梨 lí pear, 草 cǎo grass,
枫 fēng maple, 兰 lán orchid, 竹 zhú bamboo, 松 sōng pine, 叶 yè leaf, 枝 zhī branch, 鸟 niǎo bird, 燕 yàn swallow,
莺 yīng warbler, 鹭 lù egret, 鹂 lí oriole, 蝶 dié butterfly, 蜂 fēng bee, 雁 yàn wild goose, 鸦 yā crow, 人 rén person,
客 kè guest, 父 fǔ old man, 童 tóng boy, 翁 wēng old fellow, 女 nǚ woman, 友 yǒu friend, 仙 xiān immortal, 渔 yú fishing,
牧 mù herding, 樵 qiáo woodcutting, 酒 jiǔ wine, 茶 chá tea, 诗 shī poem, 画 huà painting, 曲 qǔ tune, 歌 gē song, 梦 mèng dream,
心 xīn heart, 语 yǔ speech, 里 lǐ Chinese mile; within, 年 nián year, 夜 yè night, 朝 zhāo morning, 更 gēng night watch,
昔 xī long ago, 今 jīn now, 昨 zuó yesterday, 早 zǎo early, 晚 wǎn late, 晓 xiǎo dawn, 上 shàng above, 下 xià below, 前 qián before,
边 biān beside, 头 tóu top, 中 zhōng middle, 外 wài outside, 间 jiān among, 北 běi north, 南 nán south, 一 yī one, 两 liǎng two,
三 sān three, 四 sì four, 九 jiǔ nine, 千 qiān thousand, 万 wàn ten thousand, 几 jǐ a few, 半 bàn half, 双 shuāng couple,
对 duì pair, 只 zhī single (counted), 红 hóng red, 绿 lǜ green, 青 qīng blue-green, 白 bái white, 黄 huáng yellow, 紫 zǐ purple,
碧 bì jade green, 翠 cuì emerald, 丹 dān crimson, 粉 fěn pink, 和 hé gentle, 细 xì fine, 暖 nuǎn warm, 寒 hán cold, 淡 dàn pale,
疏 shū sparse, 轻 qīng light, 皎 jiǎo gleaming, 明 míng bright, 暗 àn dark, 清 qīng clear, 浊 zhuó cloudy, 平 píng level,
大 dà big, 远 yuǎn far, 长 cháng long, 古 gǔ ancient, 新 xīn new, 旧 jiù old, 老 lǎo aged, 少 shào young, 故 gù of old,
嫩 nèn tender, 娇 jiāo lovely, 芳 fāng fragrant, 幽 yōu secluded, 艳 yàn gorgeous, 香 xiāng scented, 朗 lǎng brilliant,
稀 xī sparse, 阔 kuò wide, 高 gāo high, 秀 xiù graceful, 静 jìng quiet, 深 shēn deep, 吹 chuī blow, 洗 xǐ wash, 润 rùn moisten,
染 rǎn dye, 拂 fú brush, 摇 yáo sway, 锁 suǒ lock in, 遮 zhē veil, 掩 yǎn cover, 围 wéi surround, 照 zhào shine on, 映 yìng mirror,
穿 chuān pass through, 绕 rào circle, 过 guò pass, 入 rù enter, 出 chū leave, 送 sòng see off, 迎 yíng welcome, 邀 yāo invite,
望 wàng gaze at, 思 sī think of, 赠 zèng give, 留 liú keep, 寄 jì send, 传 chuán hand on, 爱 ài love, 寻 xún seek, 去 qù go,
来 lái come, 归 guī return, 至 zhì arrive, 舞 wǔ dance, 飞 fēi fly, 鸣 míng call, 欲 yù about to, 争 zhēng vie to, 又 yòu again,
重 chóng once more, 已 yǐ already, 初 chū just now, 正 zhèng right now, 犹 yóu still, 落 luò fall, 开 kāi open,
散 sàn scatter, 升 shēng rise
"""
ENTRIES = [entry.split(maxsplit=2) for entry in LEXICON.replace("\n", " ").strip().split(", ")]
PINYIN = {character: pinyin for character, pinyin, _ in ENTRIES}                          # how a character is read
GLOSS = {character: gloss for character, _, gloss in ENTRIES}                             # what it means, in English


def nearest_first(group, word):
    """The other words of a group, those that stand nearest to the word first."""
    place = group.index(word)
    return sorted(group[:place] + group[place + 1:], key=lambda other: abs(group.index(other) - place))


def opposites():
    """From each character of the lexicon to the one, two or three that may answer it, as a string in no order of rank."""
    found = {character: "" for character in PINYIN}
    for group in [group for groups in GROUPS.values() for group in groups]:
        for word in group:
            for other in nearest_first(group, word):
                for character, answer in zip(word, other):
                    found[character] += answer if answer not in found[character] else ""
    return found


OPPOSITES = opposites()


def make_couplets(count, seed=11):
    """`count` couplets, no two first lines alike: a pattern, a word for each of its places, and an answer to each word."""
    rng = random.Random(seed)
    couplets = {}
    while len(couplets) < count:
        first = second = ""
        for place in rng.choice(PATTERNS).split():
            group = rng.choice(GROUPS[place])
            word = rng.choice(group)
            answers = nearest_first(group, word)
            first += word
            second += rng.choices(answers, WEIGHTS[:len(answers)])[0]
        if is_proper(first, second):
            couplets.setdefault(first, second)
    return list(couplets.items())


def is_proper(first, second):
    """Whether a couplet keeps two old rules: no character comes twice, and the first line ends in an oblique tone
    (the third or fourth of today's Mandarin), the second in a level one (the first or second)."""
    return len(set(first + second)) == len(first + second) and is_oblique(first[-1]) and not is_oblique(second[-1])


def is_oblique(character):
    """Whether its tone is the third (ǎ) or the fourth (à)."""
    return any(mark in unicodedata.normalize("NFD", PINYIN[character]) for mark in "\u030c\u0300")
