r"""Which family a model is of, by its full name: data, in rows that are easy to add to.

    Qwen/Qwen3-8B-AWQ             → qwen_3
    Qwen3-4B-Thinking-2507        → qwen_3, whose prompt opens the reasoning
    mistralai/Mistral-7B-v0.3     → a question: a base model, did you mean 'mistral_v3'?

A name is its last part, in lower case, without what says how the weights are stored. A row of `_CERTAIN` must match it
as a whole, so that a fine-tune or a merge, whose name goes on, is never taken for what it is made of. Rows of `_ASKED`
say why a name does not settle the format, and which families there are to choose from.
In patterns, {size} is any number of sizes, such as -8b, -8x22b and -30b-a3b, and {date} is a date, such as -2507.
Sources: those of the families; mistral-common's table of models and tokenizers.
Tested by tests/structural_tag/families/test_model_names.py.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, NamedTuple

from maskwright.structural_tag.request import Reasoning

_MAX_LENGTH: Final = 200

# pattern, family, and what the model's reasoning is by default where it differs from the family's
_CERTAIN: Final[tuple[tuple[str, str, Reasoning | None], ...]] = (
    # Alibaba
    (r"qwen3(-next)?{size}", "qwen_3", None),
    (r"qwen3(-next|-vl)?{size}-instruct{date}", "qwen_3", "disabled"),
    (r"qwen3(-next|-vl)?{size}-thinking{date}", "qwen_3", "enabled"),
    (r"qwq-32b", "qwen_3", "enabled"),
    (r"qwen3-coder(-next)?{size}(-instruct)?", "qwen_3_coder", None),
    (r"qwen3\.5{size}", "qwen_3_5", None),
    (r"qwen2\.5(-coder)?{size}-instruct(-1m)?", "qwen_2_5", None),
    # DeepSeek
    (r"deepseek-r1{date}", "deepseek_r1", None),
    (r"deepseek-v3{date}(-chat)?", "deepseek_v3", None),
    (r"deepseek-v3\.1(-terminus)?", "deepseek_v3_1", None),
    (r"deepseek-v3\.2-exp", "deepseek_v3_1", None),
    (r"deepseek-v3\.2", "deepseek_v3_2", None),
    (r"deepseek-v4(-flash|-pro)?", "deepseek_v4", None),
    (r"deepseek-v4\.1(-flash|-pro)?", "deepseek_v4_1", None),
    # Google
    (r"gemma-4{size}-it(-qat)?", "gemma_4", None),
    (r"functiongemma-270m-it", "functiongemma", None),
    # IBM
    (r"granite-3\.[0-3]{size}-instruct", "granite_3", None),
    (r"granite-4\.[01](-h)?(-micro|-tiny|-small)?{size}", "granite_4", None),
    (r"granite-4\.2(-h)?(-micro|-tiny|-small)?{size}", "granite_4_2", None),
    (r"granite-20b-functioncalling", "granite_20b_functioncalling", None),
    # Meta
    (r"(meta-)?llama-3\.1{size}-instruct", "llama_3_1", None),
    (r"(meta-)?llama-3\.2{size}(-vision)?-instruct", "llama_3_2", None),
    (r"(meta-)?llama-3\.3{size}-instruct", "llama_3_3", None),
    # Mistral
    (r"mistral-7b-instruct-v0\.3", "mistral_v3", None),
    (r"mixtral-8x22b-instruct-v0\.1", "mistral_v3", None),
    (r"mistral-nemo-instruct-2407", "mistral_v3", None),
    (r"ministral-8b-instruct-2410", "mistral_v3", None),
    (r"mistral-small-instruct-2409", "mistral_v3", None),
    (r"mistral-small-24b-instruct-2501", "mistral_v3", None),
    (r"mistral-small-3\.1-24b-instruct-2503", "mistral_v3", None),
    (r"mistral-large-instruct-(2407|2411)", "mistral_v3", None),
    (r"pixtral-(12b-2409|large-instruct-2411)", "mistral_v3", None),
    (r"mistral-small-3\.2-24b-instruct-2506", "mistral_v11", None),
    (r"magistral-small-(2507|2509)", "mistral_v13", None),
    (r"ministral-3{size}-(instruct|reasoning)-2512", "mistral_v13", None),
    (r"mistral-large-3-675b-instruct-2512", "mistral_v13", None),
    (r"devstral(-small)?-2{size}-instruct-2512", "mistral_v13", None),
    # MiniMax
    (r"minimax-m1(-40k|-80k)?", "minimax_m1", None),
    (r"minimax-m2(\.[15])?", "minimax_m2", None),
    (r"minimax-m3", "minimax_m3", None),
    # Moonshot
    (r"kimi-k2-instruct(-0905)?", "kimi_k2", "disabled"),
    (r"kimi-k2-thinking", "kimi_k2", None),
    (r"kimi-k3", "kimi_k3", None),
    # Nous
    (r"hermes-3(-llama-3\.[12]{size})?", "hermes", None),
    (r"hermes-2-(pro|theta)-(mistral|llama-3|yi){size}", "hermes", None),
    (r"(hermes-4-(llama-3\.1-)?|deephermes-3-llama-3-|deephermes-3-mistral-)\d+b(-preview)?", "hermes", "auto"),
    # NVIDIA
    (r"nvidia-nemotron-nano{size}-v2", "nemotron_nano_2", None),
    (r"nvidia-nemotron-3(-nano|-super|-ultra)?{size}", "nemotron_3", None),
    (r"llama-3[._-]3-nemotron-super-49b-v1[._-]5", "llama_nemotron", None),
    (r"llama-3[._-]1-nemotron-nano-4b-v1[._-]1", "llama_nemotron", None),
    # Zhipu
    (r"glm-4\.5(v|-air)?", "glm_4_5", None),
    (r"glm-4\.6", "glm_4_6", None),
    (r"glm-4\.7(-flash)?", "glm_4_7", None),
    (r"glm-5\.3-flash", "glm_4_7", None),
    # Others
    (r"apertus{size}-instruct-2509", "apertus", None),
    (r"c4ai-command-r7b(-12-2024)?", "command_r7b", None),
    (r"(c4ai-)?command-a(-reasoning)?-\d\d-\d{4}", "command_a", None),
    (r"ernie-4\.5(-vl)?{size}-thinking", "ernie_4_5", None),
    (r"exaone-4\.0(\.1)?{size}", "exaone_4", None),
    (r"gigachat3{size}(-preview)?", "gigachat_3", None),
    (r"functionary-(small|medium)-v3\.1", "functionary_v3_1", None),
    (r"functionary-(small|medium)-v3\.2", "functionary_v3_2", None),
    (r"gpt-oss(-safeguard)?{size}", "gpt_oss", None),
    (r"hunyuan-a13b-instruct", "hunyuan_a13b", None),
    (r"internlm2[._-]5{size}-chat(-1m)?", "internlm_2_5", None),
    (r"intern-s1(-mini)?", "intern_s1", None),
    (r"(ai21-)?jamba-1\.5-(mini|large)", "jamba_1_5", None),
    (r"lfm2(\.5)?{size}(-tool|-instruct|-thinking|-exp)?", "lfm_2", None),
    (r"longcat-flash-chat", "longcat", None),
    (r"longcat-flash-thinking", "longcat_flash_thinking", None),
    (r"mimo-v2(\.5)?(-flash|-pro)?", "mimo", None),
    (r"olmo-3(\.1)?{size}-instruct", "olmo_3", None),
    (r"olmo-3(\.1)?{size}-think", "olmo_3_think", None),
    (r"phi-4-mini-instruct", "phi_4_mini", None),
    (r"seed-oss-36b-instruct", "seed_oss", None),
    (r"step-?3", "step_3", None),
    (r"step-3\.[57]-flash", "step_3_5", None),
    (r"toolace-8b", "toolace", None),
    (r"(llama-)?xlam-2{size}-fc-r", "xlam_2", None),
)

_BASE: Final = "base models are not trained for a format of tool calls"
_MIXED: Final = "a distilled or merged model may use the format of any of the models that it was made from"
_PROMPT: Final = "the prompt determines which format this model writes"
_VERSION: Final = "the format changed between versions"
_OWN: Final = "this model's format of tool calls is not supported"

# pattern, why the name does not settle it, families to choose from
_ASKED: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    (r".*(distill|merge|chimera|abliterated|uncensored|frankenm).*", _MIXED, ()),
    (r"deepseek-r1-0528-qwen3-8b|openthinker.*|deepseek-r1t.*", _MIXED, ("deepseek_r1", "qwen_3")),
    (r"ernie.*", "only the thinking models call tools", ("ernie_4_5",)),
    (r"(.*-)?(base|pt|pretrain|midtrain)(-[a-z0-9.]+)?|.*-base-.*", _BASE, ()),
    (r"(meta-)?llama-3\.[123]{size}(-vision)?", _BASE, ("llama_3_1", "llama_3_2", "llama_3_3")),
    (r"(meta-)?llama-4-(scout|maverick).*", _PROMPT, ("llama_4_pythonic", "llama_4")),
    (r"(meta-)?llama-3{size}(-instruct)?|llama-2.*|codellama.*|llama-guard.*", _OWN, ("llama_3_1",)),
    (r"mistral-7b(-instruct)?-v0\.[123]|mistral-7b-instruct", _BASE + ", nor is any before v0.3", ("mistral_v3",)),
    (r"(mixtral|mistral|ministral|magistral|devstral|codestral|voxtral|pixtral|mathstral).*", _VERSION,
        ("mistral_v3", "mistral_v11", "mistral_v13")),
    (r"qwen2\.5{size}|qwen2\.5-coder{size}", _BASE, ("qwen_2_5",)),
    (r"(qwen|qwq|qvq|code-?qwen).*", _VERSION, ("qwen_2_5", "qwen_3", "qwen_3_coder", "qwen_3_5")),
    (r"deepseek.*", _VERSION, ("deepseek_r1", "deepseek_v3", "deepseek_v3_1", "deepseek_v3_2", "deepseek_v4")),
    (r"(nous-)?(open)?-?hermes.*", "Hermes supports tool calls from version 2 Pro on", ("hermes",)),
    (r".*nemotron.*", _VERSION, ("llama_nemotron", "nemotron_nano_2", "nemotron_3", "llama_3_1")),
    (r"minimax.*", _VERSION, ("minimax_m1", "minimax_m2", "minimax_m3")),
    (r"(kimi|moonlight).*", _VERSION, ("kimi_k2", "kimi_k3")),
    (r"(chat)?glm.*", _VERSION, ("glm_4_5", "glm_4_6", "glm_4_7")),
    (r"granite.*", _VERSION, ("granite_3", "granite_4", "granite_4_2", "granite_20b_functioncalling")),
    (r"phi-?[1-4].*", _OWN, ("phi_4_mini",)),
    (r"(c4ai-)?command-r(?!7).*|aya.*", _OWN, ("command_r7b", "command_a")),
    (r"(c4ai-)?(command|north).*", _VERSION, ("command_a", "command_r7b", "cohere")),
    (r"(shield|paligemma|codegemma|medgemma|t5gemma|recurrent).*", _OWN, ("gemma_3", "gemma_4")),
    (r"gemma-3.*", _PROMPT, ("gemma_3",)),
    (r"(function)?gemma.*", _VERSION, ("gemma_3", "gemma_4", "functiongemma")),
    (r"(k-)?exaone.*", _VERSION, ("exaone_4",)),
    (r"olmo.*", _VERSION, ("olmo_3", "olmo_3_think")),
    (r"(llama-|qwen-)?xlam.*", _VERSION, ("xlam_2",)),
    (r"intern.*", _VERSION, ("internlm_2_5", "intern_s1")),
    (r"(hunyuan|hy[34]).*", _VERSION, ("hunyuan_a13b", "hunyuan_3")),
    (r"(ai21-)?jamba.*", _VERSION, ("jamba_1_5",)),
    (r"gigachat.*", _VERSION, ("gigachat_3",)),
    (r"longcat.*", _VERSION, ("longcat_flash", "longcat_flash_thinking")),
    (r"mimo.*", _VERSION, ("mimo",)),
    (r"lfm.*", _VERSION, ("lfm_2",)),
    (r"step.*", _VERSION, ("step_3", "step_3_5")),
    (r"(seed|doubao).*", _VERSION, ("seed_oss",)),
    (r"dots.*", _VERSION, ("dots",)),
    (r"apertus.*", _VERSION, ("apertus",)),
    (r".*toolace.*", _VERSION, ("toolace",)),
    (r"smollm.*|trinity.*|arcee.*|afm-.*", "its chat template determines the format", ("hermes",)),
    (r"functionary.*", _VERSION, ("functionary_v3_1", "functionary_v3_2")),
    (r"minicpm.*|apriel.*|solar.*|hyperclova.*|laguna.*", _OWN, ()),
)  # fmt: skip

_HOLES: Final = {
    "{size}": r"(?:-(?:e|a)?\d+(?:[._-]\d+)?(?:b|m|t|e|x\d+b))*",
    "{date}": r"(?:-\d{2,4}(?:-\d{4})?)?",
}
# How weights are stored says nothing of what the model writes.
_STORED: Final = re.compile(
    r"[-.](?:awq|gptq|gguf|mlx|exl[23]|bnb|hf|onnx|unsloth|dynamic|autoround|marlin|block|quantized|qat|fp8|fp4|fp16"
    r"|bf16|nvfp4|mxfp[48]|kv|dwq|int[48]|w[48]a\d+|[2-8]bit|g\d+|(?:ud-)?i?q\d(?:-(?:k|[01]|xs|xxs|s|m|l|xl|nl))*)\Z"
)
_BASE_SUFFIX: Final = re.compile(r"-(?:base|pt|pretrain)(?=-|\Z).*")


class Certain(NamedTuple):
    """The family of a model; its reasoning where that differs from the family's."""

    family: str
    reasoning: Reasoning | None


class Question(NamedTuple):
    """Why a name does not settle the family, and those to choose from."""

    reason: str
    families: tuple[str, ...]


@lru_cache(maxsize=256)
def find_model(name: str) -> Certain | Question | None:
    """Return the family of a model by its full name, what has to be asked, or None for a name that is not known.

    >>> find_model("Qwen/Qwen3-8B-AWQ")
    Certain(family='qwen_3', reasoning=None)
    """
    if len(name) > _MAX_LENGTH:
        return None
    known = _plain(name)
    found = _certain(known)
    if found is not None:
        return found
    for pattern, reason, families in _ASKED:
        if _compiled(pattern).fullmatch(known):
            return Question(reason, tuple(dict.fromkeys((*_siblings(known), *(families or _mentioned(known))))))
    return None


def _certain(known: str) -> Certain | None:
    for pattern, family, reasoning in _CERTAIN:
        if _compiled(pattern).fullmatch(known):
            return Certain(family, reasoning)
    return None


def _siblings(known: str) -> list[str]:
    """The family of the model that was trained from this base model, if its name says so."""
    stem = _BASE_SUFFIX.sub("", known)
    found = (_certain(stem + suffix) for suffix in ("", "-instruct", "-it"))
    return [it.family for it in found if it is not None][:1]


def _plain(name: str) -> str:
    """The last part of a name, in one spelling."""
    plain = name.strip().rstrip("/").rpartition("/")[2].lower().replace("_", "-").replace(":", "-").replace(" ", "-")
    while found := _STORED.search(plain):
        plain = plain[: found.start()]
    return plain


def _mentioned(known: str) -> tuple[str, ...]:
    """The families to choose from for the first name that this one mentions."""
    parts = known.split("-")
    for i in range(len(parts)):
        rest = "-".join(parts[i:])
        for pattern, _, families in _ASKED:
            if families and _compiled(pattern).fullmatch(rest):
                return families
    return ()


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    for hole, what in _HOLES.items():
        pattern = pattern.replace(hole, what)
    return re.compile(pattern)
