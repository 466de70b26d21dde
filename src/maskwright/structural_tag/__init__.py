"""Structural tags: outputs that mix free text and structures, such as tool calls and reasoning.

    tag = StructuralTag(format=TriggeredTagsFormat(triggers=["<f="], tags=[TagFormat("<f=now>", {"type": …}, "</f>")]))
    grammar = Grammar.from_structural_tag(tag)

The files in the order of the work: `fields.py`, `base.py`, `formats.py`, `tag.py` (the classes, read and checked),
`tokens.py` (special tokens inside strings), `stops.py`, `triggers.py` and `ends.py` (where free text ends), `lower.py`
(to the IR), and for arguments `arguments.py`, `xml_styles.py`, `xml.py`. `families/` builds tags for
models' formats; `maskwright.events` reads what comes out.
Tested by tests/structural_tag/.
"""

from __future__ import annotations

from maskwright.inputs.schema_inputs import tool_of as tool_of
from maskwright.structural_tag.base import Format as Format
from maskwright.structural_tag.families import get_model_structural_tag as get_model_structural_tag
from maskwright.structural_tag.families import model_families as model_families
from maskwright.structural_tag.families import register_model_structural_tag as register_model_structural_tag
from maskwright.structural_tag.formats import AnyTextFormat as AnyTextFormat
from maskwright.structural_tag.formats import AnyTokensFormat as AnyTokensFormat
from maskwright.structural_tag.formats import ConstStringFormat as ConstStringFormat
from maskwright.structural_tag.formats import DispatchFormat as DispatchFormat
from maskwright.structural_tag.formats import ExcludeTokenFormat as ExcludeTokenFormat
from maskwright.structural_tag.formats import GrammarFormat as GrammarFormat
from maskwright.structural_tag.formats import JSONSchemaFormat as JSONSchemaFormat
from maskwright.structural_tag.formats import OptionalFormat as OptionalFormat
from maskwright.structural_tag.formats import OrFormat as OrFormat
from maskwright.structural_tag.formats import PlusFormat as PlusFormat
from maskwright.structural_tag.formats import QwenXMLParameterFormat as QwenXMLParameterFormat
from maskwright.structural_tag.formats import RegexFormat as RegexFormat
from maskwright.structural_tag.formats import RepeatFormat as RepeatFormat
from maskwright.structural_tag.formats import SequenceFormat as SequenceFormat
from maskwright.structural_tag.formats import StarFormat as StarFormat
from maskwright.structural_tag.formats import TagFormat as TagFormat
from maskwright.structural_tag.formats import TagsWithSeparatorFormat as TagsWithSeparatorFormat
from maskwright.structural_tag.formats import TokenDispatchFormat as TokenDispatchFormat
from maskwright.structural_tag.formats import TokenFormat as TokenFormat
from maskwright.structural_tag.formats import TokenTriggeredTagsFormat as TokenTriggeredTagsFormat
from maskwright.structural_tag.formats import TriggeredTagsFormat as TriggeredTagsFormat
from maskwright.structural_tag.request import Tool as Tool
from maskwright.structural_tag.request import ToolRequest as ToolRequest
from maskwright.structural_tag.tag import StructuralTag as StructuralTag
