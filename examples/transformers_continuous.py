"""transformers: continuous batching, with a grammar and a budget for each request.

pip install ".[transformers]" "transformers>=5.19"
python examples/transformers_continuous.py
"""

from transformers import AutoModelForCausalLM, AutoTokenizer, ContinuousBatchingConfig, GenerationConfig

import maskwright as mw
from maskwright.integrations.transformers import add_grammars

NAME = "HuggingFaceTB/SmolLM2-135M-Instruct"
REQUESTS = {
    "The capital of France: ": "(Paris|Lyon|Nice)",
    "The year of the first moon landing: ": "(18|19|20)[0-9]{2}",
    "Three colors: ": "[a-z]{3,9}(, [a-z]{3,9}){2}",
}

tokenizer = AutoTokenizer.from_pretrained(NAME)
model = AutoModelForCausalLM.from_pretrained(NAME)
info = mw.TokenizerInfo.from_huggingface(tokenizer, vocab_size=model.config.vocab_size)
compiler = mw.GrammarCompiler(info)

manager = model.init_continuous_batching(
    generation_config=GenerationConfig(do_sample=False, eos_token_id=tokenizer.eos_token_id),
    continuous_batching_config=ContinuousBatchingConfig(
        num_blocks=16, max_batch_tokens=128, use_async_batching=False, use_cuda_graph=False
    ),
)
add_grammars(manager)  # before the manager starts
manager.start()
prompts = {}
for prompt, pattern in REQUESTS.items():
    ids = tokenizer(prompt).input_ids
    request = manager.add_request(ids, max_new_tokens=20, grammar=compiler.compile_regex(pattern))
    prompts[request] = prompt
while prompts:
    result = manager.get_result(timeout=1)
    if result is not None:
        text = tokenizer.decode(result.generated_tokens, skip_special_tokens=True)
        print(prompts.pop(result.request_id), result.error or text)
manager.stop(block=True)
