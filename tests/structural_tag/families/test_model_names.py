"""Full names of models: to the family that they are certainly of, or to a question, never to a wrong one."""

from __future__ import annotations

import re

import pytest

from maskwright.errors import RequestError
from maskwright.structural_tag import get_model_structural_tag, model_families
from maskwright.structural_tag.families import model_names
from maskwright.structural_tag.families.model_names import Certain, Question, find_model
from structural_tag.families.transcripts import TOOLS
from timing import processor_seconds

CERTAIN = """
Qwen/Qwen3-0.6B                                   qwen_3
Qwen/Qwen3-8B                                     qwen_3
Qwen/Qwen3-30B-A3B                                qwen_3
Qwen/Qwen3-235B-A22B-FP8                          qwen_3
Qwen/Qwen3-8B-AWQ                                 qwen_3
Qwen/Qwen3-32B-GPTQ-Int4                          qwen_3
unsloth/Qwen3-14B-unsloth-bnb-4bit                qwen_3
Qwen3-8B-Q4_K_M.gguf                              qwen_3
/models/Qwen3-8B/                                 qwen_3
Qwen/Qwen3-4B-Instruct-2507                       qwen_3 disabled
Qwen/Qwen3-235B-A22B-Thinking-2507                qwen_3 enabled
Qwen/Qwen3-Next-80B-A3B-Instruct                  qwen_3 disabled
Qwen/Qwen3-VL-8B-Thinking                         qwen_3 enabled
Qwen/QwQ-32B                                      qwen_3 enabled
Qwen/QwQ-32B-AWQ                                  qwen_3 enabled
Qwen/Qwen3-Coder-30B-A3B-Instruct                 qwen_3_coder
Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8           qwen_3_coder
Qwen/Qwen3-Coder-Next                             qwen_3_coder
Qwen/Qwen3.5-397B-A17B                            qwen_3_5
Qwen/Qwen2.5-7B-Instruct                          qwen_2_5
Qwen/Qwen2.5-7B-Instruct-1M                       qwen_2_5
Qwen/Qwen2.5-Coder-32B-Instruct                   qwen_2_5
Qwen/Qwen2.5-72B-Instruct-AWQ                     qwen_2_5
deepseek-ai/DeepSeek-R1                           deepseek_r1
deepseek-ai/DeepSeek-R1-0528                      deepseek_r1
deepseek-ai/DeepSeek-V3                           deepseek_v3
deepseek-ai/DeepSeek-V3-0324                      deepseek_v3
deepseek-ai/DeepSeek-V3.1                         deepseek_v3_1
deepseek-ai/DeepSeek-V3.1-Terminus                deepseek_v3_1
deepseek-ai/DeepSeek-V3.2-Exp                     deepseek_v3_1
deepseek-ai/DeepSeek-V3.2                         deepseek_v3_2
deepseek-ai/DeepSeek-V4                           deepseek_v4
deepseek-ai/DeepSeek-V4.1-Flash                   deepseek_v4_1
google/gemma-4-31B-it                             gemma_4
google/gemma-4-E4B-it                             gemma_4
google/functiongemma-270m-it                      functiongemma
ibm-granite/granite-3.0-8b-instruct               granite_3
ibm-granite/granite-3.3-2b-instruct               granite_3
ibm-granite/granite-4.0-h-small                   granite_4
ibm-granite/granite-4.0-micro                     granite_4
ibm-granite/granite-4.0-h-350m                    granite_4
ibm-granite/granite-4.2-h-small                   granite_4_2
ibm-granite/granite-20b-functioncalling           granite_20b_functioncalling
meta-llama/Llama-3.1-8B-Instruct                  llama_3_1
meta-llama/Meta-Llama-3.1-405B-Instruct-FP8       llama_3_1
RedHatAI/Meta-Llama-3.1-8B-Instruct-quantized.w4a16   llama_3_1
nvidia/Llama-3.1-8B-Instruct-FP8                  llama_3_1
meta-llama/Llama-3.2-3B-Instruct                  llama_3_2
meta-llama/Llama-3.2-11B-Vision-Instruct          llama_3_2
meta-llama/Llama-3.3-70B-Instruct                 llama_3_3
RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic       llama_3_3
mistralai/Mistral-7B-Instruct-v0.3                mistral_v3
mistralai/Mixtral-8x22B-Instruct-v0.1             mistral_v3
mistralai/Mistral-Nemo-Instruct-2407              mistral_v3
mistralai/Ministral-8B-Instruct-2410              mistral_v3
mistralai/Mistral-Small-Instruct-2409             mistral_v3
mistralai/Mistral-Small-24B-Instruct-2501         mistral_v3
mistralai/Mistral-Small-3.1-24B-Instruct-2503     mistral_v3
mistralai/Mistral-Large-Instruct-2407             mistral_v3
mistralai/Mistral-Large-Instruct-2411             mistral_v3
mistralai/Pixtral-12B-2409                        mistral_v3
mistralai/Mistral-Small-3.2-24B-Instruct-2506     mistral_v11
mistralai/Magistral-Small-2509                    mistral_v13
mistralai/Ministral-3-8B-Instruct-2512            mistral_v13
mistralai/Ministral-3-14B-Reasoning-2512          mistral_v13
mistralai/Mistral-Large-3-675B-Instruct-2512      mistral_v13
mistralai/Devstral-2-123B-Instruct-2512           mistral_v13
mistralai/Devstral-Small-2-24B-Instruct-2512      mistral_v13
MiniMaxAI/MiniMax-M1-80k                          minimax_m1
MiniMaxAI/MiniMax-M2                              minimax_m2
MiniMaxAI/MiniMax-M2.1                            minimax_m2
MiniMaxAI/MiniMax-M3                              minimax_m3
moonshotai/Kimi-K2-Instruct-0905                  kimi_k2 disabled
moonshotai/Kimi-K2-Thinking                       kimi_k2
moonshotai/Kimi-K3                                kimi_k3
NousResearch/Hermes-3-Llama-3.1-8B                hermes
NousResearch/Hermes-3-Llama-3.2-3B-GGUF           hermes
NousResearch/Hermes-2-Pro-Llama-3-8B              hermes
NousResearch/Hermes-2-Pro-Mistral-7B              hermes
NousResearch/Hermes-2-Theta-Llama-3-8B            hermes
NousResearch/Hermes-4-70B                         hermes auto
NousResearch/DeepHermes-3-Llama-3-8B-Preview      hermes auto
nvidia/NVIDIA-Nemotron-Nano-9B-v2                 nemotron_nano_2
nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16        nemotron_3
nvidia/Llama-3_3-Nemotron-Super-49B-v1_5          llama_nemotron
nvidia/Llama-3.1-Nemotron-Nano-4B-v1.1            llama_nemotron
zai-org/GLM-4.5                                   glm_4_5
zai-org/GLM-4.5-Air-FP8                           glm_4_5
zai-org/GLM-4.6                                   glm_4_6
zai-org/GLM-4.7-Flash                             glm_4_7
zai-org/GLM-5.3-Flash                             glm_4_7
swiss-ai/Apertus-8B-Instruct-2509                 apertus
CohereLabs/c4ai-command-r7b-12-2024               command_r7b
CohereLabs/c4ai-command-a-03-2025                 command_a
CohereLabs/command-a-reasoning-08-2025            command_a
baidu/ERNIE-4.5-21B-A3B-Thinking                  ernie_4_5
baidu/ERNIE-4.5-VL-28B-A3B-Thinking               ernie_4_5
LGAI-EXAONE/EXAONE-4.0-32B                        exaone_4
LGAI-EXAONE/EXAONE-4.0.1-32B                      exaone_4
ai-sage/GigaChat3-10B-A1.8B-bf16                  gigachat_3
ai-sage/GigaChat3-702B-A36B-preview               gigachat_3
meetkai/functionary-small-v3.1                    functionary_v3_1
meetkai/functionary-medium-v3.2                   functionary_v3_2
openai/gpt-oss-20b                                gpt_oss
openai/gpt-oss-safeguard-120b                     gpt_oss
tencent/Hunyuan-A13B-Instruct                     hunyuan_a13b
tencent/Hunyuan-A13B-Instruct-GPTQ-Int4           hunyuan_a13b
internlm/internlm2_5-7b-chat                      internlm_2_5
internlm/internlm2_5-1_8b-chat                    internlm_2_5
internlm/Intern-S1                                intern_s1
ai21labs/AI21-Jamba-1.5-Mini                      jamba_1_5
LiquidAI/LFM2-1.2B-Tool                           lfm_2
LiquidAI/LFM2.5-8B-A1B                            lfm_2
meituan-longcat/LongCat-Flash-Chat                longcat
meituan-longcat/LongCat-Flash-Thinking            longcat_flash_thinking
XiaomiMiMo/MiMo-V2.5                              mimo
allenai/Olmo-3-7B-Instruct                        olmo_3
allenai/Olmo-3-32B-Think                          olmo_3_think
microsoft/Phi-4-mini-instruct                     phi_4_mini
ByteDance-Seed/Seed-OSS-36B-Instruct              seed_oss
stepfun-ai/step3                                  step_3
stepfun-ai/Step-3.5-Flash                         step_3_5
Team-ACE/ToolACE-8B                               toolace
Salesforce/Llama-xLAM-2-8b-fc-r                   xlam_2
Salesforce/xLAM-2-3b-fc-r                         xlam_2
""".strip().splitlines()

# Base models, distillations, merges, fine-tunes, other formats: a family that the hint must name.
ASKED = """
Mistral-7B-v0.3                                   mistral_v3
mistralai/Mistral-7B-Instruct-v0.1                mistral_v3
mistralai/Mistral-7B-Instruct-v0.2                mistral_v3
mistralai/Mixtral-8x7B-Instruct-v0.1              mistral_v3
mistralai/Codestral-22B-v0.1                      mistral_v3
mistralai/Devstral-Small-2505                     mistral_v11
mistralai/Devstral-Small-2507                     mistral_v13
mistralai/Magistral-Small-2506                    mistral_v11
mistralai/Voxtral-Small-24B-2507                  mistral_v13
Qwen/Qwen3-8B-Base                                qwen_3
Qwen/Qwen2.5-7B                                   qwen_2_5
Qwen/Qwen2.5-Coder-7B                             qwen_2_5
Qwen/Qwen2.5-VL-7B-Instruct                       qwen_2_5
Qwen/Qwen2-7B-Instruct                            qwen_2_5
Qwen/QwQ-32B-Preview                              qwen_3
Qwen/Qwen3-Embedding-8B                           qwen_3
Qwen/Qwen3.6-35B-A3B                              qwen_3_5
huihui-ai/Qwen2.5-7B-Instruct-abliterated         qwen_2_5
deepseek-ai/DeepSeek-R1-Distill-Qwen-7B           deepseek_r1
deepseek-ai/DeepSeek-R1-Distill-Llama-70B         deepseek_r1
deepseek-ai/DeepSeek-R1-0528-Qwen3-8B             qwen_3
deepseek-ai/DeepSeek-R1-Zero                      deepseek_r1
deepseek-ai/DeepSeek-V2.5                         deepseek_v3
deepseek-ai/DeepSeek-V3-Base                      deepseek_v3
deepseek-ai/DeepSeek-V3.2-Speciale                deepseek_v3_2
tngtech/DeepSeek-TNG-R1T2-Chimera                 deepseek_r1
meta-llama/Llama-3.1-8B                           llama_3_1
meta-llama/Llama-3.2-1B                           llama_3_2
meta-llama/Meta-Llama-3-8B-Instruct               llama_3_1
meta-llama/Llama-4-Scout-17B-16E-Instruct         llama_4_pythonic
meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8 llama_4
Orenguteng/Llama-3.1-8B-Lexi-Uncensored-V2        llama_3_1
Nemotron-Super                                    llama_nemotron
nvidia/Llama-3_3-Nemotron-Super-49B-v1            llama_nemotron
nvidia/Llama-3.1-Nemotron-70B-Instruct-HF         llama_3_1
nvidia/NVIDIA-Nemotron-Nano-9B-v2-Base            nemotron_nano_2
NousResearch/Nous-Hermes-2-Mixtral-8x7B-DPO       hermes
teknium/OpenHermes-2.5-Mistral-7B                 hermes
NousResearch/Hermes-4.3-36B                       hermes
MiniMaxAI/MiniMax-Text-01                         minimax_m1
moonshotai/Kimi-K2-Base                           kimi_k2
moonshotai/Kimi-Dev-72B                           kimi_k2
zai-org/GLM-4-9B-0414                             glm_4_5
zai-org/GLM-4.5-Base                              glm_4_5
THUDM/chatglm3-6b                                 glm_4_5
zai-org/GLM-5                                     glm_4_7
ibm-granite/granite-3.3-8b-base                   granite_3
ibm-granite/granite-4.0-micro-base                granite_4
ibm-granite/granite-guardian-3.2-5b               granite_3
microsoft/phi-4                                   phi_4_mini
microsoft/Phi-4-mini-reasoning                    phi_4_mini
microsoft/Phi-3.5-mini-instruct                   phi_4_mini
CohereLabs/c4ai-command-r-plus-08-2024            command_r7b
CohereLabs/c4ai-command-r-v01                     command_a
CohereLabs/command-a-vision-07-2025               command_a
google/gemma-3-27b-it                             gemma_3
google/gemma-3-4b-it-qat-q4_0-gguf                gemma_3
google/gemma-2-9b-it                              gemma_4
google/gemma-4-31B-pt                             gemma_4
google/medgemma-27b-it                            gemma_3
LGAI-EXAONE/EXAONE-Deep-7.8B                      exaone_4
baidu/ERNIE-4.5-300B-A47B-PT                      ernie_4_5
allenai/Olmo-3-1025-7B                            olmo_3
allenai/OLMo-2-1124-7B-Instruct                   olmo_3
Salesforce/xLAM-7b-fc-r                           xlam_2
internlm/internlm3-8b-instruct                    internlm_2_5
tencent/Hunyuan-7B-Instruct                       hunyuan_a13b
tencent/Hunyuan-A13B-Pretrain                     hunyuan_a13b
ai21labs/AI21-Jamba-Mini-1.7                      jamba_1_5
ai-sage/GigaChat3.5-432B-A28B                     gigachat_3
XiaomiMiMo/MiMo-7B-RL                             mimo
LiquidAI/LFM2-VL-1.6B                             lfm_2
ByteDance-Seed/Seed-Coder-8B-Instruct             seed_oss
Team-ACE/ToolACE-2-Llama-3.1-8B                   toolace
meetkai/functionary-small-v2.5                    functionary_v3_1
openbmb/MiniCPM3-4B                               hermes
HuggingFaceTB/SmolLM3-3B                          hermes
cognitivecomputations/Dolphin3.0-Llama3.1-8B      llama_3_1
openchat/openchat-3.5-0106                        hermes
gpt-4o                                            gpt_oss
claude-sonnet-4                                   qwen_3
x                                                 qwen_3
""".strip().splitlines()


@pytest.mark.parametrize("row", CERTAIN)
def test_certain(row: str) -> None:
    name, family, *reasoning = row.split()
    expected = get_model_structural_tag(family, TOOLS[:1], reasoning=reasoning[0] if reasoning else None)
    assert get_model_structural_tag(name, TOOLS[:1]) == expected
    assert get_model_structural_tag(name.upper(), TOOLS[:1]) == expected
    for chosen in ("enabled", "disabled", "auto"):
        tags = [get_model_structural_tag(it, TOOLS[:1], reasoning=chosen) for it in (name, family)]
        assert tags[0] == tags[1]


@pytest.mark.parametrize("row", ASKED)
def test_asked(row: str) -> None:
    name, family = row.split()
    with pytest.raises(RequestError) as caught:
        get_model_structural_tag(name, TOOLS)
    assert caught.value.pointer == "/model"
    named = re.findall(r"\w+", caught.value.hint or "")
    assert family in named, caught.value
    assert set(re.findall(r"'(\w+)'", caught.value.hint or "")) <= {*model_families()}


def test_a_longer_name_is_another_model() -> None:
    for row in CERTAIN:
        name = row.split()[0].rstrip("/").removesuffix(".gguf")
        for other in (f"{name}-Mytune", f"My{name.rpartition('/')[2]}"):
            assert not isinstance(find_model(other), Certain), other


def test_enough_names_and_all_rows() -> None:
    assert len(CERTAIN) + len(ASKED) >= 120
    families = {*model_families()}
    assert {family for _, family, _ in model_names._CERTAIN} <= families
    assert {family for _, _, several in model_names._ASKED for family in several} <= families
    for pattern, family, _ in model_names._CERTAIN:
        compiled = model_names._compiled(pattern)
        hits = [row for row in CERTAIN if compiled.fullmatch(model_names._plain(row.split()[0]))]
        assert hits, pattern
        assert all(row.split()[1] == family for row in hits)


def test_names_are_cheap_whatever_they_are() -> None:
    hostile = [
        "a" * 10**6,
        "qwen3" + "-8b" * 60,
        "-" * 199,
        "qwen3" + "-1" * 90,
        "x/" * 100,
        "gemma-4" + "-awq" * 48,
        "",
    ]
    assert processor_seconds(lambda: [find_model(name) for name in hostile]) < 0.5
    assert all(isinstance(find_model(name), Question | Certain | None) for name in hostile)
