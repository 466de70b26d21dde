r"""Write src/maskwright/frontends/regex/unicode.txt, the properties that `\p{…}` knows, from the `regex` package.

Each line is `kind:name`, a tab, and ranges in hex. Kinds: `gc` general category, `sc` script, `scx` the characters that
Script_Extensions adds to a script | takes from it, `bin` binary property, `fold` classes of characters that are equal
when case is ignored. Run it with the newest `regex` to follow a new version of Unicode:

    python tools/make_unicode_data.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import regex

TARGET = Path(__file__).parents[1] / "src/maskwright/frontends/regex/unicode.txt"
CATEGORIES = """
    Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn
""".split()  # noqa: SIM905
SCRIPTS = """
    Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki
    Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee
    Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan
    Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Garay Georgian Glagolitic Gothic Grantha Greek Gujarati
    Gunjala_Gondi Gurmukhi Gurung_Khema Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic
    Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kawi Kayah_Li
    Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Kirat_Rai Lao Latin Lepcha Limbu Linear_A Linear_B Lisu
    Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek
    Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean
    Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Ol_Onal Old_Hungarian
    Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya
    Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan
    Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Sunuwar
    Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai
    Tibetan Tifinagh Tirhuta Todhri Toto Tulu_Tigalari Ugaritic Unknown Vai Vithkuqi Wancho Warang_Citi Yezidi Yi
    Zanabazar_Square
""".split()  # noqa: SIM905
BINARY = """
    Alphabetic ASCII_Hex_Digit Bidi_Control Bidi_Mirrored Case_Ignorable Cased Dash Default_Ignorable_Code_Point
    Deprecated Diacritic Emoji Emoji_Component Emoji_Modifier Emoji_Modifier_Base Emoji_Presentation
    Extended_Pictographic Extender Hex_Digit ID_Continue ID_Start Ideographic Join_Control Logical_Order_Exception
    Lowercase Math Noncharacter_Code_Point Pattern_Syntax Pattern_White_Space Quotation_Mark Radical
    Regional_Indicator Sentence_Terminal Soft_Dotted Terminal_Punctuation Unified_Ideograph Uppercase
    Variation_Selector White_Space XID_Continue XID_Start
""".split()  # noqa: SIM905

EVERYTHING = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF)


def members(condition: str) -> list[int]:
    return [ord(c) for c in regex.findall(condition, EVERYTHING)]


def shown(code_points: list[int]) -> str:
    out: list[list[int]] = []
    for c in code_points:
        if out and c == out[-1][1] + 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return " ".join(f"{a:X}" if a == b else f"{a:X}-{b:X}" for a, b in out)


def known(names: list[str], prefix: str) -> list[str]:
    out = [name for name in names if _compiles(rf"\p{{{prefix}{name}}}")]
    print("not in this version of regex:", *sorted(set(names) - set(out)), file=sys.stderr)
    return out


def _compiles(pattern: str) -> bool:
    try:
        regex.compile(pattern)
    except regex.error:
        return False
    return True


def line(kind: str, name: str, code_points: list[int]) -> str:
    return f"{kind}:{name}\t{shown(code_points)}"


def fold_classes() -> str:
    by_folding: dict[str, list[int]] = {}
    for c in EVERYTHING:
        by_folding.setdefault(c.casefold(), []).append(ord(c))
    return " ".join("=".join(f"{c:X}" for c in group) for group in by_folding.values() if len(group) > 1)


def main() -> None:
    lines = [
        "# Character properties, made by tools/make_unicode_data.py. Data from the Unicode Character Database,",
        "# copyright Unicode, Inc., under the Unicode License v3.",
    ]
    lines += [line("gc", name, members(rf"\p{{gc={name}}}")) for name in CATEGORIES]
    for name in known(SCRIPTS, "sc="):
        script, extended = set(members(rf"\p{{sc={name}}}")), set(members(rf"\p{{scx={name}}}"))
        lines.append(line("sc", name, sorted(script)))
        if extended != script:
            added, taken = shown(sorted(extended - script)), shown(sorted(script - extended))
            lines.append(f"scx:{name}\t{added} | {taken}".rstrip())
    lines += [line("bin", name, members(rf"\p{{{name}}}")) for name in known(BINARY, "")]
    lines.append(f"fold:\t{fold_classes()}")
    TARGET.write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
