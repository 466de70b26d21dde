"""vLLM without a server: JSON, a choice and a grammar in one batch, each complete within its max_tokens.

pip install . vllm
python examples/vllm_offline.py
"""

from vllm import LLM, SamplingParams
from vllm.sampling_params import StructuredOutputsParams

CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 40},
        "country": {"enum": ["France", "Italy", "Japan"]},
        "population": {"type": "integer", "minimum": 0},
    },
    "required": ["city", "country", "population"],
    "additionalProperties": False,
}
ARITHMETIC = """
start: term (("+" | "-") term)*
term: NUMBER | "(" start ")"
NUMBER: /[0-9]{1,3}/
"""
QUESTIONS = {
    "Name a city in Japan as JSON.": StructuredOutputsParams(json=CITY),
    "Is water wet?": StructuredOutputsParams(choice=["yes", "no", "it depends"]),
    "Write a sum.": StructuredOutputsParams(grammar=ARITHMETIC),
}


def main() -> None:
    llm = LLM(
        "HuggingFaceTB/SmolLM2-135M-Instruct",
        max_model_len=512,
        enforce_eager=True,
        structured_outputs_config={"backend": "maskwright"},
    )
    prompts = [[{"role": "user", "content": question}] for question in QUESTIONS]
    params = [SamplingParams(max_tokens=32, structured_outputs=each, seed=7) for each in QUESTIONS.values()]
    for question, answer in zip(QUESTIONS, llm.chat(prompts, params), strict=True):
        print(question, "->", answer.outputs[0].text)


if __name__ == "__main__":
    main()
